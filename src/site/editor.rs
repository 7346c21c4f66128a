//! Edits the documents of a site while a pool runs. A command is checked against all documents; it is either rejected with
//! all reasons, or applied completely. Applied commands can be undone.
//!
//! In: commands. Out: the current [`Site`], and the changes for the running pool. Must not: run anything, ask a clock,
//! start a thread. The same commands in the same order give the same result, so a log of commands can be replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::documents::{BrokenFile, DocumentsView};
use super::edit::{self, Draft};
use super::library::{Library, schema_of_kind};
use super::load::{Site, compile_problem, validate};
use super::models::Models;
use super::restart::restart_needed;
use crate::config::{
    PathSegment, Problem, Problems, TextChange, ValuePath, apply_changes, read_text,
};
use crate::control::{DocumentName, DocumentText, EditorStep, PoolCommand, PoolEdit};
use crate::files::{remove_file, save_file};
use crate::simulation::{Change, PlanChange, PoolPlan};
use crate::world::Gathering;

/// Maximum number of changes that can be undone. Older changes are dropped.
const UNDO_MAX: usize = 2000;

/// Maximum number of commands in a batch. Each is checked against all documents, which takes some milliseconds.
const BATCH_MAX: usize = 100;

/// Returns the species name of an individual in the pool by its id; `None` for an unknown id.
pub type SpeciesLookup<'a> = &'a dyn Fn(u32) -> Option<String>;

/// All documents of a site, the site compiled from them, and the undo history.
#[derive(Clone, Debug)]
pub struct Editor {
    pub(super) library: Library,
    pub(super) site: Arc<Site>,
    /// Last known text of every document on the disk. Built-in documents have no entry.
    pub(super) disk: BTreeMap<DocumentName, String>,
    pub(super) director: DirectorState,
    models: Models,
    /// The site at the start of the program, to find changed values that need a restart.
    started: Arc<Site>,
    undo: Vec<UndoStep>,
    redo: Vec<UndoStep>,
    /// Files whose content on the disk was rejected.
    broken: BTreeMap<DocumentName, BrokenFile>,
    /// Broken files whose text a command has replaced. They have to be saved, even if the text is the last valid one.
    repaired: BTreeSet<DocumentName>,
    /// Whether `save` leaves the files unchanged.
    is_replay: bool,
}

/// The documents of an editor without its undo history, to continue with them later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditorState {
    /// The documents that are not built in.
    pub documents: Vec<DocumentText>,
    /// The last known content of their files.
    pub disk: Vec<DocumentText>,
}

/// Settings of the director that commands have made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DirectorState {
    pub(super) gathering: Option<Gathering>,
    /// Whether hunting is on, by species; the key `None` means all species.
    pub(super) hunting: BTreeMap<Option<String>, bool>,
}

/// A change that can be undone and redone.
#[derive(Clone, Debug)]
struct UndoStep {
    before: EditState,
    after: EditState,
}

impl UndoStep {
    /// Returns the change that consists of all these changes, in this order; `None` if there is none.
    fn merged(steps: Vec<Self>) -> Option<Self> {
        let mut steps = steps.into_iter();
        let mut all = steps.next()?;
        for step in steps {
            for (name, text) in step.before.texts {
                all.before.texts.entry(name).or_insert(text);
            }
            // What was done last is undone first.
            let mut undone = step.before.changes;
            undone.append(&mut all.before.changes);
            all.before.changes = undone;
            all.after.texts.extend(step.after.texts);
            all.after.director = step.after.director;
            all.after.changes.extend(step.after.changes);
            all.after.added.extend(step.after.added);
        }
        Some(all)
    }
}

/// The state before or after a change, with all data that is needed to restore it.
#[derive(Clone, Debug)]
struct EditState {
    texts: BTreeMap<DocumentName, Option<String>>,
    director: DirectorState,
    changes: Vec<Change>,
    added: Vec<(String, glam::Vec3)>,
}

/// The result of an applied command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applied {
    /// Changes for the running pool, in order.
    pub changes: Vec<Change>,
    /// Whether [`Editor::site`] has changed.
    pub is_new_site: bool,
    /// The command for the log; `None` if the command changed nothing.
    pub command: Option<PoolCommand>,
}

