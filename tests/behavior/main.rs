//! The rules of minds, perception and actions, one by one, in pools made for each.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests may"
)]

mod pools;

use glam::{Vec2, Vec3};
use shoal::behavior::actions::evade_shadow::EvadeShadow;
use shoal::behavior::actions::flee_enemy::FleeEnemy;
use shoal::behavior::actions::flock_with_relation::FlockWithRelation;
use shoal::behavior::actions::hide_from_enemy::HideFromEnemy;
use shoal::behavior::actions::hunt_prey::HuntPrey;
use shoal::behavior::actions::investigate::Investigate;
use shoal::behavior::actions::seek::{Seek, SeekTarget};
use shoal::behavior::actions::wander::Wander;
use shoal::behavior::{ActionParams, Combine, LimitParams, NeedKind, NeedParams};
use shoal::geometry::Surface;
use shoal::simulation::{SceneDescription, Simulation, SpeciesDescription};
use shoal::world::{Observation, ObstacleParams, Shadow, SphereParams};

/// Height at which everybody swims here.
const Y: f32 = -0.8;

/// A species without a mind that swims at 1 m/s, answers at once and weighs 1 kg.
fn species(name: &str, count: u32) -> SpeciesDescription {
    let mut described = SpeciesDescription {
        name: name.into(),
        count,
        ..SpeciesDescription::default()
    };
    described.body.radius_m = 0.1;
    described.body.size_spread = 0.0;
    described.motion.cruise_mps = 1.0;
    described.motion.boost_mps = 3.0;
    described.motion.min_speed_mps = 0.0;
    described.motion.response_secs = 0.0;
    described.perception.sight_radius_m = 5.0;
    described.perception.prey_sight_radius_m = 5.0;
    described
}

/// Gives a species one need with these actions in this order.
fn wants(mut species: SpeciesDescription, actions: &[(&str, ActionParams)]) -> SpeciesDescription {
    species.mind.actions = actions
        .iter()
        .map(|(name, params)| ((*name).to_owned(), params.clone()))
        .collect();
    species.mind.needs = vec![NeedParams {
        name: "only".into(),
        actions: actions.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ..NeedParams::default()
    }];
    species
}

/// Wide water with these species, the agents at these places in order, heading along +x unless told.
fn pool(species: Vec<SpeciesDescription>, places: &[(Vec3, Vec3)]) -> Simulation {
    pool_with_rocks(species, places, vec![])
}

fn pool_with_rocks(
    species: Vec<SpeciesDescription>,
    places: &[(Vec3, Vec3)],
    obstacles: Vec<ObstacleParams>,
) -> Simulation {
    let scene = SceneDescription {
        surface: Surface {
            width_m: 60.0,
            height_m: 60.0,
            ..Surface::default()
        },
        obstacles,
        species,
        ..SceneDescription::default()
    };
    let mut simulation = Simulation::new(&scene, &pools::run(1, 1)).unwrap();
    for (index, (at, heading)) in places.iter().enumerate() {
        assert!(simulation.place(index, *at, *heading));
    }
    simulation
}

fn at(x: f32, z: f32) -> Vec3 {
    Vec3::new(x, Y, z)
}

fn tick(simulation: &mut Simulation) {
    simulation.step(&Observation::default());
}

fn executed(simulation: &Simulation, index: usize) -> Vec<String> {
    simulation
        .active_actions(index)
        .map(str::to_owned)
        .collect()
}

fn seek_point(x: f32, z: f32, weight: f32) -> ActionParams {
    ActionParams::Seek(Seek {
        target: SeekTarget::Point,
        point_m: [x, Y, z],
        weight,
        ..Seek::default()
    })
}

