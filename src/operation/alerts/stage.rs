//! The alert stage: lets the keeper decide which faults are reported, and delivers the messages through the program that the
//! site names.
//!
//! In: the status, once per second. Out: messages as JSON on the standard input of the program. Must not: decide about a
//! message, make another stage wait.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;

use super::keeper::{Alert, AlertKeeper};
use super::params::{AlertParams, QuietHours};
use crate::control::{Board, Journal};
use crate::operation::hours::ScheduleBoard;
use crate::operation::site_program::SiteProgram;
use crate::runtime::{FaultStatus, Heartbeat, now, now_iso};

/// Time between two looks at the status.
const STEP_INTERVAL: Duration = Duration::from_secs(1);
/// Number of attempts to deliver a message.
const ATTEMPTS_MAX: u32 = 10;
/// Largest number of messages that wait. Older ones are dropped.
const WAITING_MAX: usize = 64;

/// What the desk and the alert stage exchange.
#[derive(Debug, Default)]
pub struct AlertBoard {
    params: Mutex<AlertParams>,
    is_test_wanted: AtomicBool,
}

impl AlertBoard {
    /// Creates a board with the table of the site.
    pub fn new(params: AlertParams) -> Self {
        Self {
            params: Mutex::new(params),
            is_test_wanted: AtomicBool::new(false),
        }
    }

    /// Replaces the table.
    pub fn set_params(&self, params: AlertParams) {
        *self.params.lock() = params;
    }

    /// Requests a test message.
    ///
    /// # Errors
    /// If the site names no program for messages.
    pub fn request_test(&self) -> Result<(), &'static str> {
        if self.params.lock().command.is_empty() {
            return Err("alerts.command is empty, so there is no way for messages; name a program");
        }
        self.is_test_wanted.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// A message with the installation that it is from.
#[derive(Serialize)]
struct Message<'a> {
    #[serde(flatten)]
    alert: &'a Alert,
    site: &'a str,
    time: String,
}

/// The alert stage.
pub struct AlertStage {
    alerts: Arc<AlertBoard>,
    schedule: Arc<ScheduleBoard>,
    board: Arc<Board>,
    keeper: AlertKeeper,
    /// Messages that are not delivered yet, each with the number of failed attempts.
    waiting: VecDeque<(Alert, u32)>,
    program: SiteProgram,
    started: Instant,
}

impl AlertStage {
    /// Creates the stage. `schedule` knows the time zone of the quiet hours.
    pub fn new(
        alerts: Arc<AlertBoard>,
        schedule: Arc<ScheduleBoard>,
        board: Arc<Board>,
        journal: &Journal,
    ) -> Self {
        Self {
            alerts,
            schedule,
            board,
            keeper: AlertKeeper::default(),
            waiting: VecDeque::new(),
            program: SiteProgram::new("alerts.command", "alerts", journal),
            started: Instant::now(),
        }
    }

