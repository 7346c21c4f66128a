//! Turns an edit into a draft: the changed documents, before they are validated together.
//!
//! In: an edit, the current documents. Out: a draft, or every reason why the edit is impossible. Must not: change
//! anything.

use std::collections::BTreeMap;

use glam::Vec3;
use serde_json::{Value, json};

use super::files::SpeciesFile;
use super::inheritance::changes_of_own_text;
use super::library::{Library, schema_of_kind};
use super::load::Site;
use crate::behavior::MindParams;
use crate::config::{
    self, PathSegment, Problem, Problems, RejectedChange, TextChange, ValuePath, apply_changes,
    is_blank,
};
use crate::control::{
    DirectorEvent, DocumentName, Edit, EditChange, IndividualCommand, MindChoice, PoolEdit,
};
use crate::simulation::Change;
use crate::world::{
    CalmEffect, CommandedDirection, Effect, Gathering, HuntingEffect, SetNeedEffect,
};

/// Maximum number of edits in one command. This is far more than a user needs.
const EDITS_MAX: usize = 1000;

/// Text of a document without values. A document is never empty, because an empty file is rejected as damaged.
const ALL_DEFAULTS: &str = "# All values are defaults.\n";

/// Allowed factors on the frequency at which the director's rules begin.
const PACE_RANGE: std::ops::RangeInclusive<f32> = 0.1..=20.0;

/// Longest duration of an override of a mind, in seconds.
const OVERRIDE_SECS_MAX: f32 = 3600.0;

/// Most names of rules that a message lists.
const RULES_LISTED: usize = 12;

/// Returns the name of a rule of the scene.
///
/// # Errors
/// If there is no such rule.
fn known_rule(current: Current<'_>, name: &str) -> Result<String, Problems> {
    let rules = &current.site.scene.director;
    if rules.iter().any(|rule| rule.name == name) {
        return Ok(name.to_owned());
    }
    let shown: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
    let names = || rules.iter().map(|rule| rule.name.as_str());
    let meant = config::suggestion(name, names());
    let rest = match rules.len().saturating_sub(RULES_LISTED) {
        _ if !meant.is_empty() => meant,
        _ if rules.is_empty() => ": the director of this scene has no rules".to_owned(),
        left_out => {
            let listed: Vec<&str> = names().take(RULES_LISTED).collect();
            let more = match left_out {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("; existing: {}{more}", listed.join(", "))
        }
    };
    Err(rejected("", format!("there is no rule \"{shown}\"{rest}")))
}

/// Returns the species name of an individual in the pool by its id; `None` for an unknown id.
pub type SpeciesLookup<'a> = &'a dyn Fn(u32) -> Option<String>;

/// What a command changes.
#[derive(Clone, Copy)]
pub(super) struct Current<'e> {
    pub(super) library: &'e Library,
    pub(super) site: &'e Site,
    pub(super) director: &'e CommandedDirection,
}

/// The effects of a command on the documents, the director and the pool.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// New texts; `None` removes a document.
    pub(super) texts: BTreeMap<DocumentName, Option<String>>,
    /// New state of the director, if the command changes it.
    pub(super) director: Option<CommandedDirection>,
    /// Changes of the pool that are not part of the documents.
    pub(super) changes: Vec<Change>,
    /// Changes of the pool that undo `changes`.
    pub(super) inverse: Vec<Change>,
    /// New individuals with a given position, as (species, position).
    pub(super) added: Vec<(String, Vec3)>,
    /// Ids of the individuals to remove.
    pub(super) removed_ids: Vec<u32>,
}

