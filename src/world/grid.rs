//! The neighbor index: a uniform grid filled by counting sort into contiguous arrays.
//!
//! Cells are stored with x running fastest, so the cells within a radius are a few contiguous runs, one per row. Rebuilt
//! from scratch in every step, which is faster than keeping it up to date. Finds candidates only: whoever asks measures.

use std::ops::Range;

use glam::Vec3;

/// How many places are looked at side by side.
const LANES: usize = 8;

/// For every set of lanes, as bits, those lanes in order; what follows them means nothing.
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

/// Entries that a query has found; used again for the next.
#[derive(Clone, Debug, Default)]
pub struct GridHits {
    slots: Vec<u32>,
    count: usize,
}

impl GridHits {
    /// The slots found, in the order of the index.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots[..self.count].iter().map(|&slot| slot as usize)
    }

    /// Makes room for so many, so that no query has to.
    pub fn make_room_for(&mut self, count: usize) {
        self.slots.resize(self.slots.len().max(count + LANES), 0);
    }
}

/// Whoever may be near the members of a cell, copied side by side; used again for the next cell.
#[derive(Clone, Debug, Default)]
pub struct CellNeighbors {
    count: usize,
    /// Positions x, y, z and directions x, y, z.
    columns: [Vec<f32>; 6],
}

impl CellNeighbors {
    /// Positions x, y, z in meters and directions x, y, z, in the order of the index.
    pub fn columns(&self) -> [&[f32]; 6] {
        self.columns.each_ref().map(|column| &column[..self.count])
    }
}

/// The index over one set of positions.
#[derive(Clone, Debug, Default)]
pub struct NeighborGrid {
    origin_m: Vec3,
    per_m: f32,
    dims: [usize; 3],
    starts: Vec<u32>,
    cells: Vec<u32>,
    /// Index of the agent in each slot, cell by cell.
    pub agents: Vec<u32>,
    /// x of the agent in each slot.
    pub x_m: Vec<f32>,
    /// y of the agent in each slot.
    pub y_m: Vec<f32>,
    /// z of the agent in each slot.
    pub z_m: Vec<f32>,
    /// The same order for the directions, where they were given: x.
    pub forward_x: Vec<f32>,
    /// Directions: y.
    pub forward_y: Vec<f32>,
    /// Directions: z.
    pub forward_z: Vec<f32>,
}

impl NeighborGrid {
    /// Sorts positions and directions into cells of `cell_m`. Cells are made larger where they would outnumber the agents
    /// too far, so memory stays bounded whatever the positions are. All positions must be finite.
    pub fn rebuild(
        &mut self,
        cell_m: f32,
        count: usize,
        place: impl Fn(usize) -> Vec3,
        forward: impl Fn(usize) -> Vec3,
    ) {
        let (mut low, mut high) = (Vec3::splat(f32::MAX), Vec3::splat(f32::MIN));
        for agent in 0..count {
            let at = place(agent);
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
            let cell = self.cell(place(agent));
            self.cells.push(cell);
            self.starts[cell as usize + 1] += 1;
        }
        for cell in 0..cell_count {
            self.starts[cell + 1] += self.starts[cell];
        }
        self.agents.resize(count, 0);
        for array in [
            &mut self.x_m,
            &mut self.y_m,
            &mut self.z_m,
            &mut self.forward_x,
            &mut self.forward_y,
            &mut self.forward_z,
        ] {
            // Whoever reads eight at a time may read beyond the last.
            array.resize(count + LANES, 0.0);
        }
        // One place on, each entry holds its cell's start; filling moves it to the cell's end, which is the next one's start.
        for cell in (1..=cell_count).rev() {
            self.starts[cell] = self.starts[cell - 1];
        }
        for agent in 0..count {
            let next = &mut self.starts[self.cells[agent] as usize + 1];
            let slot = *next as usize;
            *next += 1;
            let (at, ahead) = (place(agent), forward(agent));
            self.agents[slot] = agent as u32;
            self.x_m[slot] = at.x;
            self.y_m[slot] = at.y;
            self.z_m[slot] = at.z;
            self.forward_x[slot] = ahead.x;
            self.forward_y[slot] = ahead.y;
            self.forward_z[slot] = ahead.z;
        }
    }

