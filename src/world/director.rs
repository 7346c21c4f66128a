//! What the director currently asks of the fish. Set between ticks, read by actions.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A point where fish are asked to gather.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gathering {
    /// The point in world space.
    pub point_m: Vec3,
    /// Minimum weight of going there; replaces the weight of an action if that is smaller.
    pub weight: f32,
}

/// What the director currently asks of the fish.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Director {
    /// Gathering point of all fish, set by a command. Takes precedence over the rules.
    pub by_hand: Option<Gathering>,
    /// Gathering point of each species, set by the rules; indexed like the list of species.
    pub by_rules: Vec<Option<Gathering>>,
}

impl Director {
    /// Returns where the species with this index gathers now; `None` if it is not asked to.
    pub fn gathering(&self, species_index: u16) -> Option<Gathering> {
        let by_rule = || {
            let gathering = self.by_rules.get(usize::from(species_index));
            gathering.copied().flatten()
        };
        self.by_hand.or_else(by_rule)
    }
}
