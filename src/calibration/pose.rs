//! Estimates the position of the camera from its view of the floor.
//!
//! Input: lens and homography of a fit. Output: a point in world space, if it can be determined. This file must not compute a
//! fit.
//!
//! **Source**: Zhang 2000, sections 2.3 and 3.1 (one view of a plane: with square pixels and the principal point at the center,
//! only the focal length is unknown).

use glam::{DMat3, DVec3};

use crate::geometry::{Homography, Lens};

/// Half of the horizontal angle of view of a typical lens, in radians.
const TYPICAL_HALF_VIEW_RAD: f64 = 0.6;
/// Relative standard deviation of 1/f² over usual lenses.
const TYPICAL_SPREAD: f64 = 0.7;

/// Two constraints on 1/f² that follow from a view, where f is the focal length in half diagonals of the frame: the x and z
/// axes of the floor are perpendicular, and they have equal length. Each has the form slope · 1/f² + offset = 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ViewConstraints {
    pub(super) slopes: [f64; 2],
    offsets: [f64; 2],
}

impl ViewConstraints {
    pub(super) fn of(lens: &Lens, floor_from_undistorted: &Homography) -> Option<Self> {
        let h = frame_from_floor(lens, floor_from_undistorted)?;
        let (across, along) = (h.x_axis, h.y_axis);
        Some(Self {
            slopes: [
                across.truncate().dot(along.truncate()),
                across.truncate().length_squared() - along.truncate().length_squared(),
            ],
            offsets: [across.z * along.z, across.z * across.z - along.z * along.z],
        })
    }

    /// Returns the 1/f² that satisfies both constraints best, or `None` if they do not determine it. `deviations` are the
    /// standard deviations of their residuals.
    pub(super) fn best_inverse_square_focal(&self, deviations: [f64; 2]) -> Option<f64> {
        let (mut information, mut sum) = (0.0, 0.0);
        for ((slope, offset), deviation) in self.slopes.iter().zip(self.offsets).zip(deviations) {
            information += (slope / deviation).powi(2);
            sum -= slope * offset / deviation.powi(2);
        }
        let best = (sum / information).max(0.0);
        best.is_finite().then_some(best)
    }

    /// Returns the left sides of both constraints for a given 1/f².
    pub(super) fn residuals(&self, inverse_f2: f64) -> [f64; 2] {
        [0, 1].map(|i| self.slopes[i] * inverse_f2 + self.offsets[i])
    }
}

/// Returns 1/f² of a typical lens, with f in half diagonals.
pub(super) fn typical_inverse_square_focal(lens: &Lens) -> f64 {
    let edge = TYPICAL_HALF_VIEW_RAD.tan() * lens.half_diagonal_px() / lens.center_px().x.max(1.0);
    edge * edge
}

/// Returns an estimate of 1/f², with f in half diagonals, and its standard deviation. The estimate combines the constraints of
/// the view with a typical lens as the prior. `slope_deviations` and `residual_deviations` are the standard deviations of the
/// constraints' slopes and residuals.
///
/// If the camera looks straight down, the true slopes are 0 and the measured ones are only noise, which would pull 1/f² to 0.
/// Therefore only the part of a squared slope that is above its noise is used.
pub(super) fn estimated_inverse_square_focal(
    typical: f64,
    constraints: &ViewConstraints,
    slope_deviations: [f64; 2],
    residual_deviations: [f64; 2],
) -> (f64, f64) {
    let mut information = (TYPICAL_SPREAD * typical).powi(2).recip();
    let mut sum = information * typical;
    for i in 0..2 {
        let signal = constraints.slopes[i].powi(2) - slope_deviations[i].powi(2);
        let weight = signal / residual_deviations[i].powi(2);
        if signal > 0.0 && weight.is_finite() {
            information += weight;
            sum -= weight * constraints.offsets[i] / constraints.slopes[i];
        }
    }
    let estimate = sum / information;
    if estimate > 0.0 && estimate.is_finite() {
        (estimate, information.sqrt().recip())
    } else {
        (typical, TYPICAL_SPREAD * typical)
    }
}

/// Returns the camera's position in world space for a given 1/f², with f in half diagonals. Returns `None` if the position is
/// not finite. For a mirrored picture, this is the position of the camera's mirror image.
pub(super) fn camera_position_through(
    lens: &Lens,
    floor_from_undistorted: &Homography,
    inverse_f2: f64,
) -> Option<[f64; 3]> {
    if !inverse_f2.is_finite() || inverse_f2 <= 0.0 {
        return None;
    }
    let h = frame_from_floor(lens, floor_from_undistorted)?;
    let space = |p: DVec3| DVec3::new(p.x * inverse_f2.sqrt(), p.y * inverse_f2.sqrt(), p.z);
    let (x, z, t) = (space(h.x_axis), space(h.y_axis), space(h.z_axis));
    let scale = (x.length() * z.length()).sqrt();
    // World space is right-handed, so up is z × x.
    let (x, z, t) = (x.normalize_or_zero(), z.normalize_or_zero(), t / scale);
    let up = z.cross(x);
    // In a mirrored picture up is x × z, so only the sign of the height differs. No camera is below the floor.
    let position = [-x.dot(t), up.dot(t).abs(), -z.dot(t)];
    position.iter().all(|v| v.is_finite()).then_some(position)
}

