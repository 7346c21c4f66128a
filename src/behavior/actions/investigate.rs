//! `investigate`: curiosity, and courting: come near, circle, and know it afterwards.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::{ActionContext, Neighbor};
use crate::behavior::need::NeedEvent;
use crate::steering::arrive;
use crate::world::relations::KNOWN_BIT;

/// Come near a slow one to whom there is no relation, and circle it; after a while it is known and left alone, until it is
/// forgotten. With `relations` it circles those instead: one that circles its partner long enough has courted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Investigate {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Whom it circles: those in one of these relations. Empty: those to whom it has none.
    pub relations: Vec<String>,
    /// How near one must be to be noticed.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Speed above which nobody is investigated.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub slow_mps: f32,
    /// Distance from hull to hull at which it circles.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub distance_m: f32,
    /// How long it stays interested. Then the relation `known` is added.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub interest_secs: f32,
    /// How long one stays known.
    #[schemars(range(min = 0.0, max = 86400.0))]
    pub forget_secs: f32,
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
        }
    }
}

/// Who is being looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interest {
    /// Key of the other, plus one; 0 for nobody.
    pub whom: u32,
    /// How long it has been near it.
    pub secs: f32,
}

/// How far ahead on its circle it aims, in radians. Tuned by eye, 2026-11-21.
const LEAD_RAD: f32 = 0.7;

impl Investigate {
    fn is_interesting(&self, context: &ActionContext<'_>, other: &Neighbor) -> bool {
        let relations = &context.species.relations;
        let is_meant = if self.relations.is_empty() {
            other.bits & (relations.any | context.species.own_bit) == 0
        } else {
            other.bits & context.related != 0
        };
        is_meant
            && other.distance_m - other.radius_m <= self.reach_m
            && context.velocity_mps(other).length() <= self.slow_mps
            && other.bits & KNOWN_BIT == 0
    }

    /// The one it looks at already, while that stays interesting; else the nearest.
    fn choose<'v>(&self, context: &ActionContext<'v>, interest: &Interest) -> Option<&'v Neighbor> {
        let mut nearest: Option<&Neighbor> = None;
        for other in context.neighbors {
            if !self.is_interesting(context, other) || !context.is_visible(other) {
                continue;
            }
            if context.key_of(other) + 1 == interest.whom {
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
    type Memory = Interest;

    fn relations(&self) -> &[String] {
        &self.relations
    }

    fn propose(&self, context: &ActionContext<'_>, interest: &mut Interest) -> Option<Proposal> {
        let other = self.choose(context, interest)?;
        let key = context.key_of(other);
        if interest.whom != key + 1 {
            *interest = Interest {
                whom: key + 1,
                secs: 0.0,
            };
        }
        let round_m = other.radius_m + context.radius_m + self.distance_m;
        let from = (-other.offset_m)
            .with_y(0.0)
            .normalize_or(-context.motion.forward);
        // Round on the side on which it swims already.
        let left = Vec3::Y.cross(from);
        let sign = if context.motion.forward.dot(left) < 0.0 {
            -1.0
        } else {
            1.0
        };
        let (sin, cos) = LEAD_RAD.sin_cos();
        let center = context.motion.position_m + other.offset_m;
        let aim = center + (from * cos + left * (sign * sin)) * round_m;
        let force = arrive(
            &context.motion,
            aim,
            context.cruise_mps(),
            context.radius_m * 2.0,
        )?;
        let mut proposal = Proposal::force(force);
        if other.distance_m < round_m * 1.6 {
            interest.secs += context.world.dt_secs;
        }
        if interest.secs >= self.interest_secs {
            proposal.learn = Some((key, self.forget_secs));
            proposal.event = Some(NeedEvent::Courted);
            *interest = Interest::default();
        }
        Some(proposal)
    }
}
