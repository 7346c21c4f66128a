//! Publishes the status of the calibration, and prints its message for the technician.

use std::time::Duration;

use super::super::super::print_message;
use super::{LiveCalibration, Procedure, ProcedureEnd};
use crate::calibration::Language;
use crate::control::{CalibrationKnown, CalibrationStatus};
use crate::render::FloorNotice;

/// Time for which the result of a procedure stays on the floor.
const RESULT_TIME: Duration = Duration::from_secs(20);

impl LiveCalibration {
    /// Shows on the floor what the procedure waits for, or its result, and the keys that can be pressed next.
    fn show_on_floor(&self, status: &CalibrationStatus) {
        let language = self.notices.language();
        let touch = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => Some(touch),
            _ => None,
        };
        let text = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => touch.floor_text(language),
            Some(Procedure::Proven(proven)) => {
                let mean_mm = proven.1.errors.predicted_rms_m * 1e3;
                match language {
                    Language::En => format!("Done: error {mean_mm:.0} mm."),
                    Language::De => format!("Fertig: Fehler {mean_mm:.0} mm."),
                }
            }
            Some(Procedure::Requested { .. }) => language
                .choose("Waiting for the camera.", "Warten auf die Kamera.")
                .to_owned(),
            // Letters between the stripes would be measured.
            Some(Procedure::Scanning(_)) => String::new(),
            None => match self.end {
                Some(ProcedureEnd::Accepted) => language.choose(
                    "The new calibration is in use.",
                    "Die neue Kalibrierung gilt.",
                ),
                Some(ProcedureEnd::Cancelled) => language.choose(
                    "Cancelled. The old calibration stays.",
                    "Abgebrochen. Die alte Kalibrierung bleibt.",
                ),
                Some(ProcedureEnd::Failed) => language.choose(
                    "Rejected. The old calibration stays.",
                    "Abgelehnt. Die alte Kalibrierung bleibt.",
                ),
                None => "",
            }
            .to_owned(),
        };
        let keys = match (status.is_running, status.is_proven, status.target) {
            _ if text.is_empty() => "",
            (false, ..) => "",
            (_, true, _) => language.choose(
                "Enter: use it. Escape: keep the old one.",
                "Enter: übernehmen. Escape: alte behalten.",
            ),
            (_, _, Some(_)) => language.choose(
                "Keys: left back, right skip, R repeat, Escape cancel.",
                "Tasten: links zurück, rechts überspringen, R nochmal, Escape Abbruch.",
            ),
            _ => language.choose("Escape: cancel.", "Escape: Abbruch."),
        };
        let target = touch.and_then(|touch| touch.shown_target());
        let notice = FloorNotice {
            text: format!("{text} {keys}").trim().to_owned(),
            free_of_m: target.map(|target| target.floor_m.as_vec2()),
            code: None,
        };
        let time = (!status.is_running).then_some(RESULT_TIME);
        self.notices.show(notice, time);
    }

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
        self.show_on_floor(&status);
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
