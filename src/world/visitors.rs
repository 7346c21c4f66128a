//! Visitors: the agents that represent shadows. They are flat, lie on the surface and have the species `visitor`. This file
//! also computes the position of a shadow at the depth of a fish.
//!
//! **Source**: Jockel 2005, §4.2.3 and §4.2.5.

use glam::{Vec2, Vec3};

use super::Observation;
use crate::geometry::{Hull, Visitor, nearest_on_polygon, polygon_contains};

/// The current visitors. Reuses memory from tick to tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visitors {
    /// The shadows, in ascending order of ids.
    pub shadows: Vec<Visitor>,
    /// For each shadow, the radius of a circle around its centroid that contains the whole outline.
    pub bounding_radii_m: Vec<f32>,
}

impl Visitors {
    /// Replaces the visitors by those of an observation. Leaves out shadows with numbers that are not finite.
    pub fn update(&mut self, observation: &Observation) {
        let valid = observation.shadows.iter().filter(|shadow| is_valid(shadow));
        Visitor::copy_all(&mut self.shadows, valid);
        self.bounding_radii_m.clear();
        self.bounding_radii_m
            .extend(self.shadows.iter().map(|shadow| {
                shadow
                    .outline_m
                    .iter()
                    .map(|p| p.distance(shadow.centroid_m))
                    .fold(shadow.radius_m, f32::max)
            }));
    }
}

/// Allowance for rounding in [`Visitors::least_distance_m`], in meters and as a share of the distance.
const ROUNDING: f32 = 1e-3;

impl Visitors {
    /// Returns a lower bound of the distance that [`outline_at_depth`] measures between a fish and the shadow with this index,
    /// without a look at the outline: the distance to the circle around it. `radius_m` is the largest extent of the fish.
    #[inline]
    pub fn least_distance_m(&self, shadow: usize, at: Vec3, radius_m: f32, scale: f32) -> f32 {
        let offset_m = Vec2::new(at.x, at.z) - self.shadows[shadow].centroid_m * scale;
        let hull_m = self.bounding_radii_m[shadow] * scale + radius_m;
        offset_m.length() * (1.0 - ROUNDING) - hull_m - ROUNDING
    }
}

/// A shadow relative to a fish, projected along the camera's rays down to the fish's depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowAtDepth {
    /// Horizontal distance from the fish's hull to the shadow's edge; negative if the fish is under the shadow.
    pub distance_m: f32,
    /// Horizontal unit vector from the shadow outwards, at the fish; zero if the fish is exactly at the center of the shadow.
    pub away: Vec3,
    /// Center of the shadow at the fish's depth.
    pub middle_m: Vec3,
}

/// Projects a shadow to the depth of a fish at `at`. Uses the circle with the shadow's area instead of the outline. `hull` is the
/// hull of the fish, or its radius; `scale` is k = (c + d)/c for camera height c and the fish's depth d.
pub fn circle_at_depth(
    shadow: &Visitor,
    at: Vec3,
    hull: impl Into<Hull>,
    scale: f32,
) -> ShadowAtDepth {
    let middle = shadow.centroid_m * scale;
    let offset = Vec2::new(at.x, at.z) - middle;
    let away = offset.normalize_or_zero();
    let away = Vec3::new(away.x, 0.0, away.y);
    ShadowAtDepth {
        distance_m: offset.length() - scale * shadow.radius_m - hull.into().reach_m(away),
        away,
        middle_m: Vec3::new(middle.x, at.y, middle.y),
    }
}

