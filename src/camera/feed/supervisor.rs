//! Keeps a source of any kind running: starts it, checks it, ends it if it fails, and starts it again.
//!
//! The supervisor never waits for a worker or a reader to end. If one hangs, the supervisor abandons it and counts it.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use super::reader::{PipeReader, ReaderEvent};
use super::setup::{AtEnd, FeedMode, FeedSetup};
use super::slot::FrameSlot;
use super::source_reader::{ReaderEnd, SourceReader};
use crate::camera::child_group::ChildGroup;
use crate::camera::fault::{Fault, FaultKind};
use crate::camera::pipe::GrantedSettings;
use crate::camera::{CameraError, Source, SourceKind};
use crate::runtime::{AwakeClock, Backoff};

/// Time between two checks of timeouts and of the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Largest number of abandoned workers or readers that still hang, for example in a driver. If there are more, the source is
/// not started again, so that processes and threads do not accumulate.
const MAX_HANGING: usize = 3;
/// Longest time from the start of a camera program to its first frame, in multiples of
/// [`super::FeedTiming::open_timeout`]. One minute with the usual timeout.
const LONGEST_OPEN_FACTOR: u32 = 6;
/// Number of events that can wait for the supervisor; further events are dropped.
const EVENT_QUEUE_LENGTH: usize = 64;
/// Number of frame intervals without a frame after which a source is stalled. Applies to sources with a low frame rate, where
/// this time is longer than [`super::FeedTiming::stall_timeout`].
const STALL_INTERVALS: f64 = 3.0;

/// The supervisor of one feed.
pub(super) struct Supervisor {
    setup: FeedSetup,
    slot: Arc<FrameSlot>,
    stop: Arc<AtomicBool>,
    opened_ns: u64,
    ended_starts: Vec<Start>,
    /// Source text with the stable name of the camera, known after the first opening.
    stable_source: Option<String>,
    /// Frame size that every start must deliver: the requested size, or the size at the first opening.
    size_px: Option<(u32, u32)>,
    /// Settings that were logged last.
    granted: Option<GrantedSettings>,
    /// Pauses before the restarts.
    backoff: Backoff,
    /// Longest time from the next start to its first frame.
    open_timeout: Duration,
}

/// One start of the source: the child process, if there is one, and the thread that reads.
struct Start {
    child: Option<ChildGroup>,
    reader: Option<JoinHandle<ReaderEnd>>,
}

/// The reason why a source cannot be started.
enum StartError {
    /// The source is missing or wrong.
    Source(CameraError),
    /// The system cannot start a worker or a thread.
    System(String),
}

impl Start {
    /// Starts the thread that reads. If the thread cannot be started, `child` is ended.
    fn spawn(
        child: Option<ChildGroup>,
        read: impl FnOnce() -> ReaderEnd + Send + 'static,
    ) -> Result<Self, StartError> {
        let thread = std::thread::Builder::new().name("camera-reader".to_owned());
        match thread.spawn(read) {
            Ok(reader) => Ok(Self {
                child,
                reader: Some(reader),
            }),
            Err(cause) => {
                let detail = format!("no thread can be started: {cause}");
                Err(StartError::System(detail))
            }
        }
    }

    /// Whether the child or the reader is still running.
    fn is_running(&mut self) -> bool {
        let child_runs = self.child.as_mut().is_some_and(|child| !child.has_exited());
        child_runs || self.reader.as_ref().is_some_and(|r| !r.is_finished())
    }
}

/// The reason why one start of the source ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// The source failed. The supervisor starts it again after the pause.
    Failed,
    /// The source delivers frames but has a fault that a restart may fix. The supervisor starts it again at once.
    Replaced,
    /// A recording ended and starts again.
    Repeated,
    /// A recording is damaged after some good frames. The supervisor starts it again when its file has changed, so that the frames
    /// before the damage are not repeated.
    Damaged,
    /// The source is not started again.
    Finished,
    /// The feed was closed.
    Stopped,
}

