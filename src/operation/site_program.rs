//! A program that a site names: it switches the projectors, or delivers messages. A failure is a fault, and is tried again.

use std::time::{Duration, Instant};

use crate::control::Journal;
use crate::runtime::{Fault, run_command};

/// Longest time that the program may take.
const RUN_TIME: Duration = Duration::from_secs(30);
/// Pause after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// A program that is called again and again.
pub(super) struct SiteProgram {
    /// Path of its command in the site file.
    key: &'static str,
    fault: Fault,
    retry: Option<Instant>,
}

impl SiteProgram {
    /// Creates a program whose failures are the fault `fault`. `key` is the path of its command in the site file.
    pub(super) fn new(key: &'static str, fault: &'static str, journal: &Journal) -> Self {
        Self {
            key,
            fault: journal.fault(fault),
            retry: None,
        }
    }

    /// Forgets a failure, because the program is not wanted.
    pub(super) fn forget(&mut self) {
        self.retry = None;
        self.fault.clear();
    }

    /// Whether a call is allowed now: not in the pause after a failure.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.retry.is_none_or(|retry| now >= retry)
    }

    /// Calls the program with an additional argument and a line on its standard input. An empty line is not sent.
    ///
    /// # Errors
    /// When the program fails, the reason.
    pub(super) fn call(
        &mut self,
        command: &str,
        argument: Option<&str>,
        line: &str,
        now: Instant,
    ) -> Result<(), String> {
        match run(command, argument, line) {
            Ok(()) => {
                self.forget();
                Ok(())
            }
            Err(reason) => {
                self.retry = Some(now + RETRY_PAUSE);
                let (key, pause) = (self.key, RETRY_PAUSE.as_secs());
                self.fault.raise(&format!(
                    "{key}: {reason}; it is tried again every {pause} s"
                ));
                Err(format!("{key}: {reason}"))
            }
        }
    }
}

fn run(command: &str, argument: Option<&str>, line: &str) -> Result<(), String> {
    let input = (!line.is_empty()).then_some(line);
    run_command(command, argument.as_slice(), input, RUN_TIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_an_argument_and_a_line() {
        assert_eq!(run("test on =", Some("on"), ""), Ok(()));
        assert!(run("test on =", Some("off"), "").is_err());
        assert_eq!(run("grep -q fault", None, "a fault"), Ok(()));
        assert!(run("grep -q fault", None, "").is_err());
        assert!(run("/no/such/program", None, "").is_err());
        assert!(run("", None, "").is_err());
    }
}
