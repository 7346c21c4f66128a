//! The state that the threads of one feed share: its newest frame, its faults and its counters.
//!
//! The latest frame wins ([`Latest`]). In [`FeedMode::EveryFrame`] the reader waits until the caller has taken the frame before.
//!
//! The frames of a live source that has probably stopped (it repeats one frame) are counted and recorded, but not handed out: they
//! show visitors who may have left.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::fault_log::FaultLog;
use super::feed_clock::{FeedClock, Placed, Stamp};
use super::health::CameraHealth;
use super::quality::{FrameQuality, QualityMonitor};
use super::setup::{FeedMode, FeedSetup};
use crate::camera::pipe::GrantedSettings;
use crate::camera::{CameraError, FaultKind, Frame, Luma};
use crate::runtime::{FaultLedger, Latest, monotonic_ns};

/// Number of arrivals over which the frame rate is measured.
const RATE_WINDOW_FRAMES: usize = 32;

/// If no frame arrives for this many frame intervals, the measured rate is no longer valid, and the reported rate decreases
/// with time.
const LATE_INTERVALS: f64 = 4.0;

/// Interval at which a reader that waits until its frame is taken checks whether a newer reader has replaced it.
const TAKEN_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Receives every frame, in order, before the frame is published. It must not wait.
pub type FrameTap = Box<dyn FnMut(&Frame) + Send>;

/// Result of [`super::Feed::take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// A frame that was not taken before.
    Frame,
    /// No new frame arrived within the permitted time.
    Timeout,
    /// The feed has ended, and every frame was taken.
    End,
}

/// The shared state of one feed.
pub(super) struct FrameSlot {
    mode: FeedMode,
    /// Time of opening, in seconds on the clock of the frames.
    begin_secs: f64,
    /// Whether repeated frames are kept back: a recording, or a picture file, may repeat a frame on purpose.
    keeps_back_repeated: bool,
    state: Mutex<State>,
    reading: Mutex<ReadingState>,
    /// The newest frame. Closed when the feed has ended.
    frames: Latest<CapturedFrame>,
    /// Time of capture of the frame that was taken last, in nanoseconds on the monotonic clock.
    taken_ns: AtomicU64,
    /// Time for which the source has repeated the frame that was taken last, in milliseconds; 0 if it has probably not stopped.
    repeated_ms: AtomicU64,
}

/// A frame with its time of capture.
#[derive(Debug, Default)]
struct CapturedFrame {
    frame: Frame,
    /// Time of capture, in nanoseconds on the monotonic clock.
    captured_ns: u64,
    /// Time for which the source had repeated this frame, in milliseconds.
    repeated_ms: u64,
}

/// State that the reader of the feed needs for each frame. The next reader of the same feed continues with this state.
struct ReadingState {
    monitor: QualityMonitor,
    clock: FeedClock,
    tap: Option<FrameTap>,
}

/// State of a source.
pub(super) struct State {
    /// Number of the current reader. Frames of an earlier reader are late, so they are ignored.
    pub(super) generation: u64,
    pub(super) faults: FaultLog,
    granted: Option<GrantedSettings>,
    pub(super) restarts: u64,
    /// Time since when the reader has waited for the next frame of the source; `None` while it does something else.
    pub(super) waiting_since: Option<Instant>,
    /// The error that ended the feed. It is returned to the caller once.
    end_error: Option<CameraError>,
    warnings: Vec<String>,
    /// Number of frames that arrived.
    frames: u64,
    dropped: u64,
    skipped: u64,
    quality: FrameQuality,
    /// Times of the last arrivals of this reader, oldest first.
    arrivals: VecDeque<Instant>,
    /// Driver's number of the last frame of this reader.
    last_sequence: Option<u64>,
    /// Time of capture of the newest frame, in nanoseconds on the monotonic clock; `None` before the first frame.
    captured_ns: Option<u64>,
    /// Timestamp of the newest frame, in seconds; before the first frame, when the time began.
    last_secs: f64,
}

