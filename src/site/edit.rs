//! What a command would make of the documents, before it is known whether the whole stays valid.
//!
//! In: a command, the documents of now. Out: a draft, or every reason why there cannot be one. Must not: change anything.

use std::collections::BTreeMap;

use glam::Vec3;
use serde_json::{Value, json};

use super::editor::{Director, Editor, SpeciesOf, schema_of_kind};
use super::files::SpeciesFile;
use crate::behavior::{CalmEffect, Effect, HuntingEffect, MindParams, SetNeedEffect};
use crate::config::edit::{Change as TextChange, edited};
use crate::config::{self, Path, Problem, Problems};
use crate::control::{Command, DirectorEvent, DocumentName, Edit, EditChange, MindChoice};
use crate::simulation::Change;
use crate::world::Gathering;

/// Most edits of one command; no hand makes more.
const EDITS_MAX: usize = 1000;

/// Longest time of another mind.
const OVERRIDE_SECS_MAX: f32 = 3600.0;

/// What a command would make of the documents and of the moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// New texts; `None` takes a document away.
    pub(super) texts: BTreeMap<DocumentName, Option<String>>,
    /// What the director is told, where that changes.
    pub(super) director: Option<Director>,
    /// What happens in the pool besides.
    pub(super) changes: Vec<Change>,
    /// What takes that back.
    pub(super) undone: Vec<Change>,
    pub(super) added: Vec<(String, Vec3)>,
    pub(super) removed_ids: Vec<u32>,
}

/// What a command would make of it.
pub(super) fn draft(
    editor: &Editor,
    command: &Command,
    species_of: SpeciesOf<'_>,
) -> Result<Draft, Problems> {
    let mut draft = Draft::default();
    match command {
        Command::Edit { edits } => draft.edit(editor, edits)?,
        Command::AddSpecies {
            name,
            text,
            like,
            count,
        } => {
            let text = match (text, like) {
                (Some(_), Some(_)) => {
                    return Err(refused(
                        "",
                        "give the new species a text or a species that it is like, not both",
                    ));
                }
                (Some(text), None) => text.clone(),
                (None, Some(like)) => species_text(editor, like)?.to_owned(),
                (None, None) => String::new(),
            };
            let document = species(name);
            if editor.text(&document).is_some() {
                return Err(refused(
                    name,
                    "there is such a species already; choose another name",
                ));
            }
            draft.texts.insert(document, Some(text));
            draft.edit(
                editor,
                &[set(&scene(editor), population(name), json!(count))],
            )?;
        }
        Command::RemoveSpecies { name } => draft.remove_species(editor, name)?,
        Command::SwitchScene { name } => {
            draft.edit(
                editor,
                &[set(&DocumentName::Site, "scene".into(), json!(name))],
            )?;
        }
        Command::AddIndividual {
            species,
            position_m,
        } => {
            if let Some(position) = position_m {
                draft.added.push((species.clone(), point(*position)?));
            }
            species_text(editor, species)?;
            draft.count(editor, species, 1)?;
        }
        Command::RemoveIndividual { id } => {
            let species = species_of(*id).ok_or_else(|| nobody(*id))?;
            draft.removed_ids.push(*id);
            draft.count(editor, &species, -1)?;
        }
        Command::Director { event } => draft.direct(editor, event)?,
        Command::OverrideMind { id, mind, secs } => {
            let species = species_of(*id).ok_or_else(|| nobody(*id))?;
            if !(*secs > 0.0 && *secs <= OVERRIDE_SECS_MAX) {
                let message = format!(
                    "secs = {secs} is out of range; allowed is more than 0, up to {OVERRIDE_SECS_MAX} s"
                );
                return Err(refused("", message));
            }
            let mind = Box::new(chosen_mind(editor, &species, mind)?);
            let (id, secs) = (*id, *secs);
            draft.changes.push(Change::OverrideMind { id, mind, secs });
            draft.undone.push(Change::EndOverride { id });
        }
        // These are no drafts: the editor does them by itself.
        Command::Calibrate { .. } => {
            return Err(refused(
                "",
                "nothing can be calibrated here: there is no camera; calibrate while `shoal run` runs",
            ));
        }
        Command::TakeOver { .. }
        | Command::Undo
        | Command::Redo
        | Command::Save
        | Command::Revert => {}
    }
    Ok(draft)
}

impl Draft {
    /// A document's text as this draft has it so far.
    fn text<'d>(&'d self, editor: &'d Editor, name: &DocumentName) -> Option<&'d str> {
        match self.texts.get(name) {
            Some(text) => text.as_deref(),
            None => editor.text(name),
        }
    }

