//! From measured points to the calibration that counts: what is proven waits until it is accepted, then is handed over.

use std::sync::mpsc::TrySendError;

use super::super::super::calibrate::today;
use super::{Calibrating, NO_CALIBRATION, NO_PICTURE, Procedure};
use crate::calibration::{Calibration, DarkPicture, MeasuredPoint, calibrate, texture_marks};

/// Visitors are not watched while points are fitted: no more than these.
const POINTS_MAX: usize = 500;

impl Calibrating {
    /// Fits to points; what is proven waits to be accepted.
    pub(super) fn fit(&mut self, points: &[MeasuredPoint]) -> Result<(), String> {
        if points.len() > POINTS_MAX {
            return Err(format!(
                "{} points are more than the {POINTS_MAX} that are fitted while the pool runs; `shoal calibrate` takes more",
                points.len()
            ));
        }
        let picture_px = self.picture_px.ok_or(NO_PICTURE)?;
        match calibrate(points, &self.setup(picture_px), &self.limits) {
            Ok(proven) => {
                let errors = &proven.1.errors;
                self.sentence = format!(
                    "{} points: floor errors of {:.0} mm are to be expected (worst place {:.0} mm). Accept it, or cancel to keep \
                     the old one.",
                    proven.1.points,
                    errors.predicted_rms_m * 1e3,
                    errors.predicted_worst_m * 1e3
                );
                self.procedure = Some(Procedure::Proven(Box::new(proven)));
                self.dark.clear();
                self.mean.clear();
                Ok(())
            }
            Err(rejection) => Err(format!("{} The old calibration stays.", rejection.text())),
        }
    }

    pub(super) fn accept(&mut self) -> Result<bool, String> {
        let proven = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => touch.proven(),
            Some(Procedure::Proven(proven)) => Some(&**proven),
            _ => None,
        };
        let (mut calibration, _) = proven
            .cloned()
            .ok_or("nothing is proven yet that could be accepted")?;
        self.procedure = None;
        let (width_px, height_px) = (calibration.picture.width_px, calibration.picture.height_px);
        if let Ok(map) = calibration.floor_from_camera(width_px, height_px) {
            if self.mean.picture().levels.is_empty() {
                // Accepted at once: the few frames that there are must do.
                self.mean.finish();
            }
            let dark = DarkPicture {
                dark: &self.dark,
                width_px: width_px as usize,
            };
            calibration.marks = texture_marks(&self.mean.picture(), &map, |at| !dark.is_dark(at));
        }
        self.mean.clear();
        self.hand_over(&calibration);
        "Accepted; it counts from now on.".clone_into(&mut self.sentence);
        self.adopt(Some(calibration));
        Ok(true)
    }

    pub(super) fn set_lamp(&mut self, position_m: [f64; 3]) -> Result<(), String> {
        let [x, y, z] = position_m;
        let is_above = position_m
            .iter()
            .all(|v| v.is_finite() && v.abs() <= 1000.0)
            && y > 0.1;
        if !is_above {
            return Err(format!(
                "the lamp cannot hang at {x}, {y}, {z}: finite meters are wanted, and its height (the second) above 0.1"
            ));
        }
        let mut calibration = self.current.clone().ok_or(NO_CALIBRATION)?;
        calibration.lamp_m = Some(position_m);
        calibration.date = today();
        self.hand_over(&calibration);
        self.sentence = format!("The lamp hangs at {x:.2}, {y:.2}, {z:.2} m.");
        self.adopt(Some(calibration));
        Ok(())
    }

    /// To the desk, which saves it. A desk that is busy with sixteen others is not there any more.
    fn hand_over(&self, calibration: &Calibration) {
        if let Err(TrySendError::Full(_)) = self.accepted.try_send(Box::new(calibration.clone())) {
            tracing::error!(
                "the accepted calibration counts, but it could not be handed over for saving"
            );
        }
    }
}
