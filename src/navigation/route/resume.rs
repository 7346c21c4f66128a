//! A way that was saved goes on: its grid is drawn, and its search done, once more.
//!
//! In: what was saved, the obstacles of then. Out: the route as it was, or what is wrong with it.

use glam::Vec2;

use super::{MARGINS, Phase, Route, Scratch, Waters};
use crate::navigation::grid::Search;

/// No place is farther off than this, in meters.
const FAR_M: f32 = 1e5;
/// No grid has more cells along a side than this; a call may ask for half of it.
const SIDE_CELLS: f32 = 4096.0 + 64.0;
/// No count is higher.
const COUNT: u64 = 1 << 60;

impl Route {
    /// Whether it can be what was saved; its numbers may have been damaged.
    pub(in crate::navigation) fn is_sound(&self, tick: u64) -> bool {
        let is_near = |at: Vec2| at.is_finite() && at.abs().max_element() <= FAR_M;
        let drawn = &self.drawn;
        let (size, cell_m) = (drawn.area.high_m - drawn.area.low_m, drawn.cell_m);
        let corners = [drawn.area, drawn.bounds].map(|area| (area.low_m, area.high_m));
        let has_grid = cell_m >= 0.01 && size.max_element() <= SIDE_CELLS * cell_m;
        let pairs = self.failed.iter();
        let numbers = [
            self.age_secs,
            self.nearest_m,
            self.stuck_secs,
            self.running.rules.weight,
            cell_m,
        ];
        let made = self.made_for.unwrap_or_default();
        numbers
            .iter()
            .chain(&[made.grow_m, made.low_y, made.high_y])
            .all(|n| n.is_finite())
            && pairs.clone().all(|pair| pair.left_secs.is_finite())
            && pairs
                .flat_map(|pair| [pair.start, pair.goal])
                .chain([self.start, self.goal])
                .chain(corners.into_iter().flat_map(|(low, high)| [low, high]))
                .chain(self.path.iter().copied())
                .all(is_near)
            && (self.made_for.is_none() || has_grid)
            && (self.phase != Phase::Searching || self.made_for.is_some())
            && (self.phase != Phase::Searching || self.search.is_some())
            && self.margin_step <= MARGINS.len()
            && self.border_cells <= SIDE_CELLS as u32
            && [self.called_tick, self.waits_since]
                .iter()
                .all(|&t| t <= tick)
            && [self.effort.expanded, self.effort.reopened, self.searches]
                .iter()
                .all(|&count| count < COUNT)
    }

    /// Draws its grid, and brings its search to where it was. A route that was made for other obstacles begins anew when it
    /// is called for, and needs neither.
    pub(in crate::navigation) fn resume(
        &mut self,
        search: Option<&mut Search>,
        waters: &Waters<'_>,
        scratch: &mut Scratch,
    ) {
        let Some(made) = self.made_for.filter(|m| m.revision == waters.revision) else {
            return;
        };
        let obstacles = &mut scratch.footprints;
        obstacles.clear();
        obstacles.push_solids(waters.solids, made.low_y, made.high_y);
        self.draw_grid(made.grow_m, obstacles);
        if let Some(search) = search.filter(|_| self.phase == Phase::Searching) {
            let (start, goal) = self.cells;
            search.begin(self.grid.map(), start, goal, self.running.rules);
            search.advance(self.grid.map(), &mut self.running.expanded.clone());
        }
    }
}
