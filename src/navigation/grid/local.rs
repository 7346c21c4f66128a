//! A local grid around the start and the goal of a path: its position in the world, its cells, and lines of sight on
//! it.
//!
//! In: obstacles in meters, an area, a margin. Out: cells in which the center of an agent may be, and their connected
//! components. A cell is free if no point of the cell is inside a grown obstacle. A path through free cells therefore
//! touches no obstacle. **Source**: Dahlberg & Viktorsson 2002, §4.3 and §4.4.

use glam::{UVec2, Vec2};
use serde::{Deserialize, Serialize};

use super::map::{CALM, GridComponents, GridMap, SIDE_MAX};
use crate::navigation::costs::Prices;
use crate::navigation::footprint::{Footprint, Footprints};

/// An axis-aligned rectangle in floor meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorRect {
    /// Corner with the smallest x and z.
    pub low_m: Vec2,
    /// Corner with the largest x and z.
    pub high_m: Vec2,
}

impl FloorRect {
    /// Returns the bounding rectangle of two points, grown by `grow_m` on all sides.
    pub fn around(a: Vec2, b: Vec2, grow_m: f32) -> Self {
        Self {
            low_m: a.min(b) - grow_m,
            high_m: a.max(b) + grow_m,
        }
    }

    /// Whether a point is inside the rectangle or on its border.
    pub fn contains(&self, at: Vec2) -> bool {
        at.cmpge(self.low_m).all() && at.cmple(self.high_m).all()
    }

    /// Returns the intersection of two rectangles.
    pub fn common(&self, other: &Self) -> Self {
        Self {
            low_m: self.low_m.max(other.low_m),
            high_m: self.high_m.min(other.high_m),
        }
    }
}

/// A grid of free and blocked cells with its position in the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalGrid {
    area: FloorRect,
    cell_m: f32,
    map: GridMap,
    components: GridComponents,
    spans: Vec<(f32, f32)>,
    inset: Vec<Vec2>,
}

/// Inputs for the construction of a grid.
#[derive(Clone, Copy, Debug)]
pub struct GridInput<'a> {
    /// The obstacles, not grown.
    pub obstacles: &'a Footprints,
    /// Distance by which obstacles are grown. If it is negative, a path may enter obstacles up to this depth.
    pub grow_m: f32,
    /// Area in which an agent may be. All cells outside it are blocked.
    pub bounds: FloorRect,
}

/// Distance by which shapes are enlarged, so that rounding errors do not leave a touched cell free. In cells.
const ROUNDING: f32 = 1e-3;

impl LocalGrid {
    /// Replaces the grid with one that covers `area`, and blocks the cells of all obstacles. Reuses the allocated
    /// memory.
    pub fn build(&mut self, area: FloorRect, cell_m: f32, input: &GridInput<'_>) {
        self.area = area;
        self.cell_m = cell_m.max(1e-3);
        let cells = ((area.high_m - area.low_m) / self.cell_m)
            .ceil()
            .clamp(Vec2::ONE, Vec2::splat(SIDE_MAX as f32));
        let size = cells.as_uvec2();
        self.map.reset(size.x, size.y);
        self.spans.clear();
        self.spans
            .resize(size.y as usize, (f32::INFINITY, f32::NEG_INFINITY));
        self.block_outside(&input.bounds);
        for part in input.obstacles.iter() {
            self.draw(&part, input.grow_m);
        }
        self.components.label(&self.map);
    }

    /// Sets the price of every cell to the cost of a meter at its center.
    pub(super) fn set_prices(&mut self, prices: &Prices<'_>) {
        let (low_m, cell_m) = (self.area.low_m, self.cell_m);
        let price_at = |cell: UVec2| prices.at(low_m + (cell.as_vec2() + 0.5) * cell_m);
        let differ = !prices.are_uniform();
        self.map.set_prices(differ.then_some(price_at));
    }

