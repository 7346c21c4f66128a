//! Distinguishes a mirrored camera picture from a table in which two columns are swapped.
//!
//! Input: points whose fit mirrors the plane. Output: the most probable cause. This file must not decide whether a calibration
//! is accepted.
//!
//! A camera that looks into a mirror, or whose driver flips the picture, gives a map that mirrors the plane. Two swapped columns
//! do too. Their traces differ: with swapped floor columns the points have the shape of the surface turned by 90°. With swapped
//! camera columns the center of the lens is in the wrong place, so that lens and perspective do not fit together.

use glam::{DVec2, Vec2Swizzles as _};

use super::fit::{Fit, PointPair};
use super::pose::ViewConstraints;
use super::quality::SelectedFit;

/// Smallest difference between the logarithms of two side ratios that counts as a difference in shape. The value is half the
/// difference between a 4:3 surface and the same surface turned by 90°.
const SHAPE_DIFFERENCE_MIN: f64 = 0.29;
/// Smallest difference of two values of χ² that shows which of two fits is right. By chance it is larger once in a million.
const CHI_SQUARE_DIFFERENCE_MIN: f64 = 24.0;
/// Smallest ratio of two values of χ² that shows which of two fits is right. A real lens is never exactly as the model, which
/// increases χ² of the right fit too.
const CHI_SQUARE_RATIO_MIN: f64 = 2.0;

/// Cause of a map that mirrors the plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MirrorCause {
    /// The picture is mirrored.
    Picture {
        /// Whether the points exclude swapped columns.
        is_certain: bool,
    },
    /// `camera_x_px` and `camera_y_px` are swapped.
    CameraColumns,
    /// `floor_x_m` and `floor_z_m` are swapped.
    FloorColumns,
}

/// Comparison of the points as they are with the points after two columns are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    AsGiven,
    Unclear,
    Swapped,
}

/// Returns whether a fit mirrors the plane: clockwise in the frame is counterclockwise on the floor.
pub(super) fn is_mirrored(fit: &Fit, pairs: &[PointPair]) -> bool {
    let at = pairs.iter().map(|p| p.0).sum::<DVec2>() / pairs.len().max(1) as f64;
    let middle = fit.plane_from_camera(at);
    let (right, down) = (
        fit.plane_from_camera(at + DVec2::X) - middle,
        fit.plane_from_camera(at + DVec2::Y) - middle,
    );
    right.perp_dot(down) < 0.0
}

/// Returns the cause of a fit that mirrors the plane. `placement_error_m` is the smallest error that is assumed for a point.
pub(super) fn mirror_cause(
    fit: &Fit,
    pairs: &[PointPair],
    frame_px: (u32, u32),
    surface_m: (f64, f64),
    placement_error_m: f64,
) -> MirrorCause {
    let floor = compare_shapes(pairs, surface_m);
    if floor == Comparison::Swapped {
        return MirrorCause::FloorColumns;
    }
    let camera = compare_views(fit, pairs, frame_px, placement_error_m);
    if camera == Comparison::Swapped {
        return MirrorCause::CameraColumns;
    }
    let is_certain = floor == Comparison::AsGiven && camera == Comparison::AsGiven;
    MirrorCause::Picture { is_certain }
}

/// Compares the shape of the area that the points cover with the shape of the surface.
fn compare_shapes(pairs: &[PointPair], (width_m, height_m): (f64, f64)) -> Comparison {
    let reach = (pairs.iter().map(|p| p.1.abs())).fold(DVec2::ZERO, DVec2::max);
    let (points, surface) = ((reach.x / reach.y).ln(), (width_m / height_m).ln());
    let (as_given, swapped) = ((points - surface).abs(), (-points - surface).abs());
    if as_given + SHAPE_DIFFERENCE_MIN < swapped {
        Comparison::AsGiven
    } else if swapped + SHAPE_DIFFERENCE_MIN < as_given {
        Comparison::Swapped
    } else {
        Comparison::Unclear
    }
}

