//! `interpose`: the agent swims between two other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::interpose;

/// Swims to the middle between the nearest visible agent that it protects and the nearest visible agent that it protects from.
/// Can be executed while both are visible. **Source**: Reynolds 1999, "Pursuit"; Buckland 2005, "Interpose".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Interpose {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to protect.
    pub protects: Vec<String>,
    /// Relations of the agents to protect them from.
    pub from: Vec<String>,
    /// Distance from the middle within which the agent slows down. Higher: brakes early and drifts softly into its place. Lower:
    /// comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
}

impl Default for Interpose {
    fn default() -> Self {
        Self {
            weight: 1.0,
            protects: vec!["child".into()],
            from: vec!["enemy".into()],
            slowing_m: 0.3,
        }
    }
}

impl Action for Interpose {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.protects
    }

    fn other_relations(&self) -> &[String] {
        &self.from
    }

    fn needs_related(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let relations = &context.species.relations;
        let protected = context.nearest_visible(relations.mask(&self.protects))?;
        let threat = context.nearest_visible(relations.mask(&self.from))?;
        let (protected, threat) = (context.vehicle(protected), context.vehicle(threat));
        let speed = context.speed_mps(None);
        interpose(&context.motion, &protected, &threat, speed, self.slowing_m).map(Proposal::force)
    }
}
