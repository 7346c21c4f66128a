//! The state of a pool between two ticks. With the state and the plan, a run continues with exactly the same results. The state
//! is saved as a whole.

use serde::{Deserialize, Serialize};

use super::catches::Caught;
use super::overrides::MindOverride;
use super::terraces::TerraceState;
use crate::behavior::MindState;
use crate::navigation::{CostLayer, GridPlanner};
use crate::world::{Agents, Body, Catch, Director, Random, RuleState, Species, WorldState, retain};

/// The state of a pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolState {
    /// Number of plan changes since the pool was created.
    pub(super) revision: u64,
    /// Id of the next agent that is added.
    pub(super) next_id: u32,
    /// Number of prey caught since the pool was created.
    pub(super) catches: u64,
    /// Number of meals since the pool was created. A meal is food that an agent eats without a hunt.
    pub(super) meals: u64,
    /// Agents that were caught and have not returned yet.
    pub(super) caught: Vec<Caught>,
    /// Catches of the last seconds, for the renderer.
    pub(super) swallowed: Vec<Catch>,
    pub(super) world: WorldState,
    /// State of each agent's mind, by agent index.
    pub(super) minds: Vec<MindState>,
    /// Minds that replace the minds of single agents for a given time.
    pub(super) overrides: Vec<MindOverride>,
    /// State of each rule of the director, in the order of the plan.
    pub(super) rules: Vec<RuleState>,
    /// Path searches on grids, and the paths that they found.
    pub(super) planner: GridPlanner,
    /// Costs of the water for the path searches of each species.
    pub(super) costs: Vec<CostLayer>,
    /// Terrace, flight and path of each agent in a pool with terraces.
    pub(super) terraces: TerraceState,
}

impl PoolState {
    /// The state of a pool without agents.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            revision: 0,
            next_id: 0,
            catches: 0,
            meals: 0,
            caught: Vec::new(),
            swallowed: Vec::new(),
            world: WorldState {
                presence: crate::world::Presence::default(),
                agents: Agents::default(),
                director: Director::default(),
                random: Random { seed, tick: 0 },
            },
            minds: Vec::new(),
            overrides: Vec::new(),
            rules: Vec::new(),
            planner: GridPlanner::default(),
            costs: Vec::new(),
            terraces: TerraceState::default(),
        }
    }

    /// Allocates memory for a catch and an entrance of every agent, so that these allocate nothing in their tick.
    pub(super) fn reserve_catches(&mut self) {
        let agents = self.world.agents.ids.len();
        let missing = |used: usize| agents.saturating_sub(used);
        self.caught.reserve(missing(self.caught.len()));
        self.swallowed.reserve(missing(self.swallowed.len()));
        self.world.director.reserve_entrances(agents);
    }

    /// Adds an agent. Its id is [`Self::next_id`], which then increases by 1.
    pub(super) fn add_agent(
        &mut self,
        species_index: u16,
        species: &Species,
        body: Body,
        mind: MindState,
    ) {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        let agents = &mut self.world.agents;
        agents.push(id, species_index, body);
        agents.derive(agents.len() - 1, species, self.world.random.seed);
        self.minds.push(mind);
    }

    /// Removes all agents except those whose element in `keeps` is true.
    pub(super) fn retain_agents(&mut self, keeps: &[bool]) {
        self.world.agents.retain(keeps);
        retain(&mut self.minds, keeps);
        let ids = &self.world.agents.ids;
        self.caught
            .retain(|one| ids.binary_search(&one.prey).is_ok());
        self.terraces.keep_only(&self.world.agents.ids);
    }
}
