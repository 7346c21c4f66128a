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
    /// Whether the clock of the machine is known to be right.
    pub(super) is_clock_set: bool,
}

/// When something that was set by hand ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    ends: HandEnd,
    /// Its begin on the clock that never jumps; `None` if an earlier run of the program began it.
    begun: Option<Instant>,
    /// Its begin on the clock of the machine, for which the end was found.
    begin: Option<Timestamp>,
    /// Its end, if it has one.
    until: Option<Timestamp>,
    /// Whether a clock that is known to be right has found the end.
    is_certain: bool,
}

impl Hold {
    /// Begins now.
    pub(super) fn new(ends: HandEnd, now: Instant) -> Self {
        Self {
            ends,
            begun: Some(now),
            begin: None,
            until: None,
            is_certain: false,
        }
    }

    /// Continues what an earlier run of the program began.
    pub(super) fn continued(
        ends: HandEnd,
        begin: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Self {
        Self {
            ends,
            begun: None,
            begin,
            until,
            is_certain: true,
        }
    }

    /// Returns when it is to end.
    pub(super) fn ends(&self) -> HandEnd {
        self.ends
    }

    /// Returns its begin; `None` if that is not known yet.
    pub(super) fn begin(&self) -> Option<Timestamp> {
        self.begin
    }

    /// Returns its begin on the clock that never jumps.
    pub(super) fn began(&self, at: Moment) -> Instant {
        let age = self.begin.map(|begin| begin.duration_until(at.time));
        let age = age.and_then(|age| Duration::try_from(age).ok());
        let began = at.now.checked_sub(age.unwrap_or_default());
        self.begun.or(began).unwrap_or(at.now)
    }

    /// Returns its end; `None` if somebody has to end it, or if it is not known yet.
    pub(super) fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Finds its end if it is not known yet, and again if the clock is set meanwhile. Returns whether it is over. `end_of` returns
    /// the time for which an end stands that was set at a time.
    pub(super) fn follow(
        &mut self,
        at: Moment,
        end_of: impl FnOnce(HandEnd, Timestamp) -> Option<Timestamp>,
    ) -> bool {
        if self.until.is_none() && self.begun.is_none() {
            self.begun = Some(at.now);
        }
        let Some(begun) = self.begun else {
            return self.until.is_some_and(|until| at.time >= until);
        };
        let age = at.now.saturating_duration_since(begun);
        let begin = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
        let begin = at.time.saturating_sub(begin).unwrap_or(Timestamp::MIN);
        let is_same = |known: Timestamp| known.duration_until(begin).abs() <= CLOCK_SET;
        let is_shifted = !self.begin.is_some_and(is_same);
        if is_shifted {
            self.begin = Some(begin);
        }
        if let HandEnd::Secs(secs) = self.ends {
            if is_shifted {
                let secs = SignedDuration::from_secs(i64::from(secs));
                self.until = begin.saturating_add(secs).ok();
            }
            return age >= Duration::from_secs(u64::from(secs));
        }
        if self.until.is_none() {
            // A change that is planned later counts from when it is planned.
            self.until = end_of(self.ends, at.time);
        } else if is_shifted && !self.is_certain {
            self.until = end_of(self.ends, begin);
        }
        self.is_certain |= at.is_clock_set;
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
            is_clock_set: true,
        };
        let mut hold = Hold::new(HandEnd::Secs(600), begin);
        assert!(!hold.follow(at(0, "10:00:00"), |_, _| None));
        assert_eq!(hold.until(), Some(time("10:10:00")));
        // The network sets the clock five hours ahead.
        assert!(!hold.follow(at(60, "15:01:00"), |_, _| None));
        assert_eq!(hold.until(), Some(time("15:10:00")));
        assert!(!hold.follow(at(599, "15:09:59"), |_, _| None));
        assert!(hold.follow(at(600, "15:10:00"), |_, _| None));
    }

    #[test]
    fn an_end_is_found_once_and_one_without_lasts() {
        let begin = Instant::now();
        let at = |clock: &str| Moment {
            time: time(clock),
            now: begin,
            is_clock_set: true,
        };
        let mut hold = Hold::new(HandEnd::Tomorrow, begin);
        assert!(!hold.follow(at("10:00:00"), |_, _| Some(time("12:00:00"))));
        assert!(!hold.follow(at("11:59:59"), |_, _| Some(time("18:00:00"))));
        assert!(hold.follow(at("12:00:00"), |_, _| None));
        let mut endless = Hold::new(HandEnd::Never, begin);
        assert!(!endless.follow(at("23:59:59"), |_, _| None));
        assert_eq!(endless.until(), None);
        let mut continued = Hold::continued(HandEnd::Secs(600), None, Some(time("10:10:00")));
        assert!(!continued.follow(at("10:09:59"), |_, _| None));
        assert!(continued.follow(at("10:10:00"), |_, _| None));
    }

    /// A fixed bug: what was set "until tomorrow" by a clock that the network never sets had no end. If it is set after all, the end
    /// is that of the right time.
    #[test]
    fn an_end_by_a_clock_that_is_not_set_is_found_and_moves_when_it_is_set() {
        let begin = Instant::now();
        let at = |mins: u64, clock: &str, is_clock_set| Moment {
            time: time(clock),
            now: begin + Duration::from_secs(60 * mins),
            is_clock_set,
        };
        let next_hour = |_, from: Timestamp| Some(from + SignedDuration::from_hours(1));
        let mut hold = Hold::new(HandEnd::Tomorrow, begin);
        assert!(!hold.follow(at(0, "03:00:00", false), next_hour));
        assert_eq!(hold.until(), Some(time("04:00:00")));
        let mut unset = hold;
        assert!(unset.follow(at(60, "04:00:00", false), next_hour));
        // It is set to twenty o'clock after half an hour.
        assert!(!hold.follow(at(30, "20:00:00", true), next_hour));
        assert_eq!(hold.until(), Some(time("20:30:00")));
        // The machine slept: its clock is right, so the end stays.
        assert!(hold.follow(at(31, "21:00:00", true), next_hour));
    }
}