fn shadow(at: Vec2, radius_m: f32, still_secs: f32) -> Observation {
    let shadow = Shadow {
        id: 1,
        centroid_m: at,
        foot_m: at,
        radius_m,
        velocity_mps: Vec2::ZERO,
        area_m2: 1.0,
        age_secs: 1.0,
        still_secs,
        outline_m: vec![],
    };
    Observation {
        time_secs: 0.0,
        shadows: vec![shadow],
    }
}

// ---- minds ----

#[test]
fn the_standard_need_acts_besides_the_first_unsatisfied_need_alone() {
    let mut fish = wants(
        species("fish", 1),
        &[
            ("left", seek_point(0.0, -9.0, 2.0)),
            ("right", seek_point(0.0, 9.0, 1.0)),
        ],
    );
    fish.mind.needs[0].actions = vec!["left".into()];
    let second = NeedParams {
        name: "second".into(),
        actions: vec!["right".into()],
        ..NeedParams::default()
    };
    fish.mind.needs.push(second);
    fish.mind
        .actions
        .insert("ahead".into(), seek_point(9.0, 0.0, 0.5));
    fish.mind.standard.actions = vec!["ahead".into()];
    let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
    tick(&mut pool);
    assert_eq!(pool.active_need(0), "only");
    assert_eq!(executed(&pool, 0), ["ahead", "left"]);
    // Seek left at 1 m/s minus the own 1 m/s ahead, twice; seek ahead wants nothing more.
    assert!(
        pool.decision(0).force.distance(Vec3::new(-2.0, 0.0, -2.0)) < 1e-4,
        "{}",
        pool.decision(0).force
    );
}

#[test]
fn exclusive_takes_the_first_additive_adds_and_weight_zero_is_never_executed() {
    let actions = [
        ("a", seek_point(0.0, -9.0, 0.0)),
        ("b", seek_point(0.0, 9.0, 1.0)),
        ("c", seek_point(9.0, 0.0, 3.0)),
    ];
    let run = |change: fn(&mut NeedParams)| {
        let mut fish = wants(species("fish", 1), &actions);
        change(&mut fish.mind.needs[0]);
        let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::Z)]);
        tick(&mut pool);
        (executed(&pool, 0), pool.decision(0).force)
    };
    assert_eq!(run(|_| {}).0, ["b"]);
    let (all, force) = run(|need| need.additive = true);
    assert_eq!(all, ["b", "c"]);
    assert!(force.distance(Vec3::new(3.0, 0.0, -3.0)) < 1e-4, "{force}");
    let first = |need: &mut NeedParams| {
        need.additive = true;
        need.combine = Combine::First;
        need.actions = vec!["c".into(), "b".into()];
    };
    assert_eq!(run(first).0, ["c"]);
    let (_, force) = run(|need| {
        need.additive = true;
        need.combine = Combine::Budget;
        need.actions = vec!["c".into(), "b".into()];
    });
    // The first wants 3 * sqrt(2) N, more than the 4 N that there are.
    assert!((force.length() - 4.0).abs() < 1e-4, "{force}");
}

#[test]
fn a_choice_by_chance_is_kept_for_its_time_and_takes_every_action_in_turn() {
    let actions = [
        ("a", seek_point(0.0, -9.0, 1.0)),
        ("b", seek_point(0.0, 9.0, 1.0)),
    ];
    for is_dither in [false, true] {
        let mut fish = wants(species("fish", 1), &actions);
        let need = &mut fish.mind.needs[0];
        need.minimum_secs = 0.5;
        need.dither_chance = 0.5;
        if is_dither {
            need.additive = true;
            need.combine = Combine::Dither;
        } else {
            need.stochastic = true;
        }
        let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
        let (mut changes, mut kept, mut counts) = (0, 0, [0, 0]);
        let mut last = Vec::new();
        for _ in 0..3600 {
            tick(&mut pool);
            let now = executed(&pool, 0);
            for (place, name) in ["a", "b"].into_iter().enumerate() {
                counts[place] += usize::from(now == [name]);
            }
            if now == last || last.is_empty() {
                kept += 1;
            } else {
                changes += 1;
                assert!(last.is_empty() || kept >= 29, "kept for {kept} ticks only");
                kept = 1;
            }
            last = now;
        }
        assert!(
            changes > 10 && counts.iter().all(|&count| count > 600),
            "{changes} changes, {counts:?}"
        );
    }
}

