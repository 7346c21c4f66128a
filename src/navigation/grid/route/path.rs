//! Construction of paths from cells, and progress of an agent along its path.
//!
//! In: a finished search or a quick path. Out: corners in floor meters. **Source**: Dahlberg & Viktorsson 2002, §4.5.

use glam::Vec2;

use super::{BORDER_CELLS, Environment, Phase, Route, Scratch};
use crate::navigation::costs::Blockage;
use crate::navigation::grid::query::{GridQuery, flat};
use crate::navigation::grid::search::{GridSearch, quick_path};

/// Length of the quick path that an agent follows while its search runs, in cells.
const QUICK_CELLS: usize = 8;
/// Cells and corners of a path for which memory is reserved: more than a path in the surroundings of an agent has, so that a longer path
/// than all before allocates nothing.
const RESERVED_CELLS: usize = 1024;

impl Route {
    /// Straightens the path of a finished search and makes it the path of the route.
    pub(super) fn adopt(&mut self, search: &GridSearch, scratch: &mut Scratch) {
        scratch.cells.clear();
        scratch.cells.reserve(RESERVED_CELLS);
        search.path(self.grid.map(), &mut scratch.cells);
        self.build_path(Some(self.goal), scratch);
        self.next = 0;
        self.margin_step = self.margin_step.saturating_sub(1);
        self.border_cells = self.border_cells.min(BORDER_CELLS);
        self.phase = Phase::Following;
    }

    /// Makes a quick path the path of the route until the search has finished.
    pub(super) fn start_quick_path(&mut self, scratch: &mut Scratch) {
        quick_path(self.grid.map(), self.cells, QUICK_CELLS, &mut scratch.cells);
        self.build_path(None, scratch);
        self.next = 0;
    }

    /// Converts `scratch.cells` into a path with as few corners as lines of sight allow. The path begins at the start
    /// of the search. If `goal` is given, the path ends there.
    fn build_path(&mut self, goal: Option<Vec2>, scratch: &mut Scratch) {
        let points = &mut scratch.points;
        points.clear();
        points.reserve(RESERVED_CELLS + 2);
        let is_free = |at: Vec2| {
            self.grid
                .cell_at(at)
                .is_some_and(|c| self.grid.map().is_free(c))
        };
        // If the start is in a blocked cell, the path first leads to the free cell that replaces it.
        points.push(self.start);
        points.extend(
            scratch
                .cells
                .iter()
                .map(|&cell| self.grid.cell_center_m(cell)),
        );
        if is_free(self.start) && points.len() > 1 {
            // The center of the cell that contains the start would be a detour.
            points.remove(1);
        }
        if let Some(goal) = goal {
            if is_free(goal) && points.len() > 1 {
                points.pop();
            }
            points.push(goal);
        }
        self.path.clear();
        self.path.reserve(RESERVED_CELLS / 8);
        let mut from = 0;
        while from + 1 < points.len() {
            let mut to = from + 1;
            let mut cost = self.grid.line_cost(points[from], points[to]);
            while to + 1 < points.len() && self.grid.has_line_of_sight(points[from], points[to + 1])
            {
                // A straight line through dear water does not replace a way around it.
                cost += self.grid.line_cost(points[to], points[to + 1]);
                if self.grid.line_cost(points[from], points[to + 1]) > cost {
                    break;
                }
                to += 1;
            }
            self.path.push(points[to]);
            from = to;
        }
    }

    /// Advances to the next corner when the agent reaches the current corner or sees the next one. Returns true if the agent is
    /// stuck; what is before it then counts as blocked.
    pub(super) fn follow(&mut self, query: &GridQuery, environment: &Environment<'_>) -> bool {
        let at = flat(query.at_m);
        let reach_m = (1.5 * self.grid.cell_m()).max(0.5 * query.radius_m);
        while let Some(&target) = self.path.get(self.next) {
            let is_last = self.next + 1 == self.path.len();
            let is_there = at.distance(target) <= reach_m;
            let sees_next = self.path.get(self.next + 1).is_some_and(|&after| {
                let (way, direct) = (
                    self.grid.line_cost(at, target) + self.grid.line_cost(target, after),
                    self.grid.line_cost(at, after),
                );
                direct <= way && self.grid.has_line_of_sight(at, after)
            });
            if !sees_next && !(is_there && (!is_last || self.is_partial)) {
                break;
            }
            self.next += 1;
        }
        let Some(&target) = self.path.get(self.next) else {
            return false;
        };
        let is_stuck = self
            .progress
            .is_stuck(at, target, query.radius_m, environment.dt_secs);
        if is_stuck {
            self.blockage = Some(Blockage::ahead(at, target, query.radius_m));
        }
        is_stuck
    }
}
