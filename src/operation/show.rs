//! What the installation shows now: the schedule sets it, an operator pauses it, the render stage fades the picture, the simulation
//! rests or stands still.
//!
//! In: states and pauses. Out: the light of the picture, and whether the pool rests or stands still. Must not: decide about a state.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::control::ShowState;
use crate::runtime::Heartbeat;

/// Time in the state `closed` after which the pool rests. Longer than the fade, so that the fish swim until the picture is black.
const REST_AFTER: Duration = Duration::from_secs(25);
/// Time between two ticks, and between two pictures, while the pool rests.
const REST_INTERVAL: Duration = Duration::from_secs(1);
/// Longest delay of the end of a rest.
const REST_STEP: Duration = Duration::from_millis(50);

/// The state that is shown. Copies share their content.
#[derive(Clone, Debug)]
pub struct ShowControl(Arc<Mutex<Shown>>);

#[derive(Clone, Debug)]
struct Shown {
    state: ShowState,
    since: Instant,
    /// Begin of the pause; `None` if the pool moves.
    paused: Option<Instant>,
    /// The recording that is replayed instead of the camera.
    rehearsal: Option<PathBuf>,
}

impl Default for ShowControl {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Shown {
            state: ShowState::Open,
            since: Instant::now(),
            paused: None,
            rehearsal: None,
        })))
    }
}

impl ShowControl {
    /// Sets the state. Another state ends a pause and a rehearsal, so that a forgotten one lasts no longer than the day.
    pub fn set(&self, state: ShowState, now: Instant) {
        let mut shown = self.0.lock();
        if shown.state != state {
            *shown = Shown {
                state,
                since: now,
                paused: None,
                rehearsal: None,
            };
        }
    }

    /// Lets the pool stand still, or go on.
    ///
    /// # Errors
    /// When nothing is shown that could stand still, the reason.
    pub fn pause(&self, is_on: bool, now: Instant) -> Result<(), &'static str> {
        let mut shown = self.0.lock();
        if is_on && !shown.state.is_lit() {
            return Err("the picture is dark, so there is nothing to pause");
        }
        shown.paused = is_on.then(|| shown.paused.unwrap_or(now));
        Ok(())
    }

    /// Returns the begin of the pause; `None` if the pool moves.
    pub fn paused_since(&self) -> Option<Instant> {
        self.0.lock().paused
    }

    /// Replays a recording instead of the camera, or ends this.
    pub fn set_rehearsal(&self, recording: Option<PathBuf>) {
        self.0.lock().rehearsal = recording;
    }

    /// Returns the recording that is replayed instead of the camera; `None` if the camera is used.
    pub fn rehearsal(&self) -> Option<PathBuf> {
        self.0.lock().rehearsal.clone()
    }

    /// Whether visitors are to be counted: not while the installation is closed, and not those of a recording.
    pub fn counts_visitors(&self) -> bool {
        let shown = self.0.lock();
        shown.state != ShowState::Closed && shown.rehearsal.is_none()
    }

    /// Whether the picture is to be visible.
    pub fn is_lit(&self) -> bool {
        self.0.lock().state.is_lit()
    }

    /// Whether the pool rests.
    pub fn is_resting(&self, now: Instant) -> bool {
        let shown = self.0.lock();
        shown.state == ShowState::Closed && now.saturating_duration_since(shown.since) > REST_AFTER
    }

    /// Sleeps until the next tick or picture of a resting pool. Wakes early if the rest ends, the program ends, or `must_wake` is
    /// true.
    pub fn rest(&self, heartbeat: &Heartbeat, must_wake: impl Fn() -> bool) {
        let until = Instant::now() + REST_INTERVAL;
        while heartbeat.keep_running() {
            let now = Instant::now();
            if now >= until || must_wake() || !self.is_resting(now) {
                return;
            }
            std::thread::sleep(REST_STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_rests_only_when_closed_and_after_the_fade() {
        let begin = Instant::now();
        let at = |secs| begin + Duration::from_secs(secs);
        let show = ShowControl::default();
        show.set(ShowState::Dark, begin);
        assert!(!show.is_lit() && !show.is_resting(at(3600)));
        show.set(ShowState::Closed, at(10));
        show.set(ShowState::Closed, at(30));
        assert!(!show.is_resting(at(34)) && show.is_resting(at(36)));
        show.set(ShowState::Attract, at(40));
        assert!(show.is_lit() && !show.is_resting(at(3600)));
    }

    #[test]
    fn another_state_ends_a_pause_and_a_rehearsal() {
        let begin = Instant::now();
        let at = |secs| begin + Duration::from_secs(secs);
        let show = ShowControl::default();
        show.pause(true, at(1)).unwrap();
        show.pause(true, at(2)).unwrap();
        show.set(ShowState::Open, at(3));
        assert_eq!(show.paused_since(), Some(at(1)));
        assert!(show.counts_visitors());
        show.set_rehearsal(Some(PathBuf::from("a.y4m")));
        assert!(!show.counts_visitors());
        show.set(ShowState::Dark, at(4));
        assert_eq!((show.paused_since(), show.rehearsal()), (None, None));
        assert!(show.counts_visitors());
        assert!(show.pause(true, at(5)).is_err(), "nothing is shown");
        show.pause(false, at(5)).unwrap();
        show.set(ShowState::Open, at(6));
        assert_eq!(show.paused_since(), None);
    }
}
