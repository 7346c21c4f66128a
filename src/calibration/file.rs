//! The calibration file: everything that a fit found and was made from, read back without a digit lost.
//!
//! In and out: TOML text. Must not: touch a file, fit.

use std::fmt::Write as _;

use glam::{DMat3, DVec2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::LensModel;
use super::texture::TextureMark;
use crate::config::{self, Problems};
use crate::geometry::{FloorFromCamera, Homography, Lens};

/// A proven map from camera to floor, with where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// When it was made, ISO 8601.
    pub date: String,
    /// Position `[x, y, z]` of the infrared lamp. Without it nobody knows which end of a shadow is the feet.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lamp_m: Option<[f64; 3]>,
    /// Position `[x, y, z]` of the camera, from the fit or typed.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera_m: Option<[f64; 3]>,
    /// Pictures that it belongs to.
    pub picture: Picture,
    /// Surface that it belongs to.
    pub surface: SurfaceSize,
    /// How the lens bends.
    pub lens: LensTerms,
    /// From straight-lined pixels to floor meters.
    pub floor_from_straight: HomographyRows,
    /// How good it is.
    pub errors: FitErrors,
    /// What it was made from.
    pub points: Vec<CalibrationPoint>,
    /// The floor's texture as the camera saw it then, to notice that it was moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<TextureMark>,
}

/// Size of the camera's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Picture {
    /// Width.
    #[schemars(range(min = 16, max = 16384))]
    pub width_px: u32,
    /// Height.
    #[schemars(range(min = 16, max = 16384))]
    pub height_px: u32,
}

/// Size of the projected surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceSize {
    /// Width.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub width_m: f64,
    /// Height.
    #[schemars(range(min = 0.2, max = 100.0))]
    pub height_m: f64,
}

/// Radial terms; radii are divided by half the picture's diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LensTerms {
    /// Which terms were fitted.
    pub model: LensModel,
    /// Coefficient of r².
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub k1: f64,
    /// Coefficient of r⁴.
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub k2: f64,
}

/// The homography row by row: `(x, z, 1) ~ rows · (u, v, 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomographyRows {
    /// Row that gives x.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub x: [f64; 3],
    /// Row that gives z.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub z: [f64; 3],
    /// Row that gives what both are divided by.
    #[schemars(inner(range(min = -1e12, max = 1e12)))]
    pub w: [f64; 3],
}

/// How good a fit is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitErrors {
    /// Root of the mean squared error at the points.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub rms_m: f64,
    /// The same where each point is foretold by the others.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub left_out_rms_m: f64,
    /// The worst of these.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub left_out_worst_m: f64,
    /// Foretold error, root of the mean square over the surface.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub predicted_rms_m: f64,
    /// Foretold error where it is worst on the surface.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub predicted_worst_m: f64,
    /// Part of the surface's area that the points span.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage: f64,
}

/// One target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationPoint {
    /// Where the camera saw it, `[x, y]`.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub camera_px: [f64; 2],
    /// Where it lay, `[x, z]`.
    #[schemars(inner(range(min = -1e6, max = 1e6)))]
    pub floor_m: [f64; 2],
    /// How far the others put it from there.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub left_out_m: f64,
}

/// Why a calibration cannot be used for a camera's frames.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// The camera delivers other pictures.
    #[error(
        "the calibration was made with pictures of {made_width}x{made_height}, the camera delivers {width}x{height}; \
         set the camera to that size, or calibrate anew"
    )]
    OtherSize {
        /// Width of the pictures it was made with.
        made_width: u32,
        /// Height of the pictures it was made with.
        made_height: u32,
        /// Width that the camera delivers.
        width: u32,
        /// Height that the camera delivers.
        height: u32,
    },
    /// The numbers are no map.
    #[error("the calibration's numbers are no map from picture to floor; calibrate anew")]
    NoMap,
}

impl Calibration {
    /// Reads a calibration file's text.
    ///
    /// # Errors
    /// All problems of the text with line and column: what is no number, missing, out of range, or no map.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problems> {
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

    /// What one field forbids another: path and sentence.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        match self.map() {
            None => problems.push((
                "floor_from_straight".to_owned(),
                "the nine numbers are no map that can be turned round; calibrate anew".to_owned(),
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
                        "the surface's middle lies far beside the camera's picture; calibrate anew"
                            .to_owned(),
                    ));
                }
            }
        }
        problems
    }

    /// The map, whatever size the frames have; `None` when the numbers are no map.
    fn map(&self) -> Option<FloorFromCamera> {
        let lens = Lens::new(
            self.picture.width_px,
            self.picture.height_px,
            self.lens.k1,
            self.lens.k2,
        )?;
        FloorFromCamera::new(lens, self.floor_from_straight.homography())
    }

    /// The map for frames of this size.
    ///
    /// # Errors
    /// When the frames have another size than those that it was made with.
    pub fn floor_from_camera(
        &self,
        width_px: u32,
        height_px: u32,
    ) -> Result<FloorFromCamera, CalibrationError> {
        if (width_px, height_px) != (self.picture.width_px, self.picture.height_px) {
            return Err(CalibrationError::OtherSize {
                made_width: self.picture.width_px,
                made_height: self.picture.height_px,
                width: width_px,
                height: height_px,
            });
        }
        self.map().ok_or(CalibrationError::NoMap)
    }

    /// The text of its file.
    pub fn to_toml(&self) -> String {
        let mut text = "# Made by `shoal calibrate`. Lengths in meters on the surface, origin in its middle; pixel centers are whole numbers.\n"
            .to_owned();
        match toml::to_string(self) {
            Ok(body) => text.push_str(&body),
            // Plain structs of numbers and texts always have a TOML form; a file without one is refused when read.
            Err(e) => {
                let _ = writeln!(text, "# {e}");
            }
        }
        text
    }
}

impl HomographyRows {
    /// From the matrix.
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