impl Editor {
    /// Opens a site file, or the built-in demo if `path` is `None`. `scene` replaces the scene of the site, like an
    /// unsaved edit.
    ///
    /// # Errors The same errors as [`super::load`].
    pub fn open(path: Option<&Path>, scene: Option<&str>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut library = Library::read(path, &mut problems);
        let own = |name: DocumentName| Some((name.clone(), library.own_text(&name)?.to_owned()));
        let disk = library.names().into_iter().filter_map(own).collect();
        let site_text = library.text(&DocumentName::Site).map(str::to_owned);
        if let (Some(scene), Some(text)) = (scene, site_text) {
            let path = ValuePath(vec![PathSegment::Key("scene".into())]);
            let change = (path, TextChange::Set(scene.into()));
            // If the site text cannot be changed, `Library::read` has already added its problems to `problems`.
            if let Ok(text) = apply_changes(&text, schema_of_kind(&DocumentName::Site), &[change]) {
                library.replace(&DocumentName::Site, Some(&text), &mut problems);
            }
        }
        Self::of_library(library, disk, problems)
    }

    fn of_library(
        library: Library,
        disk: BTreeMap<DocumentName, String>,
        problems: Vec<Problem>,
    ) -> Result<Self, Problems> {
        let mut models = Models::default();
        let (site, warnings, problems) = validate(&library, &mut models, problems);
        let Some(mut site) = site.filter(|_| problems.0.is_empty()) else {
            return Err(problems);
        };
        site.warnings = warnings.0;
        let site = Arc::new(site);
        Ok(Self {
            library,
            models,
            disk,
            started: Arc::clone(&site),
            site,
            director: DirectorState::default(),
            undo: Vec::new(),
            redo: Vec::new(),
            broken: BTreeMap::new(),
            repaired: BTreeSet::new(),
            is_replay: false,
        })
    }

    /// Returns the documents.
    pub fn state(&self) -> EditorState {
        let own = |document: DocumentName| {
            let text = self.library.own_text(&document)?.to_owned();
            Some(DocumentText {
                document,
                text: Some(text),
            })
        };
        let on_disk = |(document, text): (&DocumentName, &String)| DocumentText {
            document: document.clone(),
            text: Some(text.clone()),
        };
        EditorState {
            documents: self.library.names().into_iter().filter_map(own).collect(),
            disk: self.disk.iter().map(on_disk).collect(),
        }
    }

    /// Opens documents that [`Self::state`] returned. Models, field files and the calibration are read beside the site file.
    ///
    /// # Errors The same errors as [`Self::open`].
    pub fn restore(path: Option<&Path>, state: &EditorState) -> Result<Self, Problems> {
        // The documents replace the files, so problems of the files do not matter.
        let mut library = Library::read(path, &mut Vec::new());
        let mut problems = Vec::new();
        for name in library.names() {
            if name != DocumentName::Site && library.own_text(&name).is_some() {
                library.replace(&name, None, &mut problems);
            }
        }
        for DocumentText { document, text } in &state.documents {
            if let Some(message) = edit::name_problem(document) {
                problems.push(Problem::of_file(document.to_string(), message));
            } else {
                library.replace(document, text.as_deref(), &mut problems);
            }
        }
        let disk = state.disk.iter();
        let disk = disk.filter_map(|d| Some((d.document.clone(), d.text.clone()?)));
        Self::of_library(library, disk.collect(), problems)
    }

    /// Makes `save` leave the files unchanged, so that a log can be replayed without an effect on the disk.
    pub fn replay_only(&mut self) {
        self.is_replay = true;
    }

