//! Fits calibrations to measured points. A calibration that passes the checks waits until the technician accepts it; then it is
//! used, and sent to the desk.

use glam::DVec3;

use super::{LiveCalibration, NO_CALIBRATION, NO_PICTURE, Procedure, not_now, rejected};
use crate::calibration::{
    Calibration, DarkMask, MeasuredPoint, RejectionCause, calibrate, find_texture_marks,
    lamp_problem,
};
use crate::control::{CalibrationEnd, CalibrationRejection, StageReport, Undelivered};
use crate::runtime::now_iso;

/// Largest number of points that can be fitted while the pool runs, because tracking pauses during a fit.
const POINTS_MAX: usize = 500;

impl LiveCalibration {
    /// Fits a calibration to points. If it passes the checks, it waits until the technician accepts it.
    pub(super) fn fit(&mut self, points: &[MeasuredPoint]) -> Result<(), CalibrationRejection> {
        if points.len() > POINTS_MAX {
            return Err(not_now(format!(
                "{} points are too many: while the pool runs, at most {POINTS_MAX} are fitted. Use `shoal calibrate` for more",
                points.len()
            )));
        }
        let picture_px = (self.picture_px).ok_or_else(|| not_now(NO_PICTURE))?;
        match calibrate(points, &self.setup(picture_px), &self.limits) {
            Ok(proven) => {
                let errors = &proven.1.errors;
                self.message = format!(
                    "{} points give a predicted floor error of {:.0} mm (RMS) and {:.0} mm (maximum). {}Accept the calibration, or \
                     cancel to keep the old one.",
                    proven.1.points,
                    errors.predicted_rms_m * 1e3,
                    errors.predicted_worst_m * 1e3,
                    proven.1.mirror_sentence()
                );
                self.procedure = Some(Procedure::Proven(Box::new(proven)));
                self.dark.clear();
                self.mean.clear();
                Ok(())
            }
            Err(rejection) => Err(rejected(
                rejection.cause.code(),
                format!("{} The old calibration stays in use.", rejection.text()),
            )),
        }
    }

    /// Replaces the calibration in use by the waiting calibration, and sends it to the desk. Always returns true on success.
    pub(super) fn accept(&mut self) -> Result<bool, String> {
        let proven = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => touch.fitted(),
            Some(Procedure::Proven(proven)) => Some(&**proven),
            _ => None,
        };
        let (mut calibration, _) = proven
            .cloned()
            .ok_or("there is no proven calibration to accept yet")?;
        calibration.date = now_iso();
        calibration.projection = self.measured_projection.take();
        let (width_px, height_px) = (calibration.picture.width_px, calibration.picture.height_px);
        if let Ok(map) = calibration.floor_from_camera(width_px, height_px) {
            if self.mean.frame().levels.is_empty() {
                // The calibration was accepted before enough frames were averaged, so the mean of the available frames is used.
                self.mean.finish();
            }
            let dark = DarkMask {
                dark: &self.dark,
                width_px: width_px as usize,
            };
            calibration.marks =
                find_texture_marks(&self.mean.frame(), &map, |at| !dark.is_dark(at));
        }
        self.hand_to_desk(&calibration)?;
        self.mean.clear();
        self.procedure = None;
        self.end = Some(CalibrationEnd::Accepted);
        "The new calibration is accepted and in use.".clone_into(&mut self.message);
        self.use_calibration(Some(calibration));
        Ok(true)
    }

    /// Sets the position of the lamp in the calibration in use.
    pub(super) fn set_lamp(&mut self, position_m: [f64; 3]) -> Result<(), CalibrationRejection> {
        let (width_m, height_m) = (self.surface.width_m, self.surface.height_m);
        let surface_m = (f64::from(width_m), f64::from(height_m));
        if let Some(problem) = lamp_problem(DVec3::from_array(position_m), surface_m) {
            return Err(rejected(RejectionCause::ImpossiblePosition.code(), problem));
        }
        let [x, y, z] = position_m;
        let mut calibration = (self.current.clone()).ok_or_else(|| not_now(NO_CALIBRATION))?;
        calibration.lamp_m = Some(position_m);
        self.hand_to_desk(&calibration).map_err(not_now)?;
        self.message = format!("The lamp is at {x:.2}, {y:.2}, {z:.2} m.");
        self.use_calibration(Some(calibration));
        Ok(())
    }

    /// Sends a calibration to the desk, which saves it. Nothing is used that the desk could not take. Without a desk, nothing is saved.
    fn hand_to_desk(&self, calibration: &Calibration) -> Result<(), String> {
        let accepted = StageReport::CalibrationAccepted {
            camera: self.camera,
            text: calibration.to_toml(),
        };
        match self.desk.report(accepted) {
            Err(busy @ Undelivered::Busy) => Err(busy.to_string()),
            Ok(()) | Err(Undelivered::Gone | Undelivered::Late) => Ok(()),
        }
    }
}
