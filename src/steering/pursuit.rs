//! Steering by the predicted position of other vehicles: pursuit, evasion, offset pursuit, interpose.
//!
//! Each behavior returns the desired velocity minus the current velocity, or `None` if it does not apply. **Source**:
//! Reynolds 1999; the nine cases of pursuit are from OpenSteer 0.8.2, `steerForPursuit`.

use glam::Vec3;

use super::motion::{Motion, arrive, flee, seek};

/// Motion of another vehicle, for prediction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherVehicle {
    /// Center.
    pub position_m: Vec3,
    /// Velocity.
    pub velocity_mps: Vec3,
    /// Unit vector ahead.
    pub forward: Vec3,
}

impl OtherVehicle {
    /// Returns the position predicted for a time of `secs`, at constant velocity.
    pub fn position_after_m(&self, secs: f32) -> Vec3 {
        self.position_m + self.velocity_mps * secs
    }
}

/// Cosine above which two directions count as parallel: 45 degrees. **Source**: OpenSteer.
const PARALLEL: f32 = 0.707;

/// Factors that estimate the time of interception: each is multiplied by the time for the straight distance to the
/// target. Rows: the target is behind, beside, or ahead of the pursuer. Columns: the target moves against, across, or
/// along the pursuer's direction. **Source**: OpenSteer, `steerForPursuit`.
const TIME_FACTORS: [[f32; 3]; 3] = [[2.0, 2.0, 0.5], [4.0, 0.8, 1.0], [0.85, 1.8, 4.0]];

/// Steers to the position of the target that is predicted for the estimated time of interception, at most `max_secs`
/// ahead.
pub fn pursue(
    motion: &Motion,
    target: &OtherVehicle,
    speed_mps: f32,
    max_secs: f32,
) -> Option<Vec3> {
    let secs = intercept_secs(motion, target, max_secs);
    seek(motion, target.position_after_m(secs), speed_mps)
}

/// Returns the estimated time until the interception of the target, by the nine cases of OpenSteer, at most `max_secs`.
fn intercept_secs(motion: &Motion, target: &OtherVehicle, max_secs: f32) -> f32 {
    let offset = target.position_m - motion.position_m;
    let distance = offset.length();
    let speed = motion.velocity_mps.length();
    if speed < 1e-6 || distance < 1e-6 {
        return if distance < 1e-6 { 0.0 } else { max_secs };
    }
    let case = |cos: f32| usize::from(cos >= -PARALLEL) + usize::from(cos > PARALLEL);
    let row = case(motion.forward.dot(offset / distance));
    let column = case(motion.forward.dot(target.forward));
    (distance / speed * TIME_FACTORS[row][column]).min(max_secs)
}

/// Flees from the predicted position of the threat. The prediction is for the time that the threat needs to the
/// vehicle's current position, at most `max_secs`.
pub fn evade(
    motion: &Motion,
    threat: &OtherVehicle,
    speed_mps: f32,
    max_secs: f32,
) -> Option<Vec3> {
    let distance = motion.position_m.distance(threat.position_m);
    let secs = (distance / threat.velocity_mps.length().max(1e-6)).min(max_secs);
    flee(motion, threat.position_after_m(secs), speed_mps)
}

/// Keeps a fixed offset from a leader: `offset_m` to the right, up and ahead, as seen from the leader. Steers to the
/// position that this offset is predicted to have.
pub fn offset_pursue(
    motion: &Motion,
    leader: &OtherVehicle,
    offset_m: Vec3,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let right = leader.forward.cross(Vec3::Y).normalize_or(Vec3::Z);
    let up = right.cross(leader.forward);
    let place =
        leader.position_m + right * offset_m.x + up * offset_m.y + leader.forward * offset_m.z;
    let leader_speed = leader.velocity_mps.length();
    // **Source**: Buckland 2005, "Offset pursuit": the prediction time is the distance divided by the sum of both
    // speeds.
    let secs = motion.position_m.distance(place) / (speed_mps + leader_speed).max(1e-3);
    let aim = place + leader.velocity_mps * secs;
    let slowed = arrive(motion, aim, speed_mps, slowing_m)?;
    // At the target position, the vehicle keeps the leader's velocity instead of stopping.
    let nearness = 1.0 - (motion.position_m.distance(place) / slowing_m.max(1e-3)).min(1.0);
    Some(slowed + leader.velocity_mps * nearness)
}

