//! Terraces in a running pool: the terrace of each agent, the paths to other terraces, and the flights between terraces.
//!
//! In: the compiled mesh, the requests of actions (here: calls), the moved bodies. Out: bodies that stay in their terrace or
//! fly to another terrace. Must not: decide what an agent does.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::Simulation;
use crate::behavior::{ClimbAnswer, ClimbRequest, MindState};
use crate::geometry::{nearest_on_polygon, polygon_contains};
use crate::navigation::{
    Flight, GRAVITY_MPS2, Guidance, MeshLinks, MeshPlanner, MeshPoint, NEIGHBOR_RANGE_M, NavGraph,
    NavMesh, NeighborPull, NeighborScratch, TerraceRequest, TerraceRoute,
};
use crate::world::{Body, IN_THE_AIR, Splash, TerraceParams, World};

mod plan;

pub(super) use plan::TerracePlan;
use plan::abilities;

/// Height of a flight above the higher water surface, in addition to the body's diameter. Tuned by eye, 2026-11-21.
const CLEARANCE_M: f32 = 0.12;
/// Number of intervals at whose ends a flight is checked against obstacles before take-off.
const FLIGHT_CHECKS: usize = 64;
/// Minimum distance of a flight from obstacles at each of the `FLIGHT_CHECKS` + 1 checked points.
const FLIGHT_GAP_M: f32 = 0.02;
/// Time for which a snapshot contains a splash.
const SPLASH_SECS: f32 = 1.0;
/// Number of ticks between two updates of the path costs. Enemies and friends do not move far in this time.
const COST_TICKS: u64 = 15;
/// Additional cost per meter for every enemy in a polygon of the mesh. Tuned by eye, 2026-11-21.
const ENEMY_COST: f32 = 4.0;
/// Factor on the cost per meter for every friend in a polygon of the mesh. Tuned by eye, 2026-11-22.
const FRIEND_FACTOR: f32 = 0.85;
/// Minimum cost per meter in a polygon with many friends. Tuned by eye, 2026-11-22.
const MIN_COST: f32 = 0.6;

/// State of all agents in a pool with terraces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TerraceState {
    /// One entry per agent, in ascending order of ids.
    swimmers: Vec<Swimmer>,
    /// Path searches of the swimmers.
    planner: MeshPlanner,
    /// Cost per meter, for each species and polygon of the mesh.
    costs: Vec<Vec<f32>>,
    pub(super) splashes: Vec<Splash>,
}

/// Scratch memory for terraces.
#[derive(Debug, Default)]
pub(super) struct TerraceScratch {
    /// Calls of this tick.
    calls: Vec<Call>,
    /// Friends and enemies within `NEIGHBOR_RANGE_M` of one swimmer.
    near: Vec<NeighborPull>,
    neighbor_scratch: NeighborScratch,
}

/// A call of an action in one tick.
#[derive(Clone, Copy, Debug)]
struct Call {
    /// Index of the swimmer.
    swimmer: usize,
    /// Index of the swimmer's route for this action.
    route: usize,
    /// The request; `None` if the agent can reach no part of the wanted terrace.
    request: Option<TerraceRequest>,
}

/// State of one agent in a pool with terraces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swimmer {
    /// Id of the agent.
    id: u32,
    /// Index of the terrace that the agent is in. During a flight: the terrace of the take-off.
    home: u16,
    /// Time until the agent may leap again.
    cooldown_secs: f32,
    /// The current flight; `None` while the agent is in the water.
    air: Option<Airborne>,
    /// One route for each action that travels between terraces, in the order of the actions in the agent's mind.
    routes: Vec<TerraceRoute>,
}

/// A flight from one terrace to another.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Airborne {
    from: Vec3,
    to: Vec3,
    flight: Flight,
    /// Time since take-off.
    spent_secs: f32,
    /// Index of the terrace of the landing.
    home: u16,
}

fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

impl TerraceState {
    /// Returns the index of an agent's entry in `swimmers`. If there is no entry, first adds one whose home is the terrace at
    /// position `at`.
    fn swimmer(&mut self, plan: &TerracePlan, id: u32, at: Vec3) -> usize {
        match self.find(id) {
            Ok(number) => number,
            Err(number) => {
                let swimmer = Swimmer {
                    id,
                    home: plan.terrace_at(flat(at)),
                    ..Swimmer::default()
                };
                self.swimmers.insert(number, swimmer);
                self.reserve_splashes();
                number
            }
        }
    }

