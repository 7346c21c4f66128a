//! From cells to a path of few corners, and along it.
//!
//! In: a search that has found its goal, or a quick path. Out: corners in floor meters. **Source**: 001 section 4.5.

use glam::Vec2;

use super::{MARGINS, Phase, Route, Scratch};
use crate::navigation::grid::{Search, quick_path};
use crate::navigation::trip::{Call, Status, flat};

impl Route {
    /// Takes the found path over: straightened, from where the swimmer is by now.
    pub(super) fn adopt(&mut self, call: &Call, search: &Search, scratch: &mut Scratch) {
        search.path(self.grid.map(), &mut scratch.cells);
        self.draw_path(Some(self.goal), scratch);
        self.next = 0;
        self.grazes = self.margin_step >= MARGINS.len();
        self.margin_step = self.margin_step.saturating_sub(1);
        self.border_cells = self.border_cells.min(call.params.border_cells.max(20));
        self.phase = Phase::Following;
        self.status = Status::Found;
        self.nearest_m = f32::MAX;
        self.stuck_secs = 0.0;
    }

    /// A quick path, to start on.
    pub(super) fn set_out(&mut self, call: &Call, scratch: &mut Scratch) {
        let steps = call.params.quick_cells as usize;
        quick_path(
            self.grid.map(),
            self.cells,
            &call.rules(),
            steps,
            &mut scratch.cells,
        );
        self.draw_path(None, scratch);
        self.next = 0;
        self.nearest_m = f32::MAX;
        self.stuck_secs = 0.0;
    }

    /// Turns cells into a path of as few corners as sight allows. Starts at the search's start, ends at the goal where the
    /// way leads there.
    fn draw_path(&mut self, goal: Option<Vec2>, scratch: &mut Scratch) {
        let points = &mut scratch.points;
        points.clear();
        let is_free = |at: Vec2| {
            self.grid
                .cell_at(at)
                .is_some_and(|c| self.grid.map().is_free(c))
        };
        // From a blocked place the way leads to the free cell first.
        points.push(self.start);
        points.extend(scratch.cells.iter().map(|&cell| self.grid.middle_m(cell)));
        if is_free(self.start) && points.len() > 1 {
            // Its cell's middle is a detour.
            points.remove(1);
        }
        if let Some(goal) = goal {
            if is_free(goal) && points.len() > 1 {
                points.pop();
            }
            points.push(goal);
        }
        self.path.clear();
        let mut from = 0;
        while from + 1 < points.len() {
            let mut to = from + 1;
            while to + 1 < points.len() && self.grid.sees(points[from], points[to + 1]) {
                to += 1;
            }
            self.path.push(points[to]);
            from = to;
        }
    }

    /// Goes on along the path as the swimmer does.
    pub(super) fn follow(&mut self, call: &Call, dt_secs: f32) {
        let at = flat(call.at_m);
        let reach_m = (1.5 * self.grid.cell_m()).max(0.5 * call.radius_m);
        while let Some(&target) = self.path.get(self.next) {
            let is_last = self.next + 1 == self.path.len();
            let is_there = at.distance(target) <= reach_m;
            let sees_next = self
                .path
                .get(self.next + 1)
                .is_some_and(|&after| self.grid.sees(at, after));
            if !sees_next && !(is_there && (!is_last || self.is_partial)) {
                break;
            }
            self.next += 1;
            self.nearest_m = f32::MAX;
            self.stuck_secs = 0.0;
        }
        let Some(&target) = self.path.get(self.next) else {
            return;
        };
        let distance_m = at.distance(target);
        if distance_m < self.nearest_m - 0.1 * self.grid.cell_m() {
            self.nearest_m = distance_m;
            self.stuck_secs = 0.0;
        } else if distance_m > reach_m {
            self.stuck_secs += dt_secs;
        }
    }
}
