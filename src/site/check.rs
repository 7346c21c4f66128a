//! Checks the files of a site against each other, and the rules between several values of one file.
//!
//! In: parsed files. Out: problems and warnings, each with its position. Must not: read files.

use std::collections::BTreeSet;

use glam::Vec2;

use super::cameras::CameraEntry;
use super::dead_configuration::{warn_dead_scene, warn_dead_species};
use super::files::{SceneFile, SiteFile, SpeciesFile, VISITOR};
use super::findings::{Findings, unknown, warn_left_out};
use super::library::Library;
use super::rules::check_rules;
use super::source::Entry;
use crate::camera::SourceSpec;
use crate::control::{DocumentName, FAULT_NAMES, names_fault};
use crate::geometry::Surface;
use crate::render::OutputParams;
use crate::simulation::MAX_AGENTS;
use crate::world::{EdgeMode, Effect, RuleParams};

/// Largest ratio between the drawn and the simulated length of a fish, in both directions. Above this ratio, fish
/// seem to swim through each other and through obstacles, or to keep too large distances.
const LENGTH_RATIO_MAX: f32 = 1.25;

/// Smallest width of a terrace in which a fish turns, runs up and leaps, in body lengths. In narrower ones, few salmon of `cascade`
/// climb.
const LEAP_ROOM_LENGTHS: f32 = 1.5;

/// Checks the values of a site file, and that its scene exists.
pub(super) fn check_site(entry: &Entry<SiteFile>, library: &Library, findings: &mut Findings) {
    let site = &entry.value;
    if !library.scenes.contains_key(&site.scene) {
        let name = DocumentName::Scene {
            name: site.scene.clone(),
        };
        let message = unknown("scene", &site.scene, library.scenes.keys());
        findings.problem(entry, "scene", message + &library.left_out_hint(&name));
    }
    check_cameras(entry, findings);
    findings.problems_of(entry, "vision", site.vision.problems());
    findings.problems_of(entry, "calibration", site.calibration.problems());
    findings.problems_of(entry, "panel", site.panel.problems());
    findings.problems_of(entry, "remote", site.remote.problems());
    findings.problems_of(entry, "schedule", site.schedule.problems());
    findings.warnings_of(entry, "schedule", site.schedule.warnings());
    for (path, scene) in site.schedule.scenes() {
        if !library.scenes.contains_key(scene) {
            let message = unknown("scene", scene, library.scenes.keys());
            findings.problem(entry, &format!("schedule.{path}"), message);
        }
    }
    // The rules of a scene that cannot be read are not known.
    let is_complete = library.scenes.values().all(Option::is_some);
    let events = site.schedule.events.iter().enumerate();
    for (i, event) in events.filter(|_| is_complete) {
        let scenes = library.scenes.values().flatten();
        let names: BTreeSet<&str> = scenes
            .flat_map(|scene| &scene.value.director)
            .map(|rule| rule.name.as_str())
            .collect();
        if !event.rule.is_empty() && !names.contains(event.rule.as_str()) {
            let message = unknown(
                "rule in the director of any scene",
                &event.rule,
                names.iter(),
            );
            findings.problem(entry, &format!("schedule.events[{i}].rule"), message);
        }
    }
    findings.problems_of(entry, "alerts", site.alerts.problems());
    findings.problems_of(entry, "sound", site.sound.problems());
    findings.problems_of(entry, "counting", site.counting.problems());
    findings.problems_of(entry, "cluster", site.cluster.problems());
    check_ignored(entry, findings);
    if let Some((key, message)) = entry.value.alerts.mail.missing() {
        findings.warning(entry, &format!("alerts.mail.{key}"), message.to_owned());
    }
    for (path, command) in [
        (
            "schedule.projectors.command",
            &site.schedule.projectors.command,
        ),
        ("alerts.command", &site.alerts.command),
    ] {
        if let Err(error) = shell_words::split(command) {
            let message = format!("{error}; write a program and its arguments like in a shell");
            findings.problem(entry, path, message);
        }
    }
    for (i, output) in site.outputs.iter().enumerate() {
        findings.problems_of(entry, &format!("outputs[{i}]"), output.problems());
        warn_corners(entry, &format!("outputs[{i}].corners"), output, findings);
        let same = |other: &OutputParams| other.monitor == output.monitor;
        if let Some(other) = site.outputs.iter().take(i).position(same)
            && !output.monitor.is_empty()
        {
            findings.problem(
                entry,
                &format!("outputs[{i}].monitor"),
                format!(
                    "\"{}\" is already the monitor of outputs[{other}]; give each output its own monitor",
                    output.monitor
                ),
            );
        }
    }
}

