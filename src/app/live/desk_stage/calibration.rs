//! What is done with the picture of the chosen camera: the desk passes the steps of its calibration to the vision stage, and turns
//! areas that are drawn there into edits of the site file.

use std::sync::mpsc::TrySendError;
use std::time::{Duration, Instant};

use super::super::live_calibration::{CalibrationCommand, StepAnswer, not_now};
use super::DeskStage;
use crate::control::{
    CalibrationStatus, CalibrationStep, CameraKind, DrawnArea, Incoming, Outcome, OverlayChoice,
    PoolEdit,
};

/// Reason for which a source without a picture cannot be calibrated.
const NO_CALIBRATION: &str =
    "a tracker reports places on the floor, so there is nothing to calibrate";
/// Reason for which no area can be drawn.
const NO_PICTURE: &str = "the camera has sent no picture yet, so no area can be drawn in it";
/// Reason for which a step is rejected while too many wait.
const BUSY: &str = "too many calibration steps at once; try again in a moment";

impl DeskStage {
    /// Passes a step of the calibration to the vision stage. The request is answered when the step is done there, or rejected.
    pub(super) fn calibrate(&mut self, incoming: Incoming, step: CalibrationStep) {
        let camera = self.links.control.rig.chosen();
        let reason = match camera.link.kind() {
            CameraKind::Tracker => Some(NO_CALIBRATION),
            _ => impossible_step(&step, &camera.calibration.lock()),
        };
        let commands = camera.commands.clone();
        let limits = self.desk.editor().site().file.calibration.clone();
        let is_start = matches!(
            step,
            CalibrationStep::Start { .. } | CalibrationStep::GrayCode
        );
        let event = self.begin_event(&incoming);
        let (tick, journal) = (self.living.tick, self.links.journal.clone());
        let answer = StepAnswer::new(move |done| {
            let outcome = match done {
                Ok(()) => Outcome::applied(tick),
                Err(rejection) => Outcome::rejected_as(&rejection.code, rejection.text),
            };
            event.finish(incoming, outcome, &journal);
        });
        if let Some(reason) = reason {
            return answer.give(Err(not_now(reason)));
        }
        if is_start {
            self.links.control.show_test_picture(None);
            let (none, now) = (OverlayChoice::default(), Instant::now());
            self.links
                .control
                .show
                .set_overlay(none, Duration::ZERO, now);
        }
        let command = CalibrationCommand::Step(step, limits, answer);
        if let Err(TrySendError::Full(command) | TrySendError::Disconnected(command)) =
            commands.try_send(command)
            && let CalibrationCommand::Step(_, _, answer) = command
        {
            answer.give(Err(not_now(BUSY)));
        }
    }

    /// Returns the edit of the site file that adds or replaces an area of the chosen camera.
    pub(super) fn area_edit(&self, area: &DrawnArea) -> Result<PoolEdit, String> {
        let rig = &self.links.control.rig;
        let seen = rig.chosen().seen.lock();
        let seen = seen.as_ref().ok_or(NO_PICTURE)?;
        let is_single = self.desk.editor().site().file.cameras.is_empty();
        let lists = match rig.chosen_index() {
            _ if is_single => "vision".to_owned(),
            index => format!("cameras[{index}]"),
        };
        seen.edit(area, &lists)
    }

    /// Sends a command to the calibration of a camera. Returns false if too many are waiting.
    pub(super) fn send_calibration(&self, camera: usize, command: CalibrationCommand) -> bool {
        let cameras = &self.links.control.rig.cameras;
        let is_sent =
            (cameras.get(camera)).is_some_and(|camera| camera.commands.try_send(command).is_ok());
        if !is_sent {
            tracing::warn!("calibration: too many commands at once; try again in a moment");
        }
        is_sent
    }
}

/// Returns the reason why a calibration step is impossible at present; `None` if it is possible.
fn impossible_step(step: &CalibrationStep, status: &CalibrationStatus) -> Option<&'static str> {
    match step {
        CalibrationStep::Back
        | CalibrationStep::Skip
        | CalibrationStep::Repeat { .. }
        | CalibrationStep::StartAgain
            if !status.is_running =>
        {
            Some("no touch targets are shown; start a calibration first")
        }
        CalibrationStep::Accept if !status.is_proven => {
            Some("there is no proven calibration to accept yet")
        }
        CalibrationStep::Cancel if !status.is_running => {
            Some("no calibration is running, so there is nothing to cancel")
        }
        _ => None,
    }
}