    /// Calls `visit` with each run of slots that may hold an agent within `radius_m` of a place, in a fixed order.
    #[inline]
    pub fn for_runs(&self, at: Vec3, radius_m: f32, mut visit: impl FnMut(Range<usize>)) {
        let low = (at - radius_m - self.origin_m) * self.per_m;
        let high = (at + radius_m - self.origin_m) * self.per_m;
        let span = |low: f32, high: f32, cells: usize| {
            // Casts saturate: what lies before the first cell becomes 0.
            let cell = |at: f32| (at as i32).max(0) as usize;
            cell(low).min(cells)..cell(high).min(cells - 1) + 1
        };
        if high.cmplt(Vec3::ZERO).any() || self.agents.is_empty() {
            return;
        }
        // How far a row of cells lies from the place along one axis, with a little room for rounding.
        let cell_m = 1.0 / self.per_m;
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
                let from = (middle - half) * self.per_m;
                let xs = span(from, (middle + half) * self.per_m, self.dims[0]);
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

    /// Finds the slots of all within a radius of a place, oneself included, in a fixed order.
    #[inline]
    pub fn within(&self, at: Vec3, radius_m: f32, found: &mut GridHits) {
        let radius_sq = radius_m * radius_m;
        let mut count = 0;
        let (xs, ys, zs) = (&self.x_m[..], &self.y_m[..], &self.z_m[..]);
        self.for_runs(at, radius_m, |run| {
            if found.slots.len() < count + run.len() + LANES {
                found.slots.resize((count + run.len() + LANES) * 2, 0);
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
                // What lies beyond the run's end is no hit.
                hits &= 0xff >> LANES.saturating_sub(run.end - start);
                let lanes = &HIT_LANES[hits & 0xff];
                if let Some(to) = found.slots.get_mut(count..count + LANES) {
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

    /// Calls `visit` for every cell in which somebody is, in a fixed order, with the slots of its members and everybody who
    /// may be within `radius_m` of one of them, the members included. Where all want to know their neighbors this costs less
    /// than a query each; best with cells a little larger than the radius.
    pub fn for_cells(
        &self,
        radius_m: f32,
        around: &mut CellNeighbors,
        mut visit: impl FnMut(Range<usize>, &CellNeighbors),
    ) {
        // Rounding must not shut out a cell.
        let reach = (radius_m * self.per_m + 1e-4).ceil().max(0.0) as usize;
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
                    // Eight at a time: a few too many are written over by the next.
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

    fn fit_cells(&mut self, cell_m: f32, low: Vec3, high: Vec3, count: usize) {
        let most = (4 * count + 64) as f32;
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
        self.per_m = 1.0 / cell;
    }

    fn cell(&self, at: Vec3) -> u32 {
        let place = (at - self.origin_m) * self.per_m;
        let [x, y, z] = [place.x, place.y, place.z].map(|v| v.max(0.0) as usize);
        let [nx, ny, nz] = self.dims;
        ((z.min(nz - 1) * ny + y.min(ny - 1)) * nx + x.min(nx - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::{Random, RandomStream};
    use super::*;

    #[test]
    fn finds_everybody_that_a_full_search_finds() {
        for (cell, radius, spread) in [
            (1.0, 1.0, 4.0),
            (0.4, 1.0, 3.0),
            (2.0, 0.7, 5.0),
            (1e-3, 2.0, 1e6),
        ] {
            let place = |i: usize| {
                let draw = |n| {
                    Random { seed: 4, tick: 0 }.signed(i as u32, RandomStream::Place, n)
                        * spread
                        * [1.0, 0.2, 1.0][n as usize]
                };
                Vec3::new(draw(0), draw(1), draw(2))
            };
            let mut grid = NeighborGrid::default();
            grid.rebuild(cell, 300, place, |_| Vec3::X);
            for me in 0..300 {
                let mut found = Vec::new();
                grid.for_runs(place(me), radius, |run| {
                    for slot in run {
                        let at = Vec3::new(grid.x_m[slot], grid.y_m[slot], grid.z_m[slot]);
                        if at.distance(place(me)) <= radius {
                            found.push(grid.agents[slot] as usize);
                        }
                    }
                });
                found.sort_unstable();
                let all: Vec<usize> = (0..300)
                    .filter(|&i| place(i).distance(place(me)) <= radius)
                    .collect();
                assert_eq!(found, all);
            }
            assert!(
                grid.starts.len() < 2000,
                "memory is bounded: {}",
                grid.starts.len()
            );
        }
    }

    #[test]
    fn cells_visit_everybody_once_with_all_who_are_near() {
        for (cell, radius) in [(1.01, 1.0), (0.4, 1.0), (3.0, 0.5)] {
            let place = |i: usize| {
                let draw =
                    |n| Random { seed: 5, tick: 0 }.signed(i as u32, RandomStream::Place, n) * 3.0;
                Vec3::new(draw(0), draw(1), draw(2))
            };
            let mut grid = NeighborGrid::default();
            grid.rebuild(cell, 200, place, |i| Vec3::splat(i as f32));
            let (mut around, mut visited) = (CellNeighbors::default(), Vec::new());
            grid.for_cells(radius, &mut around, |members, around| {
                let [x, y, z, forward, ..] = around.columns();
                for slot in members {
                    let me = grid.agents[slot] as usize;
                    visited.push(me);
                    let mut found: Vec<usize> = (0..x.len())
                        .filter(|&i| Vec3::new(x[i], y[i], z[i]).distance(place(me)) <= radius)
                        .map(|i| forward[i] as usize)
                        .collect();
                    found.sort_unstable();
                    let all = (0..200).filter(|&i| place(i).distance(place(me)) <= radius);
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
        grid.for_runs(Vec3::ZERO, 10.0, |_| panic!("nobody is there"));
        let mut around = CellNeighbors::default();
        grid.for_cells(10.0, &mut around, |_, _| panic!("nobody is there"));
    }
}
