//! Tests of the director's rules, of named individuals, drives and intentions.

mod effects;
mod entrances;
mod individuals;
mod shipped;
mod shows;
mod starting;

use crate::pools;
use crate::pools::{action, bare, wants, wide};
use glam::{Vec2, Vec3};
use shoal::behavior::actions::{Seek, SeekTarget};
use shoal::behavior::{ActionParams, AttractionParams, LimitOf, LimitParams, NeedKind};
use shoal::geometry::Visitor;
use shoal::simulation::{Change, IndividualDescription, SceneDescription, Simulation};
use shoal::world::{Observation, RuleParams};

const Y: f32 = -0.8;

fn at(x: f32, z: f32) -> Vec3 {
    Vec3::new(x, Y, z)
}

fn start(scene: &SceneDescription) -> Simulation {
    Simulation::new(scene, &pools::run(1, 1)).unwrap()
}

fn visitors(count: u32, still_secs: f32) -> Observation {
    let shadow = |id: u32| Visitor {
        id,
        centroid_m: Vec2::new(id as f32 * 0.5 - 1.0, 0.4),
        foot_m: Vec2::ZERO,
        radius_m: 0.2,
        velocity_mps: Vec2::ZERO,
        area_m2: 0.12,
        age_secs: 1.0,
        still_secs: f64::from(still_secs),
        ..Visitor::default()
    };
    Observation {
        time_secs: 0.0,
        shadows: (0..count).map(shadow).collect(),
    }
}

fn rule(text: &str) -> RuleParams {
    toml::from_str(text).unwrap()
}

fn run(simulation: &mut Simulation, secs: f32, seen: &Observation) {
    for _ in 0..(secs * 60.0).round() as usize {
        simulation.run_tick(seen);
    }
}

/// Returns a pool with one fish that hunts only while the director has switched hunting on.
fn hunter() -> SceneDescription {
    let mut fish = wants(
        bare("fish", 1),
        "hunt",
        &[("hunt_prey", ActionParams::HuntPrey(Default::default()))],
    );
    fish.mind.needs[0].kind = NeedKind::LimitBased;
    fish.mind.needs[0].limit = Some(LimitParams::default());
    wide(vec![fish])
}

#[test]
fn a_rule_waits_for_its_condition_lasts_and_pauses() {
    let mut scene = hunter();
    scene.director = vec![
        rule(
            "name = 'on'\nwhen = { condition = 'visitors', at_most = 0 }\nfor_secs = 2.0\nthen = { effect = 'hunting', on = true }\nhold_secs = 1.0\npause_secs = 3.0",
        ),
        rule(
            "name = 'off'\nwhen = { condition = 'visitors', at_least = 2 }\nthen = { effect = 'hunting', on = false }",
        ),
    ];
    let mut pool = start(&scene);
    run(&mut pool, 1.9, &visitors(0, 0.0));
    // The condition has not held for 2 s yet.
    assert_eq!(pool.active_need(0), "");
    run(&mut pool, 0.2, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "hunt");
    run(&mut pool, 0.1, &visitors(1, 0.0));
    // One visitor does not switch hunting off.
    assert_eq!(pool.active_need(0), "hunt");
    run(&mut pool, 0.1, &visitors(2, 0.0));
    assert_eq!(pool.active_need(0), "", "two visitors switch hunting off");
    // The rule begins 2 s after the start, lasts 1 s and then pauses for 3 s. At the end of the pause, its condition has
    // held for more than 2 s again.
    run(&mut pool, 3.5, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "", "the rule pauses");
    run(&mut pool, 0.6, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "hunt", "the rule begins again");
}

#[test]
fn a_school_is_sent_across_until_the_effect_ends() {
    let fish = wants(
        bare("fish", 6),
        "school",
        &[("seek", action("seek", "weight = 0.0"))],
    );
    let mut scene = SceneDescription {
        species: vec![fish],
        ..SceneDescription::default()
    };
    scene.director = vec![rule(
        "name = 'go'\nwhen = { condition = 'by_hand' }\nthen = { effect = 'send_across', species = ['fish'] }\nhold_secs = 6.0",
    )];
    let mut pool = start(&scene);
    for index in 0..6 {
        pool.place(index, at(-1.5, index as f32 * 0.3 - 0.8), Vec3::X);
    }
    run(&mut pool, 0.5, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "", "the rule has not started");
    pool.apply(Change::StartRule { name: "go".into() });
    run(&mut pool, 5.0, &visitors(0, 0.0));
    let bodies = &pool.world().agents.bodies;
    let mean_x_m = bodies.iter().map(|b| b.position_m.x).sum::<f32>() / 6.0;
    assert!(mean_x_m > 1.0, "mean x: {mean_x_m} m");
    assert_eq!(pool.active_need(0), "school");
    run(&mut pool, 1.5, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "", "the effect has ended");
    assert!(!pool.start_rule("nowhere"));
}