    /// Allocates memory for a take-off and a landing of every agent, so that a splash allocates nothing in its tick.
    fn reserve_splashes(&mut self) {
        let missing = (2 * self.swimmers.len()).saturating_sub(self.splashes.len());
        self.splashes.reserve(missing);
    }

    /// Returns the index of an agent's entry in `swimmers`; as an error, the index at which to insert a new entry.
    fn find(&self, id: u32) -> Result<usize, usize> {
        self.swimmers
            .binary_search_by_key(&id, |swimmer| swimmer.id)
    }

    /// Removes the swimmers of agents that are not in `ids`. `ids` must be in ascending order.
    pub(super) fn keep_only(&mut self, ids: &[u32]) {
        self.swimmers.retain(|s| ids.binary_search(&s.id).is_ok());
    }

    /// Removes all swimmers, searches and costs. Must be called when the terraces of the plan change.
    pub(super) fn reset(&mut self) {
        self.swimmers.clear();
        self.planner = MeshPlanner::default();
        self.costs.clear();
    }

    /// Checks a loaded state against a plan and prepares its path searches.
    ///
    /// # Errors
    /// A description of the problem, if the state does not fit the plan or contains invalid numbers.
    pub(super) fn resume(&mut self, plan: &TerracePlan) -> Result<(), String> {
        let terraces = plan.terraces.len();
        let exists = |home: u16| usize::from(home) < terraces;
        let is_valid = |swimmer: &Swimmer| {
            let air = swimmer.air.is_none_or(|air| {
                let is_flight = air.flight.is_sound() && air.spent_secs.is_finite();
                exists(air.home) && air.from.is_finite() && air.to.is_finite() && is_flight
            });
            let mut routes = swimmer.routes.iter();
            let numbers = swimmer.cooldown_secs.is_finite() && routes.all(TerraceRoute::is_sound);
            exists(swimmer.home) && air && numbers
        };
        if let Some(bad) = self.swimmers.iter().find(|swimmer| !is_valid(swimmer)) {
            return Err(format!(
                "agent {} is in a terrace that does not exist, or has invalid numbers",
                bad.id
            ));
        }
        if !self.swimmers.is_sorted_by(|a, b| a.id < b.id) {
            return Err("the ids of the swimmers are not in ascending order".into());
        }
        if plan.classes.is_empty() {
            return Ok(());
        }
        for (species, costs) in self.costs.iter().enumerate() {
            let polygons = plan.graph(species as u16).mesh.len();
            if costs.len() != polygons {
                return Err(format!(
                    "there are {} costs for the {polygons} polygons of the mesh",
                    costs.len()
                ));
            }
        }
        let is_finite =
            |s: &Splash| s.at_m.is_finite() && s.speed_mps.is_finite() && s.age_secs.is_finite();
        if !self.splashes.iter().all(is_finite) {
            return Err("a number of a splash is not finite".into());
        }
        self.planner.resume(|species| plan.graph(species));
        self.reserve_splashes();
        Ok(())
    }
}

/// Data that the functions for terraces use in one tick.
struct TerraceTick<'a> {
    plan: &'a TerracePlan,
    state: &'a mut TerraceState,
    scratch: &'a mut TerraceScratch,
    world: World<'a>,
}

