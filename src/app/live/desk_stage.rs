//! The desk stage: applies the commands of all clients to the documents of the site, answers each, sends the resulting changes
//! to the simulation and the screen, and publishes the status.
//!
//! In: one queue of events: requests, and reports of stages. Out: replies, changes of the pool, a new render setup if the look of
//! the pool changed, the status, events. The simulation never waits for this stage, and no command waits for a tick. A rejected
//! command changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::app::desk::Desk;
use crate::control::{
    Board, CalibrationStatus, Command, DeskEvent, DocumentsPage, EditorStep, EventKind, Incoming,
    Journal, Outcome, PoolCommand, Reason, ShowCommand, Source, SourceKind, StageReport, Status,
    UpkeepCommand, VisionCommand,
};
use crate::operation::{AlertBoard, ScheduleBoard};
use crate::records::{DocumentsCopy, LastValidSite, SessionLog};
use crate::runtime::{Fault, Heartbeat, Latest};
use crate::screen::{NoticeBoard, SetupHandoff};

use super::SetupBuilder;
use super::command_log::CommandLog;
use super::live_calibration::CalibrationCommand;
use super::pool_queue::PoolQueue;
use super::pool_report::Living;
use super::stage_control::StageControl;
use super::status_builder::StatusBuilder;
use super::vision_stage::VisionSettings;
use pool_changes::LastEdit;

mod calibration;
mod pool_changes;

/// Time between two statuses without an event. Also the longest wait between two heartbeats.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);
/// Longest time from an event until the status contains its effect.
const STATUS_AFTER_EVENT: Duration = Duration::from_millis(50);

/// Inputs and outputs of the desk stage.
pub(crate) struct DeskLinks {
    /// Requests of all clients, and reports of stages.
    pub(crate) events: Receiver<DeskEvent>,
    /// Status and events.
    pub(crate) board: Arc<Board>,
    /// Events and active faults.
    pub(crate) journal: Journal,
    /// Changes for the simulation stage.
    pub(crate) queue: Arc<PoolQueue>,
    /// The individuals after the newest tick.
    pub(crate) living: Arc<Latest<Living>>,
    /// Commands for the calibration in the vision stage.
    pub(crate) calibration_commands: SyncSender<CalibrationCommand>,
    /// The log of the session; `None` if it is not logged.
    pub(crate) session: Option<SessionLog>,
    /// Copies of the documents for incidents; `None` if no incidents are kept.
    pub(crate) documents: Option<Arc<DocumentsCopy>>,
    /// The schedule.
    pub(crate) schedule: Arc<ScheduleBoard>,
    /// Messages about faults.
    pub(crate) alerts: Arc<AlertBoard>,
    /// Restarts and pauses.
    pub(crate) control: StageControl,
    /// Texts on the floor.
    pub(crate) notices: NoticeBoard,
    /// Settings for the vision stage.
    pub(crate) settings: Arc<Mutex<Option<VisionSettings>>>,
    /// The handoff of render setups, and the function that builds them; `None` if the pool runs without a picture.
    pub(crate) setups: Option<(Arc<SetupHandoff>, SetupBuilder)>,
}

/// The desk stage.
pub(crate) struct DeskStage {
    desk: Desk,
    links: DeskLinks,
    status: StatusBuilder,
    /// Folder of the site file, in which calibrations are saved; `None` for the built-in site.
    folder: Option<PathBuf>,
    /// Number of commands that were applied.
    revision: u64,
    /// The individuals after the newest tick that is known here.
    living: Living,
    /// Removed individuals whose removal the pool has not confirmed yet: id, and number of the command.
    removed: Vec<(u32, u64)>,
    /// The last applied command, if it set values; a further step of a drag joins it.
    last_edit: Option<LastEdit>,
    /// The last valid documents; `None` for the built-in site.
    last_valid: Option<LastValidSite>,
    /// Values that need a restart and are already in the log.
    restart_needed: Vec<String>,
    /// Calibration of the camera, as the vision stage published it.
    calibration: Arc<Mutex<CalibrationStatus>>,
    /// Text of an accepted calibration that could not be saved, and the time of the next attempt.
    unsaved_calibration: Option<(String, Instant)>,
    calibration_fault: Fault,
    command_log: CommandLog,
}

impl DeskStage {
    /// Creates the stage. `site` is the path of the site file; `None` for the built-in site.
    pub(crate) fn new(
        desk: Desk,
        links: DeskLinks,
        status: StatusBuilder,
        site: Option<&Path>,
        calibration: Arc<Mutex<CalibrationStatus>>,
    ) -> Self {
        let calibration_fault = links.journal.fault("calibration_unsaved");
        Self {
            desk,
            links,
            status,
            folder: site.map(|site| site.parent().map(Path::to_path_buf).unwrap_or_default()),
            revision: 0,
            living: Living::default(),
            removed: Vec::new(),
            last_edit: None,
            command_log: CommandLog::default(),
            last_valid: site.map(LastValidSite::of_site),
            restart_needed: Vec::new(),
            calibration,
            unsaved_calibration: None,
            calibration_fault,
        }
    }

