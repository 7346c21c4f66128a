//! Tests of the actions that concern visitors, unknown agents, family, food and leaders.

use glam::{Vec2, Vec3};
use shoal::behavior::actions::{Combined, CombinedMode, Investigate, ShelterUnder};
use shoal::behavior::{ActionParams, AttractionParams};
use shoal::geometry::Visitor;
use shoal::world::{Observation, outline_at_depth};
use shoal_testing::assert_near;

use super::{at, executed, no_visitors, related, run, seek_point, start};
use crate::pools::{action, add_action, bare, wants, wide};

/// Returns an observation with one square shadow. Its sides are 1 m long, and it has stood still for `still_secs`.
fn square(still_secs: f32) -> Observation {
    let corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)];
    Observation {
        time_secs: 0.0,
        shadows: vec![Visitor {
            id: 4,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.56,
            velocity_mps: Vec2::ZERO,
            area_m2: 1.0,
            age_secs: 10.0,
            still_secs: f64::from(still_secs),
            outline_m: corners.map(Vec2::from).to_vec(),
            ..Visitor::default()
        }],
    }
}

#[test]
fn fish_shelter_under_a_still_shadow_only() {
    let mut fish = wants(
        bare("fish", 1),
        "wonder",
        &[(
            "shelter",
            action(
                "shelter_under",
                "reach_m = 3.0, inside_m = 0.05, stay_secs = 60.0, attraction = AT_ONCE",
            ),
        )],
    );
    fish.motion.cruise_mps = 0.4;
    let mut pool = start(&wide(vec![fish]), &[(at(2.0, 0.1), Vec3::Z)]);
    run(&mut pool, 1.0, &square(4.9));
    // The shadow has not stood still long enough.
    assert_eq!(executed(&pool, 0), [""; 0]);
    let seen = square(5.0);
    run(&mut pool, 15.0, &seen);
    let body = pool.world().agents.bodies[0];
    let scale = pool.world().water.scale(body.position_m.y);
    let edge = outline_at_depth(&seen.shadows[0], body.position_m, 0.1, scale);
    assert!(
        (edge.distance_m + 0.05).abs() < 0.1,
        "the fish is not at its place under the edge: {edge:?}"
    );
    assert!(
        body.forward.dot(edge.away) > 0.5,
        "the fish does not look outwards: {}",
        body.forward
    );
    assert!(
        body.velocity_mps.length() < 0.15,
        "the fish does not rest: {} m/s",
        body.velocity_mps
    );
}

#[test]
fn a_slow_stranger_is_circled_until_it_is_known_and_again_after_it_is_forgotten() {
    let mut stone = bare("stone", 1);
    stone.motion.cruise_mps = 0.0;
    stone.motion.boost_mps = 0.0;
    let mut fish = wants(
        bare("fish", 1),
        "wonder",
        &[(
            "look",
            action(
                "investigate",
                "interest_secs = 3.0, forget_secs = 5.0, attraction = AT_ONCE",
            ),
        )],
    );
    fish.motion.cruise_mps = 0.5;
    let scene = wide(vec![fish, stone]);
    let mut pool = start(&scene, &[(at(0.0, 0.0), Vec3::X), (at(1.4, 0.0), Vec3::X)]);
    let (mut known_at, mut again_at, mut turned) = (None, None, 0.0f32);
    let mut last: Option<Vec2> = None;
    for tick in 0..60 * 30 {
        pool.run_tick(&no_visitors());
        let secs = tick as f32 / 60.0;
        let is_curious = !executed(&pool, 0).is_empty();
        let offset = pool.world().agents.bodies[0].position_m - at(1.4, 0.0);
        let offset = Vec2::new(offset.x, offset.z);
        if is_curious && known_at.is_none() {
            turned += last.map_or(0.0, |last| last.angle_to(offset));
        }
        last = Some(offset);
        if secs > 1.0 && !is_curious && known_at.is_none() {
            known_at = Some(secs);
            // The fish would swim away. The test moves it back (below), so that it can become curious again.
            let stays = pool.world().agents.bodies[0].position_m;
            assert!(
                stays.distance(at(1.4, 0.0)) < 1.0,
                "the fish did not come near: {stays}"
            );
        }
        if known_at.is_some() && again_at.is_none() {
            if is_curious {
                again_at = Some(secs);
            } else {
                pool.place(0, at(0.6, 0.0), Vec3::X);
            }
        }
    }
    let (known, again) = (known_at.unwrap(), again_at.unwrap());
    assert!(turned.abs() > 0.8, "the fish circled by only {turned} rad");
    assert!(
        (again - known - 5.0).abs() < 0.2,
        "known at {known} s, curious again at {again} s"
    );
    // A fish with a relation to the stone is not curious about it.
    let mut scene = scene;
    scene.species[0]
        .relations
        .insert("friend".into(), vec!["stone".into()]);
    let mut pool = start(&scene, &[(at(0.0, 0.0), Vec3::X), (at(1.4, 0.0), Vec3::X)]);
    pool.run_tick(&no_visitors());
    assert!(executed(&pool, 0).is_empty());
}

