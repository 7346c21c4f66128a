//! Reports a fault to log and journal when it starts and when it ends. Occurrences in between are only counted, so that a
//! repeated fault fills neither.

use std::time::{Duration, Instant};

use super::journal::Journal;

/// An intermittent fault ends when it has not been raised for this long.
const QUIET_AFTER: Duration = Duration::from_secs(60);

/// One named fault: whether it is active, and how often it was raised. Dropping it ends the fault.
#[derive(Debug)]
pub(crate) struct FaultReporter {
    name: &'static str,
    journal: Journal,
    /// Number of the fault in the journal; `None` if the fault is inactive.
    active: Option<u64>,
    last_raised: Option<Instant>,
    count: u64,
}

impl FaultReporter {
    /// Creates an inactive fault. `name` is its name in log, journal and status.
    pub(crate) fn new(name: &'static str, journal: &Journal) -> Self {
        Self {
            name,
            journal: journal.clone(),
            active: None,
            last_raised: None,
            count: 0,
        }
    }

    /// Raises the fault. Returns true if the fault was inactive before. The first call logs a warning; later calls log at debug
    /// level until the fault ends.
    pub(crate) fn raise(&mut self, detail: &dyn std::fmt::Display) -> bool {
        self.count += 1;
        self.last_raised = Some(Instant::now());
        match self.active {
            None => {
                tracing::warn!(fault = self.name, count = self.count, "{detail}");
                let number = self.journal.begin_fault(self.name, &detail.to_string());
                self.active = Some(number);
                true
            }
            Some(number) => {
                tracing::debug!(fault = self.name, count = self.count, "{detail}");
                self.journal.repeat_fault(number);
                false
            }
        }
    }

    /// Whether the fault is active.
    pub(crate) fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Ends the fault. If it was active, logs its end.
    pub(crate) fn clear(&mut self) {
        if let Some(number) = self.active.take() {
            tracing::info!(fault = self.name, count = self.count, "the fault is over");
            self.journal.end_fault(number);
        }
    }

    /// Ends an intermittent fault if it was not raised within the last minute.
    pub(crate) fn clear_if_quiet(&mut self) {
        if (self.last_raised).is_some_and(|last| last.elapsed() > QUIET_AFTER) {
            self.clear();
        }
    }
}

impl Drop for FaultReporter {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Board, EventKind};
    use std::sync::Arc;

    #[test]
    fn a_fault_starts_once_until_it_is_cleared() {
        let mut fault = FaultReporter::new("test", &Journal::default());
        assert!(fault.raise(&"a"));
        assert!(!fault.raise(&"a"));
        fault.clear();
        assert!(fault.raise(&"a"));
        assert_eq!(fault.count, 3);
    }

    #[test]
    fn the_journal_lists_active_faults_and_keeps_their_begin_and_end() {
        let board: Arc<Board> = Arc::default();
        let journal = Journal::new(Arc::clone(&board));
        let mut one = FaultReporter::new("monitor", &journal);
        let mut two = FaultReporter::new("monitor", &journal);
        one.raise(&"outputs[0]");
        two.raise(&"outputs[1]");
        two.raise(&"outputs[1]");
        let counts: Vec<u64> = journal.faults().iter().map(|fault| fault.count).collect();
        assert_eq!(counts, [1, 2]);
        one.clear();
        assert_eq!(journal.faults()[0].detail, "outputs[1]");
        drop(two);
        assert_eq!(journal.faults(), []);
        let events = board.events.after(0, Duration::ZERO).events;
        let began = |e: &crate::control::Event| matches!(e.kind, EventKind::FaultBegan { .. });
        assert_eq!(events.iter().filter(|e| began(e)).count(), 2);
        assert_eq!(events.len(), 4);
        let last = &events.last().unwrap().kind;
        assert!(
            matches!(last, EventKind::FaultEnded { count: 2, .. }),
            "{last:?}"
        );
    }
}
