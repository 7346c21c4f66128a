//! Estimates the position of the infrared lamp from the shadows of an upright pole.
//!
//! Input: the height of the pole; for several positions of the pole, its foot and the tip of its shadow on the floor. Output:
//! the position of the lamp with its error, or a message that says what to measure better. This file must not know the camera.
//!
//! The lamp is on the line from each shadow tip through the top of the pole. The estimate minimizes the distance between the
//! predicted and the measured tips.

use glam::{DMat3, DVec2, DVec3};

/// Minimum number of pole positions. Two are enough to compute the lamp position, but not to estimate its error well.
pub const POLES_MIN: usize = 3;

/// Largest accepted standard deviation of the lamp position, in meters. Foot points are wrong by at least a twentieth of this
/// deviation.
const DEVIATION_MAX_M: f64 = 0.25;
/// Largest accepted root mean square distance between predicted and measured tips, in meters. If the distance is larger, a
/// measurement is wrong.
const RMS_MAX_M: f64 = 0.06;
/// Smallest error that is assumed for a measured tip, in meters, even if the tips agree better, because the tip of a shadow is
/// soft.
const TIP_ERROR_M: f64 = 0.01;

/// Measurement of the pole at one position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoleMeasurement {
    /// Foot of the pole, in floor space.
    pub foot_m: DVec2,
    /// Tip of the pole's shadow, in floor space.
    pub tip_m: DVec2,
}

/// Estimated position of the lamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LampFit {
    /// Position of the lamp in world space.
    pub position_m: DVec3,
    /// Root mean square distance between predicted and measured tips, in meters.
    pub rms_m: f64,
    /// Standard deviation of the lamp position, in meters.
    pub deviation_m: f64,
}

/// Estimates the position of the lamp.
///
/// # Errors
/// Returns a message if there are too few positions, impossible numbers, only one distinct position, tips that disagree, or a
/// result that is too uncertain.
pub fn lamp_from_poles(poles: &[PoleMeasurement], height_m: f64) -> Result<LampFit, String> {
    if poles.len() < POLES_MIN {
        return Err(format!(
            "{} places are too few to find the lamp; measure the pole at {POLES_MIN} places or more, far from each other",
            poles.len()
        ));
    }
    if !(0.1..=4.0).contains(&height_m) {
        return Err(format!(
            "a pole height of {height_m} m is not possible; allowed: 0.1 to 4 m"
        ));
    }
    for (pole, number) in poles.iter().zip(1..) {
        if !(pole.foot_m.is_finite() && pole.tip_m.is_finite()) {
            return Err(format!(
                "pole {number}: foot or tip is where the camera sees no floor; mark them again"
            ));
        }
    }
    let uncertain = "the shadows do not determine the lamp position; put the pole at places farther apart, where its shadow is long";
    let mut position = nearest_point_to_rays(poles, height_m).ok_or(uncertain)?;
    // Gauss–Newton iterations, with the point nearest to all rays as the initial value.
    for _ in 0..30 {
        let (normal, gradient) = normal_equations(poles, height_m, position);
        let step = normal.inverse() * gradient;
        if !step.is_finite() {
            return Err(uncertain.to_owned());
        }
        position -= step.clamp_length_max(0.5);
        position.y = position.y.max(height_m + 0.05);
        if step.length() < 1e-9 {
            break;
        }
    }
    let squares: f64 = poles
        .iter()
        .map(|p| (predicted_tip(p.foot_m, height_m, position) - p.tip_m).length_squared())
        .sum();
    let rms_m = (squares / poles.len() as f64).sqrt();
    let left = 2 * poles.len() - 3;
    let scatter = (squares / left as f64).sqrt().max(TIP_ERROR_M);
    let (normal, _) = normal_equations(poles, height_m, position);
    let variance = normal.inverse();
    let deviation_m = scatter
        * (variance.x_axis.x + variance.y_axis.y + variance.z_axis.z)
            .max(0.0)
            .sqrt();
    if !deviation_m.is_finite() || !position.is_finite() {
        return Err(uncertain.to_owned());
    }
    if rms_m > RMS_MAX_M {
        return Err(format!(
            "the shadow tips disagree by {:.0} mm, but only {:.0} mm are allowed; check that the pole is {height_m} m high and upright, \
             and that each tip belongs to its foot",
            rms_m * 1e3,
            RMS_MAX_M * 1e3
        ));
    }
    if deviation_m > DEVIATION_MAX_M {
        return Err(format!(
            "{uncertain} (the result would be uncertain by {deviation_m:.2} m)"
        ));
    }
    Ok(LampFit {
        position_m: position,
        rms_m,
        deviation_m,
    })
}

/// Returns the predicted shadow tip of a pole.
fn predicted_tip(foot_m: DVec2, height_m: f64, lamp_m: DVec3) -> DVec2 {
    let below = DVec2::new(lamp_m.x, lamp_m.z);
    below + (foot_m - below) * (lamp_m.y / (lamp_m.y - height_m))
}

/// Returns the normal matrix and the gradient of half the sum of squared tip errors, with respect to the lamp position
/// (Gauss–Newton approximation).
fn normal_equations(poles: &[PoleMeasurement], height_m: f64, lamp_m: DVec3) -> (DMat3, DVec3) {
    let (mut normal, mut gradient) = (DMat3::ZERO, DVec3::ZERO);
    for pole in poles {
        let error = predicted_tip(pole.foot_m, height_m, lamp_m) - pole.tip_m;
        let over = lamp_m.y - height_m;
        // tip = below + (foot − below) · y / (y − h), where `below` is the floor point below the lamp.
        let aside = 1.0 - lamp_m.y / over;
        let away = pole.foot_m - DVec2::new(lamp_m.x, lamp_m.z);
        let higher = away * (-height_m / (over * over));
        for (slope, error) in [
            (DVec3::new(aside, higher.x, 0.0), error.x),
            (DVec3::new(0.0, higher.y, aside), error.y),
        ] {
            normal += DMat3::from_cols(slope * slope.x, slope * slope.y, slope * slope.z);
            gradient += slope * error;
        }
    }
    (normal, gradient)
}