#[test]
fn children_swim_beside_their_mother_and_she_waits_for_them() {
    let child = wants(
        bare("child", 2),
        "family",
        &[(
            "stay",
            action("stay_with_mother", "spread_m = 0.0, hurry_m = 9.0"),
        )],
    );
    let child = related(child, "mother", "mother");
    let mut mother = wants(
        bare("mother", 1),
        "family",
        &[("keep", action("keep_with_child", "wait_m = 1.5"))],
    );
    mother = wants(
        mother,
        "go",
        &[(
            "ahead",
            action("seek", "target = 'point', point_m = [100.0, -0.8, 0.0]"),
        )],
    );
    mother.motion.cruise_mps = 0.5;
    let mother = related(mother, "child", "child");
    let scene = wide(vec![child, mother]);
    let places = [
        (at(-1.0, 1.0), Vec3::X),
        (at(-1.0, -1.0), Vec3::X),
        (at(0.0, 0.0), Vec3::X),
    ];
    let mut pool = start(&scene, &places);
    run(&mut pool, 8.0, &no_visitors());
    let bodies = &pool.world().agents.bodies;
    let offset = |child: usize| bodies[child].position_m - bodies[2].position_m;
    // The children swim 0.3 m to the left and right of the mother and 0.2 m behind her.
    assert_near(offset(0), Vec3::new(-0.2, 0.0, 0.3), 0.1);
    assert_near(offset(1), Vec3::new(-0.2, 0.0, -0.3), 0.1);
    // The children are near, so the mother does not wait.
    assert_eq!(executed(&pool, 2), ["ahead"]);
    // The test places both children far behind the mother.
    let mother_m = bodies[2].position_m;
    pool.place(0, mother_m - Vec3::X * 1.1, Vec3::NEG_X);
    pool.place(1, mother_m - Vec3::X * 1.8, Vec3::NEG_X);
    pool.run_tick(&no_visitors());
    assert_eq!(executed(&pool, 2), ["keep"]);
    run(&mut pool, 0.3, &no_visitors());
    let speed = pool.world().agents.bodies[2].velocity_mps.length();
    assert!(speed < 0.45, "the mother does not wait: {speed} m/s");
}

#[test]
fn eaten_food_re_enters_out_of_sight() {
    let mut fish = wants(bare("fish", 1), "feed", &[("eat", action("eat", ""))]);
    fish = related(fish, "food", "crumb");
    fish.mind.drives.hungry_after_secs = 10.0;
    fish.mind.drives.is_spread = false;
    let mut crumb = bare("crumb", 1);
    crumb.motion.cruise_mps = 0.0;
    crumb.motion.boost_mps = 0.0;
    let mut pool = start(
        &wide(vec![fish, crumb]),
        &[(at(0.0, 0.0), Vec3::X), (at(3.0, 0.0), Vec3::X)],
    );
    run(&mut pool, 0.5, &no_visitors());
    assert!((pool.drives(0).hunger - 0.05).abs() < 0.01);
    assert!(executed(&pool, 0).is_empty(), "the food is out of reach");
    let near = pool.world().agents.bodies[0].position_m + Vec3::X * 0.5;
    pool.place(1, near, Vec3::NEG_X);
    run(&mut pool, 0.5, &no_visitors());
    assert_eq!((pool.meals(), pool.catches()), (1, 0));
    assert!(
        pool.drives(0).hunger < 0.05,
        "the meal did not reset hunger: {}",
        pool.drives(0).hunger
    );
    // The fish swallows the food within 0.3 s.
    run(&mut pool, 0.3, &no_visitors());
    let crumb = &pool.world().agents.bodies[1];
    assert!(!pool.world().water.is_visible(crumb.position_m, 0.3));
}

