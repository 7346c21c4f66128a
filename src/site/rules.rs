//! Checks the rules of the director: the names in them, and rules that never begin or change nothing.
//!
//! In: parsed files. Out: problems and warnings with their positions. Must not: know an action by its name.

use std::collections::BTreeSet;

use super::files::{SceneFile, SpeciesFile, VISITOR};
use super::findings::{Findings, unknown, warn_left_out};
use super::library::Library;
use super::source::Entry;
use crate::world::{Condition, Effect, RuleParams, rule_problems};

/// Checks that the rules of the director use existing rules, places, species and needs.
pub(super) fn check_rules(entry: &Entry<SceneFile>, library: &Library, findings: &mut Findings) {
    let scene = &entry.value;
    findings.problems_of(entry, "", rule_problems(&scene.director));
    let base = scene
        .extends
        .as_ref()
        .and_then(|base| library.scenes.get(base)?.as_ref());
    let rules = base.iter().flat_map(|base| &base.value.director);
    let inherited: Vec<&str> = rules.map(|rule| rule.name.as_str()).collect();
    warn_left_out(
        (entry, "without_rules", "rule"),
        &scene.without_rules,
        &inherited,
        findings,
    );
    check_places(entry, findings);
    let known = library.target_names(scene);
    for (i, rule) in scene.director.iter().enumerate() {
        check_condition(entry, (i, rule), findings);
        if let Some(during) = &rule.during {
            let path = format!("director[{i}].during");
            check_rule_name(entry, rule, (during, path), findings);
        }
        for (k, name) in rule.then.species().iter().enumerate() {
            if !known.contains(name.as_str()) {
                findings.warning(
                    entry,
                    &format!("director[{i}].then.species[{k}]"),
                    unknown(
                        "species, group or individual in this scene",
                        name,
                        known.iter(),
                    ),
                );
            }
        }
        check_names(entry, (i, rule), (library, &known), findings);
        let Effect::SetNeed(set) = &rule.then else {
            continue;
        };
        let targets = library.targets(scene, &rule.then);
        let species = targets.filter_map(|name| library.species.get(name)?.as_ref());
        let has_need = |file: &SpeciesFile| {
            file.needs
                .iter()
                .any(|need| need.name == set.need && need.limit.is_some())
        };
        let mut species = species.peekable();
        if species.peek().is_some() && !species.any(|species| has_need(&species.value)) {
            findings.warning(
                entry,
                &format!("director[{i}].then.need"),
                format!(
                    "none of these species has a limit_based need \"{}\"; use the name of one of their needs",
                    set.need
                ),
            );
        }
    }
}

/// Checks the species that an effect names apart from those whom it concerns.
fn check_names(
    entry: &Entry<SceneFile>,
    (i, rule): (usize, &RuleParams),
    (library, known): (&Library, &BTreeSet<&str>),
    findings: &mut Findings,
) {
    match &rule.then {
        Effect::Mind(mind) if !entry.value.population.contains_key(&mind.like) => {
            let names = entry.value.population.keys();
            let message = unknown("species in the population", &mind.like, names)
                + "; a population of 0 is enough";
            findings.problem(entry, &format!("director[{i}].then.like"), message);
        }
        Effect::Relation(relation) => {
            let targets = library.targets(&entry.value, &rule.then);
            let files = targets.filter_map(|name| library.species.get(name)?.as_ref());
            let own = files.filter_map(|file| file.value.relations.get(&relation.relation));
            let own: BTreeSet<&String> = own.flatten().collect();
            if !relation.on
                && !relation.to.is_empty()
                && relation.to.iter().all(|to| !own.contains(to))
            {
                let names = own.iter().map(|name| name.as_str()).collect::<Vec<_>>();
                let message = format!(
                    "none of these species has the relation \"{}\" to one of these names, so there is nothing to take away; they have it \
                     to: {}",
                    relation.relation,
                    names.join(", ")
                );
                findings.warning(entry, &format!("director[{i}].then.to"), message);
            }
            if relation.to.is_empty() {
                let message =
                    "the relation is to no species, so the rule changes nothing; name one";
                findings.warning(entry, &format!("director[{i}].then.to"), message.into());
            }
            for (k, name) in relation.to.iter().enumerate() {
                if name != VISITOR && !known.contains(name.as_str()) {
                    findings.warning(
                        entry,
                        &format!("director[{i}].then.to[{k}]"),
                        unknown(
                            "species, group or individual in this scene",
                            name,
                            known.iter(),
                        ),
                    );
                }
            }
        }
        _ => {}
    }
}

