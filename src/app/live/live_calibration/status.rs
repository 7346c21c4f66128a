//! Publishes the status of the calibration, and prints its message for the technician.

use std::time::Duration;

use super::floor_text::{camera_text, floor_text};
use super::{LiveCalibration, Procedure};
use crate::calibration::{CalibrationReport, SpotFault, TargetObject, TouchProcedure, WaitReason};
use crate::control::{
    CalibrationEnd, CalibrationKnown, CalibrationPhase, CalibrationRejection, CalibrationResult,
    CalibrationStatus, CalibrationWait, TargetResult, TouchMark,
};
use crate::render::FloorNotice;
use crate::runtime::print_message;
use crate::site::Language;

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
            Some(Procedure::Touching { touch, .. }) => match self.camera_wait() {
                Some(wait) => camera_text(wait, language).to_owned(),
                None => floor_text(touch, language),
            },
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
            Some(Procedure::Scanning(_)) => match self.camera_wait() {
                Some(wait) => camera_text(wait, language).to_owned(),
                None => String::new(),
            },
            None => match self.end {
                Some(CalibrationEnd::Accepted) => language.choose(
                    "The new calibration is in use.",
                    "Die neue Kalibrierung gilt.",
                ),
                Some(CalibrationEnd::Cancelled) => language.choose(
                    "Cancelled. The old calibration stays.",
                    "Abgebrochen. Die alte Kalibrierung bleibt.",
                ),
                Some(CalibrationEnd::Failed) => language.choose(
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

    fn phase(&self) -> CalibrationPhase {
        match &self.procedure {
            None => CalibrationPhase::Idle,
            Some(Procedure::Requested { .. }) => CalibrationPhase::Starting,
            Some(Procedure::Scanning(_)) => CalibrationPhase::Stripes,
            Some(Procedure::Proven(_)) => CalibrationPhase::Proven,
            Some(Procedure::Touching { touch, .. }) => {
                match (touch.shown_target(), touch.fitted()) {
                    (Some(_), _) => CalibrationPhase::Touch,
                    (None, Some(_)) => CalibrationPhase::Proven,
                    (None, None) => CalibrationPhase::Rejected,
                }
            }
        }
    }

    fn waits_for(&self, phase: CalibrationPhase) -> Option<CalibrationWait> {
        match (phase, &self.procedure) {
            (CalibrationPhase::Idle, _) => None,
            (CalibrationPhase::Starting, _) => Some(CalibrationWait::Camera),
            (CalibrationPhase::Touch | CalibrationPhase::Stripes, _)
                if self.camera_wait().is_some() =>
            {
                self.camera_wait()
            }
            (CalibrationPhase::Stripes, _) => Some(CalibrationWait::Stripes),
            (CalibrationPhase::Proven, _) => Some(CalibrationWait::Decision),
            (CalibrationPhase::Rejected, Some(Procedure::Touching { touch, .. }))
                if touch.is_stuck() =>
            {
                Some(CalibrationWait::NewStart)
            }
            (CalibrationPhase::Rejected, _) => Some(CalibrationWait::Repetition),
            (CalibrationPhase::Touch, Some(Procedure::Touching { touch, .. })) => {
                Some(wait_of(touch.wait_reason()))
            }
            (CalibrationPhase::Touch, _) => None,
        }
    }

    /// Returns the result that waits until it is accepted.
    fn result(&self) -> Option<CalibrationResult> {
        match &self.procedure {
            Some(Procedure::Proven(proven)) => Some(result_of(&proven.1)),
            Some(Procedure::Touching { touch, .. }) => {
                let target = |(number, error_m)| TargetResult { number, error_m };
                Some(CalibrationResult {
                    targets: touch.target_errors().map(target).collect(),
                    ..result_of(&touch.fitted()?.1)
                })
            }
            _ => None,
        }
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
            _ if self.camera_wait().is_some() => {
                let problem = self.camera_wait().map_or("", camera_sentence);
                format!("{problem} The calibration continues by itself.")
            }
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
        let phase = self.phase();
        let status = CalibrationStatus {
            phase,
            waits_for: self.waits_for(phase),
            rejection: touch
                .and_then(|touch| touch_rejection(touch))
                .or_else(|| self.rejection.clone()),
            result: self.result(),
            end: self.end,
            is_running: self.procedure.is_some(),
            mark: touch.map(|touch| match touch.target_object() {
                TargetObject::Disc => TouchMark::Disc,
                TargetObject::Pole => TouchMark::Pole,
            }),
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
                lamp_m: c.lamp_m,
                surface_m: [c.surface.width_m, c.surface.height_m],
            }),
            // The desk, which saves it, completes this.
            is_saved: false,
            drift: self.drift.status(),
            doubts: Vec::new(),
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

/// Says what is wrong with the camera, and what to do.
fn camera_sentence(wait: CalibrationWait) -> &'static str {
    match wait {
        CalibrationWait::CameraBlack => {
            "The camera's picture is black. Check that its lens is not covered, and that the infrared lamp is on."
        }
        CalibrationWait::CameraSaturated => {
            "The camera's picture is far too bright. Keep sun and lamps out of it, or shorten the exposure."
        }
        CalibrationWait::CameraFrozen => {
            "The camera's picture is frozen. If it stays so, unplug the camera for five seconds."
        }
        _ => "The camera sends no pictures. Check its cable and power.",
    }
}

fn result_of(report: &CalibrationReport) -> CalibrationResult {
    CalibrationResult {
        points: report.points,
        predicted_rms_m: report.errors.predicted_rms_m,
        predicted_worst_m: report.errors.predicted_worst_m,
        is_mirrored: report.is_mirrored,
        targets: Vec::new(),
    }
}

fn touch_rejection(touch: &TouchProcedure) -> Option<CalibrationRejection> {
    let rejection = touch.rejection()?;
    Some(CalibrationRejection {
        code: rejection.cause.code().to_owned(),
        text: rejection.text(),
        repeat: touch.targets_to_repeat().collect(),
    })
}

fn wait_of(reason: WaitReason) -> CalibrationWait {
    match reason {
        WaitReason::Floor => CalibrationWait::Floor,
        WaitReason::Light => CalibrationWait::Light,
        WaitReason::Object => CalibrationWait::Mark,
        WaitReason::Unseen => CalibrationWait::Unseen,
        WaitReason::Removal => CalibrationWait::Removal,
        WaitReason::Stillness { .. } => CalibrationWait::Stillness,
        WaitReason::SingleSpot { .. } => CalibrationWait::SingleSpot,
        WaitReason::Faulty(SpotFault::CutOff) => CalibrationWait::CutOff,
        WaitReason::Faulty(SpotFault::TooLarge) => CalibrationWait::TooLarge,
        WaitReason::Faulty(SpotFault::NotElliptic) => CalibrationWait::NotDisc,
        WaitReason::Faulty(SpotFault::OneStripe) => CalibrationWait::PoleStripe,
    }
}
