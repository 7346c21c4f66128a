//! Decides when the next attempt after a failure is due, and when failures repeat too often.
//!
//! The caller reads a clock and passes the time to these functions; nothing in this file reads a clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::fault::SETTLE_TIME;

/// Pauses between attempts. The first pause is `first`; each further pause is twice as long as the previous one, up to `longest`.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    settle_time: Duration,
    /// Number of failures without a pause.
    immediate: u32,
    /// Number of failures in sequence.
    failures: u32,
    ready: Option<Instant>,
    well_since: Option<Instant>,
}

impl Backoff {
    /// Creates a backoff without failures.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            settle_time: SETTLE_TIME,
            immediate: 0,
            failures: 0,
            ready: None,
            well_since: None,
        }
    }

    /// Makes no pause after the first failure in a sequence; `first` is the pause after the second one.
    #[must_use]
    pub fn immediate_at_first(self) -> Self {
        Self {
            immediate: 1,
            ..self
        }
    }

    /// Starts the pauses again from the beginning after this time without a failure. The usual time is [`SETTLE_TIME`].
    #[must_use]
    pub fn settling_after(self, settle_time: Duration) -> Self {
        Self {
            settle_time,
            ..self
        }
    }

    /// Continues after this number of failures in sequence.
    #[must_use]
    pub fn after_failures(self, failures: u32) -> Self {
        Self { failures, ..self }
    }

    /// Returns the pause after the next failure.
    pub fn next_pause(&self) -> Duration {
        if self.failures < self.immediate {
            return Duration::ZERO;
        }
        let doublings = self.failures - self.immediate;
        let factor = 2_u32.saturating_pow(doublings);
        self.first.saturating_mul(factor).min(self.longest)
    }

    /// Returns the time until the next attempt; zero if the attempt may be made now.
    pub fn remaining(&self, now: Instant) -> Duration {
        self.ready
            .map_or(Duration::ZERO, |ready| ready.saturating_duration_since(now))
    }

    /// Records that an attempt failed, or that a resource that was open was lost. Returns the pause before the next attempt.
    pub fn record_failure(&mut self, now: Instant) -> Duration {
        let pause = self.next_pause();
        self.ready = Some(now + pause);
        self.failures = self.failures.saturating_add(1);
        self.well_since = None;
        pause
    }

    /// Records whether the resource works. If it works for the settle time, the next pause is the first one again.
    pub fn record_state(&mut self, is_well: bool, now: Instant) {
        if !is_well {
            self.well_since = None;
        } else if now.saturating_duration_since(*self.well_since.get_or_insert(now))
            >= self.settle_time
        {
            self.failures = 0;
        }
    }
}

/// Detects failures that repeat too often.
#[derive(Clone, Debug)]
pub struct FailureLimit {
    max: usize,
    window: Duration,
    times: VecDeque<Instant>,
}

impl FailureLimit {
    /// Creates a limit that is reached by `max` failures within `window`.
    pub fn new(max: usize, window: Duration) -> Self {
        Self {
            max,
            window,
            times: VecDeque::with_capacity(max),
        }
    }

    /// Records a failure. Returns true when the limit is reached.
    pub fn record(&mut self, now: Instant) -> bool {
        while self.times.len() >= self.max
            || (self.times.front()).is_some_and(|&t| now.saturating_duration_since(t) > self.window)
        {
            self.times.pop_front();
        }
        self.times.push_back(now);
        self.times.len() >= self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// The pauses after several failures in sequence.
    fn pauses(mut backoff: Backoff) -> [Duration; 5] {
        std::array::from_fn(|_| backoff.record_failure(Instant::now()))
    }

    #[test]
    fn pauses_grow_up_to_the_longest_one() {
        let backoff = Backoff::new(100 * MS, 300 * MS);
        assert_eq!(pauses(backoff), [100, 200, 300, 300, 300].map(|n| n * MS));
        let immediate = backoff.immediate_at_first();
        assert_eq!(pauses(immediate), [0, 100, 200, 300, 300].map(|n| n * MS));
        assert_eq!(backoff.after_failures(1).next_pause(), 200 * MS);
        assert_eq!(backoff.after_failures(u32::MAX).next_pause(), 300 * MS);
    }

    #[test]
    fn pauses_are_short_again_after_a_while_without_failure() {
        let start = Instant::now();
        let mut backoff = Backoff::new(100 * MS, 300 * MS).immediate_at_first();
        for _ in 0..5 {
            backoff.record_failure(start);
        }
        assert_eq!(backoff.remaining(start + 100 * MS), 200 * MS);
        assert_eq!(backoff.remaining(start + 300 * MS), Duration::ZERO);
        backoff.record_state(true, start + 300 * MS);
        // 100 ms without failure are too short to shorten the pauses.
        assert_eq!(backoff.record_failure(start + 400 * MS), 300 * MS);
        backoff.record_state(true, start + 1_000 * MS);
        backoff.record_state(false, start + 5_000 * MS);
        backoff.record_state(true, start + 6_000 * MS);
        // It did not work all the time.
        assert_eq!(backoff.next_pause(), 300 * MS);
        backoff.record_state(true, start + 11_000 * MS);
        assert_eq!(backoff.record_failure(start + 11_000 * MS), Duration::ZERO);
    }

    #[test]
    fn only_failures_within_the_window_count() {
        let start = Instant::now();
        let mut limit = FailureLimit::new(3, 100 * MS);
        assert!(!limit.record(start));
        assert!(!limit.record(start + 60 * MS));
        // The first one is outside the window.
        assert!(!limit.record(start + 120 * MS));
        assert!(limit.record(start + 150 * MS));
        assert!(limit.record(start + 151 * MS));
        assert!(!limit.record(start + 1_000 * MS));
    }
}
