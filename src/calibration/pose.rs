//! Where the camera stands, from what it makes of the floor.
//!
//! In: lens and homography of a fit. Out: a point in world space, where it can be told. Must not: fit.
//!
//! **Source**: Zhang 2000, sections 2.3 and 3.1 (one view of a plane; square pixels and the principal point in the
//! middle leave the focal length alone unknown).

use glam::{DMat3, DVec3};

use crate::geometry::{Homography, Lens};

/// Half of a usual lens's angle of view across the picture, and how much its 1/f² may well be off, as a share.
const USUAL_HALF_VIEW_RAD: f64 = 0.6;
const USUAL_SPREAD: f64 = 0.7;

/// What a view tells of 1/f², f being the focal length in half diagonals: two directions of the floor are perpendicular in
/// space, and of the same length. Each says that its slope times 1/f², and its rest, are 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tilt {
    pub(super) slopes: [f64; 2],
    rests: [f64; 2],
}

impl Tilt {
    pub(super) fn of(lens: &Lens, floor_from_straight: &Homography) -> Option<Self> {
        let h = picture_from_floor(lens, floor_from_straight)?;
        let (across, along) = (h.x_axis, h.y_axis);
        Some(Self {
            slopes: [
                across.truncate().dot(along.truncate()),
                across.truncate().length_squared() - along.truncate().length_squared(),
            ],
            rests: [across.z * along.z, across.z * across.z - along.z * along.z],
        })
    }

    /// How far both are from 0 for such a 1/f².
    pub(super) fn off(&self, inverse_f2: f64) -> [f64; 2] {
        [0, 1].map(|i| self.slopes[i] * inverse_f2 + self.rests[i])
    }
}

/// 1/f² of a usual lens, in half diagonals.
pub(super) fn usual_inverse_square_focal(lens: &Lens) -> f64 {
    let edge = USUAL_HALF_VIEW_RAD.tan() * lens.half_diagonal_px() / lens.center_px().x.max(1.0);
    edge * edge
}

/// What is to be believed of 1/f², in half diagonals, and its standard deviation: what the view tells of it, and what lenses
/// usually are. Slopes, and what they leave, have these standard deviations.
///
/// A camera that looks straight down has slopes of nothing but error. They would tell that 1/f² is 0, so only what they are
/// more than that tells anything.
pub(super) fn believed_inverse_square_focal(
    usual: f64,
    tilt: &Tilt,
    slope_deviations: [f64; 2],
    off_deviations: [f64; 2],
) -> (f64, f64) {
    let mut information = (USUAL_SPREAD * usual).powi(2).recip();
    let mut sum = information * usual;
    for i in 0..2 {
        let signal = tilt.slopes[i].powi(2) - slope_deviations[i].powi(2);
        let told = signal / off_deviations[i].powi(2);
        if signal > 0.0 && told.is_finite() {
            information += told;
            sum -= told * tilt.rests[i] / tilt.slopes[i];
        }
    }
    let believed = sum / information;
    if believed > 0.0 && believed.is_finite() {
        (believed, information.sqrt().recip())
    } else {
        (usual, USUAL_SPREAD * usual)
    }
}

/// The camera's position in world space, given its 1/f² in half diagonals.
pub(super) fn camera_position_through(
    lens: &Lens,
    floor_from_straight: &Homography,
    inverse_f2: f64,
) -> Option<[f64; 3]> {
    if !inverse_f2.is_finite() || inverse_f2 <= 0.0 {
        return None;
    }
    let h = picture_from_floor(lens, floor_from_straight)?;
    let space = |p: DVec3| DVec3::new(p.x * inverse_f2.sqrt(), p.y * inverse_f2.sqrt(), p.z);
    let (x, z, t) = (space(h.x_axis), space(h.y_axis), space(h.z_axis));
    let scale = (x.length() * z.length()).sqrt();
    // A right-handed world: up is z × x.
    let (x, z, t) = (x.normalize_or_zero(), z.normalize_or_zero(), t / scale);
    let up = z.cross(x);
    let position = [-x.dot(t), -up.dot(t), -z.dot(t)];
    position.iter().all(|v| v.is_finite()).then_some(position)
}

