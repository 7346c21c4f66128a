//! `investigate`: curiosity and courtship. The agent approaches another agent and circles it. Afterwards the other
//! agent is in the relation `known`.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::attraction::{Attention, Attraction, AttractionParams};
use crate::behavior::context::ActionContext;
use crate::behavior::perception::Neighbor;
use crate::behavior::perception_memory::KnownAgent;
use crate::behavior::proposal::{NeedEvent, Proposal};
use crate::steering::arrive;
use crate::world::{KNOWN_BIT, is_shadow_key};

/// Approaches a slow agent or shadow and circles it. After `interest_secs` the other is in the relation `known` and
/// is ignored until it is forgotten. Without `relations` the agent investigates others to which it has no relation. With
/// `relations` it circles agents and shadows in these relations, and circling an agent long enough counts as courtship.
/// Except for courtship, only some agents are curious at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Investigate {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Relations of the agents to circle. Empty: all agents and shadows to which there is no relation. To circle only
    /// visitors, add a relation to `visitor`.
    pub relations: Vec<String>,
    /// Distance to the hull of another agent, or to the edge of a shadow, within which the agent notices it. Higher: comes from far
    /// away to look. Lower: looks only at what it passes.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Speed above which other agents and shadows are ignored. Higher: also circles agents that swim by and visitors who walk.
    /// Lower: only those that are almost at rest.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub slow_mps: f32,
    /// Distance between both hulls while circling. Higher: a wide circle. Lower: a circle close around the other.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub distance_m: f32,
    /// Time that an agent of average patience spends near the other before the other is in the relation `known`. With few others
    /// around, it takes longer. Higher: circles for long. Lower: turns away after a short look.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub interest_secs: f32,
    /// Time after which a known agent is forgotten. Higher: looks at each other agent rarely. Lower: comes back to the same one
    /// soon.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub forget_secs: f32,
    /// How many agents are curious at a time, and how often. Not used for agents in `relations`.
    pub attraction: AttractionParams,
}

impl Default for Investigate {
    fn default() -> Self {
        Self {
            weight: 1.0,
            relations: Vec::new(),
            reach_m: 1.5,
            slow_mps: 0.12,
            distance_m: 0.25,
            interest_secs: 12.0,
            forget_secs: 60.0,
            attraction: AttractionParams::default(),
        }
    }
}

/// Angle on the circle between the agent and the point at which it aims, in radians. Tuned by eye.
const LEAD_RAD: f32 = 0.7;

/// Distance within which the agent counts as near the other, as a multiple of the circle's radius.
const NEAR_CIRCLES: f32 = 1.6;

impl Investigate {
    fn is_interesting(&self, context: &ActionContext<'_>, other: &Neighbor) -> bool {
        let relations = &context.species.relations;
        let is_meant = if self.relations.is_empty() {
            other.name_bits & (relations.any | context.species.species_bit) == 0
        } else {
            other.name_bits & context.related != 0
        };
        is_meant
            && other.name_bits & KNOWN_BIT == 0
            && other.distance_m - other.radius_m <= self.reach_m
            && context.velocity_mps(other).length() <= self.slow_mps
    }

    /// Returns the neighbor that is already being investigated if it is still interesting, else the nearest
    /// interesting neighbor. `None` if no neighbor is interesting.
    fn choose<'v>(
        &self,
        context: &ActionContext<'v>,
        attention: &Attention,
    ) -> Option<&'v Neighbor> {
        let mut nearest: Option<&Neighbor> = None;
        for other in context.neighbors {
            if !self.is_interesting(context, other) || !context.is_visible(other) {
                continue;
            }
            if attention.target == Some(context.key_of(other)) {
                return Some(other);
            }
            if nearest.is_none_or(|n| other.distance_m < n.distance_m) {
                nearest = Some(other);
            }
        }
        nearest
    }
}

impl Action for Investigate {
    type Memory = Attention;

    const CAPABILITIES: Capabilities = Capabilities {
        approaches_visitors: true,
        ..Capabilities::NONE
    };

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn needs_related(&self) -> bool {
        !self.relations.is_empty()
    }

    fn propose(&self, context: &ActionContext<'_>, attention: &mut Attention) -> Option<Proposal> {
        if attention.rests(context) {
            return None;
        }
        let chosen = self.choose(context, attention);
        if chosen.is_none() && attention.target.is_none() {
            return None;
        }
        let key = chosen.map(|other| context.key_of(other));
        // A visitor is no partner. Like without `relations`, it attracts only some agents at a time.
        let is_visitor = key.or(attention.target).is_some_and(is_shadow_key);
        let courts = !self.relations.is_empty() && !is_visitor;
        let params = if courts {
            &AttractionParams::UNLIMITED
        } else {
            &self.attraction
        };
        let attraction = Attraction::new(params, context);
        let stay_secs = attraction.patience_secs(self.interest_secs);
        if attention.target.is_some() && attention.target != key {
            // What the agent is curious about is known, gone, hidden or fast.
            attraction.misses(context, attention, stay_secs);
            return None;
        }
        let (other, key) = chosen.zip(key)?;
        let circle_m = other.radius_m + context.radius_m + self.distance_m;
        let edge_m = std::f32::consts::TAU * circle_m;
        if !attraction.attends(context, attention, key, edge_m) {
            return None;
        }
        let from = (-other.offset_m)
            .with_y(0.0)
            .normalize_or(-context.motion.forward);
        // The agent circles in the direction in which it already swims.
        let left = Vec3::Y.cross(from);
        let sign = if context.motion.forward.dot(left) < 0.0 {
            -1.0
        } else {
            1.0
        };
        let (sin, cos) = LEAD_RAD.sin_cos();
        let center = context.motion.position_m + other.offset_m;
        let aim = center + (from * cos + left * (sign * sin)) * circle_m;
        let force = arrive(
            &context.motion,
            aim,
            context.cruise_mps(),
            context.radius_m * 2.0,
        )?;
        let mut proposal = Proposal {
            // A partner is no attraction for a crowd.
            attends: (!courts).then_some(key),
            ..Proposal::force(force)
        };
        let is_near = other.distance_m < circle_m * NEAR_CIRCLES;
        if attraction.loses_interest(context, attention, (is_near, edge_m, stay_secs)) {
            if attention.used_secs < stay_secs {
                attraction.leave(context, attention, 1.0);
                return None;
            }
            // The attention ends when the other is known. Until then the agent learns it in every tick in which the action
            // is executed, because a tick in which other actions take the whole force must not lose it.
            proposal.learn = Some(KnownAgent {
                key,
                left_secs: self.forget_secs,
            });
            proposal.event = Some(NeedEvent::Courted);
        }
        Some(proposal)
    }
}