#[test]
fn a_limit_makes_a_need_active_and_a_catch_resets_it() {
    let hunt = ActionParams::HuntPrey(HuntPrey::default());
    let mut hunter = wants(species("hunter", 1), &[("hunt", hunt)]);
    hunter.relations.insert("prey".into(), vec!["prey".into()]);
    hunter.mind.needs[0].kind = NeedKind::LimitBased;
    hunter.mind.needs[0].limit = Some(LimitParams {
        rate_per_sec: 1.0,
        ..LimitParams::default()
    });
    let mut pool = pool(
        vec![hunter, species("prey", 1)],
        &[(at(0.0, 0.0), Vec3::X), (at(1.9, 0.0), Vec3::Z)],
    );
    let mut active_at = None;
    for step in 0..600 {
        pool.place(
            1,
            at(1.9, 0.0) + pool.world().agents.bodies[0].position_m.with_y(0.0),
            Vec3::Z,
        );
        tick(&mut pool);
        if pool.active_need(0) == "only" {
            active_at = Some(step);
            break;
        }
    }
    assert_eq!(active_at, Some(60), "1 per second over a limit of 1");
    let near = pool.world().agents.bodies[0].position_m + Vec3::X * 0.15;
    pool.place(1, near, Vec3::X);
    tick(&mut pool);
    assert_eq!(pool.catches(), 1);
    let prey = &pool.world().agents.bodies[1];
    assert!(
        prey.teleported && !pool.world().water.is_in_sight(prey.position_m, 0.3),
        "comes back in out of sight"
    );
    tick(&mut pool);
    assert_eq!(pool.active_need(0), "", "satisfied again");
    assert!(pool.set_need("hunter", "only", 2.0));
    tick(&mut pool);
    assert_eq!(pool.active_need(0), "only", "the director says so");
}

#[test]
fn what_is_not_finite_is_put_back_and_counted() {
    let far = ActionParams::Seek(Seek {
        target: SeekTarget::Point,
        point_m: [f32::NAN; 3],
        ..Seek::default()
    });
    let broken = |weight| match far.clone() {
        ActionParams::Seek(seek) => ActionParams::Seek(Seek { weight, ..seek }),
        other => other,
    };
    let mut pool = pool(
        vec![
            wants(species("broken", 1), &[("seek", broken(f32::INFINITY))]),
            wants(species("sound", 1), &[]),
        ],
        &[(at(0.0, 0.0), Vec3::X), (at(1.0, 0.0), Vec3::X)],
    );
    for _ in 0..10 {
        tick(&mut pool);
    }
    assert_eq!(pool.faults(), 10);
    assert_eq!(pool.world().agents.bodies[0].position_m, at(0.0, 0.0));
    assert!(pool.world().agents.bodies[1].is_finite());
}

// ---- flocking and its three repairs ----

/// A schooling species: separation within 1 m, alignment within 1.5 m, cohesion within 2 m, the default angles.
fn schooling(count: u32) -> SpeciesDescription {
    let flock = FlockWithRelation {
        pace_weight: 0.0,
        ..FlockWithRelation::default()
    };
    let mut fish = wants(
        species("fish", count),
        &[("flock", ActionParams::FlockWithRelation(flock))],
    );
    fish.flock.radius_m = 1.0;
    fish.flock.soften = 0.0;
    fish
}