/// Checks the cameras of a site.
fn check_cameras(entry: &Entry<SiteFile>, findings: &mut Findings) {
    let site = &entry.value;
    for (i, camera) in site.all_cameras().iter().enumerate() {
        let problem = match SourceSpec::parse(&camera.source) {
            Err(error) => error.to_string(),
            Ok(spec) if spec.is_mapped() && site.remote.osc_visitors.address.is_empty() => {
                "osc: needs to know the messages of the tracker; write remote.osc_visitors, with address, x and y".to_owned()
            }
            Ok(_) => continue,
        };
        findings.problem(entry, &site.source_path(i), problem);
    }
    if site.cameras.is_empty() {
        return;
    }
    for (path, instead) in [
        ("camera", "its values"),
        ("calibration.file", "it as calibration"),
        ("vision.ignore", "it as ignore"),
        ("vision.include", "it as include"),
    ] {
        if entry.spans.is_written(path) {
            let message = format!(
                "the site has [[cameras]], which say this for each camera; move {instead} to the entry of a camera, or remove [[cameras]]"
            );
            findings.problem(entry, path, message);
        }
    }
    for (i, camera) in site.cameras.iter().enumerate() {
        let path = format!("cameras[{i}]");
        let same = |other: &CameraEntry| other.name == camera.name;
        if camera.name.trim().is_empty() || site.cameras[..i].iter().any(same) {
            let message = format!(
                "the name \"{}\" is empty or already used; give each camera a name of its own",
                camera.name
            );
            findings.problem(entry, &format!("{path}.name"), message);
        }
        let areas = camera.vision(&site.vision).problems().into_iter();
        let of_camera =
            areas.filter(|(key, _)| key.starts_with("ignore") || key.starts_with("include"));
        findings.problems_of(entry, &path, of_camera.collect());
        if camera.calibration.is_none() && site.cameras.len() > 1 {
            let message = "this camera is not calibrated, so its picture is mapped onto the whole surface and visitors appear twice; \
                           calibrate it in the panel or with shoal calibrate";
            findings.warning(entry, &path, message.to_owned());
        }
    }
}

/// Checks that each fault that is not reported exists.
fn check_ignored(entry: &Entry<SiteFile>, findings: &mut Findings) {
    for (i, name) in entry.value.alerts.ignore.iter().enumerate() {
        if FAULT_NAMES.iter().any(|fault| names_fault(name, fault)) {
            continue;
        }
        let groups = FAULT_NAMES.iter().filter_map(|fault| fault.split_once('.'));
        let groups: BTreeSet<&str> = groups.map(|(group, _)| group).collect();
        let known = groups.into_iter().chain(FAULT_NAMES.iter().copied());
        let message = unknown("fault", name, known);
        findings.problem(entry, &format!("alerts.ignore[{i}]"), message);
    }
}

/// Warns of corners that the file does not contain although it contains others, and of a mirrored picture.
fn warn_corners(
    entry: &Entry<SiteFile>,
    path: &str,
    output: &OutputParams,
    findings: &mut Findings,
) {
    let names = ["top_left", "top_right", "bottom_right", "bottom_left"];
    let is_written = |name: &&str| entry.spans.is_written(&format!("{path}.{name}"));
    let (written, absent): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_written);
    if !written.is_empty() && !absent.is_empty() {
        let message = format!(
            "{} of 4 corners; {} stays in the corner of the projector's picture; list all four",
            written.len(),
            absent.join(" and ")
        );
        findings.warning(entry, path, message);
    }
    if output.corners.is_mirrored() {
        let message = "the picture is mirrored, as for a projector that shines over a mirror or from behind; if it does not, exchange \
                       the left and the right corners";
        findings.warning(entry, path, message.into());
    }
}