#[test]
fn fish_gather_at_a_still_visitor_and_a_rule_ends_boosts() {
    let attraction = AttractionParams {
        hesitate_secs: 0.0,
        ..AttractionParams::default()
    };
    let seek = Seek {
        weight: 0.0,
        attraction,
        ..Seek::default()
    };
    let fish = wants(
        bare("fish", 1),
        "school",
        &[("seek", ActionParams::Seek(seek))],
    );
    let mut scene = SceneDescription {
        species: vec![fish],
        ..SceneDescription::default()
    };
    scene.director = vec![rule(
        "name = 'to'\nwhen = { condition = 'still_visitor', still_secs = 3.0 }\nthen = { effect = 'gather_at_shadow' }\nhold_secs = 9.0",
    )];
    let mut pool = start(&scene);
    pool.place(0, at(1.0, 1.0), Vec3::X);
    run(&mut pool, 0.2, &visitors(1, 2.9));
    assert_eq!(pool.active_need(0), "");
    run(&mut pool, 5.0, &visitors(1, 3.0));
    let place = pool.world().agents.bodies[0].position_m;
    let scale = pool.world().water.scale(place.y);
    let near = Vec2::new(place.x, place.z).distance(Vec2::new(-1.0, 0.4) * scale);
    assert!(near < 0.8, "{near} m from the visitor");
    // The visitor has left, so there is no point to gather at.
    run(&mut pool, 0.1, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "");

    let flee = action("flee_enemy", "");
    let mut fish = wants(bare("fish", 1), "survive", &[("flee", flee)]);
    fish.relations.insert("enemy".into(), vec!["enemy".into()]);
    let mut scene = wide(vec![bare("enemy", 1), fish]);
    scene.director = vec![rule(
        "name = 'calm'\nwhen = { condition = 'scare', share = 0.5 }\nfor_secs = 0.7\nthen = { effect = 'calm' }\npause_secs = 60.0",
    )];
    let mut pool = start(&scene);
    pool.place(0, at(0.0, 0.0), Vec3::X);
    pool.place(1, at(0.0, 1.0), Vec3::X);
    pool.run_tick(&visitors(0, 0.0));
    assert!(pool.world().agents.bodies[1].boost.allowed_mps > 2.9);
    pool.place(0, at(25.0, 0.0), Vec3::X);
    run(&mut pool, 0.6, &visitors(0, 0.0));
    assert!(
        pool.world().agents.bodies[1].boost.allowed_mps > 2.9,
        "the boost continues for 1 s after the danger"
    );
    run(&mut pool, 0.2, &visitors(0, 0.0));
    let limit_mps = |pool: &Simulation| pool.world().agents.bodies[1].boost.allowed_mps;
    let calming_mps = limit_mps(&pool);
    assert!(
        (1.1..2.95).contains(&calming_mps),
        "the rule has ended the boost, so the fish slows down within calm_secs: {calming_mps} m/s"
    );
    run(&mut pool, 1.5, &visitors(0, 0.0));
    assert!(limit_mps(&pool) < 1.01, "{} m/s", limit_mps(&pool));
}

/// A fixed bug: hunters and fish that caught up with their school counted as scared.
#[test]
fn only_fish_that_fled_are_scared() {
    let scared = |action: ActionParams, relation: &str| {
        let mut fish = wants(bare("fish", 1), "act", &[("act", action)]);
        fish.relations.insert(relation.into(), vec!["other".into()]);
        let mut scene = wide(vec![bare("other", 1), fish]);
        scene.director = vec![rule(
            "name = 'scare'\nwhen = { condition = 'scare', share = 0.4 }\nthen = { effect = 'calm' }\nhold_secs = 5.0",
        )];
        let mut pool = start(&scene);
        pool.place(0, at(0.0, 0.0), Vec3::X);
        pool.place(1, at(0.0, 1.0), Vec3::X);
        run(&mut pool, 0.5, &visitors(0, 0.0));
        assert!(pool.world().agents.bodies[1].boost.allowed_mps > 2.0);
        pool.rules().any(|(_, state)| state.is_on)
    };
    let hunt = ActionParams::HuntPrey(shoal::behavior::actions::HuntPrey::default());
    assert!(!scared(hunt, "prey"));
    assert!(scared(
        ActionParams::FleeEnemy(shoal::behavior::actions::FleeEnemy::default()),
        "enemy"
    ));
}