/// The arrival of a frame; its levels are passed separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time of arrival.
    pub(super) now: Instant,
    /// Number of the reader.
    pub(super) generation: u64,
    /// Frame number of the driver.
    pub(super) sequence: u64,
    /// Time of capture, in nanoseconds on the monotonic clock.
    pub(super) captured_ns: u64,
    /// Time of capture, in seconds since the feed was opened.
    pub(super) secs: f64,
    pub(super) quality: FrameQuality,
}

impl FrameSlot {
    pub(super) fn new(
        setup: &FeedSetup,
        tap: Option<FrameTap>,
        ledger: &FaultLedger,
        begin_secs: f64,
    ) -> Self {
        let monitor = QualityMonitor::new(setup.timing.stall_timeout.as_secs_f64());
        Self {
            mode: setup.mode,
            begin_secs,
            keeps_back_repeated: setup.mode == FeedMode::Live && setup.is_live_source(),
            state: Mutex::new(State {
                generation: 0,
                faults: FaultLog::new(ledger, setup.timing.settle_time),
                granted: None,
                restarts: 0,
                waiting_since: None,
                end_error: None,
                warnings: Vec::new(),
                frames: 0,
                dropped: 0,
                skipped: 0,
                quality: FrameQuality::default(),
                arrivals: VecDeque::with_capacity(RATE_WINDOW_FRAMES),
                last_sequence: None,
                captured_ns: None,
                last_secs: begin_secs,
            }),
            reading: Mutex::new(ReadingState {
                monitor,
                clock: FeedClock::new(setup.is_live_source(), setup.mode),
                tap,
            }),
            frames: Latest::default(),
            taken_ns: AtomicU64::new(0),
            repeated_ms: AtomicU64::new(0),
        }
    }

    /// Returns the time at which the feed was opened, on the clock of its frames.
    pub(super) fn begin_secs(&self) -> f64 {
        self.begin_secs
    }

    /// Returns the time of the newest frame.
    pub(super) fn last_secs(&self) -> f64 {
        self.lock().last_secs
    }

