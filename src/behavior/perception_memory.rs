//! Memory of other agents that an agent keeps from tick to tick: the enemy, prey and food that it saw last, and the
//! agents that it knows.
//!
//! All actions of the agent may read it.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Another agent or shadow that an agent saw, and the time since then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenAgent {
    /// Position where the other was seen last.
    pub position_m: Vec3,
    /// Velocity of the other when it was seen last.
    pub velocity_mps: Vec3,
    /// Radius of the other.
    pub radius_m: f32,
    /// Index of the other agent in the tick in which it was seen; `None` for a shadow.
    pub agent: Option<u32>,
    /// Share of the usual distances within which the agent reacts to the other: 1, or less for an enemy that does not hunt.
    pub caution: f32,
    /// Time since the other was seen; 0 if it is visible in this tick, `NEVER_SEEN_SECS` if no such agent was ever
    /// seen.
    pub age_secs: f32,
}

/// Value of `age_secs` that means: no such agent was ever seen.
pub(super) const NEVER_SEEN_SECS: f32 = f32::MAX;

impl Default for SeenAgent {
    fn default() -> Self {
        Self {
            position_m: Vec3::ZERO,
            velocity_mps: Vec3::ZERO,
            radius_m: 0.0,
            agent: None,
            caution: 1.0,
            age_secs: NEVER_SEEN_SECS,
        }
    }
}

impl SeenAgent {
    /// Returns the seen agent if it is visible in this tick; otherwise `None`.
    pub fn visible(&self) -> Option<&Self> {
        (self.age_secs == 0.0).then_some(self)
    }

    /// Whether such an agent was ever seen.
    pub fn was_seen(&self) -> bool {
        self.age_secs < NEVER_SEEN_SECS
    }

    /// Returns the distance at which the other appears to an agent at `me_m`: the distance, divided by the caution.
    pub fn apparent_m(&self, me_m: Vec3) -> f32 {
        apparent_m(self.position_m.distance(me_m), self.caution)
    }

    /// Returns the predicted position of an enemy that is no longer visible, if an agent at `me_m` reacts to it within `reach_m`.
    /// An enemy that hunted when it was seen last may come from anywhere; another one matters only while it is near.
    pub fn feared_m(&self, me_m: Vec3, reach_m: f32, memory_secs: f32) -> Option<Vec3> {
        let at_m = self.predicted_m(memory_secs)?;
        let hunted = self.caution >= 1.0;
        (hunted || apparent_m(at_m.distance(me_m), self.caution) <= reach_m).then_some(at_m)
    }

    /// Returns the predicted position of an agent that is no longer visible. The agent is assumed to move on at half
    /// its last velocity.
    ///
    /// `None` if the agent is visible, or was last seen more than `memory_secs` ago.
    pub fn predicted_m(&self, memory_secs: f32) -> Option<Vec3> {
        (self.age_secs > 0.0 && self.age_secs <= memory_secs)
            .then(|| self.position_m + self.velocity_mps * (0.5 * self.age_secs))
    }
}

/// Returns the distance at which an agent appears: the distance, divided by the caution. With the caution 0 it is infinite.
pub(super) fn apparent_m(distance_m: f32, caution: f32) -> f32 {
    if caution > 0.0 {
        distance_m / caution
    } else {
        f32::INFINITY
    }
}

/// Maximum number of agents and shadows that one agent knows at a time.
const KNOWN_MAX: usize = 6;

/// Memory that one agent has of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerceptionMemory {
    /// The nearest visible enemy, or the enemy seen last.
    pub enemy: SeenAgent,
    /// The nearest visible prey, or the prey seen last.
    pub prey: SeenAgent,
    /// The nearest visible food, or the food seen last.
    pub food: SeenAgent,
    /// Agents and shadows in the relation `known`.
    pub known: [KnownAgent; KNOWN_MAX],
}

/// An agent or shadow in the relation `known`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownAgent {
    /// Key of the known agent or shadow, see [`ActionContext::key_of`](super::context::ActionContext::key_of).
    pub key: u32,
    /// Time until the known agent or shadow is forgotten; 0 for an unused entry.
    pub left_secs: f32,
}

impl PerceptionMemory {
    /// Counts down the time for which known agents stay known.
    pub fn fade(&mut self, dt_secs: f32) {
        for known in &mut self.known {
            known.left_secs = (known.left_secs - dt_secs).max(0.0);
        }
    }

    /// Adds a known agent. The new entry replaces the entry that would be forgotten first.
    pub fn learn(&mut self, learned: KnownAgent) {
        let first = self
            .known
            .iter_mut()
            .min_by(|a, b| a.left_secs.total_cmp(&b.left_secs));
        if let Some(entry) = first {
            *entry = learned;
        }
    }
}
