//! Warns about configuration that is valid but can have no effect, or cannot work: relations that no action uses, fields and
//! rules that no species follows, more fish than the surface or the computer can take.
//!
//! In: parsed files. Out: warnings with their positions. Must not: know an action by its name; actions declare what they use.

use std::collections::BTreeSet;

use super::files::{IndividualParams, SceneFile, SpeciesFile, VISITOR};
use super::findings::Findings;
use super::library::Library;
use super::rules::warn_dead_rules;
use super::source::Entry;
use crate::behavior::ActionParams;
use crate::config::suggestion;

/// Relations that the program itself uses, for perception, flocking, path costs or drives.
const KNOWN_RELATIONS: [&str; 8] = [
    "enemy", "prey", "friend", "food", "mother", "child", "partner", "known",
];

/// Relations that have an effect only through an action.
const RELATIONS_OF_ACTIONS: [&str; 3] = ["food", "mother", "child"];

/// Computing time of one agent in one tick. Measured with `cargo bench --bench minds` at 10,000 agents: 8 ms for all.
const AGENT_TICK_SECS: f32 = 0.8e-6;

/// Largest share of the surface that bodies may cover, seen from above, before `check` warns.
const COVERED_SHARE_MAX: f32 = 0.5;
/// Largest share of the surface that the bodies of all fish of the shown scene may cover. With more, nearly all agents are neighbors
/// of each other, and a tick takes minutes.
const COVERED_SHARE_REFUSED: f32 = 5.0;

/// Width of a fish's body as a share of its length, for the covered area.
const WIDTH_SHARE: f32 = 0.25;

impl SpeciesFile {
    /// Returns the actions that needs or combined actions use and that are not switched off, by name.
    fn used_actions_by_name(&self) -> impl Iterator<Item = (&String, &ActionParams)> {
        let needs = self.needs.iter().chain([&self.standard]);
        let of_needs = needs.flat_map(|need| &need.actions);
        let of_actions = self.actions.values().flat_map(ActionParams::parts);
        let used: BTreeSet<&String> = of_needs.chain(of_actions).collect();
        let named = self
            .actions
            .iter()
            .filter(move |(name, _)| used.contains(name));
        named.filter(|(_, action)| action.weight() > 0.0 || action.follows_director())
    }

    /// Returns the actions that needs or combined actions use and that are not switched off.
    fn used_actions(&self) -> impl Iterator<Item = &ActionParams> {
        self.used_actions_by_name().map(|(_, action)| action)
    }

    fn follows_fields(&self) -> bool {
        self.used_actions()
            .any(|action| action.capabilities().follows_fields)
    }

    pub(super) fn follows_director(&self) -> bool {
        self.used_actions().any(ActionParams::follows_director)
    }

    /// Whether an action moves the animal by itself: keeping clear of something does not. `drifts`: whether there are fields to follow.
    pub(super) fn moves(&self, drifts: bool) -> bool {
        let moves = |action: &ActionParams| {
            let can = action.capabilities();
            !can.only_avoids && (drifts || !can.follows_fields)
        };
        self.used_actions().any(moves)
    }

    pub(super) fn hunts(&self) -> bool {
        self.used_actions()
            .any(|action| action.capabilities().hunts)
    }
}

