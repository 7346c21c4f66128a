//! The screen's failures, with fakes for every state that a driver knows.

use super::*;
use crate::render::{Quality, RenderError};
use crate::world::Snapshot;
use std::sync::Mutex;

/// What the fake screens have been asked for, in order.
type Log = Arc<Mutex<Vec<&'static str>>>;

/// A screen that answers as it is told, then is always ready.
struct FakeScreen {
    answers: std::vec::IntoIter<Answer>,
    log: Log,
    show_fails: bool,
    /// One more with every screen that was given up before.
    seen: Vec<FlashState>,
}

#[derive(Clone, Copy)]
enum Answer {
    Says(Acquired),
    DeviceLost,
    ShowFails,
}

fn fake(answers: Vec<Answer>, log: Log) -> FakeScreen {
    FakeScreen {
        answers: answers.into_iter(),
        log,
        show_fails: false,
        seen: Vec::new(),
    }
}

fn lost() -> RenderError {
    RenderError::Device("lost in a test".to_owned())
}

impl Presenter for FakeScreen {
    fn acquire(&mut self) -> Result<Acquired, RenderError> {
        self.log.lock().unwrap().push("acquire");
        match self.answers.next() {
            Some(Answer::Says(acquired)) => Ok(acquired),
            Some(Answer::DeviceLost) => Err(lost()),
            Some(Answer::ShowFails) => {
                self.show_fails = true;
                Ok(Acquired::Ready)
            }
            None => Ok(Acquired::Ready),
        }
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

    fn set_quality(&mut self, quality: Quality) {
        if quality != Quality::FULL {
            self.log.lock().unwrap().push("coarser");
        }
    }

    fn flash_states(&self, into: &mut Vec<FlashState>) {
        into.clone_from(&self.seen);
        into.push(FlashState::default());
    }

    fn resume_flash_states(&mut self, seen: &[FlashState]) {
        self.seen = seen.to_vec();
    }

    fn flash_limit_count(&self) -> u64 {
        self.seen.len() as u64
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

/// Runs through `rounds` pictures on screens that give these answers, the first screen first; says what was asked.
fn played(answers: Vec<Vec<Answer>>, rounds: u64) -> (Vec<&'static str>, Shown) {
    let log = Log::default();
    let (opened, mut screens) = (Arc::clone(&log), answers.into_iter());
    let mut open: Opener = Box::new(move || {
        opened.lock().unwrap().push("open");
        let answers = screens.next().unwrap_or_default();
        Ok(Some(Box::new(fake(answers, Arc::clone(&opened)))))
    });
    let shown = {
        let mut show = Show::new(&mut open);
        let mut now = Instant::now();
        while show.shown().pictures < rounds {
            match show.prepare(now).unwrap() {
                Next::Draw => {
                    show.draw(&Moment::default(), now).unwrap();
                    now += Duration::from_millis(16);
                }
                Next::Wait(wait) => now += wait,
            }
        }
        show.shown()
    };
    let mut said = std::mem::take(&mut *log.lock().unwrap());
    assert_eq!(said.pop(), Some("drop"), "the last screen is given up");
    (said, shown)
}

#[test]
fn a_ready_screen_shows() {
    let (said, shown) = played(vec![vec![]], 2);
    assert_eq!(said, ["open", "acquire", "show", "acquire", "show"]);
    assert_eq!((shown.opened, shown.skipped, shown.lost), (1, 0, 0));
}

#[test]
fn a_suboptimal_screen_shows_and_is_configured() {
    let (said, shown) = played(vec![vec![Answer::Says(Acquired::Suboptimal)]], 2);
    assert_eq!(
        said,
        ["open", "acquire", "show", "configure", "acquire", "show"]
    );
    assert_eq!((shown.configured, shown.skipped, shown.lost), (1, 0, 0));
}

#[test]
fn a_screen_without_room_leaves_pictures_out() {
    for state in [Acquired::Timeout, Acquired::Occluded] {
        let (said, shown) = played(vec![vec![Answer::Says(state); 2]], 1);
        assert_eq!(said, ["open", "acquire", "acquire", "acquire", "show"]);
        assert_eq!((shown.skipped, shown.lost, shown.opened), (2, 0, 1));
    }
}

#[test]
fn other_windows_are_no_failure() {
    let (said, shown) = played(vec![vec![Answer::Says(Acquired::WindowsChanged)]], 1);
    assert_eq!(said, ["open", "acquire", "drop", "open", "acquire", "show"]);
    assert_eq!((shown.opened, shown.lost, shown.skipped), (2, 0, 0));
}

#[test]
fn an_outdated_screen_is_configured_and_asked_again() {
    let (said, shown) = played(vec![vec![Answer::Says(Acquired::Outdated)]], 1);
    assert_eq!(said, ["open", "acquire", "configure", "acquire", "show"]);
    assert_eq!((shown.configured, shown.lost), (1, 0));
}

#[test]
fn a_screen_that_stays_outdated_is_made_anew() {
    let (_, shown) = played(vec![vec![Answer::Says(Acquired::Outdated); 50]], 1);
    assert_eq!((shown.opened, shown.lost), (2, 1));
    assert_eq!(shown.configured, u64::from(MOST_OUTDATED));
}

#[test]
fn a_lost_screen_or_device_is_given_up_before_it_is_made_anew() {
    for state in [
        Answer::Says(Acquired::Lost),
        Answer::Says(Acquired::Validation),
        Answer::DeviceLost,
    ] {
        let (said, shown) = played(vec![vec![state]], 1);
        assert_eq!(said, ["open", "acquire", "drop", "open", "acquire", "show"]);
        assert_eq!((shown.opened, shown.lost), (2, 1));
    }
    let (said, shown) = played(vec![vec![Answer::ShowFails]], 1);
    let expected = ["open", "acquire", "show", "drop", "open", "acquire", "show"];
    assert_eq!(said, expected);
    assert_eq!((shown.opened, shown.lost), (2, 1));
}

#[test]
fn any_row_of_states_ends_in_pictures() {
    let states = [
        Answer::Says(Acquired::Suboptimal),
        Answer::Says(Acquired::Timeout),
        Answer::Says(Acquired::Occluded),
        Answer::Says(Acquired::Outdated),
        Answer::Says(Acquired::Lost),
        Answer::Says(Acquired::Validation),
        Answer::DeviceLost,
        Answer::ShowFails,
    ];
    for first in states {
        for second in states {
            let (_, shown) = played(vec![vec![first, second], vec![second, first]], 3);
            assert_eq!(shown.pictures, 3);
            assert_eq!(shown.opened, shown.lost + 1);
        }
    }
}

#[test]
fn a_screen_that_cannot_be_made_is_tried_again_with_growing_pauses() {
    let mut attempts = 0;
    let mut open: Opener = Box::new(move || {
        attempts += 1;
        match attempts {
            1..=2 => Ok(None),
            3..=8 => Err(RenderError::NoAdapter("in a test".to_owned()).into()),
            _ => Ok(Some(Box::new(fake(Vec::new(), Log::default())))),
        }
    });
    let mut show = Show::new(&mut open);
    let mut now = Instant::now();
    let mut waits = Vec::new();
    while let Next::Wait(wait) = show.prepare(now).unwrap() {
        waits.push(wait.as_millis());
        now += wait;
    }
    assert_eq!(waits, [100, 100, 0, 50, 100, 200, 400, 800, 0]);
}

/// A designer's save renews the picture; the limiter must know what was shown before.
#[test]
fn another_screen_goes_on_where_the_last_one_stopped() {
    let log = Log::default();
    let opened_log = Arc::clone(&log);
    let mut open: Opener =
        Box::new(move || Ok(Some(Box::new(fake(Vec::new(), Arc::clone(&opened_log))))));
    let mut show = Show::new(&mut open);
    let mut now = Instant::now();
    let mut opened = |show: &mut Show<'_>| {
        while let Next::Wait(wait) = show.prepare(now).unwrap() {
            now += wait;
        }
        show.status()
    };
    assert_eq!(opened(&mut show).dimmed, 0);
    for _ in 0..200 {
        show.govern(Duration::from_millis(30), Duration::from_millis(16));
    }
    let scale = show.status().scale;
    assert!(scale < 1.0);
    for renewed in 1..4 {
        show.renew();
        log.lock().unwrap().clear();
        let status = opened(&mut show);
        assert_eq!((status.dimmed, status.scale), (renewed, scale));
        assert_eq!(*log.lock().unwrap(), ["coarser", "acquire"]);
    }
}

#[test]
fn a_driver_that_does_not_come_back_ends_the_program() {
    let mut open: Opener = Box::new(|| {
        Ok(Some(Box::new(fake(
            vec![Answer::DeviceLost],
            Log::default(),
        ))))
    });
    let mut show = Show::new(&mut open);
    let mut now = Instant::now();
    let error = loop {
        match show.prepare(now) {
            Ok(Next::Wait(wait)) => now += wait,
            Ok(Next::Draw) => panic!("nothing can be drawn"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("lost 30 times"), "{error}");
}
