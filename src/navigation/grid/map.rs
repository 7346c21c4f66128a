//! A grid of free and blocked cells, one bit each, and its connected components.
//!
//! In: free and blocked cells. Out: neighborhoods, components. A rim (one ring of blocked cells) surrounds the grid, so
//! that a search need not test whether a step leaves the grid. Must not: know meters.

use glam::UVec2;

/// Coordinates of a cell, rim included: `y << 16 | x`, both counted from 1.
pub(crate) type Cell = u32;

/// Largest number of cells along one side, so that both coordinates fit into a [`Cell`].
pub(super) const SIDE_MAX: u32 = 16_384;

/// A grid of free and blocked cells, height × width, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridMap {
    width: u32,
    height: u32,
    /// Number of 64-bit words per row, rim included.
    words: u32,
    /// One bit per cell in row-major order, set if the cell is free. One extra word at the end allows reads that extend
    /// into the next word.
    free: Vec<u64>,
    /// Cost of a step into each cell, in shares of [`CALM`] of a step in calm water; rim included. Empty: all are `CALM`.
    prices: Vec<u8>,
}

/// Price of a cell of calm water.
pub(crate) const CALM: u32 = 16;

/// Number of words that a map reserves: those of the largest grid around an agent, of 256 cells per side. Otherwise the first
/// search that needs a larger grid than all before would allocate, minutes after the start.
const RESERVED_WORDS: usize = 5 * 258 + 1;

impl GridMap {
    /// Changes the size of the grid, to at most `SIDE_MAX` cells per side, and makes every cell free. Reuses the
    /// allocated memory.
    pub fn reset(&mut self, width: u32, height: u32) {
        self.width = width.min(SIDE_MAX);
        self.height = height.min(SIDE_MAX);
        self.words = (self.width + 2).div_ceil(64);
        self.prices.clear();
        self.prices.reserve(64 * RESERVED_WORDS);
        self.free.clear();
        self.free.reserve(RESERVED_WORDS);
        let words = self.words as usize;
        self.free.resize(words * (self.height as usize + 2) + 1, 0);
        for y in 0..self.height {
            self.fill_row(y, 0, self.width, true);
        }
    }

    /// Sets the price of every cell: its cost relative to calm water, which is at least 1/16 and at most 15. `None`: all are 1.
    pub fn set_prices(&mut self, price_at: Option<impl Fn(UVec2) -> f32>) {
        self.prices.clear();
        let Some(price_at) = price_at else {
            return;
        };
        self.prices.resize(self.index_count(), CALM as u8);
        for y in 0..self.height {
            for x in 0..self.width {
                let at = UVec2::new(x, y);
                let price = (price_at(at) * CALM as f32).clamp(1.0, 255.0);
                let index = self.index_of(Self::cell(at));
                self.prices[index] = price as u8;
            }
        }
    }

    /// Whether cells differ in their price.
    #[inline]
    pub(crate) fn has_prices(&self) -> bool {
        !self.prices.is_empty()
    }

    /// Price of the cell at an index; only with [`Self::has_prices`].
    #[inline]
    pub(crate) fn price(&self, index: usize) -> u32 {
        u32::from(self.prices[index])
    }

    /// Number of cells along x and y.
    pub fn size(&self) -> UVec2 {
        UVec2::new(self.width, self.height)
    }

    /// Length of an array with one entry per cell, rim included.
    pub(crate) fn index_count(&self) -> usize {
        self.free.len() * 64
    }

    /// Distance between two rows in an array with one entry per cell, rim included.
    pub(crate) fn stride(&self) -> u32 {
        self.words * 64
    }

    /// Index of a cell in an array with one entry per cell, rim included.
    #[inline]
    pub(crate) fn index_of(&self, cell: Cell) -> usize {
        ((cell >> 16) * self.stride() + (cell & 0xffff)) as usize
    }

    /// The cell at x, y, both counted from 0 without the rim.
    #[inline]
    pub(crate) fn cell(at: UVec2) -> Cell {
        (at.y + 1) << 16 | (at.x + 1)
    }

    /// Position of a cell, counted from 0 without the rim.
    #[inline]
    pub(crate) fn at(cell: Cell) -> UVec2 {
        UVec2::new((cell & 0xffff) - 1, (cell >> 16) - 1)
    }

    /// Whether a cell is at the border of the grid.
    #[inline]
    pub(crate) fn is_border(&self, cell: Cell) -> bool {
        let (x, y) = (cell & 0xffff, cell >> 16);
        x == 1 || y == 1 || x == self.width || y == self.height
    }

