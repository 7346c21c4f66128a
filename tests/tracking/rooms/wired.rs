//! A live calibration whose channels are connected as in a running pool, for tests.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use glam::DVec2;
use parking_lot::Mutex;
use shoal::app::{CALIBRATION_COMMANDS_MAX, CalibrationCommand, LiveCalibration, StepAnswer};
use shoal::calibration::{Calibration, CalibrationParams};
use shoal::control::{
    CalibrationRejection, CalibrationStatus, CalibrationStep, DeskEvent, DeskEvents, StageReport,
    desk_queue,
};
use shoal::geometry::Surface;
use shoal::render::{CalibrationPattern, FloorStripes, FloorTarget};
use shoal::vision::VisionParams;

use super::Camera;

/// The live calibration and the other ends of its channels.
pub(crate) struct Wired {
    pub(crate) calibration: LiveCalibration,
    events: DeskEvents,
    pub(crate) status: Arc<Mutex<CalibrationStatus>>,
    commands: SyncSender<CalibrationCommand>,
    /// What became of the last step.
    pub(crate) answer: Option<Result<(), CalibrationRejection>>,
}

impl Wired {
    /// Creates a live calibration of the default surface. `current` is the calibration that is in use before.
    pub(crate) fn new(current: Option<Calibration>) -> Self {
        let (commands, received) = sync_channel(CALIBRATION_COMMANDS_MAX);
        let (client, events, _) = desk_queue();
        let status: Arc<Mutex<CalibrationStatus>> = Arc::default();
        let parts = (VisionParams::default(), Surface::default());
        Self {
            calibration: LiveCalibration::new(
                received,
                client,
                Arc::clone(&status),
                parts,
                current,
            ),
            events,
            status,
            commands,
            answer: None,
        }
    }

    /// Sends a step to the live calibration and applies it. Returns true if the step put another calibration into use.
    pub(crate) fn send(&mut self, step: CalibrationStep) -> bool {
        let answered: Arc<Mutex<Option<_>>> = Arc::default();
        let slot = Arc::clone(&answered);
        let answer = StepAnswer::new(move |done| *slot.lock() = Some(done));
        let command = CalibrationCommand::Step(step, CalibrationParams::default(), answer);
        self.commands.send(command).unwrap();
        let is_replaced = self.calibration.apply_commands();
        self.answer = answered.lock().take();
        is_replaced
    }

    /// Returns the calibration that is sent to the desk for saving.
    pub(crate) fn saved(&self) -> Calibration {
        match self.events.try_recv() {
            Ok(DeskEvent::Report(StageReport::CalibrationAccepted { text, .. })) => {
                Calibration::parse(&text, "calibration.toml").unwrap()
            }
            other => panic!("the calibration is sent for saving: {other:?}"),
        }
    }

    /// Returns the touch target that is projected, if there is one.
    pub(crate) fn target(&self) -> Option<FloorTarget> {
        match self.calibration.pattern() {
            Some(CalibrationPattern::Target(target)) => Some(target),
            _ => None,
        }
    }

    /// Returns the Gray-code stripes that are projected, if there are any.
    pub(crate) fn stripes(&self) -> Option<FloorStripes> {
        match self.calibration.pattern() {
            Some(CalibrationPattern::Stripes(stripes)) => Some(stripes),
            _ => None,
        }
    }

    pub(crate) fn status(&self) -> CalibrationStatus {
        self.status.lock().clone()
    }
}

/// Returns the root mean square and the largest error of a calibration over the surface, in meters.
pub(crate) fn error(camera: &Camera, calibration: &Calibration) -> (f64, f64) {
    let map = calibration
        .floor_from_camera(camera.size_px.0, camera.size_px.1)
        .unwrap();
    let errors: Vec<f64> = (0..=20)
        .flat_map(|i| (0..=15).map(move |j| (f64::from(i) / 20.0, f64::from(j) / 15.0)))
        .map(|(u, v)| DVec2::new(4.0 * u - 2.0, 3.0 * v - 1.5))
        .map(|p| {
            map.floor_from_camera(camera.pixel_from_floor(p))
                .distance(p)
        })
        .collect();
    let squares = errors.iter().map(|e| e * e).sum::<f64>();
    let rms = (squares / errors.len() as f64).sqrt();
    (rms, errors.into_iter().fold(0.0, f64::max))
}
