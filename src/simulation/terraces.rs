//! Terraces in a living pool: who is in which water, who climbs, who is in the air.
//!
//! In: the mesh compiled with the plan, the calls of actions, the moved bodies. Out: bodies that keep to their water or
//! fly to another. Must not: decide anything.

use glam::{Vec2, Vec3};

use super::description::{SceneDescription, SimulationError};
use super::tick::Simulation;
use crate::behavior::actions::leap::{ClimbCall, Told};
use crate::geometry::{Solid, polygon};
use crate::navigation::Footprints;
use crate::navigation::mesh::{
    Abilities, Climb, Climber, Flight, Grounds, LeapGround, Links, MeshSearch, NavMesh, Near,
    Place, Step, TerraceGround, build, find_links,
};
use crate::world::{Body, LeapParams, Species, Splash, TerraceParams, World};

/// How far above the higher water a flight goes. Tuned by eye, 2026-11-21.
const CLEARANCE_M: f32 = 0.12;
/// Widest flight. Tuned by eye, 2026-11-21.
const REACH_M: f32 = 1.2;
/// Largest angle between a swimmer's heading and the flight's. Tuned by eye, 2026-11-21.
const HEADING_RAD: f32 = 0.7;
/// Others within this of a climber pull or push it. Tuned by eye, 2026-11-21.
const NEAR_M: f32 = 0.8;
/// Points at which a flight is held against obstacles before it begins, and the distance kept there.
const FLIGHT_SAMPLES: usize = 64;
const FLIGHT_GAP_M: f32 = 0.02;
/// How long a splash is told of.
const SPLASH_SECS: f32 = 1.0;
/// Ticks between two looks at where danger is.
const DANGER_TICKS: u64 = 15;
/// What a meter costs more for every enemy in the polygon. Tuned by eye, 2026-11-21.
const DANGER: f32 = 4.0;

/// The terraces of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TerraceMap {
    terraces: Vec<TerraceParams>,
    outlines: Vec<Vec<Vec2>>,
    mesh: NavMesh,
    links: Links,
}

/// Terraces with everybody in them.
#[derive(Debug, Default)]
pub(super) struct Terraces {
    pub(super) map: TerraceMap,
    /// By id.
    swimmers: Vec<Swimmer>,
    search: MeshSearch,
    near: Vec<Near>,
    /// For each species and polygon what a meter costs.
    costs: Vec<Vec<f32>>,
    pub(super) splashes: Vec<Splash>,
}

/// One swimmer between terraces.
#[derive(Debug, Default)]
struct Swimmer {
    id: u32,
    home: u16,
    cooldown_secs: f32,
    air: Option<Air>,
    climber: Climber,
}

/// A flight.
#[derive(Clone, Copy, Debug)]
struct Air {
    from: Vec3,
    to: Vec3,
    flight: Flight,
    spent_secs: f32,
    home: u16,
}

impl TerraceMap {
    /// Compiles a scene's terraces; empty where there are none.
    pub(super) fn compile(
        scene: &SceneDescription,
        solids: &[Solid],
        species: &[Species],
    ) -> Result<Self, SimulationError> {
        let terraces = &scene.pool.terraces;
        if terraces.is_empty() {
            return Ok(Self::default());
        }
        let outlines: Vec<Vec<Vec2>> = terraces.iter().map(TerraceParams::corners).collect();
        // One mesh for all: what the largest of those who leap needs, or the largest of all where nobody does.
        let radius = |s: &Species| s.body.radius_m * (1.0 + s.body.size_spread);
        let leapers = species.iter().filter(|s| s.motion.leap.height_m > 0.0);
        let largest = leapers.map(radius).fold(0.0, f32::max);
        let radius_m = if largest > 0.0 {
            largest
        } else {
            species.iter().map(radius).fold(0.05, f32::max)
        };
        let footprints: Vec<Footprints> = terraces
            .iter()
            .map(|terrace| {
                let mut prints = Footprints::default();
                prints.push_solids(solids, -terrace.ground_depth_m, -terrace.surface_depth_m);
                prints
            })
            .collect();
        let grounds: Vec<TerraceGround<'_>> = outlines
            .iter()
            .zip(&footprints)
            .map(|(outline_m, obstacles)| TerraceGround {
                outline_m,
                obstacles,
                grow_m: radius_m,
            })
            .collect();
        let mesh = build(&grounds).map_err(|error| SimulationError::BrokenTerraces {
            reason: error.to_string(),
        })?;
        let heights: Vec<f32> = terraces.iter().map(|t| -t.surface_depth_m).collect();
        let ground = LeapGround {
            heights_m: &heights,
            solids,
            radius_m,
            clearance_m: CLEARANCE_M + radius_m,
            reach_m: REACH_M,
            heading_rad: HEADING_RAD,
        };
        let mut swimmers: Vec<Abilities> = Vec::new();
        for abilities in species.iter().map(|s| abilities(&s.motion.leap)) {
            if !swimmers.contains(&abilities) {
                swimmers.push(abilities);
            }
        }
        let links = find_links(&mesh, &ground, &swimmers);
        Ok(Self {
            terraces: terraces.clone(),
            outlines,
            mesh,
            links,
        })
    }

