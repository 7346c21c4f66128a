//! Where the newest frame waits for its reader, beside everything that is known about the camera.
//!
//! Latest wins: a frame that nobody took is replaced, never queued. Frames are exchanged, not copied: in the steady state
//! no memory is taken.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Granted;
use super::health::{FaultLog, Health};
use super::picture::{Look, PictureWatch};
use crate::camera::{Frame, Luma};

/// Arrivals over which the frame rate is measured.
const ARRIVALS: usize = 32;

/// Intervals between frames after which the next one is late, and the measured rate no longer told.
const LATE: f64 = 4.0;

/// What the threads of one camera share.
pub(super) struct Slot {
    state: Mutex<State>,
    watch: Mutex<PictureWatch>,
    fresh: Condvar,
}

/// Everything that is known about a camera.
pub(super) struct State {
    /// Which start of the worker frames are taken from; others are late.
    pub(super) generation: u64,
    pub(super) faults: FaultLog,
    granted: Option<Granted>,
    pub(super) restarts: u64,
    newest: Frame,
    fresh: bool,
    frames: u64,
    dropped: u64,
    skipped: u64,
    look: Look,
    arrivals: VecDeque<Instant>,
    last_sequence: Option<u64>,
    /// When the newest frame was taken, on the monotonic clock.
    taken_ns: Option<u64>,
    last_secs: f64,
}

/// A frame that arrived, beside its levels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) now: Instant,
    pub(super) generation: u64,
    /// The driver's number.
    pub(super) sequence: u64,
    /// When it was taken, on the monotonic clock.
    pub(super) taken_ns: u64,
    /// The same since the camera was opened by us.
    pub(super) secs: f64,
    pub(super) look: Look,
}

impl Slot {
    pub(super) fn new(camera: &str, patience: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                generation: 0,
                faults: FaultLog::new(camera.to_owned()),
                granted: None,
                restarts: 0,
                newest: Frame::default(),
                fresh: false,
                frames: 0,
                dropped: 0,
                skipped: 0,
                look: Look::default(),
                arrivals: VecDeque::with_capacity(ARRIVALS),
                last_sequence: None,
                taken_ns: None,
                last_secs: 0.0,
            }),
            watch: Mutex::new(PictureWatch::new(patience.as_secs_f64())),
            fresh: Condvar::new(),
        }
    }

    /// The state. Nothing slow is done while it is held.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what the driver granted. False when it comes from a worker that was given up.
    pub(super) fn grant(&self, generation: u64, granted: &Granted) -> bool {
        let mut state = self.lock();
        if state.generation != generation {
            return false;
        }
        state.granted = Some(granted.clone());
        true
    }

    /// Looks at a frame before it is published.
    pub(super) fn look(&self, luma: &Luma, secs: f64) -> Look {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.look(luma, secs)
    }

    /// Puts a frame in, and gives back another one's memory. False when the frame comes from a worker that was given up.
    pub(super) fn publish(&self, frame: &mut Frame, arrival: Arrival, quiet: Duration) -> bool {
        let mut state = self.lock();
        if state.generation != arrival.generation {
            return false;
        }
        // A stamp that goes back would turn velocities round.
        frame.time_secs = arrival.secs.max(state.last_secs);
        frame.sequence = state.frames;
        state.last_secs = frame.time_secs;
        state.frames += 1;
        state.skipped += u64::from(state.fresh);
        if let Some(last) = state.last_sequence {
            state.dropped += arrival.sequence.saturating_sub(last.saturating_add(1));
        }
        state.last_sequence = Some(arrival.sequence);
        state.taken_ns = Some(arrival.taken_ns);
        state.look = arrival.look;
        if state.arrivals.len() == ARRIVALS {
            state.arrivals.pop_front();
        }
        state.arrivals.push_back(arrival.now);
        for (kind, present) in arrival.look.faults() {
            if !present {
                state.faults.clear(kind, arrival.now);
            } else if !state.faults.has(kind) {
                state
                    .faults
                    .raise(kind, &arrival.look.told(kind), arrival.now);
            }
        }
        state.faults.good_frame(arrival.now, quiet);
        std::mem::swap(&mut state.newest, frame);
        state.fresh = true;
        self.fresh.notify_all();
        true
    }

    /// Takes the newest frame, if it has not been taken yet, waiting for it at most `wait`.
    pub(super) fn take(&self, frame: &mut Frame, wait: Duration) -> bool {
        let state = self.lock();
        let waited = self
            .fresh
            .wait_timeout_while(state, wait, |state| !state.fresh);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.fresh {
            return false;
        }
        state.fresh = false;
        std::mem::swap(&mut state.newest, frame);
        true
    }
}

impl State {
    /// Forgets what is only true for one start of the worker.
    pub(super) fn begin(&mut self) {
        self.generation += 1;
        self.last_sequence = None;
        self.arrivals.clear();
    }

    /// When the last frame of this start arrived.
    pub(super) fn last_arrival(&self) -> Option<Instant> {
        self.arrivals.back().copied()
    }

    /// How the camera is doing.
    pub(super) fn health(&self, now: Instant, now_ns: u64) -> Health {
        let mut health = Health {
            age_secs: self
                .taken_ns
                .map(|taken| now_ns.saturating_sub(taken) as f64 / 1e9),
            fps: self.fps(now),
            frames: self.frames,
            dropped: self.dropped,
            skipped: self.skipped,
            restarts: self.restarts,
            mean: self.look.mean,
            saturated: self.look.saturated,
            granted: self.granted.clone(),
            ..Health::default()
        };
        self.faults.write(&mut health, now);
        health
    }

    /// Frames a second over the last arrivals. Where none came for longer than [`LATE`] of their intervals, it is what
    /// that silence allows, so that a camera that stopped is told as stopped, however fast it was.
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
        if silent > LATE * secs / intervals {
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
    fn a_camera_that_stopped_is_told_as_stopped_however_fast_it_was() {
        for rate in [5.0, 30.0, 150.0, 1000.0] {
            let slot = Slot::new("a camera", Duration::from_secs(1));
            let opened = Instant::now();
            let after = |secs: f64| opened + Duration::from_secs_f64(secs);
            for sequence in 0..40 {
                let arrival = Arrival {
                    now: after(sequence as f64 / rate),
                    generation: 0,
                    sequence,
                    taken_ns: 0,
                    secs: sequence as f64 / rate,
                    look: Look::default(),
                };
                assert!(slot.publish(&mut Frame::default(), arrival, Duration::ZERO));
            }
            let told = |silent: f64| slot.lock().health(after(39.0 / rate + silent), 0).fps;
            for on_time in [0.0, 1.0, 3.9] {
                let told = told(on_time / rate);
                assert!((told / rate - 1.0).abs() < 1e-3, "{told} of {rate}");
            }
            for silent in [2.0, 10.0] {
                assert!(told(silent) <= 1.001 / silent, "{rate}: {}", told(silent));
            }
        }
    }
}
