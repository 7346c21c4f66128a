//! Vectors on a regular grid, and between them: bilinear on a plane grid, trilinear on a full one.
//!
//! **Source**: Karpowicz 2011, 3.2.2 (equations 3.3 to 3.6); Alexander 2006, 'Flow fields for movement and obstacle
//! avoidance', as cited there.

use glam::{UVec3, Vec3};

/// Most vectors of one grid: 12 MB.
pub const VECTORS_MAX: usize = 1 << 20;

/// A grid of vectors around the origin of its own space, of strength one. A plane grid (one layer) is the same at any height.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorGrid {
    /// Nodes along x, y, z; at least 2 along x and z; 1 along y for a plane grid.
    dims: UVec3,
    /// From the first node to the last.
    size_m: Vec3,
    /// x runs fastest, then z, then y.
    vectors: Vec<Vec3>,
}

impl VectorGrid {
    /// A grid; `None` where the numbers of nodes and vectors differ, are none, too many or not finite.
    pub fn new(dims: UVec3, size_m: Vec3, vectors: Vec<Vec3>) -> Option<Self> {
        let count = count(dims)?;
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

    /// Fills a grid by what `vector` says of each node's place in the field's own space.
    pub fn filled(dims: UVec3, size_m: Vec3, mut vector: impl FnMut(Vec3) -> Vec3) -> Option<Self> {
        let mut vectors = Vec::with_capacity(count(dims)?);
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

    /// The same vectors over another size.
    #[must_use]
    pub fn stretched(&self, size_m: Vec3) -> Self {
        Self {
            size_m: size_m.max(Vec3::ZERO),
            ..self.clone()
        }
    }

    /// Nodes along x, y, z.
    pub fn dims(&self) -> UVec3 {
        self.dims
    }

    /// The vector at a place of the field's own space. Beyond the outermost nodes it fades to zero within one cell, so that
    /// nobody jerks who swims in.
    #[inline]
    pub fn at(&self, own: Vec3) -> Vec3 {
        let cells = (self.dims - 1).max(UVec3::ONE).as_vec3();
        let place = (own / self.size_m.max(Vec3::splat(1e-6)) + 0.5) * cells;
        let (x, z) = (Along::new(place.x), Along::new(place.z));
        let y = if self.dims.y == 1 {
            Along { low: 0, share: 0.0 }
        } else {
            Along::new(place.y)
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

    /// The vector of a node; zero where there is none.
    fn node(&self, x: i64, y: i64, z: i64) -> Vec3 {
        let [nx, ny, nz] = self.dims.to_array().map(i64::from);
        if !(0..nx).contains(&x) || !(0..ny).contains(&y) || !(0..nz).contains(&z) {
            return Vec3::ZERO;
        }
        self.vectors[((y * nz + z) * nx + x) as usize]
    }
}

/// Number of vectors of a grid; `None` where it is too small for a plane or too large.
pub fn count(dims: UVec3) -> Option<usize> {
    let [nx, ny, nz] = dims.to_array().map(|n| n as usize);
    let count = nx.checked_mul(ny)?.checked_mul(nz)?;
    (nx >= 2 && ny >= 1 && nz >= 2 && count <= VECTORS_MAX).then_some(count)
}

/// A place along one axis of a grid.
struct Along {
    low: i64,
    share: f32,
}

impl Along {
    fn new(place: f32) -> Self {
        let low = place.floor();
        Self {
            // Saturates; what is that far out has no node anyway.
            low: (low as i64).clamp(-2, 1 << 40),
            share: place - low,
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
    fn between_four_vectors_it_is_bilinear() {
        // A at (0, 0), B beside it, C below it, D opposite. Equations 3.5 and 3.6 at s_x = 0.25, s_y = 0.75.
        let [a, b, c, d] = [1.0, 2.0, 4.0, 10.0].map(|n: f32| Vec3::new(n, 0.0, -2.0 * n));
        let grid = VectorGrid::new(
            UVec3::new(2, 1, 2),
            Vec3::new(2.0, 0.0, 4.0),
            vec![a, b, c, d],
        )
        .unwrap();
        let found = grid.at(Vec3::new(-0.5, 7.0, 1.0));
        let wanted = (a * 0.75 + b * 0.25) * 0.25 + (c * 0.75 + d * 0.25) * 0.75;
        assert!(found.distance(wanted) < 1e-5, "{found} is not {wanted}");
    }

    #[test]
    fn a_full_grid_reproduces_a_linear_function_anywhere() {
        let linear =
            |p: Vec3| Vec3::new(p.x + 2.0 * p.y, p.y - p.z, 0.5 * p.z + p.x) + Vec3::splat(0.25);
        let grid = VectorGrid::filled(UVec3::new(5, 3, 4), Vec3::new(4.0, 1.0, 3.0), linear);
        let grid = grid.unwrap();
        for step in 0..200 {
            let t = step as f32;
            let share = Vec3::new((t * 0.37).sin(), (t * 0.71).sin(), (t * 0.53).cos());
            let at = share * Vec3::new(2.0, 0.5, 1.5);
            assert!(grid.at(at).distance(linear(at)) < 1e-5, "at {at}");
        }
    }

    #[test]
    fn it_fades_within_a_cell_beyond_its_edge() {
        let grid =
            VectorGrid::filled(UVec3::new(3, 1, 3), Vec3::new(2.0, 0.0, 2.0), |_| Vec3::X).unwrap();
        assert_eq!(grid.at(Vec3::new(1.0, 0.0, 0.0)), Vec3::X);
        assert_eq!(grid.at(Vec3::new(1.5, 0.0, 0.0)), Vec3::X * 0.5);
        assert_eq!(grid.at(Vec3::new(2.1, 0.0, 0.0)), Vec3::ZERO);
        for far in [1e9, -1e9, 1e30, f32::MAX, f32::MIN] {
            assert_eq!(grid.at(Vec3::new(far, 0.0, 0.0)), Vec3::ZERO, "{far}");
        }
    }

    #[test]
    fn wrong_numbers_make_no_grid() {
        let new = |x, y, z, count: usize| {
            VectorGrid::new(UVec3::new(x, y, z), Vec3::ONE, vec![Vec3::X; count])
        };
        assert!(new(2, 1, 2, 4).is_some());
        assert!(new(2, 1, 2, 3).is_none());
        assert!(new(0, 1, 2, 0).is_none());
        assert!(new(1, 1, 2, 2).is_none(), "no plane");
        assert!(new(u32::MAX, u32::MAX, u32::MAX, 1).is_none());
        let nan = vec![Vec3::NAN; 4];
        assert!(VectorGrid::new(UVec3::new(2, 1, 2), Vec3::ONE, nan).is_none());
        assert!(VectorGrid::filled(UVec3::splat(u32::MAX), Vec3::ONE, |_| Vec3::X).is_none());
    }
}
