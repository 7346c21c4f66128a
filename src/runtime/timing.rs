//! Decides when an action is due: a tick of the simulation, or a frame of the picture.
//!
//! The caller reads the monotonic clock and passes the time to these functions; nothing in this file reads a clock.

use std::time::{Duration, Instant};

/// Largest lateness of the simulation. If it is later, the overdue ticks are dropped: the fish pause instead of moving too
/// fast.
const MAX_LATENESS: Duration = Duration::from_millis(100);

/// The schedule of the fixed simulation ticks.
#[derive(Clone, Copy, Debug)]
pub struct TickClock {
    next: Instant,
    tick: Duration,
    /// Total duration of the ticks that were dropped.
    pub dropped: Duration,
}

/// Whether a tick is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickDue {
    /// A tick is due now. It was scheduled for the contained time.
    Now(Instant),
    /// The next tick is due after this pause.
    After(Duration),
}

impl TickClock {
    /// Creates a schedule whose first tick is due at `start`.
    pub fn new(start: Instant, tick: Duration) -> Self {
        Self {
            next: start,
            tick,
            dropped: Duration::ZERO,
        }
    }

    /// Makes the next tick due at `now`. The time without ticks counts as no lateness.
    pub fn restart(&mut self, now: Instant) {
        self.next = now;
    }

    /// Removes the next tick from the schedule if it is due at `now`.
    pub fn take_due(&mut self, now: Instant) -> TickDue {
        if now < self.next {
            return TickDue::After(self.next - now);
        }
        let lateness = now - self.next;
        if lateness > MAX_LATENESS.max(self.tick * 2) {
            self.next = now;
            self.dropped += lateness;
        }
        let scheduled = self.next;
        self.next += self.tick;
        TickDue::Now(scheduled)
    }
}

/// Limits the frame rate, for displays that do not limit it themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct FramePacer {
    next: Option<Instant>,
}

impl FramePacer {
    /// Returns the pause before the next frame may start. A late frame does not shorten the pauses of later frames.
    pub fn pause(&mut self, now: Instant, interval: Duration) -> Duration {
        let due = self.next.unwrap_or(now);
        let start = if now > due + interval { now } else { due };
        self.next = Some(start + interval);
        due.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn late_ticks_are_caught_up_one_by_one() {
        let start = Instant::now();
        let mut clock = TickClock::new(start, 10 * MS);
        assert_eq!(clock.take_due(start), TickDue::Now(start));
        assert_eq!(clock.take_due(start + 4 * MS), TickDue::After(6 * MS));
        // The caller is 35 ms late, so three ticks are overdue. Each is returned with its own scheduled time.
        for n in 1..=3 {
            let scheduled = start + 10 * n * MS;
            assert_eq!(clock.take_due(start + 35 * MS), TickDue::Now(scheduled));
        }
        assert_eq!(clock.take_due(start + 35 * MS), TickDue::After(5 * MS));
        assert_eq!(clock.dropped, Duration::ZERO);
    }

    #[test]
    fn the_ticks_of_a_long_stall_are_dropped() {
        let start = Instant::now();
        let mut clock = TickClock::new(start, 10 * MS);
        let later = start + 3_600_000 * MS;
        assert_eq!(clock.take_due(later), TickDue::Now(later));
        assert_eq!(clock.take_due(later), TickDue::After(10 * MS));
        assert_eq!(clock.dropped, 3_600_000 * MS);
        // If ticks take 200 ms, a lateness of 150 ms is below the limit of two ticks, so no tick is dropped.
        let mut slow = TickClock::new(start, 200 * MS);
        assert_eq!(slow.take_due(start + 150 * MS), TickDue::Now(start));
    }

    #[test]
    fn frames_keep_their_interval_and_are_never_hurried() {
        let start = Instant::now();
        let mut pacer = FramePacer::default();
        assert_eq!(pacer.pause(start, 10 * MS), Duration::ZERO);
        assert_eq!(pacer.pause(start + 2 * MS, 10 * MS), 8 * MS);
        assert_eq!(pacer.pause(start + 13 * MS, 10 * MS), 7 * MS);
        // One frame takes 100 ms. The next frames are fast again.
        assert_eq!(pacer.pause(start + 113 * MS, 10 * MS), Duration::ZERO);
        assert_eq!(pacer.pause(start + 114 * MS, 10 * MS), 9 * MS);
    }
}
