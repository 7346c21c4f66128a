//! The director's rules: condition → effect, with hold times. Parameters, and the clock of each rule.
//!
//! In: the world before the step. Out: which rules begin and which end. Must not: touch an agent; `simulation` does what
//! the effects say. **Source**: 2-behavior.md section 5, 'Director'; main source 1.2.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::params::MAX_ACTIONS;
use crate::world::{Purpose, World};

/// One rule of a scene: when its condition has held for a while, its effect begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleParams {
    /// What it is called; whoever starts it by hand names it.
    pub name: String,
    /// The condition.
    pub when: Condition,
    /// How long the condition must have held before the rule begins.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub for_secs: f32,
    /// The effect.
    pub then: Effect,
    /// How long the effect lasts once begun. What acts at once, as `calm`, acts at its begin.
    #[serde(default = "default_hold_secs")]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub hold_secs: f32,
    /// How long the rule rests after it ended. Then it begins again if its condition holds.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub pause_secs: f32,
}

fn default_hold_secs() -> f32 {
    1.0
}

/// When a rule begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// So many visitors are on the surface.
    Visitors(VisitorsCondition),
    /// Somebody has stood still.
    StillVisitor(StillCondition),
    /// Many fish are on the run.
    Scare(ScareCondition),
    /// Now and then, by chance.
    Chance(ChanceCondition),
    /// Always; with a pause, this is a clock.
    Always(NoParams),
    /// Only when somebody starts it by hand.
    ByHand(NoParams),
}

/// How many visitors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VisitorsCondition {
    /// At least so many shadows are on the surface.
    #[schemars(range(min = 0, max = 1000))]
    pub at_least: u32,
    /// And at most so many; 0 is nobody.
    #[schemars(range(min = 0, max = 1000))]
    pub at_most: u32,
}

impl Default for VisitorsCondition {
    fn default() -> Self {
        Self {
            at_least: 0,
            at_most: 1000,
        }
    }
}

/// How still.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StillCondition {
    /// How long one visitor must have stood still.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub still_secs: f32,
}

impl Default for StillCondition {
    fn default() -> Self {
        Self { still_secs: 6.0 }
    }
}

/// How many are on the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScareCondition {
    /// Share of all fish that swim faster than they cruise.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
    /// At most so many shadows are on the surface; 0: after the visitors have gone.
    #[schemars(range(min = 0, max = 1000))]
    pub visitors_at_most: u32,
}

impl Default for ScareCondition {
    fn default() -> Self {
        Self {
            share: 0.3,
            visitors_at_most: 1000,
        }
    }
}

/// How often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChanceCondition {
    /// Rate at which it begins: 0.01 is once in 100 s on the average.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub rate_per_sec: f32,
}

impl Default for ChanceCondition {
    fn default() -> Self {
        Self { rate_per_sec: 0.01 }
    }
}

/// A table without parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoParams {}

/// What a rule does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Switches hunting on, beyond its limit, or off, to where a catch sets it.
    Hunting(HuntingEffect),
    /// Lets species gather at a point while it lasts. Moves those who have an action `seek` with the director as its target.
    Gather(GatherEffect),
    /// Lets species gather at the visitor who has stood still longest, while it lasts.
    GatherAtShadow(GatherAtShadowEffect),
    /// Sends species from the side where they are to the other, while it lasts.
    SendAcross(SendAcrossEffect),
    /// Ends all boosts.
    Calm(CalmEffect),
    /// Sets the variable of a `limit_based` need, or the drive that it reads.
    SetNeed(SetNeedEffect),
}

/// Who hunts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HuntingEffect {
    /// Names of species; empty: all.
    pub species: Vec<String>,
    /// Whether they hunt.
    pub on: bool,
}

impl Default for HuntingEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            on: true,
        }
    }
}

/// Who gathers where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherEffect {
    /// Names of species; empty: all.
    pub species: Vec<String>,
    /// Where, in world space, `[x, y, z]`.
    pub point_m: [f32; 3],
    /// Weight that seeking has at least.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for GatherEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            point_m: [0.0, -0.7, 0.0],
            weight: 2.0,
        }
    }
}

/// Who gathers round a visitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherAtShadowEffect {
    /// Names of species; empty: all.
    pub species: Vec<String>,
    /// Weight that seeking has at least.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for GatherAtShadowEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            weight: 1.5,
        }
    }
}

/// Who crosses the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SendAcrossEffect {
    /// Names of species; empty: all.
    pub species: Vec<String>,
    /// Weight that seeking has at least.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
}

impl Default for SendAcrossEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            weight: 2.0,
        }
    }
}

/// Who calms down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalmEffect {
    /// Names of species; empty: all.
    pub species: Vec<String>,
}

/// Which need becomes what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SetNeedEffect {
    /// Names of species; empty: all that have such a need.
    pub species: Vec<String>,
    /// The need's name.
    pub need: String,
    /// What its variable becomes.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub value: f32,
}

