//! Parameters of needs and minds, as species files contain them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actions::ActionParams;
use super::drives::DrivesParams;
use super::proposal::NeedEvent;

/// Most actions and most needs of one mind. One bit of a `u64` stands for each action.
pub(super) const MAX_ACTIONS: usize = 64;

/// One need: an ordered list of actions and the rule that says when the need is satisfied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NeedParams {
    /// Name of the need in the panel and in recordings.
    pub name: String,
    /// Condition under which the need is satisfied.
    #[serde(rename = "type")]
    pub kind: NeedKind,
    /// Whether all executable actions act together. Otherwise only one acts.
    pub additive: bool,
    /// Names of the need's actions, most important first.
    #[schemars(length(max = 128))]
    pub actions: Vec<String>,
    /// Method by which an additive need combines the forces of its actions.
    pub combine: Combine,
    /// Whether a need that is not additive executes a random one of its executable actions instead of the first one.
    pub stochastic: bool,
    /// Shortest time for which the chosen action of a need that is not additive is kept, as long as it can be executed. A flight
    /// and a hiding last for at least this time. More important needs still interrupt it. Higher: finishes what it began, and
    /// reacts late to changes. Lower: changes between actions and trembles.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub minimum_secs: f32,
    /// Time for which the need stays active after it has become active, as long as one of its actions can be executed (an
    /// intention). More important needs still interrupt it. Higher: keeps to its intention. Lower: drops it soon. 0: the need is
    /// active only while it is unsatisfied.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub keep_secs: f32,
    /// Limit of a `limit_based` need.
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
            stochastic: false,
            minimum_secs: 0.5,
            keep_secs: 0.0,
            limit: None,
        }
    }
}

/// Condition under which a need is satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// Never.
    #[default]
    Default,
    /// While none of the need's actions can be executed.
    ActionBased,
    /// While the need's variable is within its limit.
    LimitBased,
}

/// Method by which forces are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Weighted sum.
    #[default]
    Sum,
    /// The first action that can be executed.
    First,
    /// The actions of a need: weighted sum in order, until the largest force of the species is reached. Standard need and active need:
    /// the active need acts against the standard need only with the force that this leaves, and across it with its own.
    Budget,
}

/// Limit of a `limit_based` need, and the variable that is compared with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitParams {
    /// Variable that is compared with the limit.
    pub of: LimitOf,
    /// Value of the limit. If the variable is beyond the limit, the need is not satisfied. Higher: with `side` `upper` the agent
    /// acts later and less often, with `lower` sooner and more often. Lower: the other way round.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub value: f32,
    /// Side of the limit on which the variable has to stay.
    pub side: LimitSide,
    /// Initial value of the variable. Higher: with `side` `upper` the agent acts soon after it enters the pool, with `lower` late.
    /// Lower: the other way round.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub start: f32,
    /// Growth of the variable per second. If it is negative, the variable decreases. Higher: with `side` `upper`, the need comes
    /// back more often. Lower: it comes back rarely; 0: only the director or an event changes the variable. With `side` `lower`,
    /// use a rate below 0: the further below, the more often.
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub rate_per_sec: f32,
    /// Random spread of the initial value: an agent starts between `start` and this share of the difference to the limit. Higher:
    /// agents act at different times; 1: between `start` and the limit. Lower: they act together; 0: all agents start at `start`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub start_spread: f32,
    /// Event that resets the variable.
    pub reset_by: NeedEvent,
    /// Value of the variable after the reset. Higher: with `side` `upper` the agent is satisfied for a shorter time, with `lower`
    /// for a longer time. Lower: the other way round.
    #[schemars(range(min = -1000000.0, max = 1000000.0))]
    pub reset_to: f32,
    /// Time after which an agent gives up: if the need has been active for this time without the event, the variable is set to
    /// `reset_to`. Used if `of` is `own`. Higher: tries for long. Lower: gives up soon and does other things. 0: never gives up.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub give_up_secs: f32,
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
            give_up_secs: 0.0,
        }
    }
}

/// Variable that is compared with a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitOf {
    /// The need's own variable, with its start, rate and reset.
    #[default]
    Own,
    /// The drive hunger, 0 to 1.
    Hunger,
    /// The drive fear, 0 to 1.
    Fear,
    /// The drive libido, 0 to 1.
    Libido,
}

/// Side of a limit on which a variable has to stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitSide {
    /// At or below the limit.
    #[default]
    Upper,
    /// At or above the limit.
    Lower,
}

/// A whole mind: all actions by name, the standard need and the strictly ordered needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindParams {
    /// All actions by name. Several needs can use the same action; it has one memory for all of them.
    pub actions: BTreeMap<String, ActionParams>,
    /// Need that acts in every tick, in addition to the active need. It may have no actions.
    pub standard: NeedParams,
    /// Needs, most important first.
    pub needs: Vec<NeedParams>,
    /// Method by which the forces of the standard need and the active need are combined.
    pub combine: Combine,
    /// Parameters of the growth and the fading of the drives.
    pub drives: DrivesParams,
}
