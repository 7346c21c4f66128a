//! What a calibration must reach to be taken. In: the site file's `[calibration]`. Must not: measure anything.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which calibration is used, and how good a new one must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationParams {
    /// Calibration file, relative to the site file: made by `shoal calibrate`, or while `shoal run` runs. Without one the
    /// whole picture is the surface.
    pub file: Option<String>,
    /// Largest predicted floor error, root of the mean square over the surface. Larger takes worse fits.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub predicted_rms_max_m: f64,
    /// Largest predicted floor error anywhere on the surface. Larger takes worse fits.
    #[schemars(range(min = 0.001, max = 2.0))]
    pub predicted_worst_max_m: f64,
    /// A point this far from where all others say it is, and improbably far, was not measured where it was meant to be.
    #[schemars(range(min = 0.005, max = 1.0))]
    pub outlier_m: f64,
    /// Least error of placing a target that is believed, however well the points agree. Smaller trusts few points more.
    #[schemars(range(min = 0.0001, max = 0.1))]
    pub placement_error_m: f64,
    /// Least part of the surface's area that the points must span.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage_min: f64,
    /// A disc or pole on a target is taken after it stood still for so long.
    #[schemars(range(min = 0.2, max = 30.0))]
    pub still_secs: f64,
    /// The floor being seen this far from where it was calibrated is an alarm.
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
    /// What one field forbids another: path and sentence.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut problems = Vec::new();
        if self.predicted_worst_max_m < self.predicted_rms_max_m {
            problems.push((
                "predicted_worst_max_m".to_owned(),
                format!(
                    "{} m is less than predicted_rms_max_m = {} m, but the worst error is never less than the mean one; \
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
    fn the_worst_is_not_below_the_mean() {
        assert_eq!(CalibrationParams::default().problems(), []);
        let swapped = CalibrationParams {
            predicted_rms_max_m: 0.06,
            predicted_worst_max_m: 0.025,
            ..CalibrationParams::default()
        };
        assert_eq!(swapped.problems()[0].0, "predicted_worst_max_m");
    }
}
