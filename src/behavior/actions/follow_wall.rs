//! `follow_wall`: the agent swims along a wall.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::geometry::Solid;
use crate::steering::{Motion, follow_wall};

/// Swims along the nearest obstacle, at a distance from it. Can be executed while an obstacle is within reach. **Source**:
/// Reynolds 1999, "Wall following".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FollowWall {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance to keep between the hull and the obstacle. Higher: circles the stone at a distance. Lower: swims closely along it.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub distance_m: f32,
    /// Distance between the hull and an obstacle within which the agent notices it. Higher: comes to stones from far away. Lower:
    /// follows only stones that it meets.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Time that the agent looks ahead. Higher: turns early and cuts corners. Lower: follows every bend.
    #[schemars(range(min = 0.01, max = 60.0))]
    pub lookahead_secs: f32,
}

impl Default for FollowWall {
    fn default() -> Self {
        Self {
            weight: 1.0,
            distance_m: 0.15,
            reach_m: 0.6,
            lookahead_secs: 0.6,
        }
    }
}

impl Action for FollowWall {
    type Memory = ();

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let at = context.motion.position_m;
        let distance_m = |solid: &Solid| solid.signed_distance_m(at);
        let solids = context.near_solids().map(|(_, solid)| solid);
        let nearest = solids.min_by(|a, b| distance_m(a).total_cmp(&distance_m(b)))?;
        if distance_m(nearest) - context.radius_m > self.reach_m {
            return None;
        }
        // The agent looks ahead along the wall, not into it: it keeps its speed around the whole obstacle.
        let speed = context.speed_mps(None);
        let along = context
            .motion
            .forward
            .reject_from_normalized(nearest.normal(at));
        let along = along
            .with_y(0.0)
            .try_normalize()
            .unwrap_or(context.motion.side());
        let ahead = Motion {
            velocity_mps: along * speed,
            ..context.motion
        };
        let wall = |point: Vec3| {
            let normal = nearest.normal(point);
            Some((point - normal * nearest.signed_distance_m(point), normal))
        };
        let gap_m = self.distance_m + context.radius_m;
        let force = follow_wall(&ahead, wall, gap_m, self.lookahead_secs, speed)?;
        // The force was computed for the velocity along the wall.
        Some(Proposal::force(
            force + ahead.velocity_mps - context.motion.velocity_mps,
        ))
    }
}
