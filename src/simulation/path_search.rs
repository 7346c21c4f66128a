//! Path searches, which run after the agents decide and before they move. All requests, in agent order, share one budget of
//! expansions per tick.
//!
//! In: the requests of actions. Out: answers, for the next tick. Must not: ask a clock.

use glam::Vec2;

use super::Simulation;
use super::path_costs::caution;
use super::state::PoolState;
use crate::navigation::{Environment, FloorRect, GridQuery, PathRequest, path_id};

impl Simulation {
    /// Collects all requests, advances the searches by the budget of one tick, and writes the answers into the minds. The
    /// searches of a pool with terraces run on their meshes, all others on grids.
    pub(super) fn find_paths(&mut self) {
        if self.plan.terraces.is_empty() {
            self.find_paths_on_grids();
        } else {
            self.find_paths_over_terraces();
        }
    }

    fn find_paths_on_grids(&mut self) {
        self.update_costs();
        let water = &self.plan.world.water;
        let minds = self.workspace.minds(&self.plan);
        let PoolState {
            world,
            minds: states,
            planner,
            costs,
            revision,
            ..
        } = &mut self.state;
        let environment = Environment {
            solids: &self.plan.world.solids,
            revision: *revision,
            costs,
            dt_secs: self.workspace.input.dt_secs,
        };
        let agents = &world.agents;
        let species = &self.plan.world.species;
        let query = |index: usize, number: usize, request: PathRequest| {
            let at_m = agents.bodies[index].position_m;
            let margin_m = species[usize::from(agents.species[index])].margin_m;
            // The visible area is wider at greater depth. The path stays within the visible area at the shallower of its
            // two ends.
            let half = water.edge_half_m(at_m.y.max(request.goal.position_m.y), margin_m);
            let far = Vec2::new(at_m.x, at_m.z);
            GridQuery {
                id: path_id(agents.ids[index], number),
                species: agents.species[index],
                caution: caution(
                    world.random.seed,
                    agents.ids[index],
                    &species[usize::from(agents.species[index])],
                ),
                at_m,
                radius_m: agents.half_widths_m[index],
                bounds: FloorRect {
                    low_m: (-half).min(far),
                    high_m: half.max(far),
                },
                request,
            }
        };
        // Only agents whose mind has an action that needs paths can have a request.
        let searches = |index: usize| {
            let pathing = minds.get(index).pathing();
            (pathing != 0).then_some((index, pathing))
        };
        for (index, pathing) in (0..states.len()).filter_map(searches) {
            for (number, memory) in states[index].path_memories_mut(pathing).enumerate() {
                if let Some(request) = memory.request {
                    planner.submit(&query(index, number, request), &environment);
                }
            }
        }
        planner.advance(&environment, self.search_budget);
        for (index, pathing) in (0..states.len()).filter_map(searches) {
            for (number, memory) in states[index].path_memories_mut(pathing).enumerate() {
                // A path that was not requested in this tick gets no answer. Its next request starts a new search.
                let request = memory.request.take();
                let id = path_id(agents.ids[index], number);
                memory.answer = request.and_then(|_| planner.answer(id));
            }
        }
    }
}