    /// Returns the cost of the straight line between two points, by the prices of the cells.
    pub(super) fn line_cost(&self, from: Vec2, to: Vec2) -> f32 {
        let length_m = from.distance(to);
        if !self.map.has_prices() {
            return length_m;
        }
        let count = (length_m / self.cell_m).ceil().max(1.0);
        let price = |n: u32| {
            let cell = self.cell_at(from.lerp(to, (n as f32 + 0.5) / count));
            let index = cell.map(|cell| self.map.index_of(GridMap::cell(cell)));
            index.map_or(1.0, |index| self.map.price(index) as f32 / CALM as f32)
        };
        length_m * (0..count as u32).map(price).sum::<f32>() / count
    }

    /// The free and blocked cells.
    pub fn map(&self) -> &GridMap {
        &self.map
    }

    /// Connected components of the free cells.
    pub fn components(&self) -> &GridComponents {
        &self.components
    }

    /// Area that the grid covers.
    pub fn area(&self) -> FloorRect {
        self.area
    }

    /// Length of the side of a cell.
    pub fn cell_m(&self) -> f32 {
        self.cell_m
    }

    /// Returns the cell that contains a point, or `None` if the point is outside the grid.
    pub fn cell_at(&self, at: Vec2) -> Option<UVec2> {
        let cell = ((at - self.area.low_m) / self.cell_m).floor();
        let is_inside = cell.cmpge(Vec2::ZERO).all() && cell.cmplt(self.map.size().as_vec2()).all();
        is_inside.then(|| cell.as_uvec2())
    }

    /// Center of a cell.
    pub fn cell_center_m(&self, cell: UVec2) -> Vec2 {
        self.area.low_m + (cell.as_vec2() + 0.5) * self.cell_m
    }

    /// Whether the straight line between two points passes only through free cells.
    ///
    /// Traverses the cells along the line (Amanatides & Woo 1987). Where the line passes through a corner of a cell,
    /// both cells beside this corner must be free.
    pub fn has_line_of_sight(&self, from: Vec2, to: Vec2) -> bool {
        let a = (from - self.area.low_m) / self.cell_m;
        let b = (to - self.area.low_m) / self.cell_m;
        let free = |at: Vec2| at.cmpge(Vec2::ZERO).all() && self.map.is_free(at.as_uvec2());
        let (mut cell, last) = (a.floor(), b.floor());
        if !free(cell) || !free(last) {
            return false;
        }
        let way = b - a;
        let step = Vec2::new(1f32.copysign(way.x), 1f32.copysign(way.y));
        // Share of the whole line that crosses one cell (`each`), and that leads to the next cell border (`next`).
        let each = way.abs().recip();
        let border = Vec2::select(step.cmpgt(Vec2::ZERO), cell + 1.0 - a, a - cell);
        let mut next = (border * each).map(|t| if t.is_nan() { f32::INFINITY } else { t });
        let count = (last - cell).abs();
        for _ in 0..(count.x + count.y) as usize {
            // If the line crosses both borders within 0.001 cells, it counts as a line through the corner.
            if (next.x - next.y).abs() * way.length() < 1e-3 {
                let x_first = Vec2::new(cell.x + step.x, cell.y);
                let y_first = Vec2::new(cell.x, cell.y + step.y);
                if !free(x_first) || !free(y_first) {
                    return false;
                }
            }
            if next.x < next.y {
                cell.x += step.x;
                next.x += each.x;
            } else {
                cell.y += step.y;
                next.y += each.y;
            }
            if !free(cell) {
                return false;
            }
        }
        cell == last
    }

    fn block_outside(&mut self, bounds: &FloorRect) {
        let low = (bounds.low_m - self.area.low_m) / self.cell_m;
        let high = (bounds.high_m - self.area.low_m) / self.cell_m;
        let size = self.map.size();
        let from = low.ceil().max(Vec2::ZERO).as_uvec2().min(size);
        let to = high.floor().max(Vec2::ZERO).as_uvec2().min(size);
        for y in 0..size.y {
            if y < from.y || y >= to.y {
                self.map.fill_row(y, 0, size.x, false);
            } else {
                self.map.fill_row(y, 0, from.x, false);
                self.map.fill_row(y, to.x, size.x, false);
            }
        }
    }

