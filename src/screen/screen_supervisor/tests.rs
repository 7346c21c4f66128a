//! Failures of the screen, with a fake screen for every state that a driver can report.

use super::*;
use crate::render::{OutputCorner, Pattern, Quality, RenderError};
use crate::world::Snapshot;
use std::sync::{Arc, Mutex};

/// Calls that the fake screens received, in order.
type Log = Arc<Mutex<Vec<&'static str>>>;

/// A screen that returns the answers of a list in order, and is always ready after the last answer.
struct FakeScreen {
    answers: std::vec::IntoIter<Answer>,
    log: Log,
    show_fails: bool,
    /// Contains one entry for every screen that was closed before.
    flash_state: Vec<FlashState>,
}

#[derive(Clone, Copy)]
enum Answer {
    Acquire(Acquired),
    DeviceLost,
    ShowFails,
}

fn fake(answers: Vec<Answer>, log: Log) -> FakeScreen {
    FakeScreen {
        answers: answers.into_iter(),
        log,
        show_fails: false,
        flash_state: Vec::new(),
    }
}

fn lost() -> RenderError {
    RenderError::Device("lost in a test".to_owned())
}

impl Presenter for FakeScreen {
    fn acquire(&mut self) -> Result<Acquired, RenderError> {
        self.log.lock().unwrap().push("acquire");
        match self.answers.next() {
            Some(Answer::Acquire(acquired)) => Ok(acquired),
            Some(Answer::DeviceLost) => Err(lost()),
            Some(Answer::ShowFails) => {
                self.show_fails = true;
                Ok(Acquired::Ready)
            }
            None => Ok(Acquired::Ready),
        }
    }

    fn set_calibration_pattern(&mut self, _: Option<CalibrationPattern>) {}

    fn set_test_pattern(&mut self, _: Option<Pattern>, _: Option<OutputCorner>) {}

    fn set_notice(&mut self, _: Option<Arc<FloorNotice>>) {}

    fn set_level(&mut self, _: f32) {}

    fn set_old_share(&mut self, _: f32) {}

    fn change_setup(&mut self, _: RenderSetup, is_same_scene: bool) -> Result<bool, RenderError> {
        self.log.lock().unwrap().push("change");
        Ok(is_same_scene)
    }

