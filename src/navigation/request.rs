//! Path requests and their answers, as plain data: the same for the search on grids and for the search on meshes.
//!
//! An action makes a request, the search of the pool answers it in the same tick, and the agent follows the answer in the
//! next tick.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of a path: the `search` table of an action.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchParams {
    /// Distance that a path keeps from obstacles, as a multiple of the body radius. If no path is found, the search is repeated
    /// with a smaller distance. Terraces have no such distance: their paths keep one body radius. Higher: swims around stones in
    /// wide curves. Lower: swims closely along them.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub margin_radii: f32,
    /// If a moving goal is visible and nearer than this distance, the agent steers straight at it without a path. Higher: leaves
    /// its path early for a straight attack. Lower: keeps to the path until it is close.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub pursue_distance_m: f32,
    /// Distance that a moving goal may move before the path to it is searched again. Over terraces, the path is searched again
    /// several times per second. Higher: swims on to where the goal was, and needs less computing time. Lower: corrects its path
    /// often.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub tolerance_m: f32,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            margin_radii: 1.5,
            pursue_distance_m: 0.6,
            tolerance_m: 0.4,
        }
    }
}

/// The goal of a path request.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathGoal {
    /// Current position of the goal, or the last position at which it was seen. Over terraces, the path ends at the nearest
    /// position that the agent can reach, and the agent swims at the depth of the goal, as far as its water allows.
    pub position_m: Vec3,
    /// Index of the terrace of the goal, in the order of the scene; `None` if every terrace will do.
    pub terrace: Option<u16>,
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
    /// The goal.
    pub goal: PathGoal,
    /// Speed at which the agent will follow the path.
    pub speed_mps: f32,
    /// Parameters of the path.
    pub params: SearchParams,
}

/// Answer to a path request: the next movement of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathAnswer {
    /// Give up: no path leads to the goal.
    NoPath,
    /// Wait: the search has no result.
    NotYet,
    /// Wait at this position, in calm water before a leap: the agent cannot leap so soon after its last leap.
    Wait(Vec3),
    /// The take-off was refused. The next search looks for another way.
    Refused(Refusal),
    /// Swim past this position, a corner of the path.
    Swim(Vec3),
    /// Swim to this position: the end of the path, or a substitute while there is no path.
    SwimToEnd(Vec3),
    /// Swim fast to this position: the run-up before a take-off.
    RunUp(Vec3),
    /// Take off now. The values are the index of the link and the landing position.
    TakeOff(u32, Vec3),
    /// Stay: the agent has reached the end of its path, at this position.
    Arrived(Vec3),
}

/// Reason why a take-off was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A solid is in the way of the flight from where the agent is.
    Blocked,
}

/// The request and the last answer of an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathMemory {
    /// Request of this tick. The simulation removes the request and stores an answer.
    #[serde(skip)]
    pub request: Option<PathRequest>,
    /// Last answer; `None` before the first one.
    pub answer: Option<PathAnswer>,
}

/// Number that identifies a path. One agent may follow several; `number` is the index among them.
pub fn path_id(agent: u32, number: usize) -> u64 {
    u64::from(agent) << 8 | number as u64
}