    /// Locks the state. The caller must do nothing slow while it holds the lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Stores the settings that the driver or the source accepted. Returns false if they come from an earlier reader.
    pub(super) fn grant(&self, generation: u64, granted: &GrantedSettings) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        state.granted = Some(granted.clone());
        true
    }

    /// Makes a new reader the current one and returns its number. Frames of an earlier reader are ignored, and the earlier
    /// reader ends.
    pub(super) fn begin_generation(&self) -> u64 {
        let mut state = self.lock();
        state.begin_generation();
        let generation = state.generation;
        drop(state);
        self.lock_reading().clock.restart();
        generation
    }

    /// Whether the frames of a reader are still accepted.
    pub(super) fn is_current(&self, generation: u64) -> bool {
        self.lock().generation == generation
    }

    /// Records that a reader waits for the next frame of its source, or that it no longer waits.
    pub(super) fn set_waiting(&self, generation: u64, is_waiting: bool) {
        let mut state = self.lock();
        if state.generation == generation {
            state.waiting_since = is_waiting.then(Instant::now);
        }
    }

    /// Adds a warning about a source that can still be used, for example a recording whose last frame is incomplete.
    pub(super) fn warn(&self, warning: String) {
        if self.mode == FeedMode::Live {
            tracing::warn!("{warning}");
        } else {
            self.lock().warnings.push(warning);
        }
    }

    /// Whether the feed ends with its source.
    pub(super) fn ends(&self) -> bool {
        self.mode != FeedMode::Live
    }

    /// Removes and returns a warning; `None` if there is none.
    pub(super) fn take_warning(&self) -> Option<String> {
        self.lock().warnings.pop()
    }

    /// Ends the feed. The caller then receives the last frame, the error if there is one, and finally the end.
    pub(super) fn end(&self, error: Option<CameraError>) {
        self.lock().end_error = error;
        self.frames.close();
    }

    fn lock_reading(&self) -> MutexGuard<'_, ReadingState> {
        self.reading.lock()
    }

    /// Computes the time of a frame on the clock of the feed, for sources other than live cameras. Returns `None` if the frame
    /// comes from an earlier reader.
    pub(super) fn place(&self, generation: u64, stamp: Stamp, now_secs: f64) -> Option<Placed> {
        let mut reading = self.lock_reading();
        let is_current = self.is_current(generation);
        is_current.then(|| reading.clock.place(stamp, now_secs))
    }

    /// Checks the quality of a frame before it is published.
    pub(super) fn check_quality(&self, luma: &Luma, secs: f64) -> FrameQuality {
        self.lock_reading().monitor.check(luma, secs)
    }

    /// Stores a frame as the newest one, and puts the memory of an older frame into `frame` for reuse. Returns false if the
    /// frame comes from an earlier reader.
    pub(super) fn publish(&self, frame: &mut Frame, arrival: Arrival) -> bool {
        while self.mode != FeedMode::Live && !self.frames.wait_until_taken(TAKEN_POLL_INTERVAL) {
            if !self.is_current(arrival.generation) {
                return false;
            }
        }
        let mut reading = self.lock_reading();
        let mut state = self.lock();
        if state.generation != arrival.generation {
            return false;
        }
        // A decreasing timestamp would reverse the velocities of tracks.
        frame.time_secs = (self.begin_secs + arrival.secs).max(state.last_secs);
        frame.sequence = state.frames;
        if let Some(tap) = &mut reading.tap {
            tap(frame);
        }
        state.last_secs = frame.time_secs;
        state.frames += 1;
        let is_kept_back = arrival.quality.repeated_secs.is_some() && self.keeps_back_repeated;
        if let Some(last) = state.last_sequence {
            state.dropped += arrival.sequence.saturating_sub(last.saturating_add(1));
        }
        state.last_sequence = Some(arrival.sequence);
        state.captured_ns = Some(arrival.captured_ns);
        state.quality = arrival.quality;
        if state.arrivals.len() == RATE_WINDOW_FRAMES {
            state.arrivals.pop_front();
        }
        state.arrivals.push_back(arrival.now);
        for (kind, present) in arrival.quality.faults() {
            if !present {
                state.faults.clear(kind, arrival.now);
            } else if !state.faults.has(kind) {
                state
                    .faults
                    .raise(kind, &arrival.quality.describe(kind), arrival.now);
            }
        }
        state.faults.good_frame(arrival.now);
        state.waiting_since = Some(Instant::now());
        let repeated_ms = arrival.quality.repeated_ms();
        if is_kept_back {
            self.repeated_ms.store(repeated_ms, Ordering::Relaxed);
            return true;
        }
        let is_replaced = self.frames.fill(|newest| {
            std::mem::swap(&mut newest.frame, frame);
            newest.captured_ns = arrival.captured_ns;
            newest.repeated_ms = repeated_ms;
        });
        state.skipped += u64::from(is_replaced);
        true
    }

    /// Swaps `frame` with the newest frame, if it has not been taken. Waits for a frame at most `wait`.
    pub(super) fn take(
        &self,
        frame: &mut Frame,
        wait: Duration,
    ) -> Result<ReadOutcome, CameraError> {
        let taken = self.frames.take_with(wait, |newest| {
            std::mem::swap(&mut newest.frame, frame);
            self.taken_ns.store(newest.captured_ns, Ordering::Relaxed);
            (self.repeated_ms).store(newest.repeated_ms, Ordering::Relaxed);
        });
        Ok(if taken.is_some() {
            ReadOutcome::Frame
        } else if self.has_ended()? {
            ReadOutcome::End
        } else {
            ReadOutcome::Timeout
        })
    }

    /// Waits at most `wait` until there is a frame that was not taken, or the feed has ended. Returns false if neither
    /// happened.
    pub(super) fn wait_until_ready(&self, wait: Duration) -> Result<bool, CameraError> {
        Ok(self.frames.wait(wait) || self.has_ended()?)
    }

    /// Whether the feed has ended and its last frame was taken.
    ///
    /// # Errors
    /// The error that ended it, once.
    fn has_ended(&self) -> Result<bool, CameraError> {
        if !self.frames.is_finished() {
            return Ok(false);
        }
        self.lock().end_error.take().map_or(Ok(true), Err)
    }

    /// Returns the time since the frame that was taken last was captured.
    pub(super) fn taken_age(&self) -> Duration {
        Duration::from_nanos(monotonic_ns().saturating_sub(self.taken_ns.load(Ordering::Relaxed)))
    }

    /// Returns for how long the source has repeated the frame that was taken last.
    pub(super) fn repeated_for(&self) -> Duration {
        Duration::from_millis(self.repeated_ms.load(Ordering::Relaxed))
    }
}

