//! Fits lens and homography from measured points, and proves how good they are. Touches no camera and no file.
//!
//! In: where targets lie on the floor and where the camera sees them. Out: a [`Calibration`] that is proven good enough,
//! or a [`Rejection`] that says what to do. The order is: points that cannot be are refused; those that contradict all
//! others are named; of several lens models the one that foretells left-out points best is taken; its covariance
//! foretells the error over the whole surface, and that decides.

mod coverage;
mod drift;
mod file;
mod fit;
mod gray;
mod judge;
mod lamp;
mod params;
mod points;
mod pole;
mod pose;
mod prove;
#[cfg(test)]
mod sample;
mod spot;
mod texture;
mod touch;

pub use drift::{Drift, DriftWatch};
pub use file::{
    Calibration, CalibrationError, CalibrationPoint, FitErrors, HomographyRows, LensTerms, Picture,
    SurfaceSize,
};
pub use fit::{Fit, LensModel, Pair};
pub use gray::{
    Correspondence, GrayAxis, GrayCode, GrayError, GrayPattern, GrayScan, points_from_gray,
};
pub use judge::{POINTS_MIN, Rejection, Report, Setup, calibrate};
pub use lamp::{LampFit, POLES_MIN, PoleMeasurement, lamp_from_poles};
pub use params::CalibrationParams;
pub use points::{COLUMNS, MeasuredPoint, POINTS_MAX, PointOrigin, PointsError, read_points};
pub use prove::{Chosen, LENS_PAIRS_MIN, foretold, leave_one_out, outliers};
pub use spot::{DarkPicture, Mark, Spot, SpotFault, find_spots};
pub use texture::{FloorPicture, MeanPicture, TextureMark, texture_marks};
pub use touch::{GRID_SIDES, Pattern, Sight, Touch, TouchPlan, Turn};