/// Returns a pool with one seeking fish and these rules. All of them are started by hand.
fn guided(rules: &[&str]) -> Simulation {
    let fish = wants(
        bare("fish", 1),
        "school",
        &[("seek", action("seek", "weight = 0.0"))],
    );
    let mut scene = wide(vec![fish]);
    let by_hand = "when = { condition = 'by_hand' }";
    scene.director = rules
        .iter()
        .map(|text| rule(&format!("{by_hand}\n{text}")))
        .collect();
    start(&scene)
}

fn goal_x_m(pool: &Simulation) -> Option<f32> {
    pool.world().director.gathering(0, 0).map(|g| g.point_m.x)
}

/// A fixed bug: the end of one rule removed the gathering point of another rule of the same species.
#[test]
fn a_rule_that_ends_leaves_the_gathering_of_another_rule() {
    let mut pool = guided(&[
        "name = 'long'\nthen = { effect = 'gather', point_m = [5.0, -0.8, 0.0] }\nhold_secs = 9.0",
        "name = 'short'\nthen = { effect = 'gather', point_m = [-5.0, -0.8, 0.0] }\nhold_secs = 2.0",
        "name = 'first'\npriority = 1\nthen = { effect = 'gather', point_m = [1.0, -0.8, 0.0] }\nhold_secs = 1.0",
    ]);
    assert!(pool.start_rule("long"));
    run(&mut pool, 1.0, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), Some(5.0));
    pool.start_rule("first");
    run(&mut pool, 0.1, &visitors(0, 0.0));
    pool.start_rule("short");
    run(&mut pool, 0.5, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), Some(1.0), "the priority is higher");
    run(&mut pool, 0.6, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), Some(-5.0), "the latest applies");
    run(&mut pool, 1.5, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), Some(5.0), "the earlier one is restored");
    run(&mut pool, 7.0, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), None);
    // A rule that is started again by hand while it is active begins again, as the latest.
    pool.start_rule("long");
    run(&mut pool, 0.5, &visitors(0, 0.0));
    pool.start_rule("short");
    run(&mut pool, 0.5, &visitors(0, 0.0));
    pool.start_rule("long");
    run(&mut pool, 0.5, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), Some(5.0));
}

/// A fixed bug: a rule that follows a visitor set its gathering point in every tick, so that a later rule never applied.
#[test]
fn a_later_rule_applies_while_another_one_follows_a_visitor() {
    let mut pool = guided(&[
        "name = 'to the visitor'\nthen = { effect = 'gather_at_shadow' }\nhold_secs = 60.0",
        "name = 'away'\nthen = { effect = 'gather', point_m = [9.0, -0.8, 0.0] }\nhold_secs = 2.0",
    ]);
    let seen = visitors(1, 10.0);
    pool.start_rule("to the visitor");
    run(&mut pool, 0.5, &seen);
    let at_visitor = goal_x_m(&pool);
    assert!(at_visitor.is_some_and(|x| x < 0.0), "{at_visitor:?}");
    pool.start_rule("away");
    run(&mut pool, 1.0, &seen);
    assert_eq!(goal_x_m(&pool), Some(9.0));
    run(&mut pool, 2.0, &seen);
    assert_eq!(goal_x_m(&pool), at_visitor, "the first rule applies again");
    pool.start_rule("away");
    run(&mut pool, 0.1, &visitors(0, 0.0));
    run(&mut pool, 2.5, &visitors(0, 0.0));
    assert_eq!(goal_x_m(&pool), None, "without a visitor there is no point");
}