/// Returns the draft of an edit.
///
/// # Errors
/// Every reason why the edit is impossible.
pub(super) fn draft(current: Current<'_>, edit: &PoolEdit) -> Result<Draft, Problems> {
    let mut draft = Draft::default();
    match edit {
        PoolEdit::Edit { edits, .. } if edits.is_empty() => {
            return Err(rejected("", "an edit changes at least one value"));
        }
        PoolEdit::Edit { edits, .. } => draft.edit(current, edits)?,
        PoolEdit::ReplaceText { document, text } => {
            if is_blank(text) {
                let message =
                    "the text is empty; write a comment into it if all defaults are wanted";
                return Err(rejected(&document.to_string(), message));
            }
            draft.texts.insert(document.clone(), Some(text.clone()));
        }
        PoolEdit::AddSpecies {
            name,
            text,
            like,
            count,
        } => {
            let text = match (text, like) {
                (Some(_), Some(_)) => {
                    return Err(rejected(
                        "",
                        "the new species has both `text` and `like`; give only one of them",
                    ));
                }
                (Some(text), None) => text.clone(),
                (None, Some(like)) => species_text(current, like)?.to_owned(),
                (None, None) => ALL_DEFAULTS.to_owned(),
            };
            let document = species(name);
            if current.library.text(&document).is_some() {
                return Err(rejected(
                    name,
                    "this species already exists; choose another name",
                ));
            }
            draft.texts.insert(document, Some(text));
            draft.edit(
                current,
                &[set(&scene(current), population(name), json!(count))],
            )?;
        }
        PoolEdit::RemoveSpecies { name } => draft.remove_species(current, name)?,
        PoolEdit::SwitchScene { name } => {
            draft.edit(
                current,
                &[set(&DocumentName::Site, "scene".into(), json!(name))],
            )?;
        }
        PoolEdit::AddIndividual {
            species,
            position_m,
        } => {
            if let Some(position) = position_m {
                draft.added.push((species.clone(), point(*position)?));
            }
            species_text(current, species)?;
            draft.count(current, species, 1)?;
        }
        PoolEdit::Director { event } => draft.direct(current, event)?,
    }
    Ok(draft)
}

/// Returns the draft of a command that concerns one individual.
///
/// # Errors
/// Every reason why the command is impossible.
pub(super) fn draft_of_individual(
    current: Current<'_>,
    command: &IndividualCommand,
    species_of: SpeciesLookup<'_>,
) -> Result<Draft, Problems> {
    let mut draft = Draft::default();
    let id = command.id();
    let species =
        species_of(id).ok_or_else(|| rejected("", format!("no individual has the id {id}")))?;
    match command {
        IndividualCommand::RemoveIndividual { .. } => {
            draft.removed_ids.push(id);
            draft.count(current, &species, -1)?;
        }
        IndividualCommand::OverrideMind { mind, secs, .. } => {
            if !(*secs > 0.0 && *secs <= OVERRIDE_SECS_MAX) {
                let message = format!(
                    "secs = {secs} is out of range; allowed: more than 0, up to {OVERRIDE_SECS_MAX} s"
                );
                return Err(rejected("", message));
            }
            let mind = Box::new(chosen_mind(current, &species, mind)?);
            let secs = *secs;
            draft.changes.push(Change::OverrideMind { id, mind, secs });
            draft.inverse.push(Change::EndOverride { id });
        }
        IndividualCommand::EndOverride { .. } => {
            draft.changes.push(Change::EndOverride { id });
        }
    }
    Ok(draft)
}

impl Draft {
    /// Returns the text of a document with the changes of this draft so far. `None` if the document does not exist.
    fn text<'d>(&'d self, current: Current<'d>, name: &DocumentName) -> Option<&'d str> {
        match self.texts.get(name) {
            Some(text) => text.as_deref(),
            None => current.library.text(name),
        }
    }

