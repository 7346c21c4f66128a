//! Convex solids in world space: signed distance, outward normal, closest approach of a ray, and occlusion.
//!
//! Outside a solid, the signed distance is exact, so a step of this length never enters the solid.

use glam::{Vec2, Vec3};

use super::Prism;

/// A convex solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// A sphere.
    Sphere {
        /// Center.
        center_m: Vec3,
        /// Radius.
        radius_m: f32,
    },
    /// A cuboid, rotated about the vertical axis.
    Box {
        /// Center.
        center_m: Vec3,
        /// Half of the extents along the cuboid's own axes.
        half_m: Vec3,
        /// Direction of the cuboid's own x axis: a unit vector (x, z) in world space.
        axis: Vec2,
    },
    /// A cylinder with hemispherical ends.
    Capsule {
        /// One end of the axis.
        from_m: Vec3,
        /// The other end of the axis.
        to_m: Vec3,
        /// Radius.
        radius_m: f32,
    },
    /// A vertical prism.
    Prism(Prism),
}

impl Solid {
    /// Center of the bounding sphere.
    pub fn center_m(&self) -> Vec3 {
        match *self {
            Self::Sphere { center_m, .. } | Self::Box { center_m, .. } => center_m,
            Self::Capsule { from_m, to_m, .. } => (from_m + to_m) / 2.0,
            Self::Prism(ref prism) => prism.center_m(),
        }
    }

    /// Radius of the bounding sphere.
    pub fn bounding_radius_m(&self) -> f32 {
        match *self {
            Self::Sphere { radius_m, .. } => radius_m,
            Self::Box { half_m, .. } => half_m.length(),
            Self::Capsule {
                from_m,
                to_m,
                radius_m,
            } => from_m.distance(to_m) / 2.0 + radius_m,
            Self::Prism(ref prism) => prism.bounding_radius_m(),
        }
    }

    /// Largest coordinate of the solid along a unit vector.
    pub fn top_m(&self, up: Vec3) -> f32 {
        match *self {
            Self::Sphere { center_m, radius_m } => center_m.dot(up) + radius_m,
            Self::Box {
                center_m,
                half_m,
                axis,
            } => center_m.dot(up) + half_m.dot(into_box(up, axis).abs()),
            Self::Capsule {
                from_m,
                to_m,
                radius_m,
            } => from_m.dot(up).max(to_m.dot(up)) + radius_m,
            Self::Prism(ref prism) => prism.top_m(up),
        }
    }

    /// Distance from a point to the surface of the solid; negative inside.
    #[inline]
    pub fn signed_distance_m(&self, point: Vec3) -> f32 {
        match *self {
            Self::Sphere { center_m, radius_m } => point.distance(center_m) - radius_m,
            Self::Box {
                center_m,
                half_m,
                axis,
            } => {
                let q = into_box(point - center_m, axis).abs() - half_m;
                q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
            }
            Self::Capsule {
                from_m,
                to_m,
                radius_m,
            } => point.distance(nearest_on_segment(from_m, to_m, point)) - radius_m,
            Self::Prism(ref prism) => prism.signed_distance_m(point),
        }
    }

    /// Returns the outward unit normal at a point. Where it is undefined (see [`Solid::outward`]), returns the upward
    /// direction.
    pub fn normal(&self, point: Vec3) -> Vec3 {
        self.outward(point).unwrap_or(Vec3::Y)
    }

    /// Returns the outward unit normal at a point, or `None` at the center of a sphere or on the axis of a capsule.
    pub fn outward(&self, point: Vec3) -> Option<Vec3> {
        match *self {
            Self::Sphere { center_m, .. } => (point - center_m).try_normalize(),
            Self::Box {
                center_m,
                half_m,
                axis,
            } => {
                let local = into_box(point - center_m, axis);
                let q = local.abs() - half_m;
                let outside = q.max(Vec3::ZERO);
                let unsigned = if outside == Vec3::ZERO {
                    let deepest = q.max_element();
                    if q.x == deepest {
                        Vec3::X
                    } else if q.y == deepest {
                        Vec3::Y
                    } else {
                        Vec3::Z
                    }
                } else {
                    outside.normalize_or(Vec3::Y)
                };
                let signs = Vec3::new(
                    1f32.copysign(local.x),
                    1f32.copysign(local.y),
                    1f32.copysign(local.z),
                );
                Some(out_of_box(unsigned * signs, axis))
            }
            Self::Capsule { from_m, to_m, .. } => {
                (point - nearest_on_segment(from_m, to_m, point)).try_normalize()
            }
            Self::Prism(ref prism) => Some(prism.outward(point)),
        }
    }

