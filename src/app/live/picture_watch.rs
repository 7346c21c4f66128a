//! Watches whether pictures are drawn at the rate that the monitors want.
//!
//! In: facts about the picture, some times a second. Out: the faults `picture` (none is drawn), `picture_slow` and
//! `picture_by_processor`. Must not: ask why a picture is missing; the screen says it.

use std::time::{Duration, Instant};

use crate::control::Journal;
use crate::runtime::Fault;

/// Time without a picture from which this is a fault. Opening a screen takes up to 10 s on a slow machine.
const MISSING_AFTER: Duration = Duration::from_secs(15);
/// Share of the wanted rate below which the picture stutters visibly.
const SLOW_SHARE: f64 = 0.75;
/// Share of the wanted rate above which it no longer does.
const FLUENT_SHARE: f64 = 0.85;
/// Time for which the picture has to stutter, so that a start or a new scene is no fault.
const SLOW_AFTER: Duration = Duration::from_secs(20);

/// What is known about the picture.
pub(crate) struct PictureFacts {
    /// Whether a lit picture is to be shown.
    pub(crate) is_wanted: bool,
    /// Time at which the last picture was drawn.
    pub(crate) last_picture: Option<Instant>,
    /// Pictures per second, averaged over a minute.
    pub(crate) fps: f64,
    /// Pictures per second that the monitors can show.
    pub(crate) wanted_fps: f64,
    /// Whether the processor draws the picture.
    pub(crate) is_by_processor: bool,
    /// Why there is no display; empty if unknown.
    pub(crate) missing: String,
    /// Whether the screen itself reports that there is no picture.
    pub(crate) other_fault: bool,
}

/// The faults of the picture.
pub(crate) struct PictureWatch {
    missing: Fault,
    slow: Fault,
    by_processor: Fault,
    /// Time since which a picture is wanted.
    wanted_since: Option<Instant>,
    /// Time since which the picture stutters.
    slow_since: Option<Instant>,
    /// The time of the last call.
    last: Instant,
}

impl PictureWatch {
    pub(crate) fn new(journal: &Journal, now: Instant) -> Self {
        Self {
            missing: journal.fault("picture"),
            slow: journal.fault("picture_slow"),
            by_processor: journal.fault("picture_by_processor"),
            wanted_since: None,
            slow_since: None,
            last: now,
        }
    }

    /// Begins and ends the faults.
    pub(crate) fn observe(&mut self, facts: &PictureFacts, now: Instant) {
        // A program that was stopped for a while has drawn nothing meanwhile, and that is no fault of the picture.
        let was_stopped = now.saturating_duration_since(self.last) > MISSING_AFTER / 2;
        self.last = now;
        if !facts.is_wanted || was_stopped {
            self.wanted_since = None;
            self.slow_since = None;
            self.missing.clear();
            self.slow.clear();
            if !facts.is_wanted {
                return;
            }
        }
        let wanted_since = *self.wanted_since.get_or_insert(now);
        let last_sign = (facts.last_picture).map_or(wanted_since, |at| at.max(wanted_since));
        let without = now.saturating_duration_since(last_sign);
        if without >= MISSING_AFTER && (self.missing.is_present() || !facts.other_fault) {
            self.report_missing(facts);
        } else if without < MISSING_AFTER {
            self.missing.clear();
        }
        self.observe_rate(facts, without < MISSING_AFTER, now);
        match facts.is_by_processor {
            true if !self.by_processor.is_present() => {
                self.by_processor.raise(
                    &"the processor draws the picture, because there is no graphics driver; install the driver of the \
                      graphics card",
                );
            }
            true => {}
            false => self.by_processor.clear(),
        }
    }

    fn report_missing(&mut self, facts: &PictureFacts) {
        if self.missing.is_present() {
            return;
        }
        let detail = match facts.missing.as_str() {
            "" => "no picture is drawn; look at monitors, cables and the log",
            missing => missing,
        };
        self.missing
            .raise(&format!("there is no picture: {detail}"));
    }

    fn observe_rate(&mut self, facts: &PictureFacts, is_drawn: bool, now: Instant) {
        let share = match facts.wanted_fps > 0.0 && is_drawn && facts.last_picture.is_some() {
            true => facts.fps / facts.wanted_fps,
            false => 1.0,
        };
        let limit = match self.slow.is_present() {
            true => FLUENT_SHARE,
            false => SLOW_SHARE,
        };
        if share >= limit {
            self.slow_since = None;
            self.slow.clear();
            return;
        }
        let since = *self.slow_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= SLOW_AFTER && !self.slow.is_present() {
            self.slow.raise(&format!(
                "the picture stutters: {:.0} of {:.0} pictures/s",
                facts.fps, facts.wanted_fps
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fluent(now: Instant) -> PictureFacts {
        PictureFacts {
            is_wanted: true,
            last_picture: Some(now),
            fps: 59.0,
            wanted_fps: 60.0,
            is_by_processor: false,
            missing: String::new(),
            other_fault: false,
        }
    }

    /// Returns the details of the active faults after these seconds, one observation each.
    fn watched(
        secs: std::ops::Range<u64>,
        facts: impl Fn(Instant, u64) -> PictureFacts,
    ) -> Vec<String> {
        let journal = Journal::default();
        let begin = Instant::now();
        let mut watch = PictureWatch::new(&journal, begin);
        for sec in secs {
            let now = begin + Duration::from_secs(sec);
            watch.observe(&facts(now, sec), now);
        }
        let faults = journal.faults().into_iter();
        faults
            .map(|fault| format!("{}: {}", fault.name, fault.detail))
            .collect()
    }

    /// A fixed bug: without a display, or after the X server died, the status said that all was well.
    #[test]
    fn a_picture_that_is_not_drawn_is_a_fault_with_its_reason() {
        let none = |now, _| PictureFacts {
            last_picture: None,
            missing: "DISPLAY is not set".to_owned(),
            ..fluent(now)
        };
        assert_eq!(watched(0..14, none), Vec::<String>::new());
        let found = watched(0..20, none);
        assert_eq!(found, ["picture: there is no picture: DISPLAY is not set"]);
        let until = |limit: u64| {
            move |now: Instant, sec: u64| PictureFacts {
                last_picture: Some(now - Duration::from_secs(sec.saturating_sub(limit))),
                ..fluent(now)
            }
        };
        assert_eq!(watched(0..60, until(30)).len(), 1);
        assert_eq!(watched(0..40, until(30)).len(), 0);
        // A closed pool needs no picture, and projectors may be off.
        let closed = |now, sec| PictureFacts {
            is_wanted: false,
            ..none(now, sec)
        };
        assert_eq!(watched(0..60, closed).len(), 0);
    }

    /// A fixed bug: 6 pictures per second, drawn by the processor, were no fault.
    #[test]
    fn a_picture_that_stutters_or_is_drawn_by_the_processor_is_a_fault() {
        let slow = |now, _| PictureFacts {
            fps: 5.6,
            is_by_processor: true,
            ..fluent(now)
        };
        let found = watched(0..30, slow);
        assert!(found[0].starts_with("picture_by_processor: "), "{found:?}");
        assert_eq!(
            found[1],
            "picture_slow: the picture stutters: 6 of 60 pictures/s"
        );
        let soon_fluent = |now, sec| match sec {
            0..19 => slow(now, sec),
            _ => fluent(now),
        };
        assert_eq!(watched(0..60, soon_fluent), Vec::<String>::new());
    }
}
