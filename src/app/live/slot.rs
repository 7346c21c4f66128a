//! The hand-off between two threads: the latest wins. What nobody took is replaced, never queued.
//!
//! Values are exchanged, not copied: whoever puts one in gets another one's memory back, so that the steady state takes
//! no memory. The lock is held for one exchange only, so neither side waits for the other's work.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Room for one value on its way between threads.
#[derive(Debug, Default)]
pub struct Slot<T> {
    state: Mutex<State<T>>,
    fresh: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    newest: T,
    fresh: bool,
    replaced: u64,
}

impl<T> Slot<T> {
    /// Puts a value in and gives back the memory of another one, whose content means nothing.
    pub fn put(&self, value: &mut T) {
        let mut state = self.lock();
        std::mem::swap(&mut state.newest, value);
        state.replaced += u64::from(state.fresh);
        state.fresh = true;
        drop(state);
        self.fresh.notify_all();
    }

    /// Exchanges `value` for the newest one, waiting for it at most `wait`. False, and `value` as it was, when none came
    /// that was not taken before.
    pub fn take(&self, value: &mut T, wait: Duration) -> bool {
        let waited = self
            .fresh
            .wait_timeout_while(self.lock(), wait, |state| !state.fresh);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.fresh {
            return false;
        }
        state.fresh = false;
        std::mem::swap(&mut state.newest, value);
        true
    }

    /// How many values were replaced before anybody took them.
    pub fn replaced(&self) -> u64 {
        self.lock().replaced
    }

    /// A thread that panicked did so outside of an exchange: what is in here is whole.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_latest_wins_and_is_taken_once() {
        let slot = Slot::<u32>::default();
        let mut value = 0;
        assert!(!slot.take(&mut value, Duration::ZERO), "nothing was put in");
        for n in [7, 8, 9] {
            slot.put(&mut { n });
        }
        assert!(slot.take(&mut value, Duration::ZERO));
        assert_eq!((value, slot.replaced()), (9, 2));
        assert!(!slot.take(&mut value, Duration::ZERO), "taken twice");
        assert_eq!(value, 9, "what was held is lost");
    }

    #[test]
    fn memory_goes_around() {
        let slot = Slot::<Vec<u8>>::default();
        let mut written = Vec::with_capacity(64);
        let mut read = Vec::with_capacity(64);
        slot.put(&mut Vec::with_capacity(64));
        for _ in 0..10 {
            assert!(slot.take(&mut read, Duration::ZERO));
            assert!(read.capacity() >= 64);
            slot.put(&mut written);
            assert!(written.capacity() >= 64);
        }
    }

    #[test]
    fn who_waits_is_woken() {
        let slot = Arc::new(Slot::<u32>::default());
        let giver = Arc::clone(&slot);
        let thread = std::thread::spawn(move || giver.put(&mut 5));
        let mut value = 0;
        assert!(slot.take(&mut value, Duration::from_secs(60)));
        assert_eq!(value, 5);
        thread.join().unwrap();
    }

    #[test]
    fn a_fast_giver_never_waits_for_a_slow_taker() {
        let slot = Arc::new(Slot::<u64>::default());
        let giver = Arc::clone(&slot);
        let thread = std::thread::spawn(move || (1..=10_000).for_each(|n| giver.put(&mut { n })));
        let (mut value, mut last) = (0, 0);
        while last < 10_000 && slot.take(&mut value, Duration::from_secs(60)) {
            assert!(value > last, "{value} after {last}");
            last = value;
        }
        thread.join().unwrap();
        assert_eq!(last, 10_000);
    }
}
