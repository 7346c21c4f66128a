//! `accompany`: the agent swims beside another agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::shadow;

/// Approaches the nearest visible agent in one of the relations, then swims beside it. Can be executed while such an agent is
/// visible. **Source**: Reynolds 1999, "Shadowing".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Accompany {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to accompany.
    pub relations: Vec<String>,
    /// Distance between the centers of both bodies. Higher: swims along loosely, with a clear gap. Lower: swims as a close pair;
    /// below the sum of both radii the bodies overlap.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub distance_m: f32,
    /// Distance from the place beside the other within which the agent slows down and takes the velocity of the other. Higher:
    /// brakes early and drifts softly into its place. Lower: comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
}

impl Default for Accompany {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["friend".into()],
            distance_m: 0.3,
            slowing_m: 0.4,
        }
    }
}

impl Action for Accompany {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let other = context.vehicle(context.nearest_visible(context.related)?);
        let speed = context.speed_mps(None);
        shadow(
            &context.motion,
            &other,
            self.distance_m,
            speed,
            self.slowing_m,
        )
        .map(Proposal::force)
    }
}
