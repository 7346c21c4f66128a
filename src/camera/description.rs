//! The description of a camera in the output of `shoal cameras`. Plain data: the worker writes it, the command reads it.

use serde::{Deserialize, Serialize};

/// A camera of this machine, with its formats and controls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraDescription {
    /// Source text that finds this camera again after a restart or after it was disconnected.
    pub source: String,
    /// Current number or device node of the camera, such as `/dev/video0`.
    pub device: String,
    /// Source text that opens the camera through the crate nokhwa; `None` if nokhwa cannot open the camera.
    pub nokhwa_source: Option<String>,
    /// Name of the camera.
    pub card: String,
    /// Bus address to which the camera is connected.
    pub bus: String,
    /// Name of the driver.
    pub driver: String,
    /// Pixel formats.
    pub formats: Vec<FormatDescription>,
    /// Controls.
    pub controls: Vec<ControlDescription>,
    /// Error that happened while the camera was queried; `None` if there was none.
    pub problem: Option<String>,
}

/// A pixel format of a camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FormatDescription {
    /// V4L2 four-character code, as in `?format=`.
    pub format: String,
    /// Whether Shoal can read the format.
    pub readable: bool,
    /// Sizes of frames; empty for formats that Shoal cannot read.
    pub sizes: Vec<SizeDescription>,
}

/// A frame size of a format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeDescription {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Available frame rates in frames per second, highest first. If the camera supports a range, the list contains its two
    /// ends.
    pub rates_fps: Vec<f64>,
}

/// A control of a camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlDescription {
    /// Name, as in `camera.controls`.
    pub name: String,
    /// Lowest value.
    pub min: i64,
    /// Highest value.
    pub max: i64,
    /// Step between valid values.
    pub step: u64,
    /// Default value of the driver.
    pub default: i64,
    /// Current value; `None` if it cannot be read.
    pub value: Option<i64>,
    /// Whether the control has no effect at present, usually because an automatic function is on.
    pub inactive: bool,
    /// Valid values with their meanings, for controls that offer a choice; empty for other controls.
    pub choices: Vec<(i64, String)>,
}