/// Steers to the midpoint between the predicted positions of two other vehicles, and slows down to stop there.
pub fn interpose(
    motion: &Motion,
    one: &OtherVehicle,
    other: &OtherVehicle,
    speed_mps: f32,
    slowing_m: f32,
) -> Option<Vec3> {
    let middle = (one.position_m + other.position_m) / 2.0;
    let secs = motion.position_m.distance(middle) / speed_mps.max(1e-3);
    let aim = (one.position_after_m(secs) + other.position_after_m(secs)) / 2.0;
    arrive(motion, aim, speed_mps, slowing_m)
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

    fn target(position_m: Vec3, velocity_mps: Vec3) -> OtherVehicle {
        OtherVehicle {
            position_m,
            velocity_mps,
            forward: velocity_mps.normalize_or(Vec3::X),
        }
    }

    #[test]
    fn the_nine_cases_have_opensteers_factors() {
        let (ahead, aside, behind) = (Vec3::X, Vec3::Z, Vec3::NEG_X);
        for (at, heading, factor) in [
            (ahead, ahead, 4.0),
            (ahead, aside, 1.8),
            (ahead, behind, 0.85),
            (aside, ahead, 1.0),
            (aside, aside, 0.8),
            (aside, behind, 4.0),
            (behind, ahead, 0.5),
            (behind, aside, 2.0),
            (behind, behind, 2.0),
        ] {
            // A distance of 3 m at 1 m/s takes 3 s, times the factor.
            let secs = intercept_secs(&MOTION, &target(at * 3.0, heading), 100.0);
            assert!((secs - 3.0 * factor).abs() < 1e-5, "{at} {heading}: {secs}");
        }
        let capped = intercept_secs(&MOTION, &target(Vec3::X * 3.0, Vec3::X), 2.0);
        assert_eq!(capped, 2.0);
    }

    #[test]
    fn pursuit_and_evasion_use_the_predicted_position() {
        // The target is ahead and moves across: 2 m at 1 m/s, factor 1.8. It is predicted to be 3.6 m to the side.
        let fish = target(Vec3::X * 2.0, Vec3::Z);
        let aim = Vec3::new(2.0, 0.0, 3.6).normalize() * 2.0 - Vec3::X;
        assert!(pursue(&MOTION, &fish, 2.0, 10.0).unwrap().distance(aim) < 1e-5);
        // The threat needs 2 s to the vehicle's position; its predicted position is then 2 m to the side.
        let away = -Vec3::new(2.0, 0.0, 2.0).normalize() * 2.0 - Vec3::X;
        assert!(evade(&MOTION, &fish, 2.0, 10.0).unwrap().distance(away) < 1e-5);
    }

    #[test]
    fn offset_pursuit_arrives_and_keeps_the_leader_s_velocity() {
        let leader = target(Vec3::new(5.0, 0.0, 0.0), Vec3::X);
        let place = Vec3::new(4.0, 0.0, 1.0);
        let there = Motion {
            position_m: place,
            ..MOTION
        };
        // The offset is 1 m to the right and 1 m behind.
        let force = offset_pursue(&there, &leader, Vec3::new(1.0, 0.0, -1.0), 2.0, 0.5).unwrap();
        assert!(
            force.length() < 1e-5,
            "keeps the leader's velocity: {force}"
        );
        let far = Motion {
            position_m: place - Vec3::X * 6.0,
            ..MOTION
        };
        let force = offset_pursue(&far, &leader, Vec3::new(1.0, 0.0, -1.0), 2.0, 0.5).unwrap();
        assert!(force.distance(Vec3::X) < 1e-5, "full speed ahead: {force}");
    }

    #[test]
    fn interpose_aims_at_the_predicted_midpoint() {
        let one = target(Vec3::new(2.0, 0.0, 2.0), Vec3::X);
        let other = target(Vec3::new(2.0, 0.0, -2.0), Vec3::X);
        // The distance of 2 m takes 1 s at 2 m/s. In this time, both other vehicles move 1 m.
        let force = interpose(&MOTION, &one, &other, 2.0, 0.1).unwrap();
        assert!(force.distance(Vec3::X) < 1e-5, "{force}");
        let moved = interpose(
            &MOTION,
            &one,
            &target(Vec3::new(2.0, 0.0, -2.0), Vec3::Z),
            2.0,
            0.1,
        );
        let aim = Vec3::new(2.5, 0.0, 0.5);
        assert!(moved.unwrap().distance(aim.normalize() * 2.0 - Vec3::X) < 1e-5);
    }

    #[test]
    fn vehicles_at_the_same_position_give_finite_forces() {
        let here = target(Vec3::ZERO, Vec3::ZERO);
        let still = Motion {
            velocity_mps: Vec3::ZERO,
            ..MOTION
        };
        for force in [
            pursue(&still, &here, 1.0, 1.0),
            evade(&still, &here, 1.0, 1.0),
            offset_pursue(&still, &here, Vec3::ZERO, 1.0, 0.0),
            interpose(&still, &here, &here, 1.0, 0.0),
        ] {
            assert!(force.is_none_or(Vec3::is_finite), "{force:?}");
        }
    }
}
