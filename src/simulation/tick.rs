//! The simulation: all agents decide from the state before the step, then all move, then what they caught is resolved.
//!
//! The result depends on seed, description and observations alone, never on the order of agents or the number of
//! threads. A steady tick allocates nothing. Holds everything by value between ticks, so that edits can come there.

use glam::Vec3;
use rayon::prelude::*;

use super::change::{Override, PlanChange, size};
use super::description::{SceneDescription, SimulationError};
use super::params::SimulationParams;
use super::plan::PoolPlan;
use super::terraces::Terraces;
use super::vehicle::{Rates, advance, reenter};
use crate::behavior::{
    Decision, Drives, Effect, Mind, MindState, MindWorkspace, NeedEvent, RuleParams, RuleState,
    SetNeedEffect, query_radius_m,
};
use crate::navigation::{FlowFields, GridPlanner};
use crate::world::{
    AgentPose, Agents, Body, Director, NeighborGrid, Observation, Random, Snapshot, SolidIndex,
    Visitors, Water, World, copy_shadow,
};

/// Chunks per thread, so that a crowded corner does not keep the others waiting.
const CHUNKS_PER_THREAD: usize = 4;

/// A living pool.
#[derive(Debug)]
pub struct Simulation {
    pub(super) world: World,
    pub(super) fields: FlowFields,
    /// The minds of the species, then those that single individuals have for a while.
    pub(super) minds: Vec<Mind>,
    /// For every agent which of the minds it has.
    pub(super) mind_of: Vec<u16>,
    pub(super) overrides: Vec<Override>,
    pub(super) states: Vec<MindState>,
    pub(super) decisions: Vec<Decision>,
    pub(super) rules: Vec<RuleParams>,
    pub(super) rule_states: Vec<RuleState>,
    pub(super) revision: u64,
    pub(super) next_id: u32,
    pub(super) moved: Vec<Body>,
    /// By species.
    rates: Vec<Rates>,
    thoughts: Vec<MindWorkspace>,
    pub(super) catches: u64,
    pub(super) meals: u64,
    pub(super) tick_hz: f32,
    threads: Option<rayon::ThreadPool>,
    pub(super) terraces: Terraces,
    pub(super) planner: GridPlanner,
    pub(super) search_budget: u32,
}

impl Simulation {
    /// Makes a pool and puts its population at places of chance.
    ///
    /// # Errors
    /// When names, agents or obstacles are more or other than can be held, or the threads cannot be started.
    pub fn new(
        scene: &SceneDescription,
        params: &SimulationParams,
    ) -> Result<Self, SimulationError> {
        if !(params.tick_hz.is_finite() && params.tick_hz > 0.0) {
            return Err(SimulationError::BrokenTick {
                tick_hz: params.tick_hz,
            });
        }
        let plan = PoolPlan::compile(scene)?;
        let mut simulation = Self {
            world: World {
                water: Water {
                    surface: scene.surface.clone(),
                    params: scene.pool.clone(),
                },
                solids: Vec::new(),
                contact_solids: SolidIndex::default(),
                sight_solids: SolidIndex::default(),
                species: Vec::new(),
                agents: Agents::default(),
                visitors: Visitors::default(),
                visitor_name_bits: 0,
                grid: NeighborGrid::default(),
                random: Random {
                    seed: params.seed,
                    tick: 0,
                },
                dt_secs: 1.0 / params.tick_hz,
                director: Director::default(),
                records_forces: false,
            },
            fields: FlowFields::default(),
            minds: Vec::new(),
            mind_of: Vec::new(),
            overrides: Vec::new(),
            states: Vec::new(),
            decisions: Vec::new(),
            rules: Vec::new(),
            rule_states: Vec::new(),
            revision: 0,
            next_id: 0,
            moved: Vec::new(),
            rates: Vec::new(),
            thoughts: Vec::new(),
            catches: 0,
            meals: 0,
            tick_hz: params.tick_hz,
            threads: thread_pool(params.threads)?,
            terraces: Terraces::default(),
            planner: GridPlanner::default(),
            search_budget: params.search_budget,
        };
        simulation.take_over(PlanChange {
            plan,
            added: Vec::new(),
            removed_ids: Vec::new(),
        });
        simulation.revision = 0;
        Ok(simulation)
    }

