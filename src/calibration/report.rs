//! What a calibration is computed for, and what its fit is like.

use glam::DVec3;

use super::file::FitErrors;
use super::fit::LensModel;

/// The camera and the surface that the points belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationSetup {
    /// Width and height of the camera frames, in pixels.
    pub frame_px: (u32, u32),
    /// Width and height of the projected surface, in meters.
    pub surface_m: (f64, f64),
    /// Position of the infrared lamp; `None` if unknown.
    pub lamp_m: Option<DVec3>,
    /// Measured position of the camera. If it is `None`, the fit estimates the position.
    pub camera_m: Option<DVec3>,
    /// Date and time of the calibration, ISO 8601. The caller provides it, because this module has no clock.
    pub date: String,
}

/// Results of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationReport {
    /// The selected lens model.
    pub model: LensModel,
    /// Leave-one-out error of each tried model, as root mean square in meters.
    pub candidates: Vec<(LensModel, f64)>,
    /// Number of points.
    pub points: usize,
    /// Errors of the fit.
    pub errors: FitErrors,
    /// Description of the point with the largest leave-one-out error.
    pub worst_point: String,
    /// Whether the camera's picture is mirrored. The calibration is valid for this picture.
    pub is_mirrored: bool,
    /// Standard deviation of the estimated camera position, in meters; `None` if the position was given or cannot be estimated.
    pub camera_deviation_m: Option<f64>,
    /// Notes for the technician about an accepted calibration.
    pub notes: Vec<String>,
}

impl CalibrationReport {
    /// Returns a sentence for the technician if the camera's picture is mirrored, with a space at the end; otherwise an empty
    /// text.
    pub fn mirror_sentence(&self) -> &'static str {
        if self.is_mirrored {
            "The camera's picture is mirrored; the calibration takes this into account. "
        } else {
            ""
        }
    }
}
