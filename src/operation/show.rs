//! What the installation shows now: the schedule sets it, an operator pauses it, the render stage fades the picture, the simulation
//! rests or stands still.
//!
//! In: states and pauses. Out: the light of the picture, and whether the pool rests or stands still. Must not: decide about a state.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use parking_lot::Mutex;

use super::hold::{Hold, Moment};
use crate::control::{HandEnd, OverlayChoice, OverlayStatus, ShowState, TestPicture};
use crate::runtime::Heartbeat;

/// Time in the state `closed` after which the pool rests. Longer than the fade, so that the fish swim until the picture is black.
const REST_AFTER: Duration = Duration::from_secs(25);
/// Time between two ticks, and between two pictures, while the pool rests.
const REST_INTERVAL: Duration = Duration::from_secs(1);
/// Longest delay of the end of a rest.
const REST_STEP: Duration = Duration::from_millis(50);

/// Longest time for which an operator's picture for adjusting the projectors is shown.
const TEST_PICTURE_TIME: Duration = Duration::from_secs(30 * 60);

/// The state that is shown. Copies share their content.
#[derive(Clone, Debug)]
pub struct ShowControl(Arc<Mutex<Shown>>);

#[derive(Clone, Debug)]
struct Shown {
    state: ShowState,
    since: Instant,
    /// Start of the pause, and its end; `None` if the pool moves.
    paused: Option<(Instant, Hold)>,
    /// The recording that is replayed instead of the camera, and when this ends.
    rehearsal: Option<(PathBuf, Hold)>,
    /// The picture for adjusting the projectors, and the time until which it is shown; `None` for no limit.
    test_picture: Option<(TestPicture, Option<Instant>)>,
    /// What is drawn over the pool, and the time until which it is; `None` for no limit.
    overlay: Option<(Arc<OverlayChoice>, Option<Instant>)>,
}

impl Default for ShowControl {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Shown {
            state: ShowState::Open,
            since: Instant::now(),
            paused: None,
            rehearsal: None,
            test_picture: None,
            overlay: None,
        })))
    }
}

impl ShowControl {
    /// Sets the state. Another state ends a pause and a rehearsal that last until the next change. It also ends a test
    /// picture and an overlay.
    pub fn set(&self, state: ShowState, now: Instant) {
        let mut shown = self.0.lock();
        if shown.state != state {
            let lasts = |hold: &Hold| hold.ends() != HandEnd::NextChange;
            let Shown {
                paused, rehearsal, ..
            } = &*shown;
            *shown = Shown {
                state,
                since: now,
                paused: paused.filter(|(_, hold)| lasts(hold)),
                rehearsal: rehearsal.clone().filter(|(_, hold)| lasts(hold)),
                test_picture: None,
                overlay: None,
            };
        }
    }

