//! What `shoal cameras` says of a camera. Plain data, written by the worker and read by the command.

use serde::{Deserialize, Serialize};

/// A camera of this machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraDescription {
    /// What to write as its source: it names the same camera after a restart and after it was unplugged.
    pub source: String,
    /// Its number or node of today, such as `/dev/video0`.
    pub device: String,
    /// Its source through nokhwa, where that can open it.
    pub nokhwa_source: Option<String>,
    /// Its name.
    pub card: String,
    /// Where it is plugged in.
    pub bus: String,
    /// The driver.
    pub driver: String,
    /// Pixel formats.
    pub formats: Vec<FormatDescription>,
    /// Controls.
    pub controls: Vec<ControlDescription>,
    /// What could not be found out.
    pub problem: Option<String>,
}

/// A pixel format of a camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FormatDescription {
    /// Four character code, as in `?format=`.
    pub format: String,
    /// Whether Shoal can read it.
    pub readable: bool,
    /// Sizes, for formats that can be read.
    pub sizes: Vec<SizeDescription>,
}

/// A picture size of a format.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeDescription {
    /// Width in pixels.
    pub width_px: u32,
    /// Height in pixels.
    pub height_px: u32,
    /// Frames a second that can be had, highest first; two for a range.
    pub rates_fps: Vec<f64>,
}

/// A control of a camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControlDescription {
    /// Its name, as in `camera.controls`.
    pub name: String,
    /// Lowest value.
    pub min: i64,
    /// Highest value.
    pub max: i64,
    /// Smallest change.
    pub step: u64,
    /// Value after plugging in.
    pub default: i64,
    /// Value now, where it can be read.
    pub value: Option<i64>,
    /// Whether it has no effect now, mostly because an automatic function works.
    pub inactive: bool,
    /// Meanings of values, where they have any.
    pub choices: Vec<(i64, String)>,
}
