//! Writes to the disk at once what operators set: the site file and the calibration. Scenes and species are drafts until they are
//! saved.
//!
//! While the disk refuses, it is a fault, and is tried again.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::live_calibration::CalibrationCommand;
use super::DeskStage;
use super::pool_changes::JOIN_TIME;
use crate::control::{
    DocumentName, Edit, EditChange, EditorStep, Journal, Outcome, PoolCommand, PoolEdit, Source,
    SourceKind,
};
use crate::files::save_file;
use crate::runtime::Fault;
use crate::site::NEEDS_DRAFT;

/// Name of the file in which an accepted calibration is saved if the site does not name a file.
const CALIBRATION_FILE: &str = "calibration.toml";
/// Time after which the disk is tried again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// What operators set and is not on the disk yet.
pub(super) struct Unkept {
    /// Index of the camera and text of an accepted calibration.
    calibration: Option<(usize, String)>,
    /// Time at which calibration and site are written; `None` if they are on the disk.
    due: Option<Instant>,
    fault: Fault,
}

impl Unkept {
    pub(super) fn new(journal: &Journal) -> Self {
        Self {
            calibration: None,
            due: None,
            fault: journal.fault("site_unsaved"),
        }
    }

    /// Forgets an accepted calibration of a camera, because another one is in use.
    pub(super) fn forget_calibration(&mut self, camera: usize) {
        self.calibration.take_if(|(of, _)| *of == camera);
    }
}

impl DeskStage {
    /// Writes the site file after a command that changed its text. The steps of a drag are written together, soon after the last.
    /// The outcome says if the change is not on the disk.
    pub(super) fn keep_after(&mut self, outcome: &mut Outcome, is_step_of_drag: bool) {
        if self.folder.is_none() {
            return;
        }
        if is_step_of_drag {
            self.unkept.due = Some(Instant::now() + JOIN_TIME);
            return;
        }
        if let (Err(reason), Outcome::Applied { unsaved, .. }) = (self.keep_now(), outcome) {
            *unsaved = Some(reason);
        }
    }

    /// Writes what is due.
    pub(super) fn keep_if_due(&mut self, now: Instant) {
        if self.unkept.due.is_some_and(|due| now >= due) {
            // The fault says what is wrong.
            let _ = self.keep_now();
            // Clients see that nothing is unsaved.
            self.publish_documents();
        }
    }

    /// Writes what is due, because the program ends.
    pub(super) fn keep_before_end(&mut self) {
        if self.unkept.due.is_some()
            && let Err(reason) = self.keep_now()
        {
            tracing::error!("{reason}");
        }
    }

    /// Writes an accepted calibration.
    pub(super) fn keep_calibration(&mut self, camera: usize, text: String) {
        if self.folder.is_none() {
            let message = "The calibration is in use until the next restart, but is not saved: the built-in demo has no \
                           folder; start Shoal with a site file";
            tracing::error!("{message}");
            self.send_calibration(camera, CalibrationCommand::ReportSaved(message.to_owned()));
            return;
        }
        self.unkept.calibration = Some((camera, text));
        if let Err(reason) = self.keep_now() {
            self.send_calibration(camera, CalibrationCommand::ReportSaved(reason));
        }
        self.publish_documents();
    }

    /// Writes the calibration and the site file, if they are not on the disk.
    ///
    /// # Errors
    /// The reason why something is not saved. It is tried again.
    pub(super) fn keep_now(&mut self) -> Result<(), String> {
        self.unkept.due = None;
        let mut kept = self.write_calibration();
        if kept.is_ok() {
            if self.desk.editor().site_needs_draft() {
                return Err(NEEDS_DRAFT.to_owned());
            }
            kept = self.write_site();
        }
        match kept {
            Ok(()) => {
                self.unkept.fault.clear();
                self.keep_last_valid();
                Ok(())
            }
            Err(reason) => {
                let message = format!("in use until the next restart, but not saved: {reason}");
                self.unkept.fault.raise(&message);
                self.unkept.due = Some(Instant::now() + AGAIN_AFTER);
                Err(message)
            }
        }
    }

    fn write_site(&mut self) -> Result<(), String> {
        if !self.desk.editor().unsaved().contains(&DocumentName::Site) {
            return Ok(());
        }
        match self.edit(&EditorStep::SaveSite.into(), Instant::now()) {
            Outcome::Applied { .. } => Ok(()),
            Outcome::Rejected { problems } => {
                let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Err(reasons.join("; "))
            }
        }
    }

    fn write_calibration(&mut self) -> Result<(), String> {
        let (Some((camera, text)), Some(folder)) =
            (self.unkept.calibration.take(), self.folder.clone())
        else {
            return Ok(());
        };
        match self.write_calibration_file(&folder, camera, &text) {
            Ok(path) => {
                let message = format!("The calibration is in use and saved: {}", path.display());
                tracing::info!("{message}");
                self.send_calibration(camera, CalibrationCommand::ReportSaved(message));
                Ok(())
            }
            Err(reason) => {
                self.unkept.calibration = Some((camera, text));
                Err(format!("the calibration: {reason}"))
            }
        }
    }

    /// Writes the file and names it in the site. Then the editor reads it, so that the watcher of the files finds nothing new.
    fn write_calibration_file(
        &mut self,
        folder: &Path,
        camera: usize,
        text: &str,
    ) -> Result<PathBuf, String> {
        let file = &self.desk.editor().site().file;
        let named = file.all_cameras().into_iter().nth(camera);
        let named = named.and_then(|camera| camera.calibration);
        let place = file.calibration_path(camera);
        let new = match file.cameras.len() {
            0 => CALIBRATION_FILE.to_owned(),
            _ => format!("calibration-{}.toml", camera + 1),
        };
        let path = folder.join(named.as_deref().unwrap_or(&new));
        save_file(&path, text.as_bytes())
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let command: PoolCommand = match named {
            Some(_) => EditorStep::TakeOver {
                documents: Vec::new(),
            }
            .into(),
            None => PoolEdit::Edit {
                edits: vec![Edit {
                    document: DocumentName::Site,
                    path: place,
                    change: EditChange::Set { value: new.into() },
                }],
                joins_last: false,
            }
            .into(),
        };
        let source = Source::of(SourceKind::Desk);
        let read = self.change_pool(&source, &command, Instant::now());
        self.write_site()?;
        match read {
            Outcome::Applied { .. } => Ok(path),
            Outcome::Rejected { problems } => {
                let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Err(reasons.join("; "))
            }
        }
    }
}
