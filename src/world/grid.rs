//! The neighbor index: a uniform grid that finds the agents near a position. A counting sort fills its contiguous arrays.
//!
//! The arrays have one entry per agent, ordered by cell. Neighboring cells along x follow each other, so the cells within a
//! radius are a few contiguous runs of entries, one per row of cells. The index is rebuilt in every tick, which is faster than
//! an update.

use std::ops::Range;

use glam::Vec3;

/// Number of positions (lanes) that are compared at once, so that the compiler can use vector instructions.
const LANES: usize = 8;

/// For every bit set of lanes: the numbers of the lanes in the set, in ascending order. The remaining elements are unused.
static HIT_LANES: [[u8; LANES]; 256] = {
    let mut table = [[0; LANES]; 256];
    let mut set = 0;
    while set < table.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if set >> lane & 1 == 1 {
                table[set][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
};

/// Entries that a query has found. The memory is reused between queries, so that a query allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct GridHits {
    /// The first `count` elements are the result of the last query; the rest is scratch space.
    entries: Vec<u32>,
    count: usize,
}

impl GridHits {
    /// The entries that were found, in the order of the index.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries[..self.count]
            .iter()
            .map(|&entry| entry as usize)
    }

    /// Reserves memory for `count` entries, so that queries over at most `count` agents do not allocate.
    pub fn reserve(&mut self, count: usize) {
        let len = self.entries.len().max(count + LANES);
        self.entries.resize(len, 0);
    }
}

/// Positions and directions of all agents that may be within the radius of a member of one cell. The memory is reused for the
/// next cell.
#[derive(Clone, Debug, Default)]
pub struct CellNeighbors {
    count: usize,
    /// Positions x, y, z and directions x, y, z. The first `count` elements of each are valid.
    columns: [Vec<f32>; 6],
}

impl CellNeighbors {
    /// Positions x, y, z in meters and directions x, y, z, in the order of the index.
    pub fn columns(&self) -> [&[f32]; 6] {
        self.columns.each_ref().map(|column| &column[..self.count])
    }
}

/// The neighbor index of one set of agents.
#[derive(Clone, Debug, Default)]
pub struct NeighborGrid {
    origin_m: Vec3,
    cells_per_m: f32,
    /// Number of cells along x, y and z.
    dims: [usize; 3],
    /// First entry of each cell; an additional last element is the number of entries.
    starts: Vec<u32>,
    /// Cell of each agent.
    cells: Vec<u32>,
    /// Agent index of each entry.
    pub agents: Vec<u32>,
    /// x of each entry's position.
    pub x_m: Vec<f32>,
    /// y of each entry's position.
    pub y_m: Vec<f32>,
    /// z of each entry's position.
    pub z_m: Vec<f32>,
    /// x of each entry's direction.
    pub forward_x: Vec<f32>,
    /// y of each entry's direction.
    pub forward_y: Vec<f32>,
    /// z of each entry's direction.
    pub forward_z: Vec<f32>,
}

impl NeighborGrid {
    /// Reserves memory for `count` agents at any positions, so that [`Self::rebuild`] does not allocate.
    pub fn reserve(&mut self, count: usize) {
        let cells = max_cells(count) + 1;
        self.starts.reserve(cells.saturating_sub(self.starts.len()));
        for array in [&mut self.cells, &mut self.agents] {
            array.reserve(count.saturating_sub(array.len()));
        }
        for array in self.columns_mut() {
            array.reserve((count + LANES).saturating_sub(array.len()));
        }
    }

    fn columns_mut(&mut self) -> [&mut Vec<f32>; 6] {
        [
            &mut self.x_m,
            &mut self.y_m,
            &mut self.z_m,
            &mut self.forward_x,
            &mut self.forward_y,
            &mut self.forward_z,
        ]
    }

