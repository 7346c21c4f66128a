//! Basic steering behaviors. Each function returns the desired velocity minus the current velocity, in m/s. The vehicle
//! multiplies this vector by the action's weight and uses it as a force. `None` means that the behavior does not apply;
//! a zero vector is a valid force.
//!
//! **Source**: Reynolds 1999.

use glam::Vec3;

/// Motion of the vehicle that steers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Center.
    pub position_m: Vec3,
    /// Velocity.
    pub velocity_mps: Vec3,
    /// Unit vector ahead.
    pub forward: Vec3,
    /// Unit vector up, perpendicular to `forward`.
    pub up: Vec3,
}

impl Motion {
    /// Unit vector to the right.
    pub fn side(&self) -> Vec3 {
        self.forward.cross(self.up)
    }
}

/// Steers straight at a target at full speed. Returns `None` if the vehicle is exactly at the target.
pub fn seek(motion: &Motion, target_m: Vec3, speed_mps: f32) -> Option<Vec3> {
    let desired = (target_m - motion.position_m).try_normalize()?;
    Some(desired * speed_mps - motion.velocity_mps)
}

/// Steers straight away from a threat at full speed. If the threat is exactly at the vehicle's position, steers
/// straight ahead.
pub fn flee(motion: &Motion, threat_m: Vec3, speed_mps: f32) -> Option<Vec3> {
    let away = (motion.position_m - threat_m).normalize_or(motion.forward);
    Some(away * speed_mps - motion.velocity_mps)
}

/// Steers in the direction of a unit vector, at the speed `speed_mps`.
pub fn steer_along(motion: &Motion, direction: Vec3, speed_mps: f32) -> Option<Vec3> {
    Some(direction * speed_mps - motion.velocity_mps)
}

/// Steers to a target and slows down within `slowing_m` of it, so that the vehicle stops there.
pub fn arrive(motion: &Motion, target_m: Vec3, speed_mps: f32, slowing_m: f32) -> Option<Vec3> {
    let offset = target_m - motion.position_m;
    let distance = offset.length();
    let share = if distance < slowing_m {
        distance / slowing_m
    } else {
        1.0
    };
    Some(offset.normalize_or_zero() * speed_mps * share - motion.velocity_mps)
}

/// Returns the predicted position of a moving target after a time: the time that a pursuer with `speed_mps` needs to
/// the target's current position, but at most `lead_secs`.
pub fn predicted_target(
    from_m: Vec3,
    target_m: Vec3,
    velocity_mps: Vec3,
    speed_mps: f32,
    lead_secs: f32,
) -> Vec3 {
    let secs = (from_m.distance(target_m) / speed_mps.max(1e-3)).min(lead_secs);
    target_m + velocity_mps * secs
}

/// Accelerates or brakes along `forward` until the speed in this direction is `speed_mps`.
pub fn target_speed(motion: &Motion, speed_mps: f32) -> Option<Vec3> {
    Some(motion.forward * (speed_mps - motion.velocity_mps.dot(motion.forward)))
}

/// Wanders: steers towards a point on a circle of radius `spread`, whose center is one unit ahead. `angle_rad` selects
/// the point: 0 is the right side, and positive angles turn upwards.
///
/// The height of the circle is multiplied by `climb_share`. A value below 1 makes the vehicle turn mostly sideways.
pub fn wander(
    motion: &Motion,
    angle_rad: f32,
    spread: f32,
    climb_share: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let (sin, cos) = angle_rad.sin_cos();
    let desired = motion.forward + (motion.side() * cos + motion.up * (sin * climb_share)) * spread;
    Some(desired.normalize_or(motion.forward) * speed_mps - motion.velocity_mps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTION: Motion = Motion {
        position_m: Vec3::new(1.0, -1.0, 2.0),
        velocity_mps: Vec3::new(0.5, 0.0, 0.0),
        forward: Vec3::X,
        up: Vec3::Y,
    };

    #[test]
    fn seek_and_flee_are_opposite() {
        let target = MOTION.position_m + Vec3::new(0.0, 0.0, 3.0);
        assert_eq!(seek(&MOTION, target, 2.0), Some(Vec3::new(-0.5, 0.0, 2.0)));
        assert_eq!(flee(&MOTION, target, 2.0), Some(Vec3::new(-0.5, 0.0, -2.0)));
        assert_eq!(seek(&MOTION, MOTION.position_m, 2.0), None);
        assert_eq!(
            flee(&MOTION, MOTION.position_m, 2.0),
            Some(Vec3::new(1.5, 0.0, 0.0))
        );
    }

    #[test]
    fn a_zero_vector_is_a_valid_force() {
        let ahead = MOTION.position_m + Vec3::X;
        assert_eq!(seek(&MOTION, ahead, 0.5), Some(Vec3::ZERO));
    }

    #[test]
    fn arrival_slows_down_and_stops() {
        let target = |x: f32| MOTION.position_m + Vec3::new(0.0, 0.0, x);
        let desired = |x| arrive(&MOTION, target(x), 2.0, 1.0).unwrap() + MOTION.velocity_mps;
        assert_eq!(desired(3.0), Vec3::new(0.0, 0.0, 2.0));
        assert_eq!(desired(0.25), Vec3::new(0.0, 0.0, 0.5));
        assert_eq!(desired(0.0), Vec3::ZERO);
    }

    #[test]
    fn the_prediction_time_is_limited() {
        let lead = |cap| predicted_target(Vec3::ZERO, Vec3::X, Vec3::Y, 2.0, cap);
        assert_eq!(lead(9.0), Vec3::new(1.0, 0.5, 0.0));
        assert_eq!(lead(0.1), Vec3::new(1.0, 0.1, 0.0));
    }

    #[test]
    fn the_speed_is_kept_along_the_current_direction() {
        assert_eq!(
            target_speed(&MOTION, 0.8),
            Some(Vec3::new(0.8 - 0.5, 0.0, 0.0))
        );
    }

    #[test]
    fn wander_deviates_by_the_spread() {
        let desired = |angle| wander(&MOTION, angle, 1.0, 0.5, 1.0).unwrap() + MOTION.velocity_mps;
        let half = 0.5f32.sqrt();
        // If +x is ahead and +y is up, then +z is to the right.
        assert!(desired(0.0).distance(Vec3::new(half, 0.0, half)) < 1e-6);
        let up = Vec3::new(1.0, 0.5, 0.0).normalize();
        assert!(desired(std::f32::consts::FRAC_PI_2).distance(up) < 1e-6);
    }
}
