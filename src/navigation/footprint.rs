//! Footprints: the area that obstacles cover in the horizontal plane at the height of an agent. They are convex
//! polygons with round edges, in floor meters (x, z).
//!
//! In: solids and a height band. Out: exact distances, which the construction of grids and meshes uses. Must not: know
//! a grid.

use glam::{Vec2, Vec3};

use crate::geometry::{Solid, nearest_on_edge, polygon_edges};

/// Shortest edge of a footprint, in meters. A shorter edge has no usable direction in single precision, so its corners are
/// merged.
const EDGE_MIN_M: f32 = 1e-6;

/// Obstacles as convex polygons, each grown by a radius. An obstacle with one corner is a circle; an obstacle with two
/// corners is a capsule. The corners of all obstacles are stored in one array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footprints {
    corners: Vec<Vec2>,
    ranges: Vec<CornerRange>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CornerRange {
    from: u32,
    to: u32,
    radius_m: f32,
}

/// One obstacle: the corners of its core, in the direction from +x towards +z, and the radius by which the core is
/// grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint<'a> {
    /// Corners of the core: a point, a line segment or a convex polygon.
    pub corners: &'a [Vec2],
    /// Radius by which the core is grown.
    pub radius_m: f32,
}

impl Footprints {
    /// Removes all obstacles but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.corners.clear();
        self.ranges.clear();
    }

    /// Number of obstacles.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are no obstacles.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds a convex polygon, a line segment or a point, grown by `radius_m`. The corners may be in either direction of
    /// rotation. Neighboring corners that coincide become one, so a box without width becomes a line segment, and a vertical
    /// capsule a point. Ignores a shape without corners and a shape with a corner that is not finite.
    pub fn push(&mut self, corners: &[Vec2], radius_m: f32) {
        if corners.is_empty() || !corners.iter().all(|corner| corner.is_finite()) {
            return;
        }
        let from = self.corners.len();
        let is_reversed = crate::geometry::signed_area(corners) < 0.0;
        for index in 0..corners.len() {
            let index = if is_reversed {
                corners.len() - 1 - index
            } else {
                index
            };
            let at = corners[index];
            let last = self.corners[from..].last();
            if last.is_none_or(|last| last.distance(at) > EDGE_MIN_M) {
                self.corners.push(at);
            }
        }
        let is_closed =
            |ring: &[Vec2]| ring.len() > 1 && ring[0].distance(ring[ring.len() - 1]) <= EDGE_MIN_M;
        while is_closed(&self.corners[from..]) {
            self.corners.pop();
        }
        self.ranges.push(CornerRange {
            from: from as u32,
            to: self.corners.len() as u32,
            radius_m: radius_m.max(0.0),
        });
    }

    /// Adds a rectangle. Its own x axis has the direction of the unit vector `axis`, which is given as (x, z).
    pub fn push_box(&mut self, center: Vec2, half: Vec2, axis: Vec2) {
        let (along, across) = (axis * half.x, axis.perp() * half.y);
        let corner = |a: f32, b: f32| center + along * a + across * b;
        self.push(
            &[
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ],
            0.0,
        );
    }

    /// Adds the footprints of solids in the band between two heights. Ignores solids that are entirely above or below
    /// the band.
    pub fn push_solids(&mut self, solids: &[Solid], low_y: f32, high_y: f32) {
        let flat = |at: Vec3| Vec2::new(at.x, at.z);
        for solid in solids {
            match *solid {
                Solid::Sphere { center_m, radius_m } => {
                    let height_m = center_m.y - center_m.y.clamp(low_y, high_y);
                    let square_m2 = radius_m * radius_m - height_m * height_m;
                    if square_m2 > 0.0 {
                        self.push(&[flat(center_m)], square_m2.sqrt());
                    }
                }
                Solid::Box {
                    center_m,
                    half_m,
                    axis,
                } => {
                    if center_m.y - half_m.y < high_y && center_m.y + half_m.y > low_y {
                        self.push_box(flat(center_m), Vec2::new(half_m.x, half_m.z), axis);
                    }
                }
                Solid::Prism(ref prism) => {
                    let (low, high) = prism.heights_m();
                    if low < high_y && high > low_y {
                        self.push(prism.corners(), 0.0);
                    }
                }
                Solid::Capsule {
                    from_m,
                    to_m,
                    radius_m,
                } => {
                    // Uses the part of the capsule's axis around which a sphere of the capsule's radius reaches into
                    // the band. The result is slightly larger than the exact footprint.
                    let (low, high) = (low_y - radius_m, high_y + radius_m);
                    let rise = to_m.y - from_m.y;
                    let (mut a, mut b) = (0.0, 1.0);
                    if rise.abs() > 1e-6 {
                        let (p, q) = ((low - from_m.y) / rise, (high - from_m.y) / rise);
                        a = p.min(q).clamp(0.0, 1.0);
                        b = p.max(q).clamp(0.0, 1.0);
                    }
                    let is_inside = (low..high).contains(&from_m.lerp(to_m, (a + b) / 2.0).y);
                    if is_inside {
                        let ends = [flat(from_m.lerp(to_m, a)), flat(from_m.lerp(to_m, b))];
                        self.push(&ends, radius_m);
                    }
                }
            }
        }
    }

    /// All obstacles.
    pub fn iter(&self) -> impl Iterator<Item = Footprint<'_>> {
        self.ranges.iter().map(|footprint| Footprint {
            corners: &self.corners[footprint.from as usize..footprint.to as usize],
            radius_m: footprint.radius_m,
        })
    }

    /// Whether the straight line between two points stays more than `gap_m` away from all obstacles. If `gap_m` is
    /// negative, the line may enter obstacles up to this depth.
    pub fn is_clear(&self, from: Vec2, to: Vec2, gap_m: f32) -> bool {
        self.iter()
            .all(|footprint| footprint.segment_distance_m(from, to) > gap_m)
    }

    /// Returns the signed distance to the nearest obstacle, or infinity if there is no obstacle.
    pub fn distance_m(&self, at: Vec2) -> f32 {
        let each = self.iter().map(|footprint| footprint.distance_m(at));
        each.fold(f32::INFINITY, f32::min)
    }
}

