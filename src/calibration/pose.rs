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

/// The camera's position in world space: x along the surface's width, y above it, z along its height.
///
/// `None` when the view does not tell the focal length: a camera that looks straight down sees the same from half the
/// height with half the focal length.
pub fn camera_position(lens: &Lens, floor_from_straight: &Homography) -> Option<[f64; 3]> {
    let inverse_f2 = inverse_square_focal(lens, floor_from_straight)?;
    camera_position_through(lens, floor_from_straight, inverse_f2)
}

/// What the view tells of the focal length f: 1/f², in half diagonals. It may come out below 0 where it is hardly told.
pub(super) fn inverse_square_focal(lens: &Lens, floor_from_straight: &Homography) -> Option<f64> {
    let h = picture_from_floor(lens, floor_from_straight)?;
    let (across, along) = (h.x_axis, h.y_axis);
    // Both directions of the floor are perpendicular and of the same length in space; each says something of 1/f².
    let (a1, b1) = (across.truncate().dot(along.truncate()), across.z * along.z);
    let (a2, b2) = (
        across.truncate().length_squared() - along.truncate().length_squared(),
        across.z * across.z - along.z * along.z,
    );
    let inverse_f2 = -(a1 * b1 + a2 * b2) / (a1 * a1 + a2 * a2);
    inverse_f2.is_finite().then_some(inverse_f2)
}

/// What is to be believed of 1/f², in half diagonals, and its standard deviation: what the view tells of it, if it does,
/// with its own deviation, and what lenses usually are.
pub(super) fn believed_inverse_square_focal(lens: &Lens, told: Option<(f64, f64)>) -> (f64, f64) {
    let edge = USUAL_HALF_VIEW_RAD.tan() * lens.half_diagonal_px() / lens.center_px().x.max(1.0);
    let usual = edge * edge;
    let usual_information = (USUAL_SPREAD * usual).powi(2).recip();
    let believed = told.and_then(|(told, deviation)| {
        let information = deviation.powi(2).recip();
        let sum = information + usual_information;
        let believed = (told * information + usual * usual_information) / sum;
        (believed > 0.0 && sum.is_finite()).then_some((believed, sum.sqrt().recip()))
    });
    believed.unwrap_or((usual, USUAL_SPREAD * usual))
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

    #[test]
    fn a_pinhole_is_found_again() {
        for (eye, at) in [
            (DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO),
            (DVec3::new(-2.0, 2.5, 1.0), DVec3::new(0.2, 0.0, 0.1)),
            (DVec3::new(0.0, 3.0, 4.0), DVec3::ZERO),
        ] {
            let (lens, homography) = looking(eye, at, 500.0);
            let found = camera_position(&lens, &homography).expect("an oblique view tells it");
            assert!(
                DVec3::from_array(found).distance(eye) < 1e-5,
                "{eye} {found:?}"
            );
        }
    }

    #[test]
    fn a_lens_is_as_the_view_tells_it_or_as_usual() {
        let (lens, homography) = looking(DVec3::new(0.6, 4.0, 0.9), DVec3::ZERO, 500.0);
        let told = inverse_square_focal(&lens, &homography).expect("an oblique view tells it");
        let f_px = lens.half_diagonal_px() / told.sqrt();
        assert!((f_px - 500.0).abs() < 1e-3, "{f_px}");
        let believed = |told| believed_inverse_square_focal(&lens, told).0;
        let usual = believed(None);
        assert!((believed(Some((told, 1e-3 * told))) / told - 1.0).abs() < 0.01);
        assert!((believed(Some((3.0 * usual, 1e3 * usual))) / usual - 1.0).abs() < 0.01);
        assert_eq!(believed(Some((-9.0 * usual, usual))), usual);
        assert_eq!(believed(Some((told, f64::NAN))), usual);
        let between = believed(Some((2.0 * usual, USUAL_SPREAD * usual)));
        assert!((between / usual - 1.5).abs() < 0.01, "{between}");
    }

    #[test]
    fn straight_down_tells_no_height() {
        let (lens, homography) =
            looking(DVec3::new(0.5, 4.0, 0.5), DVec3::new(0.5, 0.0, 0.5), 500.0);
        // Rounding may leave a trace of tilt: what comes out then is refused by its deviation, or is nothing at all.
        let found = camera_position(&lens, &homography);
        assert!(found.is_none_or(|p| p[1].is_finite()), "{found:?}");
    }
}
