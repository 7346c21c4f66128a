//! `stay_inside`: the agent stays in a region.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::contain;

/// Turns back before it leaves a box-shaped region. Can be executed while the agent is about to leave the region or is outside
/// it. **Source**: Reynolds 1999, "Containment".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StayInside {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Center of the region in world space, `[x, y, z]`.
    pub center_m: [f32; 3],
    /// Half of the extents of the region along x, y and z. Higher: roams in a larger region. Lower: stays in a small one.
    #[schemars(inner(range(min = 0.0, max = 100.0)))]
    pub half_extents_m: [f32; 3],
    /// Time that the agent looks ahead. Higher: turns back early, far from the border. Lower: turns late and leaves the region for
    /// a short time.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub lookahead_secs: f32,
}

impl Default for StayInside {
    fn default() -> Self {
        Self {
            weight: 1.0,
            center_m: [0.0, -0.7, 0.0],
            half_extents_m: [1.0, 0.4, 0.8],
            lookahead_secs: 0.8,
        }
    }
}

impl Action for StayInside {
    type Memory = ();

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let (center_m, half_m) = (Vec3::from(self.center_m), Vec3::from(self.half_extents_m));
        let outside = |at: Vec3| {
            let offset = at - center_m;
            let beyond = offset - offset.clamp(-half_m, half_m);
            (beyond != Vec3::ZERO).then_some(beyond)
        };
        let speed = context.speed_mps(None);
        contain(&context.motion, outside, self.lookahead_secs, speed).map(Proposal::force)
    }
}
