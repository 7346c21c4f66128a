//! Steering among other vehicles: unaligned collision avoidance, leader following, queuing, shadowing.
//!
//! **Source**: Reynolds 1999; OpenSteer, `steerToAvoidNeighbors`; Buckland 2005.

use glam::Vec3;

use super::motion::{Motion, arrive};
use super::pursuit::{OtherVehicle, offset_pursue};

/// Returns the time until the nearest approach of two vehicles with constant velocities, and their distance at that
/// time. The time is 0 if the vehicles already move apart.
fn nearest_approach(motion: &Motion, other: &OtherVehicle) -> (f32, f32) {
    let velocity = other.velocity_mps - motion.velocity_mps;
    let offset = other.position_m - motion.position_m;
    let speed_sq = velocity.length_squared();
    let secs = if speed_sq > 1e-12 {
        (-offset.dot(velocity) / speed_sq).max(0.0)
    } else {
        0.0
    };
    (secs, (offset + velocity * secs).length())
}

/// Turns away from the vehicle with the earliest predicted collision. A collision is an approach closer than `gap_m`
/// within `horizon_secs`. In a head-on approach, the vehicle turns away from the other's predicted position; in an
/// exact head-on approach, it turns right.
pub fn avoid_neighbors(
    motion: &Motion,
    others: impl Iterator<Item = OtherVehicle>,
    gap_m: f32,
    horizon_secs: f32,
    force_n: f32,
) -> Option<Vec3> {
    let mut threat: Option<(f32, OtherVehicle)> = None;
    for other in others {
        let (secs, distance) = nearest_approach(motion, &other);
        let collides = secs > 0.0 && secs < horizon_secs && distance < gap_m;
        if collides && threat.is_none_or(|(soonest, _)| secs < soonest) {
            threat = Some((secs, other));
        }
    }
    let (secs, other) = threat?;
    let side = motion.side();
    let parallelness = motion.forward.dot(other.forward);
    let toward = if parallelness < -0.707 {
        other.position_after_m(secs) - motion.position_m
    } else if parallelness > 0.707 {
        other.position_m - motion.position_m
    } else if other.velocity_mps.length() <= motion.velocity_mps.length() {
        // The paths cross, and this vehicle is not slower than the other: it passes behind the other.
        other.velocity_mps
    } else {
        -other.velocity_mps
    };
    let sign = if toward.dot(side) > 0.0 { -1.0 } else { 1.0 };
    Some(side * (sign * force_n))
}

/// Parameters of leader following.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaderFollowing {
    /// Distance between the leader and the follower's target position behind the leader.
    pub behind_m: f32,
    /// Length of the box in front of the leader that followers must leave.
    pub clear_ahead_m: f32,
    /// Half of the width of this box.
    pub clear_side_m: f32,
    /// Speed of the follower.
    pub speed_mps: f32,
    /// Distance from the target position at which the follower begins to slow down.
    pub slowing_m: f32,
}

/// Steers the follower to a position behind the leader, or out of the box in front of the leader. The caller must add
/// the separation from other followers.
pub fn follow_leader(
    motion: &Motion,
    leader: &OtherVehicle,
    following: &LeaderFollowing,
) -> Option<Vec3> {
    let offset = motion.position_m - leader.position_m;
    let ahead = offset.dot(leader.forward);
    let lateral = offset - leader.forward * ahead;
    let is_in_way =
        ahead > 0.0 && ahead < following.clear_ahead_m && lateral.length() < following.clear_side_m;
    if is_in_way {
        let right = leader.forward.cross(Vec3::Y).normalize_or(Vec3::Z);
        let out = lateral.normalize_or(right);
        return Some(out * following.speed_mps - motion.velocity_mps);
    }
    let place = Vec3::new(0.0, 0.0, -following.behind_m);
    offset_pursue(
        motion,
        leader,
        place,
        following.speed_mps,
        following.slowing_m,
    )
}

/// Queuing: brakes for slower vehicles ahead. They count up to `reach_m` along the path and up to `half_width_m` to
/// each side of it. Returns `None` if there are none.
pub fn queue(
    motion: &Motion,
    others: impl Iterator<Item = OtherVehicle>,
    reach_m: f32,
    half_width_m: f32,
) -> Option<Vec3> {
    let speed = motion.velocity_mps.dot(motion.forward);
    let mut brake: Option<f32> = None;
    for other in others {
        let offset = other.position_m - motion.position_m;
        let ahead = offset.dot(motion.forward);
        let lateral = (offset - motion.forward * ahead).length();
        if ahead <= 0.0 || ahead > reach_m || lateral > half_width_m {
            continue;
        }
        let slower = speed - other.velocity_mps.dot(motion.forward).max(0.0);
        if slower > 0.0 {
            let need = slower * (1.0 - ahead / reach_m);
            brake = Some(brake.map_or(need, |b| b.max(need)));
        }
    }
    brake.map(|brake| -motion.forward * brake)
}

