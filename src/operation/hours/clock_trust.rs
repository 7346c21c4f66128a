//! Whether the clock of the machine can be trusted: a machine without a battery starts in 1970 or at its last known time, until
//! the network sets its clock.
//!
//! In: the time, files and programs of the system. Out: whether the clock can be trusted, and why. Once trusted, a clock stays
//! trusted, because a network that fails later does not make it wrong.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::params::ClockTrust;
use crate::runtime::{foreign_program, kill, wait_for_exit};

/// File that systemd-timesyncd creates when it has set the clock.
const TIMESYNC_FILE: &str = "/run/systemd/timesync/synchronized";
/// Time between two questions to the system while the clock is not trusted.
const ASK_INTERVAL: Duration = Duration::from_secs(10);
/// Longest wait for the answer of a program.
const ANSWER_TIME: Duration = Duration::from_secs(3);
/// No clock that shows an earlier time is right: this program did not exist before. 2026-01-01.
pub(in crate::operation) const EARLIEST_SECS: i64 = 1_767_225_600;

/// Asks the system whether its clock is synchronized.
pub(super) type AskSystem = Box<dyn FnMut() -> bool + Send>;

/// Decides whether the clock can be trusted.
pub(super) struct ClockJudge {
    ask_system: AskSystem,
    was_synchronized: bool,
    asked: Option<Instant>,
}

impl ClockJudge {
    /// Creates a judge that asks with this function.
    pub(super) fn new(ask_system: AskSystem) -> Self {
        Self {
            ask_system,
            was_synchronized: false,
            asked: None,
        }
    }

    /// Returns whether the clock, which shows `time`, can be trusted, and why.
    pub(super) fn judge(
        &mut self,
        trust: ClockTrust,
        time: Timestamp,
        now: Instant,
    ) -> (bool, &'static str) {
        if time.as_second() < EARLIEST_SECS {
            return (false, "the clock shows a time before this program existed");
        }
        if trust == ClockTrust::Machine {
            return (true, "the clock of the machine, as the site wants");
        }
        let is_due = self
            .asked
            .is_none_or(|asked| now.saturating_duration_since(asked) >= ASK_INTERVAL);
        if !self.was_synchronized && is_due {
            self.asked = Some(now);
            self.was_synchronized = (self.ask_system)();
        }
        match self.was_synchronized {
            true => (true, "synchronized by the network"),
            false => (
                false,
                "the network has not set the clock since the machine started; connect it, or set schedule.clock = \"machine\"",
            ),
        }
    }
}

/// Asks systemd whether the clock was synchronized by the network.
pub(super) fn ask_systemd() -> bool {
    Path::new(TIMESYNC_FILE).exists() || timedatectl_says_yes()
}

/// Asks `timedatectl`, which knows the kernel's flag, so that chrony and ntpd count too.
fn timedatectl_says_yes() -> bool {
    let mut command = foreign_program("timedatectl");
    command.args(["show", "--property=NTPSynchronized", "--value"]);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return false;
    };
    let ended = wait_for_exit(&mut child, ANSWER_TIME, &|| true);
    if !ended.is_ok_and(|status| status.is_some_and(|status| status.success())) {
        kill(&mut child);
        return false;
    }
    let output = child.wait_with_output().map(|output| output.stdout);
    output.is_ok_and(|text| text.trim_ascii() == b"yes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    #[test]
    fn a_clock_is_trusted_after_the_network_has_set_it_and_stays_trusted() {
        let is_set = Arc::new(AtomicBool::new(false));
        let questions = Arc::new(AtomicU32::new(0));
        let (answer, asked) = (Arc::clone(&is_set), Arc::clone(&questions));
        let mut judge = ClockJudge::new(Box::new(move || {
            asked.fetch_add(1, Ordering::Relaxed);
            answer.load(Ordering::Relaxed)
        }));
        let begin = Instant::now();
        let at = |secs| begin + Duration::from_secs(secs);
        let in_1970 = Timestamp::from_second(100).unwrap();
        let today = Timestamp::from_second(EARLIEST_SECS + 1_000_000).unwrap();
        let network = ClockTrust::Synchronized;
        assert!(!judge.judge(ClockTrust::Machine, in_1970, at(0)).0);
        assert!(judge.judge(ClockTrust::Machine, today, at(0)).0);
        assert!(!judge.judge(network, today, at(0)).0);
        is_set.store(true, Ordering::Relaxed);
        // It asks every ten seconds.
        assert!(!judge.judge(network, today, at(5)).0);
        assert!(judge.judge(network, today, at(10)).0);
        is_set.store(false, Ordering::Relaxed);
        assert!(judge.judge(network, today, at(3600)).0);
        assert!(!judge.judge(network, in_1970, at(3601)).0);
        assert_eq!(questions.load(Ordering::Relaxed), 2);
    }
}