    fn edit(&mut self, editor: &Editor, edits: &[Edit]) -> Result<(), Problems> {
        if edits.len() > EDITS_MAX {
            let message = format!(
                "{} edits in one command are more than {EDITS_MAX}; send fewer at once",
                edits.len()
            );
            return Err(refused("", message));
        }
        let mut problems = Vec::new();
        let mut by_document: BTreeMap<&DocumentName, Vec<(Path, TextChange)>> = BTreeMap::new();
        for edit in edits {
            match Path::parse(&edit.path) {
                Ok(path) => by_document
                    .entry(&edit.document)
                    .or_default()
                    .push((path, text_change(&edit.change))),
                Err(message) => problems.push(Problem::of_file(edit.document.to_string(), message)),
            }
        }
        for (name, changes) in by_document {
            let Some(text) = self.text(editor, name) else {
                problems.push(Problem::of_file(
                    name.to_string(),
                    "there is no such document",
                ));
                continue;
            };
            match edited(text, schema_of_kind(name), &changes) {
                Ok(new) => {
                    self.texts.insert(name.clone(), Some(new));
                }
                Err(refused) => problems.extend(
                    refused
                        .into_iter()
                        .map(|r| editor.library.problem(name, &r.path, r.message)),
                ),
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Problems(problems))
        }
    }

    fn remove_species(&mut self, editor: &Editor, name: &str) -> Result<(), Problems> {
        species_text(editor, name)?;
        let living = editor.library.scenes.iter().filter(|(_, scene)| {
            scene
                .as_ref()
                .is_some_and(|s| s.value.population.contains_key(name))
        });
        let edits: Vec<Edit> = living
            .map(|(scene, _)| Edit {
                document: DocumentName::Scene {
                    name: scene.clone(),
                },
                path: population(name),
                change: EditChange::Remove,
            })
            .collect();
        let document = species(name);
        if editor.library.built_in(&document).is_none() {
            self.texts.insert(document, None);
        } else if edits.is_empty() {
            return Err(refused(
                name,
                "this species is built in and lives in no scene; it cannot be removed further",
            ));
        }
        self.edit(editor, &edits)
    }

    /// Changes the number of a species in the scene that is shown.
    fn count(&mut self, editor: &Editor, species: &str, by: i64) -> Result<(), Problems> {
        let population_now = &editor.site.scene.population;
        let count = i64::from(population_now.get(species).copied().unwrap_or(0)) + by;
        let edit = set(&scene(editor), population(species), json!(count.max(0)));
        self.edit(editor, &[edit])
    }

    fn direct(&mut self, editor: &Editor, event: &DirectorEvent) -> Result<(), Problems> {
        let mut director = editor.director.clone();
        match event {
            DirectorEvent::SetNeed {
                species,
                need,
                value,
            } => {
                check_need(editor, species, need)?;
                if !value.is_finite() || value.abs() > 1e6 {
                    return Err(refused(
                        "",
                        format!("value = {value} is out of range; allowed is -1000000 to 1000000"),
                    ));
                }
                let effect = Effect::SetNeed(SetNeedEffect {
                    species: vec![species.clone()],
                    need: need.clone(),
                    value: *value,
                });
                self.changes.push(Change::Effect(effect));
                return Ok(());
            }
            DirectorEvent::Hunting { species, on } => {
                if let Some(name) = species {
                    living(editor, name)?;
                }
                let was = director
                    .hunting
                    .insert(species.clone(), *on)
                    .unwrap_or(false);
                let hunting = |on| {
                    let species = species.iter().cloned().collect();
                    Change::Effect(Effect::Hunting(HuntingEffect { species, on }))
                };
                self.changes.push(hunting(*on));
                self.undone.push(hunting(was));
            }
            DirectorEvent::Gather { point_m, weight } => {
                if !(0.0..=1000.0).contains(weight) {
                    return Err(refused(
                        "",
                        format!("weight = {weight} is out of range; allowed is 0 to 1000"),
                    ));
                }
                let gathering = Gathering {
                    point_m: point(*point_m)?,
                    weight: *weight,
                };
                self.gather(&mut director, Some(gathering));
            }
            DirectorEvent::Start { rule } => {
                let rules = &editor.site.scene.director;
                if !rules.iter().any(|r| r.name == *rule) {
                    let known: Vec<&str> = rules.iter().map(|r| r.name.as_str()).collect();
                    let shown: String = rule.chars().filter(|c| !c.is_control()).take(40).collect();
                    let sentence = if known.is_empty() {
                        format!("there is no rule '{shown}': the director of this scene has none")
                    } else {
                        format!("there is no rule '{shown}', there are {}", known.join(", "))
                    };
                    return Err(refused("", sentence));
                }
                self.changes.push(Change::StartRule { name: rule.clone() });
                return Ok(());
            }
            DirectorEvent::StopGathering => self.gather(&mut director, None),
            DirectorEvent::Calm => {
                let effect = Effect::Calm(CalmEffect::default());
                self.changes.push(Change::Effect(effect));
                return Ok(());
            }
        }
        self.director = Some(director);
        Ok(())
    }

