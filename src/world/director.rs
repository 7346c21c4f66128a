//! The gathering points that the director currently requests of the fish. They are set before the agents decide; actions read
//! them.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A point where fish are requested to gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The point in world space.
    pub point_m: Vec3,
    /// Minimum weight of the action that swims to the point. Replaces the action's own weight if that weight is smaller.
    pub weight: f32,
}

/// The gathering points that the director currently requests of the fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Director {
    /// Gathering point of all fish, set by a command; `None` if there is none. Takes precedence over gathering points of
    /// rules.
    pub by_hand: Option<Gathering>,
    /// Gathering point of each species, set by rules; `None` if there is none. Indexed like the list of species.
    pub by_rules: Vec<Option<Gathering>>,
}

impl Director {
    /// Returns the current gathering point of the species with this index; `None` if there is none.
    pub fn gathering(&self, species_index: u16) -> Option<Gathering> {
        let by_rule = || {
            let gathering = self.by_rules.get(usize::from(species_index));
            gathering.copied().flatten()
        };
        self.by_hand.or_else(by_rule)
    }
}
