//! Terraces in a living pool: who is in which water, who climbs, who is in the air.
//!
//! In: the mesh compiled with the plan, the calls of actions, the moved bodies. Out: bodies that keep to their water or
//! fly to another. Must not: decide anything.

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::tick::Simulation;
use crate::behavior::{ClimbAnswer, ClimbRequest};
use crate::geometry::{nearest_on_polygon, polygon_contains};
use crate::navigation::{
    Flight, Guidance, MeshLinks, MeshPlanner, MeshPoint, NEIGHBOR_RANGE_M, NavMesh, NeighborPull,
    NeighborScratch, TerraceRequest, TerraceRoute,
};
use crate::world::{Body, Splash, TerraceParams, World};

mod map;

pub(super) use map::TerraceMap;
use map::abilities;

/// How far above the higher water a flight goes. Tuned by eye, 2026-11-21.
const CLEARANCE_M: f32 = 0.12;
/// Points at which a flight is held against obstacles before it begins, and the distance kept there.
const FLIGHT_SAMPLES: usize = 64;
const FLIGHT_GAP_M: f32 = 0.02;
/// How long a splash is told of.
const SPLASH_SECS: f32 = 1.0;
/// Ticks between two looks at where danger is.
const DANGER_TICKS: u64 = 15;
/// What a meter costs more for every enemy in the polygon. Tuned by eye, 2026-11-21.
const DANGER: f32 = 4.0;
/// Share of what a meter costs that is left where friends are, for one and for many. Tuned by eye, 2026-11-22.
const DESIRE: (f32, f32) = (0.85, 0.6);

/// Terraces with everybody in them. What is written of it is enough to go on bit for bit, after [`Terraces::resume`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Terraces {
    #[serde(skip)]
    pub(super) map: TerraceMap,
    /// By id.
    swimmers: Vec<Swimmer>,
    planner: MeshPlanner,
    /// For each species and polygon what a meter costs.
    costs: Vec<Vec<f32>>,
    pub(super) splashes: Vec<Splash>,
    /// Who wants to another terrace in this tick, by its place among the swimmers.
    #[serde(skip)]
    climbs: Vec<(usize, TerraceRequest)>,
    #[serde(skip)]
    near: Vec<NeighborPull>,
    #[serde(skip)]
    scratch: NeighborScratch,
}

/// One swimmer between terraces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swimmer {
    id: u32,
    home: u16,
    cooldown_secs: f32,
    air: Option<Air>,
    route: TerraceRoute,
}

/// A flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Air {
    from: Vec3,
    to: Vec3,
    flight: Flight,
    spent_secs: f32,
    home: u16,
}

fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}

impl Terraces {
    fn swimmer(&mut self, id: u32, at: Vec3) -> usize {
        match self
            .swimmers
            .binary_search_by_key(&id, |swimmer| swimmer.id)
        {
            Ok(place) => place,
            Err(place) => {
                let home = self.map.terrace_at(flat(at));
                let swimmer = Swimmer {
                    id,
                    home,
                    ..Swimmer::default()
                };
                self.swimmers.insert(place, swimmer);
                place
            }
        }
    }

    /// What a swimmer that calls goes by.
    fn climb(
        &self,
        world: &World,
        index: usize,
        place: usize,
        call: ClimbRequest,
    ) -> TerraceRequest {
        let body = &world.agents.bodies[index];
        let species = &world.species[usize::from(world.agents.species[index])];
        let swimmer = &self.swimmers[place];
        TerraceRequest {
            at: MeshPoint {
                terrace: swimmer.home,
                at_m: flat(body.position_m),
            },
            heading: flat(body.forward).normalize_or(Vec2::X),
            speed_mps: flat(body.velocity_mps).length(),
            goal: MeshPoint {
                terrace: call.terrace,
                at_m: call.at_m,
            },
            cruise_mps: species.motion.cruise_mps,
            run_up_mps: species.motion.leap.run_up_mps,
            radius_m: world.agents.radii_m[index],
            abilities: abilities(species),
            cooldown_left_secs: swimmer.cooldown_secs.max(0.0),
        }
    }

    /// Advances the searches, and tells the swimmers what was found for them.
    fn find_ways(&mut self, climbs: &[(usize, TerraceRequest)], budget: &mut u32) {
        let Self {
            map,
            swimmers,
            planner,
            costs,
            ..
        } = self;
        let graph = map.graph();
        planner.advance(graph, costs, budget, |id, query, outcome, path| {
            let place = swimmers.binary_search_by_key(&id, |swimmer| swimmer.id);
            let is_it = |(own, climb): &&(usize, TerraceRequest)| {
                Ok(*own) == place && climb.goal == query.goal
            };
            if let (Ok(place), Some((_, climb))) = (place, climbs.iter().find(is_it)) {
                let route = &mut swimmers[place].route;
                route.accept(climb, (query, outcome), path, graph);
            }
        });
    }