    /// Sorts the positions and directions of `count` agents into cells of size `cell_m`. If there would be more than about four
    /// cells per agent, the cells are larger, so that memory is limited for any positions. All positions must be finite.
    pub fn rebuild(
        &mut self,
        cell_m: f32,
        count: usize,
        position: impl Fn(usize) -> Vec3,
        forward: impl Fn(usize) -> Vec3,
    ) {
        let (mut low, mut high) = (Vec3::splat(f32::MAX), Vec3::splat(f32::MIN));
        for agent in 0..count {
            let at = position(agent);
            low = low.min(at);
            high = high.max(at);
        }
        if count == 0 {
            (low, high) = (Vec3::ZERO, Vec3::ZERO);
        }
        self.fit_cells(cell_m, low, high, count);
        let cell_count = self.dims[0] * self.dims[1] * self.dims[2];
        self.starts.clear();
        self.starts.resize(cell_count + 1, 0);
        self.cells.clear();
        for agent in 0..count {
            let cell = self.cell(position(agent));
            self.cells.push(cell);
            self.starts[cell as usize + 1] += 1;
        }
        for cell in 0..cell_count {
            self.starts[cell + 1] += self.starts[cell];
        }
        self.agents.resize(count, 0);
        for array in self.columns_mut() {
            // A query reads LANES entries at once, possibly beyond the last entry.
            array.resize(count + LANES, 0.0);
        }
        // `starts[cell + 1]` is first set to the start of `cell`. While the cell is filled, it advances to the end of `cell`,
        // which is the start of the next cell.
        for cell in (1..=cell_count).rev() {
            self.starts[cell] = self.starts[cell - 1];
        }
        for agent in 0..count {
            let next = &mut self.starts[self.cells[agent] as usize + 1];
            let entry = *next as usize;
            *next += 1;
            let (at, ahead) = (position(agent), forward(agent));
            self.agents[entry] = agent as u32;
            self.x_m[entry] = at.x;
            self.y_m[entry] = at.y;
            self.z_m[entry] = at.z;
            self.forward_x[entry] = ahead.x;
            self.forward_y[entry] = ahead.y;
            self.forward_z[entry] = ahead.z;
        }
    }

    /// Calls `visit` with each run of entries that may contain an agent within `radius_m` of `at`, in a fixed order. The
    /// runs also contain agents farther away.
    #[inline]
    pub fn for_runs(&self, at: Vec3, radius_m: f32, mut visit: impl FnMut(Range<usize>)) {
        let low = (at - radius_m - self.origin_m) * self.cells_per_m;
        let high = (at + radius_m - self.origin_m) * self.cells_per_m;
        let span = |low: f32, high: f32, cells: usize| {
            // The cast saturates: a coordinate before the first cell becomes cell 0.
            let cell = |at: f32| (at as i32).max(0) as usize;
            cell(low).min(cells)..cell(high).min(cells - 1) + 1
        };
        if high.cmplt(Vec3::ZERO).any() || self.agents.is_empty() {
            return;
        }
        // Returns the distance of a row of cells from `at` along one axis, reduced by a tolerance for rounding.
        let cell_m = 1.0 / self.cells_per_m;
        let slack_m = ((at - self.origin_m).abs().max_element() + cell_m) * 1e-6;
        let gap = |cell: usize, origin: f32, at: f32| {
            let from = origin + cell as f32 * cell_m;
            ((from - at).max(at - from - cell_m) - slack_m).max(0.0)
        };
        let radius_sq = radius_m * radius_m;
        for z in span(low.z, high.z, self.dims[2]) {
            let by_z = radius_sq - gap(z, self.origin_m.z, at.z).powi(2);
            for y in span(low.y, high.y, self.dims[1]) {
                let left = by_z - gap(y, self.origin_m.y, at.y).powi(2);
                if left < 0.0 {
                    continue;
                }
                let half = left.sqrt() + slack_m;
                let middle = at.x - self.origin_m.x;
                let from = (middle - half) * self.cells_per_m;
                let xs = span(from, (middle + half) * self.cells_per_m, self.dims[0]);
                if xs.is_empty() {
                    continue;
                }
                let row = (z * self.dims[1] + y) * self.dims[0];
                let run = self.starts[row + xs.start] as usize..self.starts[row + xs.end] as usize;
                if !run.is_empty() {
                    visit(run);
                }
            }
        }
    }

