//! Tests of the motion of a body after a decision, and of its independence from the order of the agents. **Source**:
//! Reynolds 1999; Jockel 2005, §4.2.1.

use glam::Vec3;
use shoal_testing::assert_near;

use super::{Y, at, executed, only, pool, pool_with_rocks, related, seek_point, shadow, tick};
use crate::pools::{action, bare, sphere};

#[test]
fn force_is_limited_and_accelerates_the_mass() {
    let mut fish = only(bare("fish", 1), &[("go", seek_point(0.0, 50.0, 10.0))]);
    fish.motion.max_force_n = 3.0;
    fish.body.mass_kg = 2.0;
    let mut pool = pool(vec![fish], &[(at(0.0, 0.0), Vec3::X)]);
    tick(&mut pool);
    // The fish swims at 1 m/s along x and seeks 1 m/s along z with weight 10. This force is larger than the limit of 3 N.
    let gained = Vec3::new(-1.0, 0.0, 1.0).normalize() * (3.0 / 2.0 / 60.0);
    let body = &pool.world().agents.bodies[0];
    assert_near(body.velocity_mps, Vec3::X + gained, 1e-4);
    let way = body.position_m - at(0.0, 0.0);
    assert!(
        way.distance(body.velocity_mps / 60.0) < 1e-5,
        "position changes by velocity times tick: {way}"
    );
    // The heading follows the velocity.
    assert!(body.forward.distance(body.velocity_mps.normalize()) < 1e-4);
}

#[test]
fn speed_stays_within_its_limit_and_an_agent_at_rest_keeps_its_heading() {
    let apart = action(
        "separate",
        "radius_m = 2.0, angle_deg = 180.0, weight = 9.0",
    );
    let fish = only(bare("fish", 1), &[("apart", apart)]);
    let mut idle = bare("idle", 1);
    idle.motion.cruise_mps = 0.0;
    let mut pool = pool(
        vec![fish, idle],
        &[(at(0.0, 0.0), Vec3::X), (at(-0.3, 0.0), Vec3::Z)],
    );
    for _ in 0..120 {
        let behind = pool.world().agents.bodies[0].position_m - Vec3::X * 0.3;
        pool.place(1, behind, Vec3::Z);
        tick(&mut pool);
        assert_eq!(executed(&pool, 0), ["apart"]);
        let bodies = &pool.world().agents.bodies;
        assert!((bodies[0].velocity_mps.length() - 1.0).abs() < 1e-4);
        assert_eq!(bodies[1].forward, Vec3::Z);
    }
}

#[test]
fn turning_in_place_lasts_one_tick() {
    let evade = action("evade_shadow", "weight = 100.0");
    let mut fish = only(bare("fish", 1), &[("evade", evade)]);
    fish.motion.max_turn_rate_dps = 60.0;
    fish.motion.cruise_mps = 0.1;
    fish.body.mass_kg = 0.1;
    let mut pool = pool(vec![fish], &[(at(0.3, 0.0), Vec3::NEG_X)]);
    // A fish under the shadow that faces the center of the shadow turns in place.
    pool.run_tick(&shadow(glam::Vec2::ZERO, 0.5, 0.0));
    assert!(pool.decision(0).proposal.turns_in_place);
    let forward = pool.world().agents.bodies[0].forward;
    assert!(forward.angle_between(Vec3::NEG_X) > 1.0, "{forward}");
    // A fish beside the shadow turns at most at its turn rate.
    pool.place(0, at(1.0, 0.0), Vec3::NEG_X);
    pool.run_tick(&shadow(glam::Vec2::ZERO, 0.5, 0.0));
    assert!(!pool.decision(0).proposal.turns_in_place && pool.decision(0).actions == 1);
    let turned = pool.world().agents.bodies[0]
        .forward
        .angle_between(Vec3::NEG_X);
    assert!(
        (turned.to_degrees() - 1.0).abs() < 0.05,
        "the fish turned by {turned} rad in 1/60 s"
    );
}

#[test]
fn two_agents_that_flee_from_each_other_move_symmetrically() {
    let flee = action("flee_enemy", "");
    let fish = |name, enemy| {
        let mut fish = related(
            only(bare(name, 1), &[("flee", flee.clone())]),
            "enemy",
            enemy,
        );
        fish.perception.field_of_view_deg = 360.0;
        fish
    };
    let mut pool = pool(
        vec![fish("a", "b"), fish("b", "a")],
        &[(at(-0.5, 0.1), Vec3::X), (at(0.5, -0.1), Vec3::NEG_X)],
    );
    for _ in 0..60 {
        tick(&mut pool);
        let bodies = &pool.world().agents.bodies;
        let mirrored = bodies[0].position_m * Vec3::new(-1.0, 1.0, -1.0);
        assert!(mirrored.distance(bodies[1].position_m) < 1e-4, "{bodies:?}");
    }
    let bodies = &pool.world().agents.bodies;
    let apart = bodies[0].position_m.distance(bodies[1].position_m);
    assert!(apart > 1.2, "the distance is only {apart} m");
}

#[test]
fn an_agent_has_no_relation_to_itself() {
    let flees = |count| {
        let flee = action("flee_enemy", "");
        let fish = related(
            only(bare("fish", count), &[("flee", flee)]),
            "enemy",
            "fish",
        );
        let places = [(at(0.0, 0.0), Vec3::X), (at(1.0, 0.0), Vec3::X)];
        let mut pool = pool(vec![fish], &places[..count as usize]);
        tick(&mut pool);
        pool.decision(0).actions == 1
    };
    assert!(flees(2) && !flees(1));
}

#[test]
fn obstacles_beyond_the_goal_are_ignored() {
    let avoids = |goal_x: f32| {
        let mut fish = only(bare("fish", 1), &[("go", seek_point(goal_x, 0.0, 1.0))]);
        fish.mind.actions.insert(
            "avoid".into(),
            action("avoid_obstacles", "lookahead_secs = 2.0"),
        );
        fish.mind.standard.actions = vec!["avoid".into()];
        let rock = sphere([1.5, Y, 0.0], 0.3);
        let mut pool = pool_with_rocks(vec![fish], &[(at(0.0, 0.0), Vec3::X)], vec![rock]);
        tick(&mut pool);
        executed(&pool, 0).contains(&"avoid".to_owned())
    };
    assert!(avoids(5.0), "the goal is behind the rock");
    assert!(!avoids(0.8), "the goal is in front of the rock");
    // The goal is behind the fish, which still swims towards the rock.
    assert!(avoids(-1.0));
}