    /// Returns the closest approach of a ray to the solid as (distance along the ray, signed distance from the solid at that
    /// point). The ray starts at `point`, has the unit vector `direction`, and is `reach_m` long.
    ///
    /// The distance from a convex solid is a convex function along a ray, so a ternary search finds its minimum.
    pub fn closest_approach(&self, point: Vec3, direction: Vec3, reach_m: f32) -> (f32, f32) {
        if let Self::Sphere { center_m, radius_m } = *self {
            let along = (center_m - point).dot(direction).clamp(0.0, reach_m);
            return (
                along,
                (point + direction * along).distance(center_m) - radius_m,
            );
        }
        let (mut low, mut high) = (0.0, reach_m);
        for _ in 0..24 {
            let third = (high - low) / 3.0;
            let near = self.signed_distance_m(point + direction * (low + third));
            let far = self.signed_distance_m(point + direction * (high - third));
            if near <= far {
                high -= third;
            } else {
                low += third;
            }
        }
        let along = (low + high) / 2.0;
        (along, self.signed_distance_m(point + direction * along))
    }

    /// Whether the solid completely hides a sphere of `radius_m` at `other` from `eye`.
    ///
    /// **Source**: Jockel 2005, §4.2.1 (spheres). The rule is extended to all shapes: at its deepest point, the line of sight
    /// must be deeper inside the solid than the radius of the sphere.
    pub fn hides(&self, eye: Vec3, other: Vec3, radius_m: f32) -> bool {
        let to_solid = self.center_m() - eye;
        let to_other = other - eye;
        let distance_sq = to_other.length_squared();
        if to_solid.length_squared() > distance_sq
            || to_solid.dot(to_other) < 0.0
            || distance_sq == 0.0
        {
            return false;
        }
        if let Self::Sphere {
            radius_m: solid, ..
        } = *self
        {
            return to_solid.cross(to_other).length() / distance_sq.sqrt() + radius_m < solid;
        }
        let distance = distance_sq.sqrt();
        // A line that passes the bounding sphere, or only grazes it, is nowhere deep enough inside the solid.
        let beside_m = to_solid.cross(to_other).length() / distance;
        beside_m + radius_m < self.bounding_radius_m()
            && self.is_deeper(eye, to_other / distance, distance, radius_m)
    }

    /// Whether a ray reaches a point that is deeper inside the solid than `depth_m`. The ray starts at `point`, has the unit vector
    /// `direction`, and is `reach_m` long.
    ///
    /// The search of [`Self::closest_approach`], which ends as soon as the answer is known: the distance changes by at most the way
    /// along the ray.
    fn is_deeper(&self, point: Vec3, direction: Vec3, reach_m: f32, depth_m: f32) -> bool {
        let (mut low, mut high) = (0.0, reach_m);
        for _ in 0..24 {
            let third = (high - low) / 3.0;
            let near = self.signed_distance_m(point + direction * (low + third));
            let far = self.signed_distance_m(point + direction * (high - third));
            let least = near.min(far) + depth_m;
            if least < 0.0 {
                return true;
            }
            // No point of the interval is farther than a third from one of the two.
            if least > third {
                return false;
            }
            if near <= far {
                high -= third;
            } else {
                low += third;
            }
        }
        false
    }
}

fn into_box(offset: Vec3, axis: Vec2) -> Vec3 {
    Vec3::new(
        offset.x * axis.x + offset.z * axis.y,
        offset.y,
        offset.z * axis.x - offset.x * axis.y,
    )
}

fn out_of_box(local: Vec3, axis: Vec2) -> Vec3 {
    Vec3::new(
        local.x * axis.x - local.z * axis.y,
        local.y,
        local.z * axis.x + local.x * axis.y,
    )
}

