//! Live cameras, seen from the process that uses them: frames, latest first, and how the camera is doing.
//!
//! Each camera runs in a worker process ([`super::worker`]), whose pipe is read on a thread of its own. In: a source and
//! what is wanted of it. Out: the newest [`Frame`] and a [`Health`]. Nothing here waits for a camera: one that is absent,
//! hangs or dies is a named fault and is tried again, after 1 to 30 s, for ever, by its stable name. Must not: know what
//! frames are used for.

mod child;
mod health;
mod list;
mod picture;
mod reader;
mod slot;
mod supervise;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use self::child::WorkerCommand;
pub use self::health::{Fault, FaultKind, Health};
pub use self::list::{Listing, list};
use self::slot::Slot;
use self::supervise::Supervisor;
pub use super::pipe::{ControlReading, Granted};

use super::clock::monotonic_ns;
use super::{CameraError, CameraParams, Frame, SourceSpec};

/// What is wanted of a live camera.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSetup {
    /// Which camera, with format, size and rate.
    pub spec: SourceSpec,
    /// How a worker is started.
    pub worker: WorkerCommand,
    /// Controls by name, see `camera.controls`.
    pub controls: BTreeMap<String, i64>,
    /// Leave automatic functions on.
    pub auto_functions: bool,
    /// How long what may take.
    pub timing: LiveTiming,
}

impl LiveSetup {
    /// A camera with rate and controls of a site. `spec` names a live camera; a worker refuses any other source.
    pub fn new(spec: SourceSpec, params: &CameraParams, worker: WorkerCommand) -> Self {
        Self {
            spec: SourceSpec {
                fps: spec.fps.or(params.fps),
                ..spec
            },
            worker,
            controls: params.controls.clone(),
            auto_functions: params.auto_functions,
            timing: LiveTiming::default(),
        }
    }

    /// What logs call the camera.
    fn name(&self) -> String {
        self.spec.to_string()
    }
}

/// How long what may take.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTiming {
    /// Without a new frame for this long a camera is stalled; a picture that is wrong for this long is a fault.
    pub stall: Duration,
    /// From the start of a worker to its first frame.
    pub open: Duration,
    /// Pause before the first new start; each further one is twice as long.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// After this long without any fault the next pause is the first one again.
    pub settled: Duration,
}

impl Default for LiveTiming {
    fn default() -> Self {
        Self {
            stall: Duration::from_secs(3),
            open: Duration::from_secs(10),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            settled: Duration::from_secs(5),
        }
    }
}

/// A live camera. Dropping it ends its worker.
pub struct LiveCamera {
    name: String,
    opened_ns: u64,
    slot: Arc<Slot>,
    stop: Arc<AtomicBool>,
    supervisor: Option<JoinHandle<()>>,
}

impl LiveCamera {
    /// Starts to open a camera. One that is not there is no error: it is a fault, and tried again.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open(setup: LiveSetup) -> Result<Self, CameraError> {
        let name = setup.name();
        let slot = Arc::new(Slot::new(&name, setup.timing.stall));
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

    /// What logs call the camera: its source's text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Exchanges `frame` for the newest one, waiting for it at most `wait`; false when none came that was not taken
    /// before. `time_secs` counts from the opening of the camera on the monotonic clock, through all restarts, and
    /// `sequence` counts the frames that came, so gaps are frames that nobody took.
    pub fn newest(&self, frame: &mut Frame, wait: Duration) -> bool {
        self.slot.take(frame, wait)
    }

    /// What a frame's `time_secs` would be if it were taken now: less a frame's own, it is the frame's age.
    pub fn now_secs(&self) -> f64 {
        monotonic_ns().saturating_sub(self.opened_ns) as f64 / 1e9
    }

    /// How the camera is doing.
    pub fn health(&self) -> Health {
        self.slot.lock().health(Instant::now(), monotonic_ns())
    }
}

impl Drop for LiveCamera {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(supervisor) = self.supervisor.take() {
            supervisor.thread().unpark();
            // It looks at the flag many times a second and waits for nobody; its own panic has been told already.
            let _ended = supervisor.join();
        }
    }
}