    /// Lets the pool stand still until `ends`, or go on with `None`.
    ///
    /// # Errors
    /// When nothing is shown that could stand still, the reason.
    pub fn pause(&self, ends: Option<HandEnd>, now: Instant) -> Result<(), &'static str> {
        let mut shown = self.0.lock();
        if ends.is_some() && !shown.state.is_lit() {
            return Err("the picture is dark, so there is nothing to pause");
        }
        let since = shown.paused.map_or(now, |(since, _)| since);
        shown.paused = ends.map(|ends| (since, Hold::new(ends, now)));
        Ok(())
    }

    /// Returns the start of the pause; `None` if the pool moves.
    pub fn paused_since(&self) -> Option<Instant> {
        self.0.lock().paused.map(|(since, _)| since)
    }

    /// Replays a recording instead of the camera until `HandEnd`, or ends this.
    pub fn set_rehearsal(&self, recording: Option<(PathBuf, HandEnd)>, now: Instant) {
        let rehearsal = recording.map(|(path, ends)| (path, Hold::new(ends, now)));
        self.0.lock().rehearsal = rehearsal;
    }

    /// Returns the recording that is replayed instead of the camera; `None` if the camera is used.
    pub fn rehearsal(&self) -> Option<PathBuf> {
        self.0
            .lock()
            .rehearsal
            .as_ref()
            .map(|(path, _)| path.clone())
    }

    /// Ends a pause and a rehearsal that are over. `end_of` returns the time for which an end stands that was set at a time.
    pub(super) fn follow(
        &self,
        at: Moment,
        end_of: impl Fn(HandEnd, Timestamp) -> Option<Timestamp>,
    ) {
        let mut shown = self.0.lock();
        if (shown.paused.as_mut()).is_some_and(|(_, hold)| hold.follow(at, &end_of)) {
            shown.paused = None;
        }
        if (shown.rehearsal.as_mut()).is_some_and(|(_, hold)| hold.follow(at, &end_of)) {
            shown.rehearsal = None;
        }
    }

    /// Returns the ends of a pause and of a rehearsal, and what is replayed.
    pub(super) fn holds(&self) -> (Option<Hold>, Option<(PathBuf, Hold)>) {
        let shown = self.0.lock();
        (shown.paused.map(|(_, hold)| hold), shown.rehearsal.clone())
    }

    /// Continues a pause and a rehearsal of an earlier run of the program.
    pub(super) fn continue_holds(
        &self,
        paused: Option<Hold>,
        rehearsal: Option<(PathBuf, Hold)>,
        at: Moment,
    ) {
        let mut shown = self.0.lock();
        shown.paused = paused.map(|hold| (hold.began(at), hold));
        shown.rehearsal = rehearsal;
    }

    /// Shows a picture for adjusting the projectors for a limited time, or the pool again.
    pub fn set_test_picture(&self, picture: Option<TestPicture>, now: Instant) {
        let until = Some(now + TEST_PICTURE_TIME);
        self.0.lock().test_picture = picture.map(|picture| (picture, until));
    }

    /// Shows a picture for adjusting the projectors without a limit of time, as the command line wants it.
    pub fn start_with_test_picture(&self, picture: Option<TestPicture>) {
        self.0.lock().test_picture = picture.map(|picture| (picture, None));
    }

    /// Returns the picture for adjusting the projectors; `None` if the pool is shown.
    pub fn test_picture(&self, now: Instant) -> Option<TestPicture> {
        let (picture, until) = self.0.lock().test_picture?;
        until.is_none_or(|until| now < until).then_some(picture)
    }

    /// Draws something over the pool for a limited time, or nothing if the choice has no parts.
    pub fn set_overlay(&self, choice: OverlayChoice, time: Duration, now: Instant) {
        let overlay = (Arc::new(choice), Some(now + time));
        self.0.lock().overlay = Some(overlay).filter(|(choice, _)| !choice.show.is_empty());
    }

    /// Draws something over the pool without a limit of time, as the command line wants it.
    pub fn start_with_overlay(&self, choice: OverlayChoice) {
        let overlay = (Arc::new(choice), None);
        self.0.lock().overlay = Some(overlay).filter(|(choice, _)| !choice.show.is_empty());
    }

    /// Returns what is drawn over the pool; `None` if nothing is.
    pub fn overlay(&self, now: Instant) -> Option<Arc<OverlayChoice>> {
        let shown = self.0.lock();
        let (choice, until) = shown.overlay.as_ref()?;
        until
            .is_none_or(|until| now < until)
            .then(|| Arc::clone(choice))
    }

    /// Returns what is drawn over the pool, and for how long; `None` if nothing is.
    pub fn overlay_status(&self, now: Instant) -> Option<OverlayStatus> {
        let choice = self.overlay(now)?;
        let until = self.0.lock().overlay.as_ref().and_then(|(_, until)| *until);
        Some(OverlayStatus {
            choice: OverlayChoice::clone(&choice),
            left_secs: until.map(|until| until.saturating_duration_since(now).as_secs_f64()),
        })
    }

    /// Whether visitors are to be counted: not while the installation is closed, and not those of a recording.
    pub fn counts_visitors(&self) -> bool {
        let shown = self.0.lock();
        shown.state != ShowState::Closed && shown.rehearsal.is_none()
    }

    /// Returns the state that is shown.
    pub fn state(&self) -> ShowState {
        self.0.lock().state
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
    /// true. Returns whether it slept.
    pub fn rest(&self, heartbeat: &Heartbeat, must_wake: impl Fn() -> bool) -> bool {
        let until = Instant::now() + REST_INTERVAL;
        let mut has_rested = false;
        while heartbeat.keep_running() {
            let now = Instant::now();
            if now >= until || must_wake() || !self.is_resting(now) {
                break;
            }
            has_rested = true;
            std::thread::sleep(REST_STEP);
        }
        has_rested
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{OverlayPart, TestPattern};

    const GRID: TestPicture = TestPicture {
        pattern: TestPattern::Grid,
        corner: None,
    };

    #[test]
    fn a_forgotten_test_picture_ends_after_half_an_hour() {
        let begin = Instant::now();
        let show = ShowControl::default();
        show.set_test_picture(Some(GRID), begin);
        let last = begin + TEST_PICTURE_TIME - Duration::from_secs(1);
        assert_eq!(show.test_picture(last), Some(GRID));
        assert_eq!(show.test_picture(begin + TEST_PICTURE_TIME), None);
        show.set_test_picture(None, begin);
        assert_eq!(show.test_picture(begin), None);
    }

    #[test]
    fn an_overlay_ends_by_itself_and_with_the_state() {
        let begin = Instant::now();
        let show = ShowControl::default();
        let choice = OverlayChoice {
            show: vec![OverlayPart::Why],
            fish: None,
        };
        let minute = Duration::from_secs(60);
        show.set_overlay(choice.clone(), minute, begin);
        assert_eq!(show.overlay(begin).as_deref(), Some(&choice));
        let left = show.overlay_status(begin + minute / 2).unwrap().left_secs;
        assert_eq!(left, Some(30.0));
        assert_eq!(show.overlay(begin + minute), None);
        show.set_overlay(choice.clone(), minute, begin);
        show.set_overlay(OverlayChoice::default(), minute, begin);
        assert_eq!(show.overlay(begin), None, "an empty choice ends it");
        show.start_with_overlay(choice.clone());
        assert!(show.overlay(begin + 100 * minute).is_some());
        show.set(ShowState::Dark, begin);
        assert_eq!(show.overlay(begin), None);
    }

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
    fn another_state_ends_what_lasts_until_the_next_change() {
        let begin = Instant::now();
        let at = |secs| begin + Duration::from_secs(secs);
        let show = ShowControl::default();
        let change = Some(HandEnd::NextChange);
        show.pause(change, at(1)).unwrap();
        show.pause(change, at(2)).unwrap();
        show.set(ShowState::Open, at(3));
        assert_eq!(show.paused_since(), Some(at(1)));
        assert!(show.counts_visitors());
        let recording = PathBuf::from("a.y4m");
        show.set_rehearsal(Some((recording.clone(), HandEnd::NextChange)), at(3));
        show.start_with_test_picture(Some(GRID));
        assert_eq!(show.test_picture(at(100_000)), Some(GRID));
        assert!(!show.counts_visitors());
        show.set(ShowState::Dark, at(4));
        assert_eq!((show.paused_since(), show.rehearsal()), (None, None));
        assert_eq!(show.test_picture(at(4)), None);
        assert!(show.counts_visitors());
        assert!(show.pause(change, at(5)).is_err(), "nothing is shown");
        show.pause(None, at(5)).unwrap();
        show.set(ShowState::Open, at(6));
        assert_eq!(show.paused_since(), None);
        // What was set for a time lasts for it.
        show.pause(Some(HandEnd::Secs(10)), at(6)).unwrap();
        show.set_rehearsal(Some((recording, HandEnd::Never)), at(6));
        show.set(ShowState::Attract, at(7));
        let follow = |secs| {
            let at = Moment {
                time: Timestamp::UNIX_EPOCH,
                now: at(secs),
                is_clock_set: true,
            };
            show.follow(at, |_, _| None);
            (show.paused_since().is_some(), show.rehearsal().is_some())
        };
        assert_eq!((follow(15), follow(16)), ((true, true), (false, true)));
    }
}
