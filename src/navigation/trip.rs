//! What a swimmer that wants to be somewhere says, and what it is told: plain numbers, filed by an action, answered by the
//! planner in the same tick, followed in the next.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::footprint::Footprints;
use super::grid::{Area, Connectivity, Corners, Fill, OpenKind, SearchRules};
use crate::geometry::Solid;

/// A goal that stands still is searched anew after this, so that nobody stays stuck.
pub(super) const FIXED_SECS: f32 = 20.0;
/// Between these a moving goal is searched anew, the nearer the sooner.
const MOVING_SECS: (f32, f32) = (0.25, 5.0);
/// Longest time by which a goal's motion is foreseen. Tuned by eye, 2026-11-21.
const LEAD_SECS: f32 = 1.0;

/// How ways are searched on grids: a `search` table of an action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchParams {
    /// Factor on the estimated rest of the way. 1 finds a shortest way; more finds a good one sooner.
    #[schemars(range(min = 1.0, max = 10.0))]
    pub weight: f32,
    /// Which cells are neighbors.
    pub connectivity: Connectivity,
    /// When a diagonal step past a blocked cell is allowed.
    pub corners: Corners,
    /// Where the search keeps the cells it has still to look at; the same way, sooner or later.
    pub open: OpenKind,
    /// How obstacles are drawn.
    pub fill: Fill,
    /// Distance kept from obstacles, in own radii. It shrinks where no way is found.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub margin_radii: f32,
    /// How far the grid reaches beyond start and goal at first, in cells of half a body's diameter. Doubles as needed.
    #[schemars(range(min = 1, max = 1000))]
    pub border_cells: u32,
    /// Most cells along a side of the grid; a goal farther off is replaced by one on the way.
    #[schemars(range(min = 16, max = 2048))]
    pub side_cells: u32,
    /// Length of the way on which a swimmer starts while its search runs, in cells.
    #[schemars(range(min = 0, max = 64))]
    pub quick_cells: u32,
    /// Nearer than this to a moving goal in plain sight it steers straight.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub pursue_distance_m: f32,
    /// A moving goal may go this far before its way is searched anew.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub tolerance_m: f32,
    /// Searches of higher priority go first.
    #[schemars(range(min = 0, max = 100))]
    pub priority: u8,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            weight: 1.6,
            connectivity: Connectivity::default(),
            corners: Corners::default(),
            open: OpenKind::default(),
            fill: Fill::default(),
            margin_radii: 1.5,
            border_cells: 20,
            side_cells: 256,
            quick_cells: 8,
            pursue_distance_m: 0.6,
            tolerance_m: 0.4,
            priority: 0,
        }
    }
}

/// Where a swimmer wants to be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal {
    /// Where it is, or was seen last.
    pub position_m: Vec3,
    /// How it moves.
    pub velocity_mps: Vec3,
    /// Whether it may be elsewhere in a moment.
    pub is_moving: bool,
    /// Whether it is seen now.
    pub is_seen: bool,
}

/// A swimmer's call for a way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Who calls: no two callers may have the same.
    pub id: u64,
    /// Where it is.
    pub at_m: Vec3,
    /// Speed at which it would go.
    pub speed_mps: f32,
    /// Its radius.
    pub radius_m: f32,
    /// Where it wants to be.
    pub goal: Goal,
    /// Where it may be at all, (x, z).
    pub bounds: Area,
    /// How to search.
    pub params: SearchParams,
}

impl Call {
    /// How its search goes.
    pub(super) fn rules(&self) -> SearchRules {
        SearchRules {
            weight: self.params.weight,
            connectivity: self.params.connectivity,
            corners: self.params.corners,
            open: self.params.open,
            stops_at_border: false,
        }
    }

    /// A cell is half the swimmer's diameter.
    pub(super) fn cell_m(&self) -> f32 {
        self.radius_m.max(0.01)
    }

    /// Heights that the swimmer takes up on its way.
    pub(super) fn band(&self) -> (f32, f32) {
        let (a, b) = (self.at_m.y, self.goal.position_m.y);
        // Rounded, so that a grid holds while the swimmer goes a bit up and down.
        let step = self.radius_m.max(0.01);
        let low = ((a.min(b) - self.radius_m) / step).floor() * step;
        let high = ((a.max(b) + self.radius_m) / step).ceil() * step;
        (low, high)
    }

    /// The obstacles at these heights.
    pub(super) fn footprints(&self, solids: &[Solid], out: &mut Footprints) {
        let (low, high) = self.band();
        out.clear();
        out.push_solids(solids, low, high);
    }

    /// Where a goal will be when the swimmer comes.
    pub(super) fn predicted(&self) -> Vec2 {
        let goal = &self.goal;
        if !goal.is_moving {
            return flat(goal.position_m);
        }
        let distance_m = goal.position_m.distance(self.at_m);
        let secs = (distance_m / self.speed_mps.max(0.05)).min(LEAD_SECS);
        flat(goal.position_m + goal.velocity_mps * secs)
            .clamp(self.bounds.low_m, self.bounds.high_m)
    }

    /// After so long its way is searched anew, wherever the goal is.
    pub(super) fn patience_secs(&self) -> f32 {
        if !self.goal.is_moving {
            return FIXED_SECS;
        }
        let distance_m = self.goal.position_m.distance(self.at_m);
        (0.5 * distance_m / self.speed_mps.max(0.05)).clamp(MOVING_SECS.0, MOVING_SECS.1)
    }
}

/// A place as seen from above.
pub(super) fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

/// What became of a call. **Source**: the return codes of 001, appendix 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A new way was found in this tick.
    Found,
    /// No way was found with the present margin.
    Failed,
    /// The way of before holds.
    NothingNew,
    /// All margins have failed from here: locked in, or the goal cannot be reached.
    NoMap,
    /// The search goes on in the next tick.
    #[default]
    OutOfTime,
}

/// What the place is that a swimmer is told to head for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waypoint {
    /// Others come after it.
    More,
    /// The last, which is the goal.
    Last,
    /// Where to head as long as there is no way.
    #[default]
    FailedGoal,
}

/// What a swimmer is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What became of its call.
    pub status: Status,
    /// What the target is.
    pub waypoint: Waypoint,
    /// Where to head.
    pub target_m: Vec3,
    /// Whether the way may graze obstacles by half a cell.
    pub grazes: bool,
}

/// A call with its answer, as an action remembers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trip {
    /// What was called for in this tick.
    #[serde(skip)]
    pub call: Option<Call>,
    /// What was answered last; `None` before the first answer.
    pub answer: Option<Answer>,
}
