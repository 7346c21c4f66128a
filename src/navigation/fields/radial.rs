//! Radial repulsion: away from the owner's middle, weaker with the distance.
//!
//! **Source**: Karpowicz 2011, equations 2.1 and 2.2, inner radius 3.4.1; the sideways share is ours, in the place of his
//! figure 2.12, which the text does not give.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a repulsion weakens from the owner outwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Falloff {
    /// Full strength in the whole range. Who comes into it jerks.
    Constant,
    /// Evenly down to nothing at the range.
    #[default]
    Linear,
    /// As the square of the linear one: begins softly.
    Quadratic,
}

impl Falloff {
    /// Share of the strength, 0 to 1, at a distance from the owner's middle: 1 within the inner radius, 0 beyond the range.
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

/// A radial field around the origin of its own space, of strength one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repulsion {
    /// How it weakens.
    pub falloff: Falloff,
    /// Where it ends.
    pub range_m: f32,
    /// Within this it has its full strength.
    pub inner_radius_m: f32,
    /// Sideways share s: its direction is that of r̂ + s·t̂, t̂ the level tangent to the left of r̂ seen from above (+y
    /// towards the eye).
    pub swirl: f32,
}

impl Repulsion {
    /// Force at an offset from the owner's middle; zero beyond the range, and in the very middle, where there is no 'away'.
    #[inline]
    pub fn at(&self, offset: Vec3) -> Vec3 {
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

/// The level unit vector to the left of a direction, seen from above; zero for one that is upright.
///
/// One fixed handedness is what breaks the symmetry of two that meet: each turns to the same side of its own.
#[inline]
pub fn left_of(direction: Vec3) -> Vec3 {
    Vec3::new(direction.z, 0.0, -direction.x).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(falloff: Falloff, distance_m: f32) -> f32 {
        Repulsion {
            falloff,
            range_m: 4.0,
            inner_radius_m: 2.0,
            swirl: 0.0,
        }
        .at(Vec3::X * distance_m)
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
            assert_eq!(at(falloff, 0.0), 0.0, "no way is away");
        }
        // Without inner radius, (D - d) / D.
        assert_eq!(Falloff::Linear.share(1.0, 4.0, 0.0), 0.75);
        assert_eq!(Falloff::Quadratic.share(1.0, 4.0, 0.0), 0.5625);
        // An inner radius as large as the range is a constant field, not a division by zero.
        assert_eq!(Falloff::Linear.share(4.0, 4.0, 4.0), 1.0);
    }

    #[test]
    fn the_sideways_share_turns_everybody_to_the_same_hand() {
        let field = Repulsion {
            falloff: Falloff::Linear,
            range_m: 2.0,
            inner_radius_m: 0.0,
            swirl: 1.0,
        };
        let half = 0.5f32.sqrt() / 2.0;
        assert!(field.at(Vec3::X).distance(Vec3::new(half, 0.0, -half)) < 1e-6);
        assert!(field.at(Vec3::Z).distance(Vec3::new(half, 0.0, half)) < 1e-6);
        assert!(field.at(Vec3::NEG_X).distance(Vec3::new(-half, 0.0, half)) < 1e-6);
        assert!(field.at(Vec3::Y).distance(Vec3::Y * 0.5) < 1e-6, "upright");
    }
}
