//! The way of entries from the desk stage and the simulation stage to the thread that writes them. No stage waits: if the thread is
//! too slow, the log ends, because a log with a gap could not be replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use super::entry::SessionEntry;
use crate::geometry::Visitor;
use crate::world::Observation;

/// Largest number of entries that may wait for the thread: several seconds of ticks.
const WAITING_MAX: usize = 512;
/// Longest wait for an entry before the next heartbeat.
const ENTRY_WAIT: Duration = Duration::from_millis(100);

/// Opens a log. If `segment_secs` is given, the pool is saved whenever this time has passed.
pub(super) fn open_log(segment_secs: Option<f64>) -> (SessionLog, TickLog, LogQueue) {
    let (entries, received) = sync_channel(WAITING_MAX);
    let (give_back, written) = sync_channel(WAITING_MAX);
    let is_open = Arc::new(AtomicBool::new(true));
    let log = SessionLog {
        entries,
        is_open: Arc::clone(&is_open),
    };
    let ticks = TickLog {
        log: log.clone(),
        written,
        segment_secs,
    };
    let queue = LogQueue {
        entries: received,
        give_back,
        is_open,
    };
    (log, ticks, queue)
}

/// Sends entries to the thread that writes them. Copies share the log.
#[derive(Clone)]
pub struct SessionLog {
    entries: SyncSender<SessionEntry>,
    is_open: Arc<AtomicBool>,
}

impl SessionLog {
    /// Adds an entry. Never waits: if too many are waiting, the log ends.
    pub fn add(&self, entry: SessionEntry) {
        if self.is_open.load(Ordering::Relaxed) && self.entries.try_send(entry).is_err() {
            self.is_open.store(false, Ordering::Relaxed);
        }
    }
}

/// The end of the log in the simulation stage, which reuses the memory of observations.
pub struct TickLog {
    log: SessionLog,
    /// Observations that were written, so that their memory is used again.
    written: Receiver<Observation>,
    /// Time from one saved pool to the next; `None` if no pool is saved.
    segment_secs: Option<f64>,
}

impl TickLog {
    /// Whether the pool is to be saved after this tick.
    pub fn wants_state(&self, tick: u64, dt_secs: f64) -> bool {
        let ticks = self
            .segment_secs
            .map(|secs| (secs / dt_secs).round().max(1.0) as u64);
        ticks.is_some_and(|ticks| tick.is_multiple_of(ticks))
    }

    /// Adds an entry.
    pub fn add(&self, entry: SessionEntry) {
        self.log.add(entry);
    }

    /// Adds a copy of an observation that the tick `tick` uses first.
    pub fn add_observation(&self, tick: u64, from: &Observation) {
        let mut observation = self.written.try_recv().unwrap_or_default();
        observation.time_secs = from.time_secs;
        // A visitor with a number that is not finite cannot be written, and the pool ignores it.
        let written = from.shadows.iter().filter(|visitor| visitor.is_finite());
        Visitor::copy_all(&mut observation.shadows, written);
        self.log.add(SessionEntry::Observed { tick, observation });
    }
}

/// The receiving end of a log.
pub(super) struct LogQueue {
    entries: Receiver<SessionEntry>,
    give_back: SyncSender<Observation>,
    is_open: Arc<AtomicBool>,
}

impl LogQueue {
    /// Waits a moment for the next entry.
    ///
    /// # Errors
    /// When there is none yet, or no stage can send one any more.
    pub(super) fn next(&self) -> Result<SessionEntry, RecvTimeoutError> {
        self.entries.recv_timeout(ENTRY_WAIT)
    }

    /// Returns the next entry if there is one.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> Option<SessionEntry> {
        self.entries.try_recv().ok()
    }

    /// Gives the memory of a written observation back, so that it is used again.
    pub(super) fn give_back(&self, observation: Observation) {
        // If the channel is full, the memory is freed instead.
        let _full = self.give_back.try_send(observation);
    }

    /// Whether entries are accepted. They are not after too many of them waited.
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Accepts entries, or not.
    pub(super) fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }
}
