//! The documents of a site while a pool runs: commands are validated against the whole, refused whole with all reasons, or
//! done, and can be taken back.
//!
//! In: commands. Out: the [`Site`] of now, and what the living pool has to change. Must not: run anything, ask a clock,
//! start a thread. The same commands in the same order give the same result, so that a log of them can be replayed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::edit::{self, Draft};
use super::files::SiteFile;
use super::library::Library;
use super::load::{Models, Site, judge};
use super::restart::restart_needed;
use crate::config::edit::{Change as TextChange, edited};
use crate::config::{self, Problem, Problems, save, schema_of};
use crate::control::{Command, DocumentName, DocumentText};
use crate::simulation::{Change, PlanChange, PoolPlan};
use crate::world::Gathering;

/// Changes that can be taken back.
const UNDO_MAX: usize = 200;

/// The name of the species of a living individual by its id, as the pool is now.
pub type SpeciesOf<'a> = &'a dyn Fn(u32) -> Option<String>;

/// All documents of a site, the site they make, and the way back.
#[derive(Clone, Debug)]
pub struct Editor {
    pub(super) library: Library,
    pub(super) site: Arc<Site>,
    /// The documents as they are on the disk, as far as known; built-in ones are on no disk.
    pub(super) disk: BTreeMap<DocumentName, String>,
    pub(super) director: Director,
    models: Models,
    /// The site that the program was started with: what it says where a restart is needed still holds.
    started: Arc<Site>,
    undo: Vec<Step>,
    redo: Vec<Step>,
}

/// What the director was last told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Director {
    pub(super) gathering: Option<Gathering>,
    /// By species; `None` for all.
    pub(super) hunting: BTreeMap<Option<String>, bool>,
}

/// A change that can be taken back, and made again.
#[derive(Clone, Debug)]
struct Step {
    before: Moment,
    after: Moment,
}

/// One side of a step.
#[derive(Clone, Debug)]
struct Moment {
    texts: BTreeMap<DocumentName, Option<String>>,
    director: Director,
    changes: Vec<Change>,
    added: Vec<(String, glam::Vec3)>,
}

/// A command that was done.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// What the living pool has to change, in order.
    pub changes: Vec<Change>,
    /// Whether [`Editor::site`] is another one than before.
    pub is_new_site: bool,
    /// The command as a log needs it; `None` where it changed nothing.
    pub command: Option<Command>,
}