/// A fixed bug: the director did not switch the hunting of agents that hunt with `navigate`.
#[test]
fn the_director_switches_every_kind_of_hunting() {
    use shoal::behavior::actions::{Navigate, NavigateTarget};
    let to = |target| {
        ActionParams::Navigate(Navigate {
            target,
            ..Navigate::default()
        })
    };
    let combined = action("combined", "actions = ['hunt']");
    let hunt = action("hunt_prey", "");
    let hunters = [
        (vec![("hunt", hunt.clone())], "hunt", true),
        (vec![("hunt", to(NavigateTarget::Prey))], "hunt", true),
        (vec![("hunt", hunt), ("both", combined)], "both", true),
        (vec![("go", to(NavigateTarget::Point))], "go", false),
    ];
    for (actions, used, hunts) in hunters {
        let mut fish = wants(bare("fish", 1), "hunt", &actions);
        fish.mind.needs[0].actions = vec![used.into()];
        fish.mind.needs[0].kind = NeedKind::LimitBased;
        fish.mind.needs[0].limit = Some(LimitParams::default());
        assert_eq!(fish.mind.problems(), vec![]);
        let mut scene = wide(vec![fish]);
        scene.director = vec![rule(
            "name = 'on'\nwhen = { condition = 'always' }\nthen = { effect = 'hunting', on = true }",
        )];
        let mut pool = start(&scene);
        run(&mut pool, 0.1, &visitors(0, 0.0));
        assert_eq!(pool.active_need(0) == "hunt", hunts, "{actions:?}");
    }
}

#[test]
fn a_hunter_gives_up_after_its_time() {
    let mut scene = hunter();
    let limit = scene.species[0].mind.needs[0].limit.as_mut().unwrap();
    (limit.start, limit.give_up_secs) = (2.0, 1.5);
    let mut pool = start(&scene);
    run(&mut pool, 1.4, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "hunt");
    run(&mut pool, 0.2, &visitors(0, 0.0));
    assert_eq!(pool.active_need(0), "");
}

#[test]
fn an_individual_has_its_own_name_relations_and_mind() {
    let flee = action("flee_enemy", "flee_distance_m = 4.0");
    let mut mouse = wants(bare("mouse", 1), "survive", &[("flee", flee.clone())]);
    mouse.relations.insert("enemy".into(), vec!["Tom".into()]);
    let mut cat = wants(bare("cat", 3), "roam", &[("wander", action("wander", ""))]);
    let mut mind = cat.mind.clone();
    mind.needs.insert(0, mouse.mind.needs[0].clone());
    mind.actions.insert("flee".into(), flee);
    cat.individuals.push(IndividualDescription {
        name: "Tom".into(),
        relations: [("enemy".to_owned(), vec!["mouse".to_owned()])].into(),
        mind,
        position_m: Some([3.0, Y, 0.0]),
        ..IndividualDescription::default()
    });
    let mut pool = start(&wide(vec![cat, mouse]));
    let world = pool.world();
    assert_eq!(world.agents.len(), 4, "Tom is one of the three cats");
    let species = |i: usize| &pool.world().species[usize::from(world.agents.species[i])];
    let tom = (0..4).find(|&i| species(i).individual.is_some()).unwrap();
    assert_eq!(world.agents.bodies[tom].position_m, at(3.0, 0.0));
    let mut snapshot = shoal::world::Snapshot::default();
    pool.snapshot(&mut snapshot);
    assert_eq!(snapshot.agents[tom].species, 0, "Tom is drawn as a cat");
    let is_cat = |&i: &usize| i != tom && species(i).name == "cat";
    let others: Vec<usize> = (0..4).filter(is_cat).collect();
    let mouse = (0..4).find(|i| *i != tom && !others.contains(i)).unwrap();
    pool.place(tom, at(20.0, 20.0), Vec3::X);
    pool.place(others[0], at(1.0, 0.0), Vec3::X);
    pool.place(others[1], at(-1.0, 0.0), Vec3::X);
    pool.place(mouse, at(0.0, 0.0), Vec3::X);
    pool.run_tick(&visitors(0, 0.0));
    // The mouse does not fear other cats.
    assert_eq!(pool.active_need(mouse), "");
    pool.place(tom, at(0.0, 2.0), Vec3::NEG_Z);
    pool.place(mouse, at(0.0, 0.0), Vec3::Z);
    pool.run_tick(&visitors(0, 0.0));
    assert_eq!(pool.active_need(mouse), "survive", "the mouse fears Tom");
    assert_eq!(pool.active_need(tom), "survive", "Tom fears mice");
    assert_eq!(pool.active_need(others[0]), "roam");
}