    /// Goes one tick on: senses, decides, moves, resolves catches.
    pub fn run_tick(&mut self, observation: &Observation) {
        self.end_overrides();
        self.world.visitors.update(observation);
        let cell_m = self.cell_m();
        let agents = &self.world.agents;
        let bodies = &agents.bodies;
        self.world.grid.rebuild(
            cell_m,
            agents.len(),
            |agent| bodies[agent].position_m,
            |agent| bodies[agent].forward,
        );
        self.direct();
        self.decide();
        self.find_ways();
        self.advance();
        self.keep_terraces();
        std::mem::swap(&mut self.world.agents.bodies, &mut self.moved);
        self.resolve_catches();
        self.world.random.tick += 1;
    }

    /// Ticks since the start.
    pub fn tick(&self) -> u64 {
        self.world.random.tick
    }

    /// `tick` times the fixed time step.
    pub fn time_secs(&self) -> f64 {
        self.tick() as f64 / f64::from(self.tick_hz)
    }

    /// The fixed time step.
    pub fn dt_secs(&self) -> f64 {
        f64::from(self.world.dt_secs)
    }

    /// How many times the pool was changed while it lived.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The state, to look at.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// What the agent at this index has decided in the last tick.
    pub fn decision(&self, index: usize) -> &Decision {
        &self.decisions[index]
    }

    /// Hunger, fear and libido of the agent at this index.
    pub fn drives(&self, index: usize) -> &Drives {
        self.states[index].drives()
    }

    /// Number of meals since the start: food that was eaten without a hunt.
    pub fn meals(&self) -> u64 {
        self.meals
    }

    /// Number of catches since the start.
    pub fn catches(&self) -> u64 {
        self.catches
    }

    /// Number of times that an agent's state was not finite and was put back, over all agents.
    pub fn quarantine_count(&self) -> u64 {
        let bodies = &self.world.agents.bodies;
        bodies
            .iter()
            .map(|body| u64::from(body.quarantine_count))
            .sum()
    }

    /// Sets the variable of a `limit_based` need of all individuals of a species, as the director does; false where
    /// there is no such species or need.
    pub fn set_need(&mut self, species: &str, need: &str, value: f32) -> bool {
        self.apply_effect(&Effect::SetNeed(SetNeedEffect {
            species: vec![species.into()],
            need: need.into(),
            value,
        }))
    }

    /// Puts the agent at this index to a place and a level heading, cruising; false where a number is not finite.
    pub fn place(&mut self, index: usize, position_m: Vec3, heading: Vec3) -> bool {
        let Some(heading) = heading.try_normalize().filter(|_| position_m.is_finite()) else {
            return false;
        };
        let kind = usize::from(self.world.agents.species[index]);
        let cruise_mps = self.world.species[kind].motion.cruise_mps;
        self.world.agents.bodies[index] = Body::new(position_m, heading, cruise_mps);
        true
    }

    /// Name of the need that was active for the agent at this index in the last tick; empty when only the standard need was.
    pub fn active_need(&self, index: usize) -> &str {
        let mind = &self.minds[usize::from(self.mind_of[index])];
        self.decisions[index]
            .need
            .map_or("", |place| mind.need_name(place))
    }

    /// Names of the actions that the agent at this index executed in the last tick.
    pub fn active_actions(&self, index: usize) -> impl Iterator<Item = &str> {
        let mind = &self.minds[usize::from(self.mind_of[index])];
        mind.action_names(self.decisions[index].actions)
    }