/// Projects a shadow's outline to the depth of a fish, with the same arguments as [`circle_at_depth`]. Uses the circle if there
/// is no outline.
///
/// All distances at the depth of the fish are k times those on the surface. Therefore the fish is projected to the surface, the
/// distance is measured there, and the result is multiplied by k. If the fish is under the shadow, `away` points to the nearest
/// point of the outline.
pub fn outline_at_depth(
    shadow: &Visitor,
    at: Vec3,
    hull: impl Into<Hull>,
    scale: f32,
) -> ShadowAtDepth {
    let hull = hull.into();
    let circle = circle_at_depth(shadow, at, hull, scale);
    if shadow.outline_m.len() < 3 {
        return circle;
    }
    let floor = Vec2::new(at.x, at.z) / scale;
    let Some(nearest) = nearest_on_polygon(&shadow.outline_m, floor) else {
        return circle;
    };
    let is_under = polygon_contains(&shadow.outline_m, floor);
    let sign = if is_under { -1.0 } else { 1.0 };
    let away = ((floor - nearest) * sign).normalize_or_zero();
    let away = Vec3::new(away.x, 0.0, away.y);
    ShadowAtDepth {
        distance_m: sign * floor.distance(nearest) * scale - hull.reach_m(away),
        away,
        middle_m: circle.middle_m,
    }
}

fn is_valid(shadow: &Visitor) -> bool {
    shadow.centroid_m.is_finite()
        && shadow.velocity_mps.is_finite()
        && shadow.radius_m.is_finite()
        && shadow.radius_m >= 0.0
        && !shadow.still_secs.is_nan()
        && shadow.outline_m.iter().all(|p| p.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Visitor {
        Visitor {
            id: 1,
            centroid_m: Vec2::new(1.0, 0.0),
            foot_m: Vec2::new(1.0, 0.0),
            radius_m: 0.5,
            velocity_mps: Vec2::ZERO,
            area_m2: 0.8,
            age_secs: 1.0,
            outline_m: vec![
                Vec2::new(0.5, -0.5),
                Vec2::new(1.5, -0.5),
                Vec2::new(1.5, 0.5),
                Vec2::new(0.5, 0.5),
            ],
            ..Visitor::default()
        }
    }

    #[test]
    fn a_circle_grows_with_depth() {
        // The camera height is 4 m and the fish's depth 1 m: k = 1.25, so the middle is at 1.25 m and the radius is 0.625 m.
        let seen = circle_at_depth(&square(), Vec3::new(3.0, -1.0, 0.0), 0.1, 1.25);
        assert!((seen.distance_m - (3.0 - 1.25 - 0.625 - 0.1)).abs() < 1e-6);
        assert_eq!(seen.away, Vec3::X);
        let under = circle_at_depth(&square(), Vec3::new(1.25, -1.0, 0.1), 0.1, 1.25);
        assert!((under.distance_m - (0.1 - 0.625 - 0.1)).abs() < 1e-6);
        assert_eq!(under.away, Vec3::Z);
        assert_eq!(
            circle_at_depth(&square(), Vec3::new(1.25, -1.0, 0.0), 0.1, 1.25).away,
            Vec3::ZERO
        );
    }

    #[test]
    fn an_outline_is_used_if_there_is_one() {
        let seen = outline_at_depth(&square(), Vec3::new(2.5, -1.0, 0.0), 0.1, 1.25);
        assert!((seen.distance_m - (2.5 - 1.875 - 0.1)).abs() < 1e-6);
        assert_eq!(seen.away, Vec3::X);
        // The fish is under the shadow, near its right edge: `away` points to the right, to the nearest edge.
        let under = outline_at_depth(&square(), Vec3::new(1.75, -1.0, 0.0), 0.1, 1.25);
        assert!((under.distance_m - (-0.125 - 0.1)).abs() < 1e-6);
        assert_eq!(under.away, Vec3::X);
        let bare = Visitor {
            outline_m: vec![],
            ..square()
        };
        let at = Vec3::new(3.0, -1.0, 0.0);
        assert_eq!(
            outline_at_depth(&bare, at, 0.1, 1.25),
            circle_at_depth(&bare, at, 0.1, 1.25)
        );
    }

    #[test]
    fn shadows_that_are_not_finite_are_skipped() {
        let mut invalid = square();
        invalid.outline_m[2].x = f32::NAN;
        let mut visitors = Visitors::default();
        visitors.update(&Observation {
            time_secs: 0.0,
            shadows: vec![invalid, square()],
        });
        assert_eq!(visitors.shadows, vec![square()]);
        assert!((visitors.bounding_radii_m[0] - 0.5f32.hypot(0.5)).abs() < 1e-6);
    }
}
