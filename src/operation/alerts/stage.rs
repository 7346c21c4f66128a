//! The alert stage: lets the keeper decide which faults are reported, and delivers the messages on the ways that the site names.
//!
//! In: the status, once per second; events, for the report of a day. Out: messages. Must not: decide about a message, make another
//! stage wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::civil::DateTime;
use parking_lot::Mutex;

use super::keeper::{Alert, AlertKeeper};
use super::params::{AlertParams, QuietHours};
use super::report::{DayReport, minute_of};
use super::ways::Way;
use crate::control::{Board, DeliveryStatus, Journal};
use crate::operation::hours::{ScheduleBoard, minutes_of_day};
use crate::runtime::{FaultStatus, Heartbeat, now};

/// Time between two looks at the status.
const STEP_INTERVAL: Duration = Duration::from_secs(1);
/// Delay of a step from which the program was stopped for a while, so that the age of the status says nothing.
const STOPPED_FOR: Duration = Duration::from_secs(5);
/// Reason why no message can be sent.
const NO_WAY: &str =
    "the site names no way for messages; set alerts.webhook, alerts.mail or alerts.command";

/// Receives the result of a test message.
type OnDelivered = Box<dyn FnOnce(Result<(), String>) + Send>;

/// What the desk and the alert stage exchange.
#[derive(Default)]
pub struct AlertBoard {
    params: Mutex<AlertParams>,
    /// The test messages that were requested.
    tests: Mutex<Vec<OnDelivered>>,
    deliveries: Mutex<Vec<DeliveryStatus>>,
}

impl AlertBoard {
    /// Creates a board with the table of the site.
    pub fn new(params: AlertParams) -> Self {
        Self {
            params: Mutex::new(params),
            ..Self::default()
        }
    }

    /// Replaces the table.
    pub fn set_params(&self, params: AlertParams) {
        *self.params.lock() = params;
    }

    /// Checks that the site names a way for messages.
    ///
    /// # Errors
    /// If it names none.
    pub fn check_way(&self) -> Result<(), &'static str> {
        match self.params.lock().has_way() {
            true => Ok(()),
            false => Err(NO_WAY),
        }
    }

    /// Requests a test message on all ways. `on_delivered` is called on the thread of the stage when all have taken it, or one failed.
    pub fn request_test(&self, on_delivered: impl FnOnce(Result<(), String>) + Send + 'static) {
        self.tests.lock().push(Box::new(on_delivered));
    }

    /// Returns what became of the messages, for each way that the site names.
    pub fn deliveries(&self) -> Vec<DeliveryStatus> {
        self.deliveries.lock().clone()
    }
}

/// The alert stage.
pub struct AlertStage {
    alerts: Arc<AlertBoard>,
    schedule: Arc<ScheduleBoard>,
    board: Arc<Board>,
    keeper: AlertKeeper,
    ways: Vec<Way>,
    report: DayReport,
    /// Number of the newest event that the report knows.
    event: u64,
    started: Instant,
    /// Time of the last step.
    stepped: Option<Instant>,
}

