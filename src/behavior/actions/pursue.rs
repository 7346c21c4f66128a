//! `pursue`: the agent swims to the predicted position of another agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::steering::pursue;

/// Swims to the position where it will meet the nearest visible agent in one of the relations. Can be executed while such
/// an agent is visible. It catches nothing; `hunt_prey` does. **Source**: Reynolds 1999, "Pursuit"; the prediction of
/// OpenSteer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pursue {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to pursue.
    pub relations: Vec<String>,
    /// Longest time by which the agent predicts the movement of the other. Higher: cuts off the way of the other. Lower: swims
    /// behind it; 0: to its current position.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub max_secs: f32,
    /// Whether the agent uses boost.
    pub use_boost: bool,
}

impl Default for Pursue {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["prey".into()],
            max_secs: 2.0,
            use_boost: false,
        }
    }
}

impl Action for Pursue {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let target = context.vehicle(context.nearest_visible(context.related)?);
        let boost = self.use_boost.then_some(BoostRequest::FULL);
        let speed = context.speed_mps(boost);
        let force = pursue(&context.motion, &target, speed, self.max_secs)?;
        Some(Proposal {
            boost,
            ..Proposal::to(target.position_m, force)
        })
    }
}
