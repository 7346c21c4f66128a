//! The desk stage: applies the commands of all clients to the documents of the site, answers each, sends the resulting changes
//! to the simulation and the screen, and publishes the status.
//!
//! In: one queue of events: requests, and reports of stages. Out: replies, changes of the pool, a new render setup if the look of
//! the pool changed, the status, events. The simulation never waits for this stage, and no command waits for a tick. A rejected
//! command changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::app::desk::Desk;
use crate::control::{
    Board, Command, DeskEvent, DeskEvents, DocumentName, DocumentsPage, EditorStep, EventKind,
    Incoming, Journal, OVERLAY_SECS, Outcome, PoolCommand, Reason, ShowCommand, Source, SourceKind,
    StageReport, Status, TestPicture, Trust, UpkeepCommand, VisionCommand,
};
use crate::operation::{AlertBoard, ScheduleBoard};
use crate::records::{DocumentsCopy, LastValidSite, SessionLog};
use crate::runtime::{Fault, Heartbeat, Latest};
use crate::screen::{NoticeBoard, SetupHandoff};

use super::SetupBuilder;
use super::command_log::CommandLog;
use super::hall::HallDesk;
use super::pool_queue::PoolQueue;
use super::pool_report::Living;
use super::sound_stage::SoundBoard;
use super::stage_control::StageControl;
use super::status_builder::StatusBuilder;
use files_read::FilesRead;
use keep::Unkept;
use pool_changes::LastEdit;

mod calibration;
mod files_read;
mod following;
mod keep;
mod overlay;
mod pool_changes;

/// Time between two statuses without an event. Also the longest wait between two heartbeats.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);
/// Longest time from an event until the status contains its effect.
const STATUS_AFTER_EVENT: Duration = Duration::from_millis(50);

/// Inputs and outputs of the desk stage.
pub(crate) struct DeskLinks {
    /// Requests of all clients, and reports of stages.
    pub(crate) events: DeskEvents,
    /// Status and events.
    pub(crate) board: Arc<Board>,
    /// Events and active faults.
    pub(crate) journal: Journal,
    /// Changes for the simulation stage.
    pub(crate) queue: Arc<PoolQueue>,
    /// The individuals after the newest tick.
    pub(crate) living: Arc<Latest<Living>>,
    /// The log of the session; `None` if it is not logged.
    pub(crate) session: Option<SessionLog>,
    /// Copies of the documents for incidents; `None` if no incidents are kept.
    pub(crate) documents: Option<Arc<DocumentsCopy>>,
    /// The schedule.
    pub(crate) schedule: Arc<ScheduleBoard>,
    /// Messages about faults.
    pub(crate) alerts: Arc<AlertBoard>,
    /// Wanted settings and status of the sound.
    pub(crate) sound: Arc<SoundBoard>,
    /// Restarts and pauses.
    pub(crate) control: StageControl,
    /// Texts on the floor.
    pub(crate) notices: NoticeBoard,
    /// The other nodes of the hall; `None` on a single machine.
    pub(crate) hall: Option<HallDesk>,
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
    /// Path of the site file; `None` for the built-in site.
    site_path: Option<PathBuf>,
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
    /// What operators set and is not on the disk yet.
    unkept: Unkept,
    /// Documents that the published status calls unsaved.
    published_unsaved: Vec<DocumentName>,
    /// The calibration does not fit the surface.
    misfit: Fault,
    /// The projected picture was moved after the calibration.
    projection_misfit: Fault,
    command_log: CommandLog,
}

impl DeskStage {
    /// Creates the stage. `site` is the path of the site file; `None` for the built-in site.
    pub(crate) fn new(
        desk: Desk,
        links: DeskLinks,
        status: StatusBuilder,
        site: Option<&Path>,
    ) -> Self {
        let unkept = Unkept::new(&links.journal);
        let misfit = links.journal.fault("calibration_surface");
        let projection_misfit = links.journal.fault("calibration_projection");
        Self {
            desk,
            links,
            status,
            folder: site.map(|site| site.parent().map(Path::to_path_buf).unwrap_or_default()),
            site_path: site.map(Path::to_path_buf),
            revision: 0,
            living: Living::default(),
            removed: Vec::new(),
            last_edit: None,
            command_log: CommandLog::default(),
            last_valid: site.map(LastValidSite::of_site),
            restart_needed: Vec::new(),
            unkept,
            published_unsaved: Vec::new(),
            misfit,
            projection_misfit,
        }
    }

