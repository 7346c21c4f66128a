//! `evade_shadow`: 2-behavior.md section 4.

use glam::{Vec2, Vec3};
use shoal::behavior::ActionParams;
use shoal::behavior::actions::EvadeShadow;

use super::{at, only, pool, shadow};
use crate::pools::bare;

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
            vec![only(bare("fish", 1), &[("evade", evade.clone())])],
            &[(fish_at, heading)],
        );
        // Eye 4 m up, fish 0.8 m down: k = 1.2; the shadow of 0.5 m at x = 5 has 0.6 m at x = 6 there.
        pool.run_tick(&shadow(Vec2::new(5.0, 0.0), 0.5, still_secs));
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
        near.proposal.force.distance(Vec3::new(1.0, 0.0, -1.0)) < 1e-3,
        "{}",
        near.proposal.force
    );
    assert!(near.proposal.boost.is_none() && !near.proposal.turns_in_place);
    assert_eq!(
        decide(at(edge + 0.3, 0.0), Vec3::X, 60.0).actions,
        0,
        "it stands still"
    );
    let under = decide(at(6.2, 0.0), Vec3::X, 0.0);
    assert!(
        under.proposal.turns_in_place && under.proposal.boost.is_some(),
        "the shadow is behind it"
    );
    let facing = decide(at(6.2, 0.0), Vec3::NEG_X, 0.0);
    assert!(
        facing.proposal.turns_in_place && facing.proposal.boost.is_none(),
        "it would dart into the shadow"
    );
    let middle = decide(at(6.0, 0.0), Vec3::Z, 0.0);
    assert!(
        middle.proposal.force.z > 0.0 || middle.proposal.boost.is_some(),
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
    // k = 1.2 at its depth: from here to the circle of 0.36 m and less the own radius it is 0.56 m, to the square 0.56 m too.
    let ahead = at(1.0, 0.2);
    for outline in [&[][..], &square] {
        assert_eq!(decide(0.0, 1.0, ahead, outline).actions, 0, "the source's");
        assert_eq!(decide(1.0, 0.0, ahead, outline).actions, 0, "it stands");
        assert_eq!(decide(1.0, -1.0, ahead, outline).actions, 0, "it leaves");
        assert_eq!(decide(0.02, 1.0, ahead, outline).actions, 0, "too late");
        let aside = decide(1.0, 1.0, ahead, outline);
        assert!(
            aside.proposal.force.distance(Vec3::new(-1.0, 0.0, 1.0)) < 1e-3,
            "to the side it is on, off the way: {}",
            aside.proposal.force
        );
        assert!(
            !aside.proposal.turns_in_place,
            "the shadow is not overhead yet"
        );
    }
    // The way ends 1.2 m on: from there on it flees along.
    let farther = decide(1.0, 1.0, at(2.0, 0.0), &[]);
    assert!(farther.proposal.force.distance(Vec3::ZERO) < 1e-3 && farther.actions == 1);
}

#[test]
fn of_several_shadows_the_nearest_counts() {
    let evade = ActionParams::EvadeShadow(EvadeShadow::default());
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
