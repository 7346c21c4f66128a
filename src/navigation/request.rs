//! Path requests and their answers, as plain data. An action makes a request, the planner answers it in the same tick,
//! and the agent follows the answer in the next tick.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::footprint::Footprints;
use super::grid::{Connectivity, CornerRule, FloorRect, ObstacleFill, OpenListKind, SearchRules};
use crate::geometry::Solid;

/// Time after which the path to a fixed goal is searched again, so that no agent stays stuck.
pub(super) const FIXED_REPLAN_SECS: f32 = 20.0;
/// Shortest and longest time after which the path to a moving goal is searched again. The time is shorter for a nearer
/// goal.
const MOVING_REPLAN_SECS: (f32, f32) = (0.25, 5.0);
/// Longest time for which the motion of a goal is predicted. Tuned by eye, 2026-11-21.
const LEAD_SECS: f32 = 1.0;

/// Settings of the path search on grids: the `search` table of an action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchParams {
    /// Factor by which the heuristic of A* is multiplied. With 1, the search finds a shortest path. With a larger
    /// factor, it needs fewer expansions, but the path may be longer.
    #[schemars(range(min = 1.0, max = 10.0))]
    pub weight: f32,
    /// Which cells count as neighbors.
    pub connectivity: Connectivity,
    /// When a diagonal step past a blocked cell is allowed.
    pub corners: CornerRule,
    /// Data structure of the open list. It changes the speed of the search. It can also change the choice among paths
    /// of nearly equal cost.
    pub open: OpenListKind,
    /// Which cells of an obstacle are blocked in the grid.
    pub fill: ObstacleFill,
    /// Distance that a path keeps from obstacles, as a multiple of the body radius. If no path is found, the search is
    /// repeated with a smaller distance.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub margin_radii: f32,
    /// Initial margin of the grid around start and goal, in cells. The side of a cell is half the diameter of the body.
    /// The margin doubles when the grid is too small.
    #[schemars(range(min = 1, max = 1000))]
    pub border_cells: u32,
    /// Largest number of cells along a side of the grid. A goal outside this size is replaced by an intermediate goal.
    #[schemars(range(min = 16, max = 2048))]
    pub side_cells: u32,
    /// Length of the quick path that an agent follows while its search runs, in cells.
    #[schemars(range(min = 0, max = 64))]
    pub quick_cells: u32,
    /// If a moving goal is visible and nearer than this distance, the agent steers straight at it without a path.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub pursue_distance_m: f32,
    /// Distance that a moving goal may move before the path to it is searched again.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub tolerance_m: f32,
    /// Priority of the search. Searches with a higher priority run first.
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
    /// Current position of the goal, or the last position at which it was seen.
    pub position_m: Vec3,
    /// Velocity of the goal.
    pub velocity_mps: Vec3,
    /// Whether the goal can move.
    pub is_moving: bool,
    /// Whether the agent sees the goal now.
    pub is_seen: bool,
}

/// The path request of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRequest {
    /// Id of the agent; no other agent has the same id.
    pub id: u64,
    /// Position of the agent.
    pub at_m: Vec3,
    /// Speed at which the agent will follow the path.
    pub speed_mps: f32,
    /// Radius of the agent.
    pub radius_m: f32,
    /// The goal.
    pub goal: PathGoal,
    /// Area in which the agent may be, (x, z).
    pub bounds: FloorRect,
    /// Settings of the search.
    pub params: SearchParams,
}

impl PathRequest {
    /// Returns the rules for the grid search.
    pub(super) fn rules(&self) -> SearchRules {
        SearchRules {
            weight: self.params.weight,
            connectivity: self.params.connectivity,
            corners: self.params.corners,
            open: self.params.open,
            stops_at_border: false,
        }
    }

    /// Side length of a grid cell: half of the agent's diameter.
    pub(super) fn cell_m(&self) -> f32 {
        self.radius_m.max(0.01)
    }

    /// Returns the lowest and the highest y that the agent's body covers on its path.
    pub(super) fn height_band(&self) -> (f32, f32) {
        let (a, b) = (self.at_m.y, self.goal.position_m.y);
        // The band is rounded outwards, so that small changes in height do not require a new grid.
        let step = self.radius_m.max(0.01);
        let low = ((a.min(b) - self.radius_m) / step).floor() * step;
        let high = ((a.max(b) + self.radius_m) / step).ceil() * step;
        (low, high)
    }

    /// Writes to `out` the footprints of the obstacles within the height band.
    pub(super) fn footprints(&self, solids: &[Solid], out: &mut Footprints) {
        let (low, high) = self.height_band();
        out.clear();
        out.push_solids(solids, low, high);
    }

    /// Returns the predicted position of the goal at the time when the agent arrives.
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

    /// Returns the time after which the path is searched again even if the goal has not moved.
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
    /// No path was found with the current margin. The search continues with a smaller margin.
    Failed,
    /// The previous path is still valid.
    Unchanged,
    /// No path was found with any margin: the agent is enclosed, or the goal cannot be reached.
    Unreachable,
    /// The search continues in the next tick.
    #[default]
    Searching,
}

/// Meaning of the target position in an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaypointKind {
    /// A corner of the path, but not its end.
    Corner,
    /// The last point of the path: the goal.
    Goal,
    /// A substitute while there is no path: the position of the goal or of the agent.
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
    /// Position that the agent has to steer to.
    pub target_m: Vec3,
    /// Whether the path may enter obstacles up to a depth of half a cell.
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
