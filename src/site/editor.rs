//! Edits the documents of a site while a pool runs. A command is checked against all documents; it is either rejected with
//! all reasons, or applied completely. Applied commands can be undone.
//!
//! In: commands. Out: the current [`Site`], and the changes for the running pool. Must not: run anything, ask a clock,
//! start a thread. The same commands in the same order give the same result, so a log of commands can be replayed.

use std::collections::BTreeMap;
use std::mem::take;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::disk_texts::DiskTexts;
use super::documents::DocumentsView;
use super::edit::{self, Current, Draft, SpeciesLookup};
use super::guarded::GuardedValues;
use super::history::{Direction, EditState, History, HistoryStep};
use super::library::{Library, name_problem, schema_of_kind};
use super::load::{Site, compile_problem, validate};
use super::models::Models;
use super::restart::restart_needed;
use super::trial::PopulationTrial;
use crate::config::{PathSegment, Problem, Problems, TextChange, ValuePath, apply_changes};
use crate::control::{
    ChangeNote, Command, DocumentName, DocumentText, EditorStep, PoolCommand, PoolEdit, Source,
    Trust,
};
use crate::simulation::{Change, PlanChange, PoolPlan};
use crate::world::CommandedDirection;

/// Maximum number of commands in a batch. Each is checked against all documents, which takes some milliseconds.
const BATCH_MAX: usize = 100;

/// The reason why the site file cannot be written alone.
pub const NEEDS_DRAFT: &str =
    "not saved yet: the site needs a scene or species that is not saved; save all changes";

/// The reason why a change that is not the next one is not undone.
const OTHER_CHANGE: &str = "something was changed meanwhile, so this is not the next change in the history; look at it again";

/// All documents of a site, the site compiled from them, and the undo history.
#[derive(Clone, Debug)]
pub struct Editor {
    pub(super) library: Library,
    pub(super) site: Arc<Site>,
    pub(super) director: CommandedDirection,
    pub(super) disk: DiskTexts,
    pub(super) models: Models,
    /// The site at the start of the program, to find changed values that need a restart.
    started: Arc<Site>,
    history: History,
    /// Whether `save` leaves the files unchanged.
    is_replay: bool,
    /// What commands may change.
    trust: Trust,
    /// Who sends the commands; `None` if nobody does, as in a replay.
    author: Option<Source>,
    /// Tries whether the machine can hold a larger population; `None` accepts all.
    trial: Option<PopulationTrial>,
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
        if let Some(problem) = scene.and_then(|scene| library.unknown_scene_option(scene)) {
            problems.insert(0, problem);
            return Err(Problems(problems));
        }
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

