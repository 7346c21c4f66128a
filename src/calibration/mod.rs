//! Fits lens and homography to measured points and predicts the error of the fit. This module uses no camera and no file.
//!
//! Input: positions of targets on the floor and in the camera frame. Output: a [`Calibration`] whose predicted error is within
//! the limits, or a [`Rejection`] that says what to do. The steps are: impossible points are rejected; points that contradict
//! all others are reported; the simplest of several lens models is selected whose leave-one-out error is close to the smallest
//! one; the covariance of the selected fit predicts the error over the whole surface; this error is compared with the limits.

mod calibrate;
mod camera_position;
mod coverage;
mod drift;
mod file;
mod fit;
mod gray;
mod lamp;
mod mirror;
mod moments;
mod params;
mod points;
mod pole;
mod pose;
mod position;
mod quality;
mod rejection;
mod report;
#[cfg(test)]
mod sample;
mod spot;
mod texture;
mod touch;

pub use calibrate::calibrate;
pub use drift::{Drift, DriftDetector, DriftRound};
pub use file::{
    Calibration, CalibrationError, CalibrationPoint, FitErrors, FrameSize, HomographyRows,
    LensTerms, SurfaceSize,
};
pub use fit::{Fit, LensModel, PointPair};
pub use gray::{GrayAxis, GrayPattern, GrayScan, NotVisible};
pub use lamp::{LampFit, POLES_MIN, PoleMeasurement, lamp_from_poles};
pub use params::CalibrationParams;
pub use points::{MeasuredPoint, POINTS_MAX, PointOrigin, PointsError, read_points};
pub use position::lamp_problem;
pub use quality::SelectedFit;
pub use rejection::{Rejection, RejectionCause};
pub use report::{CalibrationReport, CalibrationSetup};
pub use spot::{DarkMask, DarkSpot, SpotFault, TargetObject, find_dark_spots};
pub use texture::{FloorFrame, MeanFrame, TextureMark, find_texture_marks};
pub use touch::{
    SpotFrame, TOUCH_GRID_SIDES, TouchEvent, TouchOptions, TouchProcedure, TouchTarget, WaitReason,
};