    fn gather(&mut self, director: &mut Director, gathering: Option<Gathering>) {
        self.undone.push(Change::Gather(director.gathering));
        self.changes.push(Change::Gather(gathering));
        director.gathering = gathering;
    }
}

fn text_change(change: &EditChange) -> TextChange {
    match change.clone() {
        EditChange::Set { value } => TextChange::Set(value),
        EditChange::Insert { index, value } => TextChange::Insert { index, value },
        EditChange::Remove => TextChange::Remove,
        EditChange::Move { to } => TextChange::Move { to },
    }
}

fn set(document: &DocumentName, path: String, value: Value) -> Edit {
    Edit {
        document: document.clone(),
        path,
        change: EditChange::Set { value },
    }
}

fn scene(editor: &Editor) -> DocumentName {
    DocumentName::Scene {
        name: editor.site.scene_name.clone(),
    }
}

fn species(name: &str) -> DocumentName {
    DocumentName::Species { name: name.into() }
}

fn population(species: &str) -> String {
    Path(vec![
        config::Step::Key("population".into()),
        config::Step::Key(species.into()),
    ])
    .to_string()
}

fn species_text<'e>(editor: &'e Editor, name: &str) -> Result<&'e str, Problems> {
    editor.text(&species(name)).ok_or_else(|| {
        let known: Vec<&str> = editor.library.species.keys().map(String::as_str).collect();
        let shown: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        refused(
            "",
            format!(
                "there is no species '{shown}', there are {}",
                known.join(", ")
            ),
        )
    })
}

/// A species of the scene that is shown.
fn living<'e>(editor: &'e Editor, name: &str) -> Result<&'e SpeciesFile, Problems> {
    species_text(editor, name)?;
    let found = editor.site.species.iter().find(|s| s.name == name);
    found.map(|s| &s.file).ok_or_else(|| {
        refused(
            name,
            "this species does not live in the scene that is shown",
        )
    })
}

fn check_need(editor: &Editor, species: &str, need: &str) -> Result<(), Problems> {
    let file = living(editor, species)?;
    let limited: Vec<&str> = file
        .needs
        .iter()
        .filter(|n| n.limit.is_some())
        .map(|n| n.name.as_str())
        .collect();
    if limited.contains(&need) {
        return Ok(());
    }
    let message = format!(
        "it has no need of this name with a limit, it has {}",
        limited.join(", ")
    );
    Err(refused(species, message))
}

/// The mind that an individual of a species would have for a while.
fn chosen_mind(editor: &Editor, own: &str, choice: &MindChoice) -> Result<MindParams, Problems> {
    let text = match choice {
        MindChoice::Species { name } => species_text(editor, name)?.to_owned(),
        MindChoice::Needs { needs } => {
            let path = Path(vec![config::Step::Key("needs".into())]);
            let change = TextChange::Set(Value::Array(needs.clone()));
            edited(
                species_text(editor, own)?,
                schema_of_kind(&species(own)),
                &[(path, change)],
            )
            .map_err(|found| {
                let problem = |r: config::edit::Refused| Problem {
                    path: r.path,
                    ..Problem::of_file("the other mind", r.message)
                };
                Problems(found.into_iter().map(problem).collect())
            })?
        }
    };
    let (file, spans): (SpeciesFile, _) = config::parse(&text, "the other mind")?;
    let mind = file.mind();
    let problems: Vec<Problem> = mind
        .problems()
        .into_iter()
        .map(|(path, message)| spans.problem(&path, message))
        .collect();
    if problems.is_empty() {
        Ok(mind)
    } else {
        Err(Problems(problems))
    }
}

fn point(at: [f32; 3]) -> Result<Vec3, Problems> {
    let at = Vec3::from(at);
    if at.is_finite() && at.abs().max_element() <= 1000.0 {
        return Ok(at);
    }
    Err(refused(
        "",
        format!(
            "[{}, {}, {}] is no place; each number may lie between -1000 and 1000 m",
            at.x, at.y, at.z
        ),
    ))
}

fn nobody(id: u32) -> Problems {
    refused("", format!("nobody living has the id {id}"))
}

fn refused(file: &str, message: impl Into<String>) -> Problems {
    let file: String = file.chars().filter(|c| !c.is_control()).take(80).collect();
    Problems(vec![Problem::of_file(file, message)])
}

/// What is wrong with a document's name, which becomes that of a file.
pub(super) fn bad_name(name: &DocumentName) -> Option<&'static str> {
    let (DocumentName::Scene { name } | DocumentName::Species { name }) = name else {
        return None;
    };
    let is_good = (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    (!is_good).then_some(
        "this is no name for a file; use letters, digits, '_' and '-', at most 64 of them",
    )
}