    pub(super) fn of_library(
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
            disk: DiskTexts::new(disk),
            started: Arc::clone(&site),
            site,
            director: CommandedDirection::default(),
            history: History::default(),
            is_replay: false,
            trust: Trust::Programs,
            author: None,
            trial: None,
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
            disk: self.disk.texts().iter().map(on_disk).collect(),
        }
    }

    /// Opens documents that [`Self::state`] returned. Models and the calibration are read beside the site file.
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
            if let Some(message) = name_problem(document) {
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

    /// Rejects from now on populations that a trial refuses, and tries the current one.
    ///
    /// # Errors
    /// Why the machine cannot hold the current one.
    pub fn try_populations(&mut self, trial: PopulationTrial) -> Result<(), Problems> {
        let (scene, params) = (self.site.description(), &self.site.file.simulation);
        let tried = trial.run(&scene, params);
        self.trial = Some(trial);
        tried.map_err(|message| population_problem(&self.site.scene_name, &message))
    }

    /// Sets what the next commands may change.
    pub fn set_trust(&mut self, trust: Trust) {
        self.trust = trust;
    }

    /// Sets who sends the next commands, for the notes of the changes.
    pub fn set_author(&mut self, author: Source) {
        self.author = Some(author);
    }

    /// Returns the current site.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Returns the number of changes that can be undone, and the number of changes that can be redone.
    pub fn undo_depths(&self) -> (usize, usize) {
        self.history.depths()
    }

    /// Returns the change that would be undone, and the one that would be redone.
    pub fn next_steps(&self) -> (Option<ChangeNote>, Option<ChangeNote>) {
        let note = |direction| self.history.note(direction).cloned();
        (note(Direction::Undo), note(Direction::Redo))
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
            broken: self.disk.broken().clone(),
        }
    }

    /// Returns the names of the documents that differ from the disk.
    pub fn unsaved(&self) -> Vec<DocumentName> {
        self.disk.unsaved(&self.library)
    }

    /// Whether the content of a file on the disk was rejected.
    pub fn has_broken_files(&self) -> bool {
        !self.disk.broken().is_empty()
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
                let draft = edit::draft_of_individual(self.current(), individual, species_of)?;
                self.commit(draft, command.clone())
            }
            PoolCommand::Editor(step) => self.apply_step(step),
        }
    }

    fn current(&self) -> Current<'_> {
        Current {
            library: &self.library,
            site: &self.site,
            director: &self.director,
        }
    }

    fn apply_edit(&mut self, edit: &PoolEdit) -> Result<Applied, Problems> {
        let draft = edit::draft(self.current(), edit)?;
        let applied = self.commit(draft, PoolCommand::Edit(edit.clone()))?;
        match edit {
            PoolEdit::Edit {
                joins_last: true, ..
            } if applied.is_new_site => self.history.join_last(),
            PoolEdit::ReplaceText { document, .. } => self.disk.note_replaced(document),
            _ => {}
        }
        Ok(applied)
    }

    fn apply_step(&mut self, step: &EditorStep) -> Result<Applied, Problems> {
        match step {
            EditorStep::Batch { commands } => self.apply_batch(commands),
            EditorStep::TakeOver { documents } => {
                let applied = self.take_over(documents);
                let rejected = applied.as_ref().err();
                self.disk.note_broken(&self.library, documents, rejected);
                applied
            }
            EditorStep::Undo { change } => self.step(Direction::Undo, *change),
            EditorStep::Redo { change } => self.step(Direction::Redo, *change),
            EditorStep::Save => self.save(),
            EditorStep::SaveSite => self.save_site(),
            EditorStep::Revert => {
                let texts = self.unsaved().into_iter();
                let texts = texts.map(|name| (name.clone(), self.disk.texts().get(&name).cloned()));
                let draft = Draft {
                    texts: texts.collect(),
                    ..Draft::default()
                };
                self.commit(draft, EditorStep::Revert.into())
            }
        }
    }

    /// Applies all commands of a batch as one change, or none of them.
    fn apply_batch(&mut self, commands: &[PoolEdit]) -> Result<Applied, Problems> {
        if commands.is_empty() || commands.len() > BATCH_MAX {
            let message = format!("a batch has 1 to {BATCH_MAX} commands");
            return Err(no_step(&message));
        }
        let history = take(&mut self.history);
        let before = self.clone();
        let mut all = Applied::default();
        for (index, edit) in commands.iter().enumerate() {
            match self.apply_edit(edit) {
                Ok(applied) => {
                    all.is_new_site |= applied.is_new_site;
                    all.changes.extend(applied.changes);
                }
                Err(mut problems) => {
                    *self = Self { history, ..before };
                    for problem in &mut problems.0 {
                        let name = edit.name();
                        problem.message =
                            format!("command {} ({name}): {}", index + 1, problem.message);
                    }
                    return Err(problems);
                }
            }
        }
        let batch = std::mem::replace(&mut self.history, history);
        let commands = commands.to_vec();
        let command = EditorStep::Batch { commands }.into();
        self.history.push_merged(batch, self.note_of(&command));
        if all.is_new_site || !all.changes.is_empty() {
            all.command = Some(command);
        }
        Ok(all)
    }

    /// Returns who makes a change, and what it concerns. The history numbers it.
    fn note_of(&self, command: &PoolCommand) -> ChangeNote {
        let command = Command::Pool(command.clone());
        ChangeNote {
            number: 0,
            author: self.author.clone(),
            command: command.name().to_owned(),
            summary: command.summary(),
        }
    }

    /// Applies a draft, if all documents are valid with its changes.
    pub(super) fn commit(
        &mut self,
        draft: Draft,
        command: PoolCommand,
    ) -> Result<Applied, Problems> {
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
        let note = self.note_of(&command);
        let step = HistoryStep {
            before,
            after,
            note,
        };
        let is_new_site = step.changes_texts();
        if is_new_site || !step.before.changes.is_empty() {
            self.history.push(step);
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
    pub(super) fn try_texts(
        &mut self,
        texts: &BTreeMap<DocumentName, Option<String>>,
    ) -> Result<(Library, Site, PoolPlan), Problems> {
        let mut problems = Vec::new();
        let mut library = self.library.clone();
        for (name, text) in texts {
            if let Some(message) = name_problem(name) {
                problems.push(Problem::of_file(name.to_string(), message));
            } else {
                library.replace(name, text.as_deref(), &mut problems);
            }
        }
        // Before a file is read that the change may not name: problems quote what is in it.
        if self.trust < Trust::Programs {
            let before = GuardedValues::of(&self.library);
            GuardedValues::of(&library).check(&before, self.trust)?;
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
        // A smaller population of the same scene repairs a pool that is too slow.
        let is_larger = site.scene_name != self.site.scene_name
            || agents(&site) > agents(&self.site)
            || site.file.surface != self.site.file.surface;
        if let Some(trial) = self.trial.as_ref().filter(|_| is_larger) {
            let tried = trial.run(&scene, &site.file.simulation);
            tried.map_err(|message| population_problem(&site.scene_name, &message))?;
        }
        Ok((library, site, plan))
    }

    /// Undoes the last change, or redoes the change that was undone last; only the one with the number `wanted`, if there is one.
    fn step(&mut self, direction: Direction, wanted: Option<u64>) -> Result<Applied, Problems> {
        let (nothing, opposite, command) = match direction {
            Direction::Undo => (
                "there is nothing to undo",
                Direction::Redo,
                EditorStep::UNDO,
            ),
            Direction::Redo => (
                "there is nothing to redo",
                Direction::Undo,
                EditorStep::REDO,
            ),
        };
        let next = self.history.note(direction);
        let next = next.ok_or_else(|| no_step(nothing))?;
        if wanted.is_some_and(|wanted| wanted != next.number) {
            return Err(no_step(OTHER_CHANGE));
        }
        let step = self
            .history
            .take(direction)
            .ok_or_else(|| no_step(nothing))?;
        let state = match direction {
            Direction::Undo => &step.before,
            Direction::Redo => &step.after,
        };
        match self.apply_state(state, Vec::new()) {
            Ok(changes) => {
                let is_new_site = step.changes_texts();
                self.history.put(opposite, step);
                Ok(Applied {
                    changes,
                    is_new_site,
                    command: Some(command.into()),
                })
            }
            Err(problems) => {
                self.history.put(direction, step);
                Err(problems)
            }
        }
    }

    /// Returns the names of the documents whose file has another text than this editor knows.
    pub fn changed_on_disk(&self, read: &[DocumentText]) -> Vec<DocumentName> {
        let changed = read.iter().filter(|read| self.disk.differs(read));
        changed.map(|read| read.document.clone()).collect()
    }

    /// Returns what the watcher of the files has read, without the documents whose file is again as this editor knows it. The
    /// watcher read those before the last save, so their texts must replace neither what was saved nor an edit after it.
    pub fn without_outdated(&self, read: &[DocumentText]) -> Vec<DocumentText> {
        self.disk.without_outdated(&self.library, read)
    }

    /// Whether the site file cannot be written alone: the site needs a scene or species that is not saved.
    pub fn site_needs_draft(&self) -> bool {
        let mut drafts = self.unsaved();
        drafts.retain(|name| *name != DocumentName::Site);
        if drafts.is_empty() {
            return false;
        }
        let mut problems = Vec::new();
        let mut library = self.library.clone();
        for name in &drafts {
            let text = self.disk.texts().get(name);
            library.replace(name, text.map(String::as_str), &mut problems);
        }
        let (site, _, problems) = validate(&library, &mut self.models.clone(), problems);
        site.is_none() || !problems.0.is_empty()
    }

    /// Saves the site file. Scenes and species stay drafts.
    fn save_site(&mut self) -> Result<Applied, Problems> {
        if self.site_needs_draft() {
            return Err(no_step(NEEDS_DRAFT));
        }
        let has_saved = self.disk.save_site(&self.library, self.is_replay)?;
        Ok(Applied {
            command: has_saved.then(|| EditorStep::SaveSite.into()),
            ..Applied::default()
        })
    }

    /// Saves every document that differs from the disk.
    fn save(&mut self) -> Result<Applied, Problems> {
        let has_saved = self.disk.save(&self.library, self.is_replay)?;
        // A later `revert` returns to the saved texts, so a log without this command would replay another run.
        Ok(Applied {
            changes: Vec::new(),
            is_new_site: false,
            command: has_saved.then(|| EditorStep::Save.into()),
        })
    }
}

/// Returns the number of agents of a site.
fn agents(site: &Site) -> u32 {
    let counts = site.species.iter().map(|species| species.count);
    counts.fold(0, u32::saturating_add)
}

fn population_problem(scene: &str, message: &str) -> Problems {
    let file = DocumentName::Scene { name: scene.into() }.to_string();
    let problem = Problem::of_file(file, message);
    Problems(vec![Problem {
        path: "population".to_owned(),
        ..problem
    }])
}

fn no_step(message: &str) -> Problems {
    Problems(vec![Problem::of_file("", message)])
}