#[test]
fn repair_1_separation_never_acts_alone() {
    // 120 degrees aside: within separation's 135, but neither alignment's 45 nor cohesion's 99.
    let aside = Vec3::new(-0.4, 0.0, 0.4 * 3f32.sqrt());
    let mut pool = pool(
        vec![schooling(2)],
        &[(at(0.0, 0.0), Vec3::X), (at(0.0, 0.0) + aside, Vec3::Z)],
    );
    tick(&mut pool);
    let half = 0.5f32.sqrt();
    let expected = -aside.normalize() * 1.5 + Vec3::new(-half, 0.0, half);
    let force = pool.decision(0).force;
    assert!(
        force.distance(expected) < 1e-3,
        "separation and alignment all round: {force}, not {expected}"
    );
}

#[test]
fn repair_2_the_scattered_turn_back_but_the_leader_does_not() {
    let force_with_other_behind = |distance: f32| {
        let behind = at(-distance, 0.3);
        let mut pool = pool(
            vec![schooling(2)],
            &[(at(0.0, 0.0), Vec3::X), (behind, Vec3::NEG_X)],
        );
        tick(&mut pool);
        (executed(&pool, 0).len(), pool.decision(0).force)
    };
    let (count, force) = force_with_other_behind(1.2);
    assert_eq!(count, 1);
    assert!(
        force.distance(Vec3::new(-1.2, 0.0, 0.3).normalize()) < 1e-3,
        "cohesion all round: {force}"
    );
    assert_eq!(
        force_with_other_behind(1.7).0,
        0,
        "farther than the alignment radius: a leader"
    );
}

#[test]
fn repair_3_a_straggler_hurries_after_the_school() {
    let boost_with_other_at = |offset: Vec3| {
        let mut pool = pool(
            vec![schooling(2)],
            &[(at(0.0, 0.0), Vec3::X), (at(0.0, 0.0) + offset, Vec3::X)],
        );
        tick(&mut pool);
        pool.decision(0)
            .boost
            .map(|boost| (boost.scale, boost.hold_secs, boost.calm_secs))
    };
    assert_eq!(
        boost_with_other_at(Vec3::new(1.8, 0.0, 0.0)),
        Some((0.5, 0.0, 0.8))
    );
    assert_eq!(
        boost_with_other_at(Vec3::new(1.2, 0.0, 0.0)),
        None,
        "near enough"
    );
    assert_eq!(
        boost_with_other_at(Vec3::new(-0.2, 0.0, 1.8)),
        None,
        "not ahead"
    );
}

#[test]
fn only_the_own_kind_and_the_related_are_flock_mates() {
    let mut fish = schooling(1);
    fish.relations.insert("friend".into(), vec!["pals".into()]);
    let mut pal = species("pal", 1);
    pal.groups = vec!["pals".into()];
    let places = [
        (at(0.0, 0.0), Vec3::X),
        (at(1.2, 0.5), Vec3::X),
        (at(1.2, -0.5), Vec3::X),
    ];
    let mut pool = pool(vec![fish, pal, species("stranger", 1)], &places);
    tick(&mut pool);
    assert!(
        pool.decision(0).force.z > 0.1,
        "towards the friend, not the stranger: {}",
        pool.decision(0).force
    );
}

#[test]
fn one_that_was_investigated_is_known_and_a_flock_mate_where_known_are() {
    let swims_with_it = |relations: &[&str]| {
        let look = Investigate {
            reach_m: 3.0,
            interest_secs: 0.0,
            forget_secs: 1.0,
            distance_m: 3.0,
            ..Investigate::default()
        };
        let flock = FlockWithRelation {
            relations: relations.iter().map(|&name| name.to_owned()).collect(),
            ..FlockWithRelation::default()
        };
        let actions = [
            ("look", ActionParams::Investigate(look)),
            ("flock", ActionParams::FlockWithRelation(flock)),
        ];
        let mut fish = wants(species("fish", 1), &actions);
        fish.flock.radius_m = 1.0;
        let mut stone = species("stone", 1);
        stone.motion.cruise_mps = 0.0;
        let mut pool = pool(
            vec![fish, stone],
            &[(at(0.0, 0.0), Vec3::X), (at(1.2, 0.5), Vec3::X)],
        );
        tick(&mut pool);
        assert_eq!(executed(&pool, 0), ["look"]);
        tick(&mut pool);
        executed(&pool, 0) == ["flock"]
    };
    assert!(swims_with_it(&["friend", "known"]));
    assert!(!swims_with_it(&["friend"]), "a stranger of another kind");
}

