//! What is done with the picture of the chosen camera: the desk passes the steps of its calibration to the vision stage, and turns
//! areas that are drawn there into edits of the site file.

use super::super::live_calibration::CalibrationCommand;
use super::DeskStage;
use crate::control::{CalibrationStatus, CalibrationStep, CameraKind, DrawnArea, PoolEdit};

/// Reason for which a source without a picture cannot be calibrated.
const NO_CALIBRATION: &str =
    "a tracker reports places on the floor, so there is nothing to calibrate";
/// Reason for which no area can be drawn.
const NO_PICTURE: &str = "the camera has sent no picture yet, so no area can be drawn in it";

impl DeskStage {
    /// Passes a step of the calibration to the vision stage.
    pub(super) fn request_calibration(&self, step: &CalibrationStep) -> Result<(), String> {
        let camera = self.links.control.rig.chosen();
        if camera.link.kind() == CameraKind::Tracker {
            return Err(NO_CALIBRATION.to_owned());
        }
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