    /// Whether a cell is free; false outside the grid.
    #[inline]
    pub fn is_free(&self, at: UVec2) -> bool {
        at.x < self.width && at.y < self.height && self.is_free_cell(Self::cell(at))
    }

    #[inline]
    pub(crate) fn is_free_cell(&self, cell: Cell) -> bool {
        let index = self.index_of(cell);
        self.free[index >> 6] >> (index & 63) & 1 == 1
    }

    /// Makes the cells `from..to` of a row free or blocked. Ignores cells outside the grid.
    pub fn fill_row(&mut self, y: u32, from: u32, to: u32, is_free: bool) {
        let to = to.min(self.width);
        if y >= self.height || from >= to {
            return;
        }
        let row = (y + 1) * self.words;
        let (first, last) = (from + 1, to);
        for word in first / 64..=last / 64 {
            let low = first.max(word * 64) - word * 64;
            let high = last.min(word * 64 + 63) - word * 64;
            let mask = (!0u64 << low) & (!0u64 >> (63 - high));
            let bits = &mut self.free[(row + word) as usize];
            *bits = if is_free { *bits | mask } else { *bits & !mask };
        }
    }

    /// Returns the 3 × 3 cells around a cell as bits. Bit 0 is the cell at x − 1 in the previous row; bit 8 is the cell
    /// at x + 1 in the next row.
    #[inline]
    pub(crate) fn neighborhood(&self, index: usize) -> usize {
        let stride = self.words as usize;
        let corner = index - 1;
        let (word, shift) = (corner >> 6, corner & 63);
        let three = |word: usize| -> u64 {
            let low = self.free[word] >> shift;
            if shift > 61 {
                low | self.free[word + 1] << (64 - shift)
            } else {
                low
            }
        };
        let before = three(word - stride) & 7;
        let own = three(word) & 7;
        let after = three(word + stride) & 7;
        (before | own << 3 | after << 6) as usize
    }

    /// Calls `take` for every run of consecutive free cells in a row. The arguments are the x of the first cell and the
    /// x after the last cell, both counted with the rim.
    fn runs_of_row(&self, y: u32, mut take: impl FnMut(u16, u16)) {
        let row = ((y + 1) * self.words) as usize;
        let words = &self.free[row..row + self.words as usize];
        let mut start = None;
        for (index, &word) in words.iter().enumerate() {
            let base = index as u32 * 64;
            let mut at = 0;
            while at < 64 {
                let rest = word >> at;
                match start {
                    None if rest == 0 => break,
                    None => {
                        at += rest.trailing_zeros();
                        start = Some(base + at);
                    }
                    Some(from) => {
                        at += rest.trailing_ones();
                        if at < 64 {
                            take(from as u16, (base + at) as u16);
                            start = None;
                        }
                    }
                }
            }
        }
        // The rim is blocked, so every run has ended here.
    }
}

/// A run of consecutive free cells in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    from: u16,
    to: u16,
    parent: u32,
    touches_border: bool,
}

/// Connected components of free cells, stored as labeled runs. Two cells with the same component can be reached from
/// each other. Cells that touch only at a corner are not connected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridComponents {
    runs: Vec<Run>,
    /// Index of the first run of each row; the last entry is the number of runs.
    rows: Vec<u32>,
}

impl GridComponents {
    /// Finds the components of a grid. Reuses the allocated memory.
    pub fn label(&mut self, map: &GridMap) {
        self.runs.clear();
        self.rows.clear();
        self.rows.push(0);
        let mut before = 0..0usize;
        for y in 0..map.height {
            let first = self.runs.len();
            let runs = &mut self.runs;
            let is_outer = y == 0 || y + 1 == map.height;
            map.runs_of_row(y, |from, to| {
                runs.push(Run {
                    from,
                    to,
                    parent: runs.len() as u32,
                    touches_border: is_outer || from == 1 || u32::from(to) == map.width + 1,
                });
            });
            let mut above = before.start;
            for own in first..self.runs.len() {
                let Run { from, to, .. } = self.runs[own];
                while above < before.end && self.runs[above].to <= from {
                    above += 1;
                }
                let mut other = above;
                while other < before.end && self.runs[other].from < to {
                    self.join(other, own);
                    other += 1;
                }
            }
            before = first..self.runs.len();
            self.rows.push(self.runs.len() as u32);
        }
        // A parent always has a lower index than its children, so one pass sets the parent of every run to the root of
        // its component.
        for run in 0..self.runs.len() {
            let parent = self.runs[run].parent as usize;
            self.runs[run].parent = self.runs[parent].parent;
        }
    }

