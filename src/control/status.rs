//! What a running pool tells of itself: to the panel, to show control, to whoever asks.
//!
//! In: nothing. Out: plain data, ready to be JSON. Must not: hold anything that only one of its readers understands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::command::DocumentName;

/// How a running pool is, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Ticks since the start.
    pub tick: u64,
    /// Name of the scene that is shown.
    pub scene: String,
    /// How many live of each species.
    pub counts: BTreeMap<String, u32>,
    /// How many changes can be taken back.
    pub undo_depth: usize,
    /// How many that were taken back can be made again.
    pub redo_depth: usize,
    /// Documents that differ from what is on the disk.
    pub unsaved: Vec<DocumentName>,
    /// Values of the site file that were changed and count only after a restart, as paths.
    pub restart_needed: Vec<String>,
    /// The last command that was refused; `None` after one that was done.
    pub refused: Option<Refusal>,
    /// What is wrong now, in sentences.
    pub faults: Vec<String>,
    /// How the camera is calibrated.
    #[serde(default)]
    pub calibration: CalibrationStatus,
    /// How the picture is drawn.
    #[serde(default)]
    pub picture: PictureStatus,
}

/// How the picture is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PictureStatus {
    /// Side of what lies below the water, as a share of its full size: less than 1 where pictures would be late. 0 before
    /// the first.
    pub scale: f32,
    /// Detail is left out, too.
    pub is_plain: bool,
    /// How often the flash limiter slowed a picture down.
    pub dimmed: u64,
}

/// How the camera is calibrated, and the procedure that does it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationStatus {
    /// A procedure is going on.
    pub is_running: bool,
    /// Number of the target that is shown, from 1; `None` when none is.
    pub target: Option<usize>,
    /// Of how many; patterns, where Gray code is shown.
    pub targets: usize,
    /// How many are taken, or were shown. Whoever beeps does so when it rises.
    pub taken: usize,
    /// A calibration is proven, and waits for being accepted.
    pub is_proven: bool,
    /// What the technician shall know and do now.
    pub sentence: String,
    /// The calibration that counts; `None` where the whole picture is taken for the surface.
    pub current: Option<CalibrationKnown>,
    /// How far the floor is seen from where it was calibrated; `None` where that cannot be told.
    pub drift: Option<DriftStatus>,
}

/// What is known of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationKnown {
    /// When it was made, ISO 8601.
    pub date: String,
    /// Foretold error of floor points, root of the mean square over the surface.
    pub predicted_rms_m: f64,
    /// Foretold error where it is worst on the surface.
    pub predicted_worst_m: f64,
    /// Whether it knows the lamp; without it a visitor's foot is the middle of their shadow.
    pub knows_lamp: bool,
}

/// How far the camera has moved since it was calibrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriftStatus {
    /// On the floor.
    pub shift_m: f64,
    /// In the picture.
    pub shift_px: f64,
    /// Beyond what is allowed: calibrate anew.
    pub is_alarm: bool,
}

/// A command that was refused whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Before which tick.
    pub tick: u64,
    /// All reasons.
    pub problems: Vec<Reason>,
}

/// One reason of a refusal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The document, as people name it; empty where none is meant.
    pub file: String,
    /// Line, counted from 1, in the text that was refused; 0 where the whole document is meant.
    pub line: usize,
    /// Path of the value; empty where the whole document is meant.
    pub path: String,
    /// The value, what is wrong with it, what is allowed.
    pub message: String,
}
