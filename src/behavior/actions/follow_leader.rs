//! `follow_leader`: the agent swims behind a leader, stays out of the leader's path, and keeps its distance from
//! other followers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::behavior::schooling::keep_apart;
use crate::steering::{LeaderFollowing, follow_leader};

/// Swims behind the nearest visible agent in one of the relations (the leader), leaves the box in front of the
/// leader, and keeps its distance from other agents. **Source**: Reynolds 1999, "Leader following".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FollowLeader {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of leaders.
    pub relations: Vec<String>,
    /// Distance behind the leader to which the agent swims. Higher: a long tail behind the leader. Lower: followers swim at the
    /// tail fin of the leader.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub behind_m: f32,
    /// Length of the box in front of the leader that the agent keeps clear. Higher: followers leave the way of the leader early.
    /// Lower: the leader often meets followers in front of it.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub clear_ahead_m: f32,
    /// Half of the width of that box. Higher: followers far beside the way of the leader leave it, too. Lower: only those right in
    /// front of it.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub clear_side_m: f32,
    /// Distance within which the agent separates from other agents. Higher: followers spread far behind the leader. Lower: they
    /// crowd in one point.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub apart_m: f32,
    /// Factor on the force that separates the agent from other agents. Higher: a wide, even group. Lower: followers crowd behind
    /// the leader; 0: they may overlap.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub apart_weight: f32,
    /// Distance from the point behind the leader within which the agent slows down. Higher: brakes early and drifts softly into its
    /// place. Lower: comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
}

impl Default for FollowLeader {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: vec!["leader".into()],
            behind_m: 0.4,
            clear_ahead_m: 0.8,
            clear_side_m: 0.25,
            apart_m: 0.2,
            apart_weight: 0.5,
            slowing_m: 0.4,
        }
    }
}

/// Angle from straight ahead to each side within which the agent separates from other agents, as in flocking.
const APART_ANGLE_DEG: f32 = 135.0;

impl Action for FollowLeader {
    type Memory = ();

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        true
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let nearest = context.nearest_visible(context.related)?;
        let leader = context.vehicle(nearest);
        let following = LeaderFollowing {
            behind_m: self.behind_m,
            clear_ahead_m: self.clear_ahead_m,
            clear_side_m: self.clear_side_m,
            speed_mps: context.speed_mps(None),
            slowing_m: self.slowing_m,
        };
        let force = follow_leader(&context.motion, &leader, &following)?;
        let apart = keep_apart(context, self.apart_m, APART_ANGLE_DEG, |other| {
            !other.is_shadow
        });
        Some(Proposal::force(
            force + apart.unwrap_or_default() * self.apart_weight,
        ))
    }
}
