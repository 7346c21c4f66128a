//! `shadow_follow`: the agent swims along with a walking visitor, at a distance from the visitor's shadow.

use glam::Vec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::behavior::action::Action;
use crate::behavior::context::ActionContext;
use crate::behavior::proposal::Proposal;
use crate::steering::arrive;
use crate::world::{ShadowAtDepth, circle_at_depth};

/// Swims beside the nearest moving visitor, at a distance from the edge of the visitor's shadow. Can be executed
/// while a moving shadow is within reach. Standing visitors are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShadowFollow {
    /// Factor on the steering force; 0 switches the action off. Higher: wins against other actions that act at the same time, and
    /// turns the agent faster, up to its largest force. Lower: gives way to other actions, and the agent follows slowly.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub weight: f32,
    /// Distance to keep from the edge of the shadow. If the species also has `evade_shadow`, use more than its flee distance here;
    /// otherwise the agent flees before it reaches this distance. Higher: escorts the visitor from afar. Lower: swims close beside
    /// the feet.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub distance_m: f32,
    /// Distance from the edge of the shadow within which the agent notices the visitor. Higher: many agents come, also from far
    /// away. Lower: only those that the visitor passes.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub reach_m: f32,
    /// Speed of the shadow on the water surface above which a visitor counts as moving. Higher: follows only fast walkers. Lower:
    /// also follows visitors who only shift their weight.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub walking_mps: f32,
    /// Time by which the agent aims ahead of the moving shadow. Higher: swims ahead of the visitor and cuts corners. Lower: falls
    /// behind.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub lead_secs: f32,
    /// Distance from its goal beside the shadow within which the agent slows down. Higher: brakes early and drifts softly into its
    /// place. Lower: comes fast, then brakes late and abruptly.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub slowing_m: f32,
}

impl Default for ShadowFollow {
    fn default() -> Self {
        Self {
            weight: 1.0,
            distance_m: 0.6,
            reach_m: 2.5,
            walking_mps: 0.15,
            lead_secs: 0.5,
            slowing_m: 0.3,
        }
    }
}

impl ShadowFollow {
    /// Returns the nearest moving shadow within reach, projected to the agent's depth, and its velocity at that
    /// depth. `None` if there is no such shadow.
    fn nearest(&self, context: &ActionContext<'_>) -> Option<(ShadowAtDepth, Vec2)> {
        let at = context.motion.position_m;
        let scale = context.world.water.scale(at.y);
        let mut nearest: Option<(ShadowAtDepth, Vec2)> = None;
        for shadow in &context.world.visitors.shadows {
            if shadow.velocity_mps.length() < self.walking_mps {
                continue;
            }
            let seen = circle_at_depth(shadow, at, context.hull, scale);
            let limit = nearest.map_or(self.reach_m, |(found, _)| found.distance_m);
            if seen.distance_m < limit {
                nearest = Some((seen, shadow.velocity_mps * scale));
            }
        }
        nearest
    }
}

impl Action for ShadowFollow {
    type Memory = ();

