//! The journal of the running pool: active faults and events of all stages. Every stage has a copy of it and can write at any
//! time; the desk reads the active faults for the status.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use super::client::Board;
use super::event::EventKind;
use super::status::FaultStatus;
use crate::runtime::now_iso;

/// The journal. Copies share their content.
#[derive(Clone, Debug)]
pub struct Journal(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    board: Arc<Board>,
    started: Instant,
    active: Mutex<Vec<ActiveFault>>,
    /// Number of the next fault.
    next: AtomicU64,
}

#[derive(Debug)]
struct ActiveFault {
    number: u64,
    name: String,
    detail: String,
    since: String,
    began: Instant,
    count: u64,
}

impl Default for Journal {
    fn default() -> Self {
        Self::new(Arc::default())
    }
}

impl Journal {
    /// Creates a journal whose events go to `board`.
    pub fn new(board: Arc<Board>) -> Self {
        Self(Arc::new(Shared {
            board,
            started: Instant::now(),
            active: Mutex::default(),
            next: AtomicU64::new(0),
        }))
    }

    /// Returns the time since the start of the program.
    pub fn uptime_secs(&self) -> f64 {
        self.0.started.elapsed().as_secs_f64()
    }

    /// Adds an event.
    pub fn add(&self, kind: EventKind) {
        self.0
            .board
            .events
            .push(kind, now_iso(), self.uptime_secs());
    }

    /// Begins a fault, and returns its number for [`Self::repeat_fault`] and [`Self::end_fault`].
    pub fn begin_fault(&self, name: &str, detail: &str) -> u64 {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.0.active.lock().push(ActiveFault {
            number,
            name: name.to_owned(),
            detail: detail.to_owned(),
            since: now_iso(),
            began: Instant::now(),
            count: 1,
        });
        self.add(EventKind::FaultBegan {
            fault: name.to_owned(),
            detail: detail.to_owned(),
        });
        number
    }

    /// Counts another occurrence of an active fault.
    pub fn repeat_fault(&self, number: u64) {
        let mut active = self.0.active.lock();
        if let Some(fault) = active.iter_mut().find(|fault| fault.number == number) {
            fault.count += 1;
        }
    }

    /// Ends a fault.
    pub fn end_fault(&self, number: u64) {
        let ended = {
            let mut active = self.0.active.lock();
            let index = active.iter().position(|fault| fault.number == number);
            index.map(|index| active.remove(index))
        };
        if let Some(fault) = ended {
            self.add(EventKind::FaultEnded {
                fault: fault.name,
                lasted_secs: fault.began.elapsed().as_secs_f64(),
                count: fault.count,
            });
        }
    }

    /// Returns the active faults, the newest last.
    pub fn faults(&self) -> Vec<FaultStatus> {
        let status = |fault: &ActiveFault| FaultStatus {
            name: fault.name.clone(),
            detail: fault.detail.clone(),
            since: fault.since.clone(),
            for_secs: fault.began.elapsed().as_secs_f64(),
            count: fault.count,
        };
        self.0.active.lock().iter().map(status).collect()
    }
}
