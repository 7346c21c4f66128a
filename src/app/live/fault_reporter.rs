//! Logs a fault when it starts and when it ends. Occurrences in between are only counted, so that a repeated fault does not
//! fill the log.

use std::time::{Duration, Instant};

/// An intermittent fault ends when it has not been raised for this long.
const QUIET_AFTER: Duration = Duration::from_secs(60);

/// One named fault: whether it is active, and how often it was raised.
#[derive(Debug)]
pub(crate) struct FaultReporter {
    name: &'static str,
    is_active: bool,
    last_raised: Option<Instant>,
    count: u64,
}

impl FaultReporter {
    /// Creates an inactive fault. `name` is its name in the log.
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            is_active: false,
            last_raised: None,
            count: 0,
        }
    }

    /// Raises the fault. Returns true if the fault was inactive before. The first call logs a warning; later calls log at debug
    /// level until the fault ends.
    pub(crate) fn raise(&mut self, detail: &dyn std::fmt::Display) -> bool {
        self.count += 1;
        self.last_raised = Some(Instant::now());
        let starts = !std::mem::replace(&mut self.is_active, true);
        if starts {
            tracing::warn!(fault = self.name, count = self.count, "{detail}");
        } else {
            tracing::debug!(fault = self.name, count = self.count, "{detail}");
        }
        starts
    }

    /// Ends the fault. If it was active, logs its end.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_active) {
            tracing::info!(fault = self.name, count = self.count, "the fault is over");
        }
    }

    /// Ends an intermittent fault if it was not raised within the last minute.
    pub(crate) fn clear_if_quiet(&mut self) {
        if (self.last_raised).is_some_and(|last| last.elapsed() > QUIET_AFTER) {
            self.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_starts_once_until_it_is_cleared() {
        let mut fault = FaultReporter::new("test");
        assert!(fault.raise(&"a"));
        assert!(!fault.raise(&"a"));
        fault.clear();
        assert!(fault.raise(&"a"));
        assert_eq!(fault.count, 3);
    }
}
