//! The service stage: reports to systemd that Shoal is ready and alive, and writes one line a day into the log.
//!
//! In: the health of the threads, status and events. Out: reports to the service manager, and the daily line.

use std::time::{Duration, Instant};

use crate::control::{DeskClient, EventKind};
use crate::runtime::{Heartbeat, Pulse, ServiceManager};

/// Time between two looks at the health.
const STEP_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two daily lines.
const DAY: Duration = Duration::from_secs(24 * 3600);

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
        let mut manager = ServiceManager::ready(self.pulse.clone());
        let mut logged = Instant::now();
        while heartbeat.sleep(STEP_INTERVAL) {
            self.read_events();
            let now = Instant::now();
            manager.report(&self.client.status().sentence, now);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
