//! Commands for the cameras: the steps of a calibration, the choice of a camera, and areas that are drawn in its picture.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command for the vision stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum VisionCommand {
    /// A step of the camera calibration. A simulation without camera rejects this command.
    Calibrate {
        /// The step.
        step: CalibrationStep,
    },
    /// Chooses one of several cameras: its picture is shown, and it is calibrated. A simulation without camera rejects this command.
    ChooseCamera {
        /// Name of the camera.
        name: String,
    },
    /// Adds or replaces an area of the chosen camera in the site file. A simulation without camera rejects this command.
    DrawArea {
        /// The area.
        area: DrawnArea,
    },
}

/// An area in which nobody is detected, or outside of which nobody is, as it is drawn in the picture of a camera.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawnArea {
    /// The list to which the area belongs.
    pub list: AreaList,
    /// Index of the area that it replaces, counted from 0. If absent, the area is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Whether the area is kept in meters on the floor, so that it stays there when the camera is moved and calibrated again.
    /// Otherwise it is kept in pixels of the picture.
    pub is_on_floor: bool,
    /// Corners in the picture, in order.
    #[schemars(length(min = 3, max = 64))]
    pub corners_px: Vec<[f32; 2]>,
}

/// A list of areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AreaList {
    /// In these areas nobody is detected.
    Ignore,
    /// If there are any, nobody is detected outside of these areas.
    Include,
}

impl AreaList {
    /// Returns the key of the list in the site file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ignore => "ignore",
            Self::Include => "include",
        }
    }
}

named!(VisionCommand {
    Calibrate = "calibrate",
    ChooseCamera = "choose_camera",
    DrawArea = "draw_area",
});

impl VisionCommand {
    pub(super) fn summary(&self) -> String {
        match self {
            Self::ChooseCamera { name } => name.clone(),
            Self::DrawArea { area } => area.list.name().to_owned(),
            Self::Calibrate {
                step: CalibrationStep::Markers { points },
            } => format!("{} markers", points.len()),
            Self::Calibrate {
                step: CalibrationStep::Table { .. },
            } => "table".to_owned(),
            Self::Calibrate { step } => serde_json::to_string(step).unwrap_or_default(),
        }
    }
}

/// A step of the camera calibration. Lengths are in meters, with the origin in the center of the surface. In pixel
/// coordinates, whole numbers are the centers of pixels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum CalibrationStep {
    /// Starts a calibration with touch targets: crosses are shown one by one, and the mark on each cross is measured.
    Start {
        /// Number of targets along the width of the surface, 3 to 5.
        #[serde(default = "default_targets")]
        columns: u8,
        /// Number of targets along the height of the surface, 3 to 5.
        #[serde(default = "default_targets")]
        rows: u8,
        /// The mark that the technician puts on the crosses.
        #[serde(default)]
        mark: TouchMark,
    },
    /// Starts a calibration with Gray-code stripes, for a camera that sees visible light. This calibration needs no
    /// marks and takes 80 seconds.
    GrayCode,
    /// Shows the previous target again.
    Back,
    /// Skips the shown target.
    Skip,
    /// Measures a target again.
    Repeat {
        /// Number of the target, counted from 1. If absent, the shown target is measured again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<usize>,
    },
    /// Measures all targets again, from the first one.
    StartAgain,
    /// Cancels the calibration. The old calibration stays in use.
    Cancel,
    /// Applies the proven calibration (measured, with an error below the limits) and saves it.
    Accept,
    /// Fits a calibration to points whose position in the camera's picture is known.
    Markers {
        /// The points.
        points: Vec<MarkerPoint>,
    },
    /// Fits a calibration to a table of points, in the format of `shoal calibrate`.
    Table {
        /// Text of the table.
        text: String,
    },
    /// Sets the position of the infrared lamp.
    Lamp {
        /// Position in world space.
        position_m: [f64; 3],
    },
    /// Computes the position of the lamp from the shadows of an upright pole that stood at three or more positions.
    Poles {
        /// Height of the pole.
        height_m: f64,
        /// Foot and shadow of the pole at each position, in the camera image.
        poles: Vec<PoleShadow>,
    },
}

fn default_targets() -> u8 {
    4
}

/// The object that the technician puts on each touch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TouchMark {
    /// A flat dark disc.
    #[default]
    Disc,
    /// An upright dark pole.
    Pole,
}

/// A point that is known both in the camera's picture and on the floor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkerPoint {
    /// Position in the picture, `[x, y]`.
    pub camera_px: [f64; 2],
    /// Position on the floor, `[x, z]`.
    pub floor_m: [f64; 2],
}

/// A pole and its shadow in the camera's picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoleShadow {
    /// Foot of the pole, `[x, y]`.
    pub foot_px: [f64; 2],
    /// Tip of the shadow, `[x, y]`.
    pub tip_px: [f64; 2],
}
