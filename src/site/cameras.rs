//! The cameras of a site: one in `[camera]`, or several in `[[cameras]]`.
//!
//! In: the site file. Out: the same data for every camera. Must not: open a camera or a file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::camera::CameraParams;
use crate::vision::{Area, VisionParams};

/// One of several cameras that see the same floor. A visitor keeps the id when the visitor walks from one view into another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CameraEntry {
    /// Name of the camera in faults, in the status and on the pages of the panel.
    pub name: String,
    /// The source, as `camera.source`.
    pub source: String,
    /// Frame rate, as `camera.fps`.
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub fps: Option<f64>,
    /// Play a recording as fast as possible, as `camera.fast`.
    pub fast: bool,
    /// Settings of a live camera and their values, such as exposure and gain, as in `camera.controls`: `shoal cameras` names those that a
    /// camera has.
    #[schemars(extend("additionalProperties" = {"type": "integer", "minimum": -2147483648i64, "maximum": 2147483647i64}))]
    pub controls: BTreeMap<String, i64>,
    /// Leave automatic functions unchanged, as `camera.auto_functions`.
    pub auto_functions: bool,
    /// Delay from a movement to the projected reaction in milliseconds, as `camera.latency_ms`.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub latency_ms: f32,
    /// Path of the calibration file, as `calibration.file`. Several cameras agree only if each is calibrated.
    pub calibration: Option<String>,
    /// Areas in which this camera detects nobody, as `vision.ignore`.
    #[schemars(length(max = 32))]
    pub ignore: Vec<Area>,
    /// If there are any, this camera detects nobody outside of these areas, as `vision.include`.
    #[schemars(length(max = 32))]
    pub include: Vec<Area>,
}

impl Default for CameraEntry {
    fn default() -> Self {
        Self::single(CameraParams::default(), None, &VisionParams::default())
    }
}

impl CameraEntry {
    /// Returns the camera of a site with a single one. It has no name.
    pub(super) fn single(
        camera: CameraParams,
        calibration: Option<String>,
        vision: &VisionParams,
    ) -> Self {
        Self {
            name: String::new(),
            source: camera.source,
            fps: camera.fps,
            fast: camera.fast,
            controls: camera.controls,
            auto_functions: camera.auto_functions,
            latency_ms: camera.latency_ms,
            calibration,
            ignore: vision.ignore.clone(),
            include: vision.include.clone(),
        }
    }

    /// Returns source and settings.
    pub fn params(&self) -> CameraParams {
        CameraParams {
            source: self.source.clone(),
            fps: self.fps,
            fast: self.fast,
            controls: self.controls.clone(),
            auto_functions: self.auto_functions,
            latency_ms: self.latency_ms,
        }
    }

    /// Returns the parameters of vision with the areas of this camera.
    pub fn vision(&self, common: &VisionParams) -> VisionParams {
        VisionParams {
            ignore: self.ignore.clone(),
            include: self.include.clone(),
            ..common.clone()
        }
    }
}