/// Warns about the perception and the relations of the species `name`.
pub(super) fn warn_dead_species(
    name: &str,
    entry: &Entry<SpeciesFile>,
    library: &Library,
    findings: &mut Findings,
) {
    let species = &entry.value;
    if findings.is_invalid(entry) {
        return;
    }
    warn_without_fish(name, entry, library, findings);
    let has_enemy = (species.relations.get("enemy")).is_some_and(|names| !names.is_empty());
    if species.perception.calm_enemy_share < 1.0 && !has_enemy {
        findings.warning(
            entry,
            "perception.calm_enemy_share",
            "the species has no enemy, so it has no effect; add a relation \"enemy\", or remove this key".into(),
        );
    }
    let scenes = library.scenes.values().flatten();
    let individuals: Vec<&IndividualParams> = scenes
        .flat_map(|scene| &scene.value.individuals)
        .filter(|individual| individual.species == name)
        .collect();
    warn_unrelated(entry, &individuals, findings);
    let stops = |(_, action): &(&String, &ActionParams)| action.capabilities().stops;
    let min_mps = species.motion.min_speed_mps;
    if let Some((name, _)) = species.used_actions_by_name().find(stops)
        && min_mps > 0.0
    {
        findings.warning(
            entry,
            "motion.min_speed_mps",
            format!("the action '{name}' stops the animal, but it always swims at {min_mps} m/s or more; set min_speed_mps = 0.0"),
        );
    }
    let named = || {
        let own = individuals
            .iter()
            .flat_map(|individual| individual.actions.values());
        species.actions.values().chain(own)
    };
    for relation in species.relations.keys() {
        let is_used = named().any(|action| {
            action.relations().contains(relation)
                || action.other_relations().contains(relation)
                || action.built_in_relation() == Some(relation)
        });
        let is_known = KNOWN_RELATIONS.contains(&relation.as_str());
        let acts = !RELATIONS_OF_ACTIONS.contains(&relation.as_str());
        if is_used || (is_known && (acts || species.relations[relation].is_empty())) {
            continue;
        }
        let meant = if is_known {
            String::new()
        } else {
            suggestion(&singular(relation), KNOWN_RELATIONS)
        };
        findings.warning(
            entry,
            &format!("relations.{relation}"),
            format!("no action of this species uses the relation \"{relation}\", so it has no effect{meant}"),
        );
    }
}

/// Warns about a file of the site that no scene uses: a designer sees no fish, and no message about it.
fn warn_without_fish(
    name: &str,
    entry: &Entry<SpeciesFile>,
    library: &Library,
    findings: &mut Findings,
) {
    // A file with problems may be the one that uses the species.
    let is_used = library.scenes.values().any(|scene| match scene {
        Some(scene) => scene.value.population.contains_key(name),
        None => true,
    }) || library.species.values().any(|other| match other {
        Some(other) => other.value.extends.as_deref() == Some(name),
        None => true,
    });
    if !entry.is_built_in && !is_used {
        findings.warning(
            entry,
            "",
            format!(
                "the species is in no [population], so none of its fish swim; add {name} = 5 to [population] of a scene"
            ),
        );
    }
}

/// Warns about actions that act only on agents in a relation that the species and its individuals do not have.
fn warn_unrelated(
    entry: &Entry<SpeciesFile>,
    individuals: &[&IndividualParams],
    findings: &mut Findings,
) {
    let own = std::iter::once(&entry.value.relations);
    let all = || {
        let individual = individuals.iter().map(|individual| &individual.relations);
        own.clone().chain(individual)
    };
    let is_possible = |relation: &String| {
        // The relation `known` has no names: an individual gets it at run time.
        relation == "known"
            || all().any(|relations| relations.get(relation).is_some_and(|to| !to.is_empty()))
    };
    for (name, action) in entry.value.used_actions_by_name() {
        let lists = [action.relations(), action.other_relations()];
        for list in lists.iter().filter(|_| action.needs_related()) {
            let Some(first) = list.first() else {
                continue;
            };
            if !list.iter().any(is_possible) {
                findings.warning(
                    entry,
                    &format!("actions.{name}"),
                    format!(
                        "the action '{name}' is never executed, because no agent can be in its relation \"{first}\": add {first} = \
                         [\"NAME\"] to [relations], with the name of a species or group, or remove the action"
                    ),
                );
            }
        }
    }
}

/// Returns a relation without the ending of a plural: `enemies` becomes `enemy`.
fn singular(relation: &str) -> String {
    match relation.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => relation.strip_suffix('s').unwrap_or(relation).to_owned(),
    }
}

