//! Passes values from one thread to another; the latest value wins. If a value was not taken in time, a newer value replaces
//! it, and values are never queued.
//!
//! Values are swapped or filled in place, not copied: the sender gets the memory of an older value back, so no memory is allocated
//! after the first values. The lock is held only for the swap, so no thread waits for the work of the other.

use std::time::Duration;

use parking_lot::{Condvar, MappedMutexGuard, Mutex, MutexGuard};

/// A slot for one value between two threads.
#[derive(Debug, Default)]
pub struct Latest<T> {
    state: Mutex<State<T>>,
    /// Notified when a value was put in, or the slot was closed.
    became_fresh: Condvar,
    /// Notified when a value was taken.
    was_taken: Condvar,
}

#[derive(Debug, Default)]
struct State<T> {
    latest: T,
    /// Number of values that were put in.
    number: u64,
    /// Whether `latest` was put in and has not been taken yet.
    is_fresh: bool,
    is_closed: bool,
}

impl<T> Latest<T> {
    /// Puts a value into the slot. Afterwards `value` contains an older value, whose content is meaningless and whose memory
    /// can be reused.
    pub fn put(&self, value: &mut T) {
        self.fill(|latest| std::mem::swap(latest, value));
    }

    /// Puts a value into the slot: `write` changes an older value into the new one. Returns whether it replaces a value that was not
    /// taken.
    pub fn fill(&self, write: impl FnOnce(&mut T)) -> bool {
        self.fill_locked(self.state.lock(), write)
    }

    /// Does the same as [`Self::fill`], but leaves the value out and returns false if the slot is being read.
    pub fn try_fill(&self, write: impl FnOnce(&mut T)) -> bool {
        let state = self.state.try_lock();
        let is_free = state.is_some();
        if let Some(state) = state {
            self.fill_locked(state, write);
        }
        is_free
    }

    fn fill_locked(&self, mut state: MutexGuard<'_, State<T>>, write: impl FnOnce(&mut T)) -> bool {
        write(&mut state.latest);
        state.number += 1;
        let is_replaced = std::mem::replace(&mut state.is_fresh, true);
        drop(state);
        self.became_fresh.notify_all();
        is_replaced
    }

    /// Swaps `value` with the latest value. Waits at most `wait` for a value that was not taken before. If there is none,
    /// returns false and leaves `value` unchanged.
    pub fn take(&self, value: &mut T, wait: Duration) -> bool {
        let taken = self.take_with(wait, |latest| std::mem::swap(latest, value));
        taken.is_some()
    }

    /// Does the same as [`Self::take`], but calls `read` with the value. Returns its result; `None` if there is no value.
    pub fn take_with<R>(&self, wait: Duration, read: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut state = self.wait_for_fresh(wait);
        if !std::mem::take(&mut state.is_fresh) {
            return None;
        }
        let result = read(&mut state.latest);
        drop(state);
        self.was_taken.notify_all();
        Some(result)
    }

    /// Waits at most `wait` for a value that was not taken before. Returns false if there is none.
    pub fn wait(&self, wait: Duration) -> bool {
        self.wait_for_fresh(wait).is_fresh
    }

    /// Waits at most `wait` until the latest value is taken. Returns false if it is not.
    pub fn wait_until_taken(&self, wait: Duration) -> bool {
        let mut state = self.state.lock();
        self.was_taken
            .wait_while_for(&mut state, |state| state.is_fresh, wait);
        !state.is_fresh
    }

    /// Ends all waits for further values, also later ones. The latest value can still be taken.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.became_fresh.notify_all();
    }

    /// Whether the slot is closed and its latest value was taken.
    pub fn is_finished(&self) -> bool {
        let state = self.state.lock();
        state.is_closed && !state.is_fresh
    }

    /// Returns the number of values that were put in so far.
    pub fn number(&self) -> u64 {
        self.state.lock().number
    }

    /// Returns the latest value without taking it. The slot stays locked as long as the result lives.
    pub fn read(&self) -> MappedMutexGuard<'_, T> {
        MutexGuard::map(self.state.lock(), |state| &mut state.latest)
    }

    fn wait_for_fresh(&self, wait: Duration) -> MutexGuard<'_, State<T>> {
        let mut state = self.state.lock();
        let is_waiting = |state: &mut State<T>| !state.is_fresh && !state.is_closed;
        self.became_fresh
            .wait_while_for(&mut state, is_waiting, wait);
        state
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

    #[test]
    fn a_sender_can_wait_until_its_value_is_taken() {
        let slot = Latest::<u32>::default();
        assert!(slot.wait_until_taken(Duration::ZERO), "nothing to take");
        assert!(!slot.fill(|value| *value = 1));
        assert!(!slot.wait_until_taken(Duration::ZERO));
        // The value before is replaced.
        assert!(slot.fill(|value| *value += 1));
        assert_eq!(slot.take_with(Duration::ZERO, |value| *value), Some(2));
        assert!(slot.wait_until_taken(Duration::ZERO));
        assert_eq!((slot.number(), *slot.read()), (2, 2));
    }

    #[test]
    fn a_closed_slot_still_gives_its_last_value() {
        let slot = Latest::<u32>::default();
        slot.put(&mut 7);
        slot.close();
        let long = Duration::from_secs(600);
        assert!(slot.wait(long) && !slot.is_finished());
        assert_eq!(slot.take_with(long, |value| *value), Some(7));
        assert!(!slot.wait(long) && !slot.take(&mut 0, long));
        assert!(slot.is_finished());
    }

    #[test]
    fn a_value_is_left_out_while_the_slot_is_read() {
        let slot = Latest::<u32>::default();
        let read = slot.read();
        assert!(!slot.try_fill(|value| *value = 1));
        assert_eq!(*read, 0);
        drop(read);
        assert!(slot.try_fill(|value| *value = 1) && slot.number() == 1);
    }
}
