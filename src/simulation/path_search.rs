//! The searches for ways, between deciding and moving: calls of all agents in their order, one budget of expansions.
//!
//! In: the trips and climbs that actions have filed. Out: answers, for the next tick. Must not: ask a clock.

use super::tick::Simulation;
use crate::behavior::{Mind, MindState};
use crate::navigation::{Environment, GridPlanner};

impl Simulation {
    /// Hears all calls, advances the searches by the tick's budget, answers. Those over terraces have at most half of it,
    /// those on grids what is left.
    pub(super) fn find_ways(&mut self) {
        let mut budget = self.search_budget.div_ceil(2);
        let rest = self.search_budget - budget;
        self.climb(&mut budget);
        budget += rest;
        let environment = Environment {
            solids: &self.world.solids,
            revision: self.revision,
            dt_secs: self.world.dt_secs,
        };
        let minds = (&self.minds[..], &self.mind_of[..]);
        for state in travelers(minds, &mut self.states) {
            let memories = state.path_memories_mut().enumerate();
            memories.for_each(|(place, memory)| {
                if let Some(request) = &mut memory.request {
                    request.id = request.id << 8 | place as u64;
                    self.planner.submit(request, &environment);
                }
            });
        }
        self.planner.advance(&environment, budget);
        for state in travelers(minds, &mut self.states) {
            for memory in state.path_memories_mut() {
                // Whoever did not call this time begins anew when it calls again.
                memory.answer = memory
                    .request
                    .take()
                    .and_then(|request| self.planner.answer(request.id));
            }
        }
    }

    /// The ways that are searched and followed.
    pub fn planner(&self) -> &GridPlanner {
        &self.planner
    }
}

/// Those who may look for ways. Calls are filed and answered in one tick, so nobody else holds one.
fn travelers<'a>(
    (minds, mind_of): (&'a [Mind], &'a [u16]),
    states: &'a mut [MindState],
) -> impl Iterator<Item = &'a mut MindState> {
    let minds = mind_of.iter().map(|&mind| &minds[usize::from(mind)]);
    let travels = minds.map(Mind::needs_paths).zip(states);
    travels.filter_map(|(travels, state)| travels.then_some(state))
}
