//! The faults of a source, by name. This module contains plain data: the worker process or the reader reports faults, and the
//! supervisor logs and counts them.

use serde::{Deserialize, Serialize};

use super::CameraError;

/// A kind of fault of a source. The list is complete: every fault has a name and a defined reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The camera is not connected.
    Absent,
    /// The camera was disconnected while it ran.
    Unplugged,
    /// The camera is connected, but cannot be opened with the requested settings.
    OpenFailed,
    /// The size of the frames differs from the requested size, or from the size before a restart.
    WrongSize,
    /// No new frame arrived within [`FeedTiming::stall_timeout`](super::FeedTiming::stall_timeout).
    Stalled,
    /// The driver, the file or the stream could not be read.
    StreamError,
    /// The worker process ended without reporting a fault, or the program of the source failed.
    ProgramDied,
    /// The worker process wrote data that does not follow the protocol of `camera::pipe`, or the stream is not valid y4m.
    ProtocolError,
    /// The source has no further frame: a recording, a program or standard input ended.
    Ended,
    /// Frames arrive, but all are identical.
    Frozen,
    /// Frames are black: the lens is covered, the light is off, or the exposure is too short.
    Black,
    /// More than half of the pixels are at the maximum level.
    Saturated,
    /// Many frames are incomplete; they are discarded.
    ShortFrames,
    /// Many frames are marked as damaged by the driver, or cannot be decoded; they are discarded.
    DamagedFrames,
    /// The timestamps of the frames jumped forward. The frames are used, and the time continues without the jump.
    TimestampJump,
}

impl FaultKind {
    /// All kinds, in the order of their severity.
    pub const ALL: [Self; 15] = [
        Self::Absent,
        Self::Unplugged,
        Self::OpenFailed,
        Self::WrongSize,
        Self::Stalled,
        Self::StreamError,
        Self::ProgramDied,
        Self::ProtocolError,
        Self::Ended,
        Self::Frozen,
        Self::Black,
        Self::Saturated,
        Self::ShortFrames,
        Self::DamagedFrames,
        Self::TimestampJump,
    ];

    /// Returns the name for logs, metrics and the control panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unplugged => "unplugged",
            Self::OpenFailed => "open_failed",
            Self::WrongSize => "wrong_size",
            Self::Stalled => "stalled",
            Self::StreamError => "stream_error",
            Self::ProgramDied => "program_died",
            Self::ProtocolError => "protocol_error",
            Self::Ended => "ended",
            Self::Frozen => "frozen",
            Self::Black => "black",
            Self::Saturated => "saturated",
            Self::ShortFrames => "short_frames",
            Self::DamagedFrames => "damaged_frames",
            Self::TimestampJump => "timestamp_jump",
        }
    }

    /// Whether the fault concerns the connection to the source. Such a fault ends the worker process, and the next good frame
    /// ends the fault.
    pub(super) fn ends_connection(self) -> bool {
        !self.concerns_single_frames()
            && !matches!(self, Self::Frozen | Self::Black | Self::Saturated)
    }

    /// Whether the fault concerns single frames. Such a fault ends when no bad frame has arrived for
    /// [`FeedTiming::settle_time`](super::FeedTiming::settle_time).
    pub(super) fn concerns_single_frames(self) -> bool {
        matches!(
            self,
            Self::ShortFrames | Self::DamagedFrames | Self::TimestampJump
        )
    }

    /// Whether the supervisor opens the camera again to fix the fault, although frames arrive.
    pub(super) fn needs_restart(self) -> bool {
        matches!(self, Self::Frozen | Self::Black)
    }
}

/// A fault, as the capture worker or the reader of a source reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Fault {
    /// Kind of the fault.
    pub(super) kind: FaultKind,
    /// Description in words: what is wrong, where, and how to fix it.
    pub(super) detail: String,
}

impl Fault {
    pub(super) fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }
}

impl From<&CameraError> for Fault {
    fn from(error: &CameraError) -> Self {
        let kind = match error {
            CameraError::Spec { .. }
            | CameraError::NoImages { .. }
            | CameraError::Start { .. }
            | CameraError::Read { frames: 0, .. } => FaultKind::OpenFailed,
            CameraError::Size { .. } | CameraError::SizeChanged { .. } => FaultKind::WrongSize,
            CameraError::Y4m { .. } => FaultKind::ProtocolError,
            CameraError::Read { .. } => FaultKind::StreamError,
            CameraError::DamagedImage { .. } | CameraError::UnsupportedImage { .. } => {
                FaultKind::DamagedFrames
            }
            CameraError::Command { .. } => FaultKind::ProgramDied,
        };
        Self::new(kind, error.to_string())
    }
}
