//! The field of a moving owner, felt where the two will be nearest instead of where they are.
//!
//! A plain repulsion sees an owner too late and pushes straight back, so that two who meet brake, swerve and tremble. Here
//! the field stands where the owner will be at the closest approach: a slight turn, long before, is enough.
//!
//! **Source**: the place of closest approach as in Reynolds 1999, 'unaligned collision avoidance'; the fixed side as in the
//! T-bone field, 5-navigation.md A; weighing by the time left as in van den Berg & al. 2011 and Karamouzas & al. 2014. The
//! form is ours, tuned by `cargo bench --bench avoidance`, 2026-11-21.

use glam::Vec3;

use super::radial::left_of;

/// The field that a moving owner has for one who looks ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foresight {
    /// How far ahead it looks; nothing is felt of what is later than that.
    pub horizon_secs: f32,
    /// Force where both are about to touch.
    pub strength_n: f32,
    /// Room that both want to keep beyond their bodies; within it the force grows evenly.
    pub margin_m: f32,
    /// Share straight away from where the owner is now, beside the share sideways at the closest approach: brakes.
    pub lean: f32,
    /// How far off the middle, as a share of both radii, one still passes on the right of an owner whom it would pass
    /// on the left: decides head on, and for both the same way.
    pub keep_right: f32,
}

impl Foresight {
    /// Force on one whose middle is at `offset_m` from the owner's and who moves by `velocity_mps` against it; `touch_m` is the
    /// sum of both radii. Zero where they never come near, or too late.
    #[inline]
    pub fn at(&self, offset_m: Vec3, velocity_mps: Vec3, touch_m: f32) -> Vec3 {
        let square = velocity_mps.length_squared();
        if square < 1e-6 {
            return Vec3::ZERO;
        }
        let secs = -offset_m.dot(velocity_mps) / square;
        if secs <= 0.0 || secs > self.horizon_secs {
            return Vec3::ZERO;
        }
        let nearest = offset_m + velocity_mps * secs;
        let miss = nearest.length();
        let share = ((touch_m + self.margin_m - miss) / self.margin_m.max(1e-6)).min(1.0);
        if share <= 0.0 {
            return Vec3::ZERO;
        }
        let speed = square.sqrt();
        let before = (touch_m * touch_m - miss * miss).max(0.0).sqrt() / speed;
        let left = 1.0 - (secs - before).max(0.0) / self.horizon_secs;
        let right = -left_of(velocity_mps);
        let aside = (nearest + right * (self.keep_right * touch_m)).normalize_or(right);
        let direction = aside + offset_m.normalize_or_zero() * self.lean;
        direction.normalize_or_zero() * (self.strength_n * share * left * left)
    }
}

/// Within this time one that comes too fast is to have slowed down.
const BRAKE_SECS: f32 = 0.05;

/// Force on one that would run into the owner, whose field is never stronger than at a touch: brakes what is faster than a
/// force of `strength_n` could stop in half of the gap that is left. `offset_m` leads from the owner's middle, by
/// `velocity_mps` it moves against it; `touch_m` is the sum of both radii.
#[inline]
pub fn brake(
    offset_m: Vec3,
    velocity_mps: Vec3,
    touch_m: f32,
    mass_kg: f32,
    strength_n: f32,
) -> Vec3 {
    let distance = offset_m.length();
    let away = offset_m / distance.max(f32::MIN_POSITIVE);
    let gap = (distance - touch_m).max(0.0);
    // v² = 2 a s, and half of the gap.
    let allowed = (strength_n / mass_kg.max(f32::MIN_POSITIVE) * gap).sqrt();
    let excess = (-velocity_mps.dot(away) - allowed).max(0.0);
    away * (mass_kg * excess / BRAKE_SECS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELD: Foresight = Foresight {
        horizon_secs: 3.0,
        strength_n: 6.0,
        margin_m: 0.2,
        lean: 0.0,
        keep_right: 0.5,
    };

    fn felt(offset: Vec3, velocity: Vec3) -> Vec3 {
        FIELD.at(offset, velocity, 1.0)
    }

    #[test]
    fn who_never_comes_near_feels_nothing() {
        let from = Vec3::NEG_X * 2.0;
        assert_eq!(felt(from, Vec3::ZERO), Vec3::ZERO, "same motion");
        assert_eq!(felt(from, Vec3::NEG_X), Vec3::ZERO, "leaving");
        assert_eq!(felt(from * 2.0, Vec3::X), Vec3::ZERO, "too late");
        let wide = from + Vec3::Z * 1.21;
        assert_eq!(felt(wide, Vec3::X), Vec3::ZERO, "far enough aside");
        assert_eq!(felt(Vec3::ZERO, Vec3::X), Vec3::ZERO, "in the very middle");
    }

    #[test]
    fn the_force_is_the_closed_form() {
        // They would touch after 2 − sqrt(1 − 0.8²) = 1.4 s of 3.
        let force = felt(Vec3::new(-2.0, 0.0, 0.8), Vec3::X);
        let left = 1.0 - 1.4 / 3.0f32;
        assert!(
            force.distance(Vec3::Z * (6.0 * left * left)) < 1e-4,
            "{force}"
        );
        // In the margin it grows evenly; nobody touches, so the time is that to the closest approach.
        let graze = felt(Vec3::new(-1.5, 0.0, 1.1), Vec3::X);
        assert!(
            graze.distance(Vec3::Z * (6.0 * 0.5 * 0.25)) < 1e-4,
            "{graze}"
        );
    }

    #[test]
    fn two_who_meet_head_on_evade_to_opposite_sides() {
        for (z, side) in [(0.0, 1.0), (0.2, 1.0), (-0.2, 1.0), (-0.7, -1.0)] {
            let offset = Vec3::new(-2.0, 0.0, z);
            let (mine, theirs) = (felt(offset, Vec3::X), felt(-offset, -Vec3::X));
            assert!(mine.z * side > 0.5, "at {z}: {mine}");
            assert!((mine + theirs).length() < 1e-5, "{mine} and {theirs}");
        }
    }

    #[test]
    fn of_two_that_cross_one_goes_before_and_one_behind() {
        // I come from the left, the other from above: whoever is pushed back by it lets the other pass.
        let mine = felt(Vec3::new(-2.0, 0.0, 2.0), Vec3::new(1.0, 0.0, -1.0));
        let (along_me, along_other) = (mine.x, -mine.z);
        assert!(along_me * along_other < 0.0, "{mine}");
    }

    #[test]
    fn one_that_could_not_stop_is_braked_by_what_is_too_much() {
        let felt = |offset: f32, velocity| brake(Vec3::X * offset, velocity, 1.0, 2.0, 8.0);
        // 4 m/s² stop 2 m/s within 0.5 m, half of the gap of 1 m.
        assert_eq!(felt(2.0, Vec3::NEG_X * 2.0), Vec3::ZERO);
        let fast = felt(2.0, Vec3::new(-3.0, 0.0, 5.0));
        assert!(
            fast.distance(Vec3::X * (2.0 * 1.0 / BRAKE_SECS)) < 1e-3,
            "{fast}"
        );
        assert_eq!(felt(2.0, Vec3::X * 9.0), Vec3::ZERO, "it leaves");
        let inside = felt(0.5, Vec3::NEG_X);
        assert!(
            inside.distance(Vec3::X * (2.0 / BRAKE_SECS)) < 1e-3,
            "{inside}"
        );
        assert_eq!(
            felt(0.0, Vec3::NEG_X),
            Vec3::ZERO,
            "in the very middle no side is better"
        );
    }
}
