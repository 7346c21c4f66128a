//! Computes a calibration from measured points, or rejects the points with reasons.
//!
//! Input: points, sizes, limits. Output: a [`Calibration`] with its [`CalibrationReport`], or a [`Rejection`] whose messages
//! name the targets to repeat. This file must not open a file, and must not accept a fit whose predicted error exceeds the
//! limits.

use glam::DVec2;

use super::camera_position::camera_position;
use super::coverage::{coverage, surface_grid};
use super::file::{
    Calibration, CalibrationPoint, FitErrors, FrameSize, HomographyRows, LensTerms, SurfaceSize,
};
use super::fit::{Fit, PointPair};
use super::mirror::{MirrorCause, is_mirrored, mirror_cause};
use super::params::CalibrationParams;
use super::points::{MeasuredPoint, PointOrigin};
use super::position::lamp_problem;
use super::quality::{SelectedFit, outliers, predicted_error, rms};
use super::rejection::{
    Rejection, RejectionCause, impossible_points, mirror_note, misplaced, no_fit, quarter_note,
    swapped_columns,
};
use super::report::{CalibrationReport, CalibrationSetup};
use crate::geometry::{FloorFromCamera, Lens};

/// Fits lens and homography to points, and accepts the fit only if its predicted error is within the limits.
///
/// # Errors
/// [`Rejection`]: too few points, impossible points, points on a line or in a corner, a wrongly placed point, swapped columns,
/// or a fit whose predicted error is too large.
pub fn calibrate(
    points: &[MeasuredPoint],
    setup: &CalibrationSetup,
    limits: &CalibrationParams,
) -> Result<(Calibration, CalibrationReport), Rejection> {
    if let Some(impossible) = impossible_points(points, setup) {
        return Err(impossible);
    }
    let no_map = |wrong: &[usize]| {
        Rejection::from_reasons(RejectionCause::NoMap, vec![no_fit(points, wrong)])
    };
    let pairs: Vec<PointPair> = points.iter().map(|p| (p.camera_px, p.floor_m)).collect();
    let wrong = outliers(
        &pairs,
        setup.frame_px,
        limits.outlier_m,
        limits.placement_error_m,
    );
    let good: Vec<PointPair> = (0..pairs.len())
        .filter(|i| !wrong.contains(i))
        .map(|i| pairs[i])
        .collect();
    let Some(selected) = SelectedFit::new(&good, setup.frame_px) else {
        return Err(no_map(&wrong));
    };
    let map = selected
        .fit
        .lens()
        .and_then(|lens| FloorFromCamera::new(lens, selected.fit.homography()));
    let Some(map) = map else {
        return Err(no_map(&wrong));
    };
    let kept: Vec<&MeasuredPoint> = (0..points.len())
        .filter(|i| !wrong.contains(i))
        .map(|i| &points[i])
        .collect();
    let mut reasons = misplaced(points, &wrong, &selected.fit);
    let mirrored = cause_of_mirroring(points, &selected.fit, &good, setup, limits);
    let mut cause = (!wrong.is_empty()).then_some(RejectionCause::MisplacedPoint);
    let swapped = mirrored.and_then(|cause| swapped_columns(cause, setup));
    if swapped.is_some() {
        cause.get_or_insert(RejectionCause::SwappedColumns);
    }
    reasons.extend(swapped);
    let mut report = report(&selected, &map, &kept, setup, limits);
    report.is_mirrored = mirrored.is_some();
    let mut repeat = wrong.clone();
    let shortcomings = limit_violations(&report, &map, setup, limits);
    if repeat.is_empty() && reasons.is_empty() && is_too_inaccurate(&report.errors, limits) {
        repeat.extend(
            points
                .iter()
                .position(|p| Some(p) == worst_of(&selected, &kept)),
        );
    }
    if !shortcomings.is_empty() {
        cause.get_or_insert(RejectionCause::Inaccurate);
    }
    reasons.extend(shortcomings);
    reasons.extend(
        setup
            .lamp_m
            .and_then(|at| lamp_problem(at, setup.surface_m)),
    );
    let scatter_m = assumed_scatter(&selected.fit, limits);
    let camera = camera_position(&selected.fit, setup.camera_m, scatter_m);
    if reasons.is_empty() {
        reasons.extend(camera.problem);
    }
    let quarter = quarter_note(points, setup);
    if !reasons.is_empty() {
        reasons.extend(quarter);
        return Err(Rejection {
            cause: cause.unwrap_or(RejectionCause::ImpossiblePosition),
            reasons,
            repeat,
            report: Some(Box::new(report)),
        });
    }
    report.camera_deviation_m = camera.deviation_m;
    report.notes.extend(mirrored.map(mirror_note));
    report.notes.extend(camera.note);
    report.notes.extend(quarter);
    if setup.lamp_m.is_none() {
        report.notes.push(
            "without a lamp position (--lamp x,y,z), the center of a shadow is used as the foot point"
                .to_owned(),
        );
    }
    let used = good.iter().zip(&selected.left_out);
    let points = used.map(|((camera, floor), off)| CalibrationPoint {
        camera_px: camera.to_array(),
        floor_m: floor.to_array(),
        left_out_m: off.length(),
    });
    let calibration = Calibration {
        camera_m: camera.position_m,
        points: points.collect(),
        ..calibration_without_points(&map, &report, setup)
    };
    Ok((calibration, report))
}

