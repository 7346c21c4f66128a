//! Limits that a calibration must meet. In: the table `[calibration]` of the site file. Must not: measure anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The calibration file in use, and the limits for a new calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationParams {
    /// Calibration file, relative to the site file. `shoal calibrate` and `shoal run` create it. Without one, the camera frame
    /// covers exactly the surface.
    pub file: Option<String>,
    /// Largest predicted floor error, as root mean square over the surface. A larger value accepts worse calibrations.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub predicted_rms_max_m: f64,
    /// Largest predicted floor error at any point of the surface. A larger value accepts worse calibrations.
    #[schemars(range(min = 0.001, max = 2.0))]
    pub predicted_worst_max_m: f64,
    /// A point at least this far from its position according to all other points counts as wrongly placed, if that distance is
    /// also improbable for their scatter.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub outlier_m: f64,
    /// Assumed error of placing a target, even if the points agree better. A smaller value gives more weight to few points.
    #[schemars(range(min = 0.0001, max = 0.1))]
    pub placement_error_m: f64,
    /// Minimum share of the surface that the points must span.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage_min: f64,
    /// A disc or pole on a target is measured after it has been still for this time.
    #[schemars(range(min = 0.2, max = 30.0))]
    pub still_secs: f64,
    /// If the floor has moved farther than this in the camera's view since the calibration, an alarm is raised.
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
    /// Contradictions between fields: path and message.
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
