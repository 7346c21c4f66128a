//! What an individual remembers of others from step to step, for all its actions.
//!
//! **Source**: 2-behavior.md sections 4 and 6: what one action remembers is a memory of the agent that its others may read.

use glam::Vec3;
use serde::{Deserialize, Serialize};

/// One that was seen, and how long ago.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenAgent {
    /// Where it was.
    pub position_m: Vec3,
    /// How it moved.
    pub velocity_mps: Vec3,
    /// Its radius.
    pub radius_m: f32,
    /// Its index in the step in which it was seen; `None` for a shadow.
    pub agent: Option<u32>,
    /// How long ago; 0 in the step itself, [`NEVER_SEEN_SECS`] when never.
    pub age_secs: f32,
}

/// The age of what was never seen.
pub const NEVER_SEEN_SECS: f32 = f32::MAX;

impl Default for SeenAgent {
    fn default() -> Self {
        Self {
            position_m: Vec3::ZERO,
            velocity_mps: Vec3::ZERO,
            radius_m: 0.0,
            agent: None,
            age_secs: NEVER_SEEN_SECS,
        }
    }
}

impl SeenAgent {
    /// The seen when it is of this very step.
    pub fn visible(&self) -> Option<&Self> {
        (self.age_secs == 0.0).then_some(self)
    }

    /// Where it may be by now, at half the velocity it had, while it is not longer ago than `memory_secs`.
    pub fn guessed_m(&self, memory_secs: f32) -> Option<Vec3> {
        (self.age_secs > 0.0 && self.age_secs <= memory_secs)
            .then(|| self.position_m + self.velocity_mps * (0.5 * self.age_secs))
    }
}

/// What an individual remembers of others, for all its actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerceptionMemory {
    /// The nearest visible enemy, or the last seen one.
    pub enemy: SeenAgent,
    /// The nearest visible prey, or the last seen one.
    pub prey: SeenAgent,
    /// The nearest visible food, or the last seen one.
    pub food: SeenAgent,
    /// Those who were added to the relation `known`.
    pub known: [Known; 6],
}

/// One to whom the relation `known` was added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Its key, see [`ActionContext::key_of`](super::context::ActionContext::key_of).
    pub key: u32,
    /// How long it stays known; 0 for nobody.
    pub left_secs: f32,
}

impl PerceptionMemory {
    /// Lets what is known fade.
    pub fn fade(&mut self, dt_secs: f32) {
        for known in &mut self.known {
            known.left_secs = (known.left_secs - dt_secs).max(0.0);
        }
    }

    /// Adds one to those who are known; the one that would be forgotten first makes room.
    pub fn learn(&mut self, key: u32, secs: f32) {
        let first = self
            .known
            .iter_mut()
            .min_by(|a, b| a.left_secs.total_cmp(&b.left_secs));
        if let Some(place) = first {
            *place = Known {
                key,
                left_secs: secs,
            };
        }
    }
}