/// Returns the calibration without its points and the camera's position.
fn calibration_without_points(
    map: &FloorFromCamera,
    report: &CalibrationReport,
    setup: &CalibrationSetup,
) -> Calibration {
    Calibration {
        date: setup.date.clone(),
        lamp_m: setup.lamp_m.map(|p| p.to_array()),
        camera_m: None,
        picture: FrameSize {
            width_px: setup.frame_px.0,
            height_px: setup.frame_px.1,
        },
        surface: SurfaceSize {
            width_m: setup.surface_m.0,
            height_m: setup.surface_m.1,
        },
        projection: None,
        lens: LensTerms {
            model: report.model,
            k1: map.lens().k1(),
            k2: map.lens().k2(),
        },
        floor_from_straight: HomographyRows::new(&map.homography()),
        errors: report.errors,
        points: Vec::new(),
        marks: Vec::new(),
    }
}

/// Returns why the fit mirrors the plane; `None` if it does not.
fn cause_of_mirroring(
    points: &[MeasuredPoint],
    fit: &Fit,
    good: &[PointPair],
    setup: &CalibrationSetup,
    limits: &CalibrationParams,
) -> Option<MirrorCause> {
    if !is_mirrored(fit, good) {
        return None;
    }
    // Only in a table can columns be swapped.
    if !points.iter().any(MeasuredPoint::is_typed) {
        return Some(MirrorCause::Picture { is_certain: true });
    }
    Some(mirror_cause(
        fit,
        good,
        setup.frame_px,
        setup.surface_m,
        limits.placement_error_m,
    ))
}