    /// Delivers messages until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.sleep(STEP_INTERVAL) {
            let now = Instant::now();
            let is_quiet = self.is_quiet();
            self.step(now, is_quiet);
        }
    }

    fn is_quiet(&self) -> bool {
        if self.alerts.params.lock().quiet == QuietHours::default() {
            return false;
        }
        let time = (self.schedule.zone()).to_datetime(now()).time();
        let minutes =
            u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
        self.alerts.params.lock().quiet.contains(minutes)
    }

    fn step(&mut self, now: Instant, is_quiet: bool) {
        let params = self.alerts.params.lock().clone();
        if params.command.is_empty() {
            self.waiting.clear();
            self.program.forget();
            return;
        }
        let status = self.board.status();
        let active = status.faults.iter().filter(|fault| fault.name != "alerts");
        let active: Vec<FaultStatus> = active.cloned().collect();
        let now_secs = now.saturating_duration_since(self.started).as_secs_f64();
        let alerts = self.keeper.step(&params, &active, now_secs, is_quiet);
        self.waiting
            .extend(alerts.into_iter().map(|alert| (alert, 0)));
        if self.alerts.is_test_wanted.swap(false, Ordering::Relaxed) {
            self.waiting.push_front((Alert::test(), 0));
            self.program.hurry();
        }
        while self.waiting.len() > WAITING_MAX {
            self.waiting.pop_front();
        }
        if self.program.is_due(now) {
            self.deliver(&params.command, &status.site, now);
        }
    }

    /// Delivers the waiting messages until one fails.
    fn deliver(&mut self, command: &str, site: &str, now: Instant) {
        while let Some((alert, attempts)) = self.waiting.pop_front() {
            let message = Message {
                alert: &alert,
                site,
                time: now_iso(),
            };
            let text = serde_json::to_string(&message).unwrap_or_default();
            if self.program.call(command, None, &text, now) {
                tracing::info!("alert delivered: {} {:?}", alert.fault, alert.kind);
                continue;
            }
            if attempts + 1 < ATTEMPTS_MAX {
                self.waiting.push_front((alert, attempts + 1));
            } else {
                let fault = &alert.fault;
                tracing::error!("an alert is dropped after {ATTEMPTS_MAX} attempts: {fault}");
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Status;

    fn faulty(for_secs: f64) -> Status {
        Status {
            site: "museum.toml".to_owned(),
            faults: vec![FaultStatus {
                name: "camera.black".to_owned(),
                detail: "take off the cap".to_owned(),
                for_secs,
                ..FaultStatus::default()
            }],
            ..Status::default()
        }
    }

    #[test]
    fn a_fault_its_end_and_a_test_reach_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("messages");
        let board: Arc<Board> = Arc::default();
        let journal = Journal::new(Arc::clone(&board));
        let alerts = Arc::new(AlertBoard::default());
        assert!(alerts.request_test().is_err(), "there is no program");
        alerts.set_params(AlertParams {
            command: format!("sh -c 'cat >> {}'", file.display()),
            ..AlertParams::default()
        });
        let mut stage = AlertStage::new(
            Arc::clone(&alerts),
            Arc::default(),
            Arc::clone(&board),
            &journal,
        );
        let at = |secs| stage.started + Duration::from_secs(secs);
        let times = [at(0), at(10), at(200), at(201)];
        board.publish(faulty(61.0));
        stage.step(times[0], false);
        alerts.request_test().unwrap();
        stage.step(times[1], false);
        board.publish(Status::default());
        stage.step(times[2], false);
        stage.step(times[3], false);
        let text = std::fs::read_to_string(&file).unwrap();
        let messages: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let kinds: Vec<&str> = messages
            .iter()
            .map(|m| m["kind"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["fault", "test", "recovered"]);
        assert_eq!(messages[0]["fault"], "camera.black");
        assert_eq!(messages[0]["site"], "museum.toml");
        assert_eq!(journal.faults(), []);
    }

    #[test]
    fn a_program_that_fails_is_a_fault_and_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let flag = folder.path().join("works");
        let board: Arc<Board> = Arc::default();
        let journal = Journal::new(Arc::clone(&board));
        let alerts = Arc::new(AlertBoard::new(AlertParams {
            command: format!("test -e {}", flag.display()),
            ..AlertParams::default()
        }));
        let mut stage = AlertStage::new(alerts, Arc::default(), Arc::clone(&board), &journal);
        let begin = stage.started;
        board.publish(faulty(61.0));
        stage.step(begin, false);
        assert_eq!(journal.faults().len(), 1);
        std::fs::write(&flag, "").unwrap();
        stage.step(begin + Duration::from_secs(30), false);
        assert_eq!(journal.faults().len(), 1, "it waits a minute");
        stage.step(begin + Duration::from_secs(61), false);
        assert_eq!(journal.faults(), []);
        assert!(stage.waiting.is_empty());
    }
}
