//! `evade`: the agent swims away from the predicted position of another agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::{BoostRequest, Proposal};
use crate::steering::evade;

/// Swims away from the position where the nearest visible agent in one of the relations will be. Can be executed while such
/// an agent is nearer than `distance_m`. **Source**: Reynolds 1999, "Evasion".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Evade {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to evade.
    pub relations: Vec<String>,
    /// Distance between the centers of both below which the agent evades the other. Higher: swims away while the other is still far. Lower: lets the other come
    /// close first.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub distance_m: f32,
    /// Longest time by which the agent predicts the movement of the other. Higher: swims out of the way of the other, also to its
    /// side. Lower: swims straight away from it; 0: only from its current position.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub max_secs: f32,
    /// Whether the agent uses boost.
    pub use_boost: bool,
}

impl Default for Evade {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["enemy".into()],
            distance_m: 0.8,
            max_secs: 2.0,
            use_boost: false,
        }
    }
}

impl Action for Evade {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let nearest = context.nearest_visible(context.related)?;
        if nearest.distance_m > self.distance_m {
            return None;
        }
        let boost = self.use_boost.then_some(BoostRequest::FULL);
        let speed = context.speed_mps(boost);
        let threat = context.vehicle(nearest);
        let force = evade(&context.motion, &threat, speed, self.max_secs)?;
        Some(Proposal {
            boost,
            ..Proposal::force(force)
        })
    }
}
