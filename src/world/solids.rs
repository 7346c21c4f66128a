//! An index that finds the solids near a position, so that a query does not test every obstacle of the pool.
//!
//! The index is a horizontal grid over x and z. Each cell has a list of all solids within a margin around the cell, and
//! possibly of some solids beyond the margin. The index is rebuilt when the solids or the margin change, never in a tick.

use glam::{Vec2, Vec3};

use crate::geometry::Solid;

/// Maximum number of cells along one side; limits memory for large pools.
const MAX_CELLS: f32 = 48.0;

/// Minimum size of a cell; limits memory for small pools.
const MIN_CELL_M: f32 = 0.25;

/// The index of one list of solids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidIndex {
    /// Corner of the grid with the smallest x and z.
    low_m: Vec2,
    cells_per_m: f32,
    /// Number of cells along x and z.
    dims: [usize; 2],
    /// Index in `solids` and `indices` at which the part of each cell starts; an additional last element is the length of
    /// `solids`.
    starts: Vec<u32>,
    solids: Vec<Solid>,
    /// Index of each element of `solids` in the list that the index was built from.
    indices: Vec<u32>,
    margin_m: f32,
}

impl SolidIndex {
    /// Builds an index that finds all solids closer than `margin_m` to any position.
    pub fn new(solids: &[Solid], margin_m: f32) -> Self {
        let flat = |at: Vec3| Vec2::new(at.x, at.z);
        let (mut low, mut high) = (Vec2::splat(f32::MAX), Vec2::splat(f32::MIN));
        for solid in solids {
            let reach = solid.bounding_radius_m() + margin_m;
            low = low.min(flat(solid.center_m()) - reach);
            high = high.max(flat(solid.center_m()) + reach);
        }
        if solids.is_empty() || !(low.is_finite() && high.is_finite()) {
            (low, high) = (Vec2::ZERO, Vec2::ZERO);
        }
        let extent = (high - low).max_element();
        let cell_m = (extent / MAX_CELLS).max(MIN_CELL_M);
        let dims = ((high - low) / cell_m).floor() + 1.0;
        let mut index = Self {
            low_m: low,
            cells_per_m: 1.0 / cell_m,
            dims: [dims.x as usize, dims.y as usize],
            starts: vec![0],
            margin_m,
            ..Self::default()
        };
        if solids.is_empty() {
            index.dims = [0, 0];
        }
        for z in 0..index.dims[1] {
            for x in 0..index.dims[0] {
                let middle = low + (Vec2::new(x as f32, z as f32) + 0.5) * cell_m;
                for (number, solid) in solids.iter().enumerate() {
                    let offset = (flat(solid.center_m()) - middle).abs() - cell_m * 0.501;
                    let distance = offset.max(Vec2::ZERO).length();
                    // `distance` is NaN for a solid that is not finite; then the solid is listed in every cell.
                    let is_far = distance > solid.bounding_radius_m() + margin_m;
                    if !is_far {
                        index.indices.push(number as u32);
                        index.solids.push(*solid);
                    }
                }
                index.starts.push(index.indices.len() as u32);
            }
        }
        index
    }

    /// Distance within which [`Self::near`] returns all solids.
    pub fn margin_m(&self) -> f32 {
        self.margin_m
    }

    /// Returns all solids closer to a position than the margin, and possibly some solids beyond the margin. They have the same
    /// order as in the list that the index was built from.
    pub fn near(&self, at_m: Vec3) -> &[Solid] {
        self.cell(at_m).map_or(&[], |run| &self.solids[run])
    }

    /// Returns the indices of the solids that [`Self::near`] returns, in the same order. They refer to the list that the index
    /// was built from, and are in ascending order.
    pub fn indices_near(&self, at_m: Vec3) -> &[u32] {
        self.cell(at_m).map_or(&[], |run| &self.indices[run])
    }

    /// Returns the part of `solids` and `indices` that belongs to the cell at a position; `None` outside the grid.
    fn cell(&self, at_m: Vec3) -> Option<std::ops::Range<usize>> {
        let at = (Vec2::new(at_m.x, at_m.z) - self.low_m) * self.cells_per_m;
        if !(at.x >= 0.0 && at.y >= 0.0) {
            return None;
        }
        let (x, z) = (at.x as usize, at.y as usize);
        if x >= self.dims[0] || z >= self.dims[1] {
            return None;
        }
        let cell = z * self.dims[0] + x;
        Some(self.starts[cell] as usize..self.starts[cell + 1] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{Random, RandomStream};
    use super::*;

    #[test]
    fn all_solids_within_the_margin_are_found() {
        let draw = |i: u32, n| Random { seed: 9, tick: 0 }.signed(i, RandomStream::Place, n);
        for (margin_m, spread) in [(0.5, 3.0), (2.0, 30.0), (0.1, 500.0), (90.0, 2.0)] {
            let solids: Vec<Solid> = (0..40)
                .map(|i| {
                    let at = Vec3::new(draw(i, 0), draw(i, 1) * 0.2, draw(i, 2)) * spread;
                    match i % 3 {
                        0 => Solid::Sphere {
                            center_m: at,
                            radius_m: 0.4,
                        },
                        1 => Solid::Capsule {
                            from_m: at,
                            to_m: at + Vec3::X,
                            radius_m: 0.2,
                        },
                        _ => Solid::Box {
                            center_m: at,
                            half_m: Vec3::new(0.5, 0.2, 0.3),
                            axis: Vec2::X,
                        },
                    }
                })
                .collect();
            let index = SolidIndex::new(&solids, margin_m);
            let mut listed = 0;
            for i in 0..2000 {
                let at = Vec3::new(draw(i, 3), draw(i, 4), draw(i, 5)) * spread * 1.3;
                let indices = index.indices_near(at);
                listed += indices.len();
                assert!(indices.is_sorted() && indices.len() == index.near(at).len());
                for (number, solid) in solids.iter().enumerate() {
                    if solid.signed_distance_m(at) < margin_m {
                        assert!(indices.contains(&(number as u32)), "{at}: {solid:?}");
                    }
                }
            }
            assert!(
                margin_m > 50.0 || listed < 2000 * 20,
                "the index lists too many distant solids: {listed}"
            );
        }
    }

    #[test]
    fn an_index_without_solids_finds_none() {
        let index = SolidIndex::new(&[], 1.0);
        assert!(index.near(Vec3::ZERO).is_empty());
        assert!(SolidIndex::default().near(Vec3::ZERO).is_empty());
    }
}