    fn show(&mut self, _: &Snapshot, _: &Snapshot, _: f32) -> Result<(), RenderError> {
        self.log.lock().unwrap().push("show");
        if self.show_fails {
            return Err(lost());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RenderError> {
        Ok(())
    }

    fn copy_thumbnails(
        &mut self,
        _: &mut dyn FnMut(usize) -> bool,
        _: &mut dyn FnMut(usize, ThumbnailPixels<'_>),
    ) {
    }

    fn set_quality(&mut self, quality: Quality) {
        if quality != Quality::FULL {
            self.log.lock().unwrap().push("coarser");
        }
    }

    fn flash_states(&self, into: &mut Vec<FlashState>) {
        into.clone_from(&self.flash_state);
        into.push(FlashState::default());
    }

    fn resume_flash_states(&mut self, seen: &[FlashState]) {
        self.flash_state = seen.to_vec();
    }

    fn take_pass_times(&mut self) -> Option<PassTimes> {
        None
    }

    fn flash_limit_count(&self) -> u64 {
        self.flash_state.len() as u64
    }

    fn configure(&mut self) -> Result<(), RenderError> {
        self.log.lock().unwrap().push("configure");
        Ok(())
    }

    fn describe(&self) -> String {
        "a fake".to_owned()
    }

    fn lose_device(&mut self) {}
}

impl Drop for FakeScreen {
    fn drop(&mut self) {
        self.log.lock().unwrap().push("drop");
    }
}

/// Draws a number of pictures. `answers` contains one list of answers per screen. Returns the calls and the counts.
fn play(answers: Vec<Vec<Answer>>, pictures: u64) -> (Vec<&'static str>, ScreenCounts) {
    let log = Log::default();
    let (opened, mut screens) = (Arc::clone(&log), answers.into_iter());
    let mut open: ScreenOpener = Box::new(move || {
        opened.lock().unwrap().push("open");
        let answers = screens.next().unwrap_or_default();
        Ok(Some(Box::new(fake(answers, Arc::clone(&opened)))))
    });
    let counts = {
        let mut supervisor = ScreenSupervisor::new(&mut open, &Journal::default());
        let mut now = Instant::now();
        while supervisor.counts().pictures < pictures {
            match supervisor.prepare(now).unwrap() {
                Readiness::Draw => {
                    supervisor
                        .draw(&SnapshotPair::default(), None, now)
                        .unwrap();
                    now += Duration::from_millis(16);
                }
                Readiness::Wait(wait) => now += wait,
            }
        }
        supervisor.counts()
    };
    let mut calls = std::mem::take(&mut *log.lock().unwrap());
    assert_eq!(calls.pop(), Some("drop"), "the last screen is closed");
    (calls, counts)
}

#[test]
fn a_ready_screen_draws() {
    let (calls, counts) = play(vec![vec![]], 2);
    assert_eq!(calls, ["open", "acquire", "show", "acquire", "show"]);
    assert_eq!((counts.opened, counts.skipped, counts.lost), (1, 0, 0));
}

#[test]
fn a_suboptimal_screen_draws_and_is_configured() {
    let (calls, counts) = play(vec![vec![Answer::Acquire(Acquired::Suboptimal)]], 2);
    assert_eq!(
        calls,
        ["open", "acquire", "show", "configure", "acquire", "show"]
    );
    assert_eq!((counts.configured, counts.skipped, counts.lost), (1, 0, 0));
}

#[test]
fn a_screen_without_room_skips_pictures() {
    for state in [Acquired::Timeout, Acquired::Occluded] {
        let (calls, counts) = play(vec![vec![Answer::Acquire(state); 2]], 1);
        assert_eq!(calls, ["open", "acquire", "acquire", "acquire", "show"]);
        assert_eq!((counts.skipped, counts.lost, counts.opened), (2, 0, 1));
    }
}

#[test]
fn a_change_of_windows_is_no_failure() {
    let (calls, counts) = play(vec![vec![Answer::Acquire(Acquired::WindowsChanged)]], 1);
    assert_eq!(
        calls,
        ["open", "acquire", "drop", "open", "acquire", "show"]
    );
    assert_eq!((counts.opened, counts.lost, counts.skipped), (2, 0, 0));
}

#[test]
fn an_outdated_screen_is_configured_and_tried_again() {
    let (calls, counts) = play(vec![vec![Answer::Acquire(Acquired::Outdated)]], 1);
    assert_eq!(calls, ["open", "acquire", "configure", "acquire", "show"]);
    assert_eq!((counts.configured, counts.lost), (1, 0));
}

#[test]
fn a_screen_that_stays_outdated_is_opened_again() {
    let (_, counts) = play(vec![vec![Answer::Acquire(Acquired::Outdated); 50]], 1);
    assert_eq!((counts.opened, counts.lost), (2, 1));
    assert_eq!(counts.configured, u64::from(MAX_OUTDATED));
}

#[test]
fn a_lost_screen_or_device_is_closed_before_it_is_opened_again() {
    for state in [
        Answer::Acquire(Acquired::Lost),
        Answer::Acquire(Acquired::Validation),
        Answer::DeviceLost,
    ] {
        let (calls, counts) = play(vec![vec![state]], 1);
        assert_eq!(
            calls,
            ["open", "acquire", "drop", "open", "acquire", "show"]
        );
        assert_eq!((counts.opened, counts.lost), (2, 1));
    }
    let (calls, counts) = play(vec![vec![Answer::ShowFails]], 1);
    let expected = ["open", "acquire", "show", "drop", "open", "acquire", "show"];
    assert_eq!(calls, expected);
    assert_eq!((counts.opened, counts.lost), (2, 1));
}

#[test]
fn any_sequence_of_states_ends_in_pictures() {
    let states = [
        Answer::Acquire(Acquired::Suboptimal),
        Answer::Acquire(Acquired::Timeout),
        Answer::Acquire(Acquired::Occluded),
        Answer::Acquire(Acquired::Outdated),
        Answer::Acquire(Acquired::Lost),
        Answer::Acquire(Acquired::Validation),
        Answer::DeviceLost,
        Answer::ShowFails,
    ];
    for first in states {
        for second in states {
            let (_, counts) = play(vec![vec![first, second], vec![second, first]], 3);
            assert_eq!(counts.pictures, 3);
            assert_eq!(counts.opened, counts.lost + 1);
        }
    }
}

#[test]
fn a_screen_that_cannot_be_opened_is_tried_again_with_growing_pauses() {
    let mut attempts = 0;
    let mut open: ScreenOpener = Box::new(move || {
        attempts += 1;
        match attempts {
            1..=2 => Ok(None),
            3..=8 => Err(RenderError::NoAdapter("in a test".to_owned()).into()),
            _ => Ok(Some(Box::new(fake(Vec::new(), Log::default())))),
        }
    });
    let mut supervisor = ScreenSupervisor::new(&mut open, &Journal::default());
    let mut now = Instant::now();
    let mut waits = Vec::new();
    while let Readiness::Wait(wait) = supervisor.prepare(now).unwrap() {
        waits.push(wait.as_millis());
        now += wait;
    }
    assert_eq!(waits, [100, 100, 0, 50, 100, 200, 400, 800, 0]);
}

/// When a scene is saved, the screen is opened again. The flash limiter must know the last picture of the old screen.
#[test]
fn a_new_screen_continues_with_the_flash_state_and_quality_of_the_old_one() {
    let log = Log::default();
    let opened_log = Arc::clone(&log);
    let mut open: ScreenOpener =
        Box::new(move || Ok(Some(Box::new(fake(Vec::new(), Arc::clone(&opened_log))))));
    let mut supervisor = ScreenSupervisor::new(&mut open, &Journal::default());
    let mut now = Instant::now();
    let mut wait_until_ready = |supervisor: &mut ScreenSupervisor<'_>| {
        while let Readiness::Wait(wait) = supervisor.prepare(now).unwrap() {
            now += wait;
        }
        supervisor.status()
    };
    assert_eq!(wait_until_ready(&mut supervisor).dimmed, 0);
    for _ in 0..200 {
        supervisor.adapt_quality(Duration::from_millis(30), Duration::from_millis(16));
    }
    let scale = supervisor.status().scale;
    assert!(scale < 1.0);
    for reopened in 1..4 {
        supervisor.reopen();
        log.lock().unwrap().clear();
        let status = wait_until_ready(&mut supervisor);
        assert_eq!((status.dimmed, status.scale), (reopened, scale));
        assert_eq!(*log.lock().unwrap(), ["coarser", "acquire"]);
    }
}

#[test]
fn a_driver_that_always_loses_its_device_ends_the_program() {
    let mut open: ScreenOpener = Box::new(|| {
        Ok(Some(Box::new(fake(
            vec![Answer::DeviceLost],
            Log::default(),
        ))))
    });
    let mut supervisor = ScreenSupervisor::new(&mut open, &Journal::default());
    let mut now = Instant::now();
    let error = loop {
        match supervisor.prepare(now) {
            Ok(Readiness::Wait(wait)) => now += wait,
            Ok(Readiness::Draw) => panic!("a lost device draws nothing"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("lost 30 times"), "{error}");
}