impl Editor {
    /// Opens a site file, or the built-in demo; `scene` replaces the scene that it names, as if by an unsaved edit.
    ///
    /// # Errors
    /// As [`super::load`].
    pub fn open(path: Option<&Path>, scene: Option<&str>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut library = Library::read(path, &mut problems);
        let own = |name: DocumentName| Some((name.clone(), library.own_text(&name)?.to_owned()));
        let disk = library.names().into_iter().filter_map(own).collect();
        let site_text = library.text(&DocumentName::Site).map(str::to_owned);
        if let (Some(scene), Some(text)) = (scene, site_text) {
            let path = config::Path(vec![config::Step::Key("scene".into())]);
            let change = (path, TextChange::Set(scene.into()));
            // A text that cannot be changed has its problems told already.
            if let Ok(text) = edited(&text, schema_of_kind(&DocumentName::Site), &[change]) {
                library.replace(&DocumentName::Site, Some(&text), &mut problems);
            }
        }
        let mut models = Models::default();
        let (site, warnings, problems) = judge(&library, &mut models, problems);
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
            director: Director::default(),
            undo: Vec::new(),
            redo: Vec::new(),
        })
    }

    /// The site of now.
    pub fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// How many changes can be taken back, and how many that were taken back can be made again.
    pub fn depths(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    /// A document's text of now; `None` where there is no such document.
    pub fn text(&self, name: &DocumentName) -> Option<&str> {
        self.library.text(name)
    }

    /// All documents.
    pub fn documents(&self) -> Vec<DocumentName> {
        self.library.names()
    }

    /// Documents that differ from what is on the disk.
    pub fn unsaved(&self) -> Vec<DocumentName> {
        let mut names = self.library.names();
        names.extend(self.disk.keys().cloned());
        names.sort();
        names.dedup();
        names.retain(|name| self.library.own_text(name) != self.disk.get(name).map(String::as_str));
        names
    }

    /// Values of the site file that were changed since the start and count only after a restart.
    pub fn restart_needed(&self) -> Vec<String> {
        let value = |site: &Site| serde_json::to_value(&site.file).unwrap_or_default();
        restart_needed(
            schema_of_kind(&DocumentName::Site),
            &value(&self.started),
            &value(&self.site),
        )
    }

    /// Does a command, or refuses it whole.
    ///
    /// # Errors
    /// Every reason at once, each with document, path, value and what is allowed; nothing has changed then.
    pub fn apply(
        &mut self,
        command: &Command,
        species_of: SpeciesOf<'_>,
    ) -> Result<Applied, Problems> {
        match command {
            Command::Undo => self.step_back(),
            Command::Redo => self.step_forth(),
            Command::Save => self.save(),
            Command::Revert => {
                let texts = self.unsaved().into_iter();
                let texts = texts.map(|name| (name.clone(), self.disk.get(&name).cloned()));
                let draft = Draft {
                    texts: texts.collect(),
                    ..Draft::default()
                };
                self.commit(draft, command)
            }
            Command::TakeOver { documents } => self.take_over(documents),
            _ => {
                let draft = edit::draft(self, command, species_of)?;
                self.commit(draft, command)
            }
        }
    }

    /// Makes a draft the state of now, if the whole stays valid.
    fn commit(&mut self, draft: Draft, command: &Command) -> Result<Applied, Problems> {
        let before = Moment {
            texts: draft
                .texts
                .keys()
                .map(|name| (name.clone(), self.library.own_text(name).map(str::to_owned)))
                .collect(),
            director: self.director.clone(),
            changes: draft.undone,
            added: Vec::new(),
        };
        let after = Moment {
            texts: draft.texts,
            director: draft.director.unwrap_or_else(|| self.director.clone()),
            changes: draft.changes,
            added: draft.added,
        };
        let changes = self.apply_moment(&after, draft.removed_ids)?;
        let is_new_site = before.texts != after.texts;
        let can_be_undone = is_new_site || !before.changes.is_empty();
        if can_be_undone {
            self.redo.clear();
            self.undo.push(Step { before, after });
            let surplus = self.undo.len().saturating_sub(UNDO_MAX);
            self.undo.drain(..surplus);
        }
        Ok(Applied {
            command: (is_new_site || !changes.is_empty()).then(|| command.clone()),
            changes,
            is_new_site,
        })
    }

    /// Tries a moment on a copy, and takes it over when the whole is valid. What the pool has to change comes back.
    fn apply_moment(
        &mut self,
        moment: &Moment,
        removed_ids: Vec<u32>,
    ) -> Result<Vec<Change>, Problems> {
        let mut changes = Vec::new();
        let differs = moment
            .texts
            .iter()
            .any(|(name, text)| self.library.own_text(name) != text.as_deref());
        if differs {
            let (library, site, plan) = self.tried(&moment.texts)?;
            self.library = library;
            self.site = Arc::new(site);
            changes.push(Change::Pool(Box::new(PlanChange {
                plan,
                added: moment.added.clone(),
                removed_ids,
            })));
        }
        self.director = moment.director.clone();
        changes.extend(moment.changes.iter().cloned());
        Ok(changes)
    }

    fn tried(
        &mut self,
        texts: &BTreeMap<DocumentName, Option<String>>,
    ) -> Result<(Library, Site, PoolPlan), Problems> {
        let mut problems = Vec::new();
        let mut library = self.library.clone();
        for (name, text) in texts {
            if let Some(sentence) = edit::bad_name(name) {
                problems.push(Problem::of_file(name.to_string(), sentence));
            } else {
                library.replace(name, text.as_deref(), &mut problems);
            }
        }
        let (site, warnings, problems) = judge(&library, &mut self.models, problems);
        let Some(mut site) = site.filter(|_| problems.0.is_empty()) else {
            return Err(problems);
        };
        site.warnings = warnings.0;
        let mut scene = site.description();
        // The picture and the camera keep the surface until the restart that it needs; so do the fish.
        scene.surface = self.started.file.surface.clone();
        let name = DocumentName::Scene {
            name: site.scene_name.clone(),
        };
        let plan = PoolPlan::compile(&scene).map_err(|error| {
            Problems(vec![library.problem(
                &name,
                "population",
                error.to_string(),
            )])
        })?;
        Ok((library, site, plan))
    }

    fn step_back(&mut self) -> Result<Applied, Problems> {
        let step = self
            .undo
            .pop()
            .ok_or_else(|| nothing("there is nothing to take back"))?;
        match self.apply_moment(&step.before, Vec::new()) {
            Ok(changes) => {
                let is_new_site = step.before.texts != step.after.texts;
                self.redo.push(step);
                Ok(Applied {
                    changes,
                    is_new_site,
                    command: Some(Command::Undo),
                })
            }
            Err(problems) => {
                self.undo.push(step);
                Err(problems)
            }
        }
    }

    fn step_forth(&mut self) -> Result<Applied, Problems> {
        let step = self
            .redo
            .pop()
            .ok_or_else(|| nothing("there is nothing to make again"))?;
        match self.apply_moment(&step.after, Vec::new()) {
            Ok(changes) => {
                let is_new_site = step.before.texts != step.after.texts;
                self.undo.push(step);
                Ok(Applied {
                    changes,
                    is_new_site,
                    command: Some(Command::Redo),
                })
            }
            Err(problems) => {
                self.redo.push(step);
                Err(problems)
            }
        }
    }

    /// Takes over what is on the disk. Documents that are as they were known there are left as they are, edits and all.
    fn take_over(&mut self, documents: &[DocumentText]) -> Result<Applied, Problems> {
        let differ: Vec<&DocumentText> = documents
            .iter()
            .filter(|d| d.text.as_ref() != self.disk.get(&d.document))
            .collect();
        if differ.is_empty() {
            return self.read_again();
        }
        let draft = Draft {
            texts: differ
                .iter()
                .map(|d| (d.document.clone(), d.text.clone()))
                .collect(),
            ..Draft::default()
        };
        // A model may have been changed together with its species.
        let kept = std::mem::take(&mut self.models);
        let logged = Command::TakeOver {
            documents: differ.iter().map(|d| (*d).clone()).collect(),
        };
        let applied = self.commit(draft, &logged);
        match &applied {
            Ok(_) => {
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

    /// Takes over the files that scenes name, where they were changed and the documents were not.
    fn read_again(&mut self) -> Result<Applied, Problems> {
        let (_, site, plan) = self.tried(&BTreeMap::new())?;
        let mut applied = Applied {
            changes: Vec::new(),
            is_new_site: false,
            command: None,
        };
        if site.field_grids != self.site.field_grids {
            self.site = Arc::new(site);
            applied.is_new_site = true;
            applied.changes.push(Change::Pool(Box::new(PlanChange {
                plan,
                added: Vec::new(),
                removed_ids: Vec::new(),
            })));
            applied.command = Some(Command::TakeOver {
                documents: Vec::new(),
            });
        }
        Ok(applied)
    }

    /// Writes every document that differs from the disk: species first and the site last, so that no file ever names
    /// one that is not there yet; what was taken away goes in the opposite order, after that.
    fn save(&mut self) -> Result<Applied, Problems> {
        let mut problems = Vec::new();
        let mut names = self.unsaved();
        names.reverse();
        let (written, removed): (Vec<_>, Vec<_>) = names
            .into_iter()
            .partition(|name| self.library.own_text(name).is_some());
        for name in written.into_iter().chain(removed.into_iter().rev()) {
            if let Err(problem) = self.save_one(&name) {
                problems.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        Ok(Applied {
            changes: Vec::new(),
            is_new_site: false,
            command: None,
        })
    }

    fn save_one(&mut self, name: &DocumentName) -> Result<(), Problem> {
        let Some(path) = self.library.file_of(name) else {
            return Err(Problem::of_file(
                name.to_string(),
                "the built-in demo has no file to save to; start Shoal with a site file",
            ));
        };
        let refuse = |error: std::io::Error| {
            Problem::of_file(
                path.display().to_string(),
                format!("cannot be saved: {error}; the old file is untouched"),
            )
        };
        match self.library.own_text(name).map(str::to_owned) {
            Some(text) => {
                if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
                    std::fs::create_dir_all(folder).map_err(refuse)?;
                }
                save::save(&path, text.as_bytes()).map_err(refuse)?;
                self.disk.insert(name.clone(), text);
            }
            None => {
                save::remove(&path).map_err(refuse)?;
                self.disk.remove(name);
            }
        }
        Ok(())
    }
}

fn nothing(sentence: &str) -> Problems {
    Problems(vec![Problem::of_file("", sentence)])
}

/// The schema of a kind of document.
pub(super) fn schema_of_kind(name: &DocumentName) -> &'static Value {
    static SITE: LazyLock<Value> = LazyLock::new(schema_of::<SiteFile>);
    static SCENE: LazyLock<Value> = LazyLock::new(schema_of::<super::SceneFile>);
    static SPECIES: LazyLock<Value> = LazyLock::new(schema_of::<super::SpeciesFile>);
    match name {
        DocumentName::Site => &SITE,
        DocumentName::Scene { .. } => &SCENE,
        DocumentName::Species { .. } => &SPECIES,
    }
}
