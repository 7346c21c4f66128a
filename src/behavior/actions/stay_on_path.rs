//! `stay_on_path`: the agent stays on a path of the scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::stay_on_path;

/// Steers the agent back to the middle of a path of the scene (`[[paths]]`). The agent may swim in either direction along the path. Can be
/// executed while the position that is predicted for `lookahead_secs` is outside the path, and the scene has the path. **Source**: Reynolds 1999, "Path following"; OpenSteer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StayOnPath {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Name of the path.
    pub path: String,
    /// Time that the agent looks ahead. Higher: turns back early and cuts corners. Lower: leaves the path for a short time.
    #[schemars(range(min = 0.01, max = 60.0))]
    pub lookahead_secs: f32,
}

impl Default for StayOnPath {
    fn default() -> Self {
        Self {
            weight: 1.0,
            path: String::new(),
            lookahead_secs: 0.8,
        }
    }
}

impl Action for StayOnPath {
    type Memory = ();

    fn path(&self) -> Option<&str> {
        Some(&self.path)
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let tube = context.path(&self.path)?;
        let speed = context.speed_mps(None);
        stay_on_path(&context.motion, &tube, self.lookahead_secs, speed).map(Proposal::force)
    }
}
