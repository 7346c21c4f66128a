//! `shelter_under`: the agent swims under the edge of a standing visitor's shadow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::{arrive, steer_along};
use crate::world::{ShadowAtDepth, outline_at_depth};

/// Swims under the edge of the nearest shadow that stands still, and turns outwards there. Cannot be executed while
/// that shadow moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShelterUnder {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time for which a shadow must have stood still before the agent swims under it. Use more than `calm_after_secs`
    /// of `evade_shadow`; otherwise the two actions work against each other.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub still_secs: f32,
    /// Distance from the edge of the shadow within which the agent notices the shadow. A larger value attracts more
    /// agents.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Distance inwards from the edge of the shadow to the agent's goal. Use less than the depth to which
    /// `evade_shadow` lets the agent under the shadow: if its `still_flee_distance_m` is -0.1, use less than 0.1.
    #[schemars(range(min = -10.0, max = 10.0))]
    pub inside_m: f32,
    /// Distance from its goal within which the agent slows down. With a low value the agent brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
}

impl Default for ShelterUnder {
    fn default() -> Self {
        Self {
            weight: 1.0,
            still_secs: 5.0,
            reach_m: 1.5,
            inside_m: 0.05,
            slowing_m: 0.3,
        }
    }
}

/// Outward speed of an agent that has arrived, as a share of the cruise speed. This low speed turns the agent
/// outwards and moves it only slightly.
const LOOK_OUT_SHARE: f32 = 0.12;

impl ShelterUnder {
    fn nearest(&self, context: &ActionContext<'_>) -> Option<ShadowAtDepth> {
        let at = context.motion.position_m;
        let scale = context.world.water.scale(at.y);
        let mut nearest: Option<ShadowAtDepth> = None;
        for shadow in &context.world.visitors.shadows {
            if shadow.still_secs < self.still_secs {
                continue;
            }
            let seen = outline_at_depth(shadow, at, context.radius_m, scale);
            if seen.distance_m < nearest.map_or(self.reach_m, |n| n.distance_m) {
                nearest = Some(seen);
            }
        }
        nearest
    }
}

impl Action for ShelterUnder {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        rests: true,
        approaches_visitors: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let shadow = self.nearest(context)?;
        let out = shadow
            .away
            .try_normalize()
            .unwrap_or(context.motion.forward);
        let way_m = shadow.distance_m + self.inside_m;
        let cruise = context.cruise_mps();
        if way_m.abs() < context.radius_m * 0.5 {
            return steer_along(&context.motion, out, cruise * LOOK_OUT_SHARE).map(Proposal::force);
        }
        let place = context.motion.position_m - out * way_m;
        arrive(&context.motion, place, cruise, self.slowing_m)
            .map(|force| Proposal::to(place, force))
    }
}