#[test]
fn coincident_fish_part() {
    let mut pool = pool(vec![schooling(3)], &[(at(0.0, 0.0), Vec3::X); 3]);
    for _ in 0..120 {
        tick(&mut pool);
    }
    let bodies = &pool.world().agents.bodies;
    assert_eq!(pool.faults(), 0);
    assert!(bodies[0].position_m.distance(bodies[1].position_m) > 0.05);
    assert!(bodies[1].position_m.distance(bodies[2].position_m) > 0.05);
}

// ---- enemies and prey ----

fn prey_fish(action: ActionParams) -> SpeciesDescription {
    let mut fish = wants(species("fish", 1), &[("act", action)]);
    fish.relations
        .insert("enemy".into(), vec!["hunters".into()]);
    fish
}

fn hunter(count: u32) -> SpeciesDescription {
    let mut hunter = species("hunter", count);
    hunter.groups = vec!["hunters".into()];
    hunter
}

#[test]
fn fish_flee_from_the_nearest_enemy_they_see_within_the_distance() {
    let flee = |flee_distance_m| {
        ActionParams::FleeEnemy(FleeEnemy {
            flee_distance_m,
            ..FleeEnemy::default()
        })
    };
    let decide = |flee_distance_m, enemy: Vec3, rocks: Vec<ObstacleParams>| {
        let fish = vec![prey_fish(flee(flee_distance_m)), hunter(1)];
        let mut pool = pool_with_rocks(fish, &[(at(0.0, 0.0), Vec3::X), (enemy, Vec3::X)], rocks);
        tick(&mut pool);
        *pool.decision(0)
    };
    let decision = decide(Some(2.5), at(0.0, 2.0), vec![]);
    assert!(
        decision.force.distance(Vec3::new(-1.0, 0.0, -3.0)) < 1e-4,
        "{}",
        decision.force
    );
    let boost = decision.boost.unwrap();
    assert_eq!((boost.scale, boost.hold_secs), (1.0, 1.0));
    assert_eq!(
        decide(Some(1.5), at(0.0, 2.0), vec![]).actions,
        0,
        "beyond the flee distance"
    );
    assert_eq!(
        decide(None, at(0.0, 4.9), vec![]).actions,
        1,
        "without one the sight radius counts"
    );
    assert_eq!(
        decide(None, at(-2.0, 0.2), vec![]).actions,
        0,
        "blind behind"
    );
    let rock = ObstacleParams::Sphere(SphereParams {
        center_m: [0.0, Y, 1.0],
        radius_m: 0.5,
    });
    assert_eq!(
        decide(None, at(0.0, 2.0), vec![rock]).actions,
        0,
        "hidden by a rock"
    );
}

#[test]
fn larger_ones_are_seen_earlier_and_prey_farther() {
    let sees = |change: fn(&mut SpeciesDescription)| {
        let mut fish = prey_fish(ActionParams::FleeEnemy(FleeEnemy {
            flee_distance_m: Some(50.0),
            ..FleeEnemy::default()
        }));
        let mut big = hunter(1);
        big.body.radius_m = 0.3;
        change(&mut fish);
        let mut pool = pool(
            vec![fish, big],
            &[(at(0.0, 0.0), Vec3::X), (at(8.0, 0.0), Vec3::X)],
        );
        tick(&mut pool);
        pool.decision(0).actions == 1
    };
    assert!(!sees(|_| {}), "8 m away, sight 5 m");
    assert!(
        sees(|fish| fish.perception.size_gain = 0.5),
        "three times as large: 5 m * (1 + 0.5 * 2) = 10 m"
    );
    assert!(
        !sees(|fish| fish.perception.prey_sight_radius_m = 9.0),
        "no prey"
    );
    assert!(sees(|fish| {
        fish.perception.prey_sight_radius_m = 9.0;
        fish.relations.insert("prey".into(), vec!["hunter".into()]);
    }));
}

