//! The requested settings of a live camera, and its timeouts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::worker_process::WorkerCommand;
use crate::camera::{CameraParams, SourceSpec};

/// The requested settings of a live camera.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSetup {
    /// The camera, with format, size and frame rate.
    pub spec: SourceSpec,
    /// The command that starts a worker.
    pub worker: WorkerCommand,
    /// Values of controls by name, see [`CameraParams::controls`].
    pub controls: BTreeMap<String, i64>,
    /// Whether automatic functions stay on, see [`CameraParams::auto_functions`].
    pub auto_functions: bool,
    /// Timeouts and pauses.
    pub timing: LiveTiming,
}

impl LiveSetup {
    /// Settings with the frame rate and controls of a site. `spec` must name a live camera; the worker rejects any other
    /// source.
    pub fn new(spec: SourceSpec, params: &CameraParams, worker: WorkerCommand) -> Self {
        Self {
            spec: SourceSpec {
                fps: spec.fps.or(params.fps),
                ..spec
            },
            worker,
            controls: params.controls.clone(),
            auto_functions: params.auto_functions,
            timing: LiveTiming::default(),
        }
    }

    /// Name of the camera in logs.
    pub(super) fn name(&self) -> String {
        self.spec.to_string()
    }
}

/// Timeouts and pauses of a live camera.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTiming {
    /// Time without a new frame after which the camera is stalled. Also the time after which bad frames (frozen, black or
    /// saturated) become a fault.
    pub stall_timeout: Duration,
    /// Longest time from the start of a worker to its first frame.
    pub open_timeout: Duration,
    /// Pause before the first restart; each further pause is twice as long.
    pub first_pause: Duration,
    /// Longest pause between restarts.
    pub longest_pause: Duration,
    /// Time without any fault after which the next pause is again [`LiveTiming::first_pause`].
    pub settle_time: Duration,
}

impl Default for LiveTiming {
    fn default() -> Self {
        Self {
            stall_timeout: Duration::from_secs(3),
            open_timeout: Duration::from_secs(10),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            settle_time: Duration::from_secs(5),
        }
    }
}
