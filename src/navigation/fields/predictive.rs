//! Predictive repulsion: the repulsion from a moving agent, evaluated at the closest approach instead of at the current
//! positions.
//!
//! A repulsion at the current positions acts late and pushes straight back. Two agents that meet then brake, swerve and
//! oscillate. A repulsion at the predicted closest approach acts earlier, so that a slight turn is enough.
//!
//! **Source**: closest approach as in Reynolds 1999, "Unaligned collision avoidance"; the fixed passing side as in the
//! T-bone field of Karpowicz 2011; the weight by remaining time as in van den Berg et al. 2011 and Karamouzas et al.
//! 2014. The formula is our own, tuned with `cargo bench --bench avoidance`, 2026-11-21.

use glam::Vec3;

use super::radial::left_of;

/// Parameters of the predictive repulsion that a moving agent (its owner) exerts on another agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictiveRepulsion {
    /// Prediction horizon. If the closest approach is later than this, there is no force.
    pub horizon_secs: f32,
    /// Force at the moment of contact.
    pub strength_n: f32,
    /// Free distance that both agents keep between their bodies. Within this distance, the force grows linearly.
    pub margin_m: f32,
}

/// Weight of the direction straight away from the owner's current position; the sideways direction at the closest approach
/// has weight 1. This weight makes the agent brake. Tuned with `cargo bench --bench avoidance`, 2026-11-21.
const LEAN: f32 = 0.65;
/// Preference for the right side, as a share of the sum of both radii. An agent whose predicted path passes on the left by
/// less than this distance passes on the right instead. Two agents that meet head-on therefore evade to opposite sides. Tuned
/// with `cargo bench --bench avoidance`, 2026-11-21.
const KEEP_RIGHT: f32 = 0.4;

impl PredictiveRepulsion {
    /// Returns the force on an agent. `offset_m` and `velocity_mps` are the agent's position and velocity relative to
    /// the owner; `touch_m` is the sum of both radii. The force is zero if the closest approach is beyond the margin or
    /// after the horizon.
    #[inline]
    pub fn force_at(&self, offset_m: Vec3, velocity_mps: Vec3, touch_m: f32) -> Vec3 {
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
        let contact_lead_secs = (touch_m * touch_m - miss * miss).max(0.0).sqrt() / speed;
        let remaining = 1.0 - (secs - contact_lead_secs).max(0.0) / self.horizon_secs;
        let right = -left_of(velocity_mps);
        let sideways = (nearest + right * (KEEP_RIGHT * touch_m)).normalize_or(right);
        let direction = sideways + offset_m.normalize_or_zero() * LEAN;
        direction.normalize_or_zero() * (self.strength_n * share * remaining * remaining)
    }
}

/// Time within which an agent that is too fast must slow down to the allowed speed.
const BRAKE_SECS: f32 = 0.05;

