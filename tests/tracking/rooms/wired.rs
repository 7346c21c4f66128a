//! The part of the vision stage that calibrates, wired as in a running pool.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use glam::DVec2;
use shoal::app::live::calibrating::{Calibrating, WAITING_MAX, Wish};
use shoal::calibration::{Calibration, CalibrationParams};
use shoal::control::{CalibrationStatus, CalibrationStep};
use shoal::geometry::Surface;
use shoal::vision::VisionParams;

use super::Room;

pub(crate) struct Wired {
    pub(crate) calibrating: Calibrating,
    pub(crate) accepted: Receiver<Box<Calibration>>,
    pub(crate) status: Arc<Mutex<CalibrationStatus>>,
    wishes: SyncSender<Wish>,
}

impl Wired {
    /// Of the usual surface.
    pub(crate) fn new(current: Option<Calibration>) -> Self {
        let (wishes, wished) = sync_channel(WAITING_MAX);
        let (handed_over, accepted) = sync_channel(WAITING_MAX);
        let status: Arc<Mutex<CalibrationStatus>> = Arc::default();
        let parts = (VisionParams::default(), Surface::default());
        Self {
            calibrating: Calibrating::new(wished, handed_over, Arc::clone(&status), parts, current),
            accepted,
            status,
            wishes,
        }
    }

    /// True when another calibration counts from now on.
    pub(crate) fn tell(&mut self, step: CalibrationStep) -> bool {
        let wish = Wish::Step(step, CalibrationParams::default());
        self.wishes.send(wish).expect("the stage listens");
        self.calibrating.obey()
    }

    pub(crate) fn status(&self) -> CalibrationStatus {
        self.status.lock().expect("nobody panicked").clone()
    }
}

/// Root mean square and worst error over the surface, in meters.
pub(crate) fn error(room: &Room, calibration: &Calibration) -> (f64, f64) {
    let map = calibration
        .floor_from_camera(room.size_px.0, room.size_px.1)
        .expect("it was made with these pictures");
    let errors: Vec<f64> = (0..=20)
        .flat_map(|i| (0..=15).map(move |j| (f64::from(i) / 20.0, f64::from(j) / 15.0)))
        .map(|(u, v)| DVec2::new(4.0 * u - 2.0, 3.0 * v - 1.5))
        .map(|p| map.floor_from_camera(room.pixel_from_floor(p)).distance(p))
        .collect();
    let squares = errors.iter().map(|e| e * e).sum::<f64>();
    let rms = (squares / errors.len() as f64).sqrt();
    (rms, errors.into_iter().fold(0.0, f64::max))
}
