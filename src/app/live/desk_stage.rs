//! The desk stage: applies the commands of all clients to the documents of the site, answers each, sends the resulting changes
//! to the simulation and the screen, and publishes the status.
//! In: requests, and accepted calibrations. Out: replies, changes of the pool, a new render setup if the look of the pool
//! changed, the status, events. The simulation never waits for this stage, and no command waits for a tick. A rejected command
//! changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::app::desk::{Desk, reasons};
use crate::app::incident::DocumentsCopy;
use crate::app::session::{SessionEntry, SessionLog};
use crate::calibration::Calibration;
use crate::control::{
    Board, CalibrationStatus, CalibrationStep, Command, DocumentName, DocumentsPage, Edit,
    EditChange, EditorStep, EventKind, FaultReporter, Incoming, IndividualCommand, Journal,
    Outcome, PoolCommand, PoolEdit, ShowCommand, Source, SourceKind, Status, UpkeepCommand,
    VisionCommand,
};
use crate::files::save_file;
use crate::site::Site;

use super::super::last_good::LastGood;
use super::alert_stage::AlertBoard;
use super::command_log::CommandLog;
use super::live_calibration::CalibrationCommand;
use super::notice::NoticeBoard;
use super::pool_queue::{PoolChange, PoolQueue};
use super::pool_report::Living;
use super::schedule_stage::ScheduleBoard;
use super::setup_handoff::{SetupBuilder, SetupHandoff};
use super::stage_control::StageControl;
use super::status_builder::StatusBuilder;
use super::vision_stage::VisionSettings;
use crate::runtime::{Heartbeat, Latest};