impl Footprint<'_> {
    /// Edges of the core. The core of a circle has one edge, from its only corner to the same corner.
    pub fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
        polygon_edges(self.corners)
    }

    /// Signed distance from a point to the grown shape; negative inside. If the core has an area, the distance is also
    /// exact inside.
    pub fn distance_m(&self, at: Vec2) -> f32 {
        let mut nearest = f32::INFINITY;
        let mut is_inside = self.corners.len() > 2;
        for (a, b) in self.edges() {
            nearest = nearest.min(at.distance(nearest_on_edge(a, b, at)));
            is_inside &= (b - a).perp_dot(at - a) >= 0.0;
        }
        (if is_inside { -nearest } else { nearest }) - self.radius_m
    }

    /// Smallest signed distance from the straight line between two points to the grown shape.
    ///
    /// The signed distance from a convex shape is a convex function along the line, so a ternary search finds its
    /// minimum. For a line outside the core, the distance to the edges is exact.
    pub fn segment_distance_m(&self, from: Vec2, to: Vec2) -> f32 {
        let ends = self.distance_m(from).min(self.distance_m(to));
        let crosses = self.corners.len() > 2 && self.is_crossed(from, to);
        if ends > -self.radius_m && !crosses {
            let mut nearest = ends;
            for (a, b) in self.edges() {
                if segments_cross(from, to, a, b) {
                    return -self.radius_m;
                }
                let gap = a
                    .distance(nearest_on_edge(from, to, a))
                    .min(b.distance(nearest_on_edge(from, to, b)));
                nearest = nearest.min(gap - self.radius_m);
            }
            return nearest;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..32 {
            let third = (high - low) / 3.0;
            let near = self.distance_m(from.lerp(to, low + third));
            let far = self.distance_m(from.lerp(to, high - third));
            if near <= far {
                high -= third;
            } else {
                low += third;
            }
        }
        ends.min(self.distance_m(from.lerp(to, (low + high) / 2.0)))
    }

    fn is_crossed(&self, from: Vec2, to: Vec2) -> bool {
        self.edges().any(|(a, b)| segments_cross(from, to, a, b))
    }

    /// Largest distance by which the outline may be moved inwards so that at least half of the thinnest part remains. A
    /// thin wall then becomes thinner but does not disappear.
    pub fn inset_limit_m(&self) -> f32 {
        let perimeter: f32 = self.edges().map(|(a, b)| a.distance(b)).sum();
        let area = crate::geometry::signed_area(self.corners).abs();
        // For a rectangle, area divided by perimeter is between a quarter and a half of its width.
        self.radius_m / 2.0 + 0.5 * area / perimeter.max(f32::MIN_POSITIVE)
    }

    /// Writes to `out` the corners of the core after all its edges are moved inwards by `inset_m`. `out` is empty if
    /// nothing remains.
    pub fn inset(&self, inset_m: f32, out: &mut Vec<Vec2>) {
        out.clear();
        if self.corners.len() < 3 {
            return;
        }
        out.extend(self.corners);
        for (a, b) in self.edges() {
            let inward = (b - a).perp().normalize_or_zero();
            clip(out, a + inward * inset_m, inward);
        }
    }
}

/// Clips a convex polygon to the half plane on the `inward` side of the line through `on`.
fn clip(corners: &mut Vec<Vec2>, on: Vec2, inward: Vec2) {
    let count = corners.len();
    for index in 0..count {
        let (a, b) = (corners[index], corners[(index + 1) % count]);
        let (da, db) = ((a - on).dot(inward), (b - on).dot(inward));
        if da >= 0.0 {
            corners.push(a);
        }
        if (da >= 0.0) != (db >= 0.0) {
            corners.push(a.lerp(b, da / (da - db)));
        }
    }
    corners.drain(..count);
}