    /// Fills a snapshot in place.
    pub fn snapshot(&self, snapshot: &mut Snapshot) {
        snapshot.tick = self.tick();
        snapshot.time_secs = self.time_secs();
        snapshot.revision = self.revision;
        snapshot.agents.clear();
        let agents = &self.world.agents;
        snapshot.agents.extend((0..agents.len()).map(|index| {
            let body = &agents.bodies[index];
            let motion = &self.world.species[usize::from(agents.species[index])].motion;
            let range = (motion.boost_mps - motion.cruise_mps).max(1e-6);
            let boost = (body.boost.allowed_mps - motion.cruise_mps) / range;
            AgentPose {
                id: agents.ids[index],
                species: self.world.species[usize::from(agents.species[index])].base_species,
                position_m: body.position_m,
                forward: body.forward,
                up: body.up,
                velocity_mps: body.velocity_mps,
                turn_rate_rps: body.turn_rate_rps,
                acceleration_mps2: body.acceleration_mps2,
                boost: boost.clamp(0.0, 1.0),
                radius_m: agents.radii_m[index],
                teleported: body.teleported,
            }
        }));
        snapshot.splashes.clone_from(&self.terraces.splashes);
        let shadows = &self.world.visitors.shadows;
        snapshot.shadows.truncate(shadows.len());
        for (place, shadow) in shadows.iter().enumerate() {
            match snapshot.shadows.get_mut(place) {
                Some(kept) => copy_shadow(kept, shadow),
                None => snapshot.shadows.push(shadow.clone()),
            }
        }
    }

    /// Lets one more of a species in: at a place, or by chance; in sight only while the pool is made.
    pub(super) fn spawn(&mut self, kind: u16, place_m: Option<Vec3>) {
        let species = &self.world.species[usize::from(kind)];
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        let random = self.world.random;
        let size = size(species.body.size_spread, random.seed, id);
        let radius_m = species.body.radius_m * size;
        let (water, solids) = (&self.world.water, &self.world.solids);
        let (mut at, heading) = if random.tick == 0 || place_m.is_some() {
            water.random_visible_pose(solids, radius_m, random, id)
        } else {
            let length_m = species.body.length_m * size;
            water.random_hidden_pose(solids, (radius_m, length_m), random, id)
        };
        if let Some(place) = place_m {
            let (low, high) = water.y_range_m(radius_m);
            let y = place.y.clamp(low, high);
            let edge = water.edge_half_m(y);
            let place = Vec3::new(
                place.x.clamp(-edge.x, edge.x),
                y,
                place.z.clamp(-edge.y, edge.y),
            );
            // In a rock there is no place; then it starts where chance says.
            if solids.iter().all(|s| s.signed_distance_m(place) > 0.0) {
                at = place;
            }
        }
        let agents = &mut self.world.agents;
        agents.ids.push(id);
        agents.species.push(kind);
        agents.name_bits.push(species.name_bits);
        agents.size_factors.push(size);
        agents.radii_m.push(radius_m);
        agents
            .bodies
            .push(Body::new(at, heading, species.motion.cruise_mps));
        self.states
            .push(self.minds[usize::from(kind)].state(random, id));
    }

