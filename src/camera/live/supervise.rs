//! Keeps a camera's worker running: starts it, watches over it, kills it, starts it again, for ever.
//!
//! Never waits for a worker: what a killed one does is its own business, and one that hangs in its driver is left behind.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::child::{Graveyard, WorkerProcess};
use super::reader::{Event, Reader};
use super::slot::Slot;
use super::{FaultKind, Granted, LiveSetup};

/// How often the supervisor looks at the clock.
const TURN: Duration = Duration::from_millis(50);
/// Workers that hang in their drivers: with more than this many no further one is started.
const MOST_HANGING: usize = 3;
/// Events that wait for the supervisor; more than that are left out.
const EVENTS: usize = 64;

/// The supervisor of one camera.
pub(super) struct Supervisor {
    pub(super) setup: LiveSetup,
    pub(super) slot: Arc<Slot>,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) opened_ns: u64,
    graveyard: Graveyard,
    /// The camera's source text that finds it again, once it is known.
    stable_source: Option<String>,
    /// The size that all starts must have.
    size_px: Option<(u32, u32)>,
    /// What was told last.
    granted: Option<Granted>,
    pause: Duration,
}

/// Why a worker was given up.
#[derive(PartialEq)]
enum Outcome {
    /// It is to be started again after the pause.
    Failed,
    /// Frames came until now: the next one is started at once.
    Exchanged,
    /// Nobody wants the camera any more.
    Stopped,
}

impl Supervisor {
    pub(super) fn new(
        setup: LiveSetup,
        slot: Arc<Slot>,
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
            graveyard: Graveyard::default(),
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
            if outcome == Outcome::Failed && !self.rest(pause) {
                return;
            }
            self.slot.lock().restarts += 1;
        }
    }

    /// Waits; false when the camera is closed meanwhile.
    fn rest(&self, pause: Duration) -> bool {
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if self.stopped() {
                return false;
            }
            std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
        }
        !self.stopped()
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Starts one worker and watches it to its end.
    fn run_worker(&mut self) -> Outcome {
        if self.graveyard.count() > MOST_HANGING {
            let told = "killed workers hang in the camera's driver, no further one is started; unplug the camera or restart the machine";
            self.raise(FaultKind::OpenFailed, told);
            return Outcome::Failed;
        }
        let started = WorkerProcess::start(&self.setup.worker, &self.arguments());
        let (mut worker, output) = match started {
            Ok(started) => started,
            Err(cause) => {
                let program = self.setup.worker.program.display();
                let told = format!("the capture worker {program} cannot be started: {cause}");
                self.raise(FaultKind::OpenFailed, &told);
                return Outcome::Failed;
            }
        };
        let (sender, events) = sync_channel(EVENTS);
        let generation = {
            let mut state = self.slot.lock();
            state.begin();
            state.generation
        };
        let reader = Reader {
            generation,
            slot: Arc::clone(&self.slot),
            opened_ns: self.opened_ns,
            quiet: self.setup.timing.settled,
            size_px: self.size_px,
            events: sender,
        };
        let thread = std::thread::Builder::new().name("camera-reader".to_owned());
        let outcome = match thread.spawn(move || reader.run(output)) {
            Ok(_runs_to_the_end_of_its_pipe) => self.watch(&mut worker, &events),
            Err(cause) => {
                self.raise(
                    FaultKind::OpenFailed,
                    &format!("no thread can be started: {cause}"),
                );
                Outcome::Failed
            }
        };
        // Frames that come after this are late, and nobody's.
        self.slot.lock().begin();
        if outcome == Outcome::Stopped {
            drop(worker);
        } else {
            self.graveyard.bury(worker);
        }
        outcome
    }

    /// What the worker is told on its command line.
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

    fn watch(&mut self, worker: &mut WorkerProcess, events: &Receiver<Event>) -> Outcome {
        let timing = self.setup.timing.clone();
        let started = Instant::now();
        let mut ready_since = None;
        let mut well_since: Option<Instant> = None;
        let mut told = false;
        loop {
            if self.stopped() {
                return Outcome::Stopped;
            }
            match events.recv_timeout(TURN) {
                Ok(Event::Ready(granted)) => {
                    ready_since = Some(Instant::now());
                    self.accept(*granted);
                    continue;
                }
                Ok(Event::Trouble(kind, detail)) => {
                    self.raise(kind, &detail);
                    told |= kind.ends_worker();
                    if kind == FaultKind::Garbage || kind == FaultKind::WrongSize {
                        return Outcome::Failed;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    if !told {
                        let ending = worker.ending();
                        self.raise(
                            FaultKind::WorkerDied,
                            &format!("the capture worker ended: {ending}"),
                        );
                    }
                    return Outcome::Failed;
                }
            }
            let now = Instant::now();
            let (last, quiet, exchange) = {
                let state = self.slot.lock();
                let exchange = FaultKind::ALL
                    .into_iter()
                    .any(|k| k.calls_for_restart() && state.faults.has(k));
                (state.last_arrival(), state.faults.is_quiet(), exchange)
            };
            let silence = match (last, ready_since) {
                (Some(last), _) => (now.duration_since(last) > timing.stall)
                    .then(|| format!("no new frame for {:.1} s", timing.stall.as_secs_f64())),
                (None, Some(_)) => (now.duration_since(started) > timing.open).then(|| {
                    format!(
                        "open, but no first frame within {:.0} s",
                        timing.open.as_secs_f64()
                    )
                }),
                (None, None) => (now.duration_since(started) > timing.open).then(|| {
                    format!(
                        "the driver did not open the camera within {:.0} s",
                        timing.open.as_secs_f64()
                    )
                }),
            };
            if let Some(silence) = silence {
                self.raise(FaultKind::Stalled, &silence);
                return Outcome::Failed;
            }
            if exchange && now.duration_since(started) > self.pause.max(timing.stall) {
                return Outcome::Exchanged;
            }
            if quiet && last.is_some() {
                let since = *well_since.get_or_insert(now);
                if now.duration_since(since) > timing.settled {
                    self.pause = timing.first_pause;
                }
            } else {
                well_since = None;
            }
        }
    }

    /// Remembers what the next worker must be asked for, and tells what was granted where that is new.
    fn accept(&mut self, granted: Granted) {
        self.size_px = Some((granted.width_px, granted.height_px));
        if !granted.stable_source.is_empty() {
            self.stable_source = Some(granted.stable_source.clone());
        }
        if self.granted.as_ref() != Some(&granted) {
            tell(&self.setup.name(), &granted);
            self.granted = Some(granted);
        }
    }

    fn raise(&self, kind: FaultKind, detail: &str) {
        let mut state = self.slot.lock();
        state.faults.raise(kind, detail, Instant::now());
    }
}

/// Logs what was granted, and warns of what was not.
fn tell(camera: &str, granted: &Granted) {
    let Granted {
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
    for control in granted.controls.iter().filter(|c| !c.took()) {
        tracing::warn!(
            camera,
            control = control.name,
            wanted = control.wanted,
            got = control.got,
            reason = control.reason,
            "camera control did not take"
        );
    }
}