impl Default for SetNeedEffect {
    fn default() -> Self {
        Self {
            species: Vec::new(),
            need: "hunt".into(),
            value: 2.0,
        }
    }
}

impl Effect {
    /// The species that it names; empty: all.
    pub fn species(&self) -> &[String] {
        match self {
            Self::Hunting(effect) => &effect.species,
            Self::Gather(effect) => &effect.species,
            Self::GatherAtShadow(effect) => &effect.species,
            Self::SendAcross(effect) => &effect.species,
            Self::Calm(effect) => &effect.species,
            Self::SetNeed(effect) => &effect.species,
        }
    }

    /// Whether it is meant for a species of this name.
    pub fn applies_to(&self, name: &str) -> bool {
        self.species().is_empty() || self.species().iter().any(|n| n == name)
    }
}

/// Rules between rules, as (path inside the scene file, sentence).
pub fn rule_problems(rules: &[RuleParams]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if rules.len() > MAX_ACTIONS {
        found.push((
            "director".into(),
            format!(
                "{} rules are more than the {MAX_ACTIONS} that a director may hold; take some out",
                rules.len()
            ),
        ));
    }
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("director[{index}].name");
        if rule.name.is_empty() {
            found.push((path, "the rule has no name; give it one".into()));
        } else if rules[..index].iter().any(|other| other.name == rule.name) {
            found.push((
                path,
                format!(
                    "a rule named '{}' stands above already; choose another name",
                    rule.name
                ),
            ));
        }
        if let Condition::Visitors(visitors) = &rule.when
            && visitors.at_least > visitors.at_most
        {
            found.push((
                format!("director[{index}].when.at_least"),
                format!(
                    "at_least = {} is more than at_most = {}: it never holds; lower it",
                    visitors.at_least, visitors.at_most
                ),
            ));
        }
    }
    found
}

/// Where one rule stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RuleState {
    /// How long its condition has held.
    pub held_secs: f32,
    /// What is left of its effect.
    pub left_secs: f32,
    /// What is left of its pause.
    pub pause_secs: f32,
    /// Whether its effect lasts.
    pub is_on: bool,
    /// Whether somebody started it by hand since the last step.
    pub is_started: bool,
}

/// What happens to a rule in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTransition {
    /// Nothing.
    Unchanged,
    /// Its effect begins.
    Begins,
    /// Its effect ends.
    Ends,
}

impl RuleState {
    /// Goes one step on.
    pub fn advance(&mut self, rule: &RuleParams, place: usize, world: &World) -> RuleTransition {
        let dt = world.dt_secs;
        let holds = rule.when.holds(place, world);
        self.held_secs = if holds { self.held_secs + dt } else { 0.0 };
        if self.is_on {
            self.left_secs -= dt;
            self.is_started = false;
            if self.left_secs > 0.0 {
                return RuleTransition::Unchanged;
            }
            self.is_on = false;
            self.pause_secs = rule.pause_secs;
            return RuleTransition::Ends;
        }
        self.pause_secs = (self.pause_secs - dt).max(0.0);
        let is_due = holds && self.held_secs >= rule.for_secs && self.pause_secs <= 0.0;
        if !(is_due || self.is_started) {
            return RuleTransition::Unchanged;
        }
        *self = Self {
            held_secs: self.held_secs,
            left_secs: rule.hold_secs,
            is_on: true,
            ..Self::default()
        };
        RuleTransition::Begins
    }
}

impl Condition {
    /// Whether it holds now, for the rule at this place.
    fn holds(&self, place: usize, world: &World) -> bool {
        let shadows = &world.visitors.shadows;
        match self {
            Self::Visitors(want) => {
                (want.at_least as usize..=want.at_most as usize).contains(&shadows.len())
            }
            Self::StillVisitor(want) => shadows.iter().any(|s| s.still_secs >= want.still_secs),
            Self::Scare(want) => {
                shadows.len() <= want.visitors_at_most as usize && scared_share(world) >= want.share
            }
            Self::Chance(want) => {
                let chance = world.chance.unit(place as u32, Purpose::Director, 0);
                chance < 1.0 - (-want.rate_per_sec * world.dt_secs).exp()
            }
            Self::Always(_) => true,
            Self::ByHand(_) => false,
        }
    }
}

/// Share of all agents that may swim clearly faster than they cruise.
fn scared_share(world: &World) -> f32 {
    let agents = &world.agents;
    let each = agents.bodies.iter().zip(&agents.species);
    let scared = each.filter(|(body, kind)| {
        let motion = &world.species[usize::from(**kind)].motion;
        let range = motion.boost_mps - motion.cruise_mps;
        body.boost.allowed_mps > motion.cruise_mps + range * 0.1
    });
    scared.count() as f32 / (agents.len().max(1)) as f32
}
