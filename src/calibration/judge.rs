//! From measured points to a calibration that is accepted, or to the reasons why it is not.
//!
//! In: points, sizes, limits. Out: [`Calibration`] with its [`Report`], or a [`Rejection`] in sentences that name the
//! target to repeat. Must not: touch a file, take a fit that it cannot prove.

use glam::{DVec2, DVec3};

use super::coverage::{coverage, over_surface};
use super::file::{
    Calibration, CalibrationPoint, FitErrors, HomographyRows, LensTerms, Picture, SurfaceSize,
};
use super::fit::{Fit, LensModel, Pair, breadth};
use super::params::CalibrationParams;
use super::points::{MeasuredPoint, PointOrigin};
use super::pose::{
    Tilt, believed_inverse_square_focal, camera_position_through, usual_inverse_square_focal,
};
use super::prove::{Chosen, foretold, outliers, rms};
use crate::geometry::{FloorFromCamera, Lens};

/// Fewer points leave nothing to prove a fit with.
pub const POINTS_MIN: usize = 6;

/// A cloud of points narrower than this share of its length is a line.
const BREADTH_MIN: f64 = 0.05;

/// A camera position of a larger standard deviation had better be typed.
const CAMERA_DEVIATION_MAX_M: f64 = 0.5;

/// So often the focal length is told anew, and so small a share of it shows where it moves the camera.
const FOCAL_ROUNDS: usize = 3;
const FOCAL_STEP: f64 = 1e-4;

/// Longer lists of points are cut in sentences.
const NAMED_MAX: usize = 3;

/// What the points belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Width and height of the camera's pictures.
    pub picture_px: (u32, u32),
    /// Width and height of the projected surface.
    pub surface_m: (f64, f64),
    /// Position of the infrared lamp, if it is known.
    pub lamp_m: Option<DVec3>,
    /// Position of the camera, if it is known better than the fit can tell.
    pub camera_m: Option<DVec3>,
    /// When this is done, ISO 8601. This room has no clock.
    pub date: String,
}

/// What was found out about a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The lens model with the least leave-one-out error.
    pub model: LensModel,
    /// Leave-one-out error of every model tried.
    pub candidates: Vec<(LensModel, f64)>,
    /// Number of points.
    pub points: usize,
    /// How good it is.
    pub errors: FitErrors,
    /// The point that the others foretell worst, in words.
    pub worst_point: String,
    /// Standard deviation of the camera's position, where that comes from the fit and can be told.
    pub camera_deviation_m: Option<f64>,
    /// What the technician should know though it is accepted.
    pub notes: Vec<String>,
}

/// Why a calibration is not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .reasons.join("\n"))]
pub struct Rejection {
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// The points to measure again, as places in the list; empty where no single one is to blame.
    pub again: Vec<usize>,
    /// What was found out, where there was a fit.
    pub report: Option<Box<Report>>,
}

impl Rejection {
    /// The reasons as sentences in a row.
    pub fn text(&self) -> String {
        let mut text = self.reasons.join("; ");
        if !text.ends_with('?') {
            text.push('.');
        }
        text
    }

    fn because(reasons: Vec<String>) -> Self {
        Self {
            reasons,
            again: Vec::new(),
            report: None,
        }
    }
}