/// From the floor to straight-lined picture coordinates around the principal point, in half diagonals; scaled so that the
/// surface's middle is seen from the front.
fn picture_from_floor(lens: &Lens, floor_from_straight: &Homography) -> Option<DMat3> {
    let unit = lens.half_diagonal_px();
    let center = lens.center_px();
    let picture = DMat3::from_cols(
        DVec3::new(1.0 / unit, 0.0, 0.0),
        DVec3::new(0.0, 1.0 / unit, 0.0),
        DVec3::new(-center.x / unit, -center.y / unit, 1.0),
    );
    let h = picture * floor_from_straight.inverse()?.0;
    Some(h * (h.z_axis.z.signum() / h.x_axis.truncate().length()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Homography;
    use glam::DVec2;

    /// What a pinhole at `eye` with focal length `focal_px` makes of the floor when it looks at `at`.
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
        (
            lens,
            Homography::from_pairs(&pairs).expect("a pinhole's view is a map"),
        )
    }

    /// What is believed of a view whose markers were this exact, as a multiple of the truth's or the usual lens's 1/f², and
    /// the camera's position by it.
    fn believed(eye: DVec3, at: DVec3, slope_deviation: f64) -> (f64, f64, Option<[f64; 3]>) {
        let (lens, homography) = looking(eye, at, 500.0);
        let tilt = Tilt::of(&lens, &homography).expect("it can be inverted");
        let usual = usual_inverse_square_focal(&lens);
        let off_deviation = slope_deviation * usual;
        let (believed, _) =
            believed_inverse_square_focal(usual, &tilt, [slope_deviation; 2], [off_deviation; 2]);
        let truth = (lens.half_diagonal_px() / 500.0).powi(2);
        let position = camera_position_through(&lens, &homography, believed);
        (believed / truth, believed / usual, position)
    }

    #[test]
    fn a_pinhole_is_found_again() {
        for (eye, at) in [
            (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO),
            (DVec3::new(-2.0, 2.5, 1.0), DVec3::new(0.2, 0.0, 0.1)),
            (DVec3::new(0.0, 3.0, 4.0), DVec3::ZERO),
        ] {
            let (_, _, found) = believed(eye, at, 1e-9);
            let found = DVec3::from_array(found.expect("an oblique view tells it"));
            assert!(found.distance(eye) < 1e-5, "{eye} {found}");
        }
    }

    #[test]
    fn a_lens_is_as_the_view_tells_it_or_as_usual() {
        let (eye, at) = (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO);
        let exact = believed(eye, at, 1e-4);
        assert!((exact.0 - 1.0).abs() < 0.01, "{exact:?}");
        let vague = believed(eye, at, 1.0);
        assert!((vague.1 - 1.0).abs() < 0.01, "{vague:?}");
        assert_eq!(believed(eye, at, f64::NAN).1, 1.0);
        assert_eq!(believed(eye, at, f64::INFINITY).1, 1.0);
    }

    #[test]
    fn straight_down_tells_no_height_and_the_lens_is_as_usual() {
        let down = DVec3::new(0.5, 0.0, 0.5);
        // Rounding leaves a trace of tilt, which is less than any error.
        let (_, of_usual, position) = believed(down + 4.0 * DVec3::Y, down, 1e-9);
        assert!((of_usual - 1.0).abs() < 1e-6, "{of_usual}");
        let [x, y, z] = position.expect("a usual lens is assumed");
        assert!((x - 0.5).abs() < 1e-6 && (z - 0.5).abs() < 1e-6, "{x} {z}");
        assert!((2.0..6.0).contains(&y), "{y}");
    }
}
