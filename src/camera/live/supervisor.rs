//! Keeps the worker of a camera running: starts it, checks it, kills it if it fails, and starts the next one.
//!
//! The supervisor never waits for a worker to exit. A killed worker that hangs in its driver is left behind and counted.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::reader::{PipeReader, ReaderEvent};
use super::setup::LiveSetup;
use super::slot::FrameSlot;
use super::worker_process::{KilledWorkers, WorkerProcess};
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::GrantedSettings;

/// Time between two checks of timeouts and of the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Largest number of killed workers that have not exited because they hang in their driver. With more, no worker is started,
/// so that processes do not accumulate.
const MAX_HANGING_WORKERS: usize = 3;
/// Number of events that can wait for the supervisor; further events are dropped.
const EVENT_QUEUE_LENGTH: usize = 64;

/// The supervisor of one camera.
pub(super) struct Supervisor {
    pub(super) setup: LiveSetup,
    pub(super) slot: Arc<FrameSlot>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) opened_ns: u64,
    killed_workers: KilledWorkers,
    /// Source text with the stable name of the camera, known after the first opening.
    stable_source: Option<String>,
    /// Frame size that every worker must have; requested, or from the first opening.
    size_px: Option<(u32, u32)>,
    /// Settings that were logged last.
    granted: Option<GrantedSettings>,
    /// Pause before the next restart.
    pause: Duration,
}

/// The reason why a worker ended.
#[derive(PartialEq)]
enum Outcome {
    /// The worker failed. The next one starts after the pause.
    Failed,
    /// Frames arrived, but opening the camera again may fix a fault. The next worker starts at once.
    Replaced,
    /// The camera was closed.
    Stopped,
}

impl Supervisor {
    pub(super) fn new(
        setup: LiveSetup,
        slot: Arc<FrameSlot>,
        stop: Arc<AtomicBool>,
        opened_ns: u64,
    ) -> Self {
        Self {
            size_px: setup.spec.size_px,
            pause: setup.timing.first_pause,
            setup,
            slot,
            stop,
            opened_ns,
            killed_workers: KilledWorkers::default(),
            stable_source: None,
            granted: None,
        }
    }

    /// Runs until the camera is closed.
    pub(super) fn run(mut self) {
        loop {
            let outcome = self.run_worker();
            if outcome == Outcome::Stopped {
                return;
            }
            let pause = self.pause;
            self.pause = (pause * 2).min(self.setup.timing.longest_pause);
            if outcome == Outcome::Failed && !self.wait_unless_stopped(pause) {
                return;
            }
            self.slot.lock().restarts += 1;
        }
    }