/// Warns about fields and rules without followers, and about too many fish.
pub(super) fn warn_dead_scene(
    entry: &Entry<SceneFile>,
    library: &Library,
    findings: &mut Findings,
) {
    if findings.is_invalid(entry) {
        return;
    }
    let scene = &entry.value;
    let mut living = Vec::new();
    for name in scene.population.keys() {
        match library.species.get(name) {
            Some(Some(species)) => living.push((name, &species.value)),
            // The file has problems of its own, so its actions are not known.
            _ => return,
        }
    }
    for (index, field) in scene.fields.iter().enumerate() {
        let acts_on = |(name, species): &&(&String, &SpeciesFile)| {
            let is_named = |other: &String| other == *name || species.groups.contains(other);
            field.acts_on.is_empty() || field.acts_on.iter().any(is_named)
        };
        if !living
            .iter()
            .filter(acts_on)
            .any(|(_, species)| species.follows_fields())
        {
            findings.warning(
                entry,
                &format!("fields[{index}]"),
                "no species in the population follows this field; add an action of the kind follow_flow_field to one of them, or \
                 remove the field"
                    .into(),
            );
        }
    }
    warn_unused_paths(entry, &living, findings);
    warn_dead_rules((entry, library), &living, findings);
    warn_without_prey(entry, &living, findings);
    warn_crowd(entry, library, &living, findings);
}

/// Warns about paths and barriers that no species uses, and about actions whose path is not in the scene.
fn warn_unused_paths(
    entry: &Entry<SceneFile>,
    living: &[(&String, &SpeciesFile)],
    findings: &mut Findings,
) {
    let scene = &entry.value;
    let mut wanted = Vec::new();
    for (name, species) in living {
        let paths = species.used_actions().filter_map(ActionParams::path);
        wanted.extend(paths.map(|path| (*name, path)));
    }
    for (index, path) in scene.paths.iter().enumerate() {
        if !wanted.iter().any(|(_, wanted)| *wanted == path.name) {
            findings.warning(
                entry,
                &format!("paths[{index}].name"),
                "no species in the population uses this path; name it in an action such as follow_path, or remove it".into(),
            );
        }
    }
    for (name, path) in wanted {
        if !scene.paths.iter().any(|known| known.name == path) {
            let known = scene.paths.iter().map(|path| path.name.as_str());
            let meant = suggestion(path, known);
            findings.warning(
                entry,
                &format!("population.{name}"),
                format!(
                    "an action of this species needs the path \"{path}\", which is not in [[paths]] of this scene, so it is never \
                     executed{meant}"
                ),
            );
        }
    }
    let avoids = |(_, species): &(&String, &SpeciesFile)| {
        species
            .used_actions()
            .any(|action| action.capabilities().avoids_barriers)
    };
    if !scene.barriers.is_empty() && !living.iter().any(avoids) {
        findings.warning(
            entry,
            "barriers",
            "no species in the population turns away from barriers; add an action of the kind avoid_barriers to one of them, or \
             remove the barriers"
                .into(),
        );
    }
}

/// Warns about species that hunt, but none of whose prey is in the scene.
fn warn_without_prey(
    entry: &Entry<SceneFile>,
    living: &[(&String, &SpeciesFile)],
    findings: &mut Findings,
) {
    let individuals = &entry.value.individuals;
    let population = &entry.value.population;
    let living = living.iter().filter(|(name, _)| population[*name] > 0);
    let is_there = |name: &String| {
        name == VISITOR
            || living
                .clone()
                .any(|(other, species)| *other == name || species.groups.contains(name))
            || individuals
                .iter()
                .any(|one| one.name == *name || one.groups.contains(name))
    };
    for (name, species) in living.clone() {
        let hunts = species
            .used_actions()
            .filter(|action| action.capabilities().hunts);
        let own = individuals.iter().filter(|one| one.species == **name);
        let relations =
            || std::iter::once(&species.relations).chain(own.clone().map(|one| &one.relations));
        let prey_of = |action: &ActionParams| -> Vec<&String> {
            let named = action.relations().iter().chain(action.other_relations());
            let named = named.map(String::as_str).chain(action.built_in_relation());
            let all = named.flat_map(|name| relations().filter_map(move |r| r.get(name)));
            all.flatten().collect()
        };
        let prey: Vec<&String> = hunts.flat_map(prey_of).collect();
        // A species that inherits hunting, but names no prey, is no hunter.
        if !prey.is_empty() && !prey.into_iter().any(is_there) {
            findings.warning(
                entry,
                &format!("population.{name}"),
                "the species hunts, but nothing that it hunts is in the population, so it never catches anything; add some of its prey"
                    .into(),
            );
        }
    }
}