fn report(
    selected: &SelectedFit,
    map: &FloorFromCamera,
    kept: &[&MeasuredPoint],
    setup: &CalibrationSetup,
    limits: &CalibrationParams,
) -> CalibrationReport {
    let fit = &selected.fit;
    let scatter = assumed_scatter(fit, limits);
    let pixels: Vec<DVec2> = surface_grid(setup.surface_m)
        .into_iter()
        .map(|f| map.camera_from_floor(f))
        .collect();
    let (predicted_rms_m, predicted_worst_m) =
        predicted_error(fit, &pixels, scatter).unwrap_or((f64::INFINITY, f64::INFINITY));
    let left_out_worst_m = selected
        .left_out
        .iter()
        .map(|off| off.length())
        .fold(0.0, f64::max);
    let worst_point = worst_of(selected, kept).map_or_else(String::new, |p| {
        let (x, z) = (p.floor_m.x, p.floor_m.y);
        match p.origin {
            PointOrigin::Line(line) => format!("the point at {x:.2}, {z:.2} m (line {line})"),
            PointOrigin::Target(number) => format!("cross {number}"),
            PointOrigin::Marker(number) => format!("marker {number}"),
            PointOrigin::Cell(number) => format!("cell {number}"),
        }
    });
    CalibrationReport {
        model: fit.model,
        candidates: selected.candidates.clone(),
        points: kept.len(),
        errors: FitErrors {
            rms_m: fit.rms(),
            left_out_rms_m: rms(&selected.left_out),
            left_out_worst_m,
            predicted_rms_m,
            predicted_worst_m,
            coverage: coverage(kept.iter().map(|p| p.floor_m).collect(), setup.surface_m),
        },
        worst_point,
        is_mirrored: false,
        camera_deviation_m: None,
        notes: Vec::new(),
    }
}

/// Returns the point with the largest leave-one-out error.
fn worst_of<'p>(selected: &SelectedFit, kept: &[&'p MeasuredPoint]) -> Option<&'p MeasuredPoint> {
    let off = selected.left_out.iter().map(|off| off.length());
    let (_, worst) = off.zip(kept).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(worst)
}

/// Returns whether the predicted error exceeds the limits.
fn is_too_inaccurate(errors: &FitErrors, limits: &CalibrationParams) -> bool {
    errors.predicted_rms_m > limits.predicted_rms_max_m
        || errors.predicted_worst_m > limits.predicted_worst_max_m
}

/// Returns the standard deviation of the points in each direction, in meters. It is estimated from the residuals, but at least
/// the placement error.
fn assumed_scatter(fit: &Fit, limits: &CalibrationParams) -> f64 {
    fit.scatter()
        .unwrap_or(f64::INFINITY)
        .max(limits.placement_error_m)
}

/// Returns messages about limits that the fit does not meet.
fn limit_violations(
    report: &CalibrationReport,
    map: &FloorFromCamera,
    setup: &CalibrationSetup,
    limits: &CalibrationParams,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let errors = &report.errors;
    let mm = |m: f64| format!("{:.0} mm", m * 1e3);
    if errors.coverage < limits.coverage_min {
        reasons.push(format!(
            "the points span only {:.0} % of the surface, but {:.0} % are needed; spread them over the whole surface, including its corners",
            errors.coverage * 100.0,
            limits.coverage_min * 100.0
        ));
    }
    let is_visible = surface_grid(setup.surface_m)
        .iter()
        .all(|f| map.camera_from_floor(*f).is_finite());
    if !is_visible || !errors.predicted_rms_m.is_finite() {
        reasons.push("part of the surface would be behind the camera or beyond the horizon; are columns swapped?".to_owned());
    } else if is_too_inaccurate(errors, limits) {
        reasons.push(format!(
            "the predicted floor error is {} (at most {}), but {} ({}) are allowed; the points disagree by {}, and {} the most, \
             by {}; measure it again, or add points where there are few",
            mm(errors.predicted_rms_m),
            mm(errors.predicted_worst_m),
            mm(limits.predicted_rms_max_m),
            mm(limits.predicted_worst_max_m),
            mm(errors.rms_m),
            report.worst_point,
            mm(errors.left_out_worst_m)
        ));
    }
    let lens: &Lens = map.lens();
    let reach = surface_grid(setup.surface_m)
        .iter()
        .map(|f| (map.camera_from_floor(*f) - lens.center_px()).length() / lens.half_diagonal_px())
        .fold(0.0, f64::max);
    if is_visible && reach.min(1.0) > lens.trusted_radius() {
        reasons.push(format!(
            "the fitted lens (k1 = {:.3}, k2 = {:.3}) folds the image inside the surface; add points near \
             the corners of the surface",
            lens.k1(),
            lens.k2()
        ));
    }
    reasons
}