    /// Waits for the pause; false if the camera is closed meanwhile.
    fn wait_unless_stopped(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if self.is_stopped() {
                return false;
            }
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
        !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Starts one worker and supervises it until it ends.
    fn run_worker(&mut self) -> Outcome {
        if self.killed_workers.count_running() > MAX_HANGING_WORKERS {
            let detail = "killed workers hang in the driver of the camera, so no further worker is started. Disconnect the camera, or restart the machine";
            self.raise(FaultKind::OpenFailed, detail);
            return Outcome::Failed;
        }
        let started = WorkerProcess::start(&self.setup.worker, &self.arguments());
        let (mut worker, output) = match started {
            Ok(started) => started,
            Err(cause) => {
                let program = self.setup.worker.program.display();
                let detail = format!("the capture worker {program} cannot be started: {cause}");
                self.raise(FaultKind::OpenFailed, &detail);
                return Outcome::Failed;
            }
        };
        let (sender, events) = sync_channel(EVENT_QUEUE_LENGTH);
        let generation = {
            let mut state = self.slot.lock();
            state.begin_generation();
            state.generation
        };
        let reader = PipeReader {
            generation,
            slot: Arc::clone(&self.slot),
            opened_ns: self.opened_ns,
            settle_time: self.setup.timing.settle_time,
            size_px: self.size_px,
            events: sender,
        };
        let thread = std::thread::Builder::new().name("camera-reader".to_owned());
        let outcome = match thread.spawn(move || reader.run(output)) {
            Ok(_ends_with_its_pipe) => self.supervise(&mut worker, &events),
            Err(cause) => {
                self.raise(
                    FaultKind::OpenFailed,
                    &format!("no thread can be started: {cause}"),
                );
                Outcome::Failed
            }
        };
        // Frames of this worker that arrive after this are ignored.
        self.slot.lock().begin_generation();
        if outcome == Outcome::Stopped {
            drop(worker);
        } else {
            self.killed_workers.kill(worker);
        }
        outcome
    }

    /// Command-line arguments of the worker.
    fn arguments(&self) -> Vec<OsString> {
        let spec = &self.setup.spec;
        let source = self
            .stable_source
            .clone()
            .unwrap_or_else(|| spec.to_string());
        let mut arguments = vec![OsString::from("--source"), source.into()];
        let mut option = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                arguments.push(format!("--{name}").into());
                arguments.push(value.into());
            }
        };
        option("format", spec.format.clone());
        option("fps", spec.fps.map(|fps| fps.to_string()));
        option("size", self.size_px.map(|(w, h)| format!("{w}x{h}")));
        for (name, value) in &self.setup.controls {
            option("control", Some(format!("{name}={value}")));
        }
        if self.setup.auto_functions {
            arguments.push("--auto-functions".into());
        }
        arguments
    }

    /// Supervises a running worker until it fails, must be replaced, or the camera is closed.
    fn supervise(&mut self, worker: &mut WorkerProcess, events: &Receiver<ReaderEvent>) -> Outcome {
        let timing = self.setup.timing.clone();
        let started = Instant::now();
        let mut ready_since = None;
        let mut healthy_since: Option<Instant> = None;
        let mut is_reported = false;
        loop {
            if self.is_stopped() {
                return Outcome::Stopped;
            }
            match events.recv_timeout(POLL_INTERVAL) {
                Ok(ReaderEvent::Ready(granted)) => {
                    ready_since = Some(Instant::now());
                    self.accept(*granted);
                    continue;
                }
                Ok(ReaderEvent::Fault(Fault { kind, detail })) => {
                    self.raise(kind, &detail);
                    is_reported |= kind.ends_worker();
                    if kind == FaultKind::ProtocolError || kind == FaultKind::WrongSize {
                        return Outcome::Failed;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if !is_reported {
                        let exit = worker.describe_exit();
                        self.raise(
                            FaultKind::WorkerDied,
                            &format!("the capture worker ended: {exit}"),
                        );
                    }
                    return Outcome::Failed;
                }
            }
            let now = Instant::now();
            let (last, no_faults, replace) = {
                let state = self.slot.lock();
                let replace = FaultKind::ALL
                    .into_iter()
                    .any(|k| k.needs_restart() && state.faults.has(k));
                (state.last_arrival(), state.faults.is_empty(), replace)
            };
            let stalled = match (last, ready_since) {
                (Some(last), _) => (now.duration_since(last) > timing.stall_timeout).then(|| {
                    format!(
                        "no new frame for {:.1} s",
                        timing.stall_timeout.as_secs_f64()
                    )
                }),
                (None, Some(_)) => (now.duration_since(started) > timing.open_timeout).then(|| {
                    format!(
                        "the camera is open, but its first frame did not arrive within {:.0} s",
                        timing.open_timeout.as_secs_f64()
                    )
                }),
                (None, None) => (now.duration_since(started) > timing.open_timeout).then(|| {
                    format!(
                        "the driver did not open the camera within {:.0} s",
                        timing.open_timeout.as_secs_f64()
                    )
                }),
            };
            if let Some(detail) = stalled {
                self.raise(FaultKind::Stalled, &detail);
                return Outcome::Failed;
            }
            if replace && now.duration_since(started) > self.pause.max(timing.stall_timeout) {
                return Outcome::Replaced;
            }
            if no_faults && last.is_some() {
                let since = *healthy_since.get_or_insert(now);
                if now.duration_since(since) > timing.settle_time {
                    self.pause = timing.first_pause;
                }
            } else {
                healthy_since = None;
            }
        }
    }

    /// Stores the settings that the next worker must request, and logs them if they have changed.
    fn accept(&mut self, granted: GrantedSettings) {
        self.size_px = Some((granted.width_px, granted.height_px));
        if !granted.stable_source.is_empty() {
            self.stable_source = Some(granted.stable_source.clone());
        }
        if self.granted.as_ref() != Some(&granted) {
            log_granted(&self.setup.name(), &granted);
            self.granted = Some(granted);
        }
    }

    fn raise(&self, kind: FaultKind, detail: &str) {
        let mut state = self.slot.lock();
        state.faults.raise(kind, detail, Instant::now());
    }
}

/// Logs the settings of the opened camera, and a warning for each setting that differs from the request.
fn log_granted(camera: &str, granted: &GrantedSettings) {
    let GrantedSettings {
        device,
        card,
        format,
        width_px,
        height_px,
        fps,
        ..
    } = granted;
    tracing::info!(
        camera,
        device,
        card,
        format,
        width_px,
        height_px,
        fps,
        "camera is open"
    );
    for remark in &granted.remarks {
        tracing::warn!(camera, "{remark}");
    }
    for control in granted.controls.iter().filter(|c| !c.is_applied()) {
        tracing::warn!(
            camera,
            control = control.name,
            requested = control.requested,
            actual = control.actual,
            reason = control.reason,
            "camera control has another value than requested"
        );
    }
}