#[test]
fn a_visitor_can_be_an_enemy_by_relation() {
    let mut fish = prey_fish(ActionParams::FleeEnemy(FleeEnemy::default()));
    fish.relations
        .insert("enemy".into(), vec!["visitor".into()]);
    let mut pool = pool(vec![fish], &[(at(1.0, 0.0), Vec3::X)]);
    pool.step(&shadow(Vec2::new(3.0, 0.0), 0.2, 0.0));
    assert_eq!(pool.decision(0).actions, 1);
    assert!(pool.decision(0).force.x < -1.0);
}

#[test]
fn many_prey_confuse_the_hunter_three_to_two() {
    let aim = |confusion_radius_m| {
        let hunt = HuntPrey {
            confusion_radius_m,
            lead_secs: 0.0,
            radius_m: 4.0,
            ..HuntPrey::default()
        };
        let mut hunter = wants(
            species("hunter", 1),
            &[("hunt", ActionParams::HuntPrey(hunt))],
        );
        hunter.relations.insert("prey".into(), vec!["prey".into()]);
        let places = [
            (at(0.0, 0.0), Vec3::X),
            (at(2.0, 0.0), Vec3::X),
            (at(2.0, 1.0), Vec3::X),
            (at(2.0, 2.0), Vec3::X),
        ];
        let mut pool = pool(vec![hunter, species("prey", 3)], &places);
        tick(&mut pool);
        // Seek wants the boost speed of 3 m/s along the aim; it swims 1 m/s along x.
        (pool.decision(0).force + Vec3::X).normalize()
    };
    assert!(aim(0.0).distance(Vec3::X) < 1e-4);
    // Mean of the two within 1.5 m: (2, 0.5); aim (3 (2, 0.5) + 2 (2, 0)) / 5 = (2, 0.3).
    assert!(aim(1.5).distance(Vec3::new(2.0, 0.0, 0.3).normalize()) < 1e-4);
}

#[test]
fn a_hunter_follows_what_it_last_saw_for_two_seconds() {
    let hunt = ActionParams::HuntPrey(HuntPrey {
        radius_m: 4.0,
        ..HuntPrey::default()
    });
    let mut hunter = wants(species("hunter", 1), &[("hunt", hunt)]);
    hunter.relations.insert("prey".into(), vec!["prey".into()]);
    let mut pool = pool(
        vec![hunter, species("prey", 1)],
        &[(at(0.0, 0.0), Vec3::X), (at(3.0, 0.0), Vec3::Z)],
    );
    tick(&mut pool);
    let mut lasts = 0;
    for _ in 0..200 {
        pool.place(1, at(25.0, 25.0), Vec3::Z);
        tick(&mut pool);
        lasts += u32::from(pool.decision(0).actions == 1);
    }
    assert!((119..=121).contains(&lasts), "{lasts} ticks");
}

