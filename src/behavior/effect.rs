//! Effects of the director: what a rule of a scene, or a command by hand, changes about the agents of some species.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the director does to the agents of some species.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Switches the needs that hunt on (their variable is set beyond its limit) or off (it is set to the value after
    /// a catch).
    Hunting(HuntingEffect),
    /// Lets species gather at a point while the effect lasts. Only species with an action `seek` or `navigate` whose
    /// target is `director` react.
    Gather(GatherEffect),
    /// Lets species gather at the visitor who has stood still longest, while the effect lasts.
    GatherAtShadow(GatherAtShadowEffect),
    /// Sends species from the side where most of them are to the other side, while the effect lasts.
    SendAcross(SendAcrossEffect),
    /// Ends all boosts: agents slow down to their cruise speed.
    Calm(CalmEffect),
    /// Sets the variable of a `limit_based` need, or the drive that the need reads.
    SetNeed(SetNeedEffect),
}

/// Which species hunt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HuntingEffect {
    /// Names of the species; empty: all.
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

/// Which species gather, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherEffect {
    /// Names of the species; empty: all.
    pub species: Vec<String>,
    /// Point in world space, `[x, y, z]`.
    pub point_m: [f32; 3],
    /// Lowest weight of their action `seek` while the effect lasts.
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

/// Which species gather at a visitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatherAtShadowEffect {
    /// Names of the species; empty: all.
    pub species: Vec<String>,
    /// Lowest weight of their action `seek` while the effect lasts.
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

/// Which species cross the pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SendAcrossEffect {
    /// Names of the species; empty: all.
    pub species: Vec<String>,
    /// Lowest weight of their action `seek` while the effect lasts.
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

/// Which species calm down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CalmEffect {
    /// Names of the species; empty: all.
    pub species: Vec<String>,
}

/// Which need is set, and to which value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SetNeedEffect {
    /// Names of the species; empty: all that have such a need.
    pub species: Vec<String>,
    /// Name of the need.
    pub need: String,
    /// New value of its variable.
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
    /// Names of the species that it applies to; empty: all.
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

    /// Whether it applies to the species with this name.
    pub fn applies_to(&self, name: &str) -> bool {
        self.species().is_empty() || self.species().iter().any(|n| n == name)
    }
}
