//! The boolean grid: one bit a cell, and which cells hang together.
//!
//! In: cells set free or blocked. Out: neighborhoods, components. A blocked rim of one cell lies around the grid, so that
//! no search asks whether it leaves it. Must not: know meters.

use glam::UVec2;

/// A cell with the rim counted in: `y << 16 | x`, both from 1.
pub(crate) type Cell = u32;

/// Most cells along one side.
pub const SIDE_MAX: u32 = 16_384;

/// A grid of free and blocked cells, height × width, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GridMap {
    width: u32,
    height: u32,
    /// Words of 64 cells in a row, the rim included.
    words: u32,
    /// One bit a cell, set where it is free, rows below one another; one word more than needed.
    free: Vec<u64>,
}

impl GridMap {
    /// Makes the grid as large as asked, at most [`SIDE_MAX`] a side, every cell free. Keeps its memory.
    pub fn reset(&mut self, width: u32, height: u32) {
        self.width = width.min(SIDE_MAX);
        self.height = height.min(SIDE_MAX);
        self.words = (self.width + 2).div_ceil(64);
        self.free.clear();
        let words = self.words as usize;
        self.free.resize(words * (self.height as usize + 2) + 1, 0);
        for y in 0..self.height {
            self.fill_row(y, 0, self.width, true);
        }
    }

    /// Cells along x and y.
    pub fn size(&self) -> UVec2 {
        UVec2::new(self.width, self.height)
    }

    /// Number of places for nodes, the rim included.
    pub(crate) fn places(&self) -> usize {
        self.free.len() * 64
    }

    /// Places from a row to the next.
    pub(crate) fn stride(&self) -> u32 {
        self.words * 64
    }

    /// Place of a cell in an array of [`Self::places`].
    #[inline]
    pub(crate) fn place(&self, cell: Cell) -> usize {
        ((cell >> 16) * self.stride() + (cell & 0xffff)) as usize
    }

    /// The cell at x, y without the rim.
    #[inline]
    pub(crate) fn cell(at: UVec2) -> Cell {
        (at.y + 1) << 16 | (at.x + 1)
    }

    /// Where a cell is, without the rim.
    #[inline]
    pub(crate) fn at(cell: Cell) -> UVec2 {
        UVec2::new((cell & 0xffff) - 1, (cell >> 16) - 1)
    }

    /// Whether a cell lies at the border of the grid.
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
        let place = self.place(cell);
        self.free[place >> 6] >> (place & 63) & 1 == 1
    }

    /// Makes the cells `from..to` of a row free or blocked; what lies outside the grid is left out.
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

    /// The 3 × 3 cells around one: bit 0 at the lower x of the row before, bit 8 at the higher x of the row after.
    #[inline]
    pub(crate) fn neighborhood(&self, place: usize) -> usize {
        let stride = self.words as usize;
        let corner = place - 1;
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

    /// The runs of free cells of a row as (first, one past the last), the rim counted in.
    fn runs_of_row(&self, y: u32, mut take: impl FnMut(u16, u16)) {
        let row = ((y + 1) * self.words) as usize;
        let words = &self.free[row..row + self.words as usize];
        let mut start = None;
        for (place, &word) in words.iter().enumerate() {
            let base = place as u32 * 64;
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
        // The rim is blocked, so every run has ended.
    }
}

/// A row's piece of free cells.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    from: u16,
    to: u16,
    parent: u32,
    touches_border: bool,
}

/// Which free cells hang together: labeled runs of cells. Whether one cell can be reached from another is a look-up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Components {
    runs: Vec<Run>,
    /// Where each row's runs begin; one more than there are rows.
    rows: Vec<u32>,
}

