//! A vertical prism: an upright solid with a convex polygon as its outline.

use glam::{Vec2, Vec3};

use super::polygon::{nearest_on_polygon, signed_area};

/// Maximum number of corners of an outline. It is a constant because a prism stores its corners in an array of fixed size;
/// solids are stored by value in a spatial index.
pub const PRISM_CORNERS_MAX: usize = 8;

/// A vertical prism: a convex polygon in floor space, extruded between two heights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prism {
    corners: [Vec2; PRISM_CORNERS_MAX],
    /// Outward normal of the edge that ends at each corner; zero for an edge without a length.
    normals: [Vec2; PRISM_CORNERS_MAX],
    count: usize,
    low_m: f32,
    high_m: f32,
    center_m: Vec3,
    bounding_radius_m: f32,
}

impl Prism {
    /// Creates a prism from an outline of 3 to [`PRISM_CORNERS_MAX`] corners (x, z), in either direction of rotation, and two
    /// heights y. Returns `None` if the outline has no area or is not convex, or the upper height is not above the lower one.
    pub fn new(outline: &[Vec2], low_m: f32, high_m: f32) -> Option<Self> {
        let count = outline.len();
        let area = signed_area(outline);
        let is_sound = (3..=PRISM_CORNERS_MAX).contains(&count)
            && outline.iter().all(|corner| corner.is_finite())
            && area.abs() > 1e-6
            && high_m - low_m > 0.0
            && (high_m - low_m).is_finite();
        if !is_sound {
            return None;
        }
        let mut corners = [Vec2::ZERO; PRISM_CORNERS_MAX];
        corners[..count].copy_from_slice(outline);
        if area < 0.0 {
            corners[..count].reverse();
        }
        let mut normals = [Vec2::ZERO; PRISM_CORNERS_MAX];
        let mut from = corners[count - 1];
        for (normal, &to) in normals.iter_mut().zip(&corners[..count]) {
            *normal = -(to - from).normalize_or_zero().perp();
            from = to;
        }
        let mean = corners[..count].iter().sum::<Vec2>() / count as f32;
        let reach = corners[..count]
            .iter()
            .map(|corner| corner.distance(mean))
            .fold(0.0, f32::max);
        let prism = Self {
            corners,
            normals,
            count,
            low_m,
            high_m,
            center_m: Vec3::new(mean.x, (low_m + high_m) / 2.0, mean.y),
            bounding_radius_m: reach.hypot((high_m - low_m) / 2.0),
        };
        // The outline is convex and goes around only once if every corner is on the inner side of every edge.
        let slack_m = reach * 1e-4;
        let is_convex = prism.corners().iter().all(|&c| prism.sides(c).1 <= slack_m);
        is_convex.then_some(prism)
    }

    /// Corners (x, z), in the direction of rotation from +x towards +z.
    pub fn corners(&self) -> &[Vec2] {
        &self.corners[..self.count]
    }

    /// Heights y of the lower and the upper face.
    pub fn heights_m(&self) -> (f32, f32) {
        (self.low_m, self.high_m)
    }

    /// Center of the bounding sphere.
    pub fn center_m(&self) -> Vec3 {
        self.center_m
    }

    /// Radius of the bounding sphere.
    pub fn bounding_radius_m(&self) -> f32 {
        self.bounding_radius_m
    }

    /// Largest coordinate of the prism along a unit vector.
    pub fn top_m(&self, up: Vec3) -> f32 {
        let height_m = (self.low_m * up.y).max(self.high_m * up.y);
        let across_m = self.corners[..self.count]
            .iter()
            .map(|corner| corner.dot(flat(up)))
            .fold(f32::NEG_INFINITY, f32::max);
        height_m + across_m
    }

    /// Distance from a point to the surface of the solid; negative inside.
    pub fn signed_distance_m(&self, point: Vec3) -> f32 {
        let across = self.outline_distance_m(flat(point));
        let above = self.above_m(point);
        if across > 0.0 && above > 0.0 {
            across.hypot(above)
        } else {
            across.max(above)
        }
    }

    /// Returns the outward unit normal at a point. For a point inside the solid, this is the normal of the nearest face.
    pub fn outward(&self, point: Vec3) -> Vec3 {
        let (side, depth) = self.sides(flat(point));
        let above = self.above_m(point);
        let up = if point.y < self.center_m.y {
            Vec3::NEG_Y
        } else {
            Vec3::Y
        };
        if depth > 0.0 {
            let nearest = self.nearest(flat(point));
            let off = flat(point) - nearest;
            let out = Vec3::new(off.x, 0.0, off.y) + up * above.max(0.0);
            return out.normalize_or(Vec3::new(side.x, 0.0, side.y));
        }
        if above > depth {
            up
        } else {
            Vec3::new(side.x, 0.0, side.y)
        }
    }

    /// Distance of a point above the upper face or below the lower face; negative between the faces.
    fn above_m(&self, point: Vec3) -> f32 {
        (self.low_m - point.y).max(point.y - self.high_m)
    }