#[test]
fn followers_swim_behind_their_leader_and_clear_the_way() {
    let fish = wants(
        bare("fish", 1),
        "follow",
        &[("follow", action("follow_leader", "apart_m = 0.0"))],
    );
    let fish = related(fish, "leader", "boss");
    let mut boss = wants(
        bare("boss", 1),
        "go",
        &[(
            "ahead",
            action("seek", "target = 'point', point_m = [100.0, -0.8, 0.0]"),
        )],
    );
    boss.motion.cruise_mps = 0.4;
    let scene = wide(vec![fish, boss]);
    let mut pool = start(&scene, &[(at(-2.0, 1.0), Vec3::X), (at(0.0, 0.0), Vec3::X)]);
    run(&mut pool, 10.0, &no_visitors());
    let bodies = &pool.world().agents.bodies;
    let offset = bodies[0].position_m - bodies[1].position_m;
    assert!(offset.distance(Vec3::new(-0.4, 0.0, 0.0)) < 0.1, "{offset}");
    let mut pool = start(
        &scene,
        &[(at(0.5, 0.05), Vec3::NEG_X), (at(0.0, 0.0), Vec3::X)],
    );
    pool.run_tick(&no_visitors());
    assert!(
        pool.decision(0).proposal.force.z > 0.5,
        "the follower does not leave the leader's way: {}",
        pool.decision(0).proposal.force
    );
}

#[test]
fn combined_actions_act_when_any_or_all_parts_can() {
    let force = |mode, second_weight: f32| {
        let combined = Combined {
            weight: 0.5,
            mode,
            actions: vec!["never".into(), "left".into(), "right".into()],
        };
        let mut fish = wants(
            bare("fish", 1),
            "only",
            &[("both", ActionParams::Combined(combined))],
        );
        add_action(&mut fish, "never", seek_point(9.0, 0.0, second_weight));
        add_action(&mut fish, "left", seek_point(0.0, -9.0, 2.0));
        add_action(&mut fish, "right", seek_point(0.0, 9.0, 1.0));
        assert_eq!(fish.mind.problems(), vec![]);
        let mut pool = start(&wide(vec![fish]), &[(at(0.0, 0.0), Vec3::X)]);
        pool.run_tick(&no_visitors());
        (executed(&pool, 0).len(), pool.decision(0).proposal.force)
    };
    // The fish swims ahead (x) at 1 m/s, and each part seeks sideways (z). The force of a part is (-1, 0, ∓1) times the weight
    // of the part, times the weight 0.5 of the combined action.
    let (count, first) = force(CombinedMode::Any, 0.0);
    assert_eq!(count, 1);
    assert!(first.distance(Vec3::new(-1.0, 0.0, -1.0)) < 1e-4, "{first}");
    // One part cannot be executed.
    assert_eq!(force(CombinedMode::All, 0.0).0, 0);
    let (_, sum) = force(CombinedMode::All, 1.0);
    assert!(sum.distance(Vec3::new(-1.5, 0.0, -0.5)) < 1e-4, "{sum}");
}

#[test]
fn combined_actions_nest_and_can_act_as_far_as_possible() {
    let force = |never_weight: f32, inner: CombinedMode| {
        let combine = |mode, actions: &[&str]| {
            ActionParams::Combined(Combined {
                weight: 1.0,
                mode,
                actions: actions.iter().map(|&name| name.to_owned()).collect(),
            })
        };
        let outer = combine(CombinedMode::Each, &["inner", "right"]);
        let mut fish = wants(bare("fish", 1), "only", &[("outer", outer)]);
        let inner = combine(inner, &["never", "left"]);
        let parts = [
            ("inner", inner),
            ("never", seek_point(9.0, 0.0, never_weight)),
            ("left", seek_point(0.0, -9.0, 2.0)),
            ("right", seek_point(0.0, 9.0, 1.0)),
        ];
        for (name, part) in parts {
            add_action(&mut fish, name, part);
        }
        assert_eq!(fish.mind.problems(), vec![]);
        let mut pool = start(&wide(vec![fish]), &[(at(0.0, 0.0), Vec3::X)]);
        pool.run_tick(&no_visitors());
        pool.decision(0).proposal.force
    };
    // A part that seeks sideways (z) gives (-1, 0, ∓1) times its weight; the part that seeks ahead gives no force.
    let each = force(0.0, CombinedMode::Any);
    assert!(each.distance(Vec3::new(-3.0, 0.0, -1.0)) < 1e-4, "{each}");
    let without_inner = force(0.0, CombinedMode::All);
    assert_near(without_inner, Vec3::new(-1.0, 0.0, 1.0), 1e-4);
    let all = force(1.0, CombinedMode::All);
    assert!(all.distance(Vec3::new(-3.0, 0.0, -1.0)) < 1e-4, "{all}");

    let mut mind = shoal::behavior::MindParams::default();
    for (name, part) in [("a", "b"), ("b", "a")] {
        let combined = Combined {
            actions: vec![part.into()],
            ..Combined::default()
        };
        mind.actions
            .insert(name.into(), ActionParams::Combined(combined));
    }
    let paths: Vec<String> = mind.problems().into_iter().map(|p| p.0).collect();
    assert_eq!(paths, ["actions.a.actions[0]", "actions.b.actions[0]"]);
}

