//! Paths between terraces: the requests of actions, their searches on the mesh, and the answers.
//!
//! In: the compiled mesh, the requests in the minds. Out: answers in the minds, flights that begin. **Source**: Lischka 2014,
//! §7.5.

use glam::{Vec2, Vec3};

use super::plan::abilities;
use super::{TerraceState, TerraceTick, flat};
use crate::behavior::MindState;
use crate::navigation::{
    CostLayer, MeshPoint, NEIGHBOR_RANGE_M, NeighborPull, NeighborScratch, PathAnswer, PathRequest,
    TerraceRoute, Traveler, path_id,
};
use crate::simulation::Simulation;
use crate::simulation::path_costs::caution;

/// Distance within which a swimmer looks for solids that it can swim over.
const LOOK_AHEAD_M: f32 = 0.6;

/// Scratch memory for the paths of one tick.
#[derive(Debug, Default)]
pub(in crate::simulation) struct PathScratch {
    /// Requests of this tick.
    calls: Vec<Call>,
    /// Friends and enemies within `NEIGHBOR_RANGE_M` of one swimmer.
    near: Vec<NeighborPull>,
    neighbor_scratch: NeighborScratch,
}

/// The request of an action in one tick.
#[derive(Clone, Copy, Debug)]
struct Call {
    request: PathRequest,
    /// Index of the swimmer.
    swimmer: usize,
    /// Index of the swimmer's route for this action.
    route: usize,
    /// The swimmer on its way; `None` if it can reach no part of the wanted terrace.
    traveler: Option<Traveler>,
}

impl Simulation {
    /// Collects the requests of all agents, advances their searches, writes the answers into the minds and starts flights.
    pub(in crate::simulation) fn find_paths_over_terraces(&mut self) {
        let mut budget = self.search_budget;
        self.update_costs();
        let costs = std::mem::take(&mut self.state.costs);
        let (mut tick, minds) = self.terrace_tick();
        tick.age_splashes();
        tick.collect_calls(minds);
        tick.advance_searches(&costs, &mut budget);
        tick.answer_calls(minds);
        self.state.costs = costs;
    }
}