/// Shadowing: approaches another vehicle, then moves beside it at a distance of `distance_m`.
///
/// **Source**: Reynolds 1999, "Shadowing".
pub fn shadow(
    motion: &Motion,
    other: &OtherVehicle,
    distance_m: f32,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let away = (motion.position_m - other.position_m).normalize_or(-other.forward);
    let beside = other.position_m + away * distance_m;
    let nearness = 1.0 - (beside.distance(motion.position_m) / slowing_m.max(1e-3)).min(1.0);
    let force = arrive(motion, beside, speed_mps, slowing_m)?;
    Some(force + other.velocity_mps * nearness)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTION: Motion = Motion {
        position_m: Vec3::ZERO,
        velocity_mps: Vec3::X,
        forward: Vec3::X,
        up: Vec3::Y,
    };

    fn other(position_m: Vec3, velocity_mps: Vec3) -> OtherVehicle {
        OtherVehicle {
            position_m,
            velocity_mps,
            forward: velocity_mps.normalize_or(Vec3::X),
        }
    }

    #[test]
    fn the_nearest_approach_equals_the_closed_form() {
        // The vehicles are 4 m apart and approach each other head-on at 2 m/s, with a lateral offset of 0.5 m.
        let (secs, distance) =
            nearest_approach(&MOTION, &other(Vec3::new(4.0, 0.0, 0.5), Vec3::NEG_X));
        assert_eq!((secs, distance), (2.0, 0.5));
        let (secs, distance) =
            nearest_approach(&MOTION, &other(Vec3::new(-4.0, 0.0, 0.0), Vec3::NEG_X));
        assert_eq!((secs, distance), (0.0, 4.0), "moving apart");
    }

    #[test]
    fn the_soonest_collision_is_avoided_to_the_free_side() {
        let avoid = |others: &[OtherVehicle]| {
            avoid_neighbors(&MOTION, others.iter().copied(), 1.0, 3.0, 2.0)
        };
        let right = other(Vec3::new(4.0, 0.0, 0.3), Vec3::NEG_X);
        let left = other(Vec3::new(3.0, 0.0, -0.3), Vec3::NEG_X);
        assert_eq!(avoid(&[right]), Some(Vec3::NEG_Z * 2.0));
        // The sooner collision decides.
        assert_eq!(avoid(&[right, left]), Some(Vec3::Z * 2.0));
        // Passes at a distance.
        assert_eq!(avoid(&[other(Vec3::new(4.0, 0.0, 2.0), Vec3::NEG_X)]), None);
        assert_eq!(
            avoid(&[other(Vec3::new(40.0, 0.0, 0.0), Vec3::NEG_X)]),
            None,
            "beyond the horizon"
        );
        // The other vehicle crosses from right to left. This vehicle passes behind it, on the right.
        let crossing = other(Vec3::new(2.0, 0.0, 2.0), Vec3::NEG_Z);
        assert_eq!(avoid(&[crossing]), Some(Vec3::Z * 2.0));
        assert_eq!(
            avoid(&[other(Vec3::new(4.0, 0.0, 0.0), Vec3::NEG_X)]),
            Some(Vec3::Z * 2.0),
            "exactly head-on: right"
        );
    }

    const FOLLOWING: LeaderFollowing = LeaderFollowing {
        behind_m: 1.0,
        clear_ahead_m: 3.0,
        clear_side_m: 0.5,
        speed_mps: 2.0,
        slowing_m: 0.5,
    };

    #[test]
    fn a_follower_clears_the_way_and_arrives_behind_the_leader() {
        let leader = other(Vec3::new(-2.0, 0.0, 0.2), Vec3::X);
        let out = follow_leader(&MOTION, &leader, &FOLLOWING).unwrap();
        assert!(
            out.distance(Vec3::new(-1.0, 0.0, -2.0)) < 1e-5,
            "out of its way: {out}"
        );
        let in_line = other(Vec3::X, Vec3::X);
        let there = follow_leader(&MOTION, &in_line, &FOLLOWING).unwrap();
        assert!(
            there.length() < 1e-5,
            "in place, at the leader's speed: {there}"
        );
        let exactly = other(Vec3::new(-2.0, 0.0, 0.0), Vec3::X);
        let out = follow_leader(&MOTION, &exactly, &FOLLOWING).unwrap();
        assert!(out.z > 1.0, "to a fixed side: {out}");
    }

    #[test]
    fn a_vehicle_in_a_queue_brakes_for_a_slower_one_ahead() {
        let ahead = |x: f32, speed: f32| other(Vec3::new(x, 0.0, 0.1), Vec3::X * speed);
        let brake = |o: OtherVehicle| queue(&MOTION, [o].into_iter(), 2.0, 0.5);
        assert_eq!(brake(ahead(1.0, 0.0)), Some(Vec3::NEG_X * 0.5));
        assert_eq!(brake(ahead(1.0, 1.5)), None, "the other is faster");
        assert_eq!(brake(ahead(-1.0, 0.0)), None, "behind");
        assert_eq!(brake(ahead(3.0, 0.0)), None, "far");
    }

    #[test]
    fn shadowing_keeps_the_distance_to_the_other() {
        let whale = other(Vec3::new(0.0, 0.0, 2.0), Vec3::X);
        assert!(shadow(&MOTION, &whale, 2.0, 1.5, 0.5).unwrap().length() < 1e-5);
        // Approaches.
        assert!(shadow(&MOTION, &whale, 1.0, 1.5, 0.5).unwrap().z > 1.0);
        // Moves away.
        assert!(shadow(&MOTION, &whale, 4.0, 1.5, 0.5).unwrap().z < -1.0);
        let here = other(Vec3::ZERO, Vec3::ZERO);
        assert!(shadow(&MOTION, &here, 1.0, 1.0, 0.0).unwrap().is_finite());
    }
}
