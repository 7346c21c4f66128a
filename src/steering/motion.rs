//! Steering towards and away from things. Each returns the wanted velocity minus the present one, in m/s: what the
//! vehicle takes as a force after the action's weight. `None` means 'not applicable', a zero vector is a valid force.
//!
//! **Source**: Reynolds 1999, 'Steering behaviors for autonomous characters'.

use glam::Vec3;

/// What steering needs to know of the vehicle.
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

/// Straight at a target at full speed. Not applicable on the target itself.
pub fn seek(motion: &Motion, target_m: Vec3, speed_mps: f32) -> Option<Vec3> {
    let wanted = (target_m - motion.position_m).try_normalize()?;
    Some(wanted * speed_mps - motion.velocity_mps)
}

/// Straight away from a menace at full speed; straight ahead where the menace is exactly here.
pub fn flee(motion: &Motion, menace_m: Vec3, speed_mps: f32) -> Option<Vec3> {
    let away = (motion.position_m - menace_m).normalize_or(motion.forward);
    Some(away * speed_mps - motion.velocity_mps)
}

/// Along a unit direction at a speed.
pub fn head(motion: &Motion, direction: Vec3, speed_mps: f32) -> Option<Vec3> {
    Some(direction * speed_mps - motion.velocity_mps)
}

/// At a target, slowing down within `slowing_m` of it so as to stop there.
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

/// Where a moving target will be when one at `speed_mps` reaches the place where it is now, at most `lead_secs` ahead.
pub fn led_position(
    from_m: Vec3,
    target_m: Vec3,
    velocity_mps: Vec3,
    speed_mps: f32,
    lead_secs: f32,
) -> Vec3 {
    let secs = (from_m.distance(target_m) / speed_mps.max(1e-3)).min(lead_secs);
    target_m + velocity_mps * secs
}

/// Keeps up a speed along the own direction.
pub fn target_speed(motion: &Motion, speed_mps: f32) -> Option<Vec3> {
    Some(motion.forward * (speed_mps - motion.velocity_mps.dot(motion.forward)))
}

/// Roams: the wish is a point on a circle one ahead, `spread` wide, at `angle_rad` from the right side upwards.
///
/// `climb_share` flattens the circle, so that most of the deviation is sideways.
pub fn wander(
    motion: &Motion,
    angle_rad: f32,
    spread: f32,
    climb_share: f32,
    speed_mps: f32,
) -> Option<Vec3> {
    let (sin, cos) = angle_rad.sin_cos();
    let wish = motion.forward + (motion.side() * cos + motion.up * (sin * climb_share)) * spread;
    Some(wish.normalize_or(motion.forward) * speed_mps - motion.velocity_mps)
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
    fn seek_and_flee_are_opposite_wishes() {
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
    fn a_zero_vector_is_a_force_too() {
        let ahead = MOTION.position_m + Vec3::X;
        assert_eq!(seek(&MOTION, ahead, 0.5), Some(Vec3::ZERO));
    }

    #[test]
    fn arrival_slows_down_and_stops() {
        let target = |x: f32| MOTION.position_m + Vec3::new(0.0, 0.0, x);
        let wish = |x| arrive(&MOTION, target(x), 2.0, 1.0).unwrap() + MOTION.velocity_mps;
        assert_eq!(wish(3.0), Vec3::new(0.0, 0.0, 2.0));
        assert_eq!(wish(0.25), Vec3::new(0.0, 0.0, 0.5));
        assert_eq!(wish(0.0), Vec3::ZERO);
    }

    #[test]
    fn the_lead_is_the_time_to_get_there_but_capped() {
        let lead = |cap| led_position(Vec3::ZERO, Vec3::X, Vec3::Y, 2.0, cap);
        assert_eq!(lead(9.0), Vec3::new(1.0, 0.5, 0.0));
        assert_eq!(lead(0.1), Vec3::new(1.0, 0.1, 0.0));
    }

    #[test]
    fn speed_is_kept_along_the_own_direction() {
        assert_eq!(
            target_speed(&MOTION, 0.8),
            Some(Vec3::new(0.8 - 0.5, 0.0, 0.0))
        );
    }

    #[test]
    fn wander_deviates_by_the_spread() {
        let wish = |angle| wander(&MOTION, angle, 1.0, 0.5, 1.0).unwrap() + MOTION.velocity_mps;
        let half = 0.5f32.sqrt();
        // Right of +x with +y up is +z.
        assert!(wish(0.0).distance(Vec3::new(half, 0.0, half)) < 1e-6);
        let up = Vec3::new(1.0, 0.5, 0.0).normalize();
        assert!(wish(std::f32::consts::FRAC_PI_2).distance(up) < 1e-6);
    }
}