/// Checks the rule or the place that a condition names.
fn check_condition(
    entry: &Entry<SceneFile>,
    (index, rule): (usize, &RuleParams),
    findings: &mut Findings,
) {
    let scene = &entry.value;
    let (key, message) = match &rule.when {
        Condition::After(after) => {
            let path = format!("director[{index}].when.rule");
            return check_rule_name(entry, rule, (&after.rule, path), findings);
        }
        Condition::VisitorAt(at) => {
            let places = scene.pool.areas.iter().map(|place| &place.name);
            let places: Vec<&String> = places.filter(|name| !name.is_empty()).collect();
            if places.contains(&&at.place) {
                return;
            }
            let message = match places.as_slice() {
                [] => format!(
                    "there is no place \"{}\"; add [[pool.areas]] with this name",
                    at.place
                ),
                places => unknown("place in pool.areas", &at.place, places.iter()),
            };
            ("place", message)
        }
        _ => return,
    };
    let path = format!("director[{index}].when.{key}");
    findings.problems_of(entry, "", vec![(path, message)]);
}

/// Checks that another rule exists which a rule names at this path.
fn check_rule_name(
    entry: &Entry<SceneFile>,
    rule: &RuleParams,
    (name, path): (&String, String),
    findings: &mut Findings,
) {
    let scene = &entry.value;
    if scene.director.iter().any(|rule| rule.name == *name) {
        return;
    }
    let left_out = match scene.without_rules.contains(name) {
        true => "; without_rules of this scene leaves it out",
        false => "",
    };
    let others = (scene.director.iter()).filter(|other| other.name != rule.name);
    let names = others.map(|other| &other.name);
    let message = unknown("rule", name, names) + left_out;
    findings.problems_of(entry, "", vec![(path, message)]);
}

/// Warns about places that share a name: a rule that names it means all of them.
fn check_places(entry: &Entry<SceneFile>, findings: &mut Findings) {
    let areas = &entry.value.pool.areas;
    for (i, area) in areas.iter().enumerate() {
        let is_same = |other: &str| !other.is_empty() && other == area.name;
        if areas[..i].iter().any(|other| is_same(&other.name)) {
            findings.warning(
                entry,
                &format!("pool.areas[{i}].name"),
                format!(
                    "another area is already named \"{}\", and a rule that names it means both; choose a different name, or make one \
                     area of both",
                    area.name
                ),
            );
        }
    }
}

/// Warns about rules that change nothing, and about rules that never begin.
pub(super) fn warn_dead_rules(
    (entry, library): (&Entry<SceneFile>, &Library),
    living: &[(&String, &SpeciesFile)],
    findings: &mut Findings,
) {
    let scene = &entry.value;
    let outside = library
        .site
        .as_ref()
        .map(|site| scene.areas_outside(&site.value.surface))
        .unwrap_or_default();
    for (index, rule) in scene.director.iter().enumerate() {
        warn_dead_effect((entry, library), living, index, findings);
        warn_late_step(entry, index, findings);
        if let Some((key, message)) = never_begins(scene, &outside, rule) {
            findings.warning(entry, &format!("director[{index}].{key}"), message);
        }
    }
}

/// Warns about an effect that changes no fish.
fn warn_dead_effect(
    (entry, library): (&Entry<SceneFile>, &Library),
    living: &[(&String, &SpeciesFile)],
    index: usize,
    findings: &mut Findings,
) {
    let scene = &entry.value;
    let rule = &scene.director[index];
    let path = format!("director[{index}]");
    let names: BTreeSet<&String> = library.targets(scene, &rule.then).collect();
    let mut targets = living
        .iter()
        .filter(|(name, _)| names.contains(name) && scene.population[*name] > 0)
        .peekable();
    let (gathers, lasts) = (rule.then.gathers(), rule.then.lasts());
    if targets.peek().is_none() && !names.is_empty() && !rule.then.species().is_empty() {
        findings.warning(
            entry,
            &format!("{path}.then.species"),
            "none of these fish is in the pool, because the population of their species is 0, so the rule changes nothing; raise it, \
             or leave the rule out"
                .into(),
        );
    } else if targets.peek().is_some() {
        let hunts = matches!(rule.then, Effect::Hunting(_));
        if gathers && !targets.any(|(_, species)| species.follows_director()) {
            findings.warning(
                entry,
                &format!("{path}.then"),
                "none of these species has an action whose target is \"director\", so none of them follows; add one to a need, \
                 for example {action = \"seek\", weight = 0.0}"
                    .into(),
            );
        } else if hunts && !targets.any(|(_, species)| species.hunts()) {
            findings.warning(
                entry,
                &format!("{path}.then"),
                "none of these species has an action that hunts, so the rule has no effect; name a hunter".into(),
            );
        }
    }
    let hold_secs = format!("{path}.hold_secs");
    let is_awaited = |rule: &RuleParams| rule.alone || is_during(&scene.director, &rule.name);
    if matches!(rule.then, Effect::Hunting(_))
        && entry.spans.is_written(&hold_secs)
        && !is_awaited(rule)
    {
        findings.warning(
            entry,
            &hold_secs,
            "hunting is a switch, so the hunt does not end after this time, but with a catch, with give_up_secs of the action, or \
             with a rule that switches hunting off; remove hold_secs"
                .into(),
        );
    }
    if lasts && rule.hold_secs <= 0.0 {
        findings.warning(
            entry,
            &hold_secs,
            "the effect ends as soon as it begins, because hold_secs is 0; set its duration".into(),
        );
    }
}

