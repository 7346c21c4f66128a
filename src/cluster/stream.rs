//! The stream of ticks: one message per tick of the leader, with everything that the tick depends on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of messages that wait for a missing one. At 60 ticks per second this is a second.
const WAITING_MAX: usize = 64;

/// A tick of the leader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TickMessage<E> {
    /// Epoch of the leader.
    pub epoch: u64,
    /// Number of the tick.
    pub tick: u64,
    /// Time at which the tick was due, in seconds on the clock of the leader.
    pub due_secs: f64,
    /// Hash of the pool after the tick, where the leader computed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<u64>,
    /// What happened before the tick, in order.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<E>,
}

/// What a received message means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It continues the stream, or waits for an earlier one.
    Continues,
    /// It is of the past, or of a node that does not lead.
    Ignored,
    /// Ticks are missing: the state of the leader is needed.
    NeedsState,
}

/// Puts the ticks of the leader in order.
#[derive(Debug)]
pub struct TickStream<E> {
    epoch: u64,
    /// The tick that comes next; `None` until the state of the leader is known.
    next: Option<u64>,
    /// Messages that arrived, by tick.
    waiting: BTreeMap<u64, TickMessage<E>>,
}

impl<E> Default for TickStream<E> {
    fn default() -> Self {
        Self {
            epoch: 0,
            next: None,
            waiting: BTreeMap::new(),
        }
    }
}

impl<E> TickStream<E> {
    /// Follows a leader with another epoch. The state must follow.
    pub fn follow(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.next = None;
        self.waiting.clear();
    }

    /// Whether the state of the leader must be asked for.
    pub fn needs_state(&self) -> bool {
        self.next.is_none()
    }

    /// Continues after the tick of a state of the leader. Messages that arrived since are kept.
    pub fn load(&mut self, tick: u64) {
        self.next = Some(tick + 1);
        self.waiting = self.waiting.split_off(&(tick + 1));
    }

    /// Receives a message.
    pub fn receive(&mut self, message: TickMessage<E>) -> Received {
        let is_past = self.next.is_some_and(|next| message.tick < next);
        if message.epoch != self.epoch || is_past {
            return Received::Ignored;
        }
        self.waiting.insert(message.tick, message);
        let Some(next) = self.next else {
            // The state is on its way. Ticks far before it are not needed.
            while self.waiting.len() > 8 * WAITING_MAX {
                self.waiting.pop_first();
            }
            return Received::NeedsState;
        };
        if self.waiting.len() > WAITING_MAX && !self.waiting.contains_key(&next) {
            self.next = None;
            return Received::NeedsState;
        }
        Received::Continues
    }

    /// Returns the next tick if it has arrived.
    pub fn take(&mut self) -> Option<TickMessage<E>> {
        let next = self.next?;
        let message = self.waiting.remove(&next)?;
        self.next = Some(next + 1);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(epoch: u64, tick: u64) -> TickMessage<u64> {
        TickMessage {
            epoch,
            tick,
            due_secs: tick as f64 / 60.0,
            hash: None,
            entries: vec![tick],
        }
    }

    fn taken(stream: &mut TickStream<u64>) -> Vec<u64> {
        std::iter::from_fn(|| stream.take().map(|m| m.tick)).collect()
    }

    #[test]
    fn ticks_that_arrive_in_another_order_run_in_order() {
        let mut stream = TickStream::default();
        stream.follow(2);
        assert!(stream.needs_state());
        for tick in [12, 10, 11] {
            assert_eq!(stream.receive(message(2, tick)), Received::NeedsState);
        }
        stream.load(10);
        assert_eq!(taken(&mut stream), [11, 12]);
        assert_eq!(stream.receive(message(2, 14)), Received::Continues);
        assert_eq!(stream.receive(message(2, 14)), Received::Continues, "twice");
        assert!(taken(&mut stream).is_empty());
        assert_eq!(stream.receive(message(2, 13)), Received::Continues);
        assert_eq!(taken(&mut stream), [13, 14]);
        assert_eq!(stream.receive(message(2, 13)), Received::Ignored);
    }

    #[test]
    fn a_missing_tick_asks_for_the_state() {
        let mut stream = TickStream::default();
        stream.follow(1);
        stream.load(0);
        let lost = (2..).take(WAITING_MAX + 1).map(|tick| message(1, tick));
        let received: Vec<_> = lost.map(|message| stream.receive(message)).collect();
        assert_eq!(received.last(), Some(&Received::NeedsState));
        assert!(stream.needs_state());
        stream.load(40);
        assert_eq!(taken(&mut stream).first(), Some(&41));
    }

    #[test]
    fn a_leader_of_the_past_is_ignored() {
        let mut stream = TickStream::default();
        stream.follow(3);
        stream.load(5);
        assert_eq!(stream.receive(message(2, 6)), Received::Ignored);
        assert!(taken(&mut stream).is_empty());
    }

    #[test]
    fn a_tick_without_entries_is_short() {
        let mut message = message(1, 100_000);
        message.entries.clear();
        let text = serde_json::to_string(&message).unwrap();
        assert!(text.len() < 80, "{text}");
        assert_eq!(
            serde_json::from_str::<TickMessage<u64>>(&text).unwrap(),
            message
        );
    }
}