/// Longest time between two steps of one drag. The panel sends a step every 120 ms, and the last one when the finger is lifted.
const JOIN_TIME: Duration = Duration::from_secs(1);
/// Longest wait for a command before the next heartbeat.
const COMMAND_WAIT: Duration = Duration::from_millis(100);
/// Time between two statuses.
const STATUS_INTERVAL: Duration = Duration::from_millis(250);
/// Longest time from a command until the status contains its effect.
const STATUS_AFTER_COMMAND: Duration = Duration::from_millis(50);
/// Longest time for which the status comes faster while the pool has not applied a command yet.
const FAST_STATUS_TIME: Duration = Duration::from_secs(1);
/// Name of the file in which an accepted calibration is saved if the site does not name a file.
const CALIBRATION_FILE: &str = "calibration.toml";
/// Time after which an accepted calibration that could not be saved is saved again.
const SAVE_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Inputs and outputs of the desk stage.
pub(crate) struct DeskLinks {
    /// Requests of all clients.
    pub(crate) requests: Receiver<Incoming>,
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
    /// Accepted calibrations from the vision stage. The desk saves them.
    pub(crate) accepted: Receiver<Box<Calibration>>,
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
    /// Number of the newest command that changes the pool, and when it was passed on; `None` if the status shows its effect.
    unconfirmed: Option<(u64, Instant)>,
    /// The individuals after the newest tick that is known here.
    living: Living,
    /// Removed individuals whose removal the pool has not confirmed yet: id, and number of the command.
    removed: Vec<(u32, u64)>,
    /// The last applied command, if it set values; a further step of a drag joins it.
    last_edit: Option<LastEdit>,
    /// The last valid documents; `None` for the built-in site.
    last_good: Option<LastGood>,
    /// Values that need a restart and are already in the log.
    restart_needed: Vec<String>,
    /// Calibration of the camera, as the vision stage published it.
    calibration: Arc<Mutex<CalibrationStatus>>,
    /// An accepted calibration that could not be saved, and the time of the next attempt.
    unsaved_calibration: Option<(Box<Calibration>, Instant)>,
    calibration_fault: FaultReporter,
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
        let calibration_fault = FaultReporter::new("calibration_unsaved", &links.journal);
        Self {
            desk,
            links,
            status,
            folder: site.map(|site| site.parent().map(Path::to_path_buf).unwrap_or_default()),
            revision: 0,
            unconfirmed: None,
            living: Living::default(),
            removed: Vec::new(),
            last_edit: None,
            command_log: CommandLog::default(),
            last_good: site.map(LastGood::of_site),
            restart_needed: Vec::new(),
            calibration,
            unsaved_calibration: None,
            calibration_fault,
        }
    }

    /// Applies commands until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        let mut status_due = Instant::now();
        self.keep_last_good();
        self.publish_documents();
        while heartbeat.keep_running() {
            while let Ok(calibration) = self.links.accepted.try_recv() {
                self.save_calibration(calibration);
            }
            let now = Instant::now();
            if (self.unsaved_calibration.as_ref()).is_some_and(|(_, due)| now >= *due) {
                // The fault is still active if this fails too.
                let _ = self.save_calibration_again();
            }
            if now >= status_due {
                self.publish_status();
                status_due = now + self.status_interval(now);
            }
            let wait = status_due.saturating_duration_since(now).min(COMMAND_WAIT);
            match self.links.requests.recv_timeout(wait) {
                Ok(incoming) => {
                    self.serve(incoming);
                    status_due = status_due.min(Instant::now() + STATUS_AFTER_COMMAND);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Returns the time until the next status. It is short while a change of the pool is on its way.
    fn status_interval(&mut self, now: Instant) -> Duration {
        self.unconfirmed = self.unconfirmed.filter(|(revision, since)| {
            *revision > self.living.revision
                && now.saturating_duration_since(*since) < FAST_STATUS_TIME
        });
        if self.unconfirmed.is_some() {
            STATUS_AFTER_COMMAND
        } else {
            STATUS_INTERVAL
        }
    }

    /// Publishes the documents. Clients make their JSON on their own threads.
    fn publish_documents(&self) {
        let (documents, revision) = (self.desk.editor().documents_view(), self.revision);
        let page = DocumentsPage::new(move || documents.json(revision));
        self.links.board.publish_documents(page);
    }

    fn keep_last_good(&mut self) {
        if let Some(last_good) = &mut self.last_good {
            last_good.keep(self.desk.editor());
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
        let outcome = self.apply(&incoming.request.source, &incoming.request.command, sent);
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
            Command::Vision(VisionCommand::Calibrate { step }) => self.calibrate(step),
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
                    problems: problems.clone(),
                }
            }
        };
        self.links.journal.add(event);
        outcome
    }

    /// Applies a command for the documents and the fish.
    fn change_pool(&mut self, source: &Source, command: &PoolCommand, sent: Instant) -> Outcome {
        let mut outcome = self.edit_joined(source, command, sent);
        let is_save = *command == EditorStep::Save.into();
        let is_take_over = matches!(command, PoolCommand::Editor(EditorStep::TakeOver { .. }));
        if outcome.is_applied()
            && is_save
            && let Err(reason) = self.save_calibration_again()
        {
            outcome = Outcome::rejected(format!("the calibration is not saved: {reason}"));
        }
        // A rejected file is shown with its problems.
        if outcome.is_applied() || is_take_over {
            self.publish_documents();
        }
        if outcome.is_applied() && (is_save || is_take_over) {
            self.keep_last_good();
        }
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

    /// Takes the newest individuals, and forgets removals that the pool has applied.
    fn update_living(&mut self) {
        self.links.living.take(&mut self.living, Duration::ZERO);
        let applied = self.living.revision;
        self.removed.retain(|(_, revision)| *revision > applied);
    }

    fn calibrate(&mut self, step: &CalibrationStep) -> Outcome {
        if let Some(reason) = impossible_step(step, &self.calibration.lock()) {
            return Outcome::rejected(reason);
        }
        let limits = self.desk.editor().site().file.calibration.clone();
        if !self.send_calibration(CalibrationCommand::Step(step.clone(), limits)) {
            return Outcome::rejected("too many calibration steps at once; try again in a moment");
        }
        self.revision += 1;
        Outcome::Applied {
            tick: self.living.tick,
            notes: Vec::new(),
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

    /// Applies an edit. If the same client changes the same values again within a moment, all these edits are one step to undo.
    fn edit_joined(&mut self, source: &Source, command: &PoolCommand, sent: Instant) -> Outcome {
        let next = LastEdit::of(source, command, sent);
        let joins_last = next.as_ref().zip(self.last_edit.as_ref());
        let joins_last = joins_last.is_some_and(|(next, last)| next.joins(last));
        let outcome = match command {
            PoolCommand::Edit(PoolEdit::Edit { edits, .. }) => {
                let edits = edits.clone();
                self.edit(&PoolEdit::Edit { edits, joins_last }.into(), sent)
            }
            _ => self.edit(command, sent),
        };
        if outcome.is_applied() {
            self.last_edit = next;
        }
        outcome
    }

    fn edit(&mut self, command: &PoolCommand, sent: Instant) -> Outcome {
        self.update_living();
        if !self.links.queue.has_room() {
            return Outcome::rejected(
                "the simulation has not applied the last changes yet; try again in a moment",
            );
        }
        let before = Arc::clone(self.desk.editor().site());
        let (living, removed) = (&self.living, &self.removed);
        let species_of = |id| {
            let is_removed = removed.iter().any(|(removed, _)| *removed == id);
            living
                .species_of(id)
                .filter(|_| !is_removed)
                .map(str::to_owned)
        };
        let applied = match self.desk.apply(command, living.tick, &species_of) {
            Ok(applied) => applied,
            Err(problems) => {
                return Outcome::Rejected {
                    problems: reasons(&problems),
                };
            }
        };
        self.revision += 1;
        if let (Some(log), Some(command)) = (&self.links.session, &applied.command) {
            // The individual is named in the state that this desk knew, which the replay does not know.
            let species = match command {
                PoolCommand::Individual(command) => species_of(command.id()),
                _ => None,
            };
            log.add(SessionEntry::Command {
                revision: self.revision,
                command: Box::new(command.clone()),
                species,
            });
        }
        if let PoolCommand::Individual(IndividualCommand::RemoveIndividual { id }) = command {
            self.removed.push((*id, self.revision));
        }
        let site = Arc::clone(self.desk.editor().site());
        let mut change = PoolChange {
            revision: self.revision,
            setup_version: self.links.queue.setup_version(),
            sent,
            changes: applied.changes,
        };
        if applied.is_new_site {
            self.update_site(&before, &site, &mut change);
        }
        let scene = applied.is_new_site.then(|| site.description());
        self.links.queue.push(change, scene);
        self.unconfirmed = Some((self.revision, Instant::now()));
        Outcome::Applied {
            tick: self.living.tick,
            notes: self.new_restart_notes(),
        }
    }

    /// Passes a changed site to the stages that need it.
    fn update_site(&mut self, before: &Site, site: &Arc<Site>, change: &mut PoolChange) {
        let is_same_scene = has_same_look(before, site);
        if !is_same_scene || before.outputs() != site.outputs() {
            change.setup_version += 1;
            if let Some((handoff, build_setup)) = &self.links.setups {
                let setup = build_setup(Site::clone(site));
                handoff.replace(change.setup_version, setup, is_same_scene);
            }
        }
        self.links.notices.set_language(site.file.language);
        let settings = vision_settings(site);
        if vision_settings(before) != settings {
            *self.links.settings.lock() = Some(settings);
        }
        if before.file.alerts != site.file.alerts {
            self.links.alerts.set_params(site.file.alerts.clone());
        }
        if before.file.schedule != site.file.schedule {
            self.links.schedule.set_params(site.file.schedule.clone());
        }
        if before.calibration != site.calibration {
            self.unsaved_calibration = None;
            self.calibration_fault.clear();
            let calibration = site.calibration.clone().map(Box::new);
            self.send_calibration(CalibrationCommand::Replace(calibration));
        }
        if before.scene_name != site.scene_name {
            let scene = site.scene_name.clone();
            self.links.journal.add(EventKind::SceneChanged { scene });
        }
    }

    /// Returns a note for every value that needs a restart since this command.
    fn new_restart_notes(&mut self) -> Vec<String> {
        let needed = self.desk.editor().restart_needed();
        let known = std::mem::replace(&mut self.restart_needed, needed);
        let new = self
            .restart_needed
            .iter()
            .filter(|path| !known.contains(path));
        let note =
            |path: &String| format!("the change of {path} becomes effective after a restart");
        let notes: Vec<String> = new.map(note).collect();
        for note in &notes {
            tracing::warn!("{note}");
        }
        notes
    }

    /// Sends a command to the calibration. Returns false if too many are waiting.
    fn send_calibration(&self, command: CalibrationCommand) -> bool {
        let is_sent = self.links.calibration_commands.try_send(command).is_ok();
        if !is_sent {
            tracing::warn!("calibration: too many commands at once; try again in a moment");
        }
        is_sent
    }

    /// Saves an accepted calibration, so that it is still in use after a restart. If that fails, it is a fault, and the
    /// calibration is saved later.
    fn save_calibration(&mut self, calibration: Box<Calibration>) {
        self.unsaved_calibration = None;
        let saved = match self.folder.clone() {
            Some(folder) => self.save(&folder, &calibration),
            None => Err("the built-in demo has no folder; start Shoal with a site file".to_owned()),
        };
        let message = match saved {
            Ok(path) => {
                self.calibration_fault.clear();
                let message = format!("The calibration is in use and saved: {}", path.display());
                tracing::info!("{message}");
                message
            }
            Err(reason) => {
                let message = format!(
                    "The calibration is in use until the next restart, but is not saved: {reason}"
                );
                if self.folder.is_some() {
                    self.calibration_fault.raise(&message);
                    let due = Instant::now() + SAVE_AGAIN_AFTER;
                    self.unsaved_calibration = Some((calibration, due));
                } else {
                    tracing::error!("{message}");
                }
                message
            }
        };
        self.send_calibration(CalibrationCommand::ReportSaved(message));
    }

    /// Saves the calibration that could not be saved before, if there is one.
    fn save_calibration_again(&mut self) -> Result<(), String> {
        let Some((calibration, _)) = self.unsaved_calibration.take() else {
            return Ok(());
        };
        let folder = self.folder.clone().unwrap_or_default();
        match self.save(&folder, &calibration) {
            Ok(path) => {
                self.calibration_fault.clear();
                let message = format!("The calibration is saved now: {}", path.display());
                self.send_calibration(CalibrationCommand::ReportSaved(message));
                Ok(())
            }
            Err(reason) => {
                self.calibration_fault.raise(&reason);
                let due = Instant::now() + SAVE_AGAIN_AFTER;
                self.unsaved_calibration = Some((calibration, due));
                Err(reason)
            }
        }
    }

    fn save(&mut self, folder: &Path, calibration: &Calibration) -> Result<PathBuf, String> {
        let named = self.desk.editor().site().file.calibration.file.clone();
        let path = folder.join(named.as_deref().unwrap_or(CALIBRATION_FILE));
        save_file(&path, calibration.to_toml().as_bytes())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if named.is_none() {
            self.name_calibration_in_site()?;
        }
        Ok(path)
    }

    /// Writes the name of the calibration file to `calibration.file` of the site. The site file is saved only if it had no
    /// other unsaved changes.
    fn name_calibration_in_site(&mut self) -> Result<(), String> {
        let is_clean = self.desk.editor().unsaved().is_empty();
        let source = Source::of(SourceKind::Desk);
        let edit = PoolEdit::Edit {
            edits: vec![Edit {
                document: DocumentName::Site,
                path: "calibration.file".to_owned(),
                change: EditChange::Set {
                    value: CALIBRATION_FILE.into(),
                },
            }],
            joins_last: false,
        };
        self.apply(&source, &Command::Pool(edit.into()), Instant::now());
        if is_clean {
            let save = Command::Pool(EditorStep::Save.into());
            self.apply(&source, &save, Instant::now());
        }
        let editor = self.desk.editor();
        let is_named = editor.site().file.calibration.file.is_some();
        if is_named && !editor.unsaved().contains(&DocumentName::Site) {
            return Ok(());
        }
        Err(format!(
            "the site file does not contain calibration.file = \"{CALIBRATION_FILE}\" yet; save the site"
        ))
    }
}

/// An edit that a further step of a drag can join.
struct LastEdit {
    source: Source,
    /// The values that it set.
    values: Vec<(DocumentName, String)>,
    sent: Instant,
}

impl LastEdit {
    /// Returns what has to be known of a command; `None` if it does more than to set values.
    fn of(source: &Source, command: &PoolCommand, sent: Instant) -> Option<Self> {
        let PoolCommand::Edit(PoolEdit::Edit { edits, .. }) = command else {
            return None;
        };
        let is_set = |edit: &Edit| matches!(edit.change, EditChange::Set { .. });
        edits.iter().all(is_set).then(|| Self {
            source: source.clone(),
            values: (edits
                .iter()
                .map(|edit| (edit.document.clone(), edit.path.clone())))
            .collect(),
            sent,
        })
    }

    fn joins(&self, last: &Self) -> bool {
        self.sent.saturating_duration_since(last.sent) <= JOIN_TIME
            && self.source == last.source
            && self.values == last.values
    }
}

/// Returns the reason why a calibration step is impossible at present; `None` if it is possible.
fn impossible_step(step: &CalibrationStep, status: &CalibrationStatus) -> Option<&'static str> {
    match step {
        CalibrationStep::Back | CalibrationStep::Skip | CalibrationStep::Repeat { .. }
            if !status.is_running =>
        {
            Some("no touch targets are shown; start a calibration first")
        }
        CalibrationStep::Accept if !status.is_proven => {
            Some("there is no proven calibration to accept yet")
        }
        CalibrationStep::Cancel if !status.is_running => {
            Some("no calibration is running, so there is nothing to cancel")
        }
        _ => None,
    }
}

fn vision_settings(site: &Site) -> VisionSettings {
    VisionSettings {
        vision: site.file.vision.clone(),
        surface: site.file.surface.clone(),
        camera: site.file.camera.clone(),
    }
}

/// Whether the same render setup can draw both sites, apart from their outputs.
fn has_same_look(a: &Site, b: &Site) -> bool {
    let species = |site: &Site| -> Vec<_> {
        // The same model is the same object until its file changes.
        let look = |s: &crate::site::SiteSpecies| {
            let model = Arc::as_ptr(&s.model);
            (s.name.clone(), s.file.look.clone(), model)
        };
        site.species.iter().map(look).collect()
    };
    a.file.surface == b.file.surface
        && a.scene.look == b.scene.look
        && a.scene.obstacles == b.scene.obstacles
        && a.scene.pool.ground_depth_m.to_bits() == b.scene.pool.ground_depth_m.to_bits()
        && a.scene.pool.terraces == b.scene.pool.terraces
        && species(a) == species(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::{Editor, load};

    fn source(name: &str) -> Source {
        Source {
            kind: SourceKind::Panel,
            name: name.to_owned(),
        }
    }

    fn set(path: &str, value: f64, joins_last: bool) -> PoolCommand {
        PoolCommand::Edit(PoolEdit::Edit {
            edits: vec![Edit {
                document: DocumentName::Site,
                path: path.to_owned(),
                change: EditChange::Set {
                    value: value.into(),
                },
            }],
            joins_last,
        })
    }

    #[test]
    fn steps_of_one_drag_are_recognized() {
        let begin = Instant::now();
        let edit = |name: &str, path: &str, ms: u64| {
            let sent = begin + Duration::from_millis(ms);
            LastEdit::of(&source(name), &set(path, 0.5, false), sent).unwrap()
        };
        let first = edit("ada", "surface.width_m", 0);
        assert!(edit("ada", "surface.width_m", 900).joins(&first));
        assert!(!edit("ada", "surface.width_m", 1100).joins(&first), "late");
        assert!(
            !edit("bob", "surface.width_m", 100).joins(&first),
            "another client"
        );
        assert!(
            !edit("ada", "surface.height_m", 100).joins(&first),
            "another value"
        );
        assert!(LastEdit::of(&source("ada"), &EditorStep::Undo.into(), begin).is_none());
    }

    #[test]
    fn a_drag_is_one_step_to_undo() {
        let mut editor = Editor::open(None, None).unwrap();
        let width = |editor: &Editor| editor.site().file.surface.width_m;
        let none = |_: u32| None;
        editor
            .apply(&set("surface.width_m", 5.0, false), &none)
            .unwrap();
        for (value, joins_last) in [(5.1, false), (5.2, true), (5.2, true), (5.3, true)] {
            editor
                .apply(&set("surface.width_m", value, joins_last), &none)
                .unwrap();
        }
        assert_eq!(editor.undo_depths(), (2, 0));
        editor.apply(&EditorStep::Undo.into(), &none).unwrap();
        assert!((width(&editor) - 5.0).abs() < 1e-6);
        editor.apply(&EditorStep::Redo.into(), &none).unwrap();
        assert!((width(&editor) - 5.3).abs() < 1e-6);
    }

    #[test]
    fn an_edited_terrace_needs_a_new_picture() {
        let before = load(None, Some("cascade")).expect("the shipped scene is valid");
        assert!(has_same_look(&before, &before.clone()));
        let mut after = before.clone();
        after.scene.pool.terraces[0].ground_depth_m += 0.1;
        assert!(!has_same_look(&before, &after));
    }
}