/// Fits lens and homography to points, and takes the fit only if it can be proven good enough.
///
/// # Errors
/// [`Rejection`]: too few points, points that cannot be, points on a line or in a corner, a point that was not where it
/// was meant to be, swapped columns, or a fit whose foretold error is too large.
pub fn calibrate(
    points: &[MeasuredPoint],
    setup: &Setup,
    limits: &CalibrationParams,
) -> Result<(Calibration, Report), Rejection> {
    let (impossible, again) = impossible_points(points, setup);
    if !impossible.is_empty() {
        return Err(Rejection {
            again,
            ..Rejection::because(impossible)
        });
    }
    let pairs: Vec<Pair> = points.iter().map(|p| (p.camera_px, p.floor_m)).collect();
    let wrong = outliers(
        &pairs,
        setup.picture_px,
        limits.outlier_m,
        limits.placement_error_m,
    );
    let good: Vec<Pair> = (0..pairs.len())
        .filter(|i| !wrong.contains(i))
        .map(|i| pairs[i])
        .collect();
    let Some(chosen) = Chosen::new(&good, setup.picture_px) else {
        return Err(Rejection::because(vec![no_fit(points, &wrong)]));
    };
    let map = chosen
        .fit
        .lens()
        .and_then(|lens| FloorFromCamera::new(lens, chosen.fit.homography()));
    let Some(map) = map else {
        return Err(Rejection::because(vec![no_fit(points, &wrong)]));
    };
    let kept: Vec<&MeasuredPoint> = (0..points.len())
        .filter(|i| !wrong.contains(i))
        .map(|i| &points[i])
        .collect();
    let mut reasons = misplaced(points, &wrong, &chosen.fit);
    if mirrored(&chosen.fit, &good) {
        reasons.push(
            "the points are mirrored: what runs clockwise on the floor runs counterclockwise in the picture; are two \
             columns swapped (camera_x_px with camera_y_px, or floor_x_m with floor_z_m)?"
                .to_owned(),
        );
    }
    let report = report(&chosen, &map, &kept, setup, limits);
    let mut again = wrong.clone();
    let poor = not_good_enough(&report, &map, setup, limits);
    if again.is_empty() && reasons.is_empty() && is_too_inexact(&report.errors, limits) {
        again.extend(
            points
                .iter()
                .position(|p| Some(p) == worst_of(&chosen, &kept)),
        );
    }
    reasons.extend(poor);
    if !reasons.is_empty() {
        return Err(Rejection {
            reasons,
            again,
            report: Some(Box::new(report)),
        });
    }
    let (camera_m, deviation_m, note) = camera(&chosen.fit, setup, limits);
    let mut report = report;
    report.camera_deviation_m = deviation_m;
    report.notes.extend(note);
    if setup.lamp_m.is_none() {
        report.notes.push(
            "no lamp position was given (--lamp x,y,z): the middle of a shadow counts as the feet"
                .to_owned(),
        );
    }
    let lens = *map.lens();
    let calibration = Calibration {
        date: setup.date.clone(),
        lamp_m: setup.lamp_m.map(|p| p.to_array()),
        camera_m,
        picture: Picture {
            width_px: setup.picture_px.0,
            height_px: setup.picture_px.1,
        },
        surface: SurfaceSize {
            width_m: setup.surface_m.0,
            height_m: setup.surface_m.1,
        },
        lens: LensTerms {
            model: report.model,
            k1: lens.k1(),
            k2: lens.k2(),
        },
        floor_from_straight: HomographyRows::new(&map.homography()),
        errors: report.errors,
        points: good
            .iter()
            .zip(&chosen.left_out)
            .map(|((camera, floor), off)| CalibrationPoint {
                camera_px: camera.to_array(),
                floor_m: floor.to_array(),
                left_out_m: off.length(),
            })
            .collect(),
        marks: Vec::new(),
    };
    Ok((calibration, report))
}

/// How a point is called in sentences, by its place in the list.
fn name(points: &[MeasuredPoint], i: usize) -> String {
    match points.get(i).map(|p| p.origin) {
        Some(PointOrigin::Line(line)) => format!("point {} (line {line})", i + 1),
        Some(PointOrigin::Target(number)) => format!("target {number}"),
        Some(PointOrigin::Marker(number)) => format!("marker {number}"),
        None => format!("point {}", i + 1),
    }
}

/// Sentences about points that cannot be, before anything is fitted, and which they are.
fn impossible_points(points: &[MeasuredPoint], setup: &Setup) -> (Vec<String>, Vec<usize>) {
    let mut reasons = Vec::new();
    let mut again: Vec<usize> = Vec::new();
    let (width, height) = (f64::from(setup.picture_px.0), f64::from(setup.picture_px.1));
    let (surface_w, surface_h) = setup.surface_m;
    let mut list = |wrong: Vec<usize>, what: &str, hint: &str| {
        again.extend(&wrong);
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
        "a coordinate is no finite number",
        "measure again",
    ));
    reasons.extend(list(
        which(&|p| {
            let c = p.camera_px;
            c.is_finite()
                && !(c.x >= -0.5 && c.y >= -0.5 && c.x <= width - 0.5 && c.y <= height - 0.5)
        }),
        &format!("the camera sees it beside its own picture of {width}x{height} px"),
        "is the camera size right, are columns swapped?",
    ));
    // Targets may lie a little beside the surface, but not a surface away.
    reasons.extend(list(
        which(&|p| {
            let f = p.floor_m.abs();
            f.is_finite() && (f.x > surface_w + 0.5 || f.y > surface_h + 0.5)
        }),
        &format!(
            "it lies far beside the surface of {surface_w} x {surface_h} m, whose middle is 0, 0"
        ),
        "are columns swapped, is it in millimeters, is the origin in a corner?",
    ));
    let mut distinct: Vec<DVec2> = Vec::new();
    for point in points {
        // Past the least number nothing more is to be known, and a long list costs nothing.
        if distinct.len() < POINTS_MIN && distinct.iter().all(|d| d.distance(point.floor_m) > 1e-3)
        {
            distinct.push(point.floor_m);
        }
    }
    if distinct.len() < POINTS_MIN {
        let twice = if points.len() > distinct.len() {
            " different"
        } else {
            ""
        };
        reasons.push(format!(
            "{}{twice} points are too few: {POINTS_MIN} are needed at least, from 8 on the lens is fitted as well, 16 are good",
            distinct.len()
        ));
    } else if reasons.is_empty() {
        let narrow = |what: &str, b: f64| {
            (b < BREADTH_MIN).then(|| {
                format!("the points lie on a line {what}; spread them over the whole surface")
            })
        };
        reasons.extend(
            narrow("on the floor", breadth(points.iter().map(|p| p.floor_m))).or_else(|| {
                narrow(
                    "in the picture",
                    breadth(points.iter().map(|p| p.camera_px)),
                )
            }),
        );
    }
    again.sort_unstable();
    again.dedup();
    (reasons, again)
}

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
        "no map from picture to floor fits the points{without}; are three of four on a line, are columns mixed up?"
    )
}