impl TerraceTick<'_> {
    /// Updates the path costs every [`COST_TICKS`] ticks. Enemies in a polygon raise its cost, friends lower it.
    fn update_costs(&mut self) {
        let (plan, world) = (self.plan, &self.world);
        let costs = &mut self.state.costs;
        let is_due = world.random.tick.is_multiple_of(COST_TICKS);
        if !is_due && costs.len() == world.species.len() {
            return;
        }
        costs.resize_with(world.species.len(), Vec::new);
        for (species, costs) in costs.iter_mut().enumerate() {
            let mesh = plan.graph(species as u16).mesh;
            costs.clear();
            costs.resize(mesh.len(), 1.0);
            let of = &world.species[species].relations;
            for (index, body) in world.agents.bodies.iter().enumerate() {
                let names = world.agents.name_bits[index];
                let (is_enemy, is_friend) = (names & of.enemy != 0, names & of.friend != 0);
                let terrace = world.terraces[index];
                if !(is_enemy || is_friend) || terrace == IN_THE_AIR {
                    continue;
                }
                // An agent at the border of the water may be off a mesh that is made for larger bodies.
                let at = flat(body.position_m);
                let is_here = |polygon: u32| mesh.polygon(polygon).terrace == terrace;
                let polygon = mesh.polygon_at(terrace, at);
                let nearest = || mesh.nearest_point(at, is_here).map(|(polygon, _)| polygon);
                if let Some(polygon) = polygon.or_else(nearest) {
                    let cost = &mut costs[polygon as usize];
                    *cost = cost_with(*cost, is_enemy, is_friend);
                }
            }
        }
    }

    /// Increases the age of all splashes and removes splashes older than `SPLASH_SECS`.
    fn age_splashes(&mut self) {
        let splashes = &mut self.state.splashes;
        for splash in splashes.iter_mut() {
            splash.age_secs += self.world.dt_secs;
        }
        splashes.retain(|splash| splash.age_secs <= SPLASH_SECS);
    }

    /// Collects the calls of all agents in agent order, and requests a path for each swimmer that needs one.
    fn collect_calls(&mut self, minds: &mut [MindState]) {
        let dt_secs = self.world.dt_secs;
        self.scratch.calls.clear();
        for (index, mind) in minds.iter_mut().enumerate() {
            let id = self.world.agents.ids[index];
            let at = self.world.agents.bodies[index].position_m;
            let number = self.state.swimmer(self.plan, id, at);
            self.state.swimmers[number].cooldown_secs -= dt_secs;
            for (route, climbing) in mind.climbs_mut().enumerate() {
                let Some(wanted) = climbing.request else {
                    continue;
                };
                let request = self.place(index, (number, route), wanted);
                self.scratch.calls.push(Call {
                    swimmer: number,
                    route,
                    request,
                });
                let swimmer = &mut self.state.swimmers[number];
                let Some(request) = request.filter(|_| swimmer.air.is_none()) else {
                    continue;
                };
                if swimmer.routes[route].needs_search(&request, dt_secs) {
                    let species = self.world.agents.species[index];
                    let planner = &mut self.state.planner;
                    planner.request(route_id(id, route), species, request.query());
                }
            }
        }
    }

    /// Returns the request of a call together with the state of its swimmer. `None` if the swimmer can reach no part of the
    /// wanted terrace.
    fn place(
        &mut self,
        index: usize,
        (number, route): (usize, usize),
        wanted: ClimbRequest,
    ) -> Option<TerraceRequest> {
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
        let wanted = (wanted.terrace, wanted.at_m);
        let (at, goal) = swimmer.routes[route].place_goal(at, wanted, &abilities, graph)?;
        Some(TerraceRequest {
            at,
            heading: flat(body.forward).normalize_or(Vec2::X),
            speed_mps: flat(body.velocity_mps).length(),
            goal,
            cruise_mps: species.motion.cruise_mps,
            run_up_mps: species.motion.leap.run_up_mps,
            radius_m: agents.radii_m[index],
            abilities,
            cooldown_left_secs: swimmer.cooldown_secs.max(0.0),
        })
    }

    /// Advances the path searches and passes their results to the swimmers.
    fn find_paths(&mut self, budget: &mut u32) {
        let (plan, agents) = (self.plan, self.world.agents);
        let calls = &self.scratch.calls;
        let TerraceState {
            swimmers,
            planner,
            costs,
            ..
        } = &mut *self.state;
        let graph_of = |species| plan.graph(species);
        planner.advance(graph_of, costs, budget, |route_id, query, outcome, path| {
            let (id, route) = ((route_id >> 8) as u32, route_id as u8 as usize);
            let Ok(number) = swimmers.binary_search_by_key(&id, |swimmer| swimmer.id) else {
                return;
            };
            let is_call = |call: &&Call| call.swimmer == number && call.route == route;
            let request = calls.iter().find(is_call).and_then(|call| call.request);
            let species = agents.index_of(id).map(|index| agents.species[index]);
            if let (Some(request), Some(species)) = (request, species)
                && request.goal == query.goal
            {
                let costs = costs
                    .get(usize::from(species))
                    .map_or(&[][..], Vec::as_slice);
                let map = (plan.graph(species), costs);
                let route = &mut swimmers[number].routes[route];
                route.accept(&request, (query, outcome), path, map);
            }
        });
    }

    /// Answers the calls, and starts the flights of swimmers that take off.
    fn answer_calls(&mut self, minds: &mut [MindState]) {
        // There is one element for every call, in the same order.
        let calls = std::mem::take(&mut self.scratch.calls);
        let mut answered = calls.iter();
        for (index, mind) in minds.iter_mut().enumerate() {
            for climbing in mind.climbs_mut() {
                if climbing.request.take().is_none() {
                    continue;
                }
                let Some(call) = answered.next() else {
                    continue;
                };
                if self.state.swimmers[call.swimmer].air.is_some() {
                    continue;
                }
                let answer = self.advise(index, call);
                climbing.answer = Some(answer);
                if let Guidance::TakeOff(link, landing) = answer.step {
                    self.take_off(index, call.swimmer, (link, landing));
                }
            }
        }
        self.scratch.calls = calls;
    }

    /// Returns the next step of a swimmer on its path.
    fn advise(&mut self, index: usize, call: &Call) -> ClimbAnswer {
        let agents = self.world.agents;
        let radius_m = agents.radii_m[index];
        let swimmer = &mut self.state.swimmers[call.swimmer];
        let y_m = self.plan.terraces[usize::from(swimmer.home)]
            .y_range_m(radius_m)
            .1;
        let Some(request) = &call.request else {
            swimmer.routes[call.route].reset();
            return ClimbAnswer {
                step: Guidance::NoPath,
                goal: MeshPoint::default(),
                y_m,
            };
        };
        self.find_near(index);
        let swimmer = &mut self.state.swimmers[call.swimmer];
        let TerraceScratch {
            near,
            neighbor_scratch,
            ..
        } = &mut *self.scratch;
        let around = (near.as_slice(), neighbor_scratch);
        let graph = self.plan.graph(agents.species[index]);
        ClimbAnswer {
            step: swimmer.routes[call.route].guide(request, around, graph),
            goal: request.goal,
            y_m,
        }
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

    /// Starts a swimmer's flight over a link. Does nothing if an obstacle is in the way of the flight.
    fn take_off(&mut self, index: usize, number: usize, (link, landing): (u32, Vec2)) {
        let agents = self.world.agents;
        let NavGraph { mesh, links } = self.plan.graph(agents.species[index]);
        let Some(link) = links.get(link) else {
            return;
        };
        let radius_m = agents.radii_m[index];
        let home = mesh.polygon(link.to).terrace;
        let (_, y) = self.plan.terraces[usize::from(home)].y_range_m(radius_m);
        let to = Vec3::new(landing.x, y, landing.y);
        let from = agents.bodies[index].position_m;
        let air = Airborne {
            from,
            to,
            flight: Flight::over(to.y - from.y, CLEARANCE_M + 2.0 * radius_m),
            spent_secs: 0.0,
            home,
        };
        let is_free = |at: Vec3| {
            let mut solids = self.world.solids.iter();
            solids.all(|solid| solid.signed_distance_m(at) > FLIGHT_GAP_M)
        };
        let share = |n: usize| n as f32 / FLIGHT_CHECKS as f32;
        if (0..=FLIGHT_CHECKS).all(|n| is_free(air.at(air.flight.secs * share(n)))) {
            let swimmer = &mut self.state.swimmers[number];
            if link.is_leap() {
                let species_index = usize::from(agents.species[index]);
                let leap = &self.world.species[species_index].motion.leap;
                swimmer.cooldown_secs = air.flight.secs + leap.cooldown_secs;
            }
            swimmer.air = Some(air);
            self.state.splashes.push(splash(from, air.flight.up_mps));
        }
    }

    /// Keeps a moved body in its terrace, or on its flight.
    fn keep(&mut self, index: usize, body: &mut Body) {
        let (plan, agents) = (self.plan, self.world.agents);
        let number = self.state.swimmer(plan, agents.ids[index], body.position_m);
        let radius_m = agents.radii_m[index];
        let swimmer = &mut self.state.swimmers[number];
        if body.teleported {
            swimmer.air = None;
            swimmer.home = plan.terrace_at(flat(body.position_m));
        }
        if let Some(air) = &mut swimmer.air {
            air.spent_secs += self.world.dt_secs;
            air.carry(body);
            if air.spent_secs >= air.flight.secs {
                let landing = splash(air.to, air.flight.up_mps);
                self.state.splashes.push(landing);
                swimmer.home = air.home;
                swimmer.air = None;
                swimmer.routes.iter_mut().for_each(TerraceRoute::reset);
                body.velocity_mps.y = 0.0;
            }
            return;
        }
        let home = usize::from(swimmer.home);
        let (terrace, outline) = (&plan.terraces[home], &plan.outlines[home]);
        let kept = nearest_inside(terrace, outline, body.position_m, radius_m);
        if kept == body.position_m {
            return;
        }
        let outward = (body.position_m - kept).normalize_or_zero();
        let push_mps = outward * -body.velocity_mps.dot(outward).max(0.0);
        body.velocity_mps += push_mps;
        body.pushed_mps += push_mps;
        let mut solids = self.world.solids.iter();
        let is_free = solids.all(|s| s.signed_distance_m(kept) > 0.0);
        let before = agents.bodies[index].position_m;
        body.position_m = if is_free { kept } else { before };
    }
}

