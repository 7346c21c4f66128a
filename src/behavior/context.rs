//! The context in which an agent's actions decide: the world before the tick and the part of it that the agent
//! perceives.

use glam::Vec3;

use crate::geometry::{Hull, Solid, SurfaceKind};
use crate::navigation::FlowFields;
use crate::steering::{EdgeCrossing, FlockRules, Motion, OtherVehicle, Tube};
use crate::world::{Gathering, HIDDEN_LENGTHS, Random, RandomStream, Species, World};

use super::perception::{
    Neighbor, identity_key, is_occluded, nearest_visible, neighbor_velocity_mps,
};
use super::perception_memory::PerceptionMemory;
use super::proposal::BoostRequest;

/// All inputs that an action may read to decide for one agent.
#[derive(Clone, Copy, Debug)]
pub struct ActionContext<'a> {
    /// State of the world before the tick.
    pub world: &'a World<'a>,
    /// Flow fields of the scene.
    pub fields: &'a FlowFields,
    /// Index of the deciding agent in the world's list of agents.
    pub index: usize,
    /// Position, velocity and orientation of the agent.
    pub motion: Motion,
    /// Species of the agent.
    pub species: &'a Species,
    /// Rules of the agent's species that say which neighbors count for flocking.
    pub flock: &'a FlockRules,
    /// Radius of the agent.
    pub radius_m: f32,
    /// The room that the body of the agent takes.
    pub hull: Hull,
    /// Other agents and shadows within sight, in a fixed order.
    pub neighbors: &'a [Neighbor],
    /// Indices of the nearby obstacles in the world's list of solids.
    pub near_solids: &'a [u32],
    /// Enemy, prey and food that the agent sees or remembers.
    pub remembered: &'a PerceptionMemory,
    /// Force that the active need wants, in newtons. Zero until the active need has decided.
    pub need_force_n: Vec3,
    /// Position that the active need steers to. `None` if the need has no such position, or until the need has
    /// decided.
    pub need_goal_m: Option<Vec3>,
    /// Whether the active need follows a planned route. `false` until the need has decided.
    pub need_follows_route: bool,
    /// Whether the agent escapes from a place that holds it. `false` until the active need has decided.
    pub need_escapes: bool,
    /// Whether the active need lets the agent lie on the ground. `false` until the need has decided.
    pub need_lies: bool,
    /// Shortest time for which an action of the need that is being evaluated acts.
    pub least_secs: f32,
    /// Mask of the names in the relations of the action that is being evaluated.
    pub related: u64,
}

impl<'a> ActionContext<'a> {
    /// Returns the cruise speed of the species.
    pub fn cruise_mps(&self) -> f32 {
        self.species.motion.cruise_mps
    }

    /// Returns the mass of the agent. The mass grows with the cube of the agent's size factor.
    pub fn mass_kg(&self) -> f32 {
        self.species.body.mass_kg * self.world.agents.size_factors[self.index].powi(3)
    }

    /// Returns the speed to aim for: the speed that `boost` allows, or the currently allowed speed if that is higher.
    pub fn speed_mps(&self, boost: Option<BoostRequest>) -> f32 {
        let motion = &self.species.motion;
        let scale = boost.map_or(0.0, |request| request.scale);
        let requested = motion.cruise_mps + scale * (motion.boost_mps - motion.cruise_mps).max(0.0);
        let allowed = self.world.agents.bodies[self.index].boost.allowed_mps;
        requested.max(allowed)
    }

    /// Returns the nearby obstacles, each with its index in the world's list of solids.
    pub fn near_solids(&self) -> impl Iterator<Item = (usize, &'a Solid)> + Clone {
        let solids = &self.world.solids;
        self.near_solids
            .iter()
            .map(move |&index| (index as usize, &solids[index as usize]))
    }

    /// Returns the nearby obstacles that the agent has to go round: all, except those that a walking agent climbs over.
    pub fn solids_in_the_way(&self) -> impl Iterator<Item = (usize, &'a Solid)> + Clone {
        let motion = &self.species.motion;
        let water = self.world.water;
        let up = water.world_from_level(Vec3::Y);
        let climb_to_m = if motion.walks() {
            let (at, margin_m) = (self.motion.position_m, self.species.margin_m);
            let above_m = water.above_ground_m(at, self.radius_m, margin_m);
            at.dot(up) - above_m - self.radius_m + motion.walk.climb_m
        } else {
            f32::NEG_INFINITY
        };
        self.near_solids().filter(move |(_, solid)| {
            climb_to_m == f32::NEG_INFINITY || solid.top_m(up) > climb_to_m
        })
    }

