//! The status of a running pool.
//!
//! Plain data that can be written as JSON. Must not: contain data that only one consumer of the status understands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::DocumentName;

/// Status of a running pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Number of ticks since the start.
    pub tick: u64,
    /// Name of the current scene.
    pub scene: String,
    /// Number of individuals of each species.
    pub counts: BTreeMap<String, u32>,
    /// Number of changes that can be undone.
    pub undo_depth: usize,
    /// Number of undone changes that can be redone.
    pub redo_depth: usize,
    /// Documents that differ from the files on the disk.
    pub unsaved: Vec<DocumentName>,
    /// Paths of changed values in the site file that become effective after a restart.
    pub restart_needed: Vec<String>,
    /// Rejection of the last command; `None` if it was applied.
    pub rejection: Option<Rejection>,
    /// Active faults, as sentences.
    pub faults: Vec<String>,
    /// Calibration of the camera.
    #[serde(default)]
    pub calibration: CalibrationStatus,
    /// Quality of the picture.
    #[serde(default)]
    pub picture: PictureStatus,
}

/// Quality of the picture. Rendering adapts this quality to the speed of the graphics device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PictureStatus {
    /// Resolution of the layer below the water as a share of the full width and height. Below 1 if full resolution would take
    /// too long; 0 before the first picture.
    pub scale: f32,
    /// Whether details are left out, in addition to the lower resolution.
    pub is_plain: bool,
    /// Number of times that the flash limiter slowed down a change of brightness.
    pub dimmed: u64,
}

/// Calibration of the camera, and the running procedure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationStatus {
    /// Whether a procedure is running.
    pub is_running: bool,
    /// Number of the shown target, counted from 1; `None` if no target is shown.
    pub target: Option<usize>,
    /// Total number of targets, or of Gray-code patterns.
    pub targets: usize,
    /// Number of measured targets, or of finished patterns.
    pub taken: usize,
    /// Whether a proven calibration (measured, with an error below the limits) can be accepted.
    pub is_proven: bool,
    /// Message for the technician: what happened, and what to do next.
    pub sentence: String,
    /// The calibration in use; `None` if there is none and the whole camera image is mapped onto the surface.
    pub current: Option<CalibrationKnown>,
    /// Shift of the camera since the calibration; `None` if unknown.
    pub drift: Option<DriftStatus>,
}

/// Properties of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationKnown {
    /// Date and time of the calibration, ISO 8601.
    pub date: String,
    /// Predicted error of floor points (root mean square over the surface).
    pub predicted_rms_m: f64,
    /// Largest predicted error on the surface.
    pub predicted_worst_m: f64,
    /// Whether the calibration contains the position of the lamp. Without this position, the centroid of a shadow is
    /// used as the foot point.
    pub knows_lamp: bool,
}

/// Shift of the camera since it was calibrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriftStatus {
    /// Shift of points on the floor.
    pub shift_m: f64,
    /// Shift in the camera image.
    pub shift_px: f64,
    /// Whether the shift is above the limit, so that the camera has to be calibrated again.
    pub is_alarm: bool,
}

/// A rejected command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// Number of ticks completed when the command arrived.
    pub tick: u64,
    /// All reasons for the rejection.
    pub problems: Vec<Reason>,
}

/// One reason for a rejection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// Name of the document; empty if the reason belongs to no document.
    pub file: String,
    /// Line in the rejected text, counted from 1; 0 for the whole document.
    pub line: usize,
    /// Path of the value; empty for the whole document.
    pub path: String,
    /// The value, what is wrong with it, and what is allowed.
    pub message: String,
}
