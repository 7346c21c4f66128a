//! The camera calibration: the desk passes its steps to the vision stage.

use super::super::live_calibration::CalibrationCommand;
use super::DeskStage;
use crate::control::{CalibrationStatus, CalibrationStep};

impl DeskStage {
    /// Passes a step of the calibration to the vision stage.
    pub(super) fn request_calibration(&self, step: &CalibrationStep) -> Result<(), String> {
        let camera = self.links.control.rig.chosen();
        if let Some(reason) = impossible_step(step, &camera.calibration.lock()) {
            return Err(reason.to_owned());
        }
        let limits = self.desk.editor().site().file.calibration.clone();
        if matches!(
            step,
            CalibrationStep::Start { .. } | CalibrationStep::GrayCode
        ) {
            self.links.control.show_test_picture(None);
        }
        let index = self.links.control.rig.chosen_index();
        if !self.send_calibration(index, CalibrationCommand::Step(step.clone(), limits)) {
            return Err("too many calibration steps at once; try again in a moment".to_owned());
        }
        Ok(())
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
