//! The state of a pool between two ticks: everything that a run needs besides its plan to continue bit by bit. It is
//! saved as a whole.

use serde::{Deserialize, Serialize};

use super::overrides::MindOverride;
use super::terraces::TerraceState;
use crate::behavior::{MindState, RuleState};
use crate::navigation::GridPlanner;
use crate::world::{Agents, Body, Director, Random, Species, WorldState, retain};

/// The state of a pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolState {
    /// Number of plan changes since the start.
    pub(super) revision: u64,
    /// Id of the next agent that is added.
    pub(super) next_id: u32,
    /// Number of prey caught since the start.
    pub(super) catches: u64,
    /// Number of meals since the start: food eaten without a hunt.
    pub(super) meals: u64,
    pub(super) world: WorldState,
    /// State of each agent's mind, by agent index.
    pub(super) minds: Vec<MindState>,
    /// Minds that replace those of single agents for a time.
    pub(super) overrides: Vec<MindOverride>,
    /// State of each rule of the director, in the order of the plan.
    pub(super) rules: Vec<RuleState>,
    /// Paths on grids.
    pub(super) planner: GridPlanner,
    /// Positions of the agents between terraces.
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
            world: WorldState {
                agents: Agents::default(),
                director: Director::default(),
                random: Random { seed, tick: 0 },
            },
            minds: Vec::new(),
            overrides: Vec::new(),
            rules: Vec::new(),
            planner: GridPlanner::default(),
            terraces: TerraceState::default(),
        }
    }

    /// Adds an agent. `id` must be [`Self::next_id`], which increases.
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

    /// Removes the agents for which `keeps` is false at their index.
    pub(super) fn retain_agents(&mut self, keeps: &[bool]) {
        self.world.agents.retain(keeps);
        retain(&mut self.minds, keeps);
        self.terraces.keep_only(&self.world.agents.ids);
    }
}