impl Simulation {
    /// Collects the calls of agents that request a path to another terrace, advances their searches, answers the calls and
    /// starts flights. `budget` is the maximum number of expansions; the expansions that were made are subtracted from it.
    pub(super) fn answer_climbs(&mut self, budget: &mut u32) {
        if self.plan.terraces.is_empty() {
            return;
        }
        let mut tick = TerraceTick {
            plan: &self.plan.terraces,
            state: &mut self.state.terraces,
            scratch: &mut self.workspace.terraces,
            world: World::new(&self.plan.world, &self.state.world, &self.workspace.input),
        };
        tick.update_costs();
        tick.age_splashes();
        tick.collect_calls(&mut self.state.minds);
        tick.find_paths(budget);
        tick.answer_calls(&mut self.state.minds);
    }

    /// Writes the terrace of every agent to the input of the tick.
    pub(super) fn locate_agents(&mut self) {
        let (plan, state) = (&self.plan.terraces, &self.state.terraces);
        let terraces = &mut self.workspace.input.terraces;
        terraces.clear();
        if plan.is_empty() {
            return;
        }
        let agents = &self.state.world.agents;
        terraces.extend(agents.ids.iter().zip(&agents.bodies).map(|(&id, body)| {
            match state.find(id).map(|number| &state.swimmers[number]) {
                Ok(swimmer) if swimmer.air.is_some() => IN_THE_AIR,
                Ok(swimmer) => swimmer.home,
                Err(_) => plan.terrace_at(flat(body.position_m)),
            }
        }));
    }

