//! Position of the camera: as given by the technician and checked against the fit, or estimated from the fit.
//!
//! Input: a fit and its scatter. Output: a position, with a note or a problem for the technician. This file must not compute a
//! fit.

use glam::DVec3;

use super::fit::Fit;
use super::pose::{
    ViewConstraints, camera_position_through, estimated_inverse_square_focal,
    typical_inverse_square_focal,
};
use super::position::{camera_contradiction, position_problem};

/// Largest standard deviation of the estimated camera position, in meters. If it is larger, a note asks the technician to enter
/// the position.
const CAMERA_DEVIATION_MAX_M: f64 = 0.5;

/// Number of iterations of the focal length estimate.
const FOCAL_ROUNDS: usize = 3;
/// Relative step of 1/f² (f is the focal length) for the numeric derivative of the camera position.
const FOCAL_STEP: f64 = 1e-4;

/// Position of the camera, given or estimated.
#[derive(Default)]
pub(super) struct CameraPosition {
    pub(super) position_m: Option<[f64; 3]>,
    /// Standard deviation of an estimated position, in meters.
    pub(super) deviation_m: Option<f64>,
    /// Note for the technician, if the position is unknown or uncertain.
    pub(super) note: Option<String>,
    /// The reason why the camera cannot be at the given position.
    pub(super) problem: Option<String>,
}

/// Returns the given camera position, checked against the fit, or else the estimated one. If the focal length cannot be
/// determined from the view, a typical lens is assumed.
/// `scatter_m` is the standard deviation of the residuals.
pub(super) fn camera_position(fit: &Fit, given_m: Option<DVec3>, scatter_m: f64) -> CameraPosition {
    let estimated = camera_of_fit(fit, scatter_m);
    if let Some(given) = given_m {
        let contradiction = || {
            let (fitted, deviation_m) = estimated?;
            camera_contradiction(given, DVec3::from_array(fitted), deviation_m)
        };
        return CameraPosition {
            position_m: Some(given.to_array()),
            problem: position_problem("camera", given).or_else(contradiction),
            ..CameraPosition::default()
        };
    }
    let Some((position, deviation_m)) = estimated else {
        let unknown = "the height of the camera cannot be estimated, so it is assumed to look straight down; give its \
                       position (--camera x,y,z)";
        return CameraPosition {
            note: Some(unknown.to_owned()),
            ..CameraPosition::default()
        };
    };
    let note = format!(
        "the camera looks almost straight down, so its height is uncertain: {:.1} m ± {deviation_m:.1} m with a typical lens; \
         give its position (--camera x,y,z) for better foot points",
        position[1]
    );
    let is_uncertain = deviation_m > CAMERA_DEVIATION_MAX_M;
    CameraPosition {
        position_m: Some(position),
        deviation_m: Some(deviation_m),
        note: is_uncertain.then_some(note),
        problem: None,
    }
}

/// Returns the estimated camera position and its standard deviation, for residuals with the standard deviation `scatter`.
fn camera_of_fit(fit: &Fit, scatter: f64) -> Option<([f64; 3], f64)> {
    let (lens, map) = (fit.lens()?, fit.homography());
    let constraints = ViewConstraints::of(&lens, &map)?;
    let typical = typical_inverse_square_focal(&lens);
    let (mut inverse_f2, mut inverse_f2_deviation) = (typical, f64::NAN);
    // The uncertainty of the constraints depends on 1/f² itself, so the estimate is repeated with the new value.
    for _ in 0..FOCAL_ROUNDS {
        let [s0, s1, r0, r1] = fit.deviation(scatter, |lens, map| {
            let constraints = ViewConstraints::of(lens, map)?;
            let ([s0, s1], [r0, r1]) = (constraints.slopes, constraints.residuals(inverse_f2));
            Some([s0, s1, r0, r1])
        })?;
        (inverse_f2, inverse_f2_deviation) =
            estimated_inverse_square_focal(typical, &constraints, [s0, s1], [r0, r1]);
    }
    let through = |inverse_f2: f64| camera_position_through(&lens, &map, inverse_f2);
    let position = through(inverse_f2).filter(|position| position[1] > 0.0)?;
    let wider = DVec3::from_array(through(inverse_f2 * (1.0 + FOCAL_STEP))?);
    let slope = (wider - DVec3::from_array(position)) / (inverse_f2 * FOCAL_STEP);
    let of_map = fit.deviation(scatter, |lens, map| {
        camera_position_through(lens, map, inverse_f2)
    })?;
    let deviation_m = DVec3::from_array(of_map)
        .length()
        .hypot(slope.length() * inverse_f2_deviation);
    deviation_m.is_finite().then_some((position, deviation_m))
}
