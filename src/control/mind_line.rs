//! The mind of one fish in one tick, as the stream of the panel sends it: why it does what it does.

use serde::{Deserialize, Serialize};

/// The mind of one fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MindLine {
    /// Id of the fish.
    pub id: u32,
    /// Whether the fish is in the pool. Otherwise everything else is empty.
    pub is_present: bool,
    /// Name of its species.
    pub species: String,
    /// Its own name, if it has one.
    pub individual: Option<String>,
    /// Time for which the active need, or none, has been active.
    pub active_secs: f32,
    /// Its needs, the most important first.
    pub needs: Vec<NeedLine>,
    /// The actions that it executes whatever it needs.
    pub standard: Vec<ActionLine>,
    /// Hunger, fear and libido, those that are switched on.
    pub drives: Vec<DriveLine>,
    /// What it sees or remembers of others, the newest first.
    pub memory: Vec<MemoryLine>,
    /// The nearest fish that it perceives.
    pub neighbors: Vec<NeighborLine>,
    /// Number of all fish that it perceives.
    pub neighbor_count: usize,
    /// Time for which it still has another mind; `None` if it has its own.
    pub other_mind_secs: Option<f64>,
    /// Largest force that it can apply, in newtons.
    pub max_force_n: f32,
}

/// A need of a fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeedLine {
    /// Name of the need.
    pub name: String,
    /// What became of it.
    pub standing: NeedStanding,
    /// Its variable and its limit; `None` if it depends on its actions only.
    pub limit: Option<LimitLine>,
    /// Time for which it keeps acting.
    pub keep_secs: f32,
    /// Its actions, the most important first.
    pub actions: Vec<ActionLine>,
}

/// What became of a need in a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedStanding {
    /// It acts.
    Active,
    /// It is satisfied, and acts on for its time.
    Kept,
    /// It is satisfied.
    #[default]
    Satisfied,
    /// A more important need acts.
    Waiting,
}

/// The variable of a need and its limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitLine {
    /// What the variable is: `own`, `hunger`, `fear` or `libido`.
    pub of: String,
    /// Its value.
    pub value: f32,
    /// The limit.
    pub limit: f32,
    /// Whether the need acts below the limit instead of above it.
    pub is_lower: bool,
}

/// An action of a fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionLine {
    /// Name of the action.
    pub name: String,
    /// Whether it could be executed; `None` if it was not asked.
    pub is_possible: Option<bool>,
    /// Whether it was executed.
    pub acts: bool,
    /// Its force in newtons.
    pub force_n: f32,
}

/// A drive of a fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveLine {
    /// `hunger`, `fear` or `libido`.
    pub name: String,
    /// From 0 to 1.
    pub value: f32,
}

/// What a fish sees or remembers of another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryLine {
    /// `enemy`, `prey`, `food` or `known`.
    pub relation: String,
    /// Species of the other, or `visitor`; empty if it is no longer known.
    pub species: String,
    /// Id of the other fish or of the visitor; `None` if it is no longer known.
    pub id: Option<u32>,
    /// Distance at which it was seen last; `None` if it is only known.
    pub distance_m: Option<f32>,
    /// Time since it was seen; 0 if it is visible now. For `known`: time until it is forgotten.
    pub secs: f32,
}

/// A fish that another one perceives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeighborLine {
    /// Its id.
    pub id: u32,
    /// Its species.
    pub species: String,
    /// Its distance.
    pub distance_m: f32,
    /// Whether it is within the field of view.
    pub is_in_view: bool,
    /// For which parts of the flocking rules it counts: `separation`, `alignment`, `cohesion`.
    pub counts: Vec<String>,
}
