//! Contents of a calibration file: the result of a fit and the points from which it was computed, with full precision.
//!
//! Input and output: TOML text. This file must not open a file or compute a fit.

use std::fmt::Write as _;

use glam::{DMat3, DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::LensModel;
use super::position::position_problem;
use super::texture::TextureMark;
use crate::config::{self, Problem, Problems};
use crate::geometry::{FloorFromCamera, Homography, Lens};

/// Accepted map from camera to floor, with the data from which it was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Date and time of the calibration, ISO 8601.
    pub date: String,
    /// Position `[x, y, z]` of the infrared lamp. Without this position, Shoal does not know which end of a shadow is at the
    /// feet.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lamp_m: Option<[f64; 3]>,
    /// Position `[x, y, z]` of the camera, from the fit or from the user. For a camera that looks into a mirror, the position of
    /// its mirror image.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera_m: Option<[f64; 3]>,
    /// Size of the camera frames that the calibration is for.
    pub picture: FrameSize,
    /// Size of the surface that the calibration is for.
    pub surface: SurfaceSize,
    /// Digest of the geometry of the outputs (parts, corners and meshes) during the calibration. Without it, Shoal does not know
    /// whether the projected picture has moved since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<String>,
    /// Distortion of the lens.
    pub lens: LensTerms,
    /// Homography from undistorted pixels to floor meters.
    pub floor_from_straight: HomographyRows,
    /// Errors of the fit.
    pub errors: FitErrors,
    /// Points from which the fit was computed.
    pub points: Vec<CalibrationPoint>,
    /// Texture of the floor at the time of the calibration. Shoal uses it to detect that the camera has moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TextureMark>,
}

/// Size of the camera frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameSize {
    /// Width, in pixels.
    #[schemars(range(min = 16, max = 16384))]
    pub width_px: u32,
    /// Height, in pixels.
    #[schemars(range(min = 16, max = 16384))]
    pub height_px: u32,
}

/// Size of the projected surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceSize {
    /// Width, in meters.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub width_m: f64,
    /// Height, in meters.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub height_m: f64,
}

/// Radial terms of the lens distortion. The unit of the radius r is half the frame's diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LensTerms {
    /// Lens model: the set of terms that were fitted.
    pub model: LensModel,
    /// Coefficient of r².
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub k1: f64,
    /// Coefficient of r⁴.
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub k2: f64,
}

/// Rows of the homography: `(x, z, 1) ~ rows · (u, v, 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomographyRows {
    /// Row that gives x.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub x: [f64; 3],
    /// Row that gives z.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub z: [f64; 3],
    /// Row that gives the common divisor of both.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub w: [f64; 3],
}

/// Errors of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitErrors {
    /// Error at the points, as root mean square in meters.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub rms_m: f64,
    /// Leave-one-out error, as root mean square in meters: each point is compared with a fit to all other points.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub left_out_rms_m: f64,
    /// Largest leave-one-out error, in meters.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub left_out_worst_m: f64,
    /// Predicted error, as root mean square over the surface, in meters.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub predicted_rms_m: f64,
    /// Largest predicted error on the surface, in meters.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub predicted_worst_m: f64,
    /// Share of the surface that the points enclose.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage: f64,
}

/// One measured point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationPoint {
    /// Position `[x, y]` in the camera frame, in pixels.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub camera_px: [f64; 2],
    /// Position `[x, z]` on the floor, in meters.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub floor_m: [f64; 2],
    /// Leave-one-out error: distance in meters from the position that all other points predict.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub left_out_m: f64,
}

/// Reason why a calibration cannot be used for the frames of a camera.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// The camera delivers frames of another size.
    #[error(
        "the calibration is for frames of {calibrated_width}x{calibrated_height}, but the camera delivers {width}x{height}; \
         set the camera to the calibrated size, or calibrate again"
    )]
    OtherSize {
        /// Frame width of the calibration.
        calibrated_width: u32,
        /// Frame height of the calibration.
        calibrated_height: u32,
        /// Frame width of the camera.
        width: u32,
        /// Frame height of the camera.
        height: u32,
    },
    /// The numbers of the calibration do not form an invertible map.
    #[error("the calibration is not an invertible map from frame to floor; calibrate again")]
    NotInvertible,
}

