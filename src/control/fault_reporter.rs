//! Reports a fault to log and journal when it starts and when it ends. Occurrences in between are only counted, so that a
//! repeated fault fills neither.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use super::journal::Journal;

/// An intermittent fault ends when it has not been raised for this long.
const QUIET_AFTER: Duration = Duration::from_secs(60);

/// Number of beginnings of a fault that are logged within [`LOG_WINDOW`]. Further ones are only counted, so that a fault that comes
/// and goes with every frame writes less than 1 MB a day.
const LOGGED_MAX: u32 = 10;
/// Period in which logged beginnings are counted.
const LOG_WINDOW: Duration = Duration::from_secs(600);

/// One named fault: whether it is active, and how often it was raised. Dropping it ends the fault.
#[derive(Debug)]
pub struct FaultReporter {
    name: &'static str,
    journal: Journal,
    /// Number of the fault in the journal; `None` if the fault is inactive.
    active: Option<u64>,
    last_raised: Option<Instant>,
    count: u64,
    /// Begin of the current [`LOG_WINDOW`], and the number of beginnings in it.
    window: Option<(Instant, u32)>,
}

impl FaultReporter {
    /// Creates an inactive fault. `name` is its name in log, journal and status.
    pub fn new(name: &'static str, journal: &Journal) -> Self {
        Self {
            name,
            journal: journal.clone(),
            active: None,
            last_raised: None,
            count: 0,
            window: None,
        }
    }

    /// Raises the fault. Returns true if the fault was inactive before. The first call logs a warning; later calls log at debug
    /// level until the fault ends.
    pub fn raise(&mut self, detail: &dyn std::fmt::Display) -> bool {
        self.count += 1;
        self.last_raised = Some(Instant::now());
        match self.active {
            None => {
                self.log_begin(detail);
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

    /// Counts a beginning. Returns the number of earlier ones in the current window.
    fn begins(&mut self, now: Instant) -> u32 {
        let is_current = |(begun, _): &(Instant, u32)| now.duration_since(*begun) < LOG_WINDOW;
        let (begun, earlier) = self.window.filter(is_current).unwrap_or((now, 0));
        self.window = Some((begun, earlier.saturating_add(1)));
        earlier
    }

    fn log_begin(&mut self, detail: &dyn std::fmt::Display) {
        let (name, count) = (self.name, self.count);
        match self.begins(Instant::now()).cmp(&LOGGED_MAX) {
            Ordering::Less => tracing::warn!(fault = name, count, "{detail}"),
            Ordering::Equal => tracing::warn!(
                fault = name,
                count,
                "it comes and goes, so it is not logged again within {} s: {detail}",
                LOG_WINDOW.as_secs()
            ),
            Ordering::Greater => {}
        }
    }

    /// Whether the fault is active.
    pub fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Ends the fault. If it was active, logs its end.
    pub fn clear(&mut self) {
        if let Some(number) = self.active.take() {
            if self.window.is_some_and(|(_, logged)| logged <= LOGGED_MAX) {
                tracing::info!(fault = self.name, count = self.count, "the fault is over");
            }
            self.journal.end_fault(number);
        }
    }

    /// Ends an intermittent fault if it was not raised within the last minute.
    pub fn clear_if_quiet(&mut self) {
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

    /// A day at 60 Hz, with two lines of up to 300 bytes per logged beginning.
    #[test]
    fn a_fault_that_comes_and_goes_with_every_frame_for_a_day_logs_less_than_a_megabyte() {
        let mut fault = FaultReporter::new("test", &Journal::default());
        let begun = Instant::now();
        let frames = 60 * 24 * 3600_u64;
        let at = |frame: u64| begun + Duration::from_secs_f64(frame as f64 / 60.0);
        let logged = (0..frames).filter(|frame| fault.begins(at(*frame)) <= LOGGED_MAX);
        assert!(logged.count() * 600 < 1_000_000);
    }

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
