//! Vectors on a regular horizontal grid with bilinear interpolation. They are the same at any height.
//!
//! **Source**: Karpowicz 2011, §3.2.2, equations 3.3 to 3.6; Alexander 2006, "Flow fields for movement and obstacle
//! avoidance", as cited there.

use glam::{UVec2, Vec2, Vec3};

/// Largest number of vectors in a grid; they take 12 MB.
pub(super) const VECTORS_MAX: usize = 1 << 20;

/// Distance between the vectors of a uniform current. Outside its edge the current fades to zero within this distance.
pub(super) const UNIFORM_CELL_M: f32 = 0.25;
/// Distance between the vectors of a vortex: fine enough for a core of 0.2 m.
pub(super) const VORTEX_CELL_M: f32 = 0.125;

/// Returns the number of nodes along x and z of a grid with this size and with cells of at most `cell_m`. Returns `None`
/// if a number is out of range.
pub(super) fn dims(size_m: [f32; 2], cell_m: f32) -> Option<UVec2> {
    let nodes = |size: f32| {
        let cells = (size / cell_m).ceil();
        (0.0..1e6).contains(&cells).then(|| cells as u32 + 1)
    };
    let [x, z] = size_m;
    Some(UVec2::new(nodes(x)?.max(2), nodes(z)?.max(2)))
}

/// A grid of vectors in the local space of a field, centered on the origin. The vectors are not yet multiplied by the
/// strength of the field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VectorGrid {
    /// Number of nodes along x and z, at least 2 each.
    dims: UVec2,
    /// Distance from the first to the last node along x and z.
    size_m: Vec2,
    /// Vectors of all nodes, ordered by x first.
    vectors: Vec<Vec3>,
}

impl VectorGrid {
    /// Creates a grid. `vector` returns the vector of a node for the local position of that node. Returns `None` if a side
    /// has too few nodes, there are more than `VECTORS_MAX`, or a number is not finite.
    pub(super) fn filled(
        dims: UVec2,
        size_m: Vec2,
        mut vector: impl FnMut(Vec3) -> Vec3,
    ) -> Option<Self> {
        let mut vectors = Vec::with_capacity(vector_count(dims)?);
        for z in 0..dims.y {
            for x in 0..dims.x {
                let share = UVec2::new(x, z).as_vec2() / (dims - 1).as_vec2();
                let at = (share - 0.5) * size_m;
                vectors.push(vector(Vec3::new(at.x, 0.0, at.y)));
            }
        }
        let is_good = size_m.is_finite()
            && size_m.cmpge(Vec2::ZERO).all()
            && vectors.iter().all(|v| v.is_finite());
        is_good.then_some(Self {
            dims,
            size_m,
            vectors,
        })
    }

    /// Returns the interpolated vector at a local position. Outside the outermost nodes, the vector fades to zero
    /// within one cell, so that the force on an agent that enters the grid does not jump.
    #[inline]
    pub(super) fn vector_at(&self, local: Vec3) -> Vec3 {
        let cells = (self.dims - 1).as_vec2();
        let local = Vec2::new(local.x, local.z);
        let position = (local / self.size_m.max(Vec2::splat(1e-6)) + 0.5) * cells;
        let (x, z) = (AxisPosition::new(position.x), AxisPosition::new(position.y));
        let mut sum = Vec3::ZERO;
        for (dz, wz) in z.corners() {
            for (dx, wx) in x.corners() {
                let weight = wx * wz;
                if weight > 0.0 {
                    sum += self.node(dx, dz) * weight;
                }
            }
        }
        sum
    }

    /// Returns the vector of a node, or zero outside the grid.
    fn node(&self, x: i64, z: i64) -> Vec3 {
        let [nx, nz] = self.dims.to_array().map(i64::from);
        if !(0..nx).contains(&x) || !(0..nz).contains(&z) {
            return Vec3::ZERO;
        }
        self.vectors[(z * nx + x) as usize]
    }
}

/// Returns the number of vectors of a grid, or `None` if the grid has too few nodes along a side, or more than
/// `VECTORS_MAX`.
fn vector_count(dims: UVec2) -> Option<usize> {
    let count = (dims.x as usize).checked_mul(dims.y as usize)?;
    (dims.min_element() >= 2 && count <= VECTORS_MAX).then_some(count)
}

/// Position along one axis of a grid, in cells.
struct AxisPosition {
    low: i64,
    share: f32,
}

impl AxisPosition {
    fn new(position: f32) -> Self {
        let low = position.floor();
        Self {
            // The cast limits huge values to the range of `i64`. No node exists at such positions.
            low: (low as i64).clamp(-2, 1 << 40),
            share: position - low,
        }
    }

    fn corners(&self) -> [(i64, f32); 2] {
        [(self.low, 1.0 - self.share), (self.low + 1, self.share)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolation_between_four_vectors_is_bilinear() {
        // The four corners: A, B next to A along x, C next to A along z, and D opposite to A. The expected value
        // follows from equations 3.5 and 3.6 with s_x = 0.25 and s_y = 0.75.
        let [a, b, c, d] = [1.0, 2.0, 4.0, 10.0].map(|n: f32| Vec3::new(n, 0.0, -2.0 * n));
        let corner = |at: Vec3| match (at.x > 0.0, at.z > 0.0) {
            (false, false) => a,
            (true, false) => b,
            (false, true) => c,
            (true, true) => d,
        };
        let grid = VectorGrid::filled(UVec2::new(2, 2), Vec2::new(2.0, 4.0), corner).unwrap();
        let found = grid.vector_at(Vec3::new(-0.5, 7.0, 1.0));
        let expected = (a * 0.75 + b * 0.25) * 0.25 + (c * 0.75 + d * 0.25) * 0.75;
        assert!(
            found.distance(expected) < 1e-5,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn the_field_fades_within_one_cell_outside_its_edge() {
        let grid = VectorGrid::filled(UVec2::splat(3), Vec2::splat(2.0), |_| Vec3::X).unwrap();
        assert_eq!(grid.vector_at(Vec3::new(1.0, 0.0, 0.0)), Vec3::X);
        assert_eq!(grid.vector_at(Vec3::new(1.5, 0.0, 0.0)), Vec3::X * 0.5);
        assert_eq!(grid.vector_at(Vec3::new(2.1, 0.0, 0.0)), Vec3::ZERO);
        for far in [1e9, -1e9, 1e30, f32::MAX, f32::MIN] {
            assert_eq!(
                grid.vector_at(Vec3::new(far, 0.0, 0.0)),
                Vec3::ZERO,
                "{far}"
            );
        }
    }

    #[test]
    fn inconsistent_numbers_give_no_grid() {
        let new = |dims, vector| VectorGrid::filled(dims, Vec2::ONE, |_| vector);
        assert!(new(UVec2::splat(2), Vec3::X).is_some());
        // Only one node along x.
        assert!(new(UVec2::new(1, 2), Vec3::X).is_none());
        assert!(new(UVec2::splat(u32::MAX), Vec3::X).is_none());
        assert!(new(UVec2::splat(2), Vec3::NAN).is_none());
    }

    #[test]
    fn a_size_out_of_range_gives_no_grid() {
        assert_eq!(dims([f32::MAX, 1.0], 0.01), None);
        assert_eq!(dims([f32::NAN, 1.0], 0.01), None);
        assert_eq!(dims([1.0, 0.2], 0.5), Some(UVec2::new(3, 2)));
    }
}
