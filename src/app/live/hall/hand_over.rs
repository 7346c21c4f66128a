//! What the hall stage, the desk and the simulation hand to each other. All queues reject when they are full: then ticks are missing,
//! and the state is asked for.

use std::sync::mpsc::SyncSender;
use std::time::Instant;

use super::messages::StateMessage;
use crate::records::SessionEntry;
use crate::world::Observation;

/// What the hall stage waits for.
#[derive(Debug)]
pub(super) enum HallEvent {
    /// A message of another node.
    Message { key: &'static str, payload: Vec<u8> },
    /// The own desk or the own simulation did something.
    Entry(SessionEntry),
    /// The own simulation ran a tick.
    Tick {
        tick: u64,
        due: Instant,
        hash: Option<u64>,
    },
    /// The own pool was saved.
    State {
        tick: u64,
        revision: u64,
        state: String,
        observation: Observation,
    },
}

/// Sends events to the hall stage. Never waits.
#[derive(Clone, Debug)]
pub(crate) struct HallSender {
    events: SyncSender<HallEvent>,
}

impl HallSender {
    pub(super) fn new(events: SyncSender<HallEvent>) -> Self {
        Self { events }
    }

    /// Adds an entry of the own simulation or desk.
    pub(crate) fn entry(&self, entry: SessionEntry) {
        self.event(HallEvent::Entry(entry));
    }

    pub(super) fn event(&self, event: HallEvent) {
        // If the queue is full, followers miss a tick and ask for the state.
        let _full = self.events.try_send(event);
    }

    pub(super) fn message(&self, key: &'static str, payload: &[u8]) {
        let payload = payload.to_vec();
        self.event(HallEvent::Message { key, payload });
    }
}

/// A tick of the leader for the own simulation.
#[derive(Debug)]
pub(crate) struct FollowedTick {
    /// The loaded state that it continues.
    pub(crate) generation: u64,
    /// Its number.
    pub(crate) tick: u64,
    /// When it is due here.
    pub(crate) due: Instant,
    /// Hash of the leader after it, if there is one.
    pub(crate) hash: Option<u64>,
    /// What happened before it, without the commands.
    pub(crate) entries: Vec<SessionEntry>,
}

/// The state of the leader.
#[derive(Debug)]
pub(crate) struct PoolRestore {
    /// Number of this state. Ticks with the same number continue it.
    pub(crate) generation: u64,
    /// The state.
    pub(crate) message: StateMessage,
}

/// What the desk of a follower does.
#[derive(Debug)]
pub(crate) enum DeskTask {
    /// Uses the documents of the leader, and passes its pool to the simulation.
    Restore(Box<PoolRestore>),
    /// Applies a command that the leader applied.
    Command(SessionEntry),
}
