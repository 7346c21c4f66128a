//! Computes a calibration from measured points, or rejects the points with reasons.
//!
//! Input: points, sizes, limits. Output: a [`Calibration`] with its [`CalibrationReport`], or a [`Rejection`] whose messages
//! name the targets to repeat. This file must not open a file, and must not accept a fit whose predicted error exceeds the
//! limits.

use glam::{DVec2, DVec3};

use super::coverage::{coverage, surface_grid};
use super::file::{
    Calibration, CalibrationPoint, FitErrors, FrameSize, HomographyRows, LensTerms, SurfaceSize,
};
use super::fit::{Fit, LensModel, PointPair, breadth};
use super::mirror::{MirrorCause, is_mirrored, mirror_cause};
use super::params::CalibrationParams;
use super::points::{MeasuredPoint, PointOrigin};
use super::pose::{
    ViewConstraints, camera_position_through, estimated_inverse_square_focal,
    typical_inverse_square_focal,
};
use super::position::{camera_contradiction, position_problem};
use super::quality::{SelectedFit, outliers, predicted_error, rms};
use crate::geometry::{FloorFromCamera, Lens};

/// Minimum number of points. Fewer points leave too few degrees of freedom to estimate the error.
pub const POINTS_MIN: usize = 6;

/// Smallest ratio of width to length of the area that the points cover. Points with a smaller ratio count as lying on a line.
const BREADTH_MIN: f64 = 0.05;

/// Smallest part of the camera frame's width or height that the points must cover. A smaller part is no picture of a floor, but
/// coordinates in another unit than pixels.
const EXTENT_MIN: f64 = 0.05;

/// Largest standard deviation of the estimated camera position, in meters. If it is larger, a note asks the technician to enter
/// the position.
const CAMERA_DEVIATION_MAX_M: f64 = 0.5;

/// Number of iterations of the focal length estimate.
const FOCAL_ROUNDS: usize = 3;
/// Relative step of 1/f² (f is the focal length) for the numeric derivative of the camera position.
const FOCAL_STEP: f64 = 1e-4;

/// Maximum number of points that a message names. For the other points, the message gives only their number.
const NAMED_MAX: usize = 3;

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

/// Kind of a rejection: what a program can react to, while the reasons are for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionCause {
    /// A point cannot be where it is.
    ImpossiblePoint,
    /// There are too few points.
    TooFewPoints,
    /// All points lie on a line.
    PointsOnLine,
    /// No map fits the points.
    NoMap,
    /// Single points contradict the others.
    MisplacedPoint,
    /// Two columns of a table are exchanged.
    SwappedColumns,
    /// The predicted error exceeds the limits, or the points cover too little of the surface.
    Inaccurate,
    /// The lamp or the camera cannot be at the given position.
    ImpossiblePosition,
}

impl RejectionCause {
    /// Returns the code of the cause in the status.
    pub fn code(self) -> &'static str {
        match self {
            Self::ImpossiblePoint => "impossible_point",
            Self::TooFewPoints => "too_few_points",
            Self::PointsOnLine => "points_on_line",
            Self::NoMap => "no_map",
            Self::MisplacedPoint => "misplaced_point",
            Self::SwappedColumns => "swapped_columns",
            Self::Inaccurate => "inaccurate",
            Self::ImpossiblePosition => "impossible_position",
        }
    }
}

/// Rejection of a calibration, with its reasons.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .reasons.join("\n"))]
pub struct Rejection {
    /// The first and most important cause.
    pub cause: RejectionCause,
    /// Messages, one for each reason.
    pub reasons: Vec<String>,
    /// Indexes of the points to measure again; empty if no single point is the cause.
    pub repeat: Vec<usize>,
    /// Results of the fit, or `None` if no fit was made.
    pub report: Option<Box<CalibrationReport>>,
}

impl Rejection {
    /// Returns all reasons in one text.
    pub fn text(&self) -> String {
        let mut text = self.reasons.join("; ");
        if !text.ends_with('?') {
            text.push('.');
        }
        text
    }

    fn from_reasons(cause: RejectionCause, reasons: Vec<String>) -> Self {
        Self {
            cause,
            reasons,
            repeat: Vec::new(),
            report: None,
        }
    }
}

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
    reasons.extend(setup.lamp_m.and_then(|at| position_problem("lamp", at)));
    let camera = camera(&selected.fit, setup, limits);
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

