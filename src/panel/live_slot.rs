//! A slot through which a stage shows its newest value to the panel: a camera picture, an output, the agents.
//!
//! The stage pays only while a client watches, and at most once per interval: [`LiveSlot::is_due`] is one atomic read
//! otherwise. It never waits: if the panel is reading, the value of this moment is left out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::MappedMutexGuard;

use crate::runtime::Latest;

/// Time for which a stage goes on filling after the panel last asked for values. The panel asks every 50 ms while a client waits
/// for the next value, later if the machine is busy.
const WANTED_FOR: Duration = Duration::from_millis(300);
/// Shortest time between two values.
const INTERVAL: Duration = Duration::from_millis(95);

/// The slot. `T` is filled in place, so its memory is used again.
#[derive(Debug)]
pub struct LiveSlot<T> {
    start: Instant,
    /// Time until which values are wanted, in milliseconds since `start`.
    wanted_until_ms: AtomicU64,
    /// Time from which the next value is due, in milliseconds since `start`.
    due_ms: AtomicU64,
    newest: Latest<Timed<T>>,
}

/// A value and the time at which it was filled.
#[derive(Debug, Default)]
struct Timed<T> {
    at: Option<Instant>,
    value: T,
}

impl<T: Default> Default for LiveSlot<T> {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            wanted_until_ms: AtomicU64::new(0),
            due_ms: AtomicU64::new(0),
            newest: Latest::default(),
        }
    }
}

impl<T> LiveSlot<T> {
    fn ms(&self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.start);
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether a client watches.
    pub fn is_wanted(&self, now: Instant) -> bool {
        let wanted_until = self.wanted_until_ms.load(Ordering::Relaxed);
        wanted_until != 0 && self.ms(now) < wanted_until
    }

    /// Whether the stage should fill the slot now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.is_wanted(now) && self.ms(now) >= self.due_ms.load(Ordering::Relaxed)
    }

    /// Fills the slot. Leaves it out if the panel is reading at this moment.
    pub fn fill(&self, now: Instant, write: impl FnOnce(&mut T)) {
        let is_filled = self.newest.try_fill(|newest| {
            write(&mut newest.value);
            newest.at = Some(now);
        });
        if is_filled {
            let due = self.ms(now + INTERVAL);
            self.due_ms.store(due, Ordering::Relaxed);
        }
    }

    /// Asks the stage for values.
    pub(crate) fn want(&self, now: Instant) {
        let until = self.ms(now + WANTED_FOR);
        self.wanted_until_ms.store(until, Ordering::Relaxed);
    }

    /// Returns the number of the newest value and the time at which it was filled.
    pub(crate) fn newest(&self) -> (u64, Option<Instant>) {
        (self.newest.number(), self.newest.read().at)
    }

    /// Returns the newest value. The stage leaves out values while it is read.
    pub(crate) fn read(&self) -> impl std::ops::Deref<Target = T> + '_ {
        MappedMutexGuard::map(self.newest.read(), |newest| &mut newest.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_fills_only_what_somebody_watches_and_not_too_often() {
        let slot = LiveSlot::<u32>::default();
        let now = Instant::now() + Duration::from_secs(1);
        assert!(!slot.is_due(now));
        slot.want(now);
        assert!(slot.is_due(now));
        slot.fill(now, |value| *value += 7);
        assert!(!slot.is_due(now + Duration::from_millis(50)));
        assert!(slot.is_due(now + Duration::from_millis(100)));
        assert!(!slot.is_due(now + WANTED_FOR), "nobody watches");
        assert_eq!((slot.newest(), *slot.read()), ((1, Some(now)), 7));
    }

    #[test]
    fn a_stage_never_waits_for_the_panel() {
        let slot = LiveSlot::<u32>::default();
        let read = slot.read();
        slot.fill(Instant::now(), |value| *value = 1);
        assert_eq!(*read, 0);
        drop(read);
        assert_eq!(slot.newest().0, 0);
    }
}