    /// Distance from a floor point to the outline; negative inside.
    fn outline_distance_m(&self, point: Vec2) -> f32 {
        let depth = self.sides(point).1;
        if depth <= 0.0 {
            return depth;
        }
        point.distance(self.nearest(point))
    }

    /// Returns the outward normal of one edge and the point's signed distance from its line, positive outside. It is the edge
    /// with the largest signed distance.
    fn sides(&self, point: Vec2) -> (Vec2, f32) {
        let mut most = (Vec2::X, f32::NEG_INFINITY);
        let corners = self.corners();
        let mut from = corners[self.count - 1];
        for (&to, &normal) in corners.iter().zip(&self.normals) {
            let beyond = (point - from).dot(normal);
            if normal != Vec2::ZERO && beyond > most.1 {
                most = (normal, beyond);
            }
            from = to;
        }
        most
    }

    fn nearest(&self, point: Vec2) -> Vec2 {
        nearest_on_polygon(self.corners(), point).unwrap_or(point)
    }
}

fn flat(point: Vec3) -> Vec2 {
    Vec2::new(point.x, point.z)
}

#[cfg(test)]
mod tests {
    use super::super::Solid;
    use super::*;
    use shoal_testing::assert_near;

    /// Returns a prism from y = −1 to 0. Its outline is a right triangle with the corners (0, 0), (1, 0) and (0, 1).
    fn triangle() -> Prism {
        Prism::new(&[Vec2::ZERO, Vec2::X, Vec2::Y], -1.0, 0.0).unwrap()
    }

    #[test]
    fn distances_and_normals_of_known_points() {
        let solid = triangle();
        let half = 0.5f32.sqrt();
        for (at, distance, outward) in [
            ((0.5, -0.5, -0.3), 0.3, Vec3::NEG_Z),
            ((1.0, -0.5, 1.0), half, Vec3::new(half, 0.0, half)),
            ((0.2, 0.4, 0.2), 0.4, Vec3::Y),
            ((0.2, -1.2, 0.2), 0.2, Vec3::NEG_Y),
            ((-0.3, 0.4, 0.5), 0.5, Vec3::new(-0.6, 0.8, 0.0)),
            ((0.1, -0.5, 0.3), -0.1, Vec3::NEG_X),
            ((0.25, -0.05, 0.25), -0.05, Vec3::Y),
        ] {
            let at = Vec3::from(at);
            assert_near(solid.signed_distance_m(at), distance, 1e-6);
            assert!(
                solid.outward(at).distance(outward) < 1e-5,
                "{at}: {}",
                solid.outward(at)
            );
        }
    }

    #[test]
    fn a_rectangle_is_a_box() {
        let corners = [(1.0, 2.0), (1.0, 3.0), (4.0, 3.0), (4.0, 2.0)].map(Vec2::from);
        let prism = Solid::Prism(Prism::new(&corners, -2.0, -1.0).unwrap());
        let block = Solid::Box {
            center_m: Vec3::new(2.5, -1.5, 2.5),
            half_m: Vec3::new(1.5, 0.5, 0.5),
            axis: Vec2::X,
        };
        assert_eq!(prism.center_m(), block.center_m());
        assert!((prism.bounding_radius_m() - block.bounding_radius_m()).abs() < 1e-6);
        for i in 0..1000 {
            let t = i as f32;
            let at = block.center_m() + Vec3::new(t.sin(), (t * 1.7).cos(), (t * 2.3).sin()) * 2.5;
            let (a, b) = (prism.signed_distance_m(at), block.signed_distance_m(at));
            assert!((a - b).abs() < 1e-5, "{at}: {a} {b}");
            let eye = Vec3::new(-3.0, -1.4, 2.6);
            assert_eq!(prism.hides(eye, at, 0.1), block.hides(eye, at, 0.1), "{at}");
        }
    }

    #[test]
    fn only_convex_outlines_with_an_area_are_accepted() {
        let of = |corners: &[(f32, f32)]| {
            let corners: Vec<Vec2> = corners.iter().map(|&c| c.into()).collect();
            Prism::new(&corners, -1.0, 0.0)
        };
        // In either direction.
        assert!(of(&[(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)]).is_some());
        assert!(of(&[(0.0, 0.0), (1.0, 0.0)]).is_none());
        // A line.
        assert!(of(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]).is_none());
        let concave = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)];
        assert!(of(&concave).is_none());
        let star = [0, 2, 4, 1, 3].map(|i| {
            let (sin, cos) = (i as f32 * 1.2566371).sin_cos();
            (cos, sin)
        });
        assert!(of(&star).is_none());
        assert!(of(&[(f32::NAN, 0.0), (0.0, 1.0), (1.0, 0.0)]).is_none());
        assert!(
            Prism::new(&[Vec2::ZERO, Vec2::X, Vec2::Y], 0.0, 0.0).is_none(),
            "flat"
        );
    }
}