    /// Returns the current site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Returns the number of changes that can be undone, and the number of changes that can be redone.
    pub fn undo_depths(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// Returns the current text of a document; `None` if the document does not exist.
    pub fn text(&self, name: &DocumentName) -> Option<&str> {
        self.library.text(name)
    }

    /// Returns the names of all documents.
    pub fn documents(&self) -> Vec<DocumentName> {
        self.library.names()
    }

    /// Returns a copy of all documents, from which their JSON can be made.
    pub fn documents_view(&self) -> DocumentsView {
        DocumentsView {
            library: self.library.clone(),
            unsaved: self.unsaved(),
            broken: self.broken.clone(),
        }
    }

    /// Returns the names of the documents that differ from the disk.
    pub fn unsaved(&self) -> Vec<DocumentName> {
        let mut names = self.library.names();
        names.extend(self.disk.keys().cloned());
        names.sort();
        names.dedup();
        names.retain(|name| {
            let known = self.disk.get(name).map(String::as_str);
            self.library.own_text(name) != known || self.repaired.contains(name)
        });
        names
    }

    /// Whether the content of a file on the disk was rejected.
    pub fn has_broken_files(&self) -> bool {
        !self.broken.is_empty()
    }

    /// Returns the paths of the values in the site file that have changed since the start and apply only after a
    /// restart.
    pub fn restart_needed(&self) -> Vec<String> {
        let value = |site: &Site| serde_json::to_value(&site.file).unwrap_or_default();
        restart_needed(
            schema_of_kind(&DocumentName::Site),
            &value(&self.started),
            &value(&self.site),
        )
    }

    /// Applies a command completely, or rejects it.
    ///
    /// # Errors All reasons for the rejection, each with document, path, value and the allowed values. A rejected
    /// command changes nothing.
    pub fn apply(
        &mut self,
        command: &PoolCommand,
        species_of: SpeciesLookup<'_>,
    ) -> Result<Applied, Problems> {
        match command {
            PoolCommand::Edit(edit) => self.apply_edit(edit),
            PoolCommand::Individual(individual) => {
                let draft = edit::draft_of_individual(self, individual, species_of)?;
                self.commit(draft, command.clone())
            }
            PoolCommand::Editor(step) => self.apply_step(step),
        }
    }

    fn apply_edit(&mut self, edit: &PoolEdit) -> Result<Applied, Problems> {
        let draft = edit::draft(self, edit)?;
        let applied = self.commit(draft, PoolCommand::Edit(edit.clone()))?;
        match edit {
            PoolEdit::Edit {
                joins_last: true, ..
            } if applied.is_new_site => self.join_last_steps(),
            PoolEdit::ReplaceText { document, .. } if self.broken.contains_key(document) => {
                self.repaired.insert(document.clone());
            }
            _ => {}
        }
        Ok(applied)
    }

    fn apply_step(&mut self, step: &EditorStep) -> Result<Applied, Problems> {
        match step {
            EditorStep::Batch { commands } => self.apply_batch(commands),
            EditorStep::TakeOver { documents } => {
                let applied = self.apply_disk_texts(documents);
                self.note_broken_files(documents, applied.as_ref().err());
                applied
            }
            EditorStep::Undo => self.undo(),
            EditorStep::Redo => self.redo(),
            EditorStep::Save => self.save(),
            EditorStep::Revert => {
                let texts = self.unsaved().into_iter();
                let texts = texts.map(|name| (name.clone(), self.disk.get(&name).cloned()));
                let draft = Draft {
                    texts: texts.collect(),
                    ..Draft::default()
                };
                self.commit(draft, EditorStep::Revert.into())
            }
        }
    }

    /// Remembers which files on the disk have a content that was rejected.
    fn note_broken_files(&mut self, documents: &[DocumentText], rejected: Option<&Problems>) {
        for DocumentText { document, text } in documents {
            let file = self.library.file_of(document);
            let file = file.map_or_else(String::new, |file| file.display().to_string());
            let own: Vec<Problem> = rejected.map_or_else(Vec::new, |problems| {
                let is_own = |problem: &&Problem| problem.file == file;
                problems.0.iter().filter(is_own).cloned().collect()
            });
            match text {
                Some(text) if !own.is_empty() => {
                    let broken = BrokenFile {
                        text: text.clone(),
                        problems: own,
                    };
                    self.broken.insert(document.clone(), broken);
                }
                _ => {
                    self.broken.remove(document);
                }
            }
            self.repaired.remove(document);
        }
    }

    /// Applies all commands of a batch as one change, or none of them.
    fn apply_batch(&mut self, commands: &[PoolEdit]) -> Result<Applied, Problems> {
        if commands.is_empty() || commands.len() > BATCH_MAX {
            let message = format!("a batch has 1 to {BATCH_MAX} commands");
            return Err(no_step(&message));
        }
        let kept = (
            self.library.clone(),
            Arc::clone(&self.site),
            self.director.clone(),
            self.repaired.clone(),
        );
        let (undo, redo) = (take(&mut self.undo), self.redo.clone());
        let mut all = Applied::default();
        for (index, edit) in commands.iter().enumerate() {
            match self.apply_edit(edit) {
                Ok(applied) => {
                    all.is_new_site |= applied.is_new_site;
                    all.changes.extend(applied.changes);
                }
                Err(mut problems) => {
                    (self.library, self.site, self.director, self.repaired) = kept;
                    (self.undo, self.redo) = (undo, redo);
                    for problem in &mut problems.0 {
                        let name = edit.name();
                        problem.message =
                            format!("command {} ({name}): {}", index + 1, problem.message);
                    }
                    return Err(problems);
                }
            }
        }
        let steps = std::mem::replace(&mut self.undo, undo);
        if let Some(step) = UndoStep::merged(steps) {
            self.push_undo(step);
        }
        if all.is_new_site || !all.changes.is_empty() {
            let commands = commands.to_vec();
            all.command = Some(EditorStep::Batch { commands }.into());
        }
        Ok(all)
    }

    /// Adds a change that can be undone.
    fn push_undo(&mut self, step: UndoStep) {
        self.redo.clear();
        self.undo.push(step);
        let surplus = self.undo.len().saturating_sub(UNDO_MAX);
        self.undo.drain(..surplus);
    }

    /// Makes the last two changes one step to undo, if they changed the same documents.
    fn join_last_steps(&mut self) {
        if let [.., before, last] = self.undo.as_slice()
            && before.after.texts.keys().eq(last.after.texts.keys())
        {
            let steps = self.undo.split_off(self.undo.len() - 2);
            self.undo.extend(UndoStep::merged(steps));
        }
    }

    /// Applies a draft, if all documents are valid with its changes.
    fn commit(&mut self, draft: Draft, command: PoolCommand) -> Result<Applied, Problems> {
        let before = EditState {
            texts: draft
                .texts
                .keys()
                .map(|name| (name.clone(), self.library.own_text(name).map(str::to_owned)))
                .collect(),
            director: self.director.clone(),
            changes: draft.inverse,
            added: Vec::new(),
        };
        let after = EditState {
            texts: draft.texts,
            director: draft.director.unwrap_or_else(|| self.director.clone()),
            changes: draft.changes,
            added: draft.added,
        };
        let changes = self.apply_state(&after, draft.removed_ids)?;
        let is_new_site = before.texts != after.texts;
        let can_be_undone = is_new_site || !before.changes.is_empty();
        if can_be_undone {
            self.push_undo(UndoStep { before, after });
        }
        Ok(Applied {
            command: (is_new_site || !changes.is_empty()).then_some(command),
            changes,
            is_new_site,
        })
    }

    /// Applies a state, if all documents are valid with its texts. Returns the changes for the pool.
    fn apply_state(
        &mut self,
        state: &EditState,
        removed_ids: Vec<u32>,
    ) -> Result<Vec<Change>, Problems> {
        let mut changes = Vec::new();
        let differs = state
            .texts
            .iter()
            .any(|(name, text)| self.library.own_text(name) != text.as_deref());
        if differs {
            let (library, site, plan) = self.try_texts(&state.texts)?;
            self.library = library;
            self.site = Arc::new(site);
            changes.push(Change::Pool(Box::new(PlanChange {
                plan,
                added: state.added.clone(),
                removed_ids,
            })));
        }
        self.director = state.director.clone();
        changes.extend(state.changes.iter().cloned());
        Ok(changes)
    }

    /// Replaces texts in a copy of the documents and checks the copy.
    fn try_texts(
        &mut self,
        texts: &BTreeMap<DocumentName, Option<String>>,
    ) -> Result<(Library, Site, PoolPlan), Problems> {
        let mut problems = Vec::new();
        let mut library = self.library.clone();
        for (name, text) in texts {
            if let Some(message) = edit::name_problem(name) {
                problems.push(Problem::of_file(name.to_string(), message));
            } else {
                library.replace(name, text.as_deref(), &mut problems);
            }
        }
        let (site, warnings, problems) = validate(&library, &mut self.models, problems);
        let Some(mut site) = site.filter(|_| problems.0.is_empty()) else {
            return Err(problems);
        };
        site.warnings = warnings.0;
        let scene = site.description();
        let name = DocumentName::Scene {
            name: site.scene_name.clone(),
        };
        let plan = PoolPlan::compile(&scene)
            .map_err(|error| Problems(vec![compile_problem(&library, &name, &error)]))?;
        Ok((library, site, plan))
    }

    fn undo(&mut self) -> Result<Applied, Problems> {
        let step = self
            .undo
            .pop()
            .ok_or_else(|| no_step("there is nothing to undo"))?;
        match self.apply_state(&step.before, Vec::new()) {
            Ok(changes) => {
                let is_new_site = step.before.texts != step.after.texts;
                self.redo.push(step);
                Ok(Applied {
                    changes,
                    is_new_site,
                    command: Some(EditorStep::Undo.into()),
                })
            }
            Err(problems) => {
                self.undo.push(step);
                Err(problems)
            }
        }
    }

    fn redo(&mut self) -> Result<Applied, Problems> {
        let step = self
            .redo
            .pop()
            .ok_or_else(|| no_step("there is nothing to redo"))?;
        match self.apply_state(&step.after, Vec::new()) {
            Ok(changes) => {
                let is_new_site = step.before.texts != step.after.texts;
                self.undo.push(step);
                Ok(Applied {
                    changes,
                    is_new_site,
                    command: Some(EditorStep::Redo.into()),
                })
            }
            Err(problems) => {
                self.redo.push(step);
                Err(problems)
            }
        }
    }

    /// Applies texts from the disk. A document keeps its unsaved edits if its text on the disk is unchanged. A deletion of a
    /// document that a scene needs is rejected: the pool keeps the last content until the file is back.
    fn apply_disk_texts(&mut self, documents: &[DocumentText]) -> Result<Applied, Problems> {
        let differ: Vec<&DocumentText> = documents
            .iter()
            .filter(|d| d.text.as_ref() != self.disk.get(&d.document))
            .collect();
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
                for document in differ {
                    match &document.text {
                        Some(text) => self.disk.insert(document.document.clone(), text.clone()),
                        None => self.disk.remove(&document.document),
                    };
                }
            }
            Err(_) => self.models = kept,
        }
        applied
    }

    /// Returns what the watcher of the files has read, without the documents whose file is again as this editor knows it. The
    /// watcher read those before the last save, so their texts must replace neither what was saved nor an edit after it.
    pub fn without_outdated(&self, read: &[DocumentText]) -> Vec<DocumentText> {
        let is_outdated = |document: &DocumentText| {
            let known = self.disk.get(&document.document);
            let now = self.text_on_disk(&document.document);
            document.text.as_ref() != known && now.is_some_and(|now| now.as_ref() == known)
        };
        read.iter().filter(|d| !is_outdated(d)).cloned().collect()
    }

    /// Reads the text of a document's file: `Some(None)` if there is no file, `None` if it cannot be read.
    fn text_on_disk(&self, name: &DocumentName) -> Option<Option<String>> {
        let path = self.library.file_of(name)?;
        if !path.exists() {
            return Some(None);
        }
        read_text(&path).ok().map(Some)
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
        let (_, site, plan) = match self.try_texts(&BTreeMap::new()) {
            Ok(tried) => tried,
            Err(problems) => {
                self.models = kept;
                return Err(problems);
            }
        };
        let mut applied = Applied::default();
        let old = &self.site;
        let models = old.species.iter().zip(&site.species);
        let has_new_model = models
            .into_iter()
            .any(|(a, b)| !Arc::ptr_eq(&a.model, &b.model));
        let has_new_fields = site.field_grids != old.field_grids;
        if has_new_fields || has_new_model || site.calibration != old.calibration {
            self.site = Arc::new(site);
            applied.is_new_site = true;
            let documents = Vec::new();
            applied.command = Some(EditorStep::TakeOver { documents }.into());
        }
        if has_new_fields {
            applied.changes.push(Change::Pool(Box::new(PlanChange {
                plan,
                added: Vec::new(),
                removed_ids: Vec::new(),
            })));
        }
        Ok(applied)
    }

    /// Saves every document that differs from the disk: first species, then scenes, last the site, so that no file
    /// refers to a missing file. Then removed documents are deleted in the opposite order.
    fn save(&mut self) -> Result<Applied, Problems> {
        let mut problems = Vec::new();
        let mut names = self.unsaved();
        names.reverse();
        let (written, removed): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|name| self.library.own_text(name).is_some());
        let names: Vec<_> = written
            .into_iter()
            .chain(removed.into_iter().rev())
            .collect();
        for name in names.iter().filter(|_| !self.is_replay) {
            if let Err(problem) = self.save_one(name) {
                problems.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let has_saved = !names.is_empty();
        for name in names {
            self.broken.remove(&name);
            self.repaired.remove(&name);
            match self.library.own_text(&name).map(str::to_owned) {
                Some(text) => self.disk.insert(name, text),
                None => self.disk.remove(&name),
            };
        }
        // A later `revert` returns to the saved texts, so a log without this command would replay another run.
        Ok(Applied {
            changes: Vec::new(),
            is_new_site: false,
            command: has_saved.then(|| EditorStep::Save.into()),
        })
    }

    fn save_one(&self, name: &DocumentName) -> Result<(), Problem> {
        let Some(path) = self.library.file_of(name) else {
            return Err(Problem::of_file(
                name.to_string(),
                "the built-in demo has no file, so it cannot be saved; start Shoal with a site file",
            ));
        };
        let save_error = |error: std::io::Error| {
            Problem::of_file(
                path.display().to_string(),
                format!("cannot be saved: {error}; the old file is unchanged"),
            )
        };
        match self.library.own_text(name) {
            Some(text) => {
                if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
                    std::fs::create_dir_all(folder).map_err(save_error)?;
                }
                save_file(&path, text.as_bytes()).map_err(save_error)
            }
            None => remove_file(&path).map_err(save_error),
        }
    }
}

fn no_step(message: &str) -> Problems {
    Problems(vec![Problem::of_file("", message)])
}