    /// Keeps every moved body in its terrace, or on its flight.
    pub(super) fn keep_in_terraces(&mut self) {
        if self.plan.terraces.is_empty() {
            return;
        }
        let mut tick = TerraceTick {
            plan: &self.plan.terraces,
            state: &mut self.state.terraces,
            scratch: &mut self.workspace.terraces,
            world: World::new(&self.plan.world, &self.state.world, &self.workspace.input),
        };
        for (index, body) in self.workspace.next_bodies.iter_mut().enumerate() {
            // A caught agent, which has no names, is in no terrace until it returns.
            if tick.world.agents.name_bits[index] != 0 {
                tick.keep(index, body);
            }
        }
    }

    /// Index of the terrace that the agent at this index is in; `None` during a flight, while the agent is absent, or if the scene
    /// has no terraces.
    pub fn terrace(&self, index: usize) -> Option<u16> {
        let terraces = &self.state.terraces;
        let agents = &self.state.world.agents;
        if agents.name_bits[index] == 0 {
            return None;
        }
        let number = terraces.find(agents.ids[index]).ok()?;
        let swimmer = &terraces.swimmers[number];
        swimmer.air.is_none().then_some(swimmer.home)
    }

    /// Whether the agent at this index flies from one terrace to another.
    pub fn is_flying(&self, index: usize) -> bool {
        let terraces = &self.state.terraces;
        let found = terraces.find(self.state.world.agents.ids[index]);
        found.is_ok_and(|number| terraces.swimmers[number].air.is_some())
    }

    /// Splashes of the last second.
    pub fn splashes(&self) -> &[Splash] {
        &self.state.terraces.splashes
    }