    /// Waits for events and handles them until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        self.keep_last_valid();
        self.publish_documents();
        let mut status_due = Instant::now();
        while heartbeat.keep_running() {
            let now = Instant::now();
            if now >= status_due {
                self.publish_status();
                status_due = now + STATUS_INTERVAL;
            }
            self.save_calibration_if_due(now);
            let wait = status_due.saturating_duration_since(now);
            match self.links.events.recv_timeout(wait) {
                Ok(event) => {
                    self.handle(event);
                    status_due = status_due.min(Instant::now() + STATUS_AFTER_EVENT);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn handle(&mut self, event: DeskEvent) {
        match event {
            DeskEvent::Request(incoming) => self.serve(incoming),
            DeskEvent::Report(StageReport::CalibrationAccepted(text)) => {
                self.save_calibration(text);
            }
            // Only the status is due.
            DeskEvent::Report(StageReport::PoolChanged) => {}
        }
    }

    /// Publishes the documents. Clients make their JSON on their own threads.
    fn publish_documents(&self) {
        let (documents, revision) = (self.desk.editor().documents_view(), self.revision);
        let page = DocumentsPage::new(move |reader| documents.json(revision, reader));
        self.links.board.publish_documents(page);
    }

    fn keep_last_valid(&mut self) {
        if let Some(last_valid) = &mut self.last_valid {
            last_valid.keep(self.desk.editor());
        }
    }

    fn publish_status(&mut self) {
        if let Some(documents) = &self.links.documents {
            documents.make_if_wanted(self.revision, || self.desk.editor().state());
        }
        self.links.control.follow_rehearsal();
        self.update_living();
        let documents: Status = self.desk.document_status();
        let status = self.status.build(documents, &self.living, self.revision);
        self.links.board.publish(status);
    }

    fn serve(&mut self, incoming: Incoming) {
        let sent = incoming.sent;
        self.desk.allow_programs(incoming.request.may_name_programs);
        let outcome = self.apply(&incoming.request.source, &incoming.request.command, sent);
        self.desk.allow_programs(true);
        incoming.answer(self.revision, outcome);
        self.status.record_reply(sent.elapsed());
    }

    /// Applies a command or rejects it, and writes the event.
    fn apply(&mut self, source: &Source, command: &Command, sent: Instant) -> Outcome {
        let current = match command {
            Command::Pool(PoolCommand::Editor(EditorStep::TakeOver { documents }))
                if source.kind == SourceKind::Files =>
            {
                let documents = self.desk.editor().without_outdated(documents);
                Some(Command::Pool(EditorStep::TakeOver { documents }.into()))
            }
            _ => None,
        };
        let command = current.as_ref().unwrap_or(command);
        let outcome = match command {
            Command::Pool(command) => self.change_pool(source, command, sent),
            Command::Vision(VisionCommand::Calibrate { step }) => {
                let requested = self.request_calibration(step);
                self.passed_on(requested)
            }
            Command::Show(command) => {
                let requested = self.request_show(command);
                self.passed_on(requested)
            }
            Command::Upkeep(command) => {
                let requested = self.request_upkeep(command);
                self.passed_on(requested)
            }
        };
        let (name, summary) = (command.name().to_owned(), command.summary());
        let is_logged = self.command_log.admits(Instant::now());
        let event = match &outcome {
            Outcome::Applied { .. } => {
                if is_logged {
                    tracing::info!(%source, revision = self.revision, "applied: {name} {summary}");
                }
                EventKind::CommandApplied {
                    revision: self.revision,
                    source: source.clone(),
                    command: name,
                    summary,
                }
            }
            Outcome::Rejected { problems } => {
                for problem in problems.iter().filter(|_| is_logged) {
                    tracing::warn!(%source, "rejected: {name} {summary}: {problem}");
                }
                EventKind::CommandRejected {
                    source: source.clone(),
                    command: name,
                    summary,
                    problems: Reason::kept(problems),
                }
            }
        };
        self.links.journal.add(event);
        outcome
    }

    fn request_show(&self, command: &ShowCommand) -> Result<(), String> {
        let requested = match command {
            ShowCommand::Schedule { step } => self.links.schedule.request(step.clone()),
            ShowCommand::Pause { on } => self.links.control.pause(*on),
            ShowCommand::TestAlert => self.links.alerts.request_test(),
        };
        requested.map_err(str::to_owned)
    }

    fn request_upkeep(&self, command: &UpkeepCommand) -> Result<(), String> {
        match command {
            UpkeepCommand::Restart { stage } => {
                let restarted = self.links.control.restart(*stage);
                restarted.map_err(str::to_owned)
            }
            UpkeepCommand::Recording { step } => self.links.control.record(step),
            UpkeepCommand::KeepIncident if self.links.documents.is_none() => {
                Err("no incidents are kept; start Shoal with --keep-incidents DIR".to_owned())
            }
            UpkeepCommand::KeepIncident => Ok(()),
        }
    }

    /// Returns the outcome of a command that another stage carries out.
    fn passed_on(&mut self, requested: Result<(), String>) -> Outcome {
        if let Err(reason) = requested {
            return Outcome::rejected(reason);
        }
        self.revision += 1;
        Outcome::Applied {
            tick: self.living.tick,
            notes: Vec::new(),
        }
    }
}
