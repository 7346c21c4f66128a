//! The camera calibration: the desk passes its steps to the vision stage, and saves the calibration that the technician accepts.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::live_calibration::CalibrationCommand;
use super::DeskStage;
use crate::control::{
    CalibrationStatus, CalibrationStep, Command, DocumentName, Edit, EditChange, EditorStep,
    PoolEdit, Source, SourceKind,
};
use crate::files::save_file;

/// Name of the file in which an accepted calibration is saved if the site does not name a file.
const CALIBRATION_FILE: &str = "calibration.toml";
/// Time after which an accepted calibration that could not be saved is saved again.
const SAVE_AGAIN_AFTER: Duration = Duration::from_secs(5);

impl DeskStage {
    /// Passes a step of the calibration to the vision stage.
    pub(super) fn request_calibration(&self, step: &CalibrationStep) -> Result<(), String> {
        if let Some(reason) = impossible_step(step, &self.calibration.lock()) {
            return Err(reason.to_owned());
        }
        let limits = self.desk.editor().site().file.calibration.clone();
        if !self.send_calibration(CalibrationCommand::Step(step.clone(), limits)) {
            return Err("too many calibration steps at once; try again in a moment".to_owned());
        }
        Ok(())
    }

    /// Sends a command to the calibration. Returns false if too many are waiting.
    pub(super) fn send_calibration(&self, command: CalibrationCommand) -> bool {
        let is_sent = self.links.calibration_commands.try_send(command).is_ok();
        if !is_sent {
            tracing::warn!("calibration: too many commands at once; try again in a moment");
        }
        is_sent
    }

    /// Saves an accepted calibration, so that it is still in use after a restart. If that fails, it is a fault, and the
    /// calibration is saved later.
    pub(super) fn save_calibration(&mut self, text: String) {
        self.unsaved_calibration = None;
        let saved = match self.folder.clone() {
            Some(folder) => self.save(&folder, &text),
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
                    self.unsaved_calibration = Some((text, due));
                } else {
                    tracing::error!("{message}");
                }
                message
            }
        };
        self.send_calibration(CalibrationCommand::ReportSaved(message));
    }

    /// Tries again to save a calibration if it is time for it.
    pub(super) fn save_calibration_if_due(&mut self, now: Instant) {
        if (self.unsaved_calibration.as_ref()).is_some_and(|(_, due)| now >= *due) {
            // The fault is still active if this fails too.
            let _ = self.save_calibration_again();
        }
    }

    /// Saves the calibration that could not be saved before, if there is one.
    pub(super) fn save_calibration_again(&mut self) -> Result<(), String> {
        let Some((text, _)) = self.unsaved_calibration.take() else {
            return Ok(());
        };
        let folder = self.folder.clone().unwrap_or_default();
        match self.save(&folder, &text) {
            Ok(path) => {
                self.calibration_fault.clear();
                let message = format!("The calibration is saved now: {}", path.display());
                self.send_calibration(CalibrationCommand::ReportSaved(message));
                Ok(())
            }
            Err(reason) => {
                self.calibration_fault.raise(&reason);
                let due = Instant::now() + SAVE_AGAIN_AFTER;
                self.unsaved_calibration = Some((text, due));
                Err(reason)
            }
        }
    }

    fn save(&mut self, folder: &Path, text: &str) -> Result<PathBuf, String> {
        let named = self.desk.editor().site().file.calibration.file.clone();
        let path = folder.join(named.as_deref().unwrap_or(CALIBRATION_FILE));
        save_file(&path, text.as_bytes())
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
