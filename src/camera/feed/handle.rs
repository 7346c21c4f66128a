//! An open source of any kind: its frames and its health.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::health::CameraHealth;
use super::setup::FeedSetup;
use super::slot::{FrameSlot, FrameTap, ReadOutcome};
use super::supervisor::Supervisor;
use crate::camera::{CameraError, FaultKind, Frame};
use crate::runtime::{FaultLedger, monotonic_ns};

/// An open and supervised source of any kind. Dropping it ends its worker or program.
pub struct Feed {
    name: String,
    opened_ns: u64,
    slot: Arc<FrameSlot>,
    stop: Arc<AtomicBool>,
    supervisor: Option<JoinHandle<()>>,
}

impl Feed {
    /// Starts a thread that opens the source. A missing source is not an error in live mode: it is a fault, and Shoal tries
    /// again. In [`super::FeedMode::EveryFrame`], [`Feed::take`] returns the error. `tap` receives every frame.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open(setup: FeedSetup, tap: Option<FrameTap>) -> Result<Self, CameraError> {
        Self::open_with_ledger(setup, tap, &FaultLedger::default(), 0.0)
    }

    /// Does the same as [`Self::open`]. The faults of the source are also listed in `ledger`, as `camera.` and their name. Its time
    /// begins at `begin_secs`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open_with_ledger(
        setup: FeedSetup,
        tap: Option<FrameTap>,
        ledger: &FaultLedger,
        begin_secs: f64,
    ) -> Result<Self, CameraError> {
        let name = setup.name();
        let slot = Arc::new(FrameSlot::new(&setup, tap, ledger, begin_secs));
        let stop = Arc::new(AtomicBool::new(false));
        let opened_ns = monotonic_ns();
        let supervisor = Supervisor::new(setup, Arc::clone(&slot), Arc::clone(&stop), opened_ns);
        let supervisor = std::thread::Builder::new()
            .name("camera-supervisor".to_owned())
            .spawn(move || supervisor.run())
            .map_err(|cause| CameraError::Start {
                program: name.clone(),
                cause,
            })?;
        Ok(Self {
            name,
            opened_ns,
            slot,
            stop,
            supervisor: Some(supervisor),
        })
    }

    /// Returns the name of the source in logs and error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Swaps `frame` with the next frame. Waits at most `wait` for a frame that the caller has not taken yet.
    ///
    /// In [`super::FeedMode::Live`] the next frame is the newest one, and the feed has no end. `time_secs` begins at the
    /// opening of the feed, on the monotonic clock, and continues across restarts. `sequence` counts the frames that arrived,
    /// so a gap in it means frames that the caller did not take.
    ///
    /// # Errors
    /// The error of the source, once, after its last frame. There is none in [`super::FeedMode::Live`].
    pub fn take(&self, frame: &mut Frame, wait: Duration) -> Result<ReadOutcome, CameraError> {
        self.slot.take(frame, wait)
    }

    /// Waits at most `wait` until a frame is available or the feed has ended. Returns false if neither happened.
    ///
    /// # Errors
    /// The error of the source, as [`Feed::take`] returns it.
    pub fn wait_until_ready(&self, wait: Duration) -> Result<bool, CameraError> {
        self.slot.wait_until_ready(wait)
    }

    /// Whether the feed ends with its source. In [`super::FeedMode::Live`] it has no end.
    pub fn ends(&self) -> bool {
        self.slot.ends()
    }

    /// Returns the age of the frame that was taken last: the time since its capture, or since its due time if the source is not
    /// a live camera.
    pub fn taken_age(&self) -> Duration {
        self.slot.taken_age()
    }

    /// Returns for how long the source has repeated the frame that was taken last, if this is longer than is usual for it, so that it
    /// has probably stopped; otherwise 0. A live source that has stopped hands out no frames.
    pub fn repeated_for(&self) -> Duration {
        self.slot.repeated_for()
    }

    /// Returns the current time on the clock of [`Frame::time_secs`]. In [`super::FeedMode::Live`], the difference from a
    /// frame's `time_secs` is the age of the frame.
    pub fn now_secs(&self) -> f64 {
        let open_secs = monotonic_ns().saturating_sub(self.opened_ns) as f64 / 1e9;
        self.slot.begin_secs() + open_secs
    }

    /// Returns a time on this clock that is not before any frame until now.
    pub fn reached_secs(&self) -> f64 {
        self.now_secs().max(self.slot.last_secs())
    }

    /// Removes and returns a warning about a degraded source; `None` if there is none. Warnings are not errors: reading
    /// continues or ends normally.
    pub fn take_warning(&self) -> Option<String> {
        self.slot.take_warning()
    }

    /// Whether a fault is present at this moment.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.slot.lock().has(kind)
    }

    /// Returns the current health of the source.
    pub fn health(&self) -> CameraHealth {
        self.slot.lock().health(Instant::now(), monotonic_ns())
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.thread().unpark();
            // The supervisor checks the flag every 50 ms and never blocks longer. If it panicked, the panic is already logged.
            let _ended = supervisor.join();
        }
    }
}