impl Supervisor {
    pub(super) fn new(
        setup: FeedSetup,
        slot: Arc<FrameSlot>,
        stop: Arc<AtomicBool>,
        opened_ns: u64,
    ) -> Self {
        Self {
            // Sources other than live cameras check the requested size themselves.
            size_px: setup.spec.size_px.filter(|_| setup.is_live_camera()),
            backoff: Backoff::new(setup.timing.first_pause, setup.timing.longest_pause)
                .settling_after(setup.timing.settle_time),
            open_timeout: setup.timing.open_timeout,
            setup,
            slot,
            stop,
            opened_ns,
            ended_starts: Vec::new(),
            stable_source: None,
            granted: None,
        }
    }

    /// Runs until the feed is closed, or the source has ended and is not started again.
    pub(super) fn run(mut self) {
        loop {
            let version = self.file_version();
            let outcome = self.run_start();
            match outcome {
                Outcome::Stopped | Outcome::Finished => return,
                Outcome::Repeated => continue,
                Outcome::Damaged => {
                    while self.file_version() == version {
                        if !self.wait_unless_stopped(self.setup.timing.first_pause) {
                            return;
                        }
                    }
                    continue;
                }
                Outcome::Failed | Outcome::Replaced => {}
            }
            let pause = self.backoff.record_failure(Instant::now());
            if outcome == Outcome::Failed && !self.wait_unless_stopped(pause) {
                return;
            }
            let (restarts, is_repeating) = {
                let mut state = self.slot.lock();
                state.restarts += 1;
                (state.restarts, state.faults.is_repeating())
            };
            let camera = self.setup.name();
            if is_repeating {
                tracing::debug!(%camera, restarts, "the camera source is started again");
            } else {
                tracing::info!(%camera, restarts, "the camera source is started again");
            }
        }
    }

    /// Returns length and time of change of a recording's file; `None` if there is no such file.
    fn file_version(&self) -> Option<(u64, SystemTime)> {
        let SourceKind::File(path) = &self.setup.spec.kind else {
            return None;
        };
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    }

    /// Waits for the pause. Returns false if the feed is closed in the meantime.
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

    /// Starts the source once and supervises it until it ends.
    fn run_start(&mut self) -> Outcome {
        self.ended_starts.retain_mut(Start::is_running);
        if self.ended_starts.len() > MAX_HANGING {
            let detail = "earlier workers or readers of the source hang, so it is not started again. Disconnect the camera, or restart the machine";
            self.raise(FaultKind::OpenFailed, detail);
            return Outcome::Failed;
        }
        let (sender, events) = sync_channel(EVENT_QUEUE_LENGTH);
        let generation = self.slot.begin_generation();
        let mut start = match self.start(generation, sender) {
            Ok(start) => start,
            Err(StartError::Source(error)) => return self.fail(error),
            Err(StartError::System(detail)) => {
                self.raise(FaultKind::OpenFailed, &detail);
                return Outcome::Failed;
            }
        };
        let outcome = self.supervise(&mut start, &events);
        // From here, frames of this start are ignored. A finished feed still returns its last frame.
        self.slot.begin_generation();
        if let Some(child) = &mut start.child {
            child.kill();
        }
        if outcome != Outcome::Stopped && start.is_running() {
            self.ended_starts.push(start);
        }
        outcome
    }

