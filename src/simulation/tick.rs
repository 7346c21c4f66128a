//! The tick: all agents decide from the state before the tick, then all move, then catches are resolved.
//!
//! The result depends only on seed, plan and observations, never on the number of threads or the order in which threads
//! compute the agents. In steady operation, a tick allocates no memory.

use glam::Vec3;
use rayon::prelude::*;

use super::Simulation;
use super::description::{SceneDescription, SimulationError};
use super::params::SimulationParams;
use super::plan::PoolPlan;
use super::state::PoolState;
use super::vehicle::{TickRates, advance};
use super::workspace::{AgentMinds, Workspace};
use crate::behavior::{Decision, MindState, MindWorkspace, query_radius_m};
use crate::world::{Body, Observation, World};

impl Simulation {
    /// Creates a pool with its population at random positions.
    ///
    /// # Errors
    /// If the tick rate, the names, the agents, an obstacle or the terraces are invalid, or if the threads cannot be started.
    pub fn new(
        scene: &SceneDescription,
        params: &SimulationParams,
    ) -> Result<Self, SimulationError> {
        let plan = PoolPlan::compile(scene)?;
        let mut simulation = Self::from_parts(plan, PoolState::new(params.seed), params)?;
        let mut living = vec![0; simulation.plan.counts.len()];
        simulation.add_missing(&mut living, &[]);
        simulation.change_rules(&[]);
        simulation.state.reserve_catches();
        simulation
            .workspace
            .prepare(&simulation.plan, &simulation.state);
        Ok(simulation)
    }

    /// Creates a pool from a plan and a state. The caller must then prepare the workspace.
    pub(super) fn from_parts(
        plan: PoolPlan,
        state: PoolState,
        params: &SimulationParams,
    ) -> Result<Self, SimulationError> {
        let tick_hz = params.tick_hz;
        if !(tick_hz.is_finite() && tick_hz > 0.0) {
            return Err(SimulationError::InvalidTickRate { tick_hz });
        }
        Ok(Self {
            plan,
            state,
            workspace: Workspace::new(1.0 / tick_hz, params.threads)?,
            tick_hz,
            search_budget: params.search_budget,
        })
    }

    /// Runs one tick: perceive, decide, find paths, move, resolve catches.
    pub fn run_tick(&mut self, observation: &Observation) {
        self.end_expired_overrides();
        self.workspace.input.visitors.update(observation);
        self.rebuild_grid();
        let (agents, water) = (&self.state.world.agents, &self.plan.world.water);
        let input = &mut self.workspace.input;
        input.shadow_edges.measure(&input.visitors, agents, water);
        let guests = &mut self.workspace.input.guests;
        guests.count(&self.state.world.agents, &self.plan.world.species);
        self.find_starters();
        self.locate_agents();
        self.run_director();
        self.decide();
        self.silence_caught();
        self.find_paths();
        self.move_agents();
        self.let_in();
        self.move_caught();
        self.keep_in_terraces();
        std::mem::swap(
            &mut self.state.world.agents.bodies,
            &mut self.workspace.next_bodies,
        );
        self.resolve_catches();
        self.state.world.random.tick += 1;
    }

    /// Moves the agent at this index to a position with a horizontal heading and cruise speed. Returns `false` and does
    /// nothing if a number is not finite.
    pub fn place(&mut self, index: usize, position_m: Vec3, heading: Vec3) -> bool {
        let Some(heading) = heading.try_normalize().filter(|_| position_m.is_finite()) else {
            return false;
        };
        let agents = &mut self.state.world.agents;
        let species_index = usize::from(agents.species[index]);
        let cruise_mps = self.plan.world.species[species_index].motion.cruise_mps;
        agents.bodies[index] = Body::new(position_m, heading, cruise_mps);
        true
    }

    /// Sorts the agents into the grid for neighbor searches. A cell is as large as the shortest sight radius in the pool; an
    /// agent with a longer sight radius searches more cells.
    fn rebuild_grid(&mut self) {
        let agents = &self.state.world.agents;
        let largest = agents.radii_m.iter().copied().fold(0.0, f32::max);
        let shortest = self
            .plan
            .world
            .species
            .iter()
            .map(|species| query_radius_m(species, largest, species.body.radius_m))
            .fold(f32::MAX, f32::min);
        let bodies = &agents.bodies;
        self.workspace.input.grid.rebuild(
            shortest.clamp(0.05, 100.0),
            agents.len(),
            |agent| bodies[agent].position_m,
            |agent| bodies[agent].forward,
        );
    }

    /// Lists the agents that began a fast start in the last tick.
    fn find_starters(&mut self) {
        let bodies = self.state.world.agents.bodies.iter();
        let starters = &mut self.workspace.input.starters;
        starters.clear();
        starters.extend(
            (0..)
                .zip(bodies)
                .filter_map(|(i, b)| b.start.is_new().then_some(i)),
        );
    }

    /// Lets the mind of every agent decide.
    fn decide(&mut self) {
        let chunk_len = self.workspace.chunk_len();
        let Workspace {
            input,
            override_minds,
            mind_indices,
            decisions,
            thoughts,
            threads,
            ..
        } = &mut self.workspace;
        let minds = AgentMinds {
            of_species: &self.plan.minds,
            of_overrides: override_minds,
            indices: mind_indices,
        };
        let world = World::new(&self.plan.world, &self.state.world, input);
        let fields = &self.plan.fields;
        let states = &mut self.state.minds;
        let think = |start: usize,
                     states: &mut [MindState],
                     decisions: &mut [Decision],
                     thoughts: &mut MindWorkspace| {
            for (offset, (state, decision)) in states.iter_mut().zip(decisions).enumerate() {
                let index = start + offset;
                *decision = minds
                    .get(index)
                    .decide(&world, fields, index, state, thoughts);
            }
        };
        match threads {
            None => {
                for thoughts in thoughts {
                    think(0, states, decisions, thoughts);
                }
            }
            Some(threads) => threads.install(|| {
                states
                    .par_chunks_mut(chunk_len)
                    .zip(decisions.par_chunks_mut(chunk_len))
                    .zip(thoughts.par_iter_mut())
                    .enumerate()
                    .for_each(|(chunk, ((states, decisions), thoughts))| {
                        think(chunk * chunk_len, states, decisions, thoughts);
                    });
            }),
        }
    }

    /// Computes the next body of every agent from its decision.
    fn move_agents(&mut self) {
        let chunk_len = self.workspace.chunk_len();
        let Workspace {
            input,
            decisions,
            next_bodies,
            rates,
            threads,
            ..
        } = &mut self.workspace;
        let world = World::new(&self.plan.world, &self.state.world, input);
        rates.clear();
        let species = world.species.iter();
        rates.extend(species.map(|s| TickRates::new(&s.motion, world.dt_secs)));
        let rates = &*rates;
        let decisions = &*decisions;
        let advance_all = |start: usize, bodies: &mut [Body]| {
            for (offset, body) in bodies.iter_mut().enumerate() {
                let index = start + offset;
                *body = advance(&world, rates, index, &decisions[index]);
            }
        };
        match threads {
            None => advance_all(0, next_bodies),
            Some(threads) => threads.install(|| {
                next_bodies
                    .par_chunks_mut(chunk_len)
                    .enumerate()
                    .for_each(|(chunk, bodies)| advance_all(chunk * chunk_len, bodies));
            }),
        }
    }
}
