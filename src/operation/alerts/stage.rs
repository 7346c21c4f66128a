//! The alert stage: lets the keeper decide which faults are reported, and delivers the messages through the program that the
//! site names.
//!
//! In: the status, once per second. Out: messages as JSON on the standard input of the program. Must not: decide about a
//! message, make another stage wait.

use std::collections::VecDeque;
use std::sync::Arc;
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
/// Delay of a step from which the program was stopped for a while, so that the age of the status says nothing.
const STOPPED_FOR: Duration = Duration::from_secs(5);
/// Reason why no message can be sent.
const NO_PROGRAM: &str = "alerts.command is empty, so there is no way for messages; name a program";
/// Largest number of messages that wait. Older ones are dropped.
const WAITING_MAX: usize = 64;

/// Receives the result of a test message.
type OnDelivered = Box<dyn FnOnce(Result<(), String>) + Send>;

/// What the desk and the alert stage exchange.
#[derive(Default)]
pub struct AlertBoard {
    params: Mutex<AlertParams>,
    /// The test messages that were requested.
    tests: Mutex<Vec<OnDelivered>>,
}

impl AlertBoard {
    /// Creates a board with the table of the site.
    pub fn new(params: AlertParams) -> Self {
        Self {
            params: Mutex::new(params),
            tests: Mutex::default(),
        }
    }

    /// Replaces the table.
    pub fn set_params(&self, params: AlertParams) {
        *self.params.lock() = params;
    }

    /// Checks that the site names a program for messages.
    ///
    /// # Errors
    /// If it names none.
    pub fn check_program(&self) -> Result<(), &'static str> {
        match self.params.lock().command.is_empty() {
            true => Err(NO_PROGRAM),
            false => Ok(()),
        }
    }

    /// Requests a test message. `on_delivered` is called on the thread of the stage when the program has taken it or failed.
    pub fn request_test(&self, on_delivered: impl FnOnce(Result<(), String>) + Send + 'static) {
        self.tests.lock().push(Box::new(on_delivered));
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
    /// Time of the last step.
    stepped: Option<Instant>,
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
            stepped: None,
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
        let tests = std::mem::take(&mut *self.alerts.tests.lock());
        if params.command.is_empty() {
            self.waiting.clear();
            self.program.forget();
            for on_delivered in tests {
                on_delivered(Err(NO_PROGRAM.to_owned()));
            }
            return;
        }
        if !tests.is_empty() {
            let site = self.board.status().site.clone();
            let delivered = self.call(&params.command, &Alert::test(), &site, now);
            for on_delivered in tests {
                on_delivered(delivered.clone());
            }
        }
        let last = self.stepped.replace(now);
        let was_stopped =
            last.is_some_and(|last| now.saturating_duration_since(last) > STOPPED_FOR);
        let status = self.board.status();
        let is_told =
            |fault: &&FaultStatus| fault.name != "alerts" && !(was_stopped && fault.name == "desk");
        let active = status.faults.iter().filter(is_told);
        let active: Vec<FaultStatus> = active.cloned().collect();
        let now_secs = now.saturating_duration_since(self.started).as_secs_f64();
        let alerts = self.keeper.step(&params, &active, now_secs, is_quiet);
        self.waiting
            .extend(alerts.into_iter().map(|alert| (alert, 0)));
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
            if self.call(command, &alert, site, now).is_ok() {
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

    /// Gives one message to the program.
    fn call(
        &mut self,
        command: &str,
        alert: &Alert,
        site: &str,
        now: Instant,
    ) -> Result<(), String> {
        let message = Message {
            alert,
            site,
            time: now_iso(),
        };
        let text = serde_json::to_string(&message).unwrap_or_default();
        self.program.call(command, None, &text, now)
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
        assert!(alerts.check_program().is_err(), "there is no program");
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
        let times = [at(0), at(2), at(4), at(64)];
        board.publish(faulty(61.0));
        stage.step(times[0], false);
        let results: Arc<Mutex<Vec<Result<(), String>>>> = Arc::default();
        let seen = Arc::clone(&results);
        alerts.request_test(move |delivered| seen.lock().push(delivered));
        stage.step(times[1], false);
        assert_eq!(*results.lock(), [Ok(())]);
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

    /// A fixed bug: "the test message was sent" by a program that does not exist.
    #[test]
    fn a_test_message_reports_that_its_program_failed() {
        let board: Arc<Board> = Arc::default();
        let journal = Journal::new(Arc::clone(&board));
        let alerts = Arc::new(AlertBoard::new(AlertParams {
            command: "/no/such/shoal-mail".to_owned(),
            ..AlertParams::default()
        }));
        let mut stage = AlertStage::new(Arc::clone(&alerts), Arc::default(), board, &journal);
        let results: Arc<Mutex<Vec<Result<(), String>>>> = Arc::default();
        let seen = Arc::clone(&results);
        alerts.request_test(move |delivered| seen.lock().push(delivered));
        let begin = stage.started;
        stage.step(begin, false);
        let reason = results.lock()[0].clone().unwrap_err();
        assert!(reason.contains("alerts.command"), "{reason}");
        assert!(reason.contains("/no/such/shoal-mail"), "{reason}");
        // A test is not repeated later.
        assert!(stage.waiting.is_empty());
        alerts.set_params(AlertParams::default());
        let seen = Arc::clone(&results);
        alerts.request_test(move |delivered| seen.lock().push(delivered));
        stage.step(begin, false);
        assert_eq!(results.lock().len(), 2, "the program was removed meanwhile");
    }
}
