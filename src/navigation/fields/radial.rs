//! Radial repulsion: a force away from the center of its owner that decreases with the distance.
//!
//! **Source**: Karpowicz 2011, equations 2.1 and 2.2; inner radius §3.4.1. The formula for the sideways share is our
//! own; it models figure 2.12 of the source.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Function by which the strength of a repulsion decreases with the distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Falloff {
    /// Full strength within the whole range. The force on an agent that enters the range jumps.
    Constant,
    /// Linear decrease to zero at the range.
    #[default]
    Linear,
    /// Square of the linear falloff: the force begins smoothly.
    Quadratic,
}

impl Falloff {
    /// Returns the share of the full strength, 0 to 1, at a distance from the owner's center: 1 within the inner
    /// radius, 0 beyond the range.
    #[inline]
    pub fn share(self, distance_m: f32, range_m: f32, inner_radius_m: f32) -> f32 {
        if distance_m > range_m {
            return 0.0;
        }
        if distance_m <= inner_radius_m {
            return 1.0;
        }
        let linear = (range_m - distance_m) / (range_m - inner_radius_m);
        match self {
            Self::Constant => 1.0,
            Self::Linear => linear,
            Self::Quadratic => linear * linear,
        }
    }
}

/// A radial field in local space, centered on the origin, at strength 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repulsion {
    /// Function by which the strength decreases with the distance.
    pub falloff: Falloff,
    /// Radius of the field.
    pub range_m: f32,
    /// Radius within which the field has its full strength.
    pub inner_radius_m: f32,
    /// Sideways share s. The direction is r̂ + s·t̂, where t̂ is the horizontal tangent to the left of r̂, seen from
    /// above.
    pub swirl: f32,
}

impl Repulsion {
    /// Returns the force at an offset from the owner's center. The force is zero beyond the range and exactly at the
    /// center.
    #[inline]
    pub fn force_at(&self, offset: Vec3) -> Vec3 {
        let distance = offset.length();
        let share = self
            .falloff
            .share(distance, self.range_m, self.inner_radius_m);
        if share <= 0.0 || distance < 1e-9 {
            return Vec3::ZERO;
        }
        let away = offset / distance;
        (away + left_of(away) * self.swirl).normalize_or_zero() * share
    }
}

/// Returns the horizontal unit vector to the left of a direction, seen from above, or zero for a vertical direction.
///
/// The fixed side breaks the symmetry of two agents that meet: with a positive share, each turns to its own right.
#[inline]
pub(super) fn left_of(direction: Vec3) -> Vec3 {
    Vec3::new(direction.z, 0.0, -direction.x).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    fn at(falloff: Falloff, distance_m: f32) -> f32 {
        Repulsion {
            falloff,
            range_m: 4.0,
            inner_radius_m: 2.0,
            swirl: 0.0,
        }
        .force_at(Vec3::X * distance_m)
        .x
    }

    #[test]
    fn strength_follows_the_closed_forms() {
        for (falloff, at_three) in [
            (Falloff::Constant, 1.0),
            (Falloff::Linear, 0.5),
            (Falloff::Quadratic, 0.25),
        ] {
            assert_eq!(at(falloff, 1.0), 1.0, "within the inner radius");
            assert_eq!(at(falloff, 2.0), 1.0);
            assert_eq!(at(falloff, 3.0), at_three, "{falloff:?}");
            assert_eq!(at(falloff, 4.01), 0.0);
            assert_eq!(at(falloff, 0.0), 0.0, "no direction leads away");
        }
        // Without an inner radius, the share is (D - d) / D.
        assert_eq!(Falloff::Linear.share(1.0, 4.0, 0.0), 0.75);
        assert_eq!(Falloff::Quadratic.share(1.0, 4.0, 0.0), 0.5625);
        // An inner radius as large as the range gives a constant field, and no division by zero.
        assert_eq!(Falloff::Linear.share(4.0, 4.0, 4.0), 1.0);
    }

    #[test]
    fn the_sideways_share_always_turns_to_the_left() {
        let field = Repulsion {
            falloff: Falloff::Linear,
            range_m: 2.0,
            inner_radius_m: 0.0,
            swirl: 1.0,
        };
        let half = 0.5f32.sqrt() / 2.0;
        assert_near(field.force_at(Vec3::X), Vec3::new(half, 0.0, -half), 1e-6);
        assert!(field.force_at(Vec3::Z).distance(Vec3::new(half, 0.0, half)) < 1e-6);
        assert_near(
            field.force_at(Vec3::NEG_X),
            Vec3::new(-half, 0.0, half),
            1e-6,
        );
        // Vertical.
        assert!(field.force_at(Vec3::Y).distance(Vec3::Y * 0.5) < 1e-6);
    }
}
