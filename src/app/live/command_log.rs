//! Limits what commands add to the log. A client that sends 50 commands per second, or a corner that is dragged, would otherwise
//! write hundreds of megabytes a day. All commands are still events.

use std::time::{Duration, Instant};

/// Period for which [`LINES_MAX`] holds.
const PERIOD: Duration = Duration::from_secs(60);
/// Number of commands per period that are logged. An operator needs fewer; a whole day with this number is about 4 MB.
const LINES_MAX: u32 = 20;

/// Counts the logged commands.
#[derive(Debug, Default)]
pub(super) struct CommandLog {
    /// Start of the period; `None` before the first command.
    begun: Option<Instant>,
    /// Number of commands since then.
    count: u32,
}

impl CommandLog {
    /// Returns whether a command at this time is logged. The first command after a period with too many commands is logged after
    /// the number of those that were left out.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let is_over =
            (self.begun).is_none_or(|begun| now.saturating_duration_since(begun) >= PERIOD);
        if is_over {
            let left_out = self.count.saturating_sub(LINES_MAX);
            if left_out > 0 {
                tracing::warn!(
                    "{left_out} commands are not in this log, because there were more than {LINES_MAX} in a minute; the events contain them"
                );
            }
            (self.begun, self.count) = (Some(now), 0);
        }
        self.count = self.count.saturating_add(1);
        self.count <= LINES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_sends_fifty_commands_a_second_does_not_fill_the_log() {
        let (mut log, begun) = (CommandLog::default(), Instant::now());
        let logged = |log: &mut CommandLog, range: std::ops::Range<u64>| {
            range
                .filter(|i| log.admits(begun + Duration::from_millis(20 * i)))
                .count()
        };
        assert_eq!(logged(&mut log, 0..3000), LINES_MAX as usize);
        assert_eq!(logged(&mut log, 3000..6000), LINES_MAX as usize);
        let later = begun + Duration::from_secs(600);
        assert!(log.admits(later) && log.admits(later), "a quiet client");
    }
}
