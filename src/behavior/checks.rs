//! Checks of mind parameters: rules between several values, which the ranges of single values do not cover.

use std::collections::BTreeSet;

use super::action::FleeingAction;
use super::actions::ActionParams;
use super::params::{LimitOf, MAX_ACTIONS, MindParams, NeedKind, NeedParams};

/// One finding: path inside the species file, and a message.
type Finding = (String, String);

impl MindParams {
    /// Returns the errors of this mind, as (path inside the species file, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (path, count) in [("actions", self.actions.len()), ("needs", self.needs.len())] {
            if count > MAX_ACTIONS {
                found.push((
                    path.into(),
                    format!("{count} {path} are too many; a mind can have at most {MAX_ACTIONS}, remove some"),
                ));
            }
        }
        let mut names = BTreeSet::new();
        for (index, need) in self.needs.iter().enumerate() {
            let path = format!("needs[{index}]");
            if need.name.is_empty() {
                found.push((
                    format!("{path}.name"),
                    "the need has no name; add one".into(),
                ));
            } else if !names.insert(&need.name) {
                found.push((
                    format!("{path}.name"),
                    format!(
                        "another need is already named '{}'; choose a different name",
                        need.name
                    ),
                ));
            }
            if need.actions.is_empty() {
                found.push((
                    format!("{path}.actions"),
                    format!(
                        "the need '{}' has no action and would block all needs below it; add an action or remove the need",
                        need.name
                    ),
                ));
            }
            self.check_need(&path, need, &mut found);
        }
        if self.standard.kind != NeedKind::Default {
            found.push((
                "standard.type".into(),
                "the standard need acts in every tick, so its type must be 'default'".into(),
            ));
        }
        self.check_need("standard", &self.standard, &mut found);
        self.check_parts(&mut found);
        found
    }

    /// Returns warnings about values that are allowed but probably not intended, as (path inside the species file,
    /// message).
    pub fn warnings(&self, sight_radius_m: f32) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for need in &self.needs {
            let mut fleeing: Option<FleeingAction<'_>> = None;
            for name in &need.actions {
                let Some(action) = self.actions.get(name).filter(|a| a.weight() > 0.0) else {
                    continue;
                };
                if let Some(earlier) = &fleeing
                    && !need.additive
                    && let Some(finding) = action.warnings_after(name, earlier)
                {
                    found.push((format!("actions.{name}.{}", finding.key), finding.message));
                }
                if let Some(flee_distance_m) = action.flee_distance_m(sight_radius_m) {
                    fleeing = Some(FleeingAction {
                        name,
                        flee_distance_m,
                    });
                }
            }
        }
        for (name, action) in self.actions.iter().filter(|(_, a)| a.weight() > 0.0) {
            if let Some(finding) = action.warnings(name) {
                found.push((format!("actions.{name}.{}", finding.key), finding.message));
            }
            let parts = ["separation", "alignment", "cohesion"];
            for (part, change) in parts
                .iter()
                .zip(action.flock_changes().into_iter().flatten())
            {
                if let Some(radius_m) = change.radius_m.filter(|radius| *radius > sight_radius_m) {
                    found.push((
                        format!("actions.{name}.{part}.radius_m"),
                        format!(
                            "the {part} radius of {radius_m} m is larger than sight_radius_m = {sight_radius_m}: agents beyond \
                             the sight radius are not seen; raise the sight radius or lower this one"
                        ),
                    ));
                }
            }
        }
        found.extend(self.without_effect());
        let used = self.used_actions();
        for name in self.actions.keys().filter(|name| !used.contains(name)) {
            found.push((
                format!("actions.{name}"),
                format!("no need uses the action '{name}', so it is never executed; add it to a need or remove it"),
            ));
        }
        found
    }

    /// Checks that the parts of combined actions exist, and that no combined action contains itself.
    fn check_parts(&self, found: &mut Vec<Finding>) {
        for (own, action) in &self.actions {
            for (index, name) in action.parts().iter().enumerate() {
                let path = format!("actions.{own}.actions[{index}]");
                if !self.actions.contains_key(name) {
                    found.push((path, self.unknown_action(name)));
                } else if self.contains(name, own) {
                    found.push((
                        path,
                        format!("'{own}' contains itself through '{name}'; remove this entry"),
                    ));
                }
            }
        }
    }

    /// Whether the action `name` is the action `wanted`, or is combined from it at any depth.
    fn contains(&self, name: &str, wanted: &str) -> bool {
        let (mut open, mut seen) = (vec![name], BTreeSet::new());
        while let Some(name) = open.pop() {
            if name == wanted {
                return true;
            }
            if let Some(action) = self.actions.get(name)
                && seen.insert(name)
            {
                open.extend(action.parts().iter().map(String::as_str));
            }
        }
        false
    }

    /// Returns the names of the actions that a need or a combined action uses.
    fn used_actions(&self) -> BTreeSet<&String> {
        let needs = self.needs.iter().chain([&self.standard]);
        let in_needs = needs.flat_map(|need| &need.actions);
        let as_parts = self.actions.values().flat_map(ActionParams::parts);
        in_needs.chain(as_parts).collect()
    }

    fn unknown_action(&self, name: &str) -> String {
        let known: Vec<&str> = self.actions.keys().map(String::as_str).collect();
        format!(
            "unknown action \"{name}\"; this species has {}",
            known.join(", ")
        )
    }

    fn check_need(&self, path: &str, need: &NeedParams, found: &mut Vec<Finding>) {
        for (index, name) in need.actions.iter().enumerate() {
            if !self.actions.contains_key(name) {
                found.push((
                    format!("{path}.actions[{index}]"),
                    self.unknown_action(name),
                ));
            }
            if need.actions[..index].contains(name) {
                found.push((
                    format!("{path}.actions[{index}]"),
                    format!("the action '{name}' is listed twice in this need; remove one entry"),
                ));
            }
        }
        match (need.kind, &need.limit) {
            (NeedKind::LimitBased, None) => found.push((
                format!("{path}.limit"),
                format!(
                    "the need '{}' is limit_based but has no limit; add limit = {{ value = 1.0, … }}",
                    need.name
                ),
            )),
            (NeedKind::Default | NeedKind::ActionBased, Some(_)) => found.push((
                format!("{path}.limit"),
                format!(
                    "the need '{}' has a limit but is not limit_based; change its type or remove the limit",
                    need.name
                ),
            )),
            _ => {}
        }
        let drive = need.limit.as_ref().map_or(LimitOf::Own, |limit| limit.of);
        let (is_off, key) = match drive {
            LimitOf::Own => (false, ""),
            LimitOf::Hunger => (self.drives.hungry_after_secs <= 0.0, "hungry_after_secs"),
            LimitOf::Fear => (self.drives.fear_distance_m <= 0.0, "fear_distance_m"),
            LimitOf::Libido => (self.drives.courts_after_secs <= 0.0, "courts_after_secs"),
        };
        if is_off {
            found.push((
                format!("{path}.limit.of"),
                format!(
                    "the need '{}' reads a drive that is switched off; set drives.{key}",
                    need.name
                ),
            ));
        }
    }
}