    fn edit(&mut self, current: Current<'_>, edits: &[Edit]) -> Result<(), Problems> {
        if edits.len() > EDITS_MAX {
            let message = format!(
                "{} edits in one command are too many; send at most {EDITS_MAX} at once",
                edits.len()
            );
            return Err(rejected("", message));
        }
        let mut problems = Vec::new();
        let mut by_document: BTreeMap<&DocumentName, Vec<(ValuePath, TextChange)>> =
            BTreeMap::new();
        for edit in edits {
            match ValuePath::parse(&edit.path) {
                Ok(path) => by_document
                    .entry(&edit.document)
                    .or_default()
                    .push((path, text_change(&edit.change))),
                Err(message) => problems.push(Problem::of_file(edit.document.to_string(), message)),
            }
        }
        for (name, changes) in by_document {
            let Some(text) = self.text(current, name) else {
                problems.push(Problem::of_file(
                    name.to_string(),
                    "this document does not exist",
                ));
                continue;
            };
            let changes = match name {
                DocumentName::Species { name } => {
                    changes_of_own_text(&current.library.species_texts, name, text, changes)
                }
                DocumentName::Scene { name } => {
                    changes_of_own_text(&current.library.scene_texts, name, text, changes)
                }
                DocumentName::Site => changes,
            };
            match apply_changes(text, schema_of_kind(name), &changes) {
                Ok(mut new) => {
                    if is_blank(&new) {
                        ALL_DEFAULTS.clone_into(&mut new);
                    }
                    self.texts.insert(name.clone(), Some(new));
                }
                Err(rejected) => problems.extend(
                    rejected
                        .into_iter()
                        .map(|r| current.library.problem(name, &r.path, r.message)),
                ),
            }
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Problems(problems))
        }
    }

    fn remove_species(&mut self, current: Current<'_>, name: &str) -> Result<(), Problems> {
        species_text(current, name)?;
        let scenes = current.library.scenes.iter().filter(|(_, scene)| {
            scene
                .as_ref()
                .is_some_and(|s| s.value.population.contains_key(name))
        });
        let edits: Vec<Edit> = scenes
            .map(|(scene, _)| Edit {
                document: DocumentName::Scene {
                    name: scene.clone(),
                },
                path: population(name),
                change: EditChange::Remove,
            })
            .collect();
        let document = species(name);
        if current.library.built_in(&document).is_none() {
            self.texts.insert(document, None);
        } else if edits.is_empty() {
            return Err(rejected(
                name,
                "this species is built in and in no scene; there is nothing left to remove",
            ));
        }
        self.edit(current, &edits)
    }

    /// Changes the number of individuals of a species in the current scene by `by`.
    fn count(&mut self, current: Current<'_>, species: &str, by: i64) -> Result<(), Problems> {
        let population_now = &current.site.scene.population;
        let count = i64::from(population_now.get(species).copied().unwrap_or(0)) + by;
        let edit = set(&scene(current), population(species), json!(count.max(0)));
        self.edit(current, &[edit])
    }

    fn direct(&mut self, current: Current<'_>, event: &DirectorEvent) -> Result<(), Problems> {
        let mut director = current.director.clone();
        match event {
            DirectorEvent::SetNeed {
                species,
                need,
                value,
            } => {
                check_need(current, species, need)?;
                if !value.is_finite() || value.abs() > 1e6 {
                    return Err(rejected(
                        "",
                        format!("value = {value} is out of range; allowed: -1000000 to 1000000"),
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
                    species_in_scene(current, name)?;
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
                self.inverse.push(hunting(was));
            }
            DirectorEvent::Gather { point_m, weight } => {
                if !(0.0..=1000.0).contains(weight) {
                    return Err(rejected(
                        "",
                        format!("weight = {weight} is out of range; allowed: 0 to 1000"),
                    ));
                }
                let gathering = Gathering {
                    point_m: point(*point_m)?,
                    weight: *weight,
                    visitor: None,
                };
                self.gather(&mut director, Some(gathering));
            }
            DirectorEvent::Start { rule } => {
                let name = known_rule(current, rule)?;
                self.changes.push(Change::StartRule { name });
                return Ok(());
            }
            DirectorEvent::Stop { rule } => {
                let name = known_rule(current, rule)?;
                self.changes.push(Change::StopRule { name });
                return Ok(());
            }
            DirectorEvent::Pace { factor } => {
                if !PACE_RANGE.contains(factor) {
                    let (low, high) = (PACE_RANGE.start(), PACE_RANGE.end());
                    return Err(rejected(
                        "",
                        format!("factor = {factor} is out of range; allowed: {low} to {high}"),
                    ));
                }
                self.changes.push(Change::Pace(*factor));
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

    fn gather(&mut self, director: &mut CommandedDirection, gathering: Option<Gathering>) {
        self.inverse.push(Change::Gather(director.gathering));
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

fn scene(current: Current<'_>) -> DocumentName {
    DocumentName::Scene {
        name: current.site.scene_name.clone(),
    }
}

fn species(name: &str) -> DocumentName {
    DocumentName::Species { name: name.into() }
}

fn population(species: &str) -> String {
    ValuePath(vec![
        PathSegment::Key("population".into()),
        PathSegment::Key(species.into()),
    ])
    .to_string()
}

fn species_text<'e>(current: Current<'e>, name: &str) -> Result<&'e str, Problems> {
    current.library.text(&species(name)).ok_or_else(|| {
        let known: Vec<&str> = current.library.species.keys().map(String::as_str).collect();
        let shown: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        rejected(
            "",
            format!(
                "there is no species \"{shown}\"; existing: {}",
                known.join(", ")
            ),
        )
    })
}

/// Returns the file of a species of the current scene.
fn species_in_scene<'e>(current: Current<'e>, name: &str) -> Result<&'e SpeciesFile, Problems> {
    species_text(current, name)?;
    let found = current.site.species.iter().find(|s| s.name == name);
    found
        .map(|s| &s.file)
        .ok_or_else(|| rejected(name, "this species is not in the current scene"))
}

fn check_need(current: Current<'_>, species: &str, need: &str) -> Result<(), Problems> {
    let file = species_in_scene(current, species)?;
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
        "it has no need \"{need}\" with a limit; it has: {}",
        limited.join(", ")
    );
    Err(rejected(species, message))
}

/// Returns the text of a species with everything that it inherits.
fn whole_text(current: Current<'_>, name: &str) -> Result<String, Problems> {
    let text = species_text(current, name)?;
    if config::top_level_text(text, "extends").is_none() {
        return Ok(text.to_owned());
    }
    let whole = current.library.species_texts.whole(name, text);
    toml::to_string(&whole.unwrap_or_default()).map_err(|error| rejected(name, error.to_string()))
}

/// Returns the temporary mind of an individual of the species `own`.
fn chosen_mind(
    current: Current<'_>,
    own: &str,
    choice: &MindChoice,
) -> Result<MindParams, Problems> {
    let text = match choice {
        MindChoice::Species { name } => whole_text(current, name)?,
        MindChoice::Needs { actions, needs } => {
            let key = |key: &str| PathSegment::Key(key.into());
            let mut changes: Vec<_> = (actions.iter())
                .map(|(name, action)| {
                    let path = ValuePath(vec![key("actions"), key(name)]);
                    (path, TextChange::Set(action.clone()))
                })
                .collect();
            let needs = TextChange::Set(Value::Array(needs.clone()));
            changes.push((ValuePath(vec![key("needs")]), needs));
            apply_changes(
                &whole_text(current, own)?,
                schema_of_kind(&species(own)),
                &changes,
            )
            .map_err(|found| {
                let problem = |r: RejectedChange| Problem {
                    path: r.path,
                    ..Problem::of_file("the override", r.message)
                };
                Problems(found.into_iter().map(problem).collect())
            })?
        }
    };
    let (file, spans): (SpeciesFile, _) = config::parse(&text, "the override")?;
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
    Err(rejected(
        "",
        format!(
            "[{}, {}, {}] is not a valid position; allowed for each number: -1000 to 1000 m",
            at.x, at.y, at.z
        ),
    ))
}

fn rejected(file: &str, message: impl Into<String>) -> Problems {
    let file: String = file.chars().filter(|c| !c.is_control()).take(80).collect();
    Problems(vec![Problem::of_file(file, message)])
}
