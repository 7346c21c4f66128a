//! `queue`: the agent waits behind slower agents ahead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::queue;

/// Brakes for slower agents ahead, so that agents queue in front of a narrow passage instead of pushing. Can be executed while
/// a slower agent is in the way. **Source**: Reynolds 1999, "Queuing".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Queue {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to wait for. Empty: all agents.
    pub relations: Vec<String>,
    /// Distance ahead within which slower agents count. Higher: brakes early; long queues with gaps. Lower: brakes just behind the
    /// agent ahead.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub reach_m: f32,
    /// Distance to each side of the way ahead within which slower agents count. Higher: waits also for agents that swim beside its
    /// way. Lower: swims past them.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub half_width_m: f32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: Vec::new(),
            reach_m: 0.5,
            half_width_m: 0.1,
        }
    }
}

impl Action for Queue {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        !self.relations.is_empty()
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let counts = if self.relations.is_empty() {
            u64::MAX
        } else {
            context.related
        };
        let others = context
            .neighbors
            .iter()
            .filter(|n| !n.is_shadow && n.name_bits & counts != 0);
        let others = others.map(|other| context.vehicle(other));
        queue(&context.motion, others, self.reach_m, self.half_width_m).map(Proposal::force)
    }
}
