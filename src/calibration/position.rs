//! Checks whether a lamp or a camera can be at a given position. Used by every way to enter such a position.
//!
//! Input: positions in world space. Output: a message that says what is wrong and what to do, or nothing.

use glam::DVec3;

/// Lowest height of a lamp or camera above the surface, in meters.
const HEIGHT_MIN_M: f64 = 0.1;
/// Largest distance of a lamp or camera from the center of the surface, in meters. Larger distances are treated as typing
/// errors: the largest surface is 100 m wide, and an infrared lamp does not light a floor from farther away.
const DISTANCE_MAX_M: f64 = 100.0;
/// Largest distance of a lamp from the center of the surface, in diagonals of the surface: from farther away, an infrared lamp
/// does not light it evenly and strongly enough.
const LAMP_DIAGONALS_MAX: f64 = 3.0;
/// Distance of a lamp that is always allowed, in meters, for a small surface under a high ceiling.
const LAMP_DISTANCE_MIN_M: f64 = 15.0;
/// Difference between the given camera position and the position of the fit that is always allowed, as a share of the camera's
/// distance. A lens whose center is not in the middle of the frame causes such differences.
const CAMERA_SHARE_MAX: f64 = 0.3;
/// Difference that is allowed in addition, in standard deviations of the fitted position.
const CAMERA_DEVIATIONS_MAX: f64 = 6.0;

/// Returns why a lamp or camera cannot be at a position; `None` if it can. `what` is its name in the message.
pub(super) fn position_problem(what: &str, position_m: DVec3) -> Option<String> {
    let DVec3 { x, y, z } = position_m;
    // A comparison with NaN is false, so NaN is a problem too.
    let is_high = y > HEIGHT_MIN_M;
    let is_near = position_m.length() <= DISTANCE_MAX_M;
    if is_high && is_near {
        return None;
    }
    let why = if is_high || !position_m.is_finite() {
        format!("it must be at most {DISTANCE_MAX_M} m from the center of the surface, in meters")
    } else {
        format!(
            "the second number is its height above the surface, which must be more than {HEIGHT_MIN_M} m"
        )
    };
    Some(format!(
        "the {what} cannot be at {x}, {y}, {z}: {why}; measure again, and give three numbers in meters as x,y,z"
    ))
}

/// Returns why a lamp cannot be at a position above a surface of this size; `None` if it can.
pub fn lamp_problem(position_m: DVec3, surface_m: (f64, f64)) -> Option<String> {
    let most_m = (LAMP_DIAGONALS_MAX * surface_m.0.hypot(surface_m.1)).max(LAMP_DISTANCE_MIN_M);
    position_problem("lamp", position_m).or_else(|| {
        (position_m.length() > most_m).then(|| {
            let DVec3 { x, y, z } = position_m;
            format!(
                "the lamp cannot be at {x}, {y}, {z}: this is {:.0} m from the center of the surface, and at most {most_m:.0} m are \
                 plausible for its size; measure again, and check the decimal point",
                position_m.length()
            )
        })
    })
}

/// Returns why a given camera position contradicts the fitted one; `None` if it does not. `deviation_m` is the standard
/// deviation of the fitted position.
pub(super) fn camera_contradiction(
    given_m: DVec3,
    fitted_m: DVec3,
    deviation_m: f64,
) -> Option<String> {
    let allowed_m = CAMERA_SHARE_MAX * fitted_m.length() + CAMERA_DEVIATIONS_MAX * deviation_m;
    let distance_m = given_m.distance(fitted_m);
    (distance_m > allowed_m).then(|| {
        format!(
            "the camera cannot be at {}, {}, {}: the points show that it is near {:.2}, {:.2}, {:.2} m (± {deviation_m:.2} m), \
             {distance_m:.1} m away; measure its position again, or leave it out. For a camera that looks into a mirror, it is the \
             position of the camera's mirror image",
            given_m.x, given_m.y, given_m.z, fitted_m.x, fitted_m.y, fitted_m.z
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shoal_testing::assert_message;

    #[test]
    fn impossible_positions_are_rejected_with_the_reason() {
        for (position, wanted) in [
            ([0.2, 4.2, -0.3], None),
            ([-3.0, 0.3, 40.0], None),
            (
                [0.0, -3.8, 0.0],
                Some("0, -3.8, 0: the second number is its height"),
            ),
            ([0.0, 0.0, 4.0], Some("must be more than 0.1 m")),
            ([0.0, 1000.0, 0.0], Some("at most 100 m from the center")),
            ([420.0, 380.0, 0.0], Some("at most 100 m from the center")),
            ([0.0, f64::NAN, 0.0], Some("0, NaN, 0")),
            ([0.0, f64::INFINITY, 0.0], Some("at most 100 m")),
        ] {
            let message = position_problem("lamp", DVec3::from_array(position));
            let is_wanted = match (&message, wanted) {
                (Some(message), Some(wanted)) => message.contains(wanted),
                (message, wanted) => message.is_none() && wanted.is_none(),
            };
            assert!(is_wanted, "{position:?}: {message:?}");
        }
    }

    #[test]
    fn a_lamp_at_42_meters_above_a_small_pool_is_a_typing_error() {
        let pool = (4.0, 3.0);
        assert_eq!(lamp_problem(DVec3::new(0.2, 4.2, -0.3), pool), None);
        assert_eq!(lamp_problem(DVec3::new(0.0, 12.0, 0.0), pool), None);
        let message = lamp_problem(DVec3::new(2.0, 42.0, -3.0), pool).unwrap();
        assert_message(
            &message,
            &["2, 42, -3", "42 m from the center", "at most 15 m"],
        );
        assert_eq!(lamp_problem(DVec3::new(2.0, 30.0, 9.0), (20.0, 8.0)), None);
    }

    #[test]
    fn a_camera_far_from_the_fitted_position_is_rejected() {
        let fitted = DVec3::new(0.6, 3.8, 0.9);
        let near = fitted + DVec3::new(0.3, -0.4, 0.5);
        assert_eq!(camera_contradiction(near, fitted, 0.05), None);
        let far = DVec3::new(0.6, 38.0, 0.9);
        let message = camera_contradiction(far, fitted, 0.05).unwrap();
        assert_message(
            &message,
            &["near 0.60, 3.80, 0.90 m (± 0.05 m), 34.2 m away"],
        );
        // The fit is uncertain.
        assert_eq!(camera_contradiction(far, fitted, 10.0), None);
    }
}