/// Compares the fit with a fit to the points whose camera columns are swapped.
fn compare_views(
    fit: &Fit,
    pairs: &[PointPair],
    (width_px, height_px): (u32, u32),
    placement_error_m: f64,
) -> Comparison {
    let last_px = DVec2::new(f64::from(width_px), f64::from(height_px)) - 0.5;
    let other: Vec<PointPair> = pairs.iter().map(|p| (p.0.yx(), p.1)).collect();
    if other.iter().any(|p| p.0.cmpgt(last_px).any()) {
        return Comparison::AsGiven;
    }
    let Some(other) = SelectedFit::new(&other, (width_px, height_px)) else {
        return Comparison::AsGiven;
    };
    let scatter = |fit: &Fit| fit.scatter().unwrap_or(f64::INFINITY);
    let scatter_m = scatter(fit).min(scatter(&other.fit)).max(placement_error_m);
    let (as_given, swapped) = (
        chi_square(fit, scatter_m),
        chi_square(&other.fit, scatter_m),
    );
    let is_better = |good: f64, bad: f64| {
        bad - good > CHI_SQUARE_DIFFERENCE_MIN && bad > CHI_SQUARE_RATIO_MIN * good
    };
    if is_better(swapped, as_given) {
        Comparison::Swapped
    } else if is_better(as_given, swapped) {
        Comparison::AsGiven
    } else {
        Comparison::Unclear
    }
}

/// Returns χ² of a fit: of its residuals, and of the perspective of a camera with square pixels and its lens in the middle of
/// the frame.
fn chi_square(fit: &Fit, scatter_m: f64) -> f64 {
    let residuals = fit.squares / scatter_m.powi(2);
    residuals + perspective_chi_square(fit, scatter_m).unwrap_or(0.0)
}

