//! The context in which an agent's actions decide: the world before the tick and what the agent perceives of it.

use glam::Vec3;

use crate::geometry::Solid;
use crate::navigation::FlowFields;
use crate::steering::{FlockRules, Motion};
use crate::world::{Gathering, Random, RandomStream, Species, World};

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
    /// Flocking neighborhoods of the agent's species.
    pub flock: &'a FlockRules,
    /// Radius of the agent.
    pub radius_m: f32,
    /// Other agents and shadows within sight, in a fixed order.
    pub neighbors: &'a [Neighbor],
    /// Indices of the nearby obstacles in the world's list of solids.
    pub near_solids: &'a [u32],
    /// Enemy, prey and food that the agent sees or remembers.
    pub remembered: &'a PerceptionMemory,
    /// Force that the active need wants, in newtons. Zero while the active need itself is being evaluated.
    pub need_force_n: Vec3,
    /// Place that the active need steers to. `None` if it has none, or while the active need itself is being evaluated.
    pub need_goal_m: Option<Vec3>,
    /// Mask of the names that the relations of the evaluated action refer to.
    pub related: u64,
}

impl<'a> ActionContext<'a> {
    /// Cruise speed of the species.
    pub fn cruise_mps(&self) -> f32 {
        self.species.motion.cruise_mps
    }

    /// Mass of the agent. It grows with the cube of the agent's size.
    pub fn mass_kg(&self) -> f32 {
        self.species.body.mass_kg * self.world.agents.size_factors[self.index].powi(3)
    }

    /// Speed to aim for: the speed that this boost would allow, or the currently allowed speed if that is higher.
    pub fn speed_mps(&self, boost: Option<BoostRequest>) -> f32 {
        let motion = &self.species.motion;
        let scale = boost.map_or(0.0, |request| request.scale);
        let requested = motion.cruise_mps + scale * (motion.boost_mps - motion.cruise_mps).max(0.0);
        let allowed = self.world.agents.bodies[self.index].boost.allowed_mps;
        requested.max(allowed)
    }

    /// Nearby obstacles with their indices in the world's list of solids.
    pub fn near_solids(&self) -> impl Iterator<Item = (usize, &'a Solid)> + Clone {
        let solids = &self.world.solids;
        self.near_solids
            .iter()
            .map(move |&index| (index as usize, &solids[index as usize]))
    }

    /// Velocity of a neighbor.
    pub fn velocity_mps(&self, neighbor: &Neighbor) -> Vec3 {
        neighbor_velocity_mps(self.world, self.motion.position_m, neighbor)
    }

    /// Whether a neighbor is within the field of view and not occluded by an obstacle.
    pub fn is_visible(&self, neighbor: &Neighbor) -> bool {
        neighbor.in_view && !is_occluded(self.motion.position_m, neighbor, self.near_solids())
    }

    /// The nearest visible neighbor that has at least one of these names.
    pub fn nearest_visible(&self, names: u64) -> Option<&'a Neighbor> {
        nearest_visible(self.motion.position_m, self.neighbors, names, || {
            self.near_solids()
        })
    }

    /// Id of the agent.
    pub fn id(&self) -> u32 {
        self.world.agents.ids[self.index]
    }

    /// Place where the director wants the agent's species to gather.
    pub fn gathering(&self) -> Option<Gathering> {
        self.world
            .director
            .gathering(self.world.agents.species[self.index])
    }

    /// Key that identifies a neighbor, agent or shadow, for as long as it exists.
    pub fn key_of(&self, neighbor: &Neighbor) -> u32 {
        identity_key(self.world, neighbor)
    }

    /// Random number from −1 to 1 that is constant for this agent and this draw.
    pub fn own_draw(&self, draw: u32) -> f32 {
        let random = Random {
            tick: 0,
            ..self.world.random
        };
        random.signed(self.id(), RandomStream::Companion, draw)
    }

    /// Random number from 0 to 1 for this agent, stream and tick.
    pub fn random(&self, stream: RandomStream) -> f32 {
        let id = self.world.agents.ids[self.index];
        self.world.random.unit(id, stream, 0)
    }
}
