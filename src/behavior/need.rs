//! Parameters of needs and minds: what a species file says about what an individual wants, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actions::ActionParams;
use super::actions::flock_simple::Centroid;
use super::drives::DrivesParams;

/// Most actions and most needs that one mind may hold.
pub const MAX_ACTIONS: usize = 64;

/// One need: an ordered list of actions and the rule that says when it is satisfied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeedParams {
    /// What it is called in the panel and in recordings.
    pub name: String,
    /// When it is satisfied.
    #[serde(rename = "type")]
    pub kind: NeedKind,
    /// Whether all executable actions act together, instead of the first alone.
    pub additive: bool,
    /// Names of its actions, most important first.
    pub actions: Vec<String>,
    /// How the forces of an additive need are put together.
    pub combine: Combine,
    /// Chance that an action is taken when its turn comes, where `combine` is `dither`.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub dither_chance: f32,
    /// Whether an exclusive need picks one of its executable actions by chance, instead of the first.
    pub stochastic: bool,
    /// How long a choice by chance (`stochastic` or `dither`) is kept while it can be executed; short makes fish tremble.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub minimum_secs: f32,
    /// How long the need stays the active one once it is, while it has something to do: an intention. A need above it
    /// goes before. 0: no longer than it is unsatisfied.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub keep_secs: f32,
    /// The limit of a `limit_based` need.
    pub limit: Option<LimitParams>,
}

impl Default for NeedParams {
    fn default() -> Self {
        Self {
            name: String::new(),
            kind: NeedKind::Default,
            additive: false,
            actions: Vec::new(),
            combine: Combine::Sum,
            dither_chance: 0.8,
            stochastic: false,
            minimum_secs: 0.5,
            keep_secs: 0.0,
            limit: None,
        }
    }
}

/// When a need is satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// Never.
    #[default]
    Default,
    /// While none of its actions can be executed.
    ActionBased,
    /// While its variable is within its limit.
    LimitBased,
}

/// How forces are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Weighted sum.
    #[default]
    Sum,
    /// The first that applies.
    First,
    /// Weighted sum in order, until the largest force is used up.
    Budget,
    /// In order, each with a chance; the first that is drawn, for a minimum time. Obstacle avoidance is always drawn.
    Dither,
}

/// The variable of a `limit_based` need, such as hunger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitParams {
    /// What is held against the limit.
    pub of: LimitOf,
    /// Value beyond which the need is no longer satisfied.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub value: f32,
    /// On which side of it the variable has to stay.
    pub side: LimitSide,
    /// The variable at the start.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub start: f32,
    /// How fast the variable grows, or falls where negative.
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub rate_per_sec: f32,
    /// Share of the way to the limit by which individuals differ at the start.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub start_spread: f32,
    /// What sets the variable back.
    pub reset_by: NeedEvent,
    /// What it is set back to.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub reset_to: f32,
}

impl Default for LimitParams {
    fn default() -> Self {
        Self {
            of: LimitOf::Own,
            value: 1.0,
            side: LimitSide::Upper,
            start: 0.0,
            rate_per_sec: 0.0,
            start_spread: 0.0,
            reset_by: NeedEvent::Catch,
            reset_to: 0.0,
        }
    }
}

/// What is held against a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// A variable of the need's own, with its start, rate and reset.
    #[default]
    Own,
    /// The drive hunger, 0 to 1.
    Hunger,
    /// The drive fear, 0 to 1.
    Fear,
    /// The drive libido, 0 to 1.
    Libido,
}

/// On which side of a limit a variable has to stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitSide {
    /// At or below it.
    #[default]
    Upper,
    /// At or above it.
    Lower,
}

/// What sets a need's variable back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedEvent {
    /// Nothing.
    Nothing,
    /// A catch of the hunt.
    #[default]
    Catch,
    /// A meal: food that was eaten, or a catch.
    Meal,
    /// One that was investigated or courted is known now.
    Courted,
}

/// A whole mind: all actions by name, the standard need and the strictly ordered needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindParams {
    /// All actions by name. One that several needs name is one action, with one memory.
    pub actions: BTreeMap<String, ActionParams>,
    /// The need that acts in every step besides the active one; may be empty.
    pub standard: NeedParams,
    /// The needs, most important first.
    pub needs: Vec<NeedParams>,
    /// How the forces of the standard and the active need are put together.
    pub combine: Combine,
    /// How its drives grow and fade.
    pub drives: DrivesParams,
}

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