    /// Waits for events and handles them until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        self.keep_last_valid();
        self.publish_documents();
        self.check_calibration();
        let mut status_due = Instant::now();
        while heartbeat.keep_running() {
            let now = Instant::now();
            if now >= status_due {
                self.publish_status();
                status_due = now + STATUS_INTERVAL;
            }
            self.follow_hall();
            self.keep_if_due(now);
            let wait = status_due.saturating_duration_since(now);
            match self.links.events.recv_timeout(wait) {
                Ok(event) => {
                    self.handle(event);
                    status_due = status_due.min(Instant::now() + STATUS_AFTER_EVENT);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.keep_before_end();
    }

    fn handle(&mut self, event: DeskEvent) {
        match event {
            DeskEvent::Request(incoming) => self.serve(incoming),
            DeskEvent::Report(StageReport::CalibrationAccepted { camera, text }) => {
                self.keep_calibration(camera, text);
            }
            // Only the status is due.
            DeskEvent::Report(StageReport::PoolChanged) => {}
        }
    }

    /// Begins or ends the faults that the calibration is for another surface, or for another place of the picture.
    fn check_calibration(&mut self) {
        let site = self.desk.editor().site();
        for (fault, misfit) in [
            (&mut self.misfit, site.calibration_misfit()),
            (&mut self.projection_misfit, site.projection_misfit()),
        ] {
            match misfit {
                Some(misfit) => {
                    fault.raise(&misfit);
                }
                None => fault.clear(),
            }
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
        if let Some(hall) = &self.links.hall {
            let revision = self.links.queue.revision();
            (hall.board.documents).make_if_wanted(revision, || self.desk.editor().state());
        }
        self.links.control.follow_rehearsal();
        self.links.control.program.follow();
        self.update_living();
        let chosen = self.links.control.rig.chosen_index();
        let documents: Status = self.desk.document_status(chosen);
        self.published_unsaved.clone_from(&documents.unsaved);
        let status = self.status.build(documents, &self.living, self.revision);
        self.links.board.publish(status);
    }

    fn serve(&mut self, incoming: Incoming) {
        match &incoming.request.command {
            Command::Show(ShowCommand::TestAlert) => return self.test_alert(incoming),
            Command::Vision(VisionCommand::Calibrate { step }) => {
                let step = step.clone();
                return self.calibrate(incoming, step);
            }
            _ => {}
        }
        let sent = incoming.sent;
        self.desk.set_trust(incoming.request.trust);
        let outcome = self.apply(&incoming.request.source, &incoming.request.command, sent);
        self.desk.set_trust(Trust::Programs);
        // After the answer no client reads a status that still calls the change saved.
        if self.desk.editor().unsaved() != self.published_unsaved {
            self.publish_status();
        }
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
            // A drawn area is an edit of the site file, which can be undone like any other. If that is impossible, the command is
            // rejected below.
            Command::Vision(VisionCommand::DrawArea { area }) => {
                (self.area_edit(area).ok()).map(|edit| Command::Pool(edit.into()))
            }
            _ => None,
        };
        let command = current.as_ref().unwrap_or(command);
        let read = FilesRead::of(command, self.desk.editor());
        let undone = self.undone_by(command);
        self.desk.set_author(source.clone());
        let outcome = match command {
            Command::Pool(command) => self.change_pool(source, command, sent),
            // Answered by another stage, see `serve`.
            Command::Vision(VisionCommand::Calibrate { .. }) => self.passed_on(Ok(())),
            Command::Vision(VisionCommand::ChooseCamera { name }) => {
                let chosen = self.links.control.rig.choose(name);
                self.passed_on(chosen)
            }
            Command::Vision(VisionCommand::DrawArea { area }) => {
                let edit = self.area_edit(area).map(|_| ());
                self.passed_on(edit)
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
        let name = command.name().to_owned();
        let summary = match &read {
            Some(read) if read.is_nothing(self.desk.editor()) => return outcome,
            Some(read) => read.summary(),
            None => undone.unwrap_or_else(|| command.summary()),
        };
        let event = CommandEvent {
            source: source.clone(),
            name,
            summary,
            revision: self.revision,
            outcome: outcome.clone(),
            is_logged: self.command_log.admits(Instant::now()),
        };
        event.log();
        self.links.journal.add(event.kind());
        outcome
    }

    /// Returns which change a command takes back or makes again, and who made it; `None` if the command does neither.
    fn undone_by(&self, command: &Command) -> Option<String> {
        let (undo, redo) = self.desk.editor().next_steps();
        match command {
            Command::Pool(PoolCommand::Editor(EditorStep::Undo { .. })) => undo,
            Command::Pool(PoolCommand::Editor(EditorStep::Redo { .. })) => redo,
            _ => None,
        }
        .map(|change| change.line())
    }

    /// Sends a test to people and other machines. The request is answered when the message to people is delivered, or when that has
    /// failed.
    fn test_alert(&mut self, incoming: Incoming) {
        let has_outputs = self.desk.editor().site().file.remote.has_outputs();
        let way = self.links.alerts.check_way();
        if let Err(reason) = way
            && !has_outputs
        {
            return incoming.answer(self.revision, Outcome::rejected(reason));
        }
        let event = self.begin_event(&incoming);
        let (tick, journal) = (self.living.tick, self.links.journal.clone());
        if has_outputs {
            self.links.journal.add(EventKind::Test);
        }
        let on_delivered = move |delivered| {
            let outcome = match delivered {
                Ok(()) => Outcome::applied(tick),
                Err(reason) => Outcome::rejected(reason),
            };
            event.finish(incoming, outcome, &journal);
        };
        match way {
            Ok(()) => self.links.alerts.request_test(on_delivered),
            // Whether other machines took it, says the status.
            Err(_) => on_delivered(Ok(())),
        }
    }

    /// Begins the event of a command that another stage answers.
    fn begin_event(&mut self, incoming: &Incoming) -> CommandEvent {
        self.revision += 1;
        let command = &incoming.request.command;
        CommandEvent {
            source: incoming.request.source.clone(),
            name: command.name().to_owned(),
            summary: command.summary(),
            revision: self.revision,
            outcome: Outcome::rejected(""),
            is_logged: self.command_log.admits(Instant::now()),
        }
    }

    fn request_show(&self, command: &ShowCommand) -> Result<(), String> {
        let requested = match command {
            ShowCommand::Schedule { step } => self.links.schedule.request(step.clone()),
            ShowCommand::Pause { on, until } => self.links.control.pause(on.then_some(*until)),
            ShowCommand::TestPicture { .. } if self.links.setups.is_none() => {
                Err("the pool runs without a picture")
            }
            ShowCommand::TestPicture { pattern, corner } => {
                let (pattern, corner) = (*pattern, *corner);
                let picture = pattern.map(|pattern| TestPicture { pattern, corner });
                self.links.control.show_test_picture(picture);
                Ok(())
            }
            ShowCommand::Overlay { show, fish, secs } => {
                return self.show_overlay(show, fish.as_ref(), secs.unwrap_or(OVERLAY_SECS));
            }
            ShowCommand::TestAlert => self.links.alerts.check_way(),
            ShowCommand::TestSound { speaker } => {
                return self.links.sound.request_test(speaker.as_deref());
            }
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
            UpkeepCommand::RestartProgram => {
                self.links.control.restart_program();
                Ok(())
            }
        }
    }

    /// Returns the outcome of a command that another stage carries out.
    fn passed_on(&mut self, requested: Result<(), String>) -> Outcome {
        if let Err(reason) = requested {
            return Outcome::rejected(reason);
        }
        self.revision += 1;
        Outcome::applied(self.living.tick)
    }
}

/// A command and what became of it, for log and events.
struct CommandEvent {
    source: Source,
    name: String,
    summary: String,
    /// Number of commands that were applied, with this one.
    revision: u64,
    outcome: Outcome,
    /// Whether the log has room for it.
    is_logged: bool,
}

impl CommandEvent {
    /// Answers the request, and writes the event.
    fn finish(mut self, incoming: Incoming, outcome: Outcome, journal: &Journal) {
        self.outcome = outcome;
        self.log();
        let (revision, outcome) = (self.revision, self.outcome.clone());
        journal.add(self.kind());
        incoming.answer(revision, outcome);
    }

    fn log(&self) {
        let Self {
            source,
            name,
            summary,
            revision,
            outcome,
            is_logged,
        } = self;
        if !is_logged {
            return;
        }
        match outcome {
            Outcome::Applied { .. } => {
                tracing::info!(%source, revision, "applied: {name} {summary}");
            }
            Outcome::Rejected { problems } => {
                for problem in problems {
                    tracing::warn!(%source, "rejected: {name} {summary}: {problem}");
                }
            }
        }
    }

    fn kind(self) -> EventKind {
        match self.outcome {
            Outcome::Applied { .. } => EventKind::CommandApplied {
                revision: self.revision,
                source: self.source,
                command: self.name,
                summary: self.summary,
            },
            Outcome::Rejected { problems } => EventKind::CommandRejected {
                source: self.source,
                command: self.name,
                summary: self.summary,
                problems: Reason::kept(&problems),
            },
        }
    }
}