/// Whether a rule acts only during the rule with this name.
fn is_during(rules: &[RuleParams], name: &str) -> bool {
    rules
        .iter()
        .any(|rule| rule.during.as_deref() == Some(name))
}

/// Warns about a rule that follows one that acts alone, or during which it acts, and begins only after the end of it.
fn warn_late_step(entry: &Entry<SceneFile>, index: usize, findings: &mut Findings) {
    let rules = &entry.value.director;
    let rule = &rules[index];
    let Condition::After(after) = &rule.when else {
        return;
    };
    let first = rules.iter().find(|first| first.name == after.rule);
    let Some(first) = first.filter(|first| after.secs >= first.hold_secs) else {
        return;
    };
    let consequence = match () {
        () if rule.during.as_ref() == Some(&first.name) => "so this rule never begins",
        () if first.alone => "so the other rules no longer wait when this rule begins",
        () => return,
    };
    findings.warning(
        entry,
        &format!("director[{index}].when.secs"),
        format!(
            "\"{}\" acts for {} s, {consequence}; raise hold_secs there to the length of the show",
            first.name, first.hold_secs
        ),
    );
}

/// Returns why a rule never begins by itself, as (key inside the rule, message); `None` if it can begin, or if the reason stands at
/// another rule or place. `outside` are the areas that no visitor can enter.
fn never_begins(
    scene: &SceneFile,
    outside: &[usize],
    rule: &RuleParams,
) -> Option<(&'static str, String)> {
    match &rule.when {
        Condition::Chance(chance) if chance.rate_per_sec <= 0.0 => Some((
            "when.rate_per_sec",
            "the rule never begins, because its rate is 0; set a rate, or use condition = \"by_hand\"".into(),
        )),
        Condition::After(_) => {
            let chain = chain_of(scene, rule);
            let last = chain.last()?;
            let is_circle = chain.len() > 1 && last.name == rule.name;
            if is_circle {
                // A circle is reported once, at its first rule.
                let place = |rule: &RuleParams| scene.director.iter().position(|r| r.name == rule.name);
                let is_first = chain.iter().all(|other| place(other) >= place(rule));
                let names: Vec<&str> = chain.iter().map(|rule| rule.name.as_str()).collect();
                return is_first.then(|| {
                    (
                        "when.rule",
                        format!(
                            "these rules wait for each other, so none of them begins by itself: {}; give one of them another condition",
                            names.join(" → ")
                        ),
                    )
                });
            }
            let is_circular = matches!(last.when, Condition::After(_));
            let is_dead = is_circular || cannot_begin(scene, outside, last);
            is_dead.then(|| {
                (
                    "when.rule",
                    format!(
                        "the rule waits for \"{}\", which never begins; correct that rule, or name another one",
                        last.name
                    ),
                )
            })
        }
        _ => None,
    }
}

/// Returns a rule with the rules that it waits for, up to one that waits for none, or up to the first one that is there twice.
fn chain_of<'a>(scene: &'a SceneFile, rule: &'a RuleParams) -> Vec<&'a RuleParams> {
    let mut chain = vec![rule];
    while let Some(Condition::After(after)) = chain.last().map(|rule| &rule.when) {
        let Some(next) = scene.director.iter().find(|one| one.name == after.rule) else {
            break;
        };
        let is_known = chain.iter().any(|one| one.name == next.name);
        chain.push(next);
        if is_known {
            break;
        }
    }
    chain
}

/// Whether a rule that waits for no other rule never begins by itself.
fn cannot_begin(scene: &SceneFile, outside: &[usize], rule: &RuleParams) -> bool {
    match &rule.when {
        Condition::Chance(chance) => chance.rate_per_sec <= 0.0,
        Condition::VisitorAt(at) => {
            let mut places =
                (scene.pool.areas.iter().enumerate()).filter(|(_, p)| p.name == at.place);
            places.all(|(index, _)| outside.contains(&index))
        }
        _ => false,
    }
}
