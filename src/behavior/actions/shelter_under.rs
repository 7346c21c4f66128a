//! `shelter_under`: the agent keeps company to a standing visitor, at the edge of the visitor's shadow.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::attraction::{Attention, Attraction, AttractionParams};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::behavior::visiting::{edge_length_m, place_at_edge};
use crate::geometry::Visitor;
use crate::steering::{arrive, steer_along};
use crate::world::{ShadowAtDepth, shadow_key};

/// Swims to a place at the edge of the nearest shadow that stands still, and turns outwards there. Only some agents come at
/// a time; each stays for a while and then loses interest. Cannot be executed while that shadow moves, or if its edge is in
/// another water.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShelterUnder {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time for which a shadow must have stood still before the bravest agents come. Use more than `calm_after_secs` of
    /// `evade_shadow`; otherwise the two actions work against each other. Higher: only patient visitors get company. Lower: agents
    /// come soon after a visitor stops.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub still_secs: f32,
    /// Distance from the edge of the shadow within which the agent notices the shadow. Higher: many agents come, also from far
    /// away. Lower: only those near by.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Distance inwards from the edge of the shadow to the hull of the agent at its place. Negative: outside, where the projector
    /// lights it. Use less than the depth to which `evade_shadow` lets the agent under the shadow: if its `still_flee_distance_m`
    /// is -0.1, use less than 0.1. Higher: stays under the shadow, where it is dark. Lower: stays beside the shadow, in the light.
    #[schemars(range(min = -10.0, max = 10.0))]
    pub inside_m: f32,
    /// Distance from its place within which the agent slows down. Higher: brakes early and drifts softly into its place. Lower:
    /// comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
    /// Time for which an agent of average patience stays. With few others around, it stays longer. Higher: the same guests stay for
    /// long. Lower: guests come and go.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub stay_secs: f32,
    /// How many agents come at a time, and how often.
    pub attraction: AttractionParams,
}

impl Default for ShelterUnder {
    fn default() -> Self {
        Self {
            weight: 1.0,
            still_secs: 5.0,
            reach_m: 1.5,
            inside_m: -0.04,
            slowing_m: 0.3,
            stay_secs: 20.0,
            attraction: AttractionParams::default(),
        }
    }
}

/// Outward speed of an agent that has arrived, as a share of the cruise speed. This low speed turns the agent
/// outwards and moves it only slightly.
const LOOK_OUT_SHARE: f32 = 0.12;

impl ShelterUnder {
    /// Returns the shadow that the agent attends if that shadow still stands still, else the nearest one that stands still.
    /// `None` if there is none.
    fn choose<'v>(
        &self,
        context: &ActionContext<'v>,
        attention: &Attention,
        still_secs: f32,
    ) -> Option<(&'v Visitor, ShadowAtDepth)> {
        let at = context.motion.position_m;
        let mut nearest: Option<(&Visitor, ShadowAtDepth)> = None;
        for (index, shadow) in context.world.visitors.shadows.iter().enumerate() {
            if (shadow.still_secs as f32) < still_secs {
                continue;
            }
            let is_attended = attention.target == Some(shadow_key(shadow.id));
            let limit_m = nearest.map_or(self.reach_m, |(_, nearest)| nearest.distance_m);
            let limit_m = if is_attended { f32::MAX } else { limit_m };
            let Some(seen) = context.world.shadow_within(index, context.index, limit_m) else {
                continue;
            };
            if !context.is_in_own_water(at - seen.away * seen.distance_m) {
                continue;
            }
            if is_attended {
                return Some((shadow, seen));
            }
            if seen.distance_m < limit_m {
                nearest = Some((shadow, seen));
            }
        }
        nearest
    }
}

impl Action for ShelterUnder {
    type Memory = Attention;

    const CAPABILITIES: Capabilities = Capabilities {
        rests: true,
        approaches_visitors: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, attention: &mut Attention) -> Option<Proposal> {
        let shadows = &context.world.visitors.shadows;
        let is_still = |shadow: &Visitor| shadow.still_secs as f32 >= self.still_secs;
        if attention.rests(context) || attention.target.is_none() && !shadows.iter().any(is_still) {
            return None;
        }
        let attraction = Attraction::new(&self.attraction, context);
        let still_secs = self.still_secs * attraction.caution();
        let chosen = self.choose(context, attention, still_secs);
        let key = chosen.map(|(shadow, _)| shadow_key(shadow.id));
        let stay_secs = attraction.patience_secs(self.stay_secs);
        if attention.target.is_some() && attention.target != key {
            // The visitor has moved or left.
            let used_share = attention.used_secs / stay_secs.max(1e-3);
            attraction.leave(context, attention, used_share);
        }
        let ((shadow, seen), key) = chosen.zip(key)?;
        let edge_m = edge_length_m(context, shadow);
        if !attraction.attends(context, attention, key, edge_m) {
            return None;
        }
        let place = place_at_edge(context, &attraction, (key, &seen), -self.inside_m);
        let is_near = place.way_m < NEAR_M + context.radius_m;
        if attraction.loses_interest(context, attention, (is_near, edge_m, stay_secs)) {
            attraction.leave(context, attention, 1.0);
            return None;
        }
        let cruise = context.cruise_mps();
        let proposal = if place.way_m < context.radius_m * 0.5 {
            let force = steer_along(&context.motion, place.out, cruise * LOOK_OUT_SHARE);
            Proposal::force(force.unwrap_or(Vec3::ZERO))
        } else {
            let force = arrive(&context.motion, place.at_m, cruise, self.slowing_m);
            Proposal::to(place.at_m, force.unwrap_or(Vec3::ZERO))
        };
        Some(Proposal {
            attends: Some(key),
            rests: place.way_m < context.radius_m * 0.5,
            ..proposal
        })
    }
}

/// Distance from its place within which an agent uses up its interest.
const NEAR_M: f32 = 0.3;
