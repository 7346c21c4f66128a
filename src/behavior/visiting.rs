//! Places around a standing visitor: outside the shadow, where the projector lights the fish, and apart from other guests.

use glam::Vec3;

use super::attraction::Attraction;
use super::context::ActionContext;
use super::schooling::keep_apart;
use crate::geometry::Visitor;
use crate::world::{Random, RandomStream, ShadowAtDepth, outline_at_depth, shadow_key};

/// Place of one guest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Center of the guest at its place, in world space.
    pub(super) at_m: Vec3,
    /// Distance from the guest to its place.
    pub(super) way_m: f32,
    /// Horizontal unit vector away from the shadow.
    pub(super) out: Vec3,
}

/// Length of the edge of a shadow at the depth of the agent, taken as a circle.
pub(super) fn edge_length_m(context: &ActionContext<'_>, shadow: &Visitor) -> f32 {
    let scale = context.world.water.scale(context.motion.position_m.y);
    std::f32::consts::TAU * (shadow.radius_m * scale + context.radius_m)
}

/// Returns the place of the agent at the edge of a shadow. The hull of the agent is `outside_m` from the edge, or a little
/// farther, different for each individual. `key` is the key of the shadow; guests of the same shadow keep apart along the
/// edge.
pub(super) fn place_at_edge(
    context: &ActionContext<'_>,
    attraction: &Attraction<'_>,
    (key, seen): (u32, &ShadowAtDepth),
    outside_m: f32,
) -> Place {
    let params = attraction.params;
    let out = seen.away.try_normalize().unwrap_or(context.motion.forward);
    let own = 0.5 + 0.5 * context.own_draw(PLACE_DRAW);
    let wanted_m = outside_m + own * params.spread * params.place_m * PLACE_DEPTH_SHARE;
    let bodies = &context.world.agents.bodies;
    let apart = keep_apart(context, params.place_m, 180.0, |other| {
        let body = bodies.get(other.agent as usize);
        body.is_some_and(|body| body.intent.attends == Some(key))
    });
    let apart = apart.unwrap_or_default();
    let along = (apart - out * apart.dot(out)).with_y(0.0);
    let offset_m = out * (wanted_m - seen.distance_m) + along * (params.place_m * SIDESTEP_SHARE);
    Place {
        at_m: context.motion.position_m + offset_m,
        way_m: offset_m.length(),
        out,
    }
}

/// Returns the point to which the director lets the agent travel; for a gathering around a visitor, a point outside the shadow.
/// `None` without a gathering, if the visitor is gone, or if the agent does not belong to the share of its species that gathers
/// around this visitor.
pub(super) fn gathering_goal_m(context: &ActionContext<'_>) -> Option<Vec3> {
    let gathering = context.gathering()?;
    let Some(visitor) = gathering.visitor else {
        return Some(gathering.point_m);
    };
    let shadows = &context.world.visitors.shadows;
    let shadow = shadows.iter().find(|shadow| shadow.id == visitor.id)?;
    let random = Random {
        tick: 0,
        ..context.world.random
    };
    let key = shadow_key(visitor.id);
    if random.unit(context.id(), RandomStream::Attraction, key) >= visitor.share {
        return None;
    }
    let at = context.motion.position_m;
    let scale = context.world.water.scale(at.y);
    let seen = outline_at_depth(shadow, at, context.hull, scale);
    let out = seen.away.try_normalize().unwrap_or(context.motion.forward);
    Some(at + out * (GATHERING_OUTSIDE_M - seen.distance_m))
}

/// Distance between the hull of an agent that the director lets gather and the edge of the visitor's shadow.
pub(super) const GATHERING_OUTSIDE_M: f32 = 0.05;

/// Number of the individual draw for the place of a guest, see [`ActionContext::own_draw`].
const PLACE_DRAW: u32 = 7;

/// Largest difference of the distances of two guests from the edge, as a share of the distance between places. Tuned by eye.
const PLACE_DEPTH_SHARE: f32 = 0.4;

/// Length of a step aside from another guest, as a share of the distance between places. Tuned by eye.
const SIDESTEP_SHARE: f32 = 0.4;
