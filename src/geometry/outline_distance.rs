//! Mean distance between two outlines.
//!
//! It is computed for every visitor, so the edges are stored such that the compiler uses SIMD instructions.

use glam::Vec2;

use super::polygon::{nearest_on_polygon, polygon_edges};

/// Number of edges that are processed together.
const BLOCK: usize = 8;
/// Number of corners up to which an outline is stored in blocks. The outlines of vision have no more.
const CORNERS: usize = 64;

/// Returns the mean distance between two outlines, in both directions. Distances up to `ignored_m` count as 0, and only corners that
/// `counts` accepts are included. `None` if there are no such corners.
pub fn outline_distance_m(
    a: &[Vec2],
    b: &[Vec2],
    ignored_m: f32,
    counts: impl Fn(Vec2) -> bool,
) -> Option<f32> {
    let (forth, back) = (
        distance_sums(a, b, ignored_m, &counts),
        distance_sums(b, a, ignored_m, &counts),
    );
    let length_m = forth.0 + back.0;
    (length_m > 0.0).then(|| (forth.1 + back.1) / length_m)
}

/// Sums over the corners of an outline that `counts` accepts: the length of the outline that belongs to them, and this length times the
/// distance to another outline that exceeds `ignored_m`.
fn distance_sums(
    from: &[Vec2],
    to: &[Vec2],
    ignored_m: f32,
    counts: &impl Fn(Vec2) -> bool,
) -> (f32, f32) {
    let (Some(last), false) = (from.last(), to.is_empty()) else {
        return (0.0, 0.0);
    };
    let edges = (to.len() <= CORNERS).then(|| Edges::new(to));
    let distance_m = |point: Vec2| match &edges {
        Some(edges) => edges.nearest_square(point).sqrt(),
        None => nearest_on_polygon(to, point).map_or(0.0, |nearest| point.distance(nearest)),
    };
    let mut before_m = last.distance(from[0]);
    let mut sums = (0.0, 0.0);
    for (corner, next) in polygon_edges(from) {
        let after_m = corner.distance(next);
        if counts(corner) {
            let length_m = (before_m + after_m) / 2.0;
            sums.0 += length_m;
            sums.1 += length_m * (distance_m(corner) - ignored_m).max(0.0);
        }
        before_m = after_m;
    }
    sums
}

/// Some edges of an outline, as lists of coordinates.
#[derive(Clone, Copy)]
struct EdgeBlock {
    start_x: [f32; BLOCK],
    start_y: [f32; BLOCK],
    along_x: [f32; BLOCK],
    along_y: [f32; BLOCK],
    /// Square of the length.
    square: [f32; BLOCK],
}

impl EdgeBlock {
    /// A block without edges. The distance to an edge that begins at NaN is NaN, which is never the smallest.
    const EMPTY: Self = Self {
        start_x: [f32::NAN; BLOCK],
        start_y: [f32::NAN; BLOCK],
        along_x: [0.0; BLOCK],
        along_y: [0.0; BLOCK],
        square: [1.0; BLOCK],
    };
}

/// All edges of an outline of at most [`CORNERS`] corners.
struct Edges {
    blocks: [EdgeBlock; CORNERS / BLOCK],
    /// Number of blocks with edges.
    count: usize,
}

impl Edges {
    fn new(corners: &[Vec2]) -> Self {
        let mut blocks = [EdgeBlock::EMPTY; CORNERS / BLOCK];
        let count = corners.len().div_ceil(BLOCK);
        let mut edges = polygon_edges(corners);
        for block in &mut blocks[..count] {
            for (lane, (start, end)) in edges.by_ref().take(BLOCK).enumerate() {
                let along = end - start;
                (block.start_x[lane], block.start_y[lane]) = (start.x, start.y);
                (block.along_x[lane], block.along_y[lane]) = (along.x, along.y);
                block.square[lane] = along.length_squared().max(f32::MIN_POSITIVE);
            }
        }
        Self { blocks, count }
    }

    /// Returns the square of the distance to the nearest edge.
    fn nearest_square(&self, point: Vec2) -> f32 {
        let mut nearest = [f32::INFINITY; BLOCK];
        for edges in &self.blocks[..self.count] {
            for (i, nearest) in nearest.iter_mut().enumerate() {
                let (x, y) = (point.x - edges.start_x[i], point.y - edges.start_y[i]);
                let t = (x * edges.along_x[i] + y * edges.along_y[i]) / edges.square[i];
                let t = if t < 0.0 { 0.0 } else { t };
                let t = if t > 1.0 { 1.0 } else { t };
                let off_x = point.x - (edges.start_x[i] + edges.along_x[i] * t);
                let off_y = point.y - (edges.start_y[i] + edges.along_y[i] * t);
                let square = off_x * off_x + off_y * off_y;
                *nearest = if square < *nearest { square } else { *nearest };
            }
        }
        nearest.into_iter().fold(f32::INFINITY, f32::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_outline() -> impl Strategy<Value = Vec<Vec2>> {
        let corner = (-3.0_f32..3.0, -3.0_f32..3.0).prop_map(Vec2::from);
        prop::collection::vec(corner, 0..=CORNERS)
    }

    proptest! {
        #[test]
        fn the_distance_to_the_nearest_edge_is_exactly_that_of_the_nearest_point(
            to in any_outline(),
            x in -4.0_f32..4.0,
            y in -4.0_f32..4.0,
        ) {
            let point = Vec2::new(x, y);
            if let Some(nearest) = nearest_on_polygon(&to, point) {
                let square = Edges::new(&to).nearest_square(point);
                prop_assert_eq!(square.sqrt().to_bits(), point.distance(nearest).to_bits());
            }
        }
    }

    #[test]
    fn a_moved_square_is_as_far_as_it_was_moved_and_noise_and_foreign_corners_do_not_count() {
        let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        let higher = square.map(|corner| corner + Vec2::new(0.0, 0.25));
        let distance = |ignored_m, counts: &dyn Fn(Vec2) -> bool| {
            outline_distance_m(&square, &higher, ignored_m, counts)
        };
        // The lower corners are 0.25 m away from the other square, and the upper ones lie on its sides.
        assert_eq!(distance(0.0, &|_| true), Some(0.125));
        assert_eq!(distance(0.25, &|_| true), Some(0.0));
        assert_eq!(distance(0.0, &|corner| corner.y < 0.1), Some(0.25));
        assert_eq!(distance(0.0, &|_| false), None);
        assert_eq!(outline_distance_m(&square, &[], 0.0, |_| true), None);
        let many: Vec<Vec2> = square.repeat(20);
        let many_higher: Vec<Vec2> = higher.repeat(20);
        let of_many = outline_distance_m(&many, &many_higher, 0.0, |_| true);
        assert_eq!(
            of_many,
            Some(0.125),
            "more corners than one block list holds"
        );
    }
}
