//! Scratch memory of the tick. It is not saved, because all of it is filled in from plan and state.

use super::description::SimulationError;
use super::plan::PoolPlan;
use super::state::PoolState;
use super::terraces::PathScratch;
use super::vehicle::TickRates;
use crate::behavior::{Decision, Mind, MindWorkspace};
use crate::world::{Body, TickInput};

/// Chunks of agents per thread. With several chunks per thread, an idle thread can help a busy one.
const CHUNKS_PER_THREAD: usize = 4;

/// Memory and threads of the tick. The memory is reserved between ticks, so that a tick in steady operation does not allocate.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) input: TickInput,
    /// Compiled mind of each override.
    pub(super) override_minds: Vec<Mind>,
    /// Index of each agent's mind. Indices count the minds of the plan first, then those of the overrides.
    pub(super) mind_indices: Vec<u16>,
    /// Decision of each agent in the current tick; between two ticks, in the last tick.
    pub(super) decisions: Vec<Decision>,
    /// Bodies after the current tick.
    pub(super) next_bodies: Vec<Body>,
    /// Motion limits of each species for one tick.
    pub(super) rates: Vec<TickRates>,
    /// Scratch memory of the minds, one for each chunk of agents.
    pub(super) thoughts: Vec<MindWorkspace>,
    pub(super) paths: PathScratch,
    /// Threads of the tick; `None` if the tick runs on the calling thread.
    pub(super) threads: Option<rayon::ThreadPool>,
}

impl Workspace {
    /// An empty workspace with its threads.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub(super) fn new(dt_secs: f32, threads: u16) -> Result<Self, SimulationError> {
        Ok(Self {
            input: TickInput {
                dt_secs,
                ..TickInput::default()
            },
            override_minds: Vec::new(),
            mind_indices: Vec::new(),
            decisions: Vec::new(),
            next_bodies: Vec::new(),
            rates: Vec::new(),
            thoughts: Vec::new(),
            paths: PathScratch::default(),
            threads: thread_pool(threads)?,
        })
    }

    /// Adapts the workspace to the agents and minds of a state and reserves its memory, so that ticks do not allocate.
    pub(super) fn prepare(&mut self, plan: &PoolPlan, state: &PoolState) {
        self.assign_minds(plan, state);
        let agents = &state.world.agents;
        self.decisions.resize(agents.len(), Decision::default());
        self.next_bodies.clone_from(&agents.bodies);
        self.input.grid.reserve(agents.len());
        self.input.shadow_edges.reserve(agents.len());
        let species = plan.world.species.len();
        self.input.guests.reserve(agents.len(), species);
        self.input.starters.clear();
        self.input.starters.reserve(agents.len());
        self.input.terraces.clear();
        self.input.terraces.reserve(agents.len());
        let threads = self
            .threads
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads);
        let chunks = if threads == 1 {
            1
        } else {
            threads * CHUNKS_PER_THREAD
        };
        self.thoughts.resize_with(chunks, MindWorkspace::default);
        for thoughts in &mut self.thoughts {
            thoughts.reserve_for(agents.len(), plan.world.solids.len());
        }
    }

    /// Sets the mind of every agent: its override if it has one, else the mind of its species.
    pub(super) fn assign_minds(&mut self, plan: &PoolPlan, state: &PoolState) {
        let agents = &state.world.agents;
        self.mind_indices.clear();
        self.mind_indices.extend_from_slice(&agents.species);
        for (number, one) in state.overrides.iter().enumerate() {
            if let Some(index) = agents.index_of(one.id) {
                self.mind_indices[index] = (plan.minds.len() + number) as u16;
            }
        }
    }

    /// Number of agents in a chunk.
    pub(super) fn chunk_len(&self) -> usize {
        self.next_bodies.len().div_ceil(self.thoughts.len()).max(1)
    }

    /// The minds of all agents.
    pub(super) fn minds<'a>(&'a self, plan: &'a PoolPlan) -> AgentMinds<'a> {
        AgentMinds {
            of_species: &plan.minds,
            of_overrides: &self.override_minds,
            indices: &self.mind_indices,
        }
    }
}

/// Access to the mind of each agent: the mind of its species, or of its override.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentMinds<'a> {
    pub(super) of_species: &'a [Mind],
    pub(super) of_overrides: &'a [Mind],
    /// Index of each agent's mind. Indices count the minds of species first, then those of overrides.
    pub(super) indices: &'a [u16],
}

impl<'a> AgentMinds<'a> {
    /// The mind of the agent at `index`.
    pub(super) fn get(self, index: usize) -> &'a Mind {
        let number = usize::from(self.indices[index]);
        match self.of_species.get(number) {
            Some(mind) => mind,
            None => &self.of_overrides[number - self.of_species.len()],
        }
    }
}

fn thread_pool(threads: u16) -> Result<Option<rayon::ThreadPool>, SimulationError> {
    if threads <= 1 {
        return Ok(None);
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(threads))
        .thread_name(|number| format!("simulation-{number}"))
        .build()
        .map(Some)
        .map_err(|error| SimulationError::Threads {
            threads,
            reason: error.to_string(),
        })
}
