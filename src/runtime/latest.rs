//! Passes values from one thread to another; the latest value wins. If a value was not taken in time, a newer value replaces
//! it, and values are never queued.
//!
//! Values are swapped, not copied: the sender gets the memory of an older value back, so no memory is allocated after the first
//! values. The lock is held only for the swap, so no thread waits for the work of the other.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// A slot for one value between two threads.
#[derive(Debug, Default)]
pub struct Latest<T> {
    state: Mutex<State<T>>,
    became_fresh: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    latest: T,
    /// Whether `latest` was put in and has not been taken yet.
    is_fresh: bool,
}

impl<T> Latest<T> {
    /// Puts a value into the slot. Afterwards `value` contains an older value, whose content is meaningless and whose memory
    /// can be reused.
    pub fn put(&self, value: &mut T) {
        let mut state = self.state.lock();
        std::mem::swap(&mut state.latest, value);
        state.is_fresh = true;
        drop(state);
        self.became_fresh.notify_all();
    }

    /// Swaps `value` with the latest value. Waits at most `wait` for a value that was not taken before. If there is none,
    /// returns false and leaves `value` unchanged.
    pub fn take(&self, value: &mut T, wait: Duration) -> bool {
        let mut state = self.state.lock();
        self.became_fresh
            .wait_while_for(&mut state, |state| !state.is_fresh, wait);
        if !state.is_fresh {
            return false;
        }
        state.is_fresh = false;
        std::mem::swap(&mut state.latest, value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_latest_value_wins_and_is_taken_once() {
        let slot = Latest::<u32>::default();
        let mut value = 0;
        assert!(!slot.take(&mut value, Duration::ZERO), "the slot is empty");
        for n in [7, 8, 9] {
            slot.put(&mut { n });
        }
        assert!(slot.take(&mut value, Duration::ZERO));
        assert_eq!(value, 9);
        assert!(!slot.take(&mut value, Duration::ZERO), "taken twice");
        assert_eq!(value, 9, "a take without a value changes nothing");
    }

    #[test]
    fn memory_is_used_again() {
        let slot = Latest::<Vec<u8>>::default();
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
    fn a_waiting_thread_is_woken() {
        let slot = Arc::new(Latest::<u32>::default());
        let sender = Arc::clone(&slot);
        let thread = std::thread::spawn(move || sender.put(&mut 5));
        let mut value = 0;
        assert!(slot.take(&mut value, Duration::from_secs(60)));
        assert_eq!(value, 5);
        thread.join().unwrap();
    }

    #[test]
    fn a_fast_sender_never_waits_for_a_slow_receiver() {
        let slot = Arc::new(Latest::<u64>::default());
        let sender = Arc::clone(&slot);
        let thread = std::thread::spawn(move || (1..=10_000).for_each(|n| sender.put(&mut { n })));
        let (mut value, mut last) = (0, 0);
        while last < 10_000 && slot.take(&mut value, Duration::from_secs(60)) {
            assert!(value > last, "{value} after {last}");
            last = value;
        }
        thread.join().unwrap();
        assert_eq!(last, 10_000);
    }
}
