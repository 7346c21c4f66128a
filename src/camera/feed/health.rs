//! The health of a source. Plain data for logs, metrics and the control panel.

use crate::camera::FaultKind;
use crate::camera::pipe::GrantedSettings;

/// Health of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraHealth {
    /// Active faults, most serious first.
    pub faults: Vec<ActiveFault>,
    /// Number of occurrences of each kind of fault since the start; kinds without an occurrence are left out.
    pub fault_counts: Vec<(FaultKind, u64)>,
    /// Time since the newest frame was captured, in seconds; `None` before the first frame.
    pub age_secs: Option<f64>,
    /// Measured frame rate in frames per second; 0 if no frames arrive.
    pub fps: f64,
    /// Number of frames that arrived.
    pub frames: u64,
    /// Number of frames that the driver captured, but that never arrived (gaps in the driver's frame numbers).
    pub dropped: u64,
    /// Number of frames that were replaced by a newer frame before the caller took them.
    pub skipped: u64,
    /// Number of restarts of the source.
    pub restarts: u64,
    /// Mean level of the newest frame, 0 to 1.
    pub mean_level: f32,
    /// Share of pixels of the newest frame at the maximum level, 0 to 1.
    pub saturated_share: f32,
    /// Settings that the source accepted when it was last opened; `None` before the first opening.
    pub granted: Option<GrantedSettings>,
}

impl CameraHealth {
    /// Whether a fault is active.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.faults.iter().any(|fault| fault.kind == kind)
    }

    /// Returns the number of occurrences of a fault since the start.
    pub fn count(&self, kind: FaultKind) -> u64 {
        let found = self.fault_counts.iter().find(|(other, _)| *other == kind);
        found.map_or(0, |(_, count)| *count)
    }
}

/// An active fault.
#[derive(Clone, Debug, PartialEq)]
pub struct ActiveFault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Description of the last occurrence: what is wrong, where, and how to fix it.
    pub detail: String,
    /// Time since the fault began, in seconds.
    pub active_secs: f64,
    /// Number of occurrences since the fault began.
    pub count: u64,
}
