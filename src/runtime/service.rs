//! Reports to the service manager (systemd) that the program is ready and alive.
//!
//! In: the health of the threads. Out: messages on systemd's socket, if there is one. Must not: report the program as alive while it
//! does not move; then systemd restarts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sd_notify::NotifyState;

use super::heartbeat::Heartbeat;
use super::supervisor::Supervisor;

/// Longest time of the thread without a heartbeat.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Number of messages to the watchdog within its time, so that a late one is no failure.
const FEEDS_PER_LIMIT: u32 = 3;

/// Whether the supervisor and its most important thread move.
#[derive(Clone)]
pub struct Pulse {
    /// Heartbeat of the thread; `None` if it does not run.
    thread: Option<Arc<Heartbeat>>,
    /// Time on the supervisor's clock, in milliseconds.
    awake_ms: Arc<AtomicU64>,
    last_ms: u64,
}

impl Pulse {
    /// Reads the pulse of the thread with this name, which is running now.
    pub fn of(supervisor: &Supervisor, thread: &str) -> Self {
        Self {
            thread: supervisor.heartbeat_of(thread),
            awake_ms: supervisor.awake_ms(),
            last_ms: 0,
        }
    }

    /// Whether both moved since the last call.
    fn moves(&mut self) -> bool {
        let now_ms = self.awake_ms.load(Ordering::Relaxed);
        let supervisor_moves = std::mem::replace(&mut self.last_ms, now_ms) != now_ms;
        let thread = self.thread.as_ref();
        supervisor_moves && thread.is_some_and(|thread| thread.silence() < SILENCE_MAX)
    }
}

/// The service manager.
pub struct ServiceManager {
    pulse: Pulse,
    /// Time between two messages to the watchdog; `None` without a watchdog.
    interval: Option<Duration>,
    fed: Instant,
    sentence: String,
}

impl ServiceManager {
    /// Reports that the program is ready. Its end is not reported: this may be a child process that is restarted.
    pub fn ready(pulse: Pulse) -> Self {
        send(&[NotifyState::Ready]);
        Self {
            pulse,
            interval: watchdog_limit().map(|limit| limit / FEEDS_PER_LIMIT),
            fed: Instant::now(),
            sentence: String::new(),
        }
    }

    /// Reports that the program is alive, when that is due, and its status, if it changed.
    pub fn report(&mut self, sentence: &str, now: Instant) {
        let is_due = |interval| now.duration_since(self.fed) >= interval;
        if self.interval.is_some_and(is_due) {
            self.fed = now;
            if self.pulse.moves() {
                send(&[NotifyState::Watchdog]);
            } else {
                tracing::error!(
                    "the simulation or the supervisor does not move, so the watchdog is not fed"
                );
            }
        }
        if sentence != self.sentence {
            sentence.clone_into(&mut self.sentence);
            send(&[NotifyState::Status(sentence)]);
        }
    }
}

/// Sends to systemd's socket. Without a socket it does nothing.
fn send(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "systemd's socket cannot be reached");
    }
}

/// Returns the time within which the watchdog must be fed; `None` without a watchdog. Systemd names the parent process, but the
/// child process works, so the number of the process is not compared.
fn watchdog_limit() -> Option<Duration> {
    let text = std::env::var("WATCHDOG_USEC").ok()?;
    let limit = Duration::from_micros(text.parse().ok()?);
    (!limit.is_zero()).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{HangPolicy, StopFlag};

    #[test]
    fn the_pulse_needs_the_simulation_and_the_supervisor() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        let (beat, beats) = std::sync::mpsc::channel::<()>();
        supervisor
            .start("simulation", HangPolicy::EndProgram, move |heartbeat| {
                while beats.recv().is_ok() && heartbeat.keep_running() {}
            })
            .unwrap();
        let mut pulse = Pulse::of(&supervisor, "simulation");
        assert!(!pulse.moves(), "the supervisor has not checked yet");
        let begin = Instant::now();
        let check = |secs: u64| {
            // The supervisor's clock counts only short times between two checks.
            for tenth in 0..10 {
                supervisor.check_at(begin + Duration::from_millis(secs * 1000 + tenth * 100));
            }
        };
        check(1);
        assert!(pulse.moves());
        assert!(!pulse.moves(), "no check since then");
        for secs in 2..20 {
            check(secs);
        }
        assert!(!pulse.moves(), "the simulation is silent");
        drop(beat);
        supervisor.shut_down().unwrap();
    }
}
