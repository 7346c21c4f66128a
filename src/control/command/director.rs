//! Temporary instructions to the fish.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A temporary instruction to the fish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum DirectorEvent {
    /// Sets the variable of a `limit_based` need once, for all individuals of a species. Afterwards the variable
    /// changes at its own rate, so this command cannot be undone.
    SetNeed {
        /// Name of the species.
        species: String,
        /// Name of the need.
        need: String,
        /// Value of the variable.
        value: f32,
    },
    /// Switches hunting on or off. On: the variable of each hunting need is set beyond its limit. Off: the variable
    /// is set to its value after a catch.
    Hunting {
        /// Name of the species. If absent, the command applies to all species.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        species: Option<String>,
        /// Whether the species hunts.
        on: bool,
    },
    /// Lets fish gather at a point. Only fish with an action `seek` or `navigate` whose target is `director` react.
    Gather {
        /// The point in world space.
        point_m: [f32; 3],
        /// Lowest weight of the action `seek` while the fish gather.
        #[serde(default = "gather_weight")]
        weight: f32,
    },
    /// Starts a rule of the scene's director, for example 'send the shark', even if its condition does not hold or it pauses. If it
    /// already acts, it begins again, with all rules that follow it (`after`) or act `during` it. The effect is temporary, so it cannot
    /// be undone.
    Start {
        /// Name of the rule.
        rule: String,
    },
    /// Ends a rule of the scene's director and all rules that follow it (`after`) or act `during` it; those that have not begun yet do
    /// not begin. What such a rule has changed for good stays: a need that it set, or a hunt that it switched on. A rule whose condition
    /// holds begins again after its pause. The effect is temporary, so it cannot be undone.
    Stop {
        /// Name of the rule.
        rule: String,
    },
    /// Changes how often the director's rules begin. The rules of chance begin, and the pauses of all rules pass, this many times
    /// as fast. The effect is temporary, so it cannot be undone.
    Pace {
        /// The factor, 0.1 to 20; 1 is the pace of the scene.
        factor: f32,
    },
    /// Ends the gathering.
    StopGathering,
    /// Lets all fish swim at cruise speed again after a scare. The effect is temporary, so it cannot be undone.
    Calm,
}

fn gather_weight() -> f32 {
    2.0
}

/// A temporary mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum MindChoice {
    /// The mind of another species.
    Species {
        /// Name of the species.
        name: String,
    },
    /// The individual's own actions, and further ones, with other needs.
    Needs {
        /// Further actions by their names, as in `[actions]` of a species file. One with the name of an own action replaces it.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        actions: Map<String, Value>,
        /// The needs, as in `[[needs]]` of a species file.
        needs: Vec<Value>,
    },
}
