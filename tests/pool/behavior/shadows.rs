//! Tests of the action `evade_shadow`. **Source**: Jockel 2005, §4.2.5.

use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::behavior::actions::EvadeShadow;
use shoal_testing::assert_near;

use super::{at, only, pool, shadow};
use crate::pools::{action, bare};

#[test]
fn the_flee_distance_falls_while_a_shadow_stands_still() {
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
    let evade = action("evade_shadow", "flee_distance_m = 0.5");
    let decide = |fish_at: Vec3, heading: Vec3, still_secs: f32| {
        let mut pool = pool(
            vec![only(bare("fish", 1), &[("evade", evade.clone())])],
            &[(fish_at, heading)],
        );
        // The eye is 4 m above the floor and the fish 0.8 m below it, so the scale is (4 + 0.8) / 4 = 1.2. The shadow has a
        // radius of 0.5 m at x = 5 m on the floor, and a radius of 0.6 m at x = 6 m at the depth of the fish.
        pool.run_tick(&shadow(Vec2::new(5.0, 0.0), 0.5, still_secs));
        *pool.decision(0)
    };
    let edge = 6.0 + 0.6 + 0.1;
    // Beyond the flee distance.
    assert_eq!(decide(at(edge + 0.51, 0.0), Vec3::X, 0.0).actions, 0);
    let near = decide(at(edge + 0.49, 0.0), Vec3::Z, 0.0);
    assert_near(near.proposal.force, Vec3::new(1.0, 0.0, -1.0), 1e-3);
    assert!(near.proposal.boost.is_none() && !near.proposal.turns_in_place);
    // The shadow stands still.
    assert_eq!(decide(at(edge + 0.3, 0.0), Vec3::X, 60.0).actions, 0);
    let under = decide(at(6.2, 0.0), Vec3::X, 0.0);
    assert!(
        under.proposal.turns_in_place && under.proposal.boost.is_some(),
        "under a shadow that is behind it, the fish turns in place and boosts"
    );
    let facing = decide(at(6.2, 0.0), Vec3::NEG_X, 0.0);
    assert!(
        facing.proposal.turns_in_place && facing.proposal.boost.is_none(),
        "the fish does not boost towards the shadow"
    );
    let middle = decide(at(6.0, 0.0), Vec3::Z, 0.0);
    assert!(
        middle.proposal.force.z > 0.0 || middle.proposal.boost.is_some(),
        "from the center the fish swims straight on"
    );
}

#[test]
fn fish_leave_the_way_of_a_walking_visitor_sideways() {
    let decide = |lead_secs, walks_mps: f32, fish_at: Vec3, outline_m: &[Vec2]| {
        let evade = ActionParams::EvadeShadow(EvadeShadow {
            lead_secs,
            ..EvadeShadow::default()
        });
        let mut pool = pool(
            vec![only(bare("fish", 1), &[("evade", evade)])],
            &[(fish_at, Vec3::X)],
        );
        let mut seen = shadow(Vec2::ZERO, 0.3, 0.0);
        seen.shadows[0].velocity_mps = Vec2::new(walks_mps, 0.0);
        seen.shadows[0].outline_m = outline_m.to_vec();
        pool.run_tick(&seen);
        *pool.decision(0)
    };
    let square = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)].map(Vec2::from);
    // At this depth the scale is 1.2, and the circle has a radius of 0.36 m. The body of the fish is 0.56 m from the circle and
    // about as far from the square.
    let ahead = at(1.0, 0.2);
    for outline in [&[][..], &square] {
        // Without prediction the shadow is too far away.
        assert_eq!(decide(0.0, 1.0, ahead, outline).actions, 0);
        // The visitor stands.
        assert_eq!(decide(1.0, 0.0, ahead, outline).actions, 0);
        // The visitor walks away.
        assert_eq!(decide(1.0, -1.0, ahead, outline).actions, 0);
        // The predicted way is too short.
        assert_eq!(decide(0.02, 1.0, ahead, outline).actions, 0);
        let aside = decide(1.0, 1.0, ahead, outline);
        assert!(
            aside.proposal.force.distance(Vec3::new(-1.0, 0.0, 1.0)) < 1e-3,
            "the fish does not leave the way sideways: {}",
            aside.proposal.force
        );
        // The shadow is not overhead yet.
        assert!(!aside.proposal.turns_in_place);
    }
    // The predicted way of the visitor ends after 1.2 m. A fish farther ahead flees in the direction in which the visitor
    // walks.
    let farther = decide(1.0, 1.0, at(2.0, 0.0), &[]);
    assert!(farther.proposal.force.distance(Vec3::ZERO) < 1e-3 && farther.actions == 1);
}

#[test]
fn the_nearest_shadow_counts() {
    let evade = action("evade_shadow", "");
    let mut pool = pool(
        vec![only(bare("fish", 1), &[("evade", evade)])],
        &[(at(0.0, 0.0), Vec3::X)],
    );
    let mut both = shadow(Vec2::new(0.0, 0.45), 0.2, 0.0);
    both.shadows
        .extend(shadow(Vec2::new(0.0, -0.6), 0.2, 0.0).shadows);
    pool.run_tick(&both);
    assert!(
        pool.decision(0).proposal.force.z < -0.5,
        "{}",
        pool.decision(0).proposal.force
    );
}
