//! `follow_path`: the agent swims along a path of the scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::follow_path;

/// Swims along a path of the scene (`[[paths]]`). Can be executed while the agent is outside the path or would swim against
/// it, and the scene has the path. **Source**: Reynolds 1999, "Path following"; OpenSteer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FollowPath {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Name of the path.
    pub path: String,
    /// Whether the agent swims from the end to the start.
    pub is_backwards: bool,
    /// Time that the agent looks ahead. Higher: turns early and cuts corners. Lower: follows every bend.
    #[schemars(range(min = 0.01, max = 60.0))]
    pub lookahead_secs: f32,
}

impl Default for FollowPath {
    fn default() -> Self {
        Self {
            weight: 1.0,
            path: String::new(),
            is_backwards: false,
            lookahead_secs: 0.8,
        }
    }
}

impl Action for FollowPath {
    type Memory = ();

    fn path(&self) -> Option<&str> {
        Some(&self.path)
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let tube = context.path(&self.path)?;
        let direction = if self.is_backwards { -1.0 } else { 1.0 };
        let (motion, speed) = (&context.motion, context.speed_mps(None));
        follow_path(motion, &tube, direction, self.lookahead_secs, speed).map(Proposal::force)
    }
}