/// Returns the name that messages use for the point with index `i`.
fn name(points: &[MeasuredPoint], i: usize) -> String {
    match points.get(i).map(|p| p.origin) {
        Some(PointOrigin::Line(line)) => format!("point {} (line {line})", i + 1),
        Some(PointOrigin::Target(number)) => format!("target {number}"),
        Some(PointOrigin::Marker(number)) => format!("marker {number}"),
        Some(PointOrigin::Cell(number)) => format!("cell {number}"),
        None => format!("point {}", i + 1),
    }
}

/// Returns the rejection of points that no fit is needed for; `None` if the points can be fitted.
fn impossible_points(points: &[MeasuredPoint], setup: &CalibrationSetup) -> Option<Rejection> {
    let mut reasons = Vec::new();
    let mut repeat: Vec<usize> = Vec::new();
    let (width, height) = (f64::from(setup.frame_px.0), f64::from(setup.frame_px.1));
    let (surface_w, surface_h) = setup.surface_m;
    let mut list = |wrong: Vec<usize>, what: &str, hint: &str| {
        repeat.extend(&wrong);
        let mut named: Vec<String> = wrong
            .iter()
            .take(NAMED_MAX)
            .map(|&i| name(points, i))
            .collect();
        if wrong.len() > NAMED_MAX {
            named.push(format!("{} more", wrong.len() - NAMED_MAX));
        }
        (!wrong.is_empty()).then(|| format!("{}: {what}; {hint}", named.join(", ")))
    };
    let which = |is_wrong: &dyn Fn(&MeasuredPoint) -> bool| -> Vec<usize> {
        points
            .iter()
            .enumerate()
            .filter(|(_, p)| is_wrong(p))
            .map(|(i, _)| i)
            .collect()
    };
    reasons.extend(list(
        which(&|p| !p.camera_px.is_finite() || !p.floor_m.is_finite()),
        "a coordinate is not a finite number",
        "measure again",
    ));
    reasons.extend(list(
        which(&|p| {
            let c = p.camera_px;
            c.is_finite()
                && !(c.x >= -0.5 && c.y >= -0.5 && c.x <= width - 0.5 && c.y <= height - 0.5)
        }),
        &format!("it is outside the camera frame of {width}x{height} px"),
        "is the camera size correct, are columns swapped?",
    ));
    // Targets can be outside the surface by at most half the surface's size plus 0.5 m.
    reasons.extend(list(
        which(&|p| {
            let f = p.floor_m.abs();
            f.is_finite() && (f.x > surface_w + 0.5 || f.y > surface_h + 0.5)
        }),
        &format!(
            "it is far outside the surface of {surface_w} x {surface_h} m, whose center is 0, 0"
        ),
        "are columns swapped, is it in millimeters, is the origin in a corner?",
    ));
    let seen = extent_px(points);
    let mut cause = (!reasons.is_empty()).then_some(RejectionCause::ImpossiblePoint);
    let mut distinct: Vec<DVec2> = Vec::new();
    for point in points {
        // Counting stops at the minimum number, so a long list of points takes no extra time.
        if distinct.len() < POINTS_MIN && distinct.iter().all(|d| d.distance(point.floor_m) > 1e-3)
        {
            distinct.push(point.floor_m);
        }
    }
    if distinct.len() < POINTS_MIN {
        let different = if points.len() > distinct.len() {
            " different"
        } else {
            ""
        };
        cause.get_or_insert(RejectionCause::TooFewPoints);
        reasons.push(format!(
            "{}{different} points are too few; measure at least {POINTS_MIN}, from 8 on the lens is fitted too, 16 are good",
            distinct.len()
        ));
    } else if reasons.is_empty() {
        let narrow = |what: &str, b: f64| {
            (b < BREADTH_MIN).then(|| {
                format!("the points are on a line {what}; spread them over the whole surface")
            })
        };
        let small = (seen.0 < EXTENT_MIN * width && seen.1 < EXTENT_MIN * height).then(|| {
            format!(
                "all points lie within {:.1} x {:.1} px of the camera frame of {width}x{height} px; write camera_x_px and \
                 camera_y_px in pixels, not as shares of the frame",
                seen.0, seen.1
            )
        });
        reasons.extend(small);
        reasons.extend(
            narrow("on the floor", breadth(points.iter().map(|p| p.floor_m))).or_else(|| {
                narrow(
                    "in the camera frame",
                    breadth(points.iter().map(|p| p.camera_px)),
                )
            }),
        );
    }
    repeat.sort_unstable();
    repeat.dedup();
    (!reasons.is_empty()).then(|| Rejection {
        repeat,
        ..Rejection::from_reasons(cause.unwrap_or(RejectionCause::PointsOnLine), reasons)
    })
}

