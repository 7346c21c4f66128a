//! Publishes the status of the calibration, and prints its message for the technician.

use super::super::super::print_message;
use super::{LiveCalibration, Procedure};
use crate::control::{CalibrationKnown, CalibrationStatus};

impl LiveCalibration {
    /// Publishes the status. If it has changed, prints its message too.
    pub(super) fn publish(&mut self) {
        let touch = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => Some(touch),
            _ => None,
        };
        let pattern = touch.and_then(|t| t.shown_target());
        let scan = match &self.procedure {
            Some(Procedure::Scanning(scan)) => Some(scan),
            _ => None,
        };
        let message = match (&self.procedure, touch) {
            (_, Some(touch)) if self.message.is_empty() => touch.instruction(),
            (_, Some(touch)) => format!("{} {}", self.message, touch.instruction()),
            (Some(Procedure::Scanning(scan)), _) => format!(
                "Pattern {} of {} is shown: keep off the surface, and keep the room dark.",
                scan.shown_count() + 1,
                scan.pattern_count()
            ),
            (Some(Procedure::Requested { .. }), _) => {
                "Waiting for the camera's picture.".to_owned()
            }
            _ => self.message.clone(),
        };
        let status = CalibrationStatus {
            is_running: self.procedure.is_some(),
            target: pattern.map(|p| p.number),
            targets: touch.map_or_else(
                || scan.map_or(0, |s| s.pattern_count()),
                |t| t.target_count(),
            ),
            taken: touch.map_or_else(
                || scan.map_or(0, |s| s.shown_count()),
                |t| t.measured_count(),
            ),
            is_proven: match &self.procedure {
                Some(Procedure::Proven(_)) => true,
                _ => touch.is_some_and(|t| t.fitted().is_some()),
            },
            sentence: message,
            current: self.current.as_ref().map(|c| CalibrationKnown {
                date: c.date.clone(),
                predicted_rms_m: c.errors.predicted_rms_m,
                predicted_worst_m: c.errors.predicted_worst_m,
                knows_lamp: c.lamp_m.is_some(),
            }),
            drift: self.drift.status(),
        };
        let mut published = self.status.lock();
        let state = |s: &CalibrationStatus| (s.is_running, s.target, s.taken, s.is_proven);
        let is_new =
            state(&published) != state(&status) || std::mem::take(&mut self.has_new_message);
        if is_new && !status.sentence.is_empty() {
            print_message(&format!("calibration: {}", status.sentence));
        }
        *published = status;
    }
}
