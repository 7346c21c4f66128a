//! Continuation of a saved route: rebuilds its grid and repeats its search.
//!
//! In: a saved route, the obstacles at the time of saving. Out: the same route, or an error for damaged data.

use glam::Vec2;

use super::{Environment, MARGINS, Phase, Route, SIDE_CELLS, Scratch};
use crate::navigation::costs::Blockage;
use crate::navigation::grid::search::GridSearch;

/// Largest coordinate that a saved route may contain, in meters.
const FAR_M: f32 = 1e5;
/// Largest number of cells along a side of a saved grid: the distance between start and goal, and the margin on both sides.
const SIDE_CELLS_MAX: f32 = 2.0 * SIDE_CELLS as f32 + 64.0;
/// Upper limit for every count in a saved route.
const COUNT: u64 = 1 << 60;

impl Route {
    /// Whether the numbers are consistent. They may come from a damaged file.
    pub(in crate::navigation::grid) fn is_sound(&self, tick: u64) -> bool {
        let is_near = |at: Vec2| at.is_finite() && at.abs().max_element() <= FAR_M;
        let grid_spec = &self.grid_spec;
        let (size, cell_m) = (
            grid_spec.area.high_m - grid_spec.area.low_m,
            grid_spec.cell_m,
        );
        let corners = [grid_spec.area, grid_spec.bounds].map(|area| (area.low_m, area.high_m));
        let has_grid = cell_m >= 0.01 && size.max_element() <= SIDE_CELLS_MAX * cell_m;
        let pairs = self.failed.iter();
        let numbers = [
            self.age_secs,
            self.path_price,
            self.running.outlook.caution,
            self.running.rules.weight,
            cell_m,
        ];
        let key = self.grid_key.unwrap_or_default();
        numbers
            .iter()
            .chain(&[key.grow_m, key.low_y, key.high_y])
            .all(|n| n.is_finite())
            && pairs.clone().all(|pair| pair.left_secs.is_finite())
            && pairs
                .flat_map(|pair| [pair.start, pair.goal])
                .chain([self.start, self.goal])
                .chain(corners.into_iter().flat_map(|(low, high)| [low, high]))
                .chain(self.path.iter().copied())
                .all(is_near)
            && self.progress.is_sound()
            && self.running.costs.is_sound()
            && [self.blockage, self.running.outlook.blockage]
                .iter()
                .flatten()
                .all(Blockage::is_sound)
            && (self.grid_key.is_none() || has_grid)
            && (self.phase != Phase::Searching || self.grid_key.is_some())
            && self.margin_step <= MARGINS.len()
            && self.border_cells <= SIDE_CELLS
            && [self.requested_tick, self.waiting_since_tick]
                .iter()
                .all(|&t| t <= tick)
            && [self.effort.expanded, self.effort.reopened, self.searches]
                .iter()
                .all(|&count| count < COUNT)
    }

    /// Rebuilds the grid and repeats the search. If the obstacles have changed since the route was saved, neither is
    /// necessary: the route starts again at its next request.
    pub(in crate::navigation::grid) fn resume(
        &mut self,
        search: &mut GridSearch,
        environment: &Environment<'_>,
        scratch: &mut Scratch,
    ) {
        let Some(key) = self.grid_key.filter(|m| m.revision == environment.revision) else {
            return;
        };
        let obstacles = &mut scratch.footprints;
        obstacles.clear();
        obstacles.push_solids(environment.solids, key.low_y, key.high_y);
        self.build_grid(key.grow_m, obstacles);
        self.price_grid();
        if self.is_running() {
            let (start, goal) = self.cells;
            search.begin(self.grid.map(), start, goal, self.running.rules);
            search.advance(self.grid.map(), &mut self.running.expanded.clone());
        }
    }
}