impl AlertStage {
    /// Creates the stage. `schedule` knows the time zone of the quiet hours and of the report.
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
            ways: Way::all(journal),
            report: DayReport::default(),
            event: 0,
            started: Instant::now(),
            stepped: None,
        }
    }

    /// Delivers messages until the program ends.
    pub fn run(&mut self, heartbeat: &Heartbeat) {
        while heartbeat.sleep(STEP_INTERVAL) {
            let local = self.schedule.zone().to_datetime(now());
            self.step(Instant::now(), local);
        }
    }

    fn step(&mut self, now: Instant, local: DateTime) {
        let params = self.alerts.params.lock().clone();
        let site = self.board.status().site.clone();
        for way in &mut self.ways {
            way.follow(&params);
        }
        let tests = std::mem::take(&mut *self.alerts.tests.lock());
        for on_delivered in tests {
            on_delivered(self.test(&params, &site, now));
        }
        let alerts = self.due(&params, now, local);
        for way in self.ways.iter_mut().filter(|way| way.is_used()) {
            way.add(&alerts);
            way.deliver(&params, &site, now);
        }
        let ways = self.ways.iter();
        *self.alerts.deliveries.lock() = ways.filter_map(|way| way.status(now)).collect();
    }

    /// Sends a test message on all ways. It is not repeated later.
    ///
    /// # Errors
    /// When a way failed, or there is none.
    fn test(&mut self, params: &AlertParams, site: &str, now: Instant) -> Result<(), String> {
        if !params.has_way() {
            return Err(NO_WAY.to_owned());
        }
        let used = self.ways.iter_mut().filter(|way| way.is_used());
        let problems: Vec<_> = used
            .filter_map(|way| way.send(params, &Alert::test(), site, now).err())
            .collect();
        match problems.as_slice() {
            [] => Ok(()),
            problems => Err(problems.join("; ")),
        }
    }

    /// Returns the messages that are due.
    fn due(&mut self, params: &AlertParams, now: Instant, local: DateTime) -> Vec<Alert> {
        let last = self.stepped.replace(now);
        let was_stopped =
            last.is_some_and(|last| now.saturating_duration_since(last) > STOPPED_FOR);
        let status = self.board.status();
        self.read_events();
        let report = minutes_of_day(&params.report_at).ok();
        let report = report.and_then(|at| self.report.take_if_due(at, local, &status));
        // The keeper forgets nothing that could not be sent, so without a way it gets nothing.
        if !params.has_way() {
            return Vec::new();
        }
        let is_told =
            |fault: &&FaultStatus| fault.name != "alerts" && !(was_stopped && fault.name == "desk");
        let active = status.faults.iter().filter(is_told);
        let active: Vec<FaultStatus> = active.cloned().collect();
        let now_secs = now.saturating_duration_since(self.started).as_secs_f64();
        let is_quiet =
            params.quiet != QuietHours::default() && params.quiet.contains(minute_of(local));
        let mut alerts = self.keeper.step(params, &active, now_secs, is_quiet);
        alerts.extend(report.map(Alert::report));
        alerts
    }

    /// Takes the new events for the report of the day.
    fn read_events(&mut self) {
        loop {
            let page = self.board.events.after(self.event, Duration::ZERO);
            for event in &page.events {
                self.report.add(event);
            }
            match page.events.last() {
                Some(last) => self.event = last.number,
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Status;

    fn noon() -> DateTime {
        jiff::civil::date(2026, 6, 1).at(12, 0, 0, 0)
    }

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
        assert!(alerts.check_way().is_err(), "there is no way");
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
        stage.step(times[0], noon());
        let results: Arc<Mutex<Vec<Result<(), String>>>> = Arc::default();
        let seen = Arc::clone(&results);
        alerts.request_test(move |delivered| seen.lock().push(delivered));
        stage.step(times[1], noon());
        assert_eq!(*results.lock(), [Ok(())]);
        board.publish(Status::default());
        stage.step(times[2], noon());
        stage.step(times[3], noon());
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
        stage.step(begin, noon());
        assert_eq!(journal.faults().len(), 1);
        std::fs::write(&flag, "").unwrap();
        stage.step(begin + Duration::from_secs(30), noon());
        assert_eq!(journal.faults().len(), 1, "it waits a minute");
        stage.step(begin + Duration::from_secs(61), noon());
        assert_eq!(journal.faults(), []);
        assert!(stage.ways.iter().all(|way| way.waiting() == 0));
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
        stage.step(begin, noon());
        let reason = results.lock()[0].clone().unwrap_err();
        assert!(reason.contains("alerts.command"), "{reason}");
        assert!(reason.contains("/no/such/shoal-mail"), "{reason}");
        // A test is not repeated later.
        assert!(stage.ways.iter().all(|way| way.waiting() == 0));
        alerts.set_params(AlertParams::default());
        let seen = Arc::clone(&results);
        alerts.request_test(move |delivered| seen.lock().push(delivered));
        stage.step(begin, noon());
        assert_eq!(results.lock().len(), 2, "the program was removed meanwhile");
    }
}