    /// Finds the entries of all agents within `radius_m` of `at`, in a fixed order. An agent at `at` is included.
    #[inline]
    pub fn within(&self, at: Vec3, radius_m: f32, found: &mut GridHits) {
        let radius_sq = radius_m * radius_m;
        let mut count = 0;
        let (xs, ys, zs) = (&self.x_m[..], &self.y_m[..], &self.z_m[..]);
        self.for_runs(at, radius_m, |run| {
            if found.entries.len() < count + run.len() + LANES {
                found.entries.resize((count + run.len() + LANES) * 2, 0);
            }
            let mut start = run.start;
            while start < run.end {
                let lanes = |values: &[f32]| -> [f32; LANES] {
                    values
                        .get(start..)
                        .and_then(|rest| rest.first_chunk())
                        .copied()
                        .unwrap_or([0.0; LANES])
                };
                let (x, y, z) = (lanes(xs), lanes(ys), lanes(zs));
                let mut square = [0.0f32; LANES];
                for lane in 0..LANES {
                    let (dx, dy, dz) = (x[lane] - at.x, y[lane] - at.y, z[lane] - at.z);
                    square[lane] = dx * dx + dy * dy + dz * dz;
                }
                let mut hits = 0usize;
                for (lane, square) in square.iter().enumerate() {
                    hits |= usize::from(*square <= radius_sq) << lane;
                }
                // Lanes beyond the end of the run are not hits.
                hits &= 0xff >> LANES.saturating_sub(run.end - start);
                let lanes = &HIT_LANES[hits & 0xff];
                if let Some(to) = found.entries.get_mut(count..count + LANES) {
                    for (to, lane) in to.iter_mut().zip(lanes) {
                        *to = start as u32 + u32::from(*lane);
                    }
                }
                let hit_count = (hits as u8).count_ones() as usize;
                count += hit_count;
                start += LANES;
            }
        });
        found.count = count;
    }

    /// Calls `visit` for every non-empty cell, in a fixed order. Passes the entries of the agents in the cell, and copies of
    /// all agents that may be within `radius_m` of one of these agents, including themselves. If all agents need their
    /// neighbors, this is faster than one query per agent, especially with cells slightly larger than the radius.
    pub fn for_cells(
        &self,
        radius_m: f32,
        around: &mut CellNeighbors,
        mut visit: impl FnMut(Range<usize>, &CellNeighbors),
    ) {
        // The tolerance of 1e-4 cells prevents that a rounding error excludes a cell.
        let reach = (radius_m * self.cells_per_m + 1e-4).ceil().max(0.0) as usize;
        let span = |cell: usize, cells: usize| {
            cell.saturating_sub(reach)..cell.saturating_add(reach + 1).min(cells)
        };
        let arrays = [
            &self.x_m,
            &self.y_m,
            &self.z_m,
            &self.forward_x,
            &self.forward_y,
            &self.forward_z,
        ];
        for column in &mut around.columns {
            column.resize(self.agents.len() + LANES, 0.0);
        }
        let [nx, ny, nz] = self.dims;
        let cells =
            (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
        for ([x, y, z], bounds) in cells.zip(self.starts.windows(2)) {
            let members = bounds[0] as usize..bounds[1] as usize;
            if members.is_empty() {
                continue;
            }
            let xs = span(x, nx);
            let mut count = 0;
            for z in span(z, nz) {
                for y in span(y, ny) {
                    let row = (z * ny + y) * nx;
                    let run =
                        self.starts[row + xs.start] as usize..self.starts[row + xs.end] as usize;
                    // Copies LANES entries at once; the next copy overwrites the surplus.
                    for from in run.clone().step_by(LANES) {
                        for (column, array) in around.columns.iter_mut().zip(arrays) {
                            column[count..count + LANES]
                                .copy_from_slice(&array[from..from + LANES]);
                        }
                        count += LANES.min(run.end - from);
                    }
                }
            }
            around.count = count;
            visit(members, around);
        }
    }

    /// Sets origin, cell size and number of cells. Enlarges the cells until there are at most [`max_cells`].
    fn fit_cells(&mut self, cell_m: f32, low: Vec3, high: Vec3, count: usize) {
        let most = max_cells(count) as f32;
        let mut cell = cell_m.max(1e-3);
        loop {
            let dims = ((high - low) / cell).floor() + 1.0;
            if dims.x * dims.y * dims.z <= most {
                self.dims = [dims.x as usize, dims.y as usize, dims.z as usize];
                break;
            }
            cell *= 1.26;
        }
        self.origin_m = low;
        self.cells_per_m = 1.0 / cell;
    }

    fn cell(&self, at: Vec3) -> u32 {
        let in_cells = (at - self.origin_m) * self.cells_per_m;
        let [x, y, z] = [in_cells.x, in_cells.y, in_cells.z].map(|v| v.max(0.0) as usize);
        let [nx, ny, nz] = self.dims;
        ((z.min(nz - 1) * ny + y.min(ny - 1)) * nx + x.min(nx - 1)) as u32
    }
}

/// Returns the maximum number of cells for a number of agents. Limits memory and the time of a rebuild.
fn max_cells(count: usize) -> usize {
    4 * count + 64
}

#[cfg(test)]
mod tests {
    use super::super::random::{Random, RandomStream};
    use super::*;