    /// Returns the component of a cell, or `None` if the cell is blocked or outside the grid.
    pub fn component_of(&self, at: UVec2) -> Option<u32> {
        let row = at.y as usize;
        let (first, end) = (*self.rows.get(row)?, *self.rows.get(row + 1)?);
        let runs = &self.runs[first as usize..end as usize];
        let x = at.x.checked_add(1)?;
        let index = runs.partition_point(|run| u32::from(run.to) <= x);
        let run = runs.get(index)?;
        (u32::from(run.from) <= x).then_some(run.parent)
    }

    /// Whether a component reaches the border of the grid. It may then continue outside the grid.
    pub fn touches_border(&self, component: u32) -> bool {
        self.runs
            .get(component as usize)
            .is_some_and(|run| run.touches_border)
    }

    fn root(&mut self, mut run: usize) -> usize {
        while self.runs[run].parent as usize != run {
            let parent = self.runs[run].parent as usize;
            self.runs[run].parent = self.runs[parent].parent;
            run = parent;
        }
        run
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.runs[high].parent = low as u32;
        self.runs[low].touches_border |= self.runs[high].touches_border;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Creates a grid from rows of text, in which `#` is a blocked cell.
    pub(crate) fn drawn(rows: &[&str]) -> GridMap {
        let mut map = GridMap::default();
        map.reset(rows[0].len() as u32, rows.len() as u32);
        for (y, row) in rows.iter().enumerate() {
            for (x, c) in row.bytes().enumerate() {
                map.fill_row(y as u32, x as u32, x as u32 + 1, c != b'#');
            }
        }
        map
    }

    #[test]
    fn a_ring_encloses_its_center() {
        let map = drawn(&[".......", ".#####.", ".#...#.", ".#####.", "......."]);
        let mut components = GridComponents::default();
        components.label(&map);
        let middle = components.component_of(UVec2::new(3, 2)).unwrap();
        let outer = components.component_of(UVec2::new(0, 0)).unwrap();
        assert_ne!(middle, outer);
        assert!(!components.touches_border(middle) && components.touches_border(outer));
        assert_eq!(components.component_of(UVec2::new(1, 1)), None);
        assert_eq!(components.component_of(UVec2::new(99, 1)), None);
        assert_eq!(components.component_of(UVec2::new(6, 4)), Some(outer));
    }

    #[test]
    fn corners_do_not_connect() {
        let map = drawn(&["#.#", ".#.", "#.#"]);
        let mut components = GridComponents::default();
        components.label(&map);
        assert_ne!(
            components.component_of(UVec2::new(1, 0)),
            components.component_of(UVec2::new(0, 1))
        );
    }

    /// Computes the components by flood fill, as a reference for the test.
    fn flooded(map: &GridMap) -> Vec<Option<usize>> {
        let size = map.size();
        let mut label = vec![None; (size.x * size.y) as usize];
        let index_of = |at: UVec2| (at.y * size.x + at.x) as usize;
        for seed in 0..label.len() {
            let at = UVec2::new(seed as u32 % size.x, seed as u32 / size.x);
            if label[seed].is_some() || !map.is_free(at) {
                continue;
            }
            let mut open = vec![at];
            label[seed] = Some(seed);
            while let Some(at) = open.pop() {
                for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                    let next = (at.as_ivec2() + glam::IVec2::new(dx, dy)).as_uvec2();
                    if map.is_free(next) && label[index_of(next)].is_none() {
                        label[index_of(next)] = Some(seed);
                        open.push(next);
                    }
                }
            }
        }
        label
    }

    proptest! {
        #[test]
        fn components_equal_those_of_flood_fill(
            width in 1u32..140, height in 1u32..9, seed: u64, share in 1u64..8,
        ) {
            let mut map = GridMap::default();
            map.reset(width, height);
            let mut state = seed | 1;
            for y in 0..height {
                for x in 0..width {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    map.fill_row(y, x, x + 1, (state >> 33) % 8 < share);
                }
            }
            let mut components = GridComponents::default();
            components.label(&map);
            let truth = flooded(&map);
            let mut names = std::collections::BTreeMap::new();
            for (index, flooded) in truth.iter().enumerate() {
                let at = UVec2::new(index as u32 % width, index as u32 / width);
                let ours = components.component_of(at);
                prop_assert_eq!(ours.is_some(), flooded.is_some());
                if let (Some(ours), Some(flooded)) = (ours, flooded) {
                    prop_assert_eq!(*names.entry(*flooded).or_insert(ours), ours);
                }
            }
            let mut distinct: Vec<_> = names.values().collect();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), names.len());
        }
    }
}
