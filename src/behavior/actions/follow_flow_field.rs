//! `follow_flow_field`: the agent follows the flow fields at its position.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::perception::Neighbor;
use crate::behavior::proposal::Proposal;
use crate::navigation::{Falloff, PredictiveRepulsion, Repulsion, braking_force};

/// Follows the flow fields of the scene. A field around each other agent keeps the agent away from it; its prey and food
/// have no such field. Can be executed where a field acts on the agent. **Source**: Karpowicz 2011.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FollowFlowField {
    /// Factor on the sum of all fields; 0 switches the action off. Higher: fields win against other actions, and the agent drifts
    /// with them. Lower: it swims its own way through them.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Rule by which the field around another agent weakens with distance.
    pub falloff: Falloff,
    /// Distance between the hulls of two agents at which the field around the other agent ends. The field is strongest where the
    /// hulls touch. Higher: gives way to others from far away. Lower: notices them only just before a touch; 0: no field around
    /// agents.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub range_m: f32,
    /// Force of the field around another agent where both hulls touch. Higher: agents push each other apart strongly. Lower: they
    /// come close and may touch; 0: no field around agents.
    #[schemars(range(min = 0.0, max = 10000.0))]
    pub strength_n: f32,
    /// Sideways force, as a share of `strength_n`. All agents use the same side, so when two agents cross, one passes behind the
    /// other. Higher: two agents that meet turn more to their right. Lower: they are pushed straight back; below 0, they turn to
    /// their left.
    #[schemars(range(min = -100.0, max = 100.0))]
    pub swirl: f32,
    /// Time for which the agent predicts the movement of other agents, to find their closest approach. Within the range of their
    /// fields it also brakes to avoid a touch. Higher: gives way early, in a slight curve. Lower: gives way late and sharply. 0:
    /// only the current positions of other agents count.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub foresight_secs: f32,
    /// Force that avoids a predicted approach, at the moment when both hulls are about to touch. Higher: a clear swerve. Lower: a
    /// slight one, and agents may touch.
    #[schemars(title = "Avoiding force", range(min = 0.0, max = 10000.0))]
    pub foresight_n: f32,
    /// Distance to keep between both hulls at the closest approach. Higher: passes others with a clear gap. Lower: passes them
    /// closely.
    #[schemars(range(min = 0.001, max = 100.0))]
    pub margin_m: f32,
}

impl Default for FollowFlowField {
    /// Tuned with `cargo bench --bench avoidance` for bodies of 0.3 m radius at 1.3 m/s, then scaled to a fish of
    /// 0.05 m.
    fn default() -> Self {
        Self {
            weight: 1.0,
            falloff: Falloff::Quadratic,
            range_m: 0.05,
            strength_n: 4.0,
            swirl: 0.0,
            foresight_secs: 2.0,
            foresight_n: 2.5,
            margin_m: 0.03,
        }
    }
}

impl Action for FollowFlowField {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        follows_fields: true,
        ..Capabilities::NONE
    };

    fn field_around(&self, touch_m: f32) -> Option<(Repulsion, f32)> {
        let around = Repulsion {
            falloff: self.falloff,
            range_m: touch_m + self.range_m,
            inner_radius_m: touch_m,
            swirl: self.swirl,
        };
        (self.range_m > 0.0 && self.strength_n > 0.0).then_some((around, self.strength_n))
    }

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let names = context.species.name_bits;
        let mut force = context.fields.force_at(context.motion.position_m, names);
        force += self.agents(context);
        (force != Vec3::ZERO).then(|| Proposal::force(force))
    }
}

impl FollowFlowField {
    /// Returns the sum of the fields around all other agents within sight, also those outside the field of view.
    /// Shadows have no field; `evade_shadow` handles them. Prey and food have none, so that the agent can catch them.
    /// Agents in another water cannot touch this one.
    fn agents(&self, context: &ActionContext<'_>) -> Vec3 {
        let foresight = PredictiveRepulsion {
            horizon_secs: self.foresight_secs,
            strength_n: self.foresight_n,
            margin_m: self.margin_m,
        };
        let cruise = context.cruise_mps().max(1e-3);
        let mass_kg = context.mass_kg();
        let mut force = Vec3::ZERO;
        let relations = &context.species.relations;
        let is_one_water = context.world.terraces.is_empty();
        let caught = relations.prey | relations.food;
        // Two agents that are farther apart and not faster than this one do not meet within the foresight.
        let speed_mps = context.motion.velocity_mps.length().max(cruise);
        let reach_m = self.range_m.max(self.margin_m) + 2.0 * speed_mps * self.foresight_secs;
        let own_m = context.hull.widest_m();
        let half_widths_m = &context.world.agents.half_widths_m;
        for other in context.neighbors {
            if other.is_shadow {
                continue;
            }
            let is_far = other.distance_m > reach_m + own_m + half_widths_m[other.agent as usize];
            if is_far
                || other.name_bits & caught != 0
                || !(is_one_water || context.shares_water(other))
            {
                continue;
            }
            let Nearest {
                offset_m,
                distance_m,
                touch_m,
            } = Nearest::of(context, other);
            let around = self.field_around(touch_m);
            if let Some((around, strength_n)) = around.filter(|(f, _)| distance_m < f.range_m) {
                force += around.force_at(-offset_m) * strength_n;
            }
            if self.foresight_secs > 0.0 {
                let against = context.motion.velocity_mps - context.velocity_mps(other);
                if other.offset_m.dot(against) <= 0.0 {
                    // The two move apart.
                    continue;
                }
                if self.strength_n > 0.0 && distance_m < touch_m + self.range_m {
                    force += braking_force(-offset_m, against, touch_m, mass_kg, self.strength_n);
                }
                let passing_m = passing_touch_m(context, other, against);
                force += foresight.force_at(-other.offset_m, against, passing_m);
            }
        }
        force
    }
}

/// The parts of two agents that are nearest to each other.
struct Nearest {
    /// From the axis of the own hull to that of the other.
    offset_m: Vec3,
    /// Length of the offset.
    distance_m: f32,
    /// Distance at which both hulls touch: the sum of their radii.
    touch_m: f32,
}

impl Nearest {
    fn of(context: &ActionContext<'_>, other: &Neighbor) -> Self {
        let (agents, index) = (context.world.agents, other.agent as usize);
        let theirs = agents.hull(index);
        let touch_m = context.radius_m + theirs.radius_m;
        let (offset_m, distance_m) = if context.hull.is_sphere() && theirs.is_sphere() {
            (other.offset_m, other.distance_m)
        } else {
            let at = context.motion.position_m;
            let between = context.hull.between(at, &theirs, at + other.offset_m);
            (between, between.length())
        };
        Self {
            offset_m,
            distance_m,
            touch_m,
        }
    }
}

/// Returns the distance between the centers of two agents at which their hulls touch when they pass each other: the sum of half of
/// their extents in the direction of the closest approach. `against_mps` is the own velocity relative to the other.
fn passing_touch_m(context: &ActionContext<'_>, other: &Neighbor, against_mps: Vec3) -> f32 {
    let theirs = context.world.agents.hull(other.agent as usize);
    let square = against_mps.length_squared();
    if (context.hull.is_sphere() && theirs.is_sphere()) || square <= 0.0 {
        return context.radius_m + theirs.radius_m;
    }
    let secs = other.offset_m.dot(against_mps) / square;
    let aside = (other.offset_m - against_mps * secs).normalize_or(context.motion.side());
    context.hull.reach_m(aside) + theirs.reach_m(aside)
}
