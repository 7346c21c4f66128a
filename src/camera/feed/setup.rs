//! The requested settings of a feed, and its timeouts.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::camera::source::source_name;
use crate::camera::{CameraParams, SourceKind, SourceSpec, WorkerCommand};
use crate::runtime::SETTLE_TIME;

/// The requested settings of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedSetup {
    /// The source, with format, size and frame rate.
    pub spec: SourceSpec,
    /// The command that starts a worker for a live camera.
    pub worker: WorkerCommand,
    /// The command that starts a guard for the program of a `command:` source.
    pub guard: WorkerCommand,
    /// Values of controls by name, see [`CameraParams::controls`].
    pub controls: BTreeMap<String, i64>,
    /// Whether automatic functions stay on, see [`CameraParams::auto_functions`].
    pub auto_functions: bool,
    /// Which frames the caller receives, and when.
    pub mode: FeedMode,
    /// What happens at the end of a recording.
    pub at_end: AtEnd,
    /// Timeouts and pauses.
    pub timing: FeedTiming,
}

/// Which frames of a feed the caller receives, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeedMode {
    /// The newest frame, in real time. A source that fails is opened again. Live cameras always use this mode.
    #[default]
    Live,
    /// Every frame, with the timestamps of the source. The end or an error of the source ends the feed.
    EveryFrame {
        /// Whether frames are read as fast as possible instead of in real time.
        fast: bool,
    },
}

/// What happens at the end of a recording in [`FeedMode::Live`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// The recording starts again.
    Repeat,
    /// The end is a fault, and no further frame arrives.
    #[default]
    Stay,
}

impl FeedSetup {
    /// Returns settings for [`FeedMode::Live`], with the frame rate and controls from the `[camera]` table of a site.
    pub fn new(spec: SourceSpec, params: &CameraParams, worker: WorkerCommand) -> Self {
        Self {
            spec: SourceSpec {
                fps: spec.fps.or(params.fps),
                ..spec
            },
            guard: WorkerCommand::guard(worker.program.clone()),
            worker,
            controls: params.controls.clone(),
            auto_functions: params.auto_functions,
            mode: FeedMode::Live,
            at_end: AtEnd::Stay,
            timing: FeedTiming::default(),
        }
    }

    /// Returns the same settings with another mode. A live camera stays in [`FeedMode::Live`].
    #[must_use]
    pub fn with_mode(mut self, mode: FeedMode) -> Self {
        if !self.is_live_camera() {
            self.mode = mode;
        }
        self
    }

    /// Returns the name of the source in logs and error messages.
    pub(super) fn name(&self) -> String {
        source_name(&self.spec)
    }

    /// Whether the source is a live camera, which a worker reads.
    pub(super) fn is_live_camera(&self) -> bool {
        matches!(self.spec.kind, SourceKind::Live { .. })
    }

    /// Whether the source delivers frames as they happen, and not as they were recorded.
    pub(super) fn is_live_source(&self) -> bool {
        matches!(
            self.spec.kind,
            SourceKind::Live { .. } | SourceKind::Command(_) | SourceKind::StandardInput
        )
    }

    /// Whether the supervisor ends and restarts the source if the source sends no frames, or the same frame repeatedly. This is
    /// not useful for files, which recover by themselves, and not possible for standard input, which cannot be opened twice. A
    /// program that is read as fast as possible is not restarted either, because it may need any time for a frame.
    pub(super) fn can_replace(&self) -> bool {
        match self.spec.kind {
            SourceKind::Live { .. } => true,
            SourceKind::Command(_) => self.mode != FeedMode::EveryFrame { fast: true },
            _ => false,
        }
    }
}

/// Timeouts and pauses of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedTiming {
    /// Time without a new frame after which the source is stalled. Frames that are frozen, black or saturated for this time are
    /// a fault too.
    pub stall_timeout: Duration,
    /// Longest time from the first start of a source to its first frame. A camera program that exceeds it gets twice as long at its
    /// next start, up to 6 times as long.
    pub open_timeout: Duration,
    /// Pause before the first restart; each further pause is twice as long.
    pub first_pause: Duration,
    /// Longest pause between restarts.
    pub longest_pause: Duration,
    /// Time without any fault after which the next pause is again [`FeedTiming::first_pause`].
    pub settle_time: Duration,
}

impl Default for FeedTiming {
    fn default() -> Self {
        Self {
            stall_timeout: Duration::from_secs(3),
            open_timeout: Duration::from_secs(10),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            settle_time: SETTLE_TIME,
        }
    }
}