impl State {
    /// Makes a new reader the current one, and clears the state that belongs to the earlier one.
    fn begin_generation(&mut self) {
        self.generation += 1;
        self.last_sequence = None;
        self.waiting_since = None;
        self.arrivals.clear();
    }

    /// Extends the time limit of the next frame by the time `absent` in which this program did not run.
    pub(super) fn excuse(&mut self, absent: Duration, now: Instant) {
        self.waiting_since = self.waiting_since.map(|since| (since + absent).min(now));
    }

    /// Whether this reader has published a frame.
    pub(super) fn has_frames(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Whether a fault is present.
    pub(super) fn has(&self, kind: FaultKind) -> bool {
        self.faults.has(kind)
    }

    /// Returns the health of the source.
    pub(super) fn health(&self, now: Instant, now_ns: u64) -> CameraHealth {
        let mut health = CameraHealth {
            age_secs: self
                .captured_ns
                .map(|taken| now_ns.saturating_sub(taken) as f64 / 1e9),
            fps: self.fps(now),
            frames: self.frames,
            dropped: self.dropped,
            skipped: self.skipped,
            restarts: self.restarts,
            mean_level: self.quality.mean_level,
            saturated_share: self.quality.saturated_share,
            granted: self.granted.clone(),
            ..CameraHealth::default()
        };
        self.faults.write(&mut health, now);
        health
    }

    /// Returns the frame rate over the last arrivals, in frames per second. If no frame has arrived for more than
    /// [`LATE_INTERVALS`] intervals, the rate is 1 divided by the time since the last arrival, so the rate of a stopped camera
    /// approaches 0.
    fn fps(&self, now: Instant) -> f64 {
        let (Some(first), Some(last)) = (self.arrivals.front(), self.arrivals.back()) else {
            return 0.0;
        };
        let intervals = (self.arrivals.len() - 1) as f64;
        let secs = last.duration_since(*first).as_secs_f64();
        if intervals == 0.0 || secs == 0.0 {
            return 0.0;
        }
        let silent = now.duration_since(*last).as_secs_f64();
        if silent > LATE_INTERVALS * secs / intervals {
            1.0 / silent
        } else {
            intervals / secs
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::camera::{CameraParams, SourceSpec, WorkerCommand};

    fn slot(mode: FeedMode) -> FrameSlot {
        let spec = SourceSpec::parse("synthetic:1").unwrap();
        let worker = WorkerCommand::new("shoal");
        let setup = FeedSetup::new(spec, &CameraParams::default(), worker);
        FrameSlot::new(&setup.with_mode(mode), None, &FaultLedger::default(), 0.0)
    }

    fn arrival(sequence: u64) -> Arrival {
        Arrival {
            now: Instant::now(),
            generation: 0,
            sequence,
            captured_ns: 0,
            secs: sequence as f64,
            quality: FrameQuality::default(),
        }
    }

    #[test]
    fn a_repeated_frame_of_a_live_source_is_counted_but_not_handed_out() {
        for (source, is_handed_out) in [("command:camera", false), ("synthetic:1", true)] {
            let spec = SourceSpec::parse(source).unwrap();
            let worker = WorkerCommand::new("shoal");
            let setup = FeedSetup::new(spec, &CameraParams::default(), worker);
            let slot = FrameSlot::new(&setup, None, &FaultLedger::default(), 0.0);
            let repeated = FrameQuality {
                repeated_secs: Some(0.4),
                ..FrameQuality::default()
            };
            let arrival = Arrival {
                quality: repeated,
                ..arrival(0)
            };
            assert!(slot.publish(&mut Frame::default(), arrival));
            let outcome = slot.take(&mut Frame::default(), Duration::ZERO).unwrap();
            assert_eq!(outcome == ReadOutcome::Frame, is_handed_out, "{source}");
            assert_eq!(slot.repeated_for(), Duration::from_millis(400));
            let state = slot.lock();
            assert!(state.frames == 1 && state.waiting_since.is_some());
        }
    }

    #[test]
    fn a_slow_caller_receives_every_frame_if_it_asked_for_every_frame() {
        const FRAMES: u64 = 2000;
        let slot = Arc::new(slot(FeedMode::EveryFrame { fast: true }));
        let written = Arc::clone(&slot);
        let writer = std::thread::spawn(move || {
            let mut frame = Frame::default();
            for n in 0..FRAMES {
                assert!(written.publish(&mut frame, arrival(n)));
            }
            written.end(None);
        });
        let mut frame = Frame::default();
        for n in 0..FRAMES {
            let outcome = slot.take(&mut frame, Duration::from_secs(30)).unwrap();
            assert_eq!((outcome, frame.sequence), (ReadOutcome::Frame, n));
        }
        let outcome = slot.take(&mut frame, Duration::from_secs(30)).unwrap();
        assert_eq!(outcome, ReadOutcome::End);
        writer.join().unwrap();
        assert_eq!(slot.lock().health(Instant::now(), 0).skipped, 0);
    }

    #[test]
    fn a_reader_that_waits_for_the_caller_ends_with_the_feed() {
        let slot = Arc::new(slot(FeedMode::EveryFrame { fast: true }));
        let written = Arc::clone(&slot);
        let writer = std::thread::spawn(move || {
            let mut frame = Frame::default();
            (0..100).all(|n| written.publish(&mut frame, arrival(n)))
        });
        assert!(slot.frames.wait(Duration::from_secs(60)));
        slot.begin_generation();
        assert!(!writer.join().unwrap(), "a frame was accepted too late");
    }

    #[test]
    fn the_error_of_a_feed_follows_its_last_frame() {
        let slot = slot(FeedMode::EveryFrame { fast: true });
        assert!(slot.publish(&mut Frame::default(), arrival(0)));
        let missing = std::path::PathBuf::from("missing");
        slot.end(Some(CameraError::NoImages { path: missing }));
        let mut frame = Frame::default();
        let mut take = || slot.take(&mut frame, Duration::ZERO);
        assert_eq!(take().unwrap(), ReadOutcome::Frame);
        assert!(take().unwrap_err().to_string().contains("missing"));
        assert_eq!(take().unwrap(), ReadOutcome::End);
    }

    #[test]
    fn the_rate_of_a_stopped_camera_drops_whatever_its_rate_was() {
        for rate in [5.0, 30.0, 150.0, 1000.0] {
            let slot = slot(FeedMode::Live);
            let opened = Instant::now();
            let after = |secs: f64| opened + Duration::from_secs_f64(secs);
            for sequence in 0..40 {
                let arrival = Arrival {
                    now: after(sequence as f64 / rate),
                    generation: 0,
                    sequence,
                    captured_ns: 0,
                    secs: sequence as f64 / rate,
                    quality: FrameQuality::default(),
                };
                assert!(slot.publish(&mut Frame::default(), arrival));
            }
            let reported_fps = |silent: f64| slot.lock().health(after(39.0 / rate + silent), 0).fps;
            for on_time in [0.0, 1.0, 3.9] {
                let fps = reported_fps(on_time / rate);
                assert!((fps / rate - 1.0).abs() < 1e-3, "{fps} instead of {rate}");
            }
            for silent in [2.0, 10.0] {
                let fps = reported_fps(silent);
                assert!(fps <= 1.001 / silent, "{rate}: {fps}");
            }
        }
    }
}