/// Sentences about the points that were not where they were meant to be.
fn misplaced(points: &[MeasuredPoint], wrong: &[usize], fit: &Fit) -> Vec<String> {
    wrong
        .iter()
        .map(|&i| {
            let point = &points[i];
            let off = fit.residual(&(point.camera_px, point.floor_m));
            let others = points.len() - wrong.len();
            if !off.is_finite() {
                return format!("{} lies beyond what the {others} others say of the floor; measure it again", name(points, i));
            }
            format!(
                "{} is {:.0} mm off ({:+.0} mm in x, {:+.0} mm in z) what the {others} others say, was the pole on it? Measure it \
                 again, or leave it out",
                name(points, i),
                off.length() * 1e3,
                -off.x * 1e3,
                -off.y * 1e3
            )
        })
        .collect()
}

/// Whether the map turns the plane over.
fn mirrored(fit: &Fit, pairs: &[Pair]) -> bool {
    let at = pairs.iter().map(|p| p.0).sum::<DVec2>() / pairs.len().max(1) as f64;
    let middle = fit.plane_from_camera(at);
    let (right, down) = (
        fit.plane_from_camera(at + DVec2::X) - middle,
        fit.plane_from_camera(at + DVec2::Y) - middle,
    );
    right.perp_dot(down) < 0.0
}

fn report(
    chosen: &Chosen,
    map: &FloorFromCamera,
    kept: &[&MeasuredPoint],
    setup: &Setup,
    limits: &CalibrationParams,
) -> Report {
    let fit = &chosen.fit;
    let scatter = believed_scatter(fit, limits);
    let pixels: Vec<DVec2> = over_surface(setup.surface_m)
        .into_iter()
        .map(|f| map.camera_from_floor(f))
        .collect();
    let (predicted_rms_m, predicted_worst_m) =
        foretold(fit, &pixels, scatter).unwrap_or((f64::INFINITY, f64::INFINITY));
    let left_out_worst_m = chosen
        .left_out
        .iter()
        .map(|off| off.length())
        .fold(0.0, f64::max);
    let worst_point = worst_of(chosen, kept).map_or_else(String::new, |p| {
        let (x, z) = (p.floor_m.x, p.floor_m.y);
        match p.origin {
            PointOrigin::Line(line) => format!("the point at {x:.2}, {z:.2} m (line {line})"),
            PointOrigin::Target(number) => format!("target {number}"),
            PointOrigin::Marker(number) => format!("marker {number}"),
        }
    });
    Report {
        model: fit.model,
        candidates: chosen.candidates.clone(),
        points: kept.len(),
        errors: FitErrors {
            rms_m: fit.rms(),
            left_out_rms_m: rms(&chosen.left_out),
            left_out_worst_m,
            predicted_rms_m,
            predicted_worst_m,
            coverage: coverage(kept.iter().map(|p| p.floor_m).collect(), setup.surface_m),
        },
        worst_point,
        camera_deviation_m: None,
        notes: Vec::new(),
    }
}

