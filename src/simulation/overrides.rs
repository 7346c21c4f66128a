//! Mind overrides: an agent acts with another mind for a given time and then gets its own mind back.
//!
//! In: the parameters of a validated mind. Out: agents with other minds. Must not: start an override within a tick.

use serde::{Deserialize, Serialize};

use super::Simulation;
use crate::behavior::{Mind, MindParams, MindState};

/// Another mind that an agent has for a given time. During this time, `PoolState::minds` holds the state of the other mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MindOverride {
    /// Id of the agent.
    pub(super) id: u32,
    /// Parameters of the other mind.
    pub(super) params: MindParams,
    /// State of the agent's own mind. It does not change during the override.
    pub(super) own_state: MindState,
    /// The first tick in which the agent has its own mind again.
    pub(super) end_tick: u64,
}

impl Simulation {
    /// Gives an agent another mind for `secs`. Replaces an override that the agent already has. Does nothing if there is no
    /// agent with this id.
    pub(super) fn override_mind(&mut self, id: u32, params: MindParams, secs: f32) {
        let Some(index) = self.state.world.agents.index_of(id) else {
            return;
        };
        self.end_override_of(id);
        let species_index = usize::from(self.state.world.agents.species[index]);
        let mind = Mind::compile(&params, &self.plan.world.species[species_index]);
        let random = self.state.world.random;
        let own_mind = &self.plan.minds[species_index];
        let state = mind.migrate_state(own_mind, &self.state.minds[index], random, id);
        let own_state = std::mem::replace(&mut self.state.minds[index], state);
        let ticks = self.ticks_of(secs);
        self.state.overrides.push(MindOverride {
            id,
            params,
            own_state,
            end_tick: random.tick + ticks,
        });
        self.workspace.override_minds.push(mind);
        self.workspace.assign_minds(&self.plan, &self.state);
    }

    /// Returns the number of ticks of a time; at least one.
    pub(super) fn ticks_of(&self, secs: f32) -> u64 {
        (secs / self.workspace.input.dt_secs).round().max(1.0) as u64
    }

    /// Ends the override of an agent. Does nothing if the agent has no override.
    pub(super) fn end_override_of(&mut self, id: u32) {
        if let Some(number) = self.state.overrides.iter().position(|o| o.id == id) {
            self.end_override(number);
        }
    }

    /// Ends the overrides whose `end_tick` is reached.
    pub(super) fn end_expired_overrides(&mut self) {
        let tick = self.state.world.random.tick;
        let expired = |o: &MindOverride| o.end_tick <= tick;
        while let Some(number) = self.state.overrides.iter().position(expired) {
            self.end_override(number);
        }
    }

    fn end_override(&mut self, number: usize) {
        let ended = self.state.overrides.remove(number);
        self.workspace.override_minds.remove(number);
        if let Some(index) = self.state.world.agents.index_of(ended.id) {
            // The agent's own mind gets the memories of perceptions that the other mind has made.
            let own_state = ended
                .own_state
                .with_perception_memory_of(&self.state.minds[index]);
            self.state.minds[index] = own_state;
        }
        self.workspace.assign_minds(&self.plan, &self.state);
    }

    /// Takes all overrides out of the state, so that every agent has the mind of its species. Returns each override with
    /// the state of its mind, for [`Self::resume_overrides`].
    pub(super) fn suspend_overrides(&mut self) -> Vec<(MindOverride, MindState)> {
        self.workspace.override_minds.clear();
        let overrides = std::mem::take(&mut self.state.overrides);
        let suspend = |mut one: MindOverride| {
            let index = self.state.world.agents.index_of(one.id)?;
            let own_state = std::mem::take(&mut one.own_state);
            let state = std::mem::replace(&mut self.state.minds[index], own_state);
            Some((one, state))
        };
        overrides.into_iter().filter_map(suspend).collect()
    }

    /// Puts suspended overrides back into the state, except overrides of agents that no longer exist.
    pub(super) fn resume_overrides(&mut self, suspended: Vec<(MindOverride, MindState)>) {
        for (mut one, state) in suspended {
            if let Some(index) = self.state.world.agents.index_of(one.id) {
                one.own_state = std::mem::replace(&mut self.state.minds[index], state);
                self.state.overrides.push(one);
            }
        }
        self.compile_overrides();
    }

    /// Compiles the minds of the state's overrides. Removes overrides of agents that do not exist.
    pub(super) fn compile_overrides(&mut self) {
        let minds = &mut self.workspace.override_minds;
        minds.clear();
        let agents = &self.state.world.agents;
        self.state.overrides.retain(|one| {
            let Some(index) = agents.index_of(one.id) else {
                return false;
            };
            let species_index = usize::from(agents.species[index]);
            let species = &self.plan.world.species[species_index];
            minds.push(Mind::compile(&one.params, species));
            true
        });
        self.workspace.assign_minds(&self.plan, &self.state);
    }
}