#[test]
fn the_hiding_place_lies_behind_the_rock_and_the_nearer_rock_counts() {
    let hide = HideFromEnemy {
        flee_distance_m: 3.0,
        use_boost: false,
        ..HideFromEnemy::default()
    };
    let run = |rocks: &[(f32, f32)]| {
        let fish = vec![
            prey_fish(ActionParams::HideFromEnemy(hide.clone())),
            hunter(1),
        ];
        let places = [(at(0.0, 0.0), Vec3::X), (at(2.0, 0.0), Vec3::X)];
        let rocks = rocks.iter().map(|&(x, z)| {
            ObstacleParams::Sphere(SphereParams {
                center_m: [x, Y, z],
                radius_m: 0.3,
            })
        });
        let mut pool = pool_with_rocks(fish, &places, rocks.collect());
        tick(&mut pool);
        (
            pool.decision(0).actions,
            (pool.decision(0).force + Vec3::X).normalize_or_zero(),
        )
    };
    // Enemy at (2, 0), rock at (-0.2, 1.3): 0.4 m on behind the rock, seen from the enemy.
    let (count, wish) = run(&[(-0.2, 1.3)]);
    let from_enemy = Vec3::new(-2.2, 0.0, 1.3);
    let place = Vec3::new(2.0, 0.0, 0.0) + from_enemy.normalize() * (from_enemy.length() + 0.4);
    assert_eq!(count, 1);
    assert!(wish.distance(place.normalize()) < 1e-3, "{wish}");
    assert_eq!(
        run(&[(1.8, 0.9)]).0,
        0,
        "towards the enemy and not much nearer than it: unsuitable"
    );
    assert_eq!(run(&[(-2.9, 1.5)]).0, 0, "too far");
    assert!(
        run(&[(-0.2, 1.3), (-0.2, -1.1)]).1.z < 0.0,
        "the nearer one"
    );
    assert_eq!(run(&[]).0, 0, "no rock, no hiding");
}

// ---- shadows ----

#[test]
fn the_flee_distance_falls_with_stillness_and_is_back_at_once() {
    let evade = EvadeShadow {
        flee_distance_m: 0.6,
        still_flee_distance_m: -0.2,
        calm_after_secs: 4.0,
        ..EvadeShadow::default()
    };
    assert_eq!(evade.flee_distance_now_m(0.0), 0.6);
    assert!((evade.flee_distance_now_m(2.0) - 0.2).abs() < 1e-6);
    assert!((evade.flee_distance_now_m(9.0) + 0.2).abs() < 1e-6);
}

#[test]
fn fish_flee_from_the_shadow_at_their_own_depth() {
    let evade = ActionParams::EvadeShadow(EvadeShadow {
        flee_distance_m: 0.5,
        ..EvadeShadow::default()
    });
    let decide = |fish_at: Vec3, heading: Vec3, still_secs: f32| {
        let mut pool = pool(
            vec![wants(species("fish", 1), &[("evade", evade.clone())])],
            &[(fish_at, heading)],
        );
        // Eye 4 m up, fish 0.8 m down: k = 1.2; the shadow of 0.5 m at x = 5 has 0.6 m at x = 6 there.
        pool.step(&shadow(Vec2::new(5.0, 0.0), 0.5, still_secs));
        *pool.decision(0)
    };
    let edge = 6.0 + 0.6 + 0.1;
    assert_eq!(
        decide(at(edge + 0.51, 0.0), Vec3::X, 0.0).actions,
        0,
        "beyond"
    );
    let near = decide(at(edge + 0.49, 0.0), Vec3::Z, 0.0);
    assert!(
        near.force.distance(Vec3::new(1.0, 0.0, -1.0)) < 1e-3,
        "{}",
        near.force
    );
    assert!(near.boost.is_none() && !near.hulk);
    assert_eq!(
        decide(at(edge + 0.3, 0.0), Vec3::X, 60.0).actions,
        0,
        "it stands still"
    );
    let under = decide(at(6.2, 0.0), Vec3::X, 0.0);
    assert!(
        under.hulk && under.boost.is_some(),
        "the shadow is behind it"
    );
    let facing = decide(at(6.2, 0.0), Vec3::NEG_X, 0.0);
    assert!(
        facing.hulk && facing.boost.is_none(),
        "it would dart into the shadow"
    );
    let middle = decide(at(6.0, 0.0), Vec3::Z, 0.0);
    assert!(
        middle.force.z > 0.0 || middle.boost.is_some(),
        "straight ahead out of the middle"
    );
}

