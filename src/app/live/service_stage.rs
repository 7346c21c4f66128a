//! The service stage: reports to systemd that Shoal is ready and alive, and writes one line a day into the log.
//!
//! In: the health of the threads, status and events. Out: messages on systemd's socket, if there is one, and the daily line. Must not:
//! report Shoal as alive while the simulation or the supervisor does not move; then systemd restarts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sd_notify::NotifyState;

use crate::control::{DeskClient, EventKind};
use crate::runtime::{Heartbeat, Supervisor};

/// Time between two looks at the health.
const STEP_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two daily lines.
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Longest time of the simulation without a heartbeat.
const SILENCE_MAX: Duration = Duration::from_secs(5);
/// Number of messages to the watchdog within its time, so that a late one is no failure.
const FEEDS_PER_LIMIT: u32 = 3;

/// Whether the simulation and the supervisor move.
pub(crate) struct Pulse {
    simulation: Option<Arc<Heartbeat>>,
    /// Time on the supervisor's clock, in milliseconds.
    awake_ms: Arc<AtomicU64>,
    last_ms: u64,
}

impl Pulse {
    /// Reads the pulse of the threads that are running now.
    pub(crate) fn of(supervisor: &Supervisor) -> Self {
        Self {
            simulation: supervisor.heartbeat_of("simulation"),
            awake_ms: supervisor.awake_ms(),
            last_ms: 0,
        }
    }

    /// Whether both moved since the last call.
    fn moves(&mut self) -> bool {
        let now_ms = self.awake_ms.load(Ordering::Relaxed);
        let supervisor_moves = std::mem::replace(&mut self.last_ms, now_ms) != now_ms;
        let simulation_moves =
            (self.simulation.as_ref()).is_some_and(|simulation| simulation.silence() < SILENCE_MAX);
        supervisor_moves && simulation_moves
    }
}

/// What happened since the start, for the daily line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Happened {
    visitors: u64,
    camera_faults: u64,
    other_faults: u64,
    restarts: u64,
}

impl Happened {
    fn add(&mut self, kind: &EventKind) {
        match kind {
            EventKind::VisitorArrived { .. } => self.visitors += 1,
            EventKind::FaultBegan { fault, .. } if fault.starts_with("camera.") => {
                self.camera_faults += 1;
            }
            EventKind::FaultBegan { .. } => self.other_faults += 1,
            EventKind::StageRestarted { .. } => self.restarts += 1,
            _ => {}
        }
    }

    fn line(&self, uptime: Duration) -> String {
        let days = uptime.as_secs() / 86_400;
        format!(
            "running {days} d, {} camera faults, {} other faults, {} restarted stages, {} visitors",
            grouped(self.camera_faults),
            grouped(self.other_faults),
            grouped(self.restarts),
            grouped(self.visitors)
        )
    }
}

/// Returns a number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The service stage.
pub(crate) struct ServiceStage {
    pulse: Pulse,
    client: DeskClient,
    /// Number of the newest event that was read.
    read: u64,
    happened: Happened,
    started: Instant,
}

impl ServiceStage {
    pub(crate) fn new(pulse: Pulse, client: DeskClient) -> Self {
        Self {
            pulse,
            client,
            read: 0,
            happened: Happened::default(),
            started: Instant::now(),
        }
    }

    /// Reports to systemd until the program ends. The end itself is not reported: this may be a child process that is restarted.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        send(&[NotifyState::Ready]);
        let interval = watchdog_limit().map(|limit| limit / FEEDS_PER_LIMIT);
        let mut fed = Instant::now();
        let mut logged = Instant::now();
        let mut sentence = String::new();
        while heartbeat.sleep(STEP_INTERVAL) {
            self.read_events();
            let now = Instant::now();
            if interval.is_some_and(|interval| now.duration_since(fed) >= interval) {
                fed = now;
                if self.pulse.moves() {
                    send(&[NotifyState::Watchdog]);
                } else {
                    tracing::error!(
                        "the simulation or the supervisor does not move, so the watchdog is not fed"
                    );
                }
            }
            let status = self.client.status();
            if status.sentence != sentence {
                status.sentence.clone_into(&mut sentence);
                send(&[NotifyState::Status(&sentence)]);
            }
            if now.duration_since(logged) >= DAY {
                logged = now;
                tracing::info!("{}", self.happened.line(self.started.elapsed()));
            }
        }
    }

    fn read_events(&mut self) {
        loop {
            let page = self.client.events_after(self.read, Duration::ZERO);
            for event in &page.events {
                self.happened.add(&event.kind);
            }
            match page.events.last() {
                Some(last) => self.read = last.number,
                None => return,
            }
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
    fn the_daily_line_counts_faults_and_visitors() {
        let mut happened = Happened::default();
        for id in 0..41_203 {
            happened.add(&EventKind::VisitorArrived { id });
        }
        for fault in ["camera.black", "camera.unplugged", "monitor"] {
            happened.add(&EventKind::FaultBegan {
                fault: fault.to_owned(),
                detail: String::new(),
            });
        }
        assert_eq!(
            happened.line(Duration::from_secs(12 * 86_400 + 5)),
            "running 12 d, 2 camera faults, 1 other faults, 0 restarted stages, 41,203 visitors"
        );
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn the_pulse_needs_the_simulation_and_the_supervisor() {
        let mut supervisor = Supervisor::new(StopFlag::default());
        let (beat, beats) = std::sync::mpsc::channel::<()>();
        supervisor
            .start("simulation", HangPolicy::EndProgram, move |heartbeat| {
                while beats.recv().is_ok() && heartbeat.keep_running() {}
                Ok(())
            })
            .unwrap();
        let mut pulse = Pulse::of(&supervisor);
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
