//! The state that the threads of one camera share: its newest frame, its faults and its counters.
//!
//! The latest frame wins: a frame that the caller did not take is replaced, never queued. Frames are swapped, not copied, so
//! the steady state allocates no memory.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::fault_log::FaultLog;
use super::health::CameraHealth;
use super::quality::{FrameQuality, QualityMonitor};
use crate::camera::pipe::GrantedSettings;
use crate::camera::{Frame, Luma};

/// Number of arrivals over which the frame rate is measured.
const RATE_WINDOW_FRAMES: usize = 32;

/// If no frame arrives for this many frame intervals, the measured rate is no longer valid and the reported rate drops.
const LATE_INTERVALS: f64 = 4.0;

/// The shared state of one camera.
pub(super) struct FrameSlot {
    state: Mutex<State>,
    monitor: Mutex<QualityMonitor>,
    new_frame: Condvar,
}

/// State of a camera.
pub(super) struct State {
    /// Number of the worker whose frames are accepted. Frames of an earlier worker are late and ignored.
    pub(super) generation: u64,
    pub(super) faults: FaultLog,
    granted: Option<GrantedSettings>,
    pub(super) restarts: u64,
    newest: Frame,
    /// Whether the newest frame has not been taken.
    is_fresh: bool,
    /// Number of frames that arrived.
    frames: u64,
    dropped: u64,
    skipped: u64,
    quality: FrameQuality,
    /// Times of the last arrivals of this worker, oldest first.
    arrivals: VecDeque<Instant>,
    /// Driver's number of the last frame of this worker.
    last_sequence: Option<u64>,
    /// Time of capture of the newest frame, on the monotonic clock.
    captured_ns: Option<u64>,
    /// Timestamp of the newest frame, in seconds since the camera was opened.
    last_secs: f64,
}

/// The arrival of a frame; its levels are passed separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time of arrival.
    pub(super) now: Instant,
    /// Number of the worker.
    pub(super) generation: u64,
    /// Frame number of the driver.
    pub(super) sequence: u64,
    /// Time of capture, on the monotonic clock.
    pub(super) captured_ns: u64,
    /// Time of capture, in seconds since the camera was opened.
    pub(super) secs: f64,
    pub(super) quality: FrameQuality,
}

impl FrameSlot {
    pub(super) fn new(camera: &str, min_fault_duration: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                generation: 0,
                faults: FaultLog::new(camera.to_owned()),
                granted: None,
                restarts: 0,
                newest: Frame::default(),
                is_fresh: false,
                frames: 0,
                dropped: 0,
                skipped: 0,
                quality: FrameQuality::default(),
                arrivals: VecDeque::with_capacity(RATE_WINDOW_FRAMES),
                last_sequence: None,
                captured_ns: None,
                last_secs: 0.0,
            }),
            monitor: Mutex::new(QualityMonitor::new(min_fault_duration.as_secs_f64())),
            new_frame: Condvar::new(),
        }
    }

    /// Locks the state. The caller must do nothing slow while it holds the lock.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the settings that the driver accepted. False if they come from an earlier worker.
    pub(super) fn grant(&self, generation: u64, granted: &GrantedSettings) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        state.granted = Some(granted.clone());
        true
    }

    /// Checks the quality of a frame before it is published.
    pub(super) fn check_quality(&self, luma: &Luma, secs: f64) -> FrameQuality {
        let mut monitor = self.monitor.lock().unwrap_or_else(PoisonError::into_inner);
        monitor.check(luma, secs)
    }

    /// Stores a frame as the newest one and returns the memory of another frame in `frame`. False if the frame comes from an
    /// earlier worker.
    pub(super) fn publish(
        &self,
        frame: &mut Frame,
        arrival: Arrival,
        settle_time: Duration,
    ) -> bool {
        let mut state = self.lock();
        if state.generation != arrival.generation {
            return false;
        }
        // A decreasing timestamp would reverse the velocities of tracks.
        frame.time_secs = arrival.secs.max(state.last_secs);
        frame.sequence = state.frames;
        state.last_secs = frame.time_secs;
        state.frames += 1;
        state.skipped += u64::from(state.is_fresh);
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
        state.faults.good_frame(arrival.now, settle_time);
        std::mem::swap(&mut state.newest, frame);
        state.is_fresh = true;
        self.new_frame.notify_all();
        true
    }

    /// Swaps `frame` with the newest frame, if it has not been taken. Waits for a frame at most `wait`; false if none came.
    pub(super) fn take(&self, frame: &mut Frame, wait: Duration) -> bool {
        let state = self.lock();
        let waited = self
            .new_frame
            .wait_timeout_while(state, wait, |state| !state.is_fresh);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.is_fresh {
            return false;
        }
        state.is_fresh = false;
        std::mem::swap(&mut state.newest, frame);
        true
    }
}

impl State {
    /// Starts to accept a new worker, and clears the state that belongs to the earlier one.
    pub(super) fn begin_generation(&mut self) {
        self.generation += 1;
        self.last_sequence = None;
        self.arrivals.clear();
    }

    /// Time of the last arrival from this worker.
    pub(super) fn last_arrival(&self) -> Option<Instant> {
        self.arrivals.back().copied()
    }

    /// Health of the camera.
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

    /// Frame rate over the last arrivals, in frames per second. If no frame has arrived for more than [`LATE_INTERVALS`]
    /// intervals, it is 1 divided by the time since the last arrival: a camera that stopped has a rate near 0.
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
    use super::*;

    #[test]
    fn the_rate_of_a_stopped_camera_drops_whatever_its_rate_was() {
        for rate in [5.0, 30.0, 150.0, 1000.0] {
            let slot = FrameSlot::new("a camera", Duration::from_secs(1));
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
                assert!(slot.publish(&mut Frame::default(), arrival, Duration::ZERO));
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
