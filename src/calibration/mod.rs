//! Fits lens and homography to measured points and predicts the error of the fit. This module uses no camera and no file.
//!
//! Input: positions of targets on the floor and in the camera frame. Output: a [`Calibration`] whose predicted error is within
//! the limits, or a [`Rejection`] that says what to do. The steps are: impossible points are rejected; points that contradict
//! all others are reported; the simplest of several lens models is selected whose leave-one-out error is close to the smallest
//! one; the covariance of the selected fit predicts the error over the whole surface; this error is compared with the limits.

mod calibrate;
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
#[cfg(test)]
mod sample;
mod spot;
mod texture;
mod touch;

pub use calibrate::{
    CalibrationReport, CalibrationSetup, POINTS_MIN, Rejection, RejectionCause, calibrate,
};
pub use drift::{Drift, DriftDetector};
pub use file::{
    Calibration, CalibrationError, CalibrationPoint, FitErrors, FrameSize, HomographyRows,
    LensTerms, SurfaceSize,
};
pub use fit::{Fit, LensModel, PointPair};
pub use gray::{
    Correspondence, GrayAxis, GrayCode, GrayError, GrayPattern, GrayScan, points_from_gray,
};
pub use lamp::{LampFit, POLES_MIN, PoleMeasurement, lamp_from_poles};
pub use params::CalibrationParams;
pub use points::{MeasuredPoint, POINT_COLUMNS, POINTS_MAX, PointOrigin, PointsError, read_points};
pub use position::position_problem;
pub use quality::{LENS_PAIRS_MIN, SelectedFit, leave_one_out, outliers, predicted_error};
pub use spot::{DarkMask, DarkSpot, SpotFault, TargetObject, find_dark_spots};
pub use texture::{FloorFrame, MeanFrame, TextureMark, find_texture_marks};
pub use touch::{
    Language, SpotFrame, TOUCH_GRID_SIDES, TouchEvent, TouchOptions, TouchProcedure, TouchTarget,
    WaitReason,
};