/// Returns the matrix from the floor to undistorted frame coordinates around the principal point, in half diagonals. Its sign
/// is such that the surface's center is in front of the camera.
fn frame_from_floor(lens: &Lens, floor_from_undistorted: &Homography) -> Option<DMat3> {
    let unit = lens.half_diagonal_px();
    let center = lens.center_px();
    let normalization = DMat3::from_cols(
        DVec3::new(1.0 / unit, 0.0, 0.0),
        DVec3::new(0.0, 1.0 / unit, 0.0),
        DVec3::new(-center.x / unit, -center.y / unit, 1.0),
    );
    let h = normalization * floor_from_undistorted.inverse()?.0;
    Some(h * (h.z_axis.z.signum() / h.x_axis.truncate().length()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Homography;
    use glam::DVec2;

    /// Returns the lens and homography of a pinhole camera at `eye` that looks at `at`, with focal length `focal_px`.
    fn looking(eye: DVec3, at: DVec3, focal_px: f64) -> (Lens, Homography) {
        let lens = Lens::straight(640, 480);
        let ahead = (at - eye).normalize();
        let right = ahead.cross(DVec3::new(0.0, 0.0, -1.0)).normalize();
        let down = ahead.cross(right);
        let pairs: Vec<_> = [
            (-1.0, -1.0),
            (1.0, -1.0),
            (1.0, 1.0),
            (-1.0, 1.0),
            (0.3, 0.1),
        ]
        .map(|(x, z)| {
            let p = DVec3::new(x, 0.0, z) - eye;
            let seen = DVec2::new(p.dot(right), p.dot(down)) / p.dot(ahead);
            (lens.center_px() + seen * focal_px, DVec2::new(x, z))
        })
        .to_vec();
        (lens, Homography::from_pairs(&pairs).unwrap())
    }

    /// Returns the estimated 1/f² of a view whose slopes have this standard deviation: first relative to the true value, then
    /// relative to a typical lens. The third value is the camera position computed from the estimate.
    fn estimated(eye: DVec3, at: DVec3, slope_deviation: f64) -> (f64, f64, Option<[f64; 3]>) {
        let (lens, homography) = looking(eye, at, 500.0);
        let constraints = ViewConstraints::of(&lens, &homography).unwrap();
        let typical = typical_inverse_square_focal(&lens);
        let residual_deviation = slope_deviation * typical;
        let (estimate, _) = estimated_inverse_square_focal(
            typical,
            &constraints,
            [slope_deviation; 2],
            [residual_deviation; 2],
        );
        let truth = (lens.half_diagonal_px() / 500.0).powi(2);
        let position = camera_position_through(&lens, &homography, estimate);
        (estimate / truth, estimate / typical, position)
    }

    #[test]
    fn the_position_of_a_pinhole_camera_is_found() {
        for (eye, at) in [
            (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO),
            (DVec3::new(-2.0, 2.5, 1.0), DVec3::new(0.2, 0.0, 0.1)),
            (DVec3::new(0.0, 3.0, 4.0), DVec3::ZERO),
        ] {
            let (_, _, found) = estimated(eye, at, 1e-9);
            let found = DVec3::from_array(found.unwrap());
            assert!(found.distance(eye) < 1e-5, "{eye} {found}");
        }
    }

    #[test]
    fn a_mirrored_picture_gives_the_same_position() {
        let (eye, at) = (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO);
        let (lens, plain) = looking(eye, at, 500.0);
        for flip in [
            DMat3::from_scale(DVec2::new(-1.0, 1.0)),
            DMat3::from_scale(DVec2::new(1.0, -1.0)),
        ] {
            let center = DMat3::from_translation(lens.center_px());
            let flipped = Homography(plain.0 * center * flip * center.inverse());
            let inverse_f2 = (lens.half_diagonal_px() / 500.0).powi(2);
            let found = camera_position_through(&lens, &flipped, inverse_f2).unwrap();
            assert!(DVec3::from_array(found).distance(eye) < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn an_accurate_view_overrides_the_typical_lens() {
        let (eye, at) = (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO);
        let exact = estimated(eye, at, 1e-4);
        assert!((exact.0 - 1.0).abs() < 0.01, "{exact:?}");
        let uncertain = estimated(eye, at, 1.0);
        assert!((uncertain.1 - 1.0).abs() < 0.01, "{uncertain:?}");
        assert_eq!(estimated(eye, at, f64::NAN).1, 1.0);
        assert_eq!(estimated(eye, at, f64::INFINITY).1, 1.0);
    }

    #[test]
    fn looking_straight_down_a_typical_lens_is_assumed() {
        let down = DVec3::new(0.5, 0.0, 0.5);
        // Rounding leaves a tiny tilt, smaller than the assumed error.
        let (_, of_typical, position) = estimated(down + 4.0 * DVec3::Y, down, 1e-9);
        assert!((of_typical - 1.0).abs() < 1e-6, "{of_typical}");
        let [x, y, z] = position.unwrap();
        assert!((x - 0.5).abs() < 1e-6 && (z - 0.5).abs() < 1e-6, "{x} {z}");
        assert!((2.0..6.0).contains(&y), "{y}");
    }
}