    #[test]
    fn runs_contain_all_neighbors_that_a_full_search_finds() {
        for (cell, radius, spread) in [
            (1.0, 1.0, 4.0),
            (0.4, 1.0, 3.0),
            (2.0, 0.7, 5.0),
            (1e-3, 2.0, 1e6),
        ] {
            let position = |i: usize| {
                let draw = |n| {
                    Random { seed: 4, tick: 0 }.signed(i as u32, RandomStream::Place, n)
                        * spread
                        * [1.0, 0.2, 1.0][n as usize]
                };
                Vec3::new(draw(0), draw(1), draw(2))
            };
            let mut grid = NeighborGrid::default();
            grid.rebuild(cell, 300, position, |_| Vec3::X);
            for me in 0..300 {
                let mut found = Vec::new();
                grid.for_runs(position(me), radius, |run| {
                    for entry in run {
                        let at = Vec3::new(grid.x_m[entry], grid.y_m[entry], grid.z_m[entry]);
                        if at.distance(position(me)) <= radius {
                            found.push(grid.agents[entry] as usize);
                        }
                    }
                });
                found.sort_unstable();
                let all: Vec<usize> = (0..300)
                    .filter(|&i| position(i).distance(position(me)) <= radius)
                    .collect();
                assert_eq!(found, all);
            }
            assert!(
                grid.starts.len() < 2000,
                "too many cells: {}",
                grid.starts.len()
            );
        }
    }

    #[test]
    fn each_agent_is_visited_once_with_all_its_neighbors() {
        for (cell, radius) in [(1.01, 1.0), (0.4, 1.0), (3.0, 0.5)] {
            let position = |i: usize| {
                let draw =
                    |n| Random { seed: 5, tick: 0 }.signed(i as u32, RandomStream::Place, n) * 3.0;
                Vec3::new(draw(0), draw(1), draw(2))
            };
            let mut grid = NeighborGrid::default();
            grid.rebuild(cell, 200, position, |i| Vec3::splat(i as f32));
            let (mut around, mut visited) = (CellNeighbors::default(), Vec::new());
            grid.for_cells(radius, &mut around, |members, around| {
                let [x, y, z, forward, ..] = around.columns();
                for entry in members {
                    let me = grid.agents[entry] as usize;
                    visited.push(me);
                    let mut found: Vec<usize> = (0..x.len())
                        .filter(|&i| Vec3::new(x[i], y[i], z[i]).distance(position(me)) <= radius)
                        .map(|i| forward[i] as usize)
                        .collect();
                    found.sort_unstable();
                    let all = (0..200).filter(|&i| position(i).distance(position(me)) <= radius);
                    assert_eq!(found, all.collect::<Vec<_>>());
                }
            });
            visited.sort_unstable();
            assert_eq!(visited, (0..200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_empty_pool_has_no_neighbors() {
        let mut grid = NeighborGrid::default();
        grid.rebuild(1.0, 0, |_| Vec3::ZERO, |_| Vec3::X);
        grid.for_runs(Vec3::ZERO, 10.0, |_| panic!("a run in an empty grid"));
        let mut around = CellNeighbors::default();
        grid.for_cells(10.0, &mut around, |_, _| panic!("a cell in an empty grid"));
    }
}