    /// The meshes of the terraces with their links, one for each class of body sizes, smallest bodies first. Empty if the
    /// scene has no terraces.
    pub fn meshes(&self) -> impl Iterator<Item = (&NavMesh, &MeshLinks)> {
        let classes = self.plan.terraces.classes.iter();
        classes.map(|class| (&class.mesh, &class.links))
    }

    /// Returns the remaining corners of an agent's path over its terrace; empty if the agent has no path.
    pub(super) fn terrace_path(&self, id: u32) -> &[Vec2] {
        let terraces = &self.state.terraces;
        match terraces.find(id) {
            Ok(number) => {
                let routes = terraces.swimmers[number].routes.iter();
                let mut legs = routes.map(TerraceRoute::remaining_leg);
                legs.find(|leg| !leg.is_empty()).unwrap_or_default()
            }
            Err(_) => &[],
        }
    }
}

impl Airborne {
    /// Position after `secs` of flight.
    fn at(&self, secs: f32) -> Vec3 {
        let share = (secs / self.flight.secs.max(1e-3)).clamp(0.0, 1.0);
        let mut at = self.from.lerp(self.to, share);
        at.y = self.from.y + self.flight.height_m(secs.min(self.flight.secs));
        at
    }

    /// Moves a body to its current position on the flight, with its nose in the direction of the flight.
    fn carry(&self, body: &mut Body) {
        let secs = self.spent_secs.min(self.flight.secs);
        let ahead = (self.to - self.from).with_y(0.0) / self.flight.secs.max(1e-3);
        let up_mps = self.flight.up_mps - GRAVITY_MPS2 * secs;
        body.position_m = self.at(secs);
        body.velocity_mps = ahead + Vec3::Y * up_mps;
        body.forward = body.velocity_mps.normalize_or(body.forward);
        let side = body.forward.cross(Vec3::Y).normalize_or(Vec3::X);
        body.up = side.cross(body.forward);
    }
}

/// Returns the number that identifies a route of an agent.
fn route_id(id: u32, route: usize) -> u64 {
    u64::from(id) << 8 | route as u64
}

fn splash(at: Vec3, speed_mps: f32) -> Splash {
    Splash {
        at_m: at,
        speed_mps,
        age_secs: 0.0,
    }
}

/// Returns the cost per meter after one more agent is added to a polygon. As soon as a polygon has an enemy, its friends do not
/// lower the cost; the result does not depend on the order of the agents.
fn cost_with(cost: f32, is_enemy: bool, is_friend: bool) -> f32 {
    match (is_enemy, is_friend) {
        (true, _) => cost.max(1.0) + ENEMY_COST,
        (false, true) if cost <= 1.0 => (cost * FRIEND_FACTOR).max(MIN_COST),
        _ => cost,
    }
}

/// Returns the nearest position at which a body of this radius is completely inside a terrace.
fn nearest_inside(terrace: &TerraceParams, outline: &[Vec2], at: Vec3, radius_m: f32) -> Vec3 {
    let (low, high) = terrace.y_range_m(radius_m);
    let mut flat = flat(at);
    if let Some(nearest) = nearest_on_polygon(outline, flat) {
        let off = flat - nearest;
        let is_inside = polygon_contains(outline, flat);
        if !is_inside || off.length() < radius_m {
            let inward = if is_inside { off } else { -off };
            flat = nearest + inward.normalize_or_zero() * radius_m;
        }
    }
    Vec3::new(flat.x, at.y.clamp(low, high), flat.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friends_lower_the_cost_and_enemies_raise_it_in_any_order() {
        let cost_of = |agents: &[(bool, bool)]| {
            let each = agents.iter();
            each.fold(1.0, |cost, &(enemy, friend)| cost_with(cost, enemy, friend))
        };
        let (enemy, friend, other) = ((true, false), (false, true), (false, false));
        assert_eq!(cost_of(&[other]), 1.0);
        assert!(cost_of(&[friend]) < 1.0 && cost_of(&[friend, friend]) < cost_of(&[friend]));
        assert!(cost_of(&[friend; 99]) >= MIN_COST);
        assert!(cost_of(&[enemy]) > 1.0 && cost_of(&[enemy, enemy]) > cost_of(&[enemy]));
        assert_eq!(cost_of(&[friend, enemy]), cost_of(&[enemy, friend]));
        assert_eq!(cost_of(&[(true, true)]), cost_of(&[enemy]));
    }
}
