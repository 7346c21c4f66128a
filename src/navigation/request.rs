//! Path requests and their answers: plain numbers. An action files a request, the planner answers it in the same tick,
//! and the agent follows the answer in the next tick.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::footprint::Footprints;
use super::grid::{Connectivity, CornerRule, FloorRect, ObstacleFill, OpenListKind, SearchRules};
use crate::geometry::Solid;

/// Time after which the path to a fixed goal is searched again, so that no agent stays stuck.
pub(super) const FIXED_REPLAN_SECS: f32 = 20.0;
/// Shortest and longest time after which the path to a moving goal is searched again. The nearer the goal, the sooner.
const MOVING_REPLAN_SECS: (f32, f32) = (0.25, 5.0);
/// Longest time by which the motion of a goal is extrapolated. Tuned by eye, 2026-11-21.
const LEAD_SECS: f32 = 1.0;

/// Settings of the path search on grids: the `search` table of an action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchParams {
    /// Factor on the heuristic of A*. 1 finds a shortest path; a larger factor finds a good path with fewer expansions.
    #[schemars(range(min = 1.0, max = 10.0))]
    pub weight: f32,
    /// Which cells count as neighbors.
    pub connectivity: Connectivity,
    /// When a diagonal step past a blocked cell is allowed.
    pub corners: CornerRule,
    /// Data structure of the open list. It changes the speed of the search, and the path only among those of nearly
    /// equal cost.
    pub open: OpenListKind,
    /// How obstacles are drawn into the grid.
    pub fill: ObstacleFill,
    /// Distance kept from obstacles, as a multiple of the body radius. It shrinks where no path is found.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub margin_radii: f32,
    /// Initial margin of the grid around start and goal, in cells. A cell is as large as half a body's diameter. The
    /// margin doubles when the grid is too small.
    #[schemars(range(min = 1, max = 1000))]
    pub border_cells: u32,
    /// Largest number of cells along a side of the grid. A goal farther away is replaced by an intermediate goal.
    #[schemars(range(min = 16, max = 2048))]
    pub side_cells: u32,
    /// Length of the quick path that an agent follows while its search runs, in cells.
    #[schemars(range(min = 0, max = 64))]
    pub quick_cells: u32,
    /// Within this distance of a visible moving goal the agent steers straight at it.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub pursue_distance_m: f32,
    /// A moving goal may move this far before its path is searched again.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub tolerance_m: f32,
    /// Searches of higher priority run first.
    #[schemars(range(min = 0, max = 100))]
    pub priority: u8,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            weight: 1.6,
            connectivity: Connectivity::default(),
            corners: CornerRule::default(),
            open: OpenListKind::default(),
            fill: ObstacleFill::default(),
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

/// The goal of a path request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathGoal {
    /// Current or last seen position.
    pub position_m: Vec3,
    /// Velocity of the goal.
    pub velocity_mps: Vec3,
    /// Whether the goal can move.
    pub is_moving: bool,
    /// Whether the goal is visible now.
    pub is_seen: bool,
}

/// The path request of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRequest {
    /// Id of the requester; unique among all requesters.
    pub id: u64,
    /// Position of the agent.
    pub at_m: Vec3,
    /// Speed at which the agent would follow the path.
    pub speed_mps: f32,
    /// Radius of the agent.
    pub radius_m: f32,
    /// The goal.
    pub goal: PathGoal,
    /// Where the agent may be at all, (x, z).
    pub bounds: FloorRect,
    /// Settings of the search.
    pub params: SearchParams,
}

impl PathRequest {
    /// The rules for [`super::grid::GridSearch`].
    pub(super) fn rules(&self) -> SearchRules {
        SearchRules {
            weight: self.params.weight,
            connectivity: self.params.connectivity,
            corners: self.params.corners,
            open: self.params.open,
            stops_at_border: false,
        }
    }

    /// Side of a cell: half of the agent's diameter.
    pub(super) fn cell_m(&self) -> f32 {
        self.radius_m.max(0.01)
    }

    /// Lowest and highest y that the agent's body covers on its path.
    pub(super) fn height_band(&self) -> (f32, f32) {
        let (a, b) = (self.at_m.y, self.goal.position_m.y);
        // Rounded outwards, so that small changes in height do not require a new grid.
        let step = self.radius_m.max(0.01);
        let low = ((a.min(b) - self.radius_m) / step).floor() * step;
        let high = ((a.max(b) + self.radius_m) / step).ceil() * step;
        (low, high)
    }

    /// Fills in the obstacles within the height band.
    pub(super) fn footprints(&self, solids: &[Solid], out: &mut Footprints) {
        let (low, high) = self.height_band();
        out.clear();
        out.push_solids(solids, low, high);
    }

    /// Position of the goal when the agent arrives, as far as it can be predicted.
    pub(super) fn predicted_goal(&self) -> Vec2 {
        let goal = &self.goal;
        if !goal.is_moving {
            return flat(goal.position_m);
        }
        let distance_m = goal.position_m.distance(self.at_m);
        let secs = (distance_m / self.speed_mps.max(0.05)).min(LEAD_SECS);
        flat(goal.position_m + goal.velocity_mps * secs)
            .clamp(self.bounds.low_m, self.bounds.high_m)
    }

    /// Time after which the path is searched again even if the goal has not moved.
    pub(super) fn replan_secs(&self) -> f32 {
        if !self.goal.is_moving {
            return FIXED_REPLAN_SECS;
        }
        let distance_m = self.goal.position_m.distance(self.at_m);
        (0.5 * distance_m / self.speed_mps.max(0.05))
            .clamp(MOVING_REPLAN_SECS.0, MOVING_REPLAN_SECS.1)
    }
}

/// Projection of a position onto the floor, (x, z).
pub(super) fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

/// Result of a path request. **Source**: the return codes of Dahlberg & Viktorsson 2002, appendix 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathStatus {
    /// A new path was found in this tick.
    Found,
    /// No path was found with the current margin.
    Failed,
    /// The previous path is still valid.
    Unchanged,
    /// All margins have failed from here: the agent is locked in, or the goal cannot be reached.
    Unreachable,
    /// The search continues in the next tick.
    #[default]
    Searching,
}

/// Meaning of the target position in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaypointKind {
    /// A corner of the path; more follow.
    Corner,
    /// The last point of the path: the goal.
    Goal,
    /// A substitute as long as there is no path: the goal itself, or the agent's own position.
    #[default]
    NoPath,
}

/// Answer to a path request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathAnswer {
    /// Result of the request.
    pub status: PathStatus,
    /// Meaning of `target_m`.
    pub waypoint: WaypointKind,
    /// Where to steer.
    pub target_m: Vec3,
    /// Whether the path may cut into obstacles by up to half a cell.
    pub grazes: bool,
}

/// The request and the last answer of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathMemory {
    /// Request of this tick.
    #[serde(skip)]
    pub request: Option<PathRequest>,
    /// Last answer; `None` before the first one.
    pub answer: Option<PathAnswer>,
}
