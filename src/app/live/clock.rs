//! When things are due: ticks of the simulation, frames of the picture, the next attempt after a failure.
//!
//! All of it is arithmetic on moments that the caller reads from the monotonic clock; nothing here asks a clock.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// More than this behind, the simulation gives up what it owes: fish pause rather than hurry.
const MOST_DEBT: Duration = Duration::from_millis(100);

/// Fixed ticks on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct TickClock {
    next: Instant,
    step: Duration,
    /// How much time was given up.
    pub lost: Duration,
}

impl TickClock {
    /// The first tick is due at `start`.
    pub fn new(start: Instant, step: Duration) -> Self {
        Self {
            next: start,
            step,
            lost: Duration::ZERO,
        }
    }

    /// The moment of the tick that is due now, or how long until there is one.
    ///
    /// # Errors
    /// No error, but the time to wait.
    pub fn due(&mut self, now: Instant) -> Result<Instant, Duration> {
        if now < self.next {
            return Err(self.next - now);
        }
        let debt = now - self.next;
        if debt > MOST_DEBT.max(self.step * 2) {
            self.next = now;
            self.lost += debt;
        }
        let moment = self.next;
        self.next += self.step;
        Ok(moment)
    }
}

/// Keeps frames from coming faster than an interval, where the display itself does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Option<Instant>,
}

impl Pacer {
    /// How long to wait before the next frame may begin. A late frame is not made up for.
    pub fn pause(&mut self, now: Instant, interval: Duration) -> Duration {
        let due = self.next.unwrap_or(now);
        let begin = if now > due + interval { now } else { due };
        self.next = Some(begin + interval);
        due.saturating_duration_since(now)
    }
}

/// Pauses between attempts: at once the first time, then `first`, then twice as long each time up to `longest`.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    pause: Duration,
    ready: Option<Instant>,
    settles: Option<Instant>,
}

/// What has lasted this long counts as mended.
const SETTLED_AFTER: Duration = Duration::from_secs(5);

impl Backoff {
    /// Nothing has failed yet.
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            pause: Duration::ZERO,
            ready: None,
            settles: None,
        }
    }

    /// Time left until the next attempt; zero when it may be made.
    pub fn wait(&self, now: Instant) -> Duration {
        self.ready
            .map_or(Duration::ZERO, |ready| ready.saturating_duration_since(now))
    }

    /// An attempt failed, or what had been opened broke.
    pub fn fail(&mut self, now: Instant) {
        self.ready = Some(now + self.pause);
        self.pause = (self.pause * 2).clamp(self.first, self.longest);
        self.settles = None;
    }

    /// All is well now; when it stays so for a while, pauses begin with the first one again.
    pub fn well(&mut self, now: Instant) {
        let settles = *self.settles.get_or_insert(now + SETTLED_AFTER);
        if now >= settles {
            self.pause = Duration::ZERO;
        }
    }
}

/// How often something may happen within some time.
#[derive(Clone, Debug)]
pub struct Budget {
    most: usize,
    within: Duration,
    times: VecDeque<Instant>,
}

impl Budget {
    /// `most` times within a time are too many.
    pub fn new(most: usize, within: Duration) -> Self {
        Self {
            most,
            within,
            times: VecDeque::with_capacity(most),
        }
    }

    /// Notes that it happened; true when it has happened too often.
    pub fn spend(&mut self, now: Instant) -> bool {
        while self.times.len() >= self.most
            || (self.times.front()).is_some_and(|&t| now.saturating_duration_since(t) > self.within)
        {
            self.times.pop_front();
        }
        self.times.push_back(now);
        self.times.len() >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn ticks_keep_their_rate_however_they_are_asked() {
        let start = Instant::now();
        let mut clock = TickClock::new(start, 10 * MS);
        assert_eq!(clock.due(start), Ok(start));
        assert_eq!(clock.due(start + 4 * MS), Err(6 * MS));
        // 35 ms late by three ticks: made up for, each with its own moment.
        for n in 1..=3 {
            assert_eq!(clock.due(start + 35 * MS), Ok(start + 10 * n * MS));
        }
        assert_eq!(clock.due(start + 35 * MS), Err(5 * MS));
        assert_eq!(clock.lost, Duration::ZERO);
    }

    #[test]
    fn a_long_stall_is_not_made_up_for() {
        let start = Instant::now();
        let mut clock = TickClock::new(start, 10 * MS);
        let later = start + 3_600_000 * MS;
        assert_eq!(clock.due(later), Ok(later));
        assert_eq!(clock.due(later), Err(10 * MS));
        assert_eq!(clock.lost, 3_600_000 * MS);
        // A tick that is longer than the debt allowed is still no stall.
        let mut slow = TickClock::new(start, 200 * MS);
        assert_eq!(slow.due(start + 150 * MS), Ok(start));
    }

    #[test]
    fn frames_come_no_faster_than_their_interval_and_never_hurry() {
        let start = Instant::now();
        let mut pacer = Pacer::default();
        assert_eq!(pacer.pause(start, 10 * MS), Duration::ZERO);
        assert_eq!(pacer.pause(start + 2 * MS, 10 * MS), 8 * MS);
        assert_eq!(pacer.pause(start + 13 * MS, 10 * MS), 7 * MS);
        // A frame that took 100 ms, then fast ones again.
        assert_eq!(pacer.pause(start + 113 * MS, 10 * MS), Duration::ZERO);
        assert_eq!(pacer.pause(start + 114 * MS, 10 * MS), 9 * MS);
    }

    #[test]
    fn pauses_grow_and_begin_anew_after_a_while() {
        let start = Instant::now();
        let mut backoff = Backoff::new(100 * MS, 300 * MS);
        let mut pauses = Vec::new();
        for _ in 0..5 {
            backoff.fail(start);
            pauses.push(backoff.wait(start));
        }
        assert_eq!(pauses, [0, 100, 200, 300, 300].map(|n| n * MS));
        assert_eq!(backoff.wait(start + 300 * MS), Duration::ZERO);
        backoff.well(start + 300 * MS);
        backoff.fail(start + 400 * MS);
        assert_eq!(
            backoff.wait(start + 400 * MS),
            300 * MS,
            "not well for long"
        );
        backoff.well(start + 1_000 * MS);
        backoff.well(start + 6_000 * MS);
        backoff.fail(start + 6_000 * MS);
        assert_eq!(backoff.wait(start + 6_000 * MS), Duration::ZERO);
    }

    #[test]
    fn too_often_is_within_the_time_only() {
        let start = Instant::now();
        let mut budget = Budget::new(3, 100 * MS);
        assert!(!budget.spend(start));
        assert!(!budget.spend(start + 60 * MS));
        assert!(!budget.spend(start + 120 * MS), "the first is long ago");
        assert!(budget.spend(start + 150 * MS));
        assert!(budget.spend(start + 151 * MS));
        assert!(!budget.spend(start + 1_000 * MS));
    }
}
