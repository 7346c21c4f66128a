//! What is said of calibrating: the status for whoever shows it, and the sentence for the technician.

use super::super::super::tell;
use super::super::editing::lock;
use super::{Calibrating, Procedure};
use crate::control::{CalibrationKnown, CalibrationStatus};

impl Calibrating {
    pub(super) fn publish(&mut self) {
        let touch = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => Some(touch),
            _ => None,
        };
        let pattern = touch.and_then(|t| t.pattern());
        let scan = match &self.procedure {
            Some(Procedure::Scanning(scan)) => Some(scan),
            _ => None,
        };
        let sentence = match (&self.procedure, touch) {
            (_, Some(touch)) if self.sentence.is_empty() => touch.sentence(),
            (_, Some(touch)) => format!("{} {}", self.sentence, touch.sentence()),
            (Some(Procedure::Scanning(scan)), _) => format!(
                "Pattern {} of {} is shown: keep off the surface, and the room dark.",
                scan.shown() + 1,
                scan.patterns()
            ),
            (Some(Procedure::Asked { .. }), _) => "Waiting for the camera's picture.".to_owned(),
            _ => self.sentence.clone(),
        };
        let status = CalibrationStatus {
            is_running: self.procedure.is_some(),
            target: pattern.map(|p| p.number),
            targets: touch.map_or_else(|| scan.map_or(0, |s| s.patterns()), |t| t.targets()),
            taken: touch.map_or_else(|| scan.map_or(0, |s| s.shown()), |t| t.taken()),
            is_proven: match &self.procedure {
                Some(Procedure::Proven(_)) => true,
                _ => touch.is_some_and(|t| t.proven().is_some()),
            },
            sentence,
            current: self.current.as_ref().map(|c| CalibrationKnown {
                date: c.date.clone(),
                predicted_rms_m: c.errors.predicted_rms_m,
                predicted_worst_m: c.errors.predicted_worst_m,
                knows_lamp: c.lamp_m.is_some(),
            }),
            drift: self.drift.status(),
        };
        let mut published = lock(&self.status);
        let said = |s: &CalibrationStatus| (s.is_running, s.target, s.taken, s.is_proven);
        let is_news = said(&published) != said(&status) || std::mem::take(&mut self.is_news);
        if is_news && !status.sentence.is_empty() {
            tell(&format!("calibration: {}", status.sentence));
        }
        *published = status;
    }
}
