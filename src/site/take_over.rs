//! Applies what other programs have changed on the disk: documents, and the files that they refer to.
//!
//! In: texts that the watcher of the files has read. Out: a change of the site, as for a command. Must not: read a document from
//! the disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::edit::Draft;
use super::editor::{Applied, Editor};
use crate::config::{Problem, Problems};
use crate::control::{DocumentName, DocumentText, EditorStep, PoolCommand};

impl Editor {
    /// Applies texts from the disk. A document keeps its unsaved edits if its text on the disk is unchanged. A deletion of a
    /// document that a scene needs is rejected: the pool keeps the last content until the file is back.
    pub(super) fn take_over(&mut self, documents: &[DocumentText]) -> Result<Applied, Problems> {
        let differ: Vec<&DocumentText> =
            (documents.iter().filter(|d| self.disk.differs(d))).collect();
        if differ.is_empty() {
            let are_deletions = documents.iter().all(|document| document.text.is_none());
            if are_deletions && !documents.is_empty() {
                return Ok(Applied::default());
            }
            return self.reload_files();
        }
        let needed = self.needed_deletions(&differ);
        if !needed.is_empty() {
            return Err(Problems(needed));
        }
        let draft = Draft {
            texts: differ
                .iter()
                .map(|d| (d.document.clone(), d.text.clone()))
                .collect(),
            ..Draft::default()
        };
        // A model file may have changed together with its species, so all models are read again.
        let kept = self.models.clone();
        self.models.forget_files();
        let logged = EditorStep::TakeOver {
            documents: differ.iter().map(|d| (*d).clone()).collect(),
        };
        let logged = PoolCommand::Editor(logged);
        let mut applied = self.commit(draft, logged.clone());
        match &mut applied {
            Ok(applied) => {
                // A later `revert` returns to these texts, so the log needs them even if they equal the edited texts.
                applied.command = Some(logged);
                for DocumentText { document, text } in differ {
                    self.disk.set(document, text.as_deref());
                }
            }
            Err(_) => self.models = kept,
        }
        applied
    }

    /// Returns a problem for each document that was deleted, although a scene needs it.
    fn needed_deletions(&self, differ: &[&DocumentText]) -> Vec<Problem> {
        let deleted = |document: &&&DocumentText| document.text.is_none();
        if !differ.iter().any(|document| deleted(&document)) {
            return Vec::new();
        }
        let mut library = self.library.clone();
        for document in differ {
            // Problems of the texts are found when the texts are applied.
            library.replace(
                &document.document,
                document.text.as_deref(),
                &mut Vec::new(),
            );
        }
        let deleted = differ.iter().filter(deleted);
        let problem = |deleted: &&DocumentText| {
            let scene = library.scene_that_needs(&deleted.document)?;
            let file = self.library.file_of(&deleted.document)?;
            let what = match &deleted.document {
                DocumentName::Species { .. } => format!("the scene \"{scene}\" needs it"),
                _ => "it is shown".to_owned(),
            };
            let message = format!(
                "was deleted, but {what}; the pool keeps its last content, so restore the file"
            );
            Some(Problem::of_file(file.display().to_string(), message))
        };
        deleted.filter_map(problem).collect()
    }

    /// Reads the files that the documents refer to again, and applies their changes: flow fields, models and the calibration.
    /// They can change although no document has changed.
    fn reload_files(&mut self) -> Result<Applied, Problems> {
        let kept = self.models.clone();
        self.models.forget_files();
        let (_, site, _) = match self.try_texts(&BTreeMap::new()) {
            Ok(tried) => tried,
            Err(problems) => {
                self.models = kept;
                return Err(problems);
            }
        };
        let mut applied = Applied::default();
        let old = &self.site;
        let has_new_model =
            (old.looks().zip(site.looks())).any(|((_, a), (_, b))| !Arc::ptr_eq(a, b));
        if has_new_model || site.calibrations != old.calibrations {
            self.site = Arc::new(site);
            applied.is_new_site = true;
            let documents = Vec::new();
            applied.command = Some(EditorStep::TakeOver { documents }.into());
        }
        Ok(applied)
    }
}
