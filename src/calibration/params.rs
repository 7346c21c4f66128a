//! Limits that a calibration must meet. Input: the table `[calibration]` of the site file. This file must not measure anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calibration file in use, and limits for a new calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationParams {
    /// Path of the calibration file, relative to the site file. `shoal calibrate` and `shoal run` create it. Without a file,
    /// Shoal assumes that the camera frame covers exactly the surface.
    pub file: Option<String>,
    /// Largest predicted floor error, as root mean square over the surface, in meters. A larger value accepts worse
    /// calibrations.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub predicted_rms_max_m: f64,
    /// Largest predicted floor error at any point of the surface, in meters. A larger value accepts worse calibrations.
    #[schemars(range(min = 0.001, max = 2.0))]
    pub predicted_worst_max_m: f64,
    /// A point counts as wrongly placed if it is at least this far, in meters, from the position that all other points predict,
    /// and if this distance is also improbable for the scatter of the points.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub outlier_m: f64,
    /// Smallest error that is assumed for the placement of a target, in meters, even if the points agree better. A smaller
    /// value gives more weight to few points.
    #[schemars(range(min = 0.0001, max = 0.1))]
    pub placement_error_m: f64,
    /// Minimum share of the surface that the points must enclose.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage_min: f64,
    /// Time for which a disc or pole on a target must be still before it is measured, in seconds.
    #[schemars(range(min = 0.2, max = 30.0))]
    pub still_secs: f64,
    /// If the floor in the camera's view has moved by more than this distance since the calibration, in meters, Shoal raises an
    /// alarm.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub drift_max_m: f64,
}

impl Default for CalibrationParams {
    fn default() -> Self {
        Self {
            file: None,
            predicted_rms_max_m: 0.025,
            predicted_worst_max_m: 0.06,
            outlier_m: 0.06,
            placement_error_m: 0.003,
            coverage_min: 0.3,
            still_secs: 1.2,
            drift_max_m: 0.03,
        }
    }
}

impl CalibrationParams {
    /// Returns all contradictions between fields, as pairs of path and message.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.predicted_worst_max_m < self.predicted_rms_max_m {
            problems.push((
                "predicted_worst_max_m".to_owned(),
                format!(
                    "{} m is less than predicted_rms_max_m = {} m, but the largest error is never less than the mean error; \
                     make it at least as large",
                    self.predicted_worst_max_m, self.predicted_rms_max_m
                ),
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_error_is_not_less_than_the_mean_error() {
        assert_eq!(CalibrationParams::default().problems(), []);
        let swapped = CalibrationParams {
            predicted_rms_max_m: 0.06,
            predicted_worst_max_m: 0.025,
            ..CalibrationParams::default()
        };
        assert_eq!(swapped.problems()[0].0, "predicted_worst_max_m");
    }
}