    /// Makes room for thinking and moving, so that no tick has to.
    pub(super) fn make_room(&mut self) {
        let count = self.world.agents.len();
        self.decisions.resize(count, Decision::default());
        self.moved.clone_from(&self.world.agents.bodies);
        let threads = self
            .threads
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads);
        let chunks = if threads == 1 {
            1
        } else {
            threads * CHUNKS_PER_THREAD
        };
        let solids = self.world.solids.len();
        self.thoughts.resize_with(chunks, MindWorkspace::default);
        self.thoughts
            .iter_mut()
            .for_each(|thoughts| thoughts.reserve_for(count, solids));
    }

    fn decide(&mut self) {
        let (world, minds, mind_of) = (&self.world, &self.minds, &self.mind_of);
        let fields = &self.fields;
        let chunk = world.agents.len().div_ceil(self.thoughts.len()).max(1);
        let think = |start: usize,
                     states: &mut [MindState],
                     decisions: &mut [Decision],
                     thoughts: &mut MindWorkspace| {
            for (offset, (state, decision)) in states.iter_mut().zip(decisions).enumerate() {
                let index = start + offset;
                let mind = &minds[usize::from(mind_of[index])];
                *decision = mind.decide(world, fields, index, state, thoughts);
            }
        };
        match &self.threads {
            None => {
                for thoughts in &mut self.thoughts {
                    think(0, &mut self.states, &mut self.decisions, thoughts);
                }
            }
            Some(pool) => {
                let (states, decisions) = (&mut self.states, &mut self.decisions);
                let thoughts = &mut self.thoughts;
                pool.install(|| {
                    states
                        .par_chunks_mut(chunk)
                        .zip(decisions.par_chunks_mut(chunk))
                        .zip(thoughts.par_iter_mut())
                        .enumerate()
                        .for_each(|(place, ((states, decisions), thoughts))| {
                            think(place * chunk, states, decisions, thoughts);
                        });
                });
            }
        }
    }

    fn advance(&mut self) {
        let (world, decisions) = (&self.world, &self.decisions);
        self.rates.clear();
        let rates = world
            .species
            .iter()
            .map(|s| Rates::new(&s.motion, world.dt_secs));
        self.rates.extend(rates);
        let rates = &self.rates;
        let chunk = world.agents.len().div_ceil(self.thoughts.len()).max(1);
        let go = |start: usize, moved: &mut [Body]| {
            for (offset, body) in moved.iter_mut().enumerate() {
                *body = advance(world, rates, start + offset, &decisions[start + offset]);
            }
        };
        match &self.threads {
            None => go(0, &mut self.moved),
            Some(pool) => {
                let moved = &mut self.moved;
                pool.install(|| {
                    moved
                        .par_chunks_mut(chunk)
                        .enumerate()
                        .for_each(|(place, moved)| go(place * chunk, moved));
                });
            }
        }
    }

    /// Takes out what was caught and lets it come back in elsewhere, out of sight. Of several hunters of one prey the
    /// first in order has it.
    fn resolve_catches(&mut self) {
        for hunter in 0..self.decisions.len() {
            let event = self.decisions[hunter]
                .proposal
                .event
                .unwrap_or(NeedEvent::Nothing);
            if self.decisions[hunter].proposal.catch.is_none() && event != NeedEvent::Nothing {
                let mind = usize::from(self.mind_of[hunter]);
                self.minds[mind].apply_event(&mut self.states[hunter], event);
            }
            let Some(prey) = self.decisions[hunter]
                .proposal
                .catch
                .map(|prey| prey as usize)
            else {
                continue;
            };
            if prey >= self.world.agents.len() || self.is_taken(prey, hunter) {
                continue;
            }
            if event == NeedEvent::Meal {
                self.meals += 1;
            } else {
                self.catches += 1;
            }
            let mind = usize::from(self.mind_of[hunter]);
            self.minds[mind].apply_event(&mut self.states[hunter], event);
            let agents = &self.world.agents;
            let species = &self.world.species[usize::from(agents.species[prey])];
            let size_m = (
                agents.radii_m[prey],
                species.body.length_m * agents.size_factors[prey],
            );
            let mut body = agents.bodies[prey];
            reenter(&self.world, &mut body, species, size_m, agents.ids[prey]);
            self.world.agents.bodies[prey] = body;
        }
    }

    fn is_taken(&self, prey: usize, by: usize) -> bool {
        let taken = Some(prey as u32);
        self.decisions[..by]
            .iter()
            .any(|decision| decision.proposal.catch == taken)
    }

    /// Cells as large as the shortest sight in the pool: whoever sees farther asks more of them.
    fn cell_m(&self) -> f32 {
        let world = &self.world;
        let largest = world.agents.radii_m.iter().copied().fold(0.0, f32::max);
        let shortest = world
            .species
            .iter()
            .map(|species| query_radius_m(species, largest, species.body.radius_m))
            .fold(f32::MAX, f32::min);
        shortest.clamp(0.05, 100.0)
    }
}

fn thread_pool(threads: u16) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .thread_name(|place| format!("simulation-{place}"))
        .build()
        .map(Some)
        .map_err(|error| SimulationError::Threads {
            threads,
            reason: error.to_string(),
        })
}