fn segments_cross(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let side = |p: Vec2, q: Vec2, r: Vec2| (q - p).perp_dot(r - p);
    let (x, y) = (side(a, b, c), side(a, b, d));
    let (z, w) = (side(c, d, a), side(c, d, b));
    (x > 0.0) != (y > 0.0) && (z > 0.0) != (w > 0.0) && a != b && c != d
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all() -> Footprints {
        let mut all = Footprints::default();
        all.push(&[Vec2::new(2.0, 0.0)], 0.5);
        all.push_box(Vec2::new(0.0, 2.0), Vec2::new(1.0, 0.25), Vec2::Y);
        all.push(&[Vec2::new(-2.0, -1.0), Vec2::new(-2.0, 1.0)], 0.25);
        all
    }

    #[test]
    fn coinciding_corners_become_one() {
        let mut all = Footprints::default();
        let half = Vec2::new(0.0, 0.5);
        all.push_box(Vec2::X, half, Vec2::X);
        all.push_box(Vec2::X, half.perp(), Vec2::new(0.6, 0.8));
        all.push_box(Vec2::X, Vec2::ZERO, Vec2::X);
        all.push(&[Vec2::Y, Vec2::Y], 0.2);
        all.push(&[Vec2::ZERO, Vec2::X, Vec2::X, Vec2::Y, Vec2::ZERO], 0.0);
        let counts: Vec<usize> = all.iter().map(|part| part.corners.len()).collect();
        assert_eq!(counts, [2, 2, 1, 1, 3]);
    }

    #[test]
    fn distances_of_known_points() {
        let all = all();
        let each = |at| {
            all.iter()
                .map(|footprint| footprint.distance_m(at))
                .collect::<Vec<_>>()
        };
        assert_eq!(each(Vec2::new(4.0, 0.0))[0], 1.5);
        assert_eq!(each(Vec2::new(0.0, 2.0))[1], -0.25);
        assert_eq!(each(Vec2::new(0.0, 4.0))[1], 1.0);
        assert_eq!(each(Vec2::new(-3.0, 0.5))[2], 0.75);
        assert!(all.is_clear(Vec2::new(-1.0, 0.0), Vec2::new(1.0, 0.0), 0.2));
        assert!(!all.is_clear(Vec2::new(-1.0, 2.0), Vec2::new(1.0, 2.0), 0.0));
        assert!(!all.is_clear(Vec2::new(-3.0, 0.0), Vec2::new(-1.0, 0.0), 0.0));
    }

    #[test]
    fn solids_have_footprints_only_at_their_height() {
        let solids = [
            Solid::Sphere {
                center_m: Vec3::new(0.0, -1.0, 0.0),
                radius_m: 0.5,
            },
            Solid::Capsule {
                from_m: Vec3::new(3.0, -2.0, 0.0),
                to_m: Vec3::new(5.0, 0.0, 0.0),
                radius_m: 0.1,
            },
        ];
        let at_height = |y: f32| {
            let mut footprints = Footprints::default();
            footprints.push_solids(&solids, y - 0.01, y + 0.01);
            footprints
        };
        assert_eq!(at_height(0.5).len(), 0);
        assert!((at_height(-1.4).distance_m(Vec2::new(-1.0, 0.0)) - 0.688).abs() < 1e-2);
        // At half of the capsule's height, the footprint covers the middle of the capsule, but not its ends.
        let trunk = at_height(-1.0);
        assert!(trunk.distance_m(Vec2::new(4.0, 0.0)) < 0.0);
        assert!(trunk.distance_m(Vec2::new(3.2, 0.0)) > 0.0);
    }

    proptest! {
        #[test]
        fn the_distance_of_a_segment_is_the_least_of_its_points(
            ax in -4.0f32..4.0, ay in -4.0f32..4.0, bx in -4.0f32..4.0, by in -4.0f32..4.0,
        ) {
            let (a, b) = (Vec2::new(ax, ay), Vec2::new(bx, by));
            for footprint in all().iter() {
                let segment = footprint.segment_distance_m(a, b);
                let sampled = (0..=2000)
                    .map(|n| footprint.distance_m(a.lerp(b, n as f32 / 2000.0)))
                    .fold(f32::INFINITY, f32::min);
                prop_assert!((segment - sampled).abs() < 5e-3, "{segment} {sampled}");
            }
        }

        #[test]
        fn an_inset_has_the_given_depth(depth in 0.01f32..0.6, turn in 0.0f32..6.3) {
            let mut one = Footprints::default();
            one.push_box(Vec2::new(1.0, 2.0), Vec2::new(0.8, 0.5), Vec2::from_angle(turn));
            let footprint = one.iter().next().unwrap();
            let mut corners = Vec::new();
            footprint.inset(depth, &mut corners);
            prop_assert_eq!(corners.is_empty(), depth > 0.5);
            for corner in corners {
                prop_assert!((footprint.distance_m(corner) + depth).abs() < 1e-4);
            }
        }
    }
}
