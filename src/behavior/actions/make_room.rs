//! `make_room`: the agent leaves the place around a standing visitor to others of its species.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::steer_along;
use crate::world::shadow_key;

/// Swims away from the nearest shadow that stands still, while more than a share of the species is near it. So a school passes
/// a visitor instead of staying around it. Agents that attend the visitor stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MakeRoom {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time for which a shadow must have stood still. Before that, `evade_shadow` keeps agents away. Higher: a school may stay
    /// around a visitor for longer. Lower: it makes room as soon as the visitor stops.
    #[schemars(range(min = 0.0, max = 600.0))]
    pub still_secs: f32,
    /// Distance from the edge of the shadow within which agents count as near. Higher: clears a wide circle around the visitor.
    /// Lower: only the water next to the shadow.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub near_m: f32,
    /// Largest share of the species that may be near; at least one agent. The agent counts only others that it perceives. Higher: a
    /// crowd stays around the visitor. Lower: few agents stay, the others pass.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f32,
}

impl Default for MakeRoom {
    fn default() -> Self {
        Self {
            weight: 1.0,
            still_secs: 4.0,
            near_m: 0.4,
            share: 0.25,
        }
    }
}

/// Force if only one agent is too many, as a share of the force if twice as many agents as allowed are near. Tuned by eye.
const LEAST_SHARE: f32 = 0.4;

impl MakeRoom {
    fn is_near(&self, context: &ActionContext<'_>, shadow: usize, agent: usize) -> bool {
        let seen = context.world.shadow_within(shadow, agent, self.near_m);
        seen.is_some_and(|seen| seen.distance_m <= self.near_m)
    }

    /// Returns the number of agents of the same species near a shadow, including the agent itself, that it perceives.
    fn count_near(&self, context: &ActionContext<'_>, shadow: usize) -> u32 {
        let own = context.species.species_bit;
        let mates = context
            .neighbors
            .iter()
            .filter(|other| !other.is_shadow && other.name_bits & own != 0);
        let near = mates.filter(|mate| self.is_near(context, shadow, mate.agent as usize));
        1 + near.count() as u32
    }
}

impl Action for MakeRoom {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        only_avoids: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let at = context.motion.position_m;
        let scale = context.world.water.scale(at.y);
        let visitors = &context.world.visitors;
        let mut nearest: Option<(usize, f32, glam::Vec3)> = None;
        let shadows = visitors.shadows.iter().zip(&visitors.bounding_radii_m);
        for (index, (shadow, &reach_m)) in shadows.enumerate() {
            let limit_m = nearest.map_or(self.near_m, |(_, distance_m, _)| distance_m);
            let offset_m = glam::Vec2::new(at.x, at.z) - shadow.centroid_m * scale;
            let far_m = reach_m * scale + context.hull.widest_m() + limit_m;
            if (shadow.still_secs as f32) < self.still_secs
                || offset_m.length_squared() > far_m * far_m
            {
                continue;
            }
            let seen = context.world.shadow_at(index, context.index);
            if seen.distance_m <= limit_m {
                nearest = Some((index, seen.distance_m, seen.away));
            }
        }
        let (shadow, _, away) = nearest?;
        let attends = context.world.agents.bodies[context.index].intent.attends;
        if attends == Some(shadow_key(visitors.shadows[shadow].id)) {
            return None;
        }
        let (agents, _) = context
            .world
            .guests
            .of_species(context.species.base_species);
        let allowed = (agents as f32 * self.share).round().max(1.0);
        let surplus = self.count_near(context, shadow) as f32 - allowed;
        if surplus <= 0.0 {
            return None;
        }
        let away = away.try_normalize().unwrap_or(context.motion.forward);
        let force = steer_along(&context.motion, away, context.cruise_mps())?;
        let strength = LEAST_SHARE + (1.0 - LEAST_SHARE) * (surplus / allowed).min(1.0);
        Some(Proposal::force(force * strength))
    }
}