/// Returns the smallest χ² of the two constraints of a view over all focal lengths, or `None` if the view does not constrain
/// the focal length.
fn perspective_chi_square(fit: &Fit, scatter_m: f64) -> Option<f64> {
    let constraints = ViewConstraints::of(&fit.lens()?, &fit.homography())?;
    let mut inverse_f2 = super::pose::typical_inverse_square_focal(&fit.lens()?);
    let mut sum = 0.0;
    // The uncertainty of the constraints depends on 1/f² itself, so the estimate is repeated with the new value.
    for _ in 0..3 {
        let deviations = fit.deviation(scatter_m, |lens, map| {
            Some(ViewConstraints::of(lens, map)?.residuals(inverse_f2))
        })?;
        inverse_f2 = constraints.best_inverse_square_focal(deviations)?;
        let residuals = constraints.residuals(inverse_f2);
        sum = (residuals.iter().zip(deviations))
            .map(|(residual, deviation)| (residual / deviation).powi(2))
            .sum();
    }
    f64::is_finite(sum).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::Noise;
    use glam::DVec3;

    /// A pinhole camera in a room.
    struct Camera {
        eye_m: DVec3,
        size_px: (u32, u32),
        focal_px: f64,
        k1: f64,
    }

    impl Camera {
        fn pixel(&self, floor_m: DVec2) -> DVec2 {
            let ahead = (DVec3::new(0.1, 0.0, -0.1) - self.eye_m).normalize();
            let right = ahead.cross(DVec3::NEG_Z).normalize();
            let to = DVec3::new(floor_m.x, 0.0, floor_m.y) - self.eye_m;
            let seen = DVec2::new(to.dot(right), to.dot(ahead.cross(right))) / to.dot(ahead);
            let size = DVec2::new(f64::from(self.size_px.0), f64::from(self.size_px.1));
            (size - 1.0) / 2.0 + seen * (1.0 + self.k1 * seen.length_squared()) * self.focal_px
        }

        /// Returns 4 × 4 points with placement errors. The outer points are at 0.9 of the distance to the edge.
        fn points(&self, surface_m: (f64, f64), seed: u64) -> Vec<PointPair> {
            let at = |i: i32| 0.45 * (f64::from(i) / 1.5 - 1.0);
            let exact: Vec<PointPair> = (0..16)
                .map(|i| DVec2::new(at(i % 4) * surface_m.0, at(i / 4) * surface_m.1))
                .map(|floor| (self.pixel(floor), floor))
                .collect();
            Noise::new(seed).on(&exact, 0.005)
        }
    }

    fn cause(pairs: &[PointPair], frame_px: (u32, u32), surface_m: (f64, f64)) -> MirrorCause {
        let fit = SelectedFit::new(pairs, frame_px).unwrap().fit;
        assert!(is_mirrored(&fit, pairs));
        mirror_cause(&fit, pairs, frame_px, surface_m, 0.003)
    }

    fn cameras() -> Vec<Camera> {
        let camera = |x: f64, y: f64, z: f64, focal_px: f64, k1: f64| Camera {
            eye_m: DVec3::new(x, y, z),
            size_px: (640, 480),
            focal_px,
            k1,
        };
        vec![
            camera(0.6, 4.0, 1.9, 400.0, -0.2),
            camera(-1.2, 3.5, 0.9, 370.0, -0.1),
            camera(0.5, 5.0, -1.5, 480.0, 0.0),
        ]
    }

    #[test]
    fn a_flipped_or_turned_picture_is_a_mirrored_picture() {
        let surface_m = (4.0, 3.0);
        for (seed, camera) in (0..).zip(cameras()) {
            let (width, height) = camera.size_px;
            let last = DVec2::new(f64::from(width), f64::from(height)) - 1.0;
            let points = camera.points(surface_m, seed);
            type Flip = fn(DVec2, DVec2) -> DVec2;
            let flips: [(Flip, (u32, u32)); 4] = [
                (|p, last| DVec2::new(last.x - p.x, p.y), (width, height)),
                (|p, last| DVec2::new(p.x, last.y - p.y), (width, height)),
                (|p, _| p.yx(), (height, width)),
                (|p, last| (last - p).yx(), (height, width)),
            ];
            for (flip, frame_px) in flips {
                let pairs: Vec<PointPair> = points.iter().map(|p| (flip(p.0, last), p.1)).collect();
                let found = cause(&pairs, frame_px, surface_m);
                assert_eq!(found, MirrorCause::Picture { is_certain: true }, "{seed}");
            }
        }
    }

    #[test]
    fn swapped_columns_are_found() {
        for (seed, camera) in (0..).zip(cameras()) {
            let points = camera.points((4.0, 3.0), seed);
            let pairs: Vec<PointPair> = points.iter().map(|p| (p.0, p.1.yx())).collect();
            assert_eq!(
                cause(&pairs, (640, 480), (4.0, 3.0)),
                MirrorCause::FloorColumns
            );
            // The surface is so small that the swapped pixels are still inside the frame.
            let points = camera.points((2.4, 1.8), seed);
            let pairs: Vec<PointPair> = points.iter().map(|p| (p.0.yx(), p.1)).collect();
            assert_eq!(
                cause(&pairs, (640, 480), (2.4, 1.8)),
                MirrorCause::CameraColumns,
                "{seed}"
            );
        }
    }

    #[test]
    fn on_a_square_surface_a_mirrored_picture_is_not_certain() {
        let surface_m = (3.0, 3.0);
        for (seed, camera) in (0..).zip(cameras()) {
            let points = camera.points(surface_m, seed);
            let flip = |p: &PointPair| (DVec2::new(639.0 - p.0.x, p.0.y), p.1);
            let pairs: Vec<PointPair> = points.iter().map(flip).collect();
            let found = cause(&pairs, (640, 480), surface_m);
            assert_eq!(found, MirrorCause::Picture { is_certain: false });
        }
    }
}
