//! The guests: agents that currently attend something that attracts them, such as a standing visitor. They are counted once per
//! tick, so that an attraction can have a capacity.
//!
//! In: the intents of all agents after the last tick. Out: numbers of guests. Must not: depend on the order of agents.

use super::agents::{Agents, Species};

/// Bit that is set in the keys of shadows and not set in those of agents.
const SHADOW_KEY: u32 = 1 << 30;

/// Returns the key of a visitor's shadow with this id. A key identifies an agent or a shadow for as long as it exists.
pub fn shadow_key(id: u32) -> u32 {
    SHADOW_KEY | (id & (SHADOW_KEY - 1))
}

/// Whether a key is the key of a shadow.
pub fn is_shadow_key(key: u32) -> bool {
    key & SHADOW_KEY != 0
}

/// Returns the key of an agent with this id.
pub fn agent_key(id: u32) -> u32 {
    id & (SHADOW_KEY - 1)
}

/// Numbers of guests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guests {
    /// Number of agents of each species.
    agents_by_species: Vec<u32>,
    /// Number of guests of each species, whatever they attend.
    by_species: Vec<u32>,
    /// Key of the attended target of each guest, in ascending order.
    attended: Vec<u32>,
}

impl Guests {
    /// Reserves memory for this number of agents and species, so that [`Self::count`] does not allocate.
    pub fn reserve(&mut self, agents: usize, species: usize) {
        let Self {
            agents_by_species,
            by_species,
            attended,
        } = self;
        for list in [agents_by_species, by_species] {
            list.clear();
            list.reserve(species);
        }
        attended.clear();
        attended.reserve(agents);
    }

    /// Counts the guests among all agents. A named individual counts as a member of its species.
    pub fn count(&mut self, agents: &Agents, species: &[Species]) {
        for list in [&mut self.agents_by_species, &mut self.by_species] {
            list.clear();
            list.resize(species.len(), 0);
        }
        self.attended.clear();
        for (body, kind) in agents.bodies.iter().zip(&agents.species) {
            let base = usize::from(species[usize::from(*kind)].base_species);
            self.agents_by_species[base] += 1;
            if let Some(key) = body.intent.attends {
                self.by_species[base] += 1;
                self.attended.push(key);
            }
        }
        self.attended.sort_unstable();
    }

    /// Number of agents of a species and number of its guests. `base_species` is an index into the species of the scene.
    pub fn of_species(&self, base_species: u16) -> (u32, u32) {
        let of = |list: &Vec<u32>| list.get(usize::from(base_species)).copied().unwrap_or(0);
        (of(&self.agents_by_species), of(&self.by_species))
    }

    /// Whether there are guests.
    pub fn is_any(&self) -> bool {
        !self.attended.is_empty()
    }

    /// Number of guests that attend the target with this key.
    pub fn of_target(&self, key: u32) -> u32 {
        let first = self.attended.partition_point(|&other| other < key);
        let after = self.attended.partition_point(|&other| other <= key);
        (after - first) as u32
    }
}
