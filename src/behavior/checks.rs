//! Checks of mind parameters.

use std::collections::BTreeSet;

use super::actions::ActionParams;
use super::actions::Centroid;
use super::params::{LimitOf, MAX_ACTIONS, MindParams, NeedKind, NeedParams};

impl MindParams {
    /// Rules between fields, as (path inside the species file, sentence).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.actions.len() > MAX_ACTIONS {
            found.push((
                "actions".into(),
                format!(
                    "{} actions are more than the {MAX_ACTIONS} that one mind may hold",
                    self.actions.len()
                ),
            ));
        }
        if self.needs.len() > MAX_ACTIONS {
            found.push((
                "needs".into(),
                format!(
                    "{} needs are more than the {MAX_ACTIONS} that one mind may hold",
                    self.needs.len()
                ),
            ));
        }
        let mut names = BTreeSet::new();
        for (index, need) in self.needs.iter().enumerate() {
            let path = format!("needs[{index}]");
            if need.name.is_empty() {
                found.push((
                    format!("{path}.name"),
                    "the need has no name; give it one".into(),
                ));
            } else if !names.insert(&need.name) {
                found.push((
                    format!("{path}.name"),
                    format!(
                        "a need named '{}' stands above already; choose another name",
                        need.name
                    ),
                ));
            }
            if need.actions.is_empty() {
                found.push((
                    format!("{path}.actions"),
                    format!("the need '{}' has no action and would block all needs below it; add one or remove the need", need.name),
                ));
            }
            self.check_need(&path, need, &mut found);
        }
        if self.standard.kind != NeedKind::Default {
            found.push((
                "standard.type".into(),
                "the standard need acts in every step; its type is 'default'".into(),
            ));
        }
        self.check_need("standard", &self.standard, &mut found);
        self.check_combined(&mut found);
        found
    }

    /// What is allowed but surely not meant, as (path inside the species file, sentence).
    pub fn warnings(&self, sight_radius_m: f32) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for need in &self.needs {
            let mut flee: Option<(&String, f32)> = None;
            for name in &need.actions {
                match self.actions.get(name) {
                    Some(ActionParams::FleeEnemy(params)) if params.weight > 0.0 => {
                        flee = Some((name, params.flee_distance_m.unwrap_or(sight_radius_m)));
                    }
                    Some(ActionParams::HideFromEnemy(params))
                        if params.weight > 0.0 && !need.additive =>
                    {
                        if let Some((flee_name, distance)) = flee
                            && distance >= params.flee_distance_m
                        {
                            found.push((
                                format!("actions.{name}.flee_distance_m"),
                                format!(
                                    "'{name}' stands after '{flee_name}', which flees at {distance} m already, so hiding within {} m never \
                                     begins; lower the flee distance of '{flee_name}' or raise this one",
                                    params.flee_distance_m
                                ),
                            ));
                        }
                    }
                    _ => {}
                }
            }
        }
        for (name, action) in &self.actions {
            if let ActionParams::FlockSimple(params) = action
                && params.centroid == Centroid::Individual
                && params.weight > 0.0
                && params.centroid_radius_m <= params.cohesion_m
            {
                found.push((
                    format!("actions.{name}.centroid_radius_m"),
                    format!(
                        "the middle of those within {} m is never {} m away, so '{name}' does not keep together; raise this one or \
                         lower cohesion_m",
                        params.centroid_radius_m, params.cohesion_m
                    ),
                ));
            }
        }
        let used = self.used();
        for name in self.actions.keys().filter(|name| !used.contains(name)) {
            found.push((
                format!("actions.{name}"),
                format!("no need names the action '{name}': it is never executed"),
            ));
        }
        found
    }

    /// The parts of combined actions are there and are no combined actions themselves.
    fn check_combined(&self, found: &mut Vec<(String, String)>) {
        for (own, action) in &self.actions {
            let ActionParams::Combined(combined) = action else {
                continue;
            };
            for (index, name) in combined.actions.iter().enumerate() {
                let path = format!("actions.{own}.actions[{index}]");
                match self.actions.get(name) {
                    None => {
                        let known: Vec<&str> = self.actions.keys().map(String::as_str).collect();
                        let message = format!(
                            "there is no action '{name}'; the species has {}",
                            known.join(", ")
                        );
                        found.push((path, message));
                    }
                    Some(ActionParams::Combined(_)) => found.push((
                        path,
                        format!("'{name}' is combined itself; name its parts instead"),
                    )),
                    Some(_) => {}
                }
            }
        }
    }

    /// Names that a need or a combined action uses.
    fn used(&self) -> BTreeSet<&String> {
        let needs = self.needs.iter().chain([&self.standard]);
        let parts = self.actions.values().filter_map(|action| match action {
            ActionParams::Combined(combined) => Some(&combined.actions),
            _ => None,
        });
        needs
            .map(|need| &need.actions)
            .chain(parts)
            .flatten()
            .collect()
    }

    fn check_need(&self, path: &str, need: &NeedParams, found: &mut Vec<(String, String)>) {
        for (index, name) in need.actions.iter().enumerate() {
            if !self.actions.contains_key(name) {
                let known: Vec<&str> = self.actions.keys().map(String::as_str).collect();
                found.push((
                    format!("{path}.actions[{index}]"),
                    format!(
                        "there is no action '{name}'; the species has {}",
                        known.join(", ")
                    ),
                ));
            }
            if need.actions[..index].contains(name) {
                found.push((
                    format!("{path}.actions[{index}]"),
                    format!("'{name}' stands in this need twice; remove one"),
                ));
            }
        }
        match (need.kind, &need.limit) {
            (NeedKind::LimitBased, None) => found.push((
                format!("{path}.limit"),
                format!("the need '{}' is limit_based and has no limit; add limit = {{ value = 1.0, … }}", need.name),
            )),
            (NeedKind::Default | NeedKind::ActionBased, Some(_)) => found.push((
                format!("{path}.limit"),
                format!("the need '{}' has a limit but is not limit_based; change its type or remove the limit", need.name),
            )),
            _ => {}
        }
        let drive = need.limit.as_ref().map_or(LimitOf::Own, |limit| limit.of);
        let (is_off, lacks) = match drive {
            LimitOf::Own => (false, ""),
            LimitOf::Hunger => (self.drives.hungry_after_secs <= 0.0, "hungry_after_secs"),
            LimitOf::Fear => (self.drives.fear_distance_m <= 0.0, "fear_distance_m"),
            LimitOf::Libido => (self.drives.courts_after_secs <= 0.0, "courts_after_secs"),
        };
        if is_off {
            found.push((
                format!("{path}.limit.of"),
                format!(
                    "the need '{}' reads a drive that is switched off; set drives.{lacks}",
                    need.name
                ),
            ));
        }
    }
}