#[test]
fn fish_go_aside_before_a_walker_and_not_along() {
    let decide = |lead_secs, walks_mps: f32, fish_at: Vec3, outline_m: &[Vec2]| {
        let evade = ActionParams::EvadeShadow(EvadeShadow {
            lead_secs,
            ..EvadeShadow::default()
        });
        let mut pool = pool(
            vec![wants(species("fish", 1), &[("evade", evade)])],
            &[(fish_at, Vec3::X)],
        );
        let mut seen = shadow(Vec2::ZERO, 0.3, 0.0);
        seen.shadows[0].velocity_mps = Vec2::new(walks_mps, 0.0);
        seen.shadows[0].outline_m = outline_m.to_vec();
        pool.step(&seen);
        *pool.decision(0)
    };
    let square = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)].map(Vec2::from);
    // k = 1.2 at its depth: from here to the circle of 0.36 m and less the own radius it is 0.56 m, to the square 0.56 m too.
    let ahead = at(1.0, 0.2);
    for outline in [&[][..], &square] {
        assert_eq!(decide(0.0, 1.0, ahead, outline).actions, 0, "the source's");
        assert_eq!(decide(1.0, 0.0, ahead, outline).actions, 0, "it stands");
        assert_eq!(decide(1.0, -1.0, ahead, outline).actions, 0, "it leaves");
        assert_eq!(decide(0.02, 1.0, ahead, outline).actions, 0, "too late");
        let aside = decide(1.0, 1.0, ahead, outline);
        assert!(
            aside.force.distance(Vec3::new(-1.0, 0.0, 1.0)) < 1e-3,
            "to the side it is on, off the way: {}",
            aside.force
        );
        assert!(!aside.hulk, "the shadow is not overhead yet");
    }
    // The way ends 1.2 m on: from there on it flees along.
    let farther = decide(1.0, 1.0, at(2.0, 0.0), &[]);
    assert!(farther.force.distance(Vec3::ZERO) < 1e-3 && farther.actions == 1);
}

#[test]
fn of_several_shadows_the_nearest_counts() {
    let evade = ActionParams::EvadeShadow(EvadeShadow::default());
    let mut pool = pool(
        vec![wants(species("fish", 1), &[("evade", evade)])],
        &[(at(0.0, 0.0), Vec3::X)],
    );
    let mut both = shadow(Vec2::new(0.0, 0.45), 0.2, 0.0);
    both.shadows
        .extend(shadow(Vec2::new(0.0, -0.6), 0.2, 0.0).shadows);
    pool.step(&both);
    assert!(
        pool.decision(0).force.z < -0.5,
        "{}",
        pool.decision(0).force
    );
}

// ---- wandering ----

#[test]
fn pauses_begin_at_their_rate_whatever_the_tick() {
    for tick_hz in [30.0, 120.0] {
        let wander = Wander {
            idle_per_sec: 0.5,
            idle_secs: 0.5,
            ..Wander::default()
        };
        let scene = SceneDescription {
            species: vec![wants(
                species("fish", 20),
                &[("wander", ActionParams::Wander(wander))],
            )],
            ..SceneDescription::default()
        };
        let params = shoal::simulation::SimulationParams {
            tick_hz,
            ..pools::run(1, 1)
        };
        let mut simulation = Simulation::new(&scene, &params).unwrap();
        let mut idle = 0;
        let ticks = (tick_hz * 30.0) as usize;
        for _ in 0..ticks {
            tick(&mut simulation);
            idle += (0..20)
                .filter(|&index| simulation.decision(index).force == Vec3::ZERO)
                .count();
        }
        // Half a second of pause after two seconds on the way, on average: a fifth of the time.
        let share = idle as f32 / (20 * ticks) as f32;
        assert!((0.15..0.25).contains(&share), "{share} at {tick_hz} Hz");
    }
}