/// The point that the others foretell worst.
fn worst_of<'p>(chosen: &Chosen, kept: &[&'p MeasuredPoint]) -> Option<&'p MeasuredPoint> {
    let off = chosen.left_out.iter().map(|off| off.length());
    let (_, worst) = off.zip(kept).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(worst)
}

fn is_too_inexact(errors: &FitErrors, limits: &CalibrationParams) -> bool {
    errors.predicted_rms_m > limits.predicted_rms_max_m
        || errors.predicted_worst_m > limits.predicted_worst_max_m
}

/// Scatter in each direction: from the residuals, but never better than anybody places a target.
fn believed_scatter(fit: &Fit, limits: &CalibrationParams) -> f64 {
    fit.scatter()
        .unwrap_or(f64::INFINITY)
        .max(limits.placement_error_m)
}

fn not_good_enough(
    report: &Report,
    map: &FloorFromCamera,
    setup: &Setup,
    limits: &CalibrationParams,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let errors = &report.errors;
    let mm = |m: f64| format!("{:.0} mm", m * 1e3);
    if errors.coverage < limits.coverage_min {
        reasons.push(format!(
            "the points span only {:.0} % of the surface, {:.0} % are needed; spread them over all of it, its corners too",
            errors.coverage * 100.0,
            limits.coverage_min * 100.0
        ));
    }
    let seen = over_surface(setup.surface_m)
        .iter()
        .all(|f| map.camera_from_floor(*f).is_finite());
    if !seen || !errors.predicted_rms_m.is_finite() {
        reasons.push("part of the surface would lie behind the camera or beyond the horizon; are columns mixed up?".to_owned());
    } else if is_too_inexact(errors, limits) {
        reasons.push(format!(
            "floor errors of {} (worst place {}) are to be expected, {} ({}) are allowed; the points disagree by {}, most of all {}, \
             which is {} off: measure it again, or add points where there are few",
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
    let reach = over_surface(setup.surface_m)
        .iter()
        .map(|f| (map.camera_from_floor(*f) - lens.center_px()).length() / lens.half_diagonal_px())
        .fold(0.0, f64::max);
    if seen && reach.min(1.0) > lens.trusted_radius() {
        reasons.push(format!(
            "the fitted lens (k1 = {:.3}, k2 = {:.3}) folds the picture before it reaches the edge of the surface; add points near \
             the surface's corners",
            lens.k1(),
            lens.k2()
        ));
    }
    reasons
}

/// The camera's position, how sure it is, and what is to be said about it. Through a lens that is as usual as the view allows,
/// where the view alone tells too little.
fn camera(
    fit: &Fit,
    setup: &Setup,
    limits: &CalibrationParams,
) -> (Option<[f64; 3]>, Option<f64>, Option<String>) {
    if let Some(typed) = setup.camera_m {
        return (Some(typed.to_array()), None, None);
    }
    let Some((position, deviation_m)) = camera_of_fit(fit, believed_scatter(fit, limits)) else {
        let unknown = "how high the camera hangs cannot be told; type its position (--camera x,y,z), or bodies are \
                       taken to be seen from straight above";
        return (None, None, Some(unknown.to_owned()));
    };
    let note = format!(
        "the camera looks too straight at the surface to tell well how high it hangs: {:.1} m, give or take {deviation_m:.1} m, \
         is what a usual lens would make of it; type its position (--camera x,y,z) for better feet",
        position[1]
    );
    let is_vague = deviation_m > CAMERA_DEVIATION_MAX_M;
    (Some(position), Some(deviation_m), is_vague.then_some(note))
}

/// The camera's position and its standard deviation, for residuals of standard deviation `scatter`.
fn camera_of_fit(fit: &Fit, scatter: f64) -> Option<([f64; 3], f64)> {
    let (lens, map) = (fit.lens()?, fit.homography());
    let tilt = Tilt::of(&lens, &map)?;
    let usual = usual_inverse_square_focal(&lens);
    let (mut inverse_f2, mut inverse_f2_deviation) = (usual, f64::NAN);
    // What the tilt leaves is the less sure the wider the lens.
    for _ in 0..FOCAL_ROUNDS {
        let [s0, s1, o0, o1] = fit.deviation(scatter, |lens, map| {
            let tilt = Tilt::of(lens, map)?;
            let ([s0, s1], [o0, o1]) = (tilt.slopes, tilt.off(inverse_f2));
            Some([s0, s1, o0, o1])
        })?;
        (inverse_f2, inverse_f2_deviation) =
            believed_inverse_square_focal(usual, &tilt, [s0, s1], [o0, o1]);
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
