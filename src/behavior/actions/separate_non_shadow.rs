//! `separate_non_shadow`: the agent keeps its distance from other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::behavior::schooling::keep_apart;

/// Keeps away from all neighbors in range except shadows. The action `evade_shadow` handles shadows. **Source**:
/// Jockel 2005, §4.2.5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SeparateNonShadow {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance up to which neighbors count. Higher: agents spread far apart. Lower: they come close before they separate.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub radius_m: f32,
    /// Angle from straight ahead to each side within which neighbors count. Higher: also gives way to neighbors beside and behind;
    /// 180: to all. Lower: only to those ahead.
    #[schemars(range(min = 0.0, max = 180.0))]
    pub angle_deg: f32,
}

impl Default for SeparateNonShadow {
    fn default() -> Self {
        Self {
            weight: 1.0,
            radius_m: 0.3,
            angle_deg: 135.0,
        }
    }
}

impl Action for SeparateNonShadow {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        only_avoids: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        keep_apart(context, self.radius_m, self.angle_deg, |neighbor| {
            !neighbor.is_shadow
        })
        .map(Proposal::force)
    }
}
