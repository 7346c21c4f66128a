//! The faults of a live camera, by name. Plain data: the worker process reports them, its parent logs and counts them.

use serde::{Deserialize, Serialize};

/// A kind of fault of a live camera. The list is complete: every fault has a name and a defined reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The camera is not connected.
    Absent,
    /// The camera was disconnected while it ran.
    Unplugged,
    /// The camera is connected, but cannot be opened with the requested settings.
    OpenFailed,
    /// The frames have another size than requested, or than before a restart.
    WrongSize,
    /// No new frame arrived within [`LiveTiming::stall_timeout`](super::LiveTiming::stall_timeout).
    Stalled,
    /// The driver reported an error while it captured frames.
    StreamError,
    /// The worker process ended without reporting a fault.
    WorkerDied,
    /// The worker process wrote data that does not follow the protocol of `camera::pipe`.
    ProtocolError,
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
}

impl FaultKind {
    /// All kinds, in the order of their severity.
    pub const ALL: [Self; 13] = [
        Self::Absent,
        Self::Unplugged,
        Self::OpenFailed,
        Self::WrongSize,
        Self::Stalled,
        Self::StreamError,
        Self::WorkerDied,
        Self::ProtocolError,
        Self::Frozen,
        Self::Black,
        Self::Saturated,
        Self::ShortFrames,
        Self::DamagedFrames,
    ];

    /// Name for logs, metrics and the control panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Unplugged => "unplugged",
            Self::OpenFailed => "open_failed",
            Self::WrongSize => "wrong_size",
            Self::Stalled => "stalled",
            Self::StreamError => "stream_error",
            Self::WorkerDied => "worker_died",
            Self::ProtocolError => "protocol_error",
            Self::Frozen => "frozen",
            Self::Black => "black",
            Self::Saturated => "saturated",
            Self::ShortFrames => "short_frames",
            Self::DamagedFrames => "damaged_frames",
        }
    }

    /// Whether the fault concerns the connection to the camera: the worker process ends, and the next good frame ends the
    /// fault.
    pub(super) fn ends_worker(self) -> bool {
        !matches!(
            self,
            Self::Frozen | Self::Black | Self::Saturated | Self::ShortFrames | Self::DamagedFrames
        )
    }

    /// Whether the camera should be opened again to fix the fault, although frames arrive.
    pub(super) fn needs_restart(self) -> bool {
        matches!(self, Self::Frozen | Self::Black)
    }
}

/// A fault, as the capture worker reports it.
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
