//! `avoid_barriers`: the agent turns away from the barriers of the scene.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::{Barrier, SeenFrom, avoid_barrier};
use crate::world::{BarrierParams, BarrierShape, BarrierSide};

/// Turns away from the invisible barriers of the scene (`[[barriers]]`). Can be executed while a barrier is ahead. Nothing stops
/// an agent that still swims through a barrier. **Source**: Reynolds 1999, "Obstacle avoidance"; OpenSteer, `seenFrom`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvoidBarriers {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time that the agent looks ahead. Higher: turns early, far from the barrier. Lower: turns close to the barrier and may swim
    /// through it.
    #[schemars(range(min = 0.01, max = 60.0))]
    pub lookahead_secs: f32,
    /// Share of the largest force of the species with which the agent turns. Higher: a sharp turn at the barrier. Lower: a wide
    /// curve that may lead through the barrier.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub force_share: f32,
}

impl Default for AvoidBarriers {
    fn default() -> Self {
        Self {
            weight: 1.0,
            lookahead_secs: 1.2,
            force_share: 0.8,
        }
    }
}

impl Action for AvoidBarriers {
    type Memory = ();

    const CAPABILITIES: Capabilities = Capabilities {
        avoids_barriers: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let motion = &context.motion;
        let speed = motion.velocity_mps.length().max(context.cruise_mps() * 0.5);
        let lookahead_m = speed * self.lookahead_secs + context.radius_m;
        let force_n = context.species.motion.max_force_n * self.force_share;
        let barriers = context.world.barriers.iter();
        let forces = barriers.filter_map(|params| {
            let (barrier, from) = barrier(params)?;
            avoid_barrier(
                motion,
                &barrier,
                from,
                context.radius_m,
                lookahead_m,
                force_n,
            )
        });
        // The strongest force belongs to the nearest barrier.
        forces
            .max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
            .map(Proposal::force)
    }
}

/// Returns the barrier that these parameters describe, and the sides from which it blocks. `None` if its normal has no direction.
fn barrier(params: &BarrierParams) -> Option<(Barrier, SeenFrom)> {
    let unit = |vector: [f32; 3]| Vec3::from(vector).try_normalize();
    let barrier = match params.shape {
        BarrierShape::Sphere(p) => Barrier::Sphere {
            center_m: p.center_m.into(),
            radius_m: p.radius_m,
        },
        BarrierShape::Box(p) => Barrier::Box {
            center_m: p.center_m.into(),
            half_m: p.half_extents_m.into(),
        },
        BarrierShape::Plane(p) => Barrier::Plane {
            point_m: p.point_m.into(),
            normal: unit(p.normal)?,
        },
        BarrierShape::Rectangle(p) => {
            let normal = unit(p.normal)?;
            Barrier::Rectangle {
                center_m: p.center_m.into(),
                normal,
                right: Vec3::Y.cross(normal).normalize_or(Vec3::X),
                half_m: p.half_extents_m,
            }
        }
        BarrierShape::Capsule(p) => Barrier::Capsule {
            from_m: p.from_m.into(),
            to_m: p.to_m.into(),
            radius_m: p.radius_m,
        },
    };
    let seen_from = match params.seen_from {
        BarrierSide::Outside => SeenFrom::Outside,
        BarrierSide::Inside => SeenFrom::Inside,
        BarrierSide::Both => SeenFrom::Both,
    };
    Some((barrier, seen_from))
}
