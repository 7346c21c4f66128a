//! The stages that an operator can restart.
//!
//! Plain data that can be read from JSON. Must not: know a thread.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stage of the running pool, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageChoice {
    /// The camera is closed and opened again.
    Camera,
    /// The background model and the tracks are built again.
    Vision,
    /// All fish start again at their places.
    Simulation,
    /// The windows get a new graphics device.
    Render,
    /// All of these.
    All,
}

impl StageChoice {
    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Vision => "vision",
            Self::Simulation => "simulation",
            Self::Render => "render",
            Self::All => "all",
        }
    }
}
