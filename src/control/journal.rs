//! The journal of the running pool: events and faults of all stages. Every stage has a copy of it and can write at any time; the
//! desk reads the active faults for the status.

use std::sync::Arc;
use std::time::Instant;

use super::client::Board;
use super::event::EventKind;
use crate::runtime::{Fault, FaultChange, FaultLedger, FaultStatus, now_iso};

/// The journal. Copies share their content.
#[derive(Clone, Debug)]
pub struct Journal {
    events: EventWriter,
    faults: FaultLedger,
}

impl Default for Journal {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Journal {
    /// Creates a journal whose events go to `board`. The start and the end of a fault are events.
    pub fn new(board: Arc<Board>) -> Self {
        let started = Instant::now();
        let events = EventWriter { board, started };
        let of_faults = events.clone();
        Self {
            events,
            faults: FaultLedger::new(move |change| of_faults.add(change.into())),
        }
    }

    /// Returns the time since the start of the program.
    pub fn uptime_secs(&self) -> f64 {
        self.events.started.elapsed().as_secs_f64()
    }

    /// Returns a copy for one of several things of a kind; see [`FaultLedger::about`].
    #[must_use]
    pub fn about(&self, subject: &str) -> Self {
        Self {
            events: self.events.clone(),
            faults: self.faults.about(subject),
        }
    }

    /// Adds an event.
    pub fn add(&self, kind: EventKind) {
        self.events.add(kind);
    }

    /// Creates an inactive fault; see [`Fault::new`].
    pub fn fault(&self, name: &str) -> Fault {
        Fault::new(name, &self.faults)
    }

    /// Returns the ledger of the faults.
    pub fn ledger(&self) -> &FaultLedger {
        &self.faults
    }

    /// Returns the active faults, the newest last.
    pub fn faults(&self) -> Vec<FaultStatus> {
        self.faults.active(Instant::now())
    }
}

/// Writes events with their times.
#[derive(Clone, Debug)]
struct EventWriter {
    board: Arc<Board>,
    /// Start of the program.
    started: Instant,
}

impl EventWriter {
    fn add(&self, kind: EventKind) {
        let uptime_secs = self.started.elapsed().as_secs_f64();
        self.board.events.push(kind, now_iso(), uptime_secs);
    }
}

impl From<FaultChange> for EventKind {
    fn from(change: FaultChange) -> Self {
        match change {
            FaultChange::Began { fault, detail } => Self::FaultBegan { fault, detail },
            FaultChange::Ended {
                fault,
                lasted_secs,
                count,
            } => Self::FaultEnded {
                fault,
                lasted_secs,
                count,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_start_and_the_end_of_a_fault_are_events() {
        let board: Arc<Board> = Arc::default();
        let journal = Journal::new(Arc::clone(&board));
        let mut fault = journal.fault("monitor");
        fault.raise(&"outputs[0]");
        assert_eq!(journal.faults()[0].detail, "outputs[0]");
        fault.clear();
        let events = board.events.after(0, Duration::ZERO).events;
        let kinds: Vec<&EventKind> = events.iter().map(|event| &event.kind).collect();
        assert!(matches!(
            kinds[..],
            [
                EventKind::FaultBegan { .. },
                EventKind::FaultEnded { count: 1, .. }
            ]
        ));
    }
}