    /// What a swimmer does next on its way.
    fn advise(
        &mut self,
        world: &World,
        index: usize,
        (place, climb): (usize, &TerraceRequest),
    ) -> ClimbAnswer {
        self.look_around(world, index);
        let swimmer = &mut self.swimmers[place];
        let around = (self.near.as_slice(), &mut self.scratch);
        let step = swimmer.route.guide(climb, around, self.map.graph());
        let home = &self.map.terraces[usize::from(swimmer.home)];
        ClimbAnswer {
            step,
            y_m: home.y_range_m(climb.radius_m).1,
        }
    }

    /// Friends and enemies near a swimmer.
    fn look_around(&mut self, world: &World, index: usize) {
        let agents = &world.agents;
        let at = agents.bodies[index].position_m;
        let relations = &world.species[usize::from(agents.species[index])].relations;
        self.near.clear();
        for (other, body) in agents.bodies.iter().enumerate() {
            let bits = agents.name_bits[other];
            let pull = match (bits & relations.friend != 0, bits & relations.enemy != 0) {
                (_, true) => -1.0,
                (true, false) => 1.0,
                (false, false) => continue,
            };
            if other != index && body.position_m.distance(at) < NEIGHBOR_RANGE_M {
                let at_m = flat(body.position_m);
                let terrace = self.map.terrace_at(at_m);
                let at = MeshPoint { terrace, at_m };
                self.near.push(NeighborPull { at, pull });
            }
        }
    }

    /// Lets a swimmer fly, where nothing is in its way.
    fn take_off(
        &mut self,
        world: &World,
        index: usize,
        place: usize,
        (number, landing): (u32, Vec2),
    ) {
        let Some(link) = self.map.links.get(number) else {
            return;
        };
        let radius_m = world.agents.radii_m[index];
        let home = self.map.mesh.polygon(link.to).terrace;
        let (_, y) = self.map.terraces[usize::from(home)].y_range_m(radius_m);
        let to = Vec3::new(landing.x, y, landing.y);
        let from = world.agents.bodies[index].position_m;
        let air = Air {
            from,
            to,
            flight: Flight::over(to.y - from.y, CLEARANCE_M + 2.0 * radius_m),
            spent_secs: 0.0,
            home,
        };
        let is_free = |at: Vec3| {
            let mut each = world.solids.iter();
            each.all(|solid| solid.signed_distance_m(at) > FLIGHT_GAP_M)
        };
        let share = |n: usize| n as f32 / FLIGHT_SAMPLES as f32;
        if (0..=FLIGHT_SAMPLES).all(|n| is_free(air.at(air.flight.secs * share(n)))) {
            let swimmer = &mut self.swimmers[place];
            if link.is_leap() {
                let kind = usize::from(world.agents.species[index]);
                let leap = &world.species[kind].motion.leap;
                swimmer.cooldown_secs = air.flight.secs + leap.cooldown_secs;
            }
            swimmer.air = Some(air);
            self.splashes.push(splash(from, air.flight.up_mps));
        }
    }

    /// Lets go of those who have left the pool; `ids` are those who have not, in order.
    pub(super) fn keep_only(&mut self, ids: &[u32]) {
        self.swimmers.retain(|s| ids.binary_search(&s.id).is_ok());
    }

    /// Takes over what was saved on the same terraces.
    ///
    /// # Errors
    /// What is wrong with it, when its numbers cannot be what was saved.
    pub(super) fn resume(&mut self, saved: Self) -> Result<(), String> {
        let (waters, polygons) = (self.map.terraces.len(), self.map.mesh.len());
        let is_water = |home: u16| usize::from(home) < waters;
        let is_sound = |swimmer: &Swimmer| {
            let air = swimmer.air.is_none_or(|air| {
                let is_flight = air.flight.is_sound() && air.spent_secs.is_finite();
                is_water(air.home) && air.from.is_finite() && air.to.is_finite() && is_flight
            });
            let numbers = swimmer.cooldown_secs.is_finite() && swimmer.route.is_sound();
            is_water(swimmer.home) && air && numbers
        };
        if let Some(bad) = saved.swimmers.iter().find(|swimmer| !is_sound(swimmer)) {
            return Err(format!("agent {} is in water that there is not", bad.id));
        }
        if !saved
            .swimmers
            .windows(2)
            .all(|pair| pair[0].id < pair[1].id)
        {
            return Err("the swimmers' ids are out of order".into());
        }
        if saved.costs.iter().any(|costs| costs.len() != polygons) {
            return Err(format!(
                "the mesh has {polygons} polygons, its costs have not"
            ));
        }
        let splash = |s: &Splash| s.at_m.is_finite() && s.speed_mps.is_finite();
        if !saved
            .splashes
            .iter()
            .all(|s| splash(s) && s.age_secs.is_finite())
        {
            return Err("a splash is nowhere".into());
        }
        let map = std::mem::take(&mut self.map);
        *self = Self { map, ..saved };
        self.planner.resume(&self.map.mesh, &self.map.links);
        Ok(())
    }