/// Checks the values of one scene, and that its species exist.
pub(super) fn check_scene(entry: &Entry<SceneFile>, library: &Library, findings: &mut Findings) {
    let scene = &entry.value;
    findings.problems_of(entry, "pool", scene.pool.problems());
    for (i, obstacle) in scene.obstacles.iter().enumerate() {
        findings.problems_of(entry, &format!("obstacles[{i}]"), obstacle.problems());
    }
    for (i, path) in scene.paths.iter().enumerate() {
        findings.problems_of(entry, &format!("paths[{i}]"), path.problems());
        if scene.paths[..i].iter().any(|other| other.name == path.name) {
            findings.problem(
                entry,
                &format!("paths[{i}].name"),
                format!(
                    "another path is already named \"{}\"; choose a different name",
                    path.name
                ),
            );
        }
    }
    for (i, barrier) in scene.barriers.iter().enumerate() {
        findings.problems_of(entry, &format!("barriers[{i}]"), barrier.problems());
    }
    for name in scene
        .population
        .keys()
        .filter(|name| !library.species.contains_key(*name))
    {
        let path = format!("population.{name}");
        let message = unknown("species", name, library.species.keys());
        let name = DocumentName::Species { name: name.clone() };
        findings.problem(entry, &path, message + &library.left_out_hint(&name));
    }
    for (table, names) in [
        (
            "pool.margins_m",
            scene.pool.margins_m.keys().collect::<Vec<_>>(),
        ),
        ("fish", scene.fish.keys().collect()),
    ] {
        for name in names {
            let path = format!("{table}.{name}");
            if !library.species.contains_key(name) {
                let message = unknown("species", name, library.species.keys());
                findings.problem(entry, &path, message);
            } else if !scene.population.contains_key(name) {
                let known = scene.population.keys();
                findings.warning(
                    entry,
                    &path,
                    unknown("species in the population", name, known),
                );
            }
        }
    }
    check_margins(entry, library, findings);
    check_fit(entry, library, findings);
    let known = names(library);
    for (i, field) in scene.fields.iter().enumerate() {
        let path = format!("fields[{i}]");
        findings.problems_of(entry, &path, field.problems(scene.obstacles.len()));
        for (j, other) in field.acts_on.iter().enumerate() {
            if !known.contains(other.as_str()) {
                let message = format!(
                    "{}; the field does not act on this name",
                    unknown("species or group", other, known.iter())
                );
                findings.warning(entry, &format!("{path}.acts_on[{j}]"), message);
            }
        }
    }
    check_individuals(entry, library, findings);
    check_rules(entry, library, findings);
    warn_dead_scene(entry, library, findings);
    let count: u64 = scene.population.values().map(|&n| u64::from(n)).sum();
    if count > MAX_AGENTS {
        findings.problem(
            entry,
            "population",
            format!("{count} agents are too many for one pool; reduce the population to at most {MAX_AGENTS}"),
        );
    }
}

/// Checks the margins of single species: their names, and whether the fish can leave the picture.
fn check_margins(entry: &Entry<SceneFile>, library: &Library, findings: &mut Findings) {
    let scene = &entry.value;
    let pool = &scene.pool;
    let no_effect = if pool.edge != EdgeMode::Guide {
        Some("margins_m acts only if edge = \"guide\"; set it, or remove these margins")
    } else if !pool.terraces.is_empty() {
        Some("the terraces end the water, so no fish leaves the picture; remove these margins")
    } else {
        None
    };
    if let Some(message) = no_effect.filter(|_| !pool.margins_m.is_empty()) {
        findings.warning(entry, "pool.margins_m", message.into());
    }
    let crosses = |rule: &&RuleParams| matches!(rule.then, Effect::Leave(_) | Effect::Enter(_));
    let crossing = scene.director.iter().filter(crosses);
    let sent: BTreeSet<&String> = crossing
        .flat_map(|rule| library.targets(scene, &rule.then))
        .collect();
    for (name, margin_m) in &pool.margins_m {
        let path = format!("pool.margins_m.{name}");
        let Some(species) = library.species.get(name) else {
            continue;
        };
        let length_m = species
            .as_ref()
            .map_or(0.0, |file| file.value.body.length_m);
        let (enough_m, own_m) = (pool.leaving_margin_m(length_m), *margin_m);
        let is_to_leave = own_m > pool.margin_m || sent.contains(name);
        if is_to_leave && own_m < enough_m {
            findings.warning(
                entry,
                &path,
                format!(
                    "{own_m} m is too little for a {name} of {length_m} m to leave the picture: it turns back before it is out of sight; \
                     use at least {enough_m:.2} m, or remove this margin"
                ),
            );
        }
    }
    for (i, rule) in scene.director.iter().enumerate() {
        if !crosses(&rule) {
            continue;
        }
        let mut out = library
            .targets(scene, &rule.then)
            .filter(|name| pool.margins_m.contains_key(*name));
        if no_effect.is_some() || out.next().is_none() {
            findings.warning(
                entry,
                &format!("director[{i}].then"),
                "none of these species swims out of the picture, so the rule has no effect; give one a margin in pool.margins_m".into(),
            );
        }
    }
}

