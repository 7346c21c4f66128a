//! Rejection of measured points: its causes, and the messages that name the points to measure again.
//!
//! Input: points, and what a fit says about them. Output: a [`Rejection`] or messages. This file must not compute a fit.

use glam::DVec2;

use super::fit::{Fit, breadth};
use super::mirror::MirrorCause;
use super::points::{MeasuredPoint, PointOrigin};
use super::report::{CalibrationReport, CalibrationSetup};

/// Minimum number of points. Fewer points leave too few degrees of freedom to estimate the error.
pub(super) const POINTS_MIN: usize = 6;

/// Smallest ratio of width to length of the area that the points cover. Points with a smaller ratio count as lying on a line.
const BREADTH_MIN: f64 = 0.05;

/// Smallest part of the camera frame's width or height that the points must cover. A smaller part is no picture of a floor, but
/// coordinates in another unit than pixels.
const EXTENT_MIN: f64 = 0.05;

/// Maximum number of points that a message names. For the other points, the message gives only their number.
const NAMED_MAX: usize = 3;

/// Kind of a rejection: what a program can react to, while the reasons are for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectionCause {
    /// A point cannot be where it is.
    ImpossiblePoint,
    /// There are too few points.
    TooFewPoints,
    /// All points are on a line.
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

    pub(super) fn from_reasons(cause: RejectionCause, reasons: Vec<String>) -> Self {
        Self {
            cause,
            reasons,
            repeat: Vec::new(),
            report: None,
        }
    }
}

/// Returns the name that messages use for the point with index `i`.
fn name(points: &[MeasuredPoint], i: usize) -> String {
    match points.get(i).map(|p| p.origin) {
        Some(PointOrigin::Line(line)) => format!("point {} (line {line})", i + 1),
        Some(PointOrigin::Target(number)) => format!("cross {number}"),
        Some(PointOrigin::Marker(number)) => format!("marker {number}"),
        Some(PointOrigin::Cell(number)) => format!("cell {number}"),
        None => format!("point {}", i + 1),
    }
}

/// Returns the rejection of points that no fit is needed for; `None` if the points can be fitted.
pub(super) fn impossible_points(
    points: &[MeasuredPoint],
    setup: &CalibrationSetup,
) -> Option<Rejection> {
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
pub(super) fn quarter_note(points: &[MeasuredPoint], setup: &CalibrationSetup) -> Option<String> {
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
pub(super) fn no_fit(points: &[MeasuredPoint], wrong: &[usize]) -> String {
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
pub(super) fn misplaced(points: &[MeasuredPoint], wrong: &[usize], fit: &Fit) -> Vec<String> {
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

/// Returns the message about two swapped columns; `None` if the picture is mirrored.
pub(super) fn swapped_columns(cause: MirrorCause, setup: &CalibrationSetup) -> Option<String> {
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
pub(super) fn mirror_note(cause: MirrorCause) -> String {
    let mut note = "the camera's picture is mirrored, as through a mirror or by a setting of its driver; the calibration takes \
                    this into account"
        .to_owned();
    if cause == (MirrorCause::Picture { is_certain: false }) {
        note += ". The points would fit as well with swapped columns or with an axis in the wrong direction: if the picture is \
                 not mirrored, check the table";
    }
    note
}
