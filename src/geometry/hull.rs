//! The room that a body takes: a sphere, or a capsule across the body for an animal that is wider than high, such as a ray.
//!
//! In: the radius, and for a wide body the way from its middle to the end of its axis. Out: gaps to solids and other hulls. Must
//! not: know an agent.

use glam::Vec3;

use super::Solid;

/// Steps of the searches along the axis of a capsule. Each step shortens the interval to two thirds, so 20 steps find a place
/// on an axis of 3 m to a millimeter.
const SEARCH_STEPS: usize = 20;

/// The room that a body takes, around its center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull {
    /// Radius of the sphere or capsule.
    pub radius_m: f32,
    /// Half of the axis of the capsule, from the center to one end. Zero: the hull is a sphere.
    pub arm_m: Vec3,
}

impl From<f32> for Hull {
    /// Returns a sphere of this radius.
    fn from(radius_m: f32) -> Self {
        Self {
            radius_m,
            arm_m: Vec3::ZERO,
        }
    }
}

impl Hull {
    /// Returns the hull of a body of this radius whose half width along the unit vector `side` is `half_width_m`. It is a sphere if
    /// the body is not wider than the sphere.
    pub fn across(radius_m: f32, side: Vec3, half_width_m: f32) -> Self {
        if half_width_m <= radius_m {
            return Self::from(radius_m);
        }
        Self {
            radius_m,
            arm_m: side * (half_width_m - radius_m),
        }
    }

    /// Whether the hull is a sphere.
    pub fn is_sphere(&self) -> bool {
        self.arm_m == Vec3::ZERO
    }

    /// Half of the extent of the hull along a unit vector.
    pub fn reach_m(&self, direction: Vec3) -> f32 {
        self.radius_m + self.arm_m.dot(direction).abs()
    }

    /// Largest distance of a point of the hull from its center.
    pub fn widest_m(&self) -> f32 {
        self.radius_m + self.arm_m.length()
    }

    /// Returns the same hull, larger by a margin on all sides.
    pub fn grown(self, margin_m: f32) -> Self {
        Self {
            radius_m: self.radius_m + margin_m,
            ..self
        }
    }

    /// Returns the point of the axis that is nearest to a solid, for a hull at `at`.
    ///
    /// The distance from a convex solid is a convex function along the axis, so a ternary search finds its minimum.
    pub fn nearest_to(&self, at: Vec3, solid: &Solid) -> Vec3 {
        if self.is_sphere() {
            return at;
        }
        let point = |share: f32| at + self.arm_m * share;
        let distance_m = |share: f32| solid.signed_distance_m(point(share));
        point(lowest(-1.0, 1.0, distance_m))
    }

    /// Returns the gap between the hull at `at` and a solid; negative if they overlap.
    pub fn gap_m(&self, at: Vec3, solid: &Solid) -> f32 {
        solid.signed_distance_m(self.nearest_to(at, solid)) - self.radius_m
    }

    /// Returns the closest approach of the axis to a solid while the hull moves from `at` along a unit vector, as (distance along
    /// the way, distance of the axis from the solid). Compare [`Solid::closest_approach`].
    pub fn closest_approach(
        &self,
        solid: &Solid,
        at: Vec3,
        direction: Vec3,
        way_m: f32,
    ) -> (f32, f32) {
        if self.is_sphere() {
            return solid.closest_approach(at, direction, way_m);
        }
        let distance_m =
            |along: f32| solid.signed_distance_m(self.nearest_to(at + direction * along, solid));
        let along = lowest(0.0, way_m, distance_m);
        (along, distance_m(along))
    }

    /// Returns the shortest vector from the axis of this hull at `at` to the axis of another one at `other_at`.
    /// **Source**: Ericson 2005, §5.1.9.
    pub fn between(&self, at: Vec3, other: &Self, other_at: Vec3) -> Vec3 {
        if self.is_sphere() && other.is_sphere() {
            return other_at - at;
        }
        let (a, b) = (self.arm_m, other.arm_m);
        let (aa, bb, ab) = (a.length_squared(), b.length_squared(), a.dot(b));
        let apart = at - other_at;
        let (a_apart, b_apart) = (a.dot(apart), b.dot(apart));
        let determinant = aa * bb - ab * ab;
        let share = |value: f32, of: f32| {
            if of > f32::MIN_POSITIVE {
                (value / of).clamp(-1.0, 1.0)
            } else {
                0.0
            }
        };
        let mut on_a = share(ab * b_apart - bb * a_apart, determinant);
        let on_b = share(ab * on_a + b_apart, bb);
        on_a = share(ab * on_b - a_apart, aa);
        other_at + b * on_b - (at + a * on_a)
    }
}

/// Returns the place between `low` and `high` at which a convex function is lowest.
fn lowest(mut low: f32, mut high: f32, value: impl Fn(f32) -> f32) -> f32 {
    for _ in 0..SEARCH_STEPS {
        let third = (high - low) / 3.0;
        if value(low + third) <= value(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_near;

    fn wide(side: Vec3) -> Hull {
        Hull::across(0.2, side, 1.5)
    }

    #[test]
    fn a_body_that_is_not_wider_than_its_sphere_is_a_sphere() {
        assert_eq!(Hull::across(0.2, Vec3::X, 0.2), Hull::from(0.2));
        assert_eq!(Hull::from(0.2).reach_m(Vec3::X), 0.2);
        assert!((wide(Vec3::X).reach_m(Vec3::X) - 1.5).abs() < 1e-6);
        assert_eq!(wide(Vec3::X).reach_m(Vec3::Z), 0.2);
    }

    #[test]
    fn the_gap_of_a_wide_body_to_a_solid_is_that_of_its_nearest_part() {
        let rock = Solid::Sphere {
            center_m: Vec3::new(2.0, 0.0, 0.0),
            radius_m: 0.1,
        };
        assert!((wide(Vec3::X).gap_m(Vec3::ZERO, &rock) - 0.4).abs() < 1e-3);
        assert!((wide(Vec3::Z).gap_m(Vec3::ZERO, &rock) - 1.7).abs() < 1e-3);
        // The rock lies beside the way of the middle, but in the way of the wing.
        let from = Vec3::new(1.0, 0.0, -3.0);
        let (along, distance) = wide(Vec3::X).closest_approach(&rock, from, Vec3::Z, 5.0);
        assert!(
            (along - 3.0).abs() < 0.1 && distance < 0.0,
            "{along} {distance}"
        );
    }

    #[test]
    fn the_way_between_two_wide_bodies_is_that_between_their_nearest_parts() {
        let ahead = Vec3::new(0.9, 0.0, 2.0);
        let between = wide(Vec3::X).between(Vec3::ZERO, &wide(Vec3::X), ahead);
        assert!((between.length() - 2.0).abs() < 1e-5, "{between}");
        let beside = Vec3::new(4.0, 0.0, 0.0);
        let between = wide(Vec3::X).between(Vec3::ZERO, &wide(Vec3::X), beside);
        assert_near(between, Vec3::X * 1.4, 1e-5);
        let across = wide(Vec3::X).between(Vec3::ZERO, &wide(Vec3::Z), beside);
        assert_near(across, Vec3::X * 2.7, 1e-5);
        let small = Hull::from(0.1);
        let between = wide(Vec3::X).between(Vec3::ZERO, &small, Vec3::new(1.0, 0.5, 0.0));
        assert_near(between, Vec3::Y * 0.5, 1e-5);
        assert_eq!(small.between(Vec3::ZERO, &small, ahead), ahead);
    }
}