/// Warns of obstacles outside the picture, and of a shown scene that does not suit the surface of the site.
fn check_fit(entry: &Entry<SceneFile>, library: &Library, findings: &mut Findings) {
    let Some(site) = &library.site else {
        return;
    };
    let surface = &site.value.surface;
    findings.warnings_of(entry, "", entry.value.fit_warnings(surface));
    let shown = library.scenes.get(&site.value.scene);
    let is_shown = shown.is_some_and(|shown| {
        let file = shown.as_ref().map(|shown| shown.spans.file());
        file == Some(entry.spans.file())
    });
    if let Some(message) = entry.value.kind_warning(surface.kind).filter(|_| is_shown) {
        findings.warning(entry, "surfaces", message);
    }
    if is_shown {
        check_terraces(entry, library, surface, findings);
    }
}

/// Warns about terraces in which fish that leap have no room to turn and to run up.
fn check_terraces(
    entry: &Entry<SceneFile>,
    library: &Library,
    surface: &Surface,
    findings: &mut Findings,
) {
    let fitted = entry.value.fitted(surface);
    let leaping = fitted.population.keys().filter_map(|name| {
        let file = &library.species.get(name)?.as_ref()?.value;
        (file.motion.leap.height_m > 0.0).then_some((name, file.body.length_m))
    });
    let Some((name, length_m)) = leaping.max_by(|(_, a), (_, b)| a.total_cmp(b)) else {
        return;
    };
    for (index, terrace) in fitted.pool.terraces.iter().enumerate() {
        let corners = terrace.corners();
        let low = corners.iter().copied().fold(Vec2::INFINITY, Vec2::min);
        let high = corners.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
        let (width_m, wanted_m) = ((high - low).min_element(), LEAP_ROOM_LENGTHS * length_m);
        if width_m < wanted_m {
            let message = format!(
                "in this picture the terrace is {width_m:.2} m wide, too narrow for a {name} of {length_m} m to turn and to run up \
                 before a leap ({wanted_m:.2} m); make the picture or the terrace larger, or the fish shorter"
            );
            findings.warning(entry, &format!("pool.terraces[{index}].outline_m"), message);
        }
    }
}

/// Checks the named individuals: unique names, a species in the population, and actions and needs that fit the species. An
/// individual whose species is not in the population is only a warning, so that a species can be removed from the population.
fn check_individuals(entry: &Entry<SceneFile>, library: &Library, findings: &mut Findings) {
    let scene = &entry.value;
    let known = names(library);
    for (i, individual) in scene.individuals.iter().enumerate() {
        let path = format!("individuals[{i}]");
        let is_duplicate = scene.individuals[..i]
            .iter()
            .any(|o| o.name == individual.name);
        let is_reserved =
            library.species.contains_key(&individual.name) || individual.name == VISITOR;
        if individual.name.is_empty() || is_duplicate || is_reserved {
            findings.problem(
                entry,
                &format!("{path}.name"),
                format!(
                    "the name \"{}\" is empty or already used; choose another one",
                    individual.name
                ),
            );
        }
        let Some(&count) = scene.population.get(&individual.species) else {
            findings.warning(
                entry,
                &format!("{path}.species"),
                unknown(
                    "species in the population",
                    &individual.species,
                    scene.population.keys(),
                ),
            );
            continue;
        };
        let before = scene.individuals[..=i].iter();
        let named = before.filter(|o| o.species == individual.species).count();
        if named > count as usize {
            let (name, species) = (&individual.name, &individual.species);
            // A scene that takes a species out of the pool that it extends takes out its individuals, too.
            let is_inherited = entry.spans.is_inherited_at(&path);
            let message = match count {
                0 if is_inherited => continue,
                0 => format!(
                    "\"{name}\" is not in the pool, because the population of \"{species}\" is 0; raise it, or remove the individual"
                ),
                count => format!(
                    "the population has {count} of \"{species}\", but this is named individual number {named}; increase the population or \
                     remove an individual"
                ),
            };
            findings.warning(entry, &path, message);
        }
        let Some(Some(species)) = library.species.get(&individual.species) else {
            continue;
        };
        if !(individual.actions.is_empty() && individual.needs.is_empty()) {
            findings.problems_of(entry, &path, individual.mind(&species.value).problems());
        }
        for (relation, to) in &individual.relations {
            for (k, other) in to.iter().enumerate() {
                if !known.contains(other.as_str()) {
                    findings.warning(
                        entry,
                        &format!("{path}.relations.{relation}[{k}]"),
                        format!(
                            "{}; the relation has no effect",
                            unknown("species or group", other, known.iter())
                        ),
                    );
                }
            }
        }
    }
}

