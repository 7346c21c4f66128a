//! An open live camera: its newest frame and its health.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::health::CameraHealth;
use super::setup::LiveSetup;
use super::slot::FrameSlot;
use super::supervisor::Supervisor;
use crate::camera::clock::monotonic_ns;
use crate::camera::{CameraError, Frame};

/// A live camera. Dropping it ends its worker.
pub struct LiveCamera {
    name: String,
    opened_ns: u64,
    slot: Arc<FrameSlot>,
    stop: Arc<AtomicBool>,
    supervisor: Option<JoinHandle<()>>,
}

impl LiveCamera {
    /// Starts to open a camera. A missing camera is not an error: it is a fault, and Shoal tries again.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open(setup: LiveSetup) -> Result<Self, CameraError> {
        let name = setup.name();
        let slot = Arc::new(FrameSlot::new(&name, setup.timing.stall_timeout));
        let stop = Arc::new(AtomicBool::new(false));
        let program = setup.worker.program.display().to_string();
        let opened_ns = monotonic_ns();
        let supervisor = Supervisor::new(setup, Arc::clone(&slot), Arc::clone(&stop), opened_ns);
        let supervisor = std::thread::Builder::new()
            .name("camera-supervisor".to_owned())
            .spawn(move || supervisor.run())
            .map_err(|cause| CameraError::Start { program, cause })?;
        Ok(Self {
            name,
            opened_ns,
            slot,
            stop,
            supervisor: Some(supervisor),
        })
    }

    /// Name of the camera in logs: its source text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Swaps `frame` with the newest frame; waits at most `wait` for a frame that was not taken before, and returns false if
    /// there is none. `time_secs` counts from the opening of the camera, on the monotonic clock and across restarts.
    /// `sequence` counts the frames that arrived, so a gap means frames that the caller did not take.
    pub fn take_newest(&self, frame: &mut Frame, wait: Duration) -> bool {
        self.slot.take(frame, wait)
    }

    /// Current time on the clock of [`Frame::time_secs`]. The difference from a frame's `time_secs` is the age of the frame.
    pub fn now_secs(&self) -> f64 {
        monotonic_ns().saturating_sub(self.opened_ns) as f64 / 1e9
    }

    /// Current health of the camera.
    pub fn health(&self) -> CameraHealth {
        self.slot.lock().health(Instant::now(), monotonic_ns())
    }
}

impl Drop for LiveCamera {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.thread().unpark();
            // The supervisor checks the flag every 50 ms and never blocks longer. If it panicked, the panic is already logged.
            let _ended = supervisor.join();
        }
    }
}
