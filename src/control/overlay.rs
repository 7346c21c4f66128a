//! What is drawn over the pool to explain its fish, as commands and status name it.
//!
//! Plain data that can be read from JSON. Must not: know a mind or a surface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time after which the overlay ends by itself, if a command names no other: a visitor must not find drawings on the floor that a
/// technician has forgotten.
pub const OVERLAY_SECS: u32 = 300;
/// Longest time of an overlay.
pub const OVERLAY_SECS_MAX: u32 = 3600;

/// A kind of information over the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverlayPart {
    /// The active need and its actions, as text at the fish.
    Why,
    /// The steering forces as arrows, with the names of their actions.
    Forces,
    /// The regions of separation, alignment and cohesion, and the neighbors that count.
    Flock,
    /// The region that a fish sees, and the enemy, prey and food that it sees or remembers.
    Sight,
    /// The place to which a fish swims, and obstacles that can hide it.
    Shelter,
    /// The bodies of the fish, and their directions.
    Vectors,
    /// Outlines, foot points and numbers of the visitors' shadows.
    Shadows,
    /// Flow fields of the scene.
    Fields,
    /// Paths, grids and searches of the fish that find their way.
    Ways,
    /// Navigation mesh of the terraces, with leaps and drops.
    Mesh,
}

impl OverlayPart {
    /// All parts.
    pub const ALL: [Self; 10] = [
        Self::Why,
        Self::Forces,
        Self::Flock,
        Self::Sight,
        Self::Shelter,
        Self::Vectors,
        Self::Shadows,
        Self::Fields,
        Self::Ways,
        Self::Mesh,
    ];

    /// Returns the name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Why => "why",
            Self::Forces => "forces",
            Self::Flock => "flock",
            Self::Sight => "sight",
            Self::Shelter => "shelter",
            Self::Vectors => "vectors",
            Self::Shadows => "shadows",
            Self::Fields => "fields",
            Self::Ways => "ways",
            Self::Mesh => "mesh",
        }
    }

    /// Returns in words what the part shows.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Why => "Active need of each fish and its actions, as text",
            Self::Forces => "Steering forces with the names of their actions",
            Self::Flock => {
                "Regions of separation, alignment and cohesion, and the neighbors that count"
            }
            Self::Sight => {
                "What a fish can see, and the enemy, prey and food that it sees or remembers"
            }
            Self::Shelter => "Where a fish swims to, and obstacles that can hide it",
            Self::Vectors => "Bodies of the fish and their directions",
            Self::Shadows => "Outlines, foot points and numbers of the visitors' shadows",
            Self::Fields => "Flow fields of the scene",
            Self::Ways => "Paths, grids and searches of the fish that find their way",
            Self::Mesh => "Navigation mesh of the terraces, with leaps and drops",
        }
    }

    /// Returns the part with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

/// The fish that are explained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OverlayFish {
    /// The fish with this id.
    Id(u32),
    /// The fish of a species or a group, or the individual with this name.
    Name(String),
}

impl std::fmt::Display for OverlayFish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// What is drawn over the pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlayChoice {
    /// The parts.
    pub show: Vec<OverlayPart>,
    /// The fish that are explained; `None` for all.
    pub fish: Option<OverlayFish>,
}

impl OverlayChoice {
    /// Returns the choice in words, as `shoal ctl overlay` reads them.
    pub fn summary(&self) -> String {
        let parts: Vec<_> = self.show.iter().map(|part| part.name()).collect();
        match &self.fish {
            _ if parts.is_empty() => "off".to_owned(),
            Some(fish) => format!("{} {fish}", parts.join(",")),
            None => parts.join(","),
        }
    }
}

/// The overlay in the status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverlayStatus {
    /// What is drawn.
    #[serde(flatten)]
    pub choice: OverlayChoice,
    /// Time until it ends; `None` if it stays until the next start, as the command line wants it.
    pub left_secs: Option<f64>,
}