/// Checks the names in `without_needs`, and that something is left that moves the animal.
fn check_left_out_needs(
    (name, entry): (&str, &Entry<SpeciesFile>),
    library: &Library,
    findings: &mut Findings,
) {
    let species = &entry.value;
    let base = species
        .extends
        .as_ref()
        .and_then(|base| library.species.get(base)?.as_ref());
    let needs = base.iter().flat_map(|base| &base.value.needs);
    let standard = base.iter().map(|base| &base.value.standard.name);
    let standard: Vec<&str> = standard.map(String::as_str).collect();
    let inherited: Vec<&str> = (needs.map(|need| need.name.as_str()))
        .chain(standard.iter().copied())
        .collect();
    warn_left_out(
        (entry, "without_needs", "need"),
        &species.without_needs,
        &inherited,
        findings,
    );
    for (i, left_out) in species.without_needs.iter().enumerate() {
        if standard.contains(&left_out.as_str()) {
            findings.warning(
                entry,
                &format!("without_needs[{i}]"),
                format!(
                    "\"{left_out}\" is the standard need, which every species has; to leave out what it does, write [standard] with actions = []"
                ),
            );
        }
    }
    let scenes = library.scenes.values().flatten();
    let mut homes = scenes.filter(|scene| scene.value.population.contains_key(name));
    let drifts = homes.any(|scene| !scene.value.fields.is_empty());
    if !findings.is_invalid(entry) && species.needs.is_empty() && !species.moves(drifts) {
        let (path, cause) = match species.without_needs.is_empty() {
            true => ("needs", "the species has no needs"),
            false => ("without_needs", "the species is left without needs"),
        };
        findings.warning(
            entry,
            path,
            format!("{cause}, so its agents only drift; add a need such as {{name = \"roam\", actions = [\"wander\"]}}"),
        );
    }
}

/// Checks one species: its own values, the names in its relations, and the ratio of its drawn to its simulated length.
pub(super) fn check_species(
    name: &str,
    entry: &Entry<SpeciesFile>,
    library: &Library,
    findings: &mut Findings,
) {
    let species = &entry.value;
    check_left_out_needs((name, entry), library, findings);
    if name == VISITOR {
        findings.problem(
            entry,
            "",
            format!("\"{VISITOR}\" is the species name of the visitors' shadows; rename the file"),
        );
    }
    let sight_radius_m = species.perception.sight_radius_m;
    let mind = species.mind();
    findings.problems_of(entry, "motion", species.motion.problems());
    findings.problems_of(entry, "perception", species.perception.problems());
    findings.problems_of(entry, "", mind.problems());
    findings.warnings_of(entry, "", mind.warnings(sight_radius_m));
    findings.warnings_of(entry, "flock", species.flock.warnings(sight_radius_m));
    warn_dead_species(name, entry, library, findings);
    let known = names(library);
    for (relation, to) in &species.relations {
        for (i, other) in to.iter().enumerate() {
            if !known.contains(other.as_str()) {
                findings.warning(
                    entry,
                    &format!("relations.{relation}[{i}]"),
                    format!(
                        "{}; the relation has no effect",
                        unknown("species or group", other, known.iter())
                    ),
                );
            }
        }
    }
    let (drawn, simulated) = (species.look.length_m, species.body.length_m);
    if drawn.max(simulated) > LENGTH_RATIO_MAX * drawn.min(simulated) && !findings.is_invalid(entry)
    {
        findings.warning(
            entry,
            "look.length_m",
            format!(
                "it is drawn {drawn} m long, but body.length_m = {simulated}; make both about equal"
            ),
        );
    }
}

/// Returns all names that a relation can refer to: species, groups, individuals of any scene, and `visitor`.
fn names(library: &Library) -> BTreeSet<&str> {
    let groups = library
        .species
        .values()
        .flatten()
        .flat_map(|entry| &entry.value.groups);
    let scenes = library.scenes.values().flatten();
    let individuals = scenes
        .flat_map(|scene| &scene.value.individuals)
        .map(|one| &one.name);
    library
        .species
        .keys()
        .chain(groups)
        .chain(individuals)
        .map(String::as_str)
        .chain([VISITOR])
        .collect()
}