impl TerraceTick<'_> {
    /// Collects the requests of all agents in agent order, and requests a search for each route that needs one.
    fn collect_calls(&mut self, minds: &mut [MindState]) {
        let dt_secs = self.world.dt_secs;
        self.scratch.calls.clear();
        for (index, mind) in minds.iter_mut().enumerate() {
            let id = self.world.agents.ids[index];
            let at = self.world.agents.bodies[index].position_m;
            let swimmer = self.state.swimmer(self.plan, id, at);
            self.state.swimmers[swimmer].cooldown_secs -= dt_secs;
            for (route, memory) in mind.path_memories_mut(u64::MAX).enumerate() {
                let Some(request) = memory.request else {
                    continue;
                };
                let traveler = self.traveler(index, (swimmer, route), &request);
                self.scratch.calls.push(Call {
                    request,
                    swimmer,
                    route,
                    traveler,
                });
                let state = &mut self.state.swimmers[swimmer];
                let Some(traveler) = traveler.filter(|_| state.air.is_none()) else {
                    continue;
                };
                if let Some(query) = state.routes[route].needed_search(&traveler, dt_secs) {
                    let species = self.world.agents.species[index];
                    let planner = &mut self.state.planner;
                    planner.request(path_id(id, route), species, query);
                }
            }
        }
    }

    /// Returns a swimmer on its way to the goal of a request. `None` if it can reach no part of the wanted terrace.
    fn traveler(
        &mut self,
        index: usize,
        (number, route): (usize, usize),
        request: &PathRequest,
    ) -> Option<Traveler> {
        let agents = self.world.agents;
        let body = &agents.bodies[index];
        let species_index = agents.species[index];
        let species = &self.world.species[usize::from(species_index)];
        let abilities = abilities(species);
        let graph = self.plan.graph(species_index);
        let swimmer = &mut self.state.swimmers[number];
        if swimmer.routes.len() <= route {
            swimmer.routes.resize_with(route + 1, TerraceRoute::default);
        }
        let at = MeshPoint {
            terrace: swimmer.home,
            at_m: flat(body.position_m),
        };
        let goal_m = request.goal.position_m;
        let wanted = (request.goal.terrace, flat(goal_m));
        let (at, goal) = swimmer.routes[route].place_goal(at, wanted, &abilities, graph)?;
        let terrace = &self.plan.terraces[usize::from(swimmer.home)];
        let cooldown_left_secs = swimmer.cooldown_secs.max(0.0);
        let (low_y_m, top_y_m) = terrace.y_range_m(agents.radii_m[index]);
        Some(Traveler {
            at,
            heading: flat(body.forward).normalize_or(Vec2::X),
            speed_mps: flat(body.velocity_mps).length(),
            goal,
            swim_y_m: self.swim_y_m(index, goal_m.y.clamp(low_y_m, top_y_m), top_y_m),
            top_y_m,
            cruise_mps: request.speed_mps,
            run_up_mps: species.motion.leap.run_up_mps,
            radius_m: agents.radii_m[index],
            abilities,
            cooldown_left_secs,
            caution: caution(self.world.random.seed, agents.ids[index], species),
        })
    }

    /// Returns the height at which an agent swims on its way to a goal at a height: near the surface if a solid that it can swim over
    /// is before it.
    fn swim_y_m(&self, index: usize, goal_y_m: f32, top_y_m: f32) -> f32 {
        let agents = self.world.agents;
        let (body, radius_m) = (&agents.bodies[index], agents.radii_m[index]);
        let level = body.forward.with_y(0.0).normalize_or_zero();
        let mut ahead = (0..=3).map(|n| body.position_m + level * (n as f32 * LOOK_AHEAD_M / 3.0));
        let is_before = |at: Vec3| {
            let mut solids = self.world.solids.iter();
            solids.any(|solid| solid.signed_distance_m(at.with_y(goal_y_m)) < 1.5 * radius_m)
        };
        if goal_y_m < top_y_m && ahead.any(is_before) {
            top_y_m
        } else {
            goal_y_m
        }
    }

    /// Advances the path searches and passes their results to the swimmers.
    fn advance_searches(&mut self, costs: &[CostLayer], budget: &mut u32) {
        let (plan, agents) = (self.plan, self.world.agents);
        let calls = &self.scratch.calls;
        let TerraceState {
            swimmers, planner, ..
        } = &mut *self.state;
        let graph_of = |species| plan.graph(species);
        planner.advance(graph_of, costs, budget, |path_id, query, outcome, path| {
            let (id, route) = ((path_id >> 8) as u32, path_id as u8 as usize);
            let Ok(number) = swimmers.binary_search_by_key(&id, |swimmer| swimmer.id) else {
                return;
            };
            let is_call = |call: &&Call| call.swimmer == number && call.route == route;
            let traveler = calls.iter().find(is_call).and_then(|call| call.traveler);
            let species = agents.index_of(id).map(|index| agents.species[index]);
            if let (Some(traveler), Some(species)) = (traveler, species)
                && traveler.goal == query.goal
            {
                let costs = costs.get(usize::from(species)).unwrap_or_default();
                let map = (plan.graph(species), costs);
                let route = &mut swimmers[number].routes[route];
                route.accept(&traveler, (query, outcome), path, map);
            }
        });
    }

    /// Answers the requests, and starts the flights of swimmers that take off.
    fn answer_calls(&mut self, minds: &mut [MindState]) {
        // There is one element for every request, in the same order.
        let calls = std::mem::take(&mut self.scratch.calls);
        let mut answered = calls.iter();
        for (index, mind) in minds.iter_mut().enumerate() {
            for memory in mind.path_memories_mut(u64::MAX) {
                if memory.request.take().is_none() {
                    continue;
                }
                let Some(call) = answered.next() else {
                    continue;
                };
                if self.state.swimmers[call.swimmer].air.is_some() {
                    continue;
                }
                let mut answer = self.answer(index, call);
                if let PathAnswer::TakeOff(link, landing) = answer
                    && let Err(reason) = self.take_off(index, call.swimmer, (link, landing))
                {
                    let routes = &mut self.state.swimmers[call.swimmer].routes;
                    answer = routes[call.route].refuse(link, reason);
                }
                memory.answer = Some(answer);
            }
        }
        self.scratch.calls = calls;
    }

    /// Returns the answer to a request.
    fn answer(&mut self, index: usize, call: &Call) -> PathAnswer {
        let agents = self.world.agents;
        let route = &mut self.state.swimmers[call.swimmer].routes[call.route];
        let Some(traveler) = &call.traveler else {
            route.reset();
            return PathAnswer::NoPath;
        };
        let goal = &call.request.goal;
        let distance_m = goal.position_m.distance(agents.bodies[index].position_m);
        let is_near = distance_m <= call.request.params.pursue_distance_m;
        let shares_water = goal.terrace == Some(traveler.at.terrace);
        if goal.is_moving && goal.is_seen && shares_water && is_near {
            return PathAnswer::SwimToEnd(goal.position_m);
        }
        self.find_near(index);
        let PathScratch {
            near,
            neighbor_scratch,
            ..
        } = &mut *self.scratch;
        let around = (near.as_slice(), neighbor_scratch);
        let graph = self.plan.graph(agents.species[index]);
        let route = &mut self.state.swimmers[call.swimmer].routes[call.route];
        route.guide(traveler, around, graph)
    }

    /// Finds the friends and enemies within `NEIGHBOR_RANGE_M` of the agent at `index`.
    fn find_near(&mut self, index: usize) {
        let agents = self.world.agents;
        let at = agents.bodies[index].position_m;
        let relations = &self.world.species[usize::from(agents.species[index])].relations;
        let near = &mut self.scratch.near;
        near.clear();
        for (other, body) in agents.bodies.iter().enumerate() {
            let names = agents.name_bits[other];
            let pull = match (names & relations.friend != 0, names & relations.enemy != 0) {
                (_, true) => -1.0,
                (true, false) => 1.0,
                (false, false) => continue,
            };
            if other != index && body.position_m.distance(at) < NEIGHBOR_RANGE_M {
                let at = MeshPoint {
                    terrace: self.world.terraces[other],
                    at_m: flat(body.position_m),
                };
                near.push(NeighborPull { at, pull });
            }
        }
    }
}
