//! Terraces in a running pool: the terrace of each agent, the paths to other terraces, and the flights between terraces.
//!
//! In: the compiled mesh, the requests of actions, the moved bodies. Out: answers, bodies that stay in their terrace or fly to
//! another terrace. Must not: decide what an agent does.

mod flight;
mod paths;
mod plan;

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::Simulation;
use crate::behavior::MindState;
use crate::geometry::{nearest_on_polygon, polygon_contains};
use crate::navigation::{MeshLinks, MeshPlanner, NavMesh, TerraceRoute};
use crate::world::{Body, IN_THE_AIR, Splash, TerraceParams, World};
use flight::Airborne;

pub(super) use paths::PathScratch;
pub(super) use plan::TerracePlan;

/// Time for which a snapshot contains a splash.
const SPLASH_SECS: f32 = 1.0;

/// State of all agents in a pool with terraces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TerraceState {
    /// One entry per agent, in ascending order of ids.
    swimmers: Vec<Swimmer>,
    /// Path searches of the swimmers.
    planner: MeshPlanner,
    pub(super) splashes: Vec<Splash>,
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

    /// Removes all routes and searches. Must be called when the terraces of the plan change. Who is in the air flies on, and all others
    /// are sorted into the new terraces in the next tick.
    pub(super) fn reset(&mut self, plan: &TerracePlan) {
        self.swimmers
            .retain(|swimmer| swimmer.air.is_some() && !plan.is_empty());
        for swimmer in &mut self.swimmers {
            swimmer.routes.clear();
            swimmer.home = swimmer.home.min(plan.terraces.len() as u16 - 1);
            if let Some(air) = &mut swimmer.air {
                air.home = plan.terrace_at(air.landing_m());
            }
        }
        self.planner = MeshPlanner::default();
    }

    /// Checks a loaded state against a plan and prepares its path searches.
    ///
    /// # Errors
    /// A description of the problem, if the state does not fit the plan or contains invalid numbers.
    pub(super) fn resume(&mut self, plan: &TerracePlan) -> Result<(), String> {
        let terraces = plan.terraces.len();
        let exists = |home: u16| usize::from(home) < terraces;
        let is_valid = |swimmer: &Swimmer| {
            let air = swimmer
                .air
                .is_none_or(|air| exists(air.home) && air.is_sound());
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
    scratch: &'a mut PathScratch,
    world: World<'a>,
}

impl TerraceTick<'_> {
    /// Increases the age of all splashes and removes splashes older than `SPLASH_SECS`.
    fn age_splashes(&mut self) {
        let splashes = &mut self.state.splashes;
        for splash in splashes.iter_mut() {
            splash.age_secs += self.world.dt_secs;
        }
        splashes.retain(|splash| splash.age_secs <= SPLASH_SECS);
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
            if let Some(landing) = air.advance(body, self.world.dt_secs) {
                self.state.splashes.push(landing);
                swimmer.home = air.home;
                swimmer.air = None;
                swimmer.routes.iter_mut().for_each(TerraceRoute::reset);
                // The water stops the fall: no fish brakes this hard by itself.
                let species = &self.world.species[usize::from(agents.species[index])];
                let level = body.velocity_mps.with_y(0.0);
                body.velocity_mps = level.clamp_length_max(species.motion.cruise_mps);
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
        // An obstacle is in the way back. The body swims on beside it, but not farther out.
        let before_m = agents.bodies[index].position_m;
        let is_out_m = |at: Vec3| at.distance(nearest_inside(terrace, outline, at, radius_m));
        if is_free {
            body.position_m = kept;
        } else if is_out_m(body.position_m) > is_out_m(before_m) {
            body.position_m = before_m;
        }
    }
}

impl Simulation {
    /// The data of one tick, and the minds of all agents.
    fn terrace_tick(&mut self) -> (TerraceTick<'_>, &mut [MindState]) {
        let tick = TerraceTick {
            plan: &self.plan.terraces,
            state: &mut self.state.terraces,
            scratch: &mut self.workspace.paths,
            world: World::new(&self.plan.world, &self.state.world, &self.workspace.input),
        };
        (tick, &mut self.state.minds)
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
        let mut bodies = std::mem::take(&mut self.workspace.next_bodies);
        let (mut tick, _) = self.terrace_tick();
        for (index, body) in bodies.iter_mut().enumerate() {
            // A caught agent, which has no names, is in no terrace until it returns.
            if tick.world.agents.name_bits[index] != 0 {
                tick.keep(index, body);
            }
        }
        self.workspace.next_bodies = bodies;
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

    /// Indices of the agents that leapt in the last tick, to a terrace that is not lower.
    pub fn begun_leaps(&self) -> impl Iterator<Item = usize> + '_ {
        let (dt_secs, plan) = (self.workspace.input.dt_secs, &self.plan.terraces);
        let depth_m = |home: u16| plan.terraces[usize::from(home)].surface_depth_m;
        let swimmers = self.state.terraces.swimmers.iter();
        let leaping = swimmers.filter(move |swimmer| {
            let air = swimmer.air.filter(|air| air.is_new(dt_secs));
            air.is_some_and(|air| depth_m(air.home) <= depth_m(swimmer.home))
        });
        leaping.filter_map(|swimmer| self.state.world.agents.index_of(swimmer.id))
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