    /// Blocks all cells that a grown shape touches.
    fn draw(&mut self, part: &Footprint<'_>, grow_m: f32) {
        let radius_m = part.radius_m + grow_m.max(-part.inset_limit_m());
        let mut inset = std::mem::take(&mut self.inset);
        let shape = if radius_m >= 0.0 {
            Footprint { radius_m, ..*part }
        } else {
            part.inset(-radius_m, &mut inset);
            Footprint {
                corners: &inset,
                radius_m: 0.0,
            }
        };
        if !shape.corners.is_empty() {
            let rows = self.mark_spans(&shape);
            self.block_spans(rows);
        }
        self.inset = inset;
    }

    /// Computes the extent of the shape along x for every row of cells, in cells. Returns the index of the first row
    /// and the index after the last row.
    fn mark_spans(&mut self, shape: &Footprint<'_>) -> (usize, usize) {
        let scale = 1.0 / self.cell_m;
        let radius = shape.radius_m * scale + ROUNDING;
        let origin = self.area.low_m;
        let height = self.spans.len();
        let row = |y: f32| (y.max(0.0) as usize).min(height);
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for corner in shape.corners {
            let y = (corner.y - origin.y) * scale;
            (low, high) = (low.min(y - radius), high.max(y + radius));
        }
        if high <= 0.0 || low >= height as f32 {
            return (0, 0);
        }
        let rows = (row(low), (row(high) + 1).min(height));
        for (a, b) in shape.edges() {
            let (a, b) = ((a - origin) * scale, (b - origin) * scale);
            self.mark_disc(a, radius);
            let out = -(b - a).perp().normalize_or_zero() * radius;
            self.mark_line(a + out, b + out);
        }
        rows
    }

    /// Extends the spans of the rows so that they cover a disc around a corner.
    fn mark_disc(&mut self, at: Vec2, radius: f32) {
        let height = self.spans.len();
        let first = (at.y - radius).max(0.0) as usize;
        let last = (at.y + radius).max(-1.0).floor();
        if last < 0.0 {
            return;
        }
        for row in first..(last as usize + 1).min(height) {
            let y = row as f32;
            let off = at.y - at.y.clamp(y, y + 1.0);
            let half = (radius * radius - off * off).max(0.0).sqrt();
            let span = &mut self.spans[row];
            *span = (span.0.min(at.x - half), span.1.max(at.x + half));
        }
    }

    /// Extends the spans of the rows so that they cover a line segment.
    fn mark_line(&mut self, a: Vec2, b: Vec2) {
        let (low, high) = if a.y <= b.y { (a, b) } else { (b, a) };
        if high.y < 0.0 {
            return;
        }
        let height = self.spans.len();
        let rise = high.y - low.y;
        let slope = if rise > 1e-6 {
            (high.x - low.x) / rise
        } else {
            0.0
        };
        let first = low.y.max(0.0) as usize;
        for row in first..(high.y as usize + 1).min(height) {
            let (from, to) = (low.y.max(row as f32), high.y.min(row as f32 + 1.0));
            let (mut p, mut q) = (low.x + (from - low.y) * slope, low.x + (to - low.y) * slope);
            if rise <= 1e-6 {
                (p, q) = (low.x, high.x);
            }
            let span = &mut self.spans[row];
            *span = (span.0.min(p).min(q), span.1.max(p).max(q));
        }
    }

    fn block_spans(&mut self, (first, end): (usize, usize)) {
        for row in first..end {
            let (from, to) = self.spans[row];
            let from = (from - ROUNDING).max(0.0) as u32;
            let to = if to < 0.0 {
                0
            } else {
                (to + ROUNDING) as u32 + 1
            };
            self.map.fill_row(row as u32, from, to, false);
        }
        self.spans[first..end].fill((f32::INFINITY, f32::NEG_INFINITY));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn input(obstacles: &Footprints, grow_m: f32) -> GridInput<'_> {
        GridInput {
            obstacles,
            grow_m,
            bounds: FloorRect::around(Vec2::ZERO, Vec2::ZERO, 100.0),
        }
    }

