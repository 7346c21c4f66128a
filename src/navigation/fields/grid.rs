//! Vectors on a regular grid with interpolation: bilinear on a plane grid, trilinear on a grid with layers.
//!
//! **Source**: Karpowicz 2011, §3.2.2, equations 3.3 to 3.6; Alexander 2006, "Flow fields for movement and obstacle
//! avoidance", as cited there.

use glam::{UVec3, Vec3};

/// Largest number of vectors in a grid; they take 12 MB.
pub(super) const VECTORS_MAX: usize = 1 << 20;

/// A grid of vectors in the local space of a field, centered on the origin. The vectors are not yet multiplied by the
/// strength of the field. A plane grid (one layer) has the same vectors at any height.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorGrid {
    /// Number of nodes along x, y, z: at least 2 along x and z, 1 along y for a plane grid.
    dims: UVec3,
    /// Distance from the first to the last node along x, y, z.
    size_m: Vec3,
    /// Vectors of all nodes, ordered by x first, then z, then y.
    vectors: Vec<Vec3>,
}

impl VectorGrid {
    /// Creates a grid from its vectors. Returns `None` if a side has too few nodes, there are more than `VECTORS_MAX`,
    /// the number of vectors does not match, or a number is not finite.
    pub fn new(dims: UVec3, size_m: Vec3, vectors: Vec<Vec3>) -> Option<Self> {
        let count = vector_count(dims)?;
        let is_good = vectors.len() == count
            && size_m.is_finite()
            && size_m.cmpge(Vec3::ZERO).all()
            && vectors.iter().all(|v| v.is_finite());
        is_good.then_some(Self {
            dims,
            size_m,
            vectors,
        })
    }

    /// Creates a grid. `vector` returns the vector of a node for the local position of that node. Returns `None` in the
    /// same cases as [`VectorGrid::new`].
    pub fn filled(dims: UVec3, size_m: Vec3, mut vector: impl FnMut(Vec3) -> Vec3) -> Option<Self> {
        let mut vectors = Vec::with_capacity(vector_count(dims)?);
        for y in 0..dims.y {
            for z in 0..dims.z {
                for x in 0..dims.x {
                    let share =
                        UVec3::new(x, y, z).as_vec3() / (dims - 1).max(UVec3::ONE).as_vec3();
                    let at = (share - 0.5) * size_m;
                    vectors.push(vector(if dims.y == 1 { at.with_y(0.0) } else { at }));
                }
            }
        }
        Self::new(dims, size_m, vectors)
    }

    /// Returns a grid with the same vectors, stretched to another size.
    #[must_use]
    pub fn stretched(&self, size_m: Vec3) -> Self {
        Self {
            size_m: size_m.max(Vec3::ZERO),
            ..self.clone()
        }
    }

    /// Number of nodes along x, y, z.
    pub fn dims(&self) -> UVec3 {
        self.dims
    }

    /// Returns the interpolated vector at a local position. Outside the outermost nodes, the vector fades to zero
    /// within one cell, so that the force on an agent that enters the grid does not jump.
    #[inline]
    pub fn vector_at(&self, local: Vec3) -> Vec3 {
        let cells = (self.dims - 1).max(UVec3::ONE).as_vec3();
        let position = (local / self.size_m.max(Vec3::splat(1e-6)) + 0.5) * cells;
        let (x, z) = (AxisPosition::new(position.x), AxisPosition::new(position.z));
        let y = if self.dims.y == 1 {
            AxisPosition { low: 0, share: 0.0 }
        } else {
            AxisPosition::new(position.y)
        };
        let mut sum = Vec3::ZERO;
        for (dy, wy) in y.corners() {
            for (dz, wz) in z.corners() {
                for (dx, wx) in x.corners() {
                    let weight = wx * wy * wz;
                    if weight > 0.0 {
                        sum += self.node(dx, dy, dz) * weight;
                    }
                }
            }
        }
        sum
    }

    /// Returns the vector of a node, or zero outside the grid.
    fn node(&self, x: i64, y: i64, z: i64) -> Vec3 {
        let [nx, ny, nz] = self.dims.to_array().map(i64::from);
        if !(0..nx).contains(&x) || !(0..ny).contains(&y) || !(0..nz).contains(&z) {
            return Vec3::ZERO;
        }
        self.vectors[((y * nz + z) * nx + x) as usize]
    }
}

/// Returns the number of vectors of a grid, or `None` if the grid has too few nodes along x or z, or more than
/// `VECTORS_MAX`.
pub(super) fn vector_count(dims: UVec3) -> Option<usize> {
    let [nx, ny, nz] = dims.to_array().map(|n| n as usize);
    let count = nx.checked_mul(ny)?.checked_mul(nz)?;
    (nx >= 2 && ny >= 1 && nz >= 2 && count <= VECTORS_MAX).then_some(count)
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
        let grid = VectorGrid::new(
            UVec3::new(2, 1, 2),
            Vec3::new(2.0, 0.0, 4.0),
            vec![a, b, c, d],
        )
        .unwrap();
        let found = grid.vector_at(Vec3::new(-0.5, 7.0, 1.0));
        let expected = (a * 0.75 + b * 0.25) * 0.25 + (c * 0.75 + d * 0.25) * 0.75;
        assert!(
            found.distance(expected) < 1e-5,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn a_grid_with_layers_reproduces_a_linear_function() {
        let linear =
            |p: Vec3| Vec3::new(p.x + 2.0 * p.y, p.y - p.z, 0.5 * p.z + p.x) + Vec3::splat(0.25);
        let grid = VectorGrid::filled(UVec3::new(5, 3, 4), Vec3::new(4.0, 1.0, 3.0), linear);
        let grid = grid.unwrap();
        for step in 0..200 {
            let t = step as f32;
            let share = Vec3::new((t * 0.37).sin(), (t * 0.71).sin(), (t * 0.53).cos());
            let at = share * Vec3::new(2.0, 0.5, 1.5);
            assert!(grid.vector_at(at).distance(linear(at)) < 1e-5, "at {at}");
        }
    }

    #[test]
    fn the_field_fades_within_one_cell_outside_its_edge() {
        let grid =
            VectorGrid::filled(UVec3::new(3, 1, 3), Vec3::new(2.0, 0.0, 2.0), |_| Vec3::X).unwrap();
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
        let new = |x, y, z, count: usize| {
            VectorGrid::new(UVec3::new(x, y, z), Vec3::ONE, vec![Vec3::X; count])
        };
        assert!(new(2, 1, 2, 4).is_some());
        assert!(new(2, 1, 2, 3).is_none());
        assert!(new(0, 1, 2, 0).is_none());
        assert!(new(1, 1, 2, 2).is_none(), "only one node along x");
        assert!(new(u32::MAX, u32::MAX, u32::MAX, 1).is_none());
        let nan = vec![Vec3::NAN; 4];
        assert!(VectorGrid::new(UVec3::new(2, 1, 2), Vec3::ONE, nan).is_none());
        assert!(VectorGrid::filled(UVec3::splat(u32::MAX), Vec3::ONE, |_| Vec3::X).is_none());
    }
}
