//! Path searches, which run after the agents decide and before they move. All requests, in agent order, share one budget of
//! expansions per tick.
//!
//! In: the requests of actions. Out: answers, for the next tick. Must not: ask a clock.

use super::Simulation;
use super::workspace::AgentMinds;
use crate::behavior::MindState;
use crate::navigation::Environment;

impl Simulation {
    /// Collects all requests, advances the searches by the budget of one tick, and writes the answers into the minds. Searches
    /// over terraces get at most half of the budget, searches on grids get the rest.
    pub(super) fn find_paths(&mut self) {
        let mut budget = self.search_budget.div_ceil(2);
        let rest = self.search_budget - budget;
        self.answer_climbs(&mut budget);
        budget += rest;
        let environment = Environment {
            solids: &self.plan.world.solids,
            revision: self.state.revision,
            dt_secs: self.workspace.input.dt_secs,
        };
        let minds = self.workspace.minds(&self.plan);
        let planner = &mut self.state.planner;
        for state in path_followers(minds, &mut self.state.minds) {
            for (number, memory) in state.path_memories_mut().enumerate() {
                if let Some(request) = &mut memory.request {
                    // One agent may follow several paths. The id of each is the agent's id times 256 plus the path's number.
                    request.id = request.id << 8 | number as u64;
                    planner.submit(request, &environment);
                }
            }
        }
        planner.advance(&environment, budget);
        for state in path_followers(minds, &mut self.state.minds) {
            for memory in state.path_memories_mut() {
                // A path that was not requested in this tick gets no answer. Its next request starts a new search.
                let request = memory.request.take();
                memory.answer = request.and_then(|request| planner.answer(request.id));
            }
        }
    }
}

/// States of the agents whose mind has an action that needs paths. Only these can have a request.
fn path_followers<'a>(
    minds: AgentMinds<'a>,
    states: &'a mut [MindState],
) -> impl Iterator<Item = &'a mut MindState> {
    states
        .iter_mut()
        .enumerate()
        .filter_map(move |(index, state)| minds.get(index).needs_paths().then_some(state))
}