    /// Another map: everybody finds its water anew.
    pub(super) fn take_over(&mut self, map: TerraceMap) {
        if self.map != map {
            self.map = map;
            self.swimmers.clear();
            self.planner = MeshPlanner::default();
            self.costs.clear();
        }
    }
}

impl Simulation {
    /// Hears those who want to another terrace, advances the searches by a budget of expansions, tells them what to do, and
    /// lets those fly who take off. What it uses is taken from the budget.
    pub(super) fn climb(&mut self, budget: &mut u32) {
        if self.terraces.map.terraces.is_empty() {
            return;
        }
        self.look_for_danger();
        let dt_secs = self.world.dt_secs;
        let Self {
            terraces,
            world,
            states,
            ..
        } = self;
        let splashes = &mut terraces.splashes;
        splashes
            .iter_mut()
            .for_each(|splash| splash.age_secs += dt_secs);
        splashes.retain(|splash| splash.age_secs <= SPLASH_SECS);
        let mut climbs = std::mem::take(&mut terraces.climbs);
        climbs.clear();
        for (index, state) in states.iter_mut().enumerate() {
            let id = world.agents.ids[index];
            let place = terraces.swimmer(id, world.agents.bodies[index].position_m);
            terraces.swimmers[place].cooldown_secs -= dt_secs;
            for call in state.climbs_mut().filter_map(|climbing| climbing.request) {
                let climb = terraces.climb(world, index, place, call);
                climbs.push((place, climb));
                let swimmer = &mut terraces.swimmers[place];
                if swimmer.air.is_none() && swimmer.route.needs_search(&climb, dt_secs) {
                    let kind = world.agents.species[index];
                    terraces.planner.request(id, kind, climb.query());
                }
            }
        }
        terraces.find_ways(&climbs, budget);
        let mut answered = climbs.iter();
        for (index, state) in states.iter_mut().enumerate() {
            for climbing in state.climbs_mut() {
                if climbing.request.take().is_none() {
                    continue;
                }
                // There is one for every call, in the same order.
                let Some((place, climb)) = answered.next() else {
                    continue;
                };
                if terraces.swimmers[*place].air.is_none() {
                    let answer = terraces.advise(world, index, (*place, climb));
                    climbing.answer = Some(answer);
                    if let Guidance::TakeOff(link, landing) = answer.step {
                        terraces.take_off(world, index, *place, (link, landing));
                    }
                }
            }
        }
        terraces.climbs = climbs;
    }

    /// Keeps every moved body in its water, or on its flight.
    pub(super) fn keep_terraces(&mut self) {
        if self.terraces.map.terraces.is_empty() {
            return;
        }
        let dt_secs = self.world.dt_secs;
        let Self {
            terraces,
            world,
            moved,
            ..
        } = self;
        for (index, body) in moved.iter_mut().enumerate() {
            let place = terraces.swimmer(world.agents.ids[index], body.position_m);
            let radius_m = world.agents.radii_m[index];
            let swimmer = &mut terraces.swimmers[place];
            if body.teleported {
                swimmer.air = None;
                swimmer.home = terraces.map.terrace_at(flat(body.position_m));
            }
            if let Some(air) = &mut swimmer.air {
                air.spent_secs += dt_secs;
                air.carry(body);
                if air.spent_secs >= air.flight.secs {
                    terraces.splashes.push(splash(air.to, air.flight.up_mps));
                    swimmer.home = air.home;
                    swimmer.air = None;
                    swimmer.route.reset();
                    body.velocity_mps.y = 0.0;
                }
                continue;
            }
            let home = usize::from(swimmer.home);
            let before = world.agents.bodies[index].position_m;
            let outline = &terraces.map.outlines[home];
            let kept = kept_in(
                &terraces.map.terraces[home],
                outline,
                body.position_m,
                radius_m,
            );
            if kept == body.position_m {
                continue;
            }
            let outward = (body.position_m - kept).normalize_or_zero();
            body.velocity_mps -= outward * body.velocity_mps.dot(outward).max(0.0);
            let is_free = world.solids.iter().all(|s| s.signed_distance_m(kept) > 0.0);
            body.position_m = if is_free { kept } else { before };
        }
    }