/// Returns width and height of the part of the camera frame that contains all points.
fn extent_px(points: &[MeasuredPoint]) -> (f64, f64) {
    let (mut least, mut most) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    for point in points {
        least = least.min(point.camera_px);
        most = most.max(point.camera_px);
    }
    (most.x - least.x, most.y - least.y)
}

/// Returns a note if all points are in one quarter of the camera frame at its origin, as points of a smaller frame are.
fn quarter_note(points: &[MeasuredPoint], setup: &CalibrationSetup) -> Option<String> {
    let (width, height) = (f64::from(setup.frame_px.0), f64::from(setup.frame_px.1));
    let half = DVec2::new(width, height) * 0.5;
    let is_quarter = points.iter().all(|p| p.camera_px.cmple(half).all());
    is_quarter.then(|| {
        format!(
            "all points are in the upper left quarter of the camera frame of {width}x{height} px; is the camera size correct?"
        )
    })
}

/// Returns the message for points to which no map can be fitted.
fn no_fit(points: &[MeasuredPoint], wrong: &[usize]) -> String {
    let without = match wrong {
        [] => String::new(),
        wrong => format!(
            " even without {}",
            wrong
                .iter()
                .map(|&i| name(points, i))
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    format!(
        "no map from camera frame to floor fits the points{without}; are three of four on a line, are columns swapped?"
    )
}

/// Returns messages about wrongly placed points.
fn misplaced(points: &[MeasuredPoint], wrong: &[usize], fit: &Fit) -> Vec<String> {
    wrong
        .iter()
        .map(|&i| {
            let point = &points[i];
            let off = fit.residual(&(point.camera_px, point.floor_m));
            let others = points.len() - wrong.len();
            if !off.is_finite() {
                return format!("{} is outside the floor according to the other {others} points; measure it again", name(points, i));
            }
            format!(
                "{} is {:.0} mm ({:+.0} mm in x, {:+.0} mm in z) from its position according to the other {others} points; check its \
                 position and measure it again, or leave it out",
                name(points, i),
                off.length() * 1e3,
                -off.x * 1e3,
                -off.y * 1e3
            )
        })
        .collect()
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

/// Returns the message about two swapped columns; `None` if the picture is mirrored.
fn swapped_columns(cause: MirrorCause, setup: &CalibrationSetup) -> Option<String> {
    let (columns, why) = match cause {
        MirrorCause::Picture { .. } => return None,
        MirrorCause::FloorColumns => (
            "floor_x_m and floor_z_m",
            format!(
                "the points have the shape of the surface of {} x {} m",
                setup.surface_m.0, setup.surface_m.1
            ),
        ),
        MirrorCause::CameraColumns => (
            "camera_x_px and camera_y_px",
            "the points fit a camera whose lens is in the middle of its picture".to_owned(),
        ),
    };
    Some(format!(
        "the points are mirrored: clockwise on the floor is counterclockwise in the camera frame. If {columns} are exchanged, {why}; \
         are two columns swapped? If the camera looks through a mirror, add points near all edges of the surface"
    ))
}

/// Returns the note about a mirrored picture.
fn mirror_note(cause: MirrorCause) -> String {
    let mut note = "the camera's picture is mirrored, as through a mirror or by a setting of its driver; the calibration takes \
                    this into account"
        .to_owned();
    if cause == (MirrorCause::Picture { is_certain: false }) {
        note += ". The points would fit as well with swapped columns or with an axis in the wrong direction: if the picture is \
                 not mirrored, check the table";
    }
    note
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
            PointOrigin::Target(number) => format!("target {number}"),
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

/// Position of the camera, given or estimated.
#[derive(Default)]
struct CameraPosition {
    position_m: Option<[f64; 3]>,
    /// Standard deviation of an estimated position, in meters.
    deviation_m: Option<f64>,
    /// Note for the technician, if the position is unknown or uncertain.
    note: Option<String>,
    /// The reason why the camera cannot be at the given position.
    problem: Option<String>,
}

/// Returns the given camera position, checked against the fit, or else the estimated one. If the focal length cannot be
/// determined from the view, a typical lens is assumed.
fn camera(fit: &Fit, setup: &CalibrationSetup, limits: &CalibrationParams) -> CameraPosition {
    let estimated = camera_of_fit(fit, assumed_scatter(fit, limits));
    if let Some(given) = setup.camera_m {
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
