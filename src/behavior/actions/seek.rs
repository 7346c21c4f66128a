//! `seek`: the agent swims to a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::seek;

/// Swims to a target. Can be executed whenever there is a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Seek {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Target that the agent swims to.
    pub target: SeekTarget,
    /// Target point in world space, `[x, y, z]`. Used if `target` is `point`.
    pub point_m: [f32; 3],
    /// Relations of the agents to swim to. Used if `target` is `agent`: the nearest visible agent in one of these
    /// relations is the target.
    pub relations: Vec<String>,
}

impl Default for Seek {
    fn default() -> Self {
        Self {
            weight: 1.0,
            target: SeekTarget::Director,
            point_m: [0.0, -0.7, 0.0],
            relations: vec!["mother".into()],
        }
    }
}

/// Target that the agent swims to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeekTarget {
    /// The point `point_m`.
    Point,
    /// The nearest visible agent in one of the relations.
    Agent,
    /// The point where the director lets the species gather. Without such a point the action cannot be executed. With
    /// such a point, the action has at least the weight that the director gives.
    #[default]
    Director,
}

impl Action for Seek {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn is_always_executable(&self) -> bool {
        self.target == SeekTarget::Point
    }

    fn follows_director(&self) -> bool {
        self.target == SeekTarget::Director
    }

    fn min_weight(&self, context: &ActionContext<'_>) -> f32 {
        let gathering = context.gathering();
        match (self.target, gathering) {
            (SeekTarget::Director, Some(gathering)) => gathering.weight,
            _ => 0.0,
        }
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let target = match self.target {
            SeekTarget::Point => self.point_m.into(),
            SeekTarget::Agent => {
                let nearest = context.nearest_visible(context.related)?;
                context.motion.position_m + nearest.offset_m
            }
            SeekTarget::Director => context.gathering()?.point_m,
        };
        let speed = context.cruise_mps();
        // If the agent is exactly on the target, there is no direction to the target. The action still counts as
        // executable.
        let force = seek(&context.motion, target, speed).unwrap_or_default();
        Some(Proposal::to(target, force))
    }
}