    /// Starts the source and its reader, and a worker or program if the source needs one.
    fn start(&self, generation: u64, events: SyncSender<ReaderEvent>) -> Result<Start, StartError> {
        let slot = Arc::clone(&self.slot);
        let (opened_ns, size_px) = (self.opened_ns, self.size_px);
        if self.setup.is_live_camera() {
            let worker = &self.setup.worker;
            let (child, output) = worker.start_worker(&self.arguments()).map_err(|cause| {
                let program = worker.program.display();
                StartError::System(format!(
                    "the capture worker {program} cannot be started: {cause}"
                ))
            })?;
            let reader = PipeReader {
                generation,
                slot,
                opened_ns,
                size_px,
                events,
            };
            return Start::spawn(Some(child), move || {
                reader.run(output);
                ReaderEnd::Pipe
            });
        }
        let (child, output) = match &self.setup.spec.kind {
            SourceKind::Command(words) => {
                let started = self.setup.guard.start_guarded(words);
                let (child, output) = started.map_err(StartError::Source)?;
                (Some(child), Some(output))
            }
            _ => (None, None),
        };
        let reader = SourceReader {
            generation,
            slot,
            mode: self.setup.mode,
            opened_ns,
            size_px,
            events,
        };
        let spec = self.setup.spec.clone();
        Start::spawn(child, move || {
            reader.run(|| match output {
                Some(output) => Source::from_program(output, &spec),
                None => Source::open(&spec),
            })
        })
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

    /// Supervises a start until it ends, must be replaced, or the feed is closed.
    fn supervise(&mut self, start: &mut Start, events: &Receiver<ReaderEvent>) -> Outcome {
        let stall_timeout = self.setup.timing.stall_timeout;
        let started = Instant::now();
        let mut clock = AwakeClock::start_at(started);
        let mut is_open = false;
        let mut is_reported = false;
        loop {
            if self.is_stopped() {
                return Outcome::Stopped;
            }
            let event = events.recv_timeout(POLL_INTERVAL);
            let now = Instant::now();
            let absent = clock.advance(now);
            if !absent.is_zero() {
                self.slot.lock().excuse(absent, now);
            }
            match event {
                Ok(ReaderEvent::Ready(granted)) => {
                    is_open = true;
                    self.accept(*granted);
                    continue;
                }
                Ok(ReaderEvent::Fault(Fault { kind, detail })) => {
                    self.raise(kind, &detail);
                    is_reported |= kind.ends_connection();
                    if kind == FaultKind::ProtocolError || kind == FaultKind::WrongSize {
                        return Outcome::Failed;
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.conclude(start, is_reported),
            }
            let (waiting_since, has_frames, no_faults, replace) = {
                let state = self.slot.lock();
                let replace = FaultKind::ALL
                    .into_iter()
                    .any(|k| k.needs_restart() && state.faults.has(k));
                let waiting_since = state.waiting_since;
                (
                    waiting_since,
                    state.has_frames(),
                    state.faults.is_empty(),
                    replace,
                )
            };
            let limit = if has_frames {
                self.stall_timeout()
            } else {
                self.open_timeout
            };
            if waiting_since.is_some_and(|since| now.duration_since(since) > limit) {
                self.raise_stalled(limit, has_frames, is_open);
                if !has_frames {
                    self.open_timeout = self.next_open_timeout();
                }
                if self.setup.can_replace() {
                    return Outcome::Failed;
                }
            }
            // If a camera opens slowly, wait for its first frame before replacing it: the fault may be gone by then.
            if replace
                && has_frames
                && self.setup.can_replace()
                && self.setup.mode == FeedMode::Live
                && now.duration_since(started) > self.backoff.next_pause().max(stall_timeout)
            {
                return Outcome::Replaced;
            }
            self.backoff.record_state(no_faults && has_frames, now);
        }
    }

    /// Returns the longest permitted time without a new frame.
    fn stall_timeout(&self) -> Duration {
        let timeout = self.setup.timing.stall_timeout;
        let fps = self.granted.as_ref().and_then(|granted| granted.fps);
        match fps {
            Some(fps) if !self.setup.is_live_camera() => {
                // The lowest frame rate of a y4m header is 0.001 per second.
                timeout.max(Duration::from_secs_f64(
                    (STALL_INTERVALS / fps).clamp(0.0, 1e4),
                ))
            }
            _ => timeout,
        }
    }

    /// Returns the longest time to the first frame after a start that took too long. A camera program may need any time, for
    /// example to find a camera in a network, so it gets more time with each attempt.
    fn next_open_timeout(&self) -> Duration {
        match self.setup.spec.kind {
            SourceKind::Command(_) => {
                let longest = self.setup.timing.open_timeout * LONGEST_OPEN_FACTOR;
                (self.open_timeout * 2).min(longest)
            }
            _ => self.open_timeout,
        }
    }

    /// Raises the fault that no frame has arrived within `limit`, unless that fault is already active.
    fn raise_stalled(&self, limit: Duration, has_frames: bool, is_open: bool) {
        let secs = limit.as_secs_f64();
        let detail = if has_frames {
            format!("no new frame for {secs:.1} s")
        } else if is_open {
            format!("the camera is open, but its first frame did not arrive within {secs:.0} s")
        } else if self.setup.is_live_camera() {
            format!("the driver did not open the camera within {secs:.0} s")
        } else {
            let name = self.setup.name();
            format!("{name} did not deliver its first frame within {secs:.0} s")
        };
        let mut state = self.slot.lock();
        if self.setup.can_replace() || !state.faults.has(FaultKind::Stalled) {
            state
                .faults
                .raise(FaultKind::Stalled, &detail, Instant::now());
        }
    }

    /// Decides what the supervisor does after the reader of a start has ended.
    fn conclude(&mut self, start: &mut Start, is_reported: bool) -> Outcome {
        // The reader has closed its channel as its last action, so `join` returns at once.
        let end = start.reader.take().map(JoinHandle::join);
        match end {
            Some(Ok(ReaderEnd::Pipe)) => {
                if !is_reported {
                    let exit = start.child.as_mut().map(ChildGroup::describe_exit);
                    let exit = exit.unwrap_or_default();
                    let detail = format!("the capture worker ended: {exit}");
                    self.raise(FaultKind::ProgramDied, &detail);
                }
                Outcome::Failed
            }
            Some(Ok(ReaderEnd::End(frames))) => {
                let finished = start.child.as_mut().map(|child| child.finish(frames));
                match finished {
                    Some(Err(error)) => self.fail(error),
                    _ => self.end(frames),
                }
            }
            Some(Ok(ReaderEnd::Failed(error))) => self.fail(match &mut start.child {
                Some(child) => child.cause_of(error),
                None => error,
            }),
            Some(Ok(ReaderEnd::Abandoned)) | None => Outcome::Failed,
            Some(Err(_panic)) => {
                self.raise(
                    FaultKind::StreamError,
                    "the thread that reads the source panicked",
                );
                if self.setup.mode == FeedMode::Live {
                    return Outcome::Failed;
                }
                self.slot.end(None);
                Outcome::Finished
            }
        }
    }

    /// Decides what the supervisor does after an error of the source.
    fn fail(&self, error: CameraError) -> Outcome {
        if self.setup.mode != FeedMode::Live {
            self.slot.end(Some(error));
            return Outcome::Finished;
        }
        let Fault { kind, detail } = Fault::from(&error);
        self.raise(kind, &detail);
        match &self.setup.spec.kind {
            SourceKind::StandardInput => Outcome::Finished,
            SourceKind::File(_) if self.slot.lock().has_frames() => Outcome::Damaged,
            _ => Outcome::Failed,
        }
    }

    /// Decides what the supervisor does after the last frame of the source.
    fn end(&self, frames: u64) -> Outcome {
        if self.setup.mode != FeedMode::Live {
            self.slot.end(None);
            return Outcome::Finished;
        }
        let kind = &self.setup.spec.kind;
        let can_reopen = *kind != SourceKind::StandardInput;
        if self.setup.at_end == AtEnd::Repeat && frames > 0 && can_reopen {
            return Outcome::Repeated;
        }
        let name = self.setup.name();
        self.raise(
            FaultKind::Ended,
            &format!("{name} ended after {frames} frames"),
        );
        // A program is started again, like a camera. With [`AtEnd::Stay`] a recording stays at its end, unless it has no frame
        // yet.
        let stays = self.setup.at_end == AtEnd::Stay && !matches!(kind, SourceKind::Command(_));
        if stays || !can_reopen {
            Outcome::Finished
        } else {
            Outcome::Failed
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
