//! `avoid_agents`: the agent turns away from predicted collisions with other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::avoid_neighbors;

/// Turns away from the agent with which it would collide first if both kept their velocity. Can be executed while a collision is
/// predicted. **Source**: Reynolds 1999, "Unaligned collision avoidance"; OpenSteer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvoidAgents {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance to keep between both hulls at the closest approach. Higher: gives way also to agents that would only pass near by.
    /// Lower: lets others pass closely; 0: gives way only if the bodies would touch.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub gap_m: f32,
    /// Time for which the agent predicts collisions. Higher: gives way early, in a wide curve. Lower: gives way in the last moment.
    #[schemars(range(min = 0.01, max = 60.0))]
    pub lookahead_secs: f32,
    /// Share of the largest force of the species with which the agent turns. Higher: a sharp swerve. Lower: a gentle curve that may
    /// come too late.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub force_share: f32,
}

impl Default for AvoidAgents {
    fn default() -> Self {
        Self {
            weight: 1.0,
            gap_m: 0.05,
            lookahead_secs: 2.0,
            force_share: 0.5,
        }
    }
}

impl Action for AvoidAgents {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        only_avoids: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let largest = context
            .neighbors
            .iter()
            .filter(|n| !n.is_shadow)
            .map(|n| n.radius_m);
        let gap_m = self.gap_m + context.hull.widest_m() + largest.fold(0.0, f32::max);
        let others = context
            .neighbors
            .iter()
            .filter(|n| !n.is_shadow && n.in_view);
        let others = others.map(|other| context.vehicle(other));
        let force_n = context.species.motion.max_force_n * self.force_share;
        avoid_neighbors(&context.motion, others, gap_m, self.lookahead_secs, force_n)
            .map(Proposal::force)
    }
}
