//! `seek`: swim to a target.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::ActionContext;
use crate::steering::seek;

/// Swim to a target. Always possible when there is one; weight 0 switches it off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Seek {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// What is sought.
    pub target: SeekTarget,
    /// The target in world space where `target` is a point, `[x, y, z]`.
    pub point_m: [f32; 3],
    /// Where `target` is an agent: the nearest visible one in one of these relations is sought.
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

/// What is sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeekTarget {
    /// A point in the water.
    Point,
    /// The nearest visible agent in one of the relations.
    Agent,
    /// What the director names; nothing as long as it names nothing.
    #[default]
    Director,
}

impl Action for Seek {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn least_weight(&self, context: &ActionContext<'_>) -> f32 {
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
        // On the target itself there is nowhere to go; the action still applies.
        let force = seek(&context.motion, target, speed).unwrap_or_default();
        Some(Proposal::to(target, force))
    }
}