impl Calibration {
    /// Parses the text of a calibration file.
    ///
    /// # Errors
    /// Returns all problems of the text with line and column: wrong, missing or out-of-range values, or a map that is not
    /// invertible.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        if text.trim().is_empty() {
            let message = "the file is empty; calibrate again, or put back an earlier version";
            return Err(Problems(vec![Problem::of_file(file, message)]));
        }
        let (calibration, spans) = config::parse::<Self>(text, file)?;
        let problems = calibration.problems();
        if problems.is_empty() {
            return Ok(calibration);
        }
        let located = problems
            .into_iter()
            .map(|(path, message)| spans.problem(&path, message));
        Err(Problems(located.collect()))
    }

    /// Returns all contradictions between fields, as pairs of path and message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        match self.map() {
            None => problems.push((
                "floor_from_straight".to_owned(),
                "the nine numbers are not an invertible map; calibrate again".to_owned(),
            )),
            Some(map) => {
                let middle = map.camera_from_floor(DVec2::ZERO);
                let size = DVec2::new(
                    f64::from(self.picture.width_px),
                    f64::from(self.picture.height_px),
                );
                if !(middle.cmpge(-size).all() && middle.cmple(2.0 * size).all()) {
                    problems.push((
                        "floor_from_straight".to_owned(),
                        "the center of the surface is far outside the camera frame; calibrate again"
                            .to_owned(),
                    ));
                }
            }
        }
        for (path, what, position_m) in [
            ("lamp_m", "lamp", self.lamp_m),
            ("camera_m", "camera", self.camera_m),
        ] {
            let problem = position_m.and_then(|p| position_problem(what, DVec3::from_array(p)));
            problems.extend(problem.map(|message| (path.to_owned(), message)));
        }
        problems
    }

    /// Returns the map for frames of the calibrated size, or `None` if the numbers do not form an invertible map.
    fn map(&self) -> Option<FloorFromCamera> {
        let lens = Lens::new(
            self.picture.width_px,
            self.picture.height_px,
            self.lens.k1,
            self.lens.k2,
        )?;
        FloorFromCamera::new(lens, self.floor_from_straight.homography())
    }

    /// Returns the map for frames of the given size.
    ///
    /// # Errors
    /// [`CalibrationError`] if the calibration is for frames of another size, or if its numbers do not form an invertible map.
    pub fn floor_from_camera(
        &self,
        width_px: u32,
        height_px: u32,
    ) -> Result<FloorFromCamera, CalibrationError> {
        if (width_px, height_px) != (self.picture.width_px, self.picture.height_px) {
            return Err(CalibrationError::OtherSize {
                calibrated_width: self.picture.width_px,
                calibrated_height: self.picture.height_px,
                width: width_px,
                height: height_px,
            });
        }
        self.map().ok_or(CalibrationError::NotInvertible)
    }

    /// Returns the text of the calibration file.
    pub fn to_toml(&self) -> String {
        let mut text = "# Created by `shoal calibrate`. Lengths are in meters on the surface, with the origin at its center. Pixel centers are at whole numbers.\n"
            .to_owned();
        match toml::to_string(self) {
            Ok(body) => text.push_str(&body),
            // This error cannot occur for structs of numbers and texts. If it still occurred, reading the file would report the
            // missing keys.
            Err(e) => {
                let _ = writeln!(text, "# {e}");
            }
        }
        text
    }
}

impl HomographyRows {
    /// Creates the rows from a homography.
    pub fn new(homography: &Homography) -> Self {
        let rows = homography.0.transpose();
        Self {
            x: rows.x_axis.to_array(),
            z: rows.y_axis.to_array(),
            w: rows.z_axis.to_array(),
        }
    }

    fn homography(&self) -> Homography {
        Homography(DMat3::from_cols_array_2d(&[self.x, self.z, self.w]).transpose())
    }
}