/// Warns if the fish cover too much of the surface, or if a tick takes too long.
fn warn_crowd(
    entry: &Entry<SceneFile>,
    library: &Library,
    living: &[(&String, &SpeciesFile)],
    findings: &mut Findings,
) {
    // A surface with a mistake has no area.
    let Some(site) = library
        .site
        .as_ref()
        .filter(|site| !findings.is_invalid(site))
    else {
        return;
    };
    let population = &entry.value.population;
    let covered_m2 = |name: &String, species: &SpeciesFile| {
        let size = entry.value.factors(&site.value.fish, name).size;
        population[name] as f32 * area_m2(species) * size.powi(2)
    };
    let largest = living
        .iter()
        .max_by(|(a, first), (b, second)| covered_m2(a, first).total_cmp(&covered_m2(b, second)));
    let Some((name, _)) = largest else {
        return;
    };
    let path = format!("population.{name}");
    let covered_m2: f32 = living
        .iter()
        .map(|(name, species)| covered_m2(name, species))
        .sum();
    let shown = library
        .scenes
        .get(&site.value.scene)
        .and_then(Option::as_ref);
    let is_shown = shown.is_some_and(|shown| std::ptr::eq(&raw const **shown, entry));
    let surface = &site.value.surface;
    let surface_m2 = surface.width_m * surface.height_m;
    if covered_m2 > surface_m2 * COVERED_SHARE_REFUSED && is_shown {
        findings.problem(
            entry,
            &path,
            format!(
                "the bodies of all fish cover {:.0} % of the surface of {} x {} m; more than {:.0} % are not possible; reduce the \
                 population",
                covered_m2 / surface_m2 * 100.0,
                surface.width_m,
                surface.height_m,
                COVERED_SHARE_REFUSED * 100.0
            ),
        );
    } else if covered_m2 > surface_m2 * COVERED_SHARE_MAX {
        findings.warning(
            entry,
            &path,
            format!(
                "the bodies of all fish cover {:.0} % of the surface of {} x {} m, more than {:.0} %, so they cannot keep apart; \
                 reduce the population",
                covered_m2 / surface_m2 * 100.0,
                surface.width_m,
                surface.height_m,
                COVERED_SHARE_MAX * 100.0
            ),
        );
    }
    let agents: u32 = population.values().fold(0, |sum, n| sum.saturating_add(*n));
    let simulation = &site.value.simulation;
    let tick_secs = agents as f32 * AGENT_TICK_SECS / f32::from(simulation.threads.max(1));
    let available_secs = 1.0 / simulation.tick_hz.max(1e-3);
    if tick_secs > available_secs {
        findings.warning(
            entry,
            &path,
            format!(
                "{agents} agents need about {:.0} ms per tick, but at {} Hz a tick has {:.1} ms, so the pool would run slower than \
                 real time; reduce the population",
                tick_secs * 1e3,
                simulation.tick_hz,
                available_secs * 1e3
            ),
        );
    }
}

/// Returns the area of one fish seen from above.
fn area_m2(species: &SpeciesFile) -> f32 {
    let body = &species.body;
    let width_m = (body.length_m * WIDTH_SHARE).max(body.width_m.unwrap_or(0.0) / 2.0);
    body.length_m * width_m
}