/// Returns the braking force on an agent that moves too fast towards the owner. The force removes the part of the speed
/// that a force of `strength_n` cannot stop within half of the remaining gap. It is necessary because the repulsion
/// does not grow beyond its value at contact. `offset_m` and `velocity_mps` are relative to the owner; `touch_m` is the
/// sum of both radii.
#[inline]
pub fn braking_force(
    offset_m: Vec3,
    velocity_mps: Vec3,
    touch_m: f32,
    mass_kg: f32,
    strength_n: f32,
) -> Vec3 {
    let distance = offset_m.length();
    let away = offset_m / distance.max(f32::MIN_POSITIVE);
    let gap = (distance - touch_m).max(0.0);
    // v² = 2 a s, where s is half of the gap.
    let allowed = (strength_n / mass_kg.max(f32::MIN_POSITIVE) * gap).sqrt();
    let excess = (-velocity_mps.dot(away) - allowed).max(0.0);
    away * (mass_kg * excess / BRAKE_SECS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    const FIELD: PredictiveRepulsion = PredictiveRepulsion {
        horizon_secs: 3.0,
        strength_n: 6.0,
        margin_m: 0.2,
    };

    fn force_on(offset: Vec3, velocity: Vec3) -> Vec3 {
        FIELD.force_at(offset, velocity, 1.0)
    }

    #[test]
    fn without_a_near_approach_there_is_no_force() {
        let from = Vec3::NEG_X * 2.0;
        assert_eq!(force_on(from, Vec3::ZERO), Vec3::ZERO, "same velocity");
        assert_eq!(force_on(from, Vec3::NEG_X), Vec3::ZERO, "moving apart");
        // Beyond the horizon.
        assert_eq!(force_on(from * 2.0, Vec3::X), Vec3::ZERO);
        let wide = from + Vec3::Z * 1.21;
        assert_eq!(force_on(wide, Vec3::X), Vec3::ZERO, "passes wide enough");
        // At the owner's center.
        assert_eq!(force_on(Vec3::ZERO, Vec3::X), Vec3::ZERO);
    }

    #[test]
    fn the_force_is_the_closed_form() {
        // To the side of the closest approach, and away from the owner.
        let direction = |offset: Vec3| {
            let away = offset.normalize_or_zero();
            (Vec3::Z + away * LEAN).normalize_or_zero()
        };
        // Contact would be after 2 − sqrt(1 − 0.8²) = 1.4 s of the 3 s horizon.
        let offset = Vec3::new(-2.0, 0.0, 0.8);
        let force = force_on(offset, Vec3::X);
        let remaining = 1.0 - 1.4 / 3.0f32;
        let expected = direction(offset) * (6.0 * remaining * remaining);
        assert!(force.distance(expected) < 1e-4, "{force}");
        // In the margin the force grows linearly. Without contact, the remaining time is the time to the closest
        // approach.
        let offset = Vec3::new(-1.5, 0.0, 1.1);
        let graze = force_on(offset, Vec3::X);
        let expected = direction(offset) * (6.0 * 0.5 * 0.25);
        assert!(graze.distance(expected) < 1e-4, "{graze}");
    }

    #[test]
    fn two_agents_head_on_evade_to_opposite_sides() {
        for (z, side) in [(0.0, 1.0), (0.2, 1.0), (-0.2, 1.0), (-0.7, -1.0)] {
            let offset = Vec3::new(-2.0, 0.0, z);
            let (mine, theirs) = (force_on(offset, Vec3::X), force_on(-offset, -Vec3::X));
            assert!(mine.z * side > 0.5, "at {z}: {mine}");
            assert!((mine + theirs).length() < 1e-5, "{mine} and {theirs}");
        }
    }

    #[test]
    fn of_two_crossing_agents_one_passes_first() {
        // One agent comes from −x, the other from −z. The force accelerates one of them and slows down the other, so
        // that one passes first.
        let mine = force_on(Vec3::new(-2.0, 0.0, 2.0), Vec3::new(1.0, 0.0, -1.0));
        let (along_me, along_other) = (mine.x, -mine.z);
        assert!(along_me * along_other < 0.0, "{mine}");
    }

    #[test]
    fn braking_removes_the_speed_that_is_too_much_to_stop() {
        let braking =
            |offset: f32, velocity| braking_force(Vec3::X * offset, velocity, 1.0, 2.0, 8.0);
        // A deceleration of 4 m/s² stops 2 m/s within 0.5 m, half of the gap of 1 m.
        assert_eq!(braking(2.0, Vec3::NEG_X * 2.0), Vec3::ZERO);
        let fast = braking(2.0, Vec3::new(-3.0, 0.0, 5.0));
        assert_near(fast, Vec3::X * (2.0 * 1.0 / BRAKE_SECS), 1e-3);
        assert_eq!(braking(2.0, Vec3::X * 9.0), Vec3::ZERO, "moving apart");
        let inside = braking(0.5, Vec3::NEG_X);
        assert_near(inside, Vec3::X * (2.0 / BRAKE_SECS), 1e-3);
        // At the owner's center there is no direction away from the owner, so the force is zero.
        assert_eq!(braking(0.0, Vec3::NEG_X), Vec3::ZERO);
    }
}
