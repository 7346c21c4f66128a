//! Requests of actions for a route over the terraces, and the answers of the simulation.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use crate::navigation::{Guidance, MeshPoint};

/// Exchange between an action that travels between terraces and the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Climb {
    /// Request of this tick. The simulation removes the request and stores an answer.
    #[serde(skip)]
    pub request: Option<ClimbRequest>,
    /// Answer of the simulation to the last request.
    pub answer: Option<ClimbAnswer>,
}

/// A request for a route over the terraces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClimbRequest {
    /// Index of the wanted terrace, in the order of the scene; `None` if every terrace will do.
    pub terrace: Option<u16>,
    /// Wanted position, (x, z). The route ends at the nearest point that the agent can reach.
    pub at_m: Vec2,
}

/// Answer of the simulation to a [`ClimbRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClimbAnswer {
    /// Next step of the agent on its route.
    pub step: Guidance,
    /// End of the route.
    pub goal: MeshPoint,
    /// Height (y) at which the agent swims.
    pub y_m: f32,
}
