//! `keep_with_child`: the agent waits for its children.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::{seek, target_speed};

/// Looks at the farthest agent in sight in the relation `child`. If this child is farther away than `wait_m`, the
/// agent waits; if it is farther away than `return_m`, the agent swims back to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KeepWithChild {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance of a child beyond which the agent waits. Higher: swims on while its children fall behind. Lower: waits at once; the
    /// family stays close together.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub wait_m: f32,
    /// Distance of a child beyond which the agent swims back to it. Higher: waits where it is for long. Lower: turns round soon to
    /// fetch a child.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub return_m: f32,
    /// Speed while waiting, as a share of the cruise speed. Higher: hardly slows down for its children. Lower: waits almost at
    /// rest.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub waiting_share: f32,
}

impl Default for KeepWithChild {
    fn default() -> Self {
        Self {
            weight: 1.0,
            wait_m: 0.6,
            return_m: 1.2,
            waiting_share: 0.3,
        }
    }
}

impl Action for KeepWithChild {
    type Memory = ();

    fn built_in_relation(&self) -> Option<&'static str> {
        Some("child")
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let names = context.species.relations.child;
        let children = context
            .neighbors
            .iter()
            .filter(|n| n.name_bits & names != 0 && !n.is_shadow);
        let farthest = children.max_by(|a, b| a.distance_m.total_cmp(&b.distance_m))?;
        if farthest.distance_m <= self.wait_m {
            return None;
        }
        let speed = context.cruise_mps();
        let waits = farthest.distance_m <= self.return_m;
        let force = if waits {
            target_speed(&context.motion, speed * self.waiting_share)
        } else {
            seek(
                &context.motion,
                context.motion.position_m + farthest.offset_m,
                speed,
            )
        };
        Some(Proposal {
            rests: waits,
            ..Proposal::force(force?)
        })
    }
}