/// Returns the point nearest to all lines from shadow tips through pole tops, or `None` if the lines do not determine a point.
fn nearest_point_to_rays(poles: &[PoleMeasurement], height_m: f64) -> Option<DVec3> {
    let (mut across, mut sum) = (DMat3::ZERO, DVec3::ZERO);
    for pole in poles {
        let from = DVec3::new(pole.tip_m.x, 0.0, pole.tip_m.y);
        let top = DVec3::new(pole.foot_m.x, height_m, pole.foot_m.y);
        let along = (top - from).normalize_or_zero();
        let part =
            DMat3::IDENTITY - DMat3::from_cols(along * along.x, along * along.y, along * along.z);
        across += part;
        sum += part * from;
    }
    let found = across.inverse() * sum;
    let is_possible = across.determinant() > 1e-9 && found.is_finite();
    // Nearly parallel lines can cross below the floor, but the iterations must start above the top of the pole.
    is_possible.then(|| DVec3::new(found.x, found.y.max(height_m + 0.5), found.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::Noise;
    use shoal_testing::assert_message;

    const HEIGHT_M: f64 = 1.2;

    fn poles(lamp_m: DVec3, feet: &[(f64, f64)]) -> Vec<PoleMeasurement> {
        feet.iter()
            .map(|&(x, z)| {
                let foot_m = DVec2::new(x, z);
                PoleMeasurement {
                    foot_m,
                    tip_m: predicted_tip(foot_m, HEIGHT_M, lamp_m),
                }
            })
            .collect()
    }

    const THREE: [(f64, f64); 3] = [(-1.5, 1.0), (1.6, 0.8), (0.2, -1.2)];

    #[test]
    fn exact_shadows_give_the_lamp() {
        for lamp_m in [
            DVec3::new(0.2, 4.2, -0.3),
            DVec3::new(-3.0, 2.5, 2.0),
            DVec3::new(0.0, 3.0, 0.0),
        ] {
            let found = lamp_from_poles(&poles(lamp_m, &THREE), HEIGHT_M).unwrap();
            assert!(
                found.position_m.distance(lamp_m) < 1e-6,
                "{lamp_m} {found:?}"
            );
            assert!(found.rms_m < 1e-9 && found.deviation_m < 0.2, "{found:?}");
        }
    }

    #[test]
    fn the_error_is_predicted() {
        let lamp_m = DVec3::new(0.2, 4.2, -0.3);
        let feet = [
            (-1.5, 1.0),
            (1.6, 0.8),
            (0.2, -1.2),
            (-1.7, -1.2),
            (1.8, -1.3),
        ];
        let clean = poles(lamp_m, &feet);
        let (mut squares, mut predicted) = (0.0, 0.0);
        for seed in 0..200 {
            let pairs: Vec<_> = clean.iter().map(|p| (p.foot_m, p.tip_m)).collect();
            let noisy: Vec<_> = Noise::new(seed)
                .on(&pairs, 0.01)
                .into_iter()
                .map(|(foot_m, tip_m)| PoleMeasurement { foot_m, tip_m })
                .collect();
            let found = lamp_from_poles(&noisy, HEIGHT_M).unwrap();
            squares += found.position_m.distance_squared(lamp_m) / 200.0;
            predicted += found.deviation_m.powi(2) / 200.0;
        }
        let (error, predicted) = (f64::sqrt(squares), f64::sqrt(predicted));
        assert!(error < 0.1, "{error}");
        assert!(
            (0.6..1.4).contains(&(error / predicted)),
            "{error} {predicted}"
        );
    }

    #[test]
    fn impossible_measurements_are_rejected_with_a_message() {
        let good = poles(DVec3::new(0.2, 4.2, -0.3), &THREE);
        let mut nowhere = good.clone();
        nowhere[1].tip_m.x = f64::NAN;
        let mut other_foot = good.clone();
        other_foot.swap(0, 2);
        (other_foot[0].tip_m, other_foot[2].tip_m) = (other_foot[2].tip_m, other_foot[0].tip_m);
        let near = poles(
            DVec3::new(0.2, 4.2, -0.3),
            &[(1.0, 1.0), (1.05, 1.0), (1.0, 1.05)],
        );
        for (measured, height_m, wanted) in [
            (good[..2].to_vec(), HEIGHT_M, "2 places are too few"),
            (good.clone(), 0.0, "a pole height of 0 m is not possible"),
            (
                good.clone(),
                f64::NAN,
                "a pole height of NaN m is not possible",
            ),
            (
                nowhere,
                HEIGHT_M,
                "pole 2: foot or tip is where the camera sees no floor",
            ),
            (other_foot, HEIGHT_M, "the shadow tips disagree by"),
            (near, HEIGHT_M, "put the pole at places farther apart"),
            (
                vec![good[0]; 3],
                HEIGHT_M,
                "put the pole at places farther apart",
            ),
        ] {
            let message = lamp_from_poles(&measured, height_m).unwrap_err();
            assert_message(&message, &[wanted]);
        }
    }
}