    fn shapes() -> impl Strategy<Value = Footprints> {
        let one = (
            -3.0f32..3.0,
            -3.0f32..3.0,
            0.02f32..1.0,
            0.02f32..1.0,
            0.0f32..6.3,
            0..3u8,
        );
        prop::collection::vec(one, 0..6).prop_map(|list| {
            let mut all = Footprints::default();
            for (x, y, a, b, turn, kind) in list {
                let (at, axis) = (Vec2::new(x, y), Vec2::from_angle(turn));
                match kind {
                    0 => all.push(&[at], a),
                    1 => all.push_box(at, Vec2::new(a, b), axis),
                    _ => all.push(&[at, at + axis * a], b * 0.3),
                }
            }
            all
        })
    }

    proptest! {
        #[test]
        fn no_point_of_a_free_cell_is_in_a_grown_obstacle(
            all in shapes(), grow in -0.1f32..0.3, u in 0.0f32..1.0, v in 0.0f32..1.0,
        ) {
            let mut grid = LocalGrid::default();
            let area = FloorRect::around(Vec2::ZERO, Vec2::ZERO, 3.0);
            grid.build(area, 0.1, &input(&all, grow));
            let size = grid.map().size();
            let mut far_blocked = 0;
            for y in 0..size.y {
                for x in 0..size.x {
                    let cell = UVec2::new(x, y);
                    let at = grid.cell_center_m(cell) + (Vec2::new(u, v) - 0.5) * grid.cell_m();
                    let gap = all.distance_m(at);
                    if grid.map().is_free(cell) {
                        prop_assert!(gap > grow - 1e-4, "{at} {gap}");
                    } else {
                        // A cell whose center is more than 0.75 cells away from all grown obstacles must be free.
                        far_blocked += usize::from(all.distance_m(grid.cell_center_m(cell)) > grow.max(0.0) + 0.1 * 0.75);
                    }
                }
            }
            prop_assert_eq!(far_blocked, 0);
        }

        #[test]
        fn a_line_of_sight_touches_no_obstacle(
            all in shapes(), grow in 0.0f32..0.2,
            ax in -3.0f32..3.0, ay in -3.0f32..3.0, bx in -3.0f32..3.0, by in -3.0f32..3.0,
        ) {
            let mut grid = LocalGrid::default();
            grid.build(FloorRect::around(Vec2::ZERO, Vec2::ZERO, 3.0), 0.1, &input(&all, grow));
            let (a, b) = (Vec2::new(ax, ay), Vec2::new(bx, by));
            if grid.has_line_of_sight(a, b) {
                prop_assert!(all.is_clear(a, b, grow - 1e-4));
            }
        }
    }

    #[test]
    fn line_of_sight_along_axes_and_across_corners() {
        let mut all = Footprints::default();
        all.push_box(Vec2::new(0.5, 0.5), Vec2::splat(0.45), Vec2::X);
        let mut grid = LocalGrid::default();
        grid.build(
            FloorRect::around(Vec2::ZERO, Vec2::ZERO, 3.0),
            1.0,
            &input(&all, 0.0),
        );
        assert!(grid.has_line_of_sight(Vec2::new(-2.5, -0.5), Vec2::new(2.5, -0.5)));
        assert!(grid.has_line_of_sight(Vec2::new(1.5, -2.5), Vec2::new(1.5, 2.5)));
        assert!(!grid.has_line_of_sight(Vec2::new(-2.5, 0.5), Vec2::new(2.5, 0.5)));
        assert!(
            !grid.has_line_of_sight(Vec2::new(-0.5, 1.5), Vec2::new(1.5, -0.5)),
            "across a corner"
        );
        // The line touches the blocked cell only at one corner. It is not free, because one of the two cells beside
        // this corner is blocked.
        assert!(!grid.has_line_of_sight(Vec2::new(-0.5, 0.5), Vec2::new(0.5, -0.5)));
        assert!(grid.has_line_of_sight(Vec2::new(-0.5, 0.5), Vec2::new(-0.5, -0.5)));
        assert!(grid.has_line_of_sight(Vec2::new(-0.5, 1.5), Vec2::new(-0.5, 1.5)));
        assert!(
            !grid.has_line_of_sight(Vec2::new(0.0, -9.0), Vec2::new(0.0, 2.0)),
            "from outside"
        );
    }
}