#[test]
fn a_fish_schools_below_its_fear_limit_and_flees_above_it() {
    let flee = action("flee_enemy", "flee_distance_m = 9.0");
    let mut fish = wants(bare("fish", 1), "survive", &[("flee", flee)]);
    fish.relations.insert("enemy".into(), vec!["enemy".into()]);
    fish.mind.drives.fear_distance_m = 0.5;
    fish.mind.drives.fear_fades_secs = 1.0;
    fish.mind.needs[0].kind = NeedKind::LimitBased;
    fish.mind.needs[0].limit = Some(LimitParams {
        of: LimitOf::Fear,
        value: 0.3,
        ..LimitParams::default()
    });
    let fish = wants(fish, "school", &[("wander", action("wander", ""))]);
    assert_eq!(fish.mind.problems(), vec![]);
    let mut pool = start(&wide(vec![fish, bare("enemy", 1)]));
    let mut need_at = |distance: f32| {
        pool.place(0, at(0.0, 0.0), Vec3::X);
        pool.place(1, at(distance, 0.0), Vec3::X);
        pool.run_tick(&visitors(0, 0.0));
        pool.active_need(0).to_owned()
    };
    // Fear is 0.5 m divided by the distance to the enemy. At 1.67 m it equals the limit of 0.3.
    assert_eq!(need_at(1.8), "school");
    assert_eq!(need_at(1.5), "survive");
    assert_eq!(need_at(4.5), "survive", "fear has not faded yet");
    for _ in 0..60 {
        need_at(4.5);
    }
    assert_eq!(need_at(4.5), "school");
}

#[test]
fn an_intention_persists_but_a_more_important_need_interrupts_it() {
    let point = |x: f32, z: f32| {
        ActionParams::Seek(Seek {
            target: SeekTarget::Point,
            point_m: [x, Y, z],
            ..Seek::default()
        })
    };
    let flee = action("flee_enemy", "flee_distance_m = 1.0");
    let fish = wants(bare("fish", 1), "survive", &[("flee", flee)]);
    let mut fish = wants(fish, "feed", &[("away", point(99.0, 0.0))]);
    fish.mind.needs[1].kind = NeedKind::LimitBased;
    fish.mind.needs[1].limit = Some(LimitParams::default());
    fish.mind.needs[1].keep_secs = 0.5;
    let mut fish = wants(fish, "roam", &[("back", point(-99.0, 0.0))]);
    fish.relations.insert("enemy".into(), vec!["enemy".into()]);
    let mut pool = start(&wide(vec![fish, bare("enemy", 1)]));
    let mut active_need = |hunger: f32, enemy_m: f32| {
        pool.set_need("fish", "feed", hunger);
        pool.place(0, at(0.0, 0.0), Vec3::X);
        pool.place(1, at(enemy_m, 0.0), Vec3::X);
        pool.run_tick(&visitors(0, 0.0));
        pool.active_need(0).to_owned()
    };
    assert_eq!(active_need(0.0, 9.0), "roam");
    assert_eq!(active_need(2.0, 9.0), "feed");
    for tick in 0..29 {
        assert_eq!(active_need(0.0, 9.0), "feed", "tick {tick}");
    }
    for _ in 0..3 {
        active_need(0.0, 9.0);
    }
    assert_eq!(active_need(0.0, 9.0), "roam");
    assert_eq!(active_need(2.0, 9.0), "feed");
    // Danger interrupts the intention.
    assert_eq!(active_need(2.0, 0.5), "survive");
}

/// A fixed bug: an agent at rest could not turn back, because its velocity was too small to define a heading.
#[test]
fn an_agent_at_rest_can_turn_back() {
    let fish = wants(
        bare("fish", 1),
        "go",
        &[(
            "back",
            action(
                "seek",
                "target = 'point', point_m = [-3.0, -0.8, 0.0], weight = 1.5",
            ),
        )],
    );
    let mut pool = start(&wide(vec![fish]));
    pool.place(0, at(0.0, 0.0), Vec3::X);
    run(&mut pool, 3.0, &visitors(0, 0.0));
    let x = pool.world().agents.bodies[0].position_m.x;
    assert!(x < -0.8, "the fish has not turned back, x = {x} m");
}
