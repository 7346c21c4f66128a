//! `follow_flow_field`: go with the fields that are felt here.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::ActionContext;
use crate::navigation::fields::{Falloff, Foresight, Repulsion, brake};
use crate::world::Avoidance;

/// Go with the scene's flow fields and keep clear of others by theirs, as the species' `avoidance` says. Possible where any
/// of them is felt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FollowFlowField {
    /// Factor on the sum of all fields; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// How the field around another weakens outwards.
    pub falloff: Falloff,
    /// How far it reaches beyond both bodies; where they touch it is strongest.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub range_m: f32,
    /// Its force where both touch; 0: none.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub strength_n: f32,
    /// Sideways share of it, the same hand for all, so that of two who cross one passes behind the other.
    #[schemars(range(min = -100.0, max = 100.0))]
    pub swirl: f32,
    /// How much stronger it is around one that cruises than around one that stands, as a share.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub speed_gain: f32,
    /// How far ahead it feels others where they will be nearest, and within the range brakes before a touch; 0: only where
    /// they are, as plain fields do.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub foresight_secs: f32,
    /// Force of what is foreseen where both are about to touch.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub foresight_n: f32,
    /// Room to keep beyond both bodies where they will be nearest.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub margin_m: f32,
    /// Share straight away from another beside the share sideways: brakes.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub lean: f32,
    /// How far off the middle, as a share of both radii, one that is met head on is still passed on the right.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub keep_right: f32,
}

impl Default for FollowFlowField {
    /// Tuned by `cargo bench --bench avoidance` for bodies of 0.3 m radius at 1.3 m/s and scaled to a fish of 0.05 m, 2026-11-21.
    fn default() -> Self {
        Self {
            weight: 1.0,
            falloff: Falloff::Quadratic,
            range_m: 0.05,
            strength_n: 4.0,
            swirl: 0.0,
            speed_gain: 0.0,
            foresight_secs: 2.0,
            foresight_n: 2.5,
            margin_m: 0.03,
            lean: 0.65,
            keep_right: 0.4,
        }
    }
}

impl Action for FollowFlowField {
    type Memory = ();

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let names = context.species.bits;
        let mut force = context.fields.force_at(context.motion.position_m, names);
        let avoidance = context.species.avoidance;
        if matches!(avoidance, Avoidance::Flow | Avoidance::Hybrid) {
            force += self.agents(context);
        }
        if avoidance == Avoidance::Flow {
            force += self.obstacles(context);
        }
        (force != Vec3::ZERO).then(|| Proposal::force(force))
    }
}

impl FollowFlowField {
    /// The fields around all others, in view or not: fish feel who is near them. Shadows have none; they are fled.
    fn agents(&self, context: &ActionContext<'_>) -> Vec3 {
        let foresight = Foresight {
            horizon_secs: self.foresight_secs,
            strength_n: self.foresight_n,
            margin_m: self.margin_m,
            lean: self.lean,
            keep_right: self.keep_right,
        };
        let cruise = context.cruise_mps().max(1e-3);
        let mass_kg = context.mass_kg();
        let mut force = Vec3::ZERO;
        for other in context.neighbors.iter().filter(|other| !other.is_shadow) {
            let touch_m = context.radius_m + other.radius_m;
            let around = Repulsion {
                falloff: self.falloff,
                range_m: touch_m + self.range_m,
                inner_radius_m: touch_m,
                swirl: self.swirl,
            };
            if other.distance_m < around.range_m {
                let moving = 1.0 + self.speed_gain * context.velocity_mps(other).length() / cruise;
                force += around.at(-other.offset_m) * (self.strength_n * moving);
            }
            if self.foresight_secs > 0.0 {
                let against = context.motion.velocity_mps - context.velocity_mps(other);
                if self.strength_n > 0.0 && other.distance_m < around.range_m {
                    force += brake(-other.offset_m, against, touch_m, mass_kg, self.strength_n);
                }
                force += foresight.at(-other.offset_m, against, touch_m);
            }
        }
        force
    }

    /// The fields around obstacles: distances are those from their surface, which for a ball is the radial field with the
    /// ball's radius as inner one.
    fn obstacles(&self, context: &ActionContext<'_>) -> Vec3 {
        let at = context.motion.position_m;
        context
            .near_solids()
            .map(|(_, solid)| {
                let gap = solid.signed_distance_m(at) - context.radius_m;
                let share = self.falloff.share(gap, self.range_m, 0.0);
                solid.normal(at) * (share * self.strength_n)
            })
            .sum()
    }
}