    fn propose(&self, context: &ActionContext<'_>, _: &mut ()) -> Option<Proposal> {
        let (shadow, velocity) = self.nearest(context)?;
        let too_far_m = shadow.distance_m - self.distance_m;
        let beside_m = context.motion.position_m - shadow.away * too_far_m;
        let lead = velocity * self.lead_secs;
        let aim_m = beside_m + glam::Vec3::new(lead.x, 0.0, lead.y);
        let speed = context.speed_mps(None);
        arrive(&context.motion, aim_m, speed, self.slowing_m).map(Proposal::force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;
    use crate::geometry::Visitor;
    use crate::steering::Motion;
    use crate::world::{
        Agents, Body, Director, Guests, NeighborGrid, Observation, PoolParams, Random, ShadowEdges,
        Species, TickInput, Visitors, Water, World, WorldPlan, WorldState,
    };
    use glam::Vec3;

    const EYE_M: f32 = 4.0;
    const DEPTH_M: f32 = 1.0;
    const RADIUS_M: f32 = 0.1;

    /// Returns a world with one fish in the middle of the pool, 1 m deep. At this depth shadows are 5/4 as wide as on
    /// the surface.
    fn world(shadows: &[(Vec2, Vec2)]) -> (WorldPlan, WorldState, TickInput) {
        let mut visitors = Visitors::default();
        let each = shadows.iter().zip(1..);
        visitors.update(&Observation {
            time_secs: 0.0,
            shadows: each
                .map(|((at, velocity_mps), id)| Visitor {
                    id,
                    centroid_m: *at,
                    foot_m: *at,
                    radius_m: 0.2,
                    velocity_mps: *velocity_mps,
                    area_m2: 0.13,
                    age_secs: 1.0,
                    ..Visitor::default()
                })
                .collect(),
        });
        let species = Species {
            name: "fish".into(),
            species_bit: 1,
            name_bits: 1,
            ..Species::default()
        };
        let plan = WorldPlan {
            water: Water {
                surface: Surface {
                    eye_height_m: EYE_M,
                    ..Surface::default()
                },
                params: PoolParams::default(),
            },
            solids: Vec::new(),
            contact_solids: Default::default(),
            sight_solids: Default::default(),
            paths: vec![],
            barriers: vec![],
            species: vec![species],
            visitor_name_bits: 2,
        };
        let state = WorldState {
            presence: crate::world::Presence::default(),
            agents: Agents {
                ids: vec![0],
                species: vec![0],
                name_bits: vec![1],
                size_factors: vec![1.0],
                radii_m: vec![RADIUS_M],
                half_widths_m: vec![RADIUS_M],
                bodies: vec![Body::new(Vec3::new(0.0, -DEPTH_M, 0.0), Vec3::X, 0.0)],
            },
            director: Director::default(),
            random: Random { seed: 1, tick: 0 },
        };
        let input = TickInput {
            visitors,
            shadow_edges: ShadowEdges::default(),
            grid: NeighborGrid::default(),
            guests: Guests::default(),
            starters: Vec::new(),
            terraces: Vec::new(),
            dt_secs: 1.0 / 60.0,
            records_forces: false,
        };
        (plan, state, input)
    }

    fn force(
        action: &ShadowFollow,
        (plan, state, input): &(WorldPlan, WorldState, TickInput),
    ) -> Option<Vec3> {
        let world = &World::new(plan, state, input);
        let body = &world.agents.bodies[0];
        let flock = crate::behavior::schooling::flock_rules(&world.species[0], None);
        let fields = crate::navigation::FlowFields::default();
        let context = ActionContext {
            world,
            fields: &fields,
            index: 0,
            motion: Motion {
                position_m: body.position_m,
                velocity_mps: body.velocity_mps,
                forward: body.forward,
                up: body.up,
            },
            species: &world.species[0],
            flock: &flock,
            radius_m: RADIUS_M,
            hull: crate::geometry::Hull::from(RADIUS_M),
            neighbors: &[],
            near_solids: &[],
            remembered: &crate::behavior::perception_memory::PerceptionMemory::default(),
            need_force_n: Vec3::ZERO,
            need_goal_m: None,
            need_follows_route: false,
            need_escapes: false,
            need_lies: false,
            least_secs: 0.0,
            related: 0,
        };
        action
            .propose(&context, &mut ())
            .map(|proposal| proposal.force)
    }

    /// Returns the distance between a shadow's center and the middle of the surface for which the shadow's edge, at
    /// the fish's depth, is `distance_m` from the fish's hull.
    fn at_distance(distance_m: f32) -> f32 {
        let scale = (EYE_M + DEPTH_M) / EYE_M;
        (distance_m + RADIUS_M) / scale + 0.2
    }

    fn without_lead() -> ShadowFollow {
        ShadowFollow {
            lead_secs: 0.0,
            ..ShadowFollow::default()
        }
    }

    #[test]
    fn approaches_and_keeps_its_distance() {
        let action = without_lead();
        let walking = Vec2::new(0.0, 0.5);
        for (distance_m, sign) in [(2.0, 1.0), (0.2, -1.0)] {
            let world = world(&[(Vec2::new(at_distance(distance_m), 0.0), walking)]);
            let force = force(&action, &world).unwrap();
            assert!(force.x * sign > 0.1, "at {distance_m} m: {force}");
            assert!(force.y.abs() < 1e-6 && force.z.abs() < 1e-5, "{force}");
        }
        let there = world(&[(Vec2::new(at_distance(action.distance_m), 0.0), walking)]);
        let force = force(&action, &there).unwrap();
        assert!(
            force.length() < 1e-4,
            "no force at the wanted distance: {force}"
        );
    }

    #[test]
    fn aims_ahead_of_a_walking_visitor() {
        let action = ShadowFollow::default();
        let place = Vec2::new(at_distance(action.distance_m), 0.0);
        let world = world(&[(place, Vec2::new(0.0, 0.5))]);
        let force = force(&action, &world).unwrap();
        assert!(force.z > 0.1 && force.x.abs() < 1e-4, "{force}");
    }

    #[test]
    fn ignores_standing_and_distant_visitors() {
        let action = without_lead();
        let near = Vec2::new(at_distance(1.0), 0.0);
        let slow = Vec2::X * (action.walking_mps * 0.9);
        assert_eq!(force(&action, &world(&[(near, slow)])), None);
        let far = Vec2::new(at_distance(action.reach_m * 1.01), 0.0);
        assert_eq!(force(&action, &world(&[(far, Vec2::X)])), None);
        assert_eq!(force(&action, &world(&[])), None);
    }

    #[test]
    fn follows_the_nearest_moving_visitor() {
        let action = without_lead();
        let world = world(&[
            (Vec2::new(at_distance(2.2), 0.0), Vec2::Y),
            (Vec2::new(-at_distance(1.5), 0.0), Vec2::Y),
            (Vec2::new(0.0, at_distance(0.1)), Vec2::ZERO),
        ]);
        let force = force(&action, &world).unwrap();
        assert!(force.x < -0.1 && force.z.abs() < 1e-5, "{force}");
    }

    #[test]
    fn force_is_finite_exactly_under_the_shadow_center() {
        let world = world(&[(Vec2::ZERO, Vec2::X)]);
        let force = force(&ShadowFollow::default(), &world).unwrap();
        assert!(force.is_finite());
    }
}