    /// Whether a neighbor is in the same water as the agent, so that both can swim to each other. A flying agent is in no
    /// water.
    pub fn shares_water(&self, neighbor: &Neighbor) -> bool {
        let terraces = &self.world.terraces;
        match terraces.get(neighbor.agent as usize) {
            Some(terrace) => *terrace == terraces[self.index],
            None => true,
        }
    }

    /// Whether a position is in the same water as the agent; always true in a pool without terraces.
    pub fn is_in_own_water(&self, at: Vec3) -> bool {
        let own = self.world.terraces.get(self.index).copied();
        own.is_none_or(|own| self.world.water.terrace_at(at) == Some(own))
    }

    /// Whether a neighbor attends a visitor or another agent that attracts it.
    pub fn attends_something(&self, neighbor: &Neighbor) -> bool {
        let body = self.world.agents.bodies.get(neighbor.agent as usize);
        body.is_some_and(|body| body.intent.attends.is_some())
    }

    /// Returns the velocity of a neighbor.
    pub fn velocity_mps(&self, neighbor: &Neighbor) -> Vec3 {
        neighbor_velocity_mps(self.world, self.motion.position_m, neighbor)
    }

    /// Whether a neighbor is within the field of view and not occluded by an obstacle.
    pub fn is_visible(&self, neighbor: &Neighbor) -> bool {
        neighbor.in_view && !is_occluded(self.motion.position_m, neighbor, self.near_solids())
    }

    /// Returns position, velocity and heading of a neighbor.
    pub fn vehicle(&self, neighbor: &Neighbor) -> OtherVehicle {
        OtherVehicle {
            position_m: self.motion.position_m + neighbor.offset_m,
            velocity_mps: self.velocity_mps(neighbor),
            forward: neighbor.forward,
        }
    }

    /// Returns the path of the scene with this name; `None` if there is none.
    pub fn path(&self, name: &str) -> Option<Tube<'a>> {
        let path = self.world.paths.iter().find(|path| path.name == name)?;
        Some(Tube {
            points_m: &path.points_m,
            radius_m: path.radius_m,
            is_closed: path.is_closed,
        })
    }

    /// Returns the nearest visible neighbor that has at least one of the names in the mask `names`.
    pub fn nearest_visible(&self, names: u64) -> Option<&'a Neighbor> {
        nearest_visible(self.motion.position_m, self.neighbors, names, || {
            self.near_solids()
        })
    }

    /// Returns the id of the agent.
    pub fn id(&self) -> u32 {
        self.world.agents.ids[self.index]
    }

    /// Returns the point where the director lets the agent gather. `None` if there is no such point.
    pub fn gathering(&self) -> Option<Gathering> {
        self.world
            .director
            .gathering(self.world.agents.species[self.index], self.id())
    }

    /// Returns how the agent crosses the edges of the picture; `None` if it is a species that stays inside.
    pub fn crossing(&self) -> Option<EdgeCrossing> {
        let water = self.world.water;
        let length_m = self.species.body.span_m() * self.world.agents.size_factors[self.index];
        let margin_m = self.species.margin_m;
        if margin_m < water.params.leaving_margin_m(length_m) {
            return None;
        }
        let mut half_m = water.visible_half_m(self.motion.position_m.y);
        let goes_to = self.gathering().map(|gathering| gathering.point_m);
        let leaves = goes_to.is_some_and(|to| to.x.abs() > half_m.x || to.z.abs() > half_m.y);
        // In a picture on a wall, fish leave to the left and right only.
        if water.surface.kind == SurfaceKind::Wall {
            half_m.y = f32::INFINITY;
        }
        Some(EdgeCrossing {
            half_m,
            turn_m: (margin_m - water.params.guide_m).max(length_m * HIDDEN_LENGTHS),
            leaves,
        })
    }

    /// Returns a key that identifies a neighbor (agent or shadow) for as long as that neighbor exists.
    pub fn key_of(&self, neighbor: &Neighbor) -> u32 {
        identity_key(self.world, neighbor)
    }

    /// Returns a random number from −1 to 1. It depends only on the agent and on the number `draw`, not on the tick.
    pub fn own_draw(&self, draw: u32) -> f32 {
        let random = Random {
            tick: 0,
            ..self.world.random
        };
        random.signed(self.id(), RandomStream::Companion, draw)
    }

    /// Returns a random number from 0 to 1. It depends on the agent, the stream and the tick.
    pub fn random(&self, stream: RandomStream) -> f32 {
        let id = self.world.agents.ids[self.index];
        self.world.random.unit(id, stream, 0)
    }
}
