//! What is tried again after a failure: a program or a message. A failure is a fault until an attempt succeeds.

use std::time::{Duration, Instant};

use crate::runtime::{Backoff, Fault};

/// Shortest pause after a failure.
const FIRST_PAUSE: Duration = Duration::from_secs(60);

/// The pauses between attempts, and the fault that lasts meanwhile.
pub(super) struct Retries {
    /// Path in the site file of what is tried.
    key: &'static str,
    fault: Fault,
    longest: Duration,
    backoff: Backoff,
}

impl Retries {
    /// Creates them without a failure. The first pause is a minute, the longest one `longest`.
    pub(super) fn new(key: &'static str, fault: Fault, longest: Duration) -> Self {
        Self {
            key,
            fault,
            longest,
            backoff: Backoff::new(FIRST_PAUSE, longest),
        }
    }

    /// Forgets a failure, because nothing is wanted, or an attempt succeeded.
    pub(super) fn forget(&mut self) {
        self.backoff = Backoff::new(FIRST_PAUSE, self.longest);
        self.fault.clear();
    }

    /// Whether an attempt is allowed now: not in the pause after a failure.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.backoff.remaining(now).is_zero()
    }

    /// Takes the result of an attempt and returns it, with the path in the site file before a reason.
    ///
    /// # Errors
    /// When the attempt failed.
    pub(super) fn take(&mut self, result: Result<(), String>, now: Instant) -> Result<(), String> {
        match result {
            Ok(()) => {
                self.forget();
                Ok(())
            }
            Err(reason) => {
                let pause = self.backoff.record_failure(now).as_secs();
                let reason = format!("{}: {reason}", self.key);
                self.fault
                    .raise(&format_args!("{reason}; it is tried again in {pause} s"));
                Err(reason)
            }
        }
    }
}