/// A fixed bug: a visitor was never known, because sheltering always came before curiosity.
#[test]
fn a_fish_that_also_shelters_gets_to_know_a_visitor() {
    let look = Investigate {
        interest_secs: 3.0,
        forget_secs: 60.0,
        attraction: AttractionParams {
            hesitate_secs: 1.0,
            ..super::at_once()
        },
        ..Investigate::default()
    };
    let shelter = ShelterUnder {
        stay_secs: 3.0,
        attraction: AttractionParams {
            hesitate_secs: 1.0,
            rest_secs: 6.0,
            ..super::at_once()
        },
        ..ShelterUnder::default()
    };
    let actions = [
        ("shelter", ActionParams::ShelterUnder(shelter)),
        ("look", ActionParams::Investigate(look)),
    ];
    let mut fish = wants(bare("fish", 1), "wonder", &actions);
    fish = wants(
        fish,
        "trust",
        &[(
            "known",
            action("seek", "target = 'agent', relations = ['known']"),
        )],
    );
    fish.motion.cruise_mps = 0.4;
    let mut pool = start(&wide(vec![fish]), &[(at(1.0, 0.1), Vec3::Z)]);
    let mut knows = false;
    for tick in 0..60 * 60u16 {
        pool.run_tick(&square(6.0 + f32::from(tick) / 60.0));
        knows |= executed(&pool, 0) == ["known"];
    }
    assert!(knows, "the visitor is not known after a minute");
}

#[test]
fn habits_lead_to_preferred_light_and_temperature() {
    let fish = wants(
        bare("fish", 1),
        "live",
        &[(
            "habits",
            action(
                "keep_habits",
                "light = 0.9, light_tolerance = 0.05, warmth_c = 20.0, warmth_tolerance_c = 1.0, weight = 1.0",
            ),
        )],
    );
    let mut scene = wide(vec![fish]);
    scene.pool.climate.light_depth_m = 4.0;
    scene.pool.climate.warmth_c = 16.0;
    scene.pool.climate.warmer_per_m = [1.0, 0.0, 0.0];
    let mut pool = start(&scene, &[(Vec3::new(0.0, -1.0, 0.0), Vec3::Z)]);
    run(&mut pool, 20.0, &no_visitors());
    let place = pool.world().agents.bodies[0].position_m;
    let climate = &pool.world().water.params.climate;
    assert!(
        (climate.light(place) - 0.9).abs() < 0.06,
        "{place}: {}",
        climate.light(place)
    );
    assert!(
        climate.warmth_c(place) > 18.9,
        "{place}: {}",
        climate.warmth_c(place)
    );
}

#[test]
fn seek_can_target_an_agent() {
    let fish = related(
        wants(
            bare("fish", 1),
            "go",
            &[(
                "seek",
                action("seek", "target = 'agent', relations = ['idol']"),
            )],
        ),
        "idol",
        "star",
    );
    let mut pool = start(
        &wide(vec![fish, bare("star", 1)]),
        &[(at(0.0, 0.0), Vec3::X), (at(0.0, 3.0), Vec3::X)],
    );
    pool.run_tick(&no_visitors());
    assert_near(
        pool.decision(0).proposal.force,
        Vec3::new(-1.0, 0.0, 1.0),
        1e-4,
    );
}