    /// Every so often: where enemies are a meter costs more, where friends are it costs less.
    fn look_for_danger(&mut self) {
        let Self {
            terraces, world, ..
        } = self;
        let count = terraces.map.mesh.len();
        if !world.random.tick.is_multiple_of(DANGER_TICKS)
            && terraces.costs.len() == world.species.len()
        {
            return;
        }
        terraces.costs.resize_with(world.species.len(), Vec::new);
        for costs in &mut terraces.costs {
            costs.clear();
            costs.resize(count, 1.0);
        }
        for (index, body) in world.agents.bodies.iter().enumerate() {
            let at = flat(body.position_m);
            let Some(polygon) = terraces
                .map
                .mesh
                .polygon_at(terraces.map.terrace_at(at), at)
            else {
                continue;
            };
            for (kind, species) in world.species.iter().enumerate() {
                let (bits, of) = (world.agents.name_bits[index], &species.relations);
                let cost = &mut terraces.costs[kind][polygon as usize];
                *cost = price(*cost, bits & of.enemy != 0, bits & of.friend != 0);
            }
        }
    }

    /// The terrace in which the agent at this index is, as the scene counts them; `None` while it flies, or without
    /// terraces.
    pub fn terrace(&self, index: usize) -> Option<u16> {
        let id = self.world.agents.ids[index];
        let swimmers = &self.terraces.swimmers;
        let place = swimmers
            .binary_search_by_key(&id, |swimmer| swimmer.id)
            .ok()?;
        let swimmer = &swimmers[place];
        swimmer.air.is_none().then_some(swimmer.home)
    }

    /// Splashes of the last second.
    pub fn splashes(&self) -> &[Splash] {
        &self.terraces.splashes
    }

    /// The mesh of the terraces, empty without any, and the links on it.
    pub fn mesh(&self) -> (&NavMesh, &MeshLinks) {
        (&self.terraces.map.mesh, &self.terraces.map.links)
    }

    /// The corners of the way over its terrace that the agent with this id has still to go.
    pub fn terrace_path(&self, id: u32) -> &[Vec2] {
        let swimmers = &self.terraces.swimmers;
        match swimmers.binary_search_by_key(&id, |swimmer| swimmer.id) {
            Ok(place) => swimmers[place].route.remaining_leg(),
            Err(_) => &[],
        }
    }
}

impl Air {
    fn at(&self, secs: f32) -> Vec3 {
        let share = (secs / self.flight.secs.max(1e-3)).clamp(0.0, 1.0);
        let mut at = self.from.lerp(self.to, share);
        at.y = self.from.y + self.flight.height_m(secs.min(self.flight.secs));
        at
    }

    /// Puts a body where the flight is, nose ahead along it.
    fn carry(&self, body: &mut Body) {
        let secs = self.spent_secs.min(self.flight.secs);
        let ahead = (self.to - self.from).with_y(0.0) / self.flight.secs.max(1e-3);
        let up_mps = self.flight.up_mps - crate::navigation::GRAVITY_MPS2 * secs;
        body.position_m = self.at(secs);
        body.velocity_mps = ahead + Vec3::Y * up_mps;
        body.forward = body.velocity_mps.normalize_or(body.forward);
        let side = body.forward.cross(Vec3::Y).normalize_or(Vec3::X);
        body.up = side.cross(body.forward);
    }
}

fn splash(at: Vec3, speed_mps: f32) -> Splash {
    Splash {
        at_m: at,
        speed_mps,
        age_secs: 0.0,
    }
}

/// What a meter costs where one more is: danger outweighs desire, in whatever order they are seen.
fn price(cost: f32, is_enemy: bool, is_friend: bool) -> f32 {
    match (is_enemy, is_friend) {
        (true, _) => cost.max(1.0) + DANGER,
        (false, true) if cost <= 1.0 => (cost * DESIRE.0).max(DESIRE.1),
        _ => cost,
    }
}

/// The nearest place where a body is wholly in a terrace's water.
fn kept_in(terrace: &TerraceParams, outline: &[Vec2], at: Vec3, radius_m: f32) -> Vec3 {
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
    fn friends_make_water_cheaper_and_enemies_dearer_whoever_is_seen_first() {
        let of = |each: &[(bool, bool)]| each.iter().fold(1.0, |cost, &(e, f)| price(cost, e, f));
        let (enemy, friend, other) = ((true, false), (false, true), (false, false));
        assert_eq!(of(&[other]), 1.0);
        assert!(of(&[friend]) < 1.0 && of(&[friend, friend]) < of(&[friend]));
        assert!(of(&[friend; 99]) >= DESIRE.1);
        assert!(of(&[enemy]) > 1.0 && of(&[enemy, enemy]) > of(&[enemy]));
        assert_eq!(of(&[friend, enemy]), of(&[enemy, friend]));
        assert_eq!(of(&[(true, true)]), of(&[enemy]));
    }
}
