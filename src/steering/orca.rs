//! Optimal reciprocal collision avoidance (ORCA) in the horizontal plane, computed by the crate `dodgy_2d`. The search
//! for neighbors is our own.
//!
//! In: own motion, preferred velocity, other discs. Out: allowed velocity. Unlike all other steering behaviors, this
//! one allocates memory in every call. It is a reference for comparisons; no shipped species uses it.
//!
//! **Source**: van den Berg, Guy, Lin & Manocha 2011.

use std::borrow::Cow;

use dodgy_2d::{Agent, AvoidanceOptions, Vec2};
use glam::Vec3;

/// Time horizon of the velocity obstacles: velocities that would collide within this time are excluded.
const HORIZON_SECS: f32 = 2.0;

/// A disc that moves in the horizontal plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Center.
    pub position_m: Vec3,
    /// Velocity.
    pub velocity_mps: Vec3,
    /// Radius.
    pub radius_m: f32,
}

/// Returns the velocity nearest to `wanted_mps` that leads to no collision if every other disc contributes half of the
/// avoidance. The horizontal part is at most `speed_mps`; the vertical part of `wanted_mps` is kept. Returns
/// `wanted_mps` if the result is not finite.
pub fn avoid_reciprocally(
    own: &Disc,
    wanted_mps: Vec3,
    speed_mps: f32,
    dt_secs: f32,
    others: impl Iterator<Item = Disc>,
) -> Vec3 {
    let level = |v: Vec3| Vec2::new(v.x, v.z);
    let agent = |disc: &Disc| Agent {
        position: level(disc.position_m),
        velocity: level(disc.velocity_mps),
        radius: disc.radius_m,
        avoidance_responsibility: 1.0,
    };
    // Discs at the same position are ignored: for two discs with the same position and velocity, the crate draws a
    // random number, and the run would not be reproducible.
    let is_beside =
        |other: &Disc| level(other.position_m).distance_squared(level(own.position_m)) > 1e-12;
    let near: Vec<Cow<'_, Agent>> = others
        .filter(is_beside)
        .map(|disc| Cow::Owned(agent(&disc)))
        .collect();
    let options = AvoidanceOptions {
        obstacle_margin: 0.0,
        time_horizon: HORIZON_SECS,
        obstacle_time_horizon: HORIZON_SECS,
    };
    let found = agent(own).compute_avoiding_velocity(
        &near,
        &[],
        level(wanted_mps),
        speed_mps.max(1e-3),
        dt_secs.max(1e-4),
        &options,
    );
    let allowed = Vec3::new(found.x, wanted_mps.y, found.y);
    if allowed.is_finite() {
        allowed
    } else {
        wanted_mps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc(x: f32, z: f32, velocity_mps: Vec3) -> Disc {
        Disc {
            position_m: Vec3::new(x, -1.0, z),
            velocity_mps,
            radius_m: 0.3,
        }
    }

    fn allowed(own: Disc, wanted: Vec3, others: &[Disc]) -> Vec3 {
        avoid_reciprocally(&own, wanted, 1.3, 1.0 / 60.0, others.iter().copied())
    }

    #[test]
    fn without_others_the_wanted_velocity_is_allowed() {
        let wanted = Vec3::new(1.0, 0.2, 0.5);
        let found = allowed(disc(0.0, 0.0, Vec3::ZERO), wanted, &[]);
        assert!(found.distance(wanted) < 1e-6);
    }

    #[test]
    fn two_discs_that_meet_evade_and_never_touch() {
        let mut pair = [disc(-2.0, 0.05, Vec3::X), disc(2.0, -0.05, Vec3::NEG_X)];
        let mut least = f32::MAX;
        for _ in 0..300 {
            let before = pair;
            for (me, wanted) in [(0, Vec3::X), (1, Vec3::NEG_X)] {
                let velocity = allowed(before[me], wanted, &[before[1 - me]]);
                pair[me].velocity_mps = velocity;
                pair[me].position_m += velocity / 60.0;
            }
            least = least.min(pair[0].position_m.distance(pair[1].position_m));
        }
        assert!(least > 0.595, "{least}");
        assert!(pair[0].position_m.x > 2.0, "{}", pair[0].position_m);
    }

    #[test]
    fn discs_at_the_same_position_give_reproducible_results() {
        let own = disc(0.0, 0.0, Vec3::X);
        let first = allowed(own, Vec3::X, &[own, own]);
        assert!((0..20).all(|_| allowed(own, Vec3::X, &[own, own]) == first));
    }
}
