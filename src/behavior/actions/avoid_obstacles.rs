//! `avoid_obstacles`: keep clear of what lies ahead.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Proposal};
use crate::behavior::context::{ActionContext, Neighbor};
use crate::geometry::Solid;
use crate::steering::{
    Corridor, Disc, HeldSide, Motion, avoid_most_dangerous, avoid_reciprocally, avoid_solids,
    stay_between, stay_inside,
};
use crate::world::Avoidance;

/// Steer round obstacles, guides, the water's surface and the ground before touching them; round others too where the
/// species' `avoidance` is `reynolds` or `orca`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvoidObstacles {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// How far ahead in time it looks. Short is daring, long gives everything a wide berth.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub lookahead_secs: f32,
    /// Room to keep beyond the body's radius.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub clearance_m: f32,
    /// Whether of all obstacles ahead only the one met first counts, on whatever side it is nearer: as Reynolds has it, and
    /// trembling among rocks. For comparison.
    pub most_dangerous_only: bool,
}

impl Default for AvoidObstacles {
    fn default() -> Self {
        Self {
            weight: 1.0,
            lookahead_secs: 1.2,
            clearance_m: 0.05,
            most_dangerous_only: false,
        }
    }
}

impl Action for AvoidObstacles {
    /// The side on which the nearest obstacle is passed.
    type Memory = HeldSide;

    fn propose(&self, context: &ActionContext<'_>, held: &mut HeldSide) -> Option<Proposal> {
        let motion = &context.motion;
        let own = &context.species.motion;
        let speed = motion.velocity_mps.length().max(own.cruise_mps * 0.5);
        let lookahead_m = speed * self.lookahead_secs + context.radius_m;
        let water = &context.world.water;
        let walls = water.has_guides().then(|| {
            let edge = water.edge_m(motion.position_m.y);
            let half = Vec3::new(edge.x, 0.0, edge.y);
            stay_inside(
                motion,
                half,
                water.params.guide_m,
                lookahead_m,
                own.max_force_n,
            )
        });
        let walls = walls.flatten();
        let radius_m = context.radius_m + self.clearance_m;
        let corridor = Corridor {
            length_m: clear_m(motion, context.goal_m, lookahead_m, radius_m),
            radius_m,
            force_n: own.max_force_n,
            // What the walls want must not press it against a rock either.
            wish: context.wish + walls.unwrap_or_default() * self.weight,
        };
        let around = self.around(context, &corridor, held);
        let band = water.band_m(context.radius_m);
        let floor = stay_between(motion, band, lookahead_m * 0.5, own.max_force_n * 0.5);
        let forces = [around, walls, floor];
        forces
            .iter()
            .any(Option::is_some)
            .then(|| Proposal::force(forces.iter().flatten().sum()))
    }
}

/// How much of the way ahead has to be clear: what lies beyond a goal in it does not count. **Source**: 000 section 2.3.3.
fn clear_m(motion: &Motion, goal_m: Option<Vec3>, lookahead_m: f32, radius_m: f32) -> f32 {
    let Some(goal_m) = goal_m else {
        return lookahead_m;
    };
    let offset = goal_m - motion.position_m;
    let along_m = offset.dot(motion.forward);
    let is_ahead = along_m > 0.0 && offset.distance(motion.forward * along_m) < radius_m;
    if is_ahead {
        along_m.min(lookahead_m)
    } else {
        lookahead_m
    }
}

/// How long it may take to reach the velocity that the active need wants, for what is held to be that velocity.
const WANTED_WITHIN_SECS: f32 = 0.5;

impl AvoidObstacles {
    /// What keeps clear of obstacles, and of others where that is not the fields' part.
    fn around(
        &self,
        context: &ActionContext<'_>,
        corridor: &Corridor,
        held: &mut HeldSide,
    ) -> Option<Vec3> {
        let motion = &context.motion;
        let solids = context.near_solids();
        match context.species.avoidance {
            Avoidance::Flow => None,
            Avoidance::Reynolds => {
                let others = others(context).map(|other| Solid::Sphere {
                    center_m: motion.position_m + other.offset_m,
                    radius_m: other.radius_m,
                });
                let all = solids.map(|(_, solid)| *solid).chain(others);
                avoid_most_dangerous(motion, corridor, all)
            }
            Avoidance::Hybrid if self.most_dangerous_only => {
                avoid_most_dangerous(motion, corridor, solids.map(|(_, solid)| *solid))
            }
            Avoidance::Hybrid => avoid_solids(motion, corridor, solids, held),
            Avoidance::Orca => {
                let round = avoid_solids(motion, corridor, solids, held).unwrap_or_default();
                orca(context, corridor.wish + round).map(|force| force + round)
            }
        }
    }
}

/// The force that, with the one that is wanted already, leads to the velocity that reciprocal avoidance allows.
fn orca(context: &ActionContext<'_>, wanted_n: Vec3) -> Option<Vec3> {
    let motion = &context.motion;
    let mass_kg = context.species.body.mass_kg;
    let own = Disc {
        position_m: motion.position_m,
        velocity_mps: motion.velocity_mps,
        radius_m: context.radius_m,
    };
    let speed_mps = context.speed_mps(None);
    let wanted = motion.velocity_mps + wanted_n * (WANTED_WITHIN_SECS / mass_kg);
    let wanted = wanted.clamp_length_max(speed_mps);
    let dt = context.world.dt_secs;
    let discs = others(context)
        // Above and below there is room.
        .filter(|other| other.offset_m.y.abs() < other.radius_m + context.radius_m)
        .map(|other| Disc {
            position_m: motion.position_m + other.offset_m,
            velocity_mps: context.velocity_mps(other),
            radius_m: other.radius_m,
        });
    let allowed = avoid_reciprocally(&own, wanted, speed_mps, dt, discs);
    if allowed.distance_squared(wanted) < 1e-10 {
        return None;
    }
    Some((allowed - motion.velocity_mps) * (mass_kg / dt) - wanted_n)
}

fn others<'v>(context: &ActionContext<'v>) -> impl Iterator<Item = &'v Neighbor> {
    context.neighbors.iter().filter(|other| !other.is_shadow)
}
