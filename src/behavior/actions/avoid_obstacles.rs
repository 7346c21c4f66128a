//! `avoid_obstacles`: the agent steers around obstacles ahead.

use glam::{Vec2, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::{Action, Capabilities};
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::geometry::SurfaceKind;
use crate::steering::{
    Corridor, EdgeGuide, Motion, PassingSide, avoid_solids, cross_edges, stay_in_depth_band,
    stay_inside_outline, stay_inside_walls,
};

/// Steers around obstacles and away from the edges of the pool, the water surface and the ground before the agent
/// touches them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AvoidObstacles {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Time that the agent looks ahead. Higher: turns early, in wide curves far from stones and edges. Lower: turns late and close
    /// to the obstacle.
    #[schemars(range(min = 0.0, max = 60.0))]
    pub lookahead_secs: f32,
    /// Distance to keep between the hull and an obstacle. Higher: swims around stones with a clear gap, and avoids narrow gaps
    /// between them. Lower: swims closely along stones and through narrow gaps.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub clearance_m: f32,
}

impl Default for AvoidObstacles {
    fn default() -> Self {
        Self {
            weight: 1.0,
            lookahead_secs: 1.2,
            clearance_m: 0.05,
        }
    }
}

impl Action for AvoidObstacles {
    /// The side on which the agent passes the nearest obstacle.
    type Memory = PassingSide;

    const CAPABILITIES: Capabilities = Capabilities {
        only_avoids: true,
        ..Capabilities::NONE
    };

    fn propose(&self, context: &ActionContext<'_>, passing: &mut PassingSide) -> Option<Proposal> {
        let motion = &context.motion;
        let own = &context.species.motion;
        let speed = motion.velocity_mps.length().max(own.cruise_mps * 0.5);
        let lookahead_m = speed * self.lookahead_secs + context.radius_m;
        let height_m = context.hull.reach_m(Vec3::Y);
        let water = &context.world.water;
        let terrace = context.world.terrace(context.index);
        let band = match terrace {
            Some(terrace) => terrace.y_range_m(height_m),
            None => water.y_range_m(height_m),
        };
        let lies = context.need_lies || own.walks();
        let floor = (!lies)
            .then(|| stay_in_depth_band(motion, band, lookahead_m * 0.5, own.max_force_n * 0.5))
            .flatten();
        // An escape leads through open water. What turns the agent from one side of a pocket to the other is what holds it there.
        if context.need_escapes {
            return floor.map(Proposal::force);
        }
        let walls = water.has_guides().then(|| {
            let crossing = context.crossing();
            let crossed = crossing.map_or(Vec2::INFINITY, |crossing| crossing.half_m);
            let edge = water.edge_half_m(motion.position_m.y, context.species.margin_m);
            let mut edge = Vec2::select(crossed.cmplt(Vec2::INFINITY), Vec2::MAX, edge);
            if lies && water.surface.kind == SurfaceKind::Wall {
                edge.y = f32::MAX;
            }
            let half = Vec3::new(edge.x, 0.0, edge.y);
            let stay = stay_inside_walls(
                motion,
                half,
                water.params.guide_m,
                lookahead_m,
                own.max_force_n,
            );
            let cross =
                crossing.and_then(|crossing| cross_edges(motion, &crossing, own.max_force_n));
            match (stay, cross) {
                (Some(stay), Some(cross)) => Some(stay + cross),
                (stay, cross) => stay.or(cross),
            }
        });
        // A route over terraces keeps clear of their edges, or leaps over them.
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
        let hull = context.hull.grown(self.clearance_m);
        let corridor = Corridor {
            length_m: clear_m(motion, context.need_goal_m, lookahead_m, hull.radius_m),
            hull,
            force_n: own.max_force_n,
            // This includes the force away from the edges of the pool, so that this force does not push the agent
            // against an obstacle.
            need_force: context.need_force_n + walls.unwrap_or_default() * self.weight,
        };
        let around = avoid_solids(motion, &corridor, context.solids_in_the_way(), passing);
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