/// Returns the point on the segment from `from` to `to` that is nearest to `point`.
pub fn nearest_on_segment(from: Vec3, to: Vec3, point: Vec3) -> Vec3 {
    let along = to - from;
    let t = (point - from).dot(along) / along.length_squared().max(f32::MIN_POSITIVE);
    from + along * t.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPHERE: Solid = Solid::Sphere {
        center_m: Vec3::ZERO,
        radius_m: 1.0,
    };
    const CUBOID: Solid = Solid::Box {
        center_m: Vec3::new(2.0, 0.0, 0.0),
        half_m: Vec3::new(1.0, 0.5, 0.25),
        axis: Vec2::Y,
    };
    const CAPSULE: Solid = Solid::Capsule {
        from_m: Vec3::ZERO,
        to_m: Vec3::Y,
        radius_m: 0.5,
    };

    #[test]
    fn distances_and_normals_of_known_points() {
        assert_eq!(SPHERE.signed_distance_m(Vec3::new(3.0, 0.0, 0.0)), 2.0);
        assert_eq!(SPHERE.normal(Vec3::new(3.0, 0.0, 0.0)), Vec3::X);
        assert_eq!(SPHERE.normal(Vec3::ZERO), Vec3::Y);
        // The long side of the cuboid is along z because its own x axis points there.
        assert_eq!(CUBOID.signed_distance_m(Vec3::new(2.0, 0.0, 1.5)), 0.5);
        assert_eq!(CUBOID.signed_distance_m(Vec3::new(3.0, 0.0, 0.0)), 0.75);
        assert_eq!(CUBOID.signed_distance_m(Vec3::new(2.0, 0.375, 0.0)), -0.125);
        assert_eq!(CUBOID.normal(Vec3::new(3.0, 0.0, 0.0)), Vec3::X);
        assert_eq!(CUBOID.normal(Vec3::new(2.0, 0.0, -1.5)), Vec3::NEG_Z);
        assert_eq!(CAPSULE.signed_distance_m(Vec3::new(2.0, 0.5, 0.0)), 1.5);
        assert_eq!(SPHERE.top_m(Vec3::NEG_Z), 1.0);
        assert_eq!(CUBOID.top_m(Vec3::X), 2.25);
        assert_eq!(CAPSULE.top_m(Vec3::Y), 1.5);
        assert_eq!(CAPSULE.signed_distance_m(Vec3::new(0.0, 2.0, 0.0)), 0.5);
    }

    #[test]
    fn closest_approach_by_search_agrees_with_the_closed_form() {
        let thin = Solid::Capsule {
            from_m: Vec3::ZERO,
            to_m: Vec3::new(0.0, 0.0, 1e-6),
            radius_m: 1.0,
        };
        let direction = Vec3::new(1.0, 0.1, 0.2).normalize();
        let from = Vec3::new(-4.0, 0.7, 0.1);
        let (a, d) = SPHERE.closest_approach(from, direction, 10.0);
        let (b, e) = thin.closest_approach(from, direction, 10.0);
        assert!((a - b).abs() < 2e-2 && (d - e).abs() < 1e-4);
    }

    #[test]
    fn the_short_search_for_a_hidden_body_agrees_with_the_complete_one() {
        let outline = [(-0.6, -0.4), (0.5, -0.5), (0.7, 0.3), (0.0, 0.6)];
        let outline = outline.map(|(x, z)| Vec2::new(x, z));
        let rock = Solid::Prism(super::super::Prism::new(&outline, -0.8, -0.2).unwrap());
        let log = Solid::Capsule {
            from_m: Vec3::new(-0.4, -0.5, 0.0),
            to_m: Vec3::new(0.4, -0.4, 0.1),
            radius_m: 0.15,
        };
        let (mut hidden, mut seen) = (0, 0);
        for number in 0..2000_u32 {
            let draw = |n: u32| {
                let bits = (number * 8 + n).wrapping_mul(0x9e37_79b9).rotate_left(13);
                f64::from(bits.wrapping_mul(0x85eb_ca6b)) / f64::from(u32::MAX)
            };
            let at = |n: u32| {
                let [x, y, z] = [n, n + 1, n + 2].map(draw);
                Vec3::new(x as f32 * 4.0 - 2.0, -y as f32, z as f32 * 4.0 - 2.0)
            };
            let (eye, other, radius_m) = (at(0), at(3), 0.02 + 0.08 * draw(6) as f32);
            for solid in [rock, log] {
                let way = other - eye;
                let (_, least_m) = solid.closest_approach(eye, way.normalize(), way.length());
                let is_behind = solid.center_m().distance(eye) <= way.length()
                    && (solid.center_m() - eye).dot(way) >= 0.0;
                // Where the complete search is within its own accuracy of the limit, both answers are right.
                if (least_m + radius_m).abs() < 1e-3 {
                    continue;
                }
                let wanted = is_behind && least_m + radius_m < 0.0;
                assert_eq!(solid.hides(eye, other, radius_m), wanted, "{eye} {other}");
                hidden += u32::from(wanted);
                seen += u32::from(!wanted);
            }
        }
        assert!(hidden > 50 && seen > 50, "{hidden} hidden, {seen} seen");
    }

    #[test]
    fn a_sphere_hides_what_is_completely_behind_it() {
        let eye = Vec3::new(-5.0, 0.0, 0.0);
        assert!(SPHERE.hides(eye, Vec3::new(3.0, 0.0, 0.0), 0.2));
        // Larger than the sphere.
        assert!(!SPHERE.hides(eye, Vec3::new(3.0, 0.0, 0.0), 1.1));
        // Beside the line.
        assert!(!SPHERE.hides(eye, Vec3::new(3.0, 3.0, 0.0), 0.2));
        // In front of the sphere.
        assert!(!SPHERE.hides(eye, Vec3::new(-3.0, 0.0, 0.0), 0.2));
        // On the other side of the eye.
        assert!(!SPHERE.hides(eye, Vec3::new(-9.0, 0.0, 0.0), 0.2));
        let wall = Solid::Box {
            center_m: Vec3::ZERO,
            half_m: Vec3::new(0.3, 1.0, 1.0),
            axis: Vec2::X,
        };
        assert!(wall.hides(eye, Vec3::new(3.0, 0.0, 0.0), 0.2));
        assert!(!wall.hides(eye, Vec3::new(3.0, 0.0, 4.0), 0.2));
    }
}
