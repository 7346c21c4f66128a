//! Shadows as agents: flat, on the surface, of species `visitor`, and where they stand in the picture at a fish's depth.
//!
//! **Source**: 2-behavior.md section 4, `evade_shadow`; main source 4.2.3 and 4.2.5.

use glam::{Vec2, Vec3};

use super::{Observation, Shadow};
use crate::geometry::{nearest_on_polygon, polygon_contains};

/// The shadows of this moment, kept in place from step to step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visitors {
    /// The shadows, by ascending id.
    pub shadows: Vec<Shadow>,
    /// For each, the radius around its centroid that holds its whole outline.
    pub bounding_radii_m: Vec<f32>,
}

impl Visitors {
    /// Takes over an observation. Shadows with a number that is not finite are nobody.
    pub fn update(&mut self, observation: &Observation) {
        let sound = observation.shadows.iter().filter(|shadow| is_sound(shadow));
        let count = sound.clone().count();
        self.shadows.truncate(count);
        for (index, shadow) in sound.enumerate() {
            match self.shadows.get_mut(index) {
                Some(kept) => copy_shadow(kept, shadow),
                None => self.shadows.push(shadow.clone()),
            }
        }
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

/// Copies a shadow without giving up the room that its outline holds already.
pub fn copy_shadow(to: &mut Shadow, from: &Shadow) {
    let mut outline = std::mem::take(&mut to.outline_m);
    outline.clear();
    outline.extend_from_slice(&from.outline_m);
    *to = Shadow {
        outline_m: outline,
        ..*from
    };
}

/// One shadow as a fish sees it: the camera's ray carries it down to the fish's depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowAtDepth {
    /// Distance of the fish's hull from the shadow's edge, in the plane of the fish; negative under it.
    pub distance_m: f32,
    /// Level unit vector that leads away from it; zero where the fish is exactly in its middle.
    pub away: Vec3,
    /// Middle of the shadow at the fish's depth.
    pub middle_m: Vec3,
}

/// Distance and way out of a shadow's circle for a fish at `at`; `scale` is k = (c + d)/c at its depth.
pub fn circle_at_depth(shadow: &Shadow, at: Vec3, radius_m: f32, scale: f32) -> ShadowAtDepth {
    let middle = shadow.centroid_m * scale;
    let offset = Vec2::new(at.x, at.z) - middle;
    let away = offset.normalize_or_zero();
    ShadowAtDepth {
        distance_m: offset.length() - scale * shadow.radius_m - radius_m,
        away: Vec3::new(away.x, 0.0, away.y),
        middle_m: Vec3::new(middle.x, at.y, middle.y),
    }
}

/// The same for the real outline; the circle where a shadow has none.
///
/// Distances scale with k, so the fish is carried up to the surface and the result back down. Under the shadow the way
/// out is the shortest one, over the nearest point of the outline.
pub fn outline_at_depth(shadow: &Shadow, at: Vec3, radius_m: f32, scale: f32) -> ShadowAtDepth {
    let circle = circle_at_depth(shadow, at, radius_m, scale);
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
    ShadowAtDepth {
        distance_m: sign * floor.distance(nearest) * scale - radius_m,
        away: Vec3::new(away.x, 0.0, away.y),
        middle_m: circle.middle_m,
    }
}

fn is_sound(shadow: &Shadow) -> bool {
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

    fn square() -> Shadow {
        Shadow {
            id: 1,
            centroid_m: Vec2::new(1.0, 0.0),
            foot_m: Vec2::new(1.0, 0.0),
            radius_m: 0.5,
            velocity_mps: Vec2::ZERO,
            area_m2: 0.8,
            age_secs: 1.0,
            still_secs: 0.0,
            outline_m: vec![
                Vec2::new(0.5, -0.5),
                Vec2::new(1.5, -0.5),
                Vec2::new(1.5, 0.5),
                Vec2::new(0.5, 0.5),
            ],
        }
    }

    #[test]
    fn the_circle_grows_with_depth() {
        // Camera 4 m up, fish 1 m down: k = 1.25, so the middle is at 1.25 m and the radius 0.625 m.
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
    fn the_outline_counts_where_there_is_one() {
        let seen = outline_at_depth(&square(), Vec3::new(2.5, -1.0, 0.0), 0.1, 1.25);
        assert!((seen.distance_m - (2.5 - 1.875 - 0.1)).abs() < 1e-6);
        assert_eq!(seen.away, Vec3::X);
        // Under it, near the right edge: out to the right although the middle is to the left.
        let under = outline_at_depth(&square(), Vec3::new(1.75, -1.0, 0.0), 0.1, 1.25);
        assert!((under.distance_m - (-0.125 - 0.1)).abs() < 1e-6);
        assert_eq!(under.away, Vec3::X);
        let bare = Shadow {
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
    fn broken_shadows_are_nobody() {
        let mut broken = square();
        broken.outline_m[2].x = f32::NAN;
        let mut visitors = Visitors::default();
        visitors.update(&Observation {
            time_secs: 0.0,
            shadows: vec![broken, square()],
        });
        assert_eq!(visitors.shadows, vec![square()]);
        assert!((visitors.bounding_radii_m[0] - 0.5f32.hypot(0.5)).abs() < 1e-6);
    }
}
