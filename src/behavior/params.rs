//! Parameters of needs and minds: what a species file says about what an individual wants, and in which order.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actions::ActionParams;
use super::drives::DrivesParams;
use super::proposal::NeedEvent;

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
