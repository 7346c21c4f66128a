//! Hysteresis of an action that reacts to a threat: it begins at one distance and ends at a longer one, and lasts for a shortest
//! time, the `minimum_secs` of its need. Without it, an agent at the distance would begin and end the action again and again.

use serde::{Deserialize, Serialize};

use super::context::ActionContext;
use crate::world::World;

/// A reaction ends at a distance that is larger than the one at which it begins, by this share of the latter.
const LEAVE_SHARE: f32 = 0.25;

/// When an agent reacted to a threat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alert {
    /// Tick in which the reaction began.
    began: u64,
    /// Tick after the last one in which the agent reacted; 0: it never did.
    next: u64,
}

impl Alert {
    /// Whether the agent reacted in the last tick.
    fn is_on(&self, world: &World<'_>) -> bool {
        self.next != 0 && self.next == world.random.tick
    }

    /// Returns the length by which the current distance of the reaction exceeds the one at which it begins.
    pub(super) fn margin_m(&self, world: &World<'_>, begins_m: f32) -> f32 {
        if self.is_on(world) {
            LEAVE_SHARE * begins_m.max(0.0)
        } else {
            0.0
        }
    }

    /// Whether the reaction has not lasted for its shortest time.
    pub(super) fn must_last(&self, context: &ActionContext<'_>) -> bool {
        let world = context.world;
        let ticks = world.random.tick.saturating_sub(self.began);
        self.is_on(world) && (ticks as f32) * world.dt_secs < context.least_secs
    }

    /// Notes that the agent reacts in this tick.
    pub(super) fn react(&mut self, world: &World<'_>) {
        if !self.is_on(world) {
            self.began = world.random.tick;
        }
        self.next = world.random.tick + 1;
    }
}
