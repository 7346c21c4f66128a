//! `avoid_obstacles`: the agent steers around obstacles ahead.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::perception::Neighbor;
use crate::behavior::proposal::Proposal;
use crate::geometry::Solid;
use crate::steering::{
    Corridor, Disc, EdgeGuide, Motion, PassingSide, avoid_most_dangerous, avoid_reciprocally,
    avoid_solids, stay_in_depth_band, stay_inside_outline, stay_inside_walls,
};
use crate::world::Avoidance;

/// Steers around obstacles and away from the edges of the pool, the water surface and the ground before the agent
/// touches them. Also steers around other agents if the species' `avoidance` is `reynolds` or `orca`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvoidObstacles {
    /// Factor on the steering force; 0 switches the action off.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time that the agent looks ahead. With a low value the agent turns late, with a high value it keeps a large
    /// distance.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub lookahead_secs: f32,
    /// Distance to keep between the hull and an obstacle.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub clearance_m: f32,
    /// Whether only the first obstacle ahead counts and the side is chosen again in each tick, as in Reynolds 1999.
    /// Agents then tremble among rocks. This mode exists only for comparison with that source.
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
    /// The side on which the agent passes the nearest obstacle.
    type Memory = PassingSide;

    const CAPABILITIES: Capabilities = Capabilities {
        is_never_skipped: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, passing: &mut PassingSide) -> Option<Proposal> {
        let motion = &context.motion;
        let own = &context.species.motion;
        let speed = motion.velocity_mps.length().max(own.cruise_mps * 0.5);
        let lookahead_m = speed * self.lookahead_secs + context.radius_m;
        let water = &context.world.water;
        let walls = water.has_guides().then(|| {
            let edge = water.edge_half_m(motion.position_m.y);
            let half = Vec3::new(edge.x, 0.0, edge.y);
            stay_inside_walls(
                motion,
                half,
                water.params.guide_m,
                lookahead_m,
                own.max_force_n,
            )
        });
        // A route over terraces keeps clear of their edges, or leaps over them.
        let terrace = context.world.terrace(context.index);
        let outline = terrace.filter(|_| !context.need_follows_route);
        let edges = outline.and_then(|terrace| {
            let guide = EdgeGuide {
                turn_m: water.params.guide_m + context.radius_m,
                lookahead_m,
                force_n: own.max_force_n,
            };
            stay_inside_outline(motion, terrace.edges(), &guide)
        });
        let walls = match (walls.flatten(), edges) {
            (Some(walls), Some(edges)) => Some(walls + edges),
            (walls, edges) => walls.or(edges),
        };
        let radius_m = context.radius_m + self.clearance_m;
        let corridor = Corridor {
            length_m: clear_m(motion, context.need_goal_m, lookahead_m, radius_m),
            radius_m,
            force_n: own.max_force_n,
            // This includes the force away from the edges of the pool, so that this force does not push the agent
            // against an obstacle.
            need_force: context.need_force_n + walls.unwrap_or_default() * self.weight,
        };
        let around = self.around(context, &corridor, passing);
        let band = match terrace {
            Some(terrace) => terrace.y_range_m(context.radius_m),
            None => water.y_range_m(context.radius_m),
        };
        let floor = stay_in_depth_band(motion, band, lookahead_m * 0.5, own.max_force_n * 0.5);
        let forces = [around, walls, floor];
        forces
            .iter()
            .any(Option::is_some)
            .then(|| Proposal::force(forces.iter().flatten().sum()))
    }
}

/// Returns the length of the corridor that the agent keeps free of obstacles. If the goal lies in the corridor, the
/// corridor ends at the goal. **Source**: Karpowicz 2011, §2.3.3.
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

/// Time in which the agent is assumed to reach the velocity that the active need wants.
const WANTED_WITHIN_SECS: f32 = 0.5;

impl AvoidObstacles {
    /// Returns the force that avoids obstacles. With the avoidance `reynolds` or `orca` it also avoids other agents.
    /// `None` if the agent has nothing to avoid, and with the avoidance `flow`, because flow fields then keep the
    /// agent away from obstacles.
    fn around(
        &self,
        context: &ActionContext<'_>,
        corridor: &Corridor,
        passing: &mut PassingSide,
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
            Avoidance::Hybrid => avoid_solids(motion, corridor, solids, passing),
            Avoidance::Orca => {
                let round = avoid_solids(motion, corridor, solids, passing).unwrap_or_default();
                orca(context, corridor.need_force + round).map(|force| force + round)
            }
        }
    }
}

/// Returns the additional force that, together with the wanted force `wanted_n`, leads to the velocity that
/// reciprocal avoidance allows. `None` if the wanted velocity is allowed.
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
        // An agent that passes above or below this one needs no avoidance.
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
