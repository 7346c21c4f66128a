//! The end of something that an operator set by hand: a state of the show, a pause, a rehearsal.
//!
//! In: when it is to end, times. Out: whether it is over. Must not: ask a clock.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::control::HandEnd;

/// Difference from which the clock was set while a duration ran, so that its end has another time.
const CLOCK_SET: SignedDuration = SignedDuration::from_secs(5);

/// A point in time, on the clock of the machine and on one that never jumps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// On the clock of the machine.
    pub(super) time: Timestamp,
    /// On the clock that never jumps.
    pub(super) now: Instant,
}

/// When something that was set by hand ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    ends: HandEnd,
    /// Its end on the clock that never jumps, if it was set for a duration.
    deadline: Option<Instant>,
    /// Its end, if it is known.
    until: Option<Timestamp>,
}

impl Hold {
    /// Begins now.
    pub(super) fn new(ends: HandEnd, now: Instant) -> Self {
        let deadline = match ends {
            HandEnd::Secs(secs) => Some(now + Duration::from_secs(u64::from(secs))),
            HandEnd::NextChange | HandEnd::Tomorrow | HandEnd::Never => None,
        };
        Self {
            ends,
            deadline,
            until: None,
        }
    }

    /// Continues what an earlier run of the program began.
    pub(super) fn continued(ends: HandEnd, until: Option<Timestamp>) -> Self {
        Self {
            ends,
            deadline: None,
            until,
        }
    }

    /// Returns when it is to end.
    pub(super) fn ends(&self) -> HandEnd {
        self.ends
    }

    /// Returns its end; `None` if somebody has to end it, or if it is not known yet.
    pub(super) fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Finds its end if it is not known yet, and returns whether it is over. `end_of` returns the time for which an end stands.
    pub(super) fn follow(
        &mut self,
        at: Moment,
        end_of: impl FnOnce(HandEnd) -> Option<Timestamp>,
    ) -> bool {
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(at.now);
            let left = SignedDuration::try_from(left).unwrap_or(SignedDuration::MAX);
            let until = at.time.saturating_add(left).unwrap_or(Timestamp::MAX);
            let is_shifted = |known: Timestamp| known.duration_until(until).abs() > CLOCK_SET;
            if self.until.is_none_or(is_shifted) {
                self.until = Some(until);
            }
            return left.is_zero();
        }
        if self.until.is_none() {
            self.until = end_of(self.ends);
        }
        self.until.is_some_and(|until| at.time >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(clock: &str) -> Timestamp {
        format!("2026-06-01T{clock}Z").parse().unwrap()
    }

    #[test]
    fn a_duration_ends_after_it_although_the_clock_is_set_meanwhile() {
        let begin = Instant::now();
        let at = |secs: u64, clock: &str| Moment {
            time: time(clock),
            now: begin + Duration::from_secs(secs),
        };
        let mut hold = Hold::new(HandEnd::Secs(600), begin);
        assert!(!hold.follow(at(0, "10:00:00"), |_| None));
        assert_eq!(hold.until(), Some(time("10:10:00")));
        // The network sets the clock five hours ahead.
        assert!(!hold.follow(at(60, "15:01:00"), |_| None));
        assert_eq!(hold.until(), Some(time("15:10:00")));
        assert!(!hold.follow(at(599, "15:09:59"), |_| None));
        assert!(hold.follow(at(600, "15:10:00"), |_| None));
    }

    #[test]
    fn an_end_is_found_once_and_one_without_lasts() {
        let begin = Instant::now();
        let at = |clock: &str| Moment {
            time: time(clock),
            now: begin,
        };
        let mut hold = Hold::new(HandEnd::Tomorrow, begin);
        assert!(!hold.follow(at("10:00:00"), |_| Some(time("12:00:00"))));
        assert!(!hold.follow(at("11:59:59"), |_| Some(time("18:00:00"))));
        assert!(hold.follow(at("12:00:00"), |_| None));
        let mut endless = Hold::new(HandEnd::Never, begin);
        assert!(!endless.follow(at("23:59:59"), |_| None));
        assert_eq!(endless.until(), None);
        let mut continued = Hold::continued(HandEnd::Secs(600), Some(time("10:10:00")));
        assert!(!continued.follow(at("10:09:59"), |_| None));
        assert!(continued.follow(at("10:10:00"), |_| None));
    }
}