impl Components {
    /// Labels a grid anew. With `diagonal` cells hang together over their corners too. Keeps its memory.
    pub fn label(&mut self, map: &GridMap, diagonal: bool) {
        self.runs.clear();
        self.rows.clear();
        self.rows.push(0);
        let reach = u16::from(diagonal);
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
                while above < before.end && self.runs[above].to + reach <= from {
                    above += 1;
                }
                let mut other = above;
                while other < before.end && self.runs[other].from < to + reach {
                    self.join(other, own);
                    other += 1;
                }
            }
            before = first..self.runs.len();
            self.rows.push(self.runs.len() as u32);
        }
        // A parent stands before its children, so one pass makes every run point at its root.
        for run in 0..self.runs.len() {
            let parent = self.runs[run].parent as usize;
            self.runs[run].parent = self.runs[parent].parent;
        }
    }

    /// The component of a cell; `None` where it is blocked.
    pub fn of(&self, at: UVec2) -> Option<u32> {
        let row = at.y as usize;
        let (first, end) = (*self.rows.get(row)?, *self.rows.get(row + 1)?);
        let runs = &self.runs[first as usize..end as usize];
        let x = at.x.checked_add(1)?;
        let place = runs.partition_point(|run| u32::from(run.to) <= x);
        let run = runs.get(place)?;
        (u32::from(run.from) <= x).then_some(run.parent)
    }

    /// Whether a component reaches the border of the grid, and may go on beyond it.
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

    /// A grid from rows of text, `#` blocked.
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
    fn a_ring_encloses_its_middle() {
        let map = drawn(&[".......", ".#####.", ".#...#.", ".#####.", "......."]);
        let mut parts = Components::default();
        parts.label(&map, false);
        let middle = parts.of(UVec2::new(3, 2)).unwrap();
        let outer = parts.of(UVec2::new(0, 0)).unwrap();
        assert_ne!(middle, outer);
        assert!(!parts.touches_border(middle) && parts.touches_border(outer));
        assert_eq!(parts.of(UVec2::new(1, 1)), None);
        assert_eq!(parts.of(UVec2::new(99, 1)), None);
        assert_eq!(parts.of(UVec2::new(6, 4)), Some(outer));
    }

    #[test]
    fn corners_join_only_where_diagonals_do() {
        let map = drawn(&["#.#", ".#.", "#.#"]);
        let mut parts = Components::default();
        parts.label(&map, false);
        assert_ne!(parts.of(UVec2::new(1, 0)), parts.of(UVec2::new(0, 1)));
        parts.label(&map, true);
        assert_eq!(parts.of(UVec2::new(1, 0)), parts.of(UVec2::new(1, 2)));
    }

    /// Components by flooding, the slow way.
    fn flooded(map: &GridMap, diagonal: bool) -> Vec<Option<usize>> {
        let size = map.size();
        let mut label = vec![None; (size.x * size.y) as usize];
        let place = |at: UVec2| (at.y * size.x + at.x) as usize;
        for seed in 0..label.len() {
            let at = UVec2::new(seed as u32 % size.x, seed as u32 / size.x);
            if label[seed].is_some() || !map.is_free(at) {
                continue;
            }
            let mut open = vec![at];
            label[seed] = Some(seed);
            while let Some(at) = open.pop() {
                for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                    let next = (at.as_ivec2() + glam::IVec2::new(dx, dy)).as_uvec2();
                    if (diagonal || dx == 0 || dy == 0)
                        && map.is_free(next)
                        && label[place(next)].is_none()
                    {
                        label[place(next)] = Some(seed);
                        open.push(next);
                    }
                }
            }
        }
        label
    }

    proptest! {
        #[test]
        fn components_are_those_of_flooding(
            width in 1u32..140, height in 1u32..9, seed: u64, diagonal: bool, share in 1u64..8,
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
            let mut parts = Components::default();
            parts.label(&map, diagonal);
            let truth = flooded(&map, diagonal);
            let mut names = std::collections::BTreeMap::new();
            for (place, flooded) in truth.iter().enumerate() {
                let at = UVec2::new(place as u32 % width, place as u32 / width);
                let ours = parts.of(at);
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