    /// The terrace that a place lies over, or the nearest.
    fn terrace_at(&self, at: Vec2) -> u16 {
        let inside = self
            .outlines
            .iter()
            .position(|outline| polygon::contains(outline, at));
        let off = |place: &usize| {
            let nearest = polygon::nearest_on_outline(&self.outlines[*place], at);
            nearest.map_or(f32::INFINITY, |nearest| nearest.distance(at))
        };
        let nearest = || (0..self.outlines.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
        inside.or_else(nearest).unwrap_or(0) as u16
    }
}

fn abilities(leap: &LeapParams) -> Abilities {
    Abilities {
        leap_height_m: leap.height_m,
        leap_speed_mps: if leap.height_m > 0.0 {
            leap.take_off_mps
        } else {
            0.0
        },
        leap_cooldown_secs: leap.cooldown_secs,
    }
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

    /// What a swimmer does next on its way.
    fn advise(&mut self, world: &World, index: usize, place: usize, call: ClimbCall) -> Told {
        let body = &world.agents.bodies[index];
        let kind = usize::from(world.agents.species[index]);
        let species = &world.species[kind];
        let radius_m = world.agents.radii_m[index];
        self.near.clear();
        for (other, at) in world.agents.bodies.iter().map(|b| b.position_m).enumerate() {
            let is_near = other != index && at.distance(body.position_m) < NEAR_M;
            if is_near && world.agents.bits[other] & species.relations.enemy != 0 {
                self.near.push(Near {
                    at: Place {
                        terrace: self.map.terrace_at(flat(at)),
                        at_m: flat(at),
                    },
                    pull: -1.0,
                });
            }
        }
        let swimmer = &mut self.swimmers[place];
        let leap = &species.motion.leap;
        let climb = Climb {
            at: Place {
                terrace: swimmer.home,
                at_m: flat(body.position_m),
            },
            heading: flat(body.forward).normalize_or(Vec2::X),
            speed_mps: flat(body.velocity_mps).length(),
            goal: Place {
                terrace: call.terrace,
                at_m: call.at_m,
            },
            cruise_mps: species.motion.cruise_mps,
            run_up_mps: leap.run_up_mps,
            radius_m,
            abilities: abilities(leap),
            cooldown_left_secs: swimmer.cooldown_secs.max(0.0),
        };
        let grounds = Grounds {
            mesh: &self.map.mesh,
            links: &self.map.links,
            costs: self.costs.get(kind).map_or(&[], Vec::as_slice),
            dt_secs: world.dt_secs,
        };
        let step = swimmer
            .climber
            .step(&climb, &self.near, &grounds, &mut self.search);
        let home = &self.map.terraces[usize::from(swimmer.home)];
        Told {
            step,
            y_m: home.band_m(radius_m).1,
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
        let (_, y) = self.map.terraces[usize::from(home)].band_m(radius_m);
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

    /// Another map: everybody finds its water anew.
    pub(super) fn take_over(&mut self, map: TerraceMap) {
        if self.map != map {
            self.map = map;
            self.swimmers.clear();
            self.costs.clear();
        }
    }
}

impl Simulation {
    /// Hears those who want to another terrace, tells them what to do, and lets those fly who take off.
    pub(super) fn climb(&mut self) {
        if self.terraces.map.terraces.is_empty() {
            return;
        }
        self.look_for_danger();
        let dt_secs = self.world.dt_secs;
        let splashes = &mut self.terraces.splashes;
        splashes
            .iter_mut()
            .for_each(|splash| splash.age_secs += dt_secs);
        splashes.retain(|splash| splash.age_secs <= SPLASH_SECS);
        let Self {
            terraces,
            world,
            states,
            ..
        } = self;
        for (index, state) in states.iter_mut().enumerate() {
            let id = world.agents.ids[index];
            let place = terraces.swimmer(id, world.agents.bodies[index].position_m);
            terraces.swimmers[place].cooldown_secs -= dt_secs;
            for climbing in state.climbs_mut() {
                if let Some(call) = climbing.call.take()
                    && terraces.swimmers[place].air.is_none()
                {
                    let told = terraces.advise(world, index, place, call);
                    climbing.told = Some(told);
                    if let Step::TakeOff(link, landing) = told.step {
                        terraces.take_off(world, index, place, (link, landing));
                    }
                }
            }
        }
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
                    swimmer.climber.landed();
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

    /// Every so often: where enemies are, a meter costs more.
    fn look_for_danger(&mut self) {
        let Self {
            terraces, world, ..
        } = self;
        let count = terraces.map.mesh.len();
        if !world.chance.tick.is_multiple_of(DANGER_TICKS)
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
            let Some(polygon) = terraces.map.mesh.find(terraces.map.terrace_at(at), at) else {
                continue;
            };
            for (kind, species) in world.species.iter().enumerate() {
                if world.agents.bits[index] & species.relations.enemy != 0 {
                    terraces.costs[kind][polygon as usize] += DANGER;
                }
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
    pub fn mesh(&self) -> (&NavMesh, &Links) {
        (&self.terraces.map.mesh, &self.terraces.map.links)
    }

    /// The corners of the way over its terrace that the agent with this id has still to go.
    pub fn climb_rest(&self, id: u32) -> &[Vec2] {
        let swimmers = &self.terraces.swimmers;
        match swimmers.binary_search_by_key(&id, |swimmer| swimmer.id) {
            Ok(place) => swimmers[place].climber.rest(),
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
        let up_mps = self.flight.up_mps - crate::navigation::mesh::leaps::GRAVITY_MPS2 * secs;
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

/// The nearest place where a body is wholly in a terrace's water.
fn kept_in(terrace: &TerraceParams, outline: &[Vec2], at: Vec3, radius_m: f32) -> Vec3 {
    let (low, high) = terrace.band_m(radius_m);
    let mut flat = flat(at);
    if let Some(nearest) = polygon::nearest_on_outline(outline, flat) {
        let off = flat - nearest;
        let is_inside = polygon::contains(outline, flat);
        if !is_inside || off.length() < radius_m {
            let inward = if is_inside { off } else { -off };
            flat = nearest + inward.normalize_or_zero() * radius_m;
        }
    }
    Vec3::new(flat.x, at.y.clamp(low, high), flat.y)
}
