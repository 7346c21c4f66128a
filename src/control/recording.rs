//! What the desk and its clients exchange about recordings of the camera.
//!
//! Plain data that can be read from and written as JSON. Must not: know a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schedule::HandEnd;

/// Longest recording that a command can start, in seconds: 2.8 GB of 640 × 480 pixels at 30 frames per second.
pub const COMMANDED_SECS_MAX: f64 = 300.0;

/// A step of recording the camera, or of replaying a recording instead of the camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordingStep {
    /// Records the camera's frames into a new file.
    Record {
        /// Longest duration in seconds, up to 300.
        #[serde(default = "default_secs")]
        secs: f64,
    },
    /// Ends the recording.
    Stop,
    /// Replays a recording instead of the camera, again and again, for some time.
    Replay {
        /// Name of the recording.
        name: String,
        /// When the camera is used again by itself.
        #[serde(default, skip_serializing_if = "HandEnd::is_default")]
        until: HandEnd,
    },
    /// Ends the replay: the camera is opened again.
    Live,
}

fn default_secs() -> f64 {
    60.0
}

/// A recording that is being made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordingStatus {
    /// Name of the recording.
    pub name: String,
    /// Time since it began.
    pub secs: f64,
    /// Its longest duration.
    pub limit_secs: f64,
    /// Size of its file.
    pub bytes: u64,
    /// Largest size of its file. The recording ends there: all recordings together have a limit, and a part of the disk stays
    /// free.
    pub limit_bytes: u64,
}
