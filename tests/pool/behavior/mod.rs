//! Tests of the rules of minds, perception and actions. Each test runs its own small pool.

mod company;
mod edges;
mod enemies;
mod minds;
mod refused;
mod schooling;
mod shadows;
mod vehicle;

use crate::pools;
use crate::pools::{wants, wide};
use glam::{Vec2, Vec3};
use shoal::behavior::actions::{Seek, SeekTarget};
use shoal::behavior::{ActionParams, AttractionParams};
use shoal::geometry::Visitor;
use shoal::simulation::{SceneDescription, Simulation, SpeciesDescription};
use shoal::world::{Observation, ObstacleParams};

/// Height of all agents in these tests, in meters.
const Y: f32 = -0.8;

fn at(x: f32, z: f32) -> Vec3 {
    Vec3::new(x, Y, z)
}

/// Adds a need with these actions, in this order, to a species. Returns the species.
fn only(species: SpeciesDescription, actions: &[(&str, ActionParams)]) -> SpeciesDescription {
    wants(species, "only", actions)
}

fn related(mut species: SpeciesDescription, kind: &str, to: &str) -> SpeciesDescription {
    species.relations.insert(kind.into(), vec![to.into()]);
    species
}

fn start(scene: &SceneDescription, places: &[(Vec3, Vec3)]) -> Simulation {
    let mut simulation = Simulation::new(scene, &pools::run(1, 1)).unwrap();
    for (index, (at, heading)) in places.iter().enumerate() {
        assert!(simulation.place(index, *at, *heading));
    }
    simulation
}

/// Starts a pool of 60 m by 60 m with these species. Agent `i` gets the position and the direction `places[i]`.
fn pool(species: Vec<SpeciesDescription>, places: &[(Vec3, Vec3)]) -> Simulation {
    start(&wide(species), places)
}

fn pool_with_rocks(
    species: Vec<SpeciesDescription>,
    places: &[(Vec3, Vec3)],
    obstacles: Vec<ObstacleParams>,
) -> Simulation {
    let scene = SceneDescription {
        obstacles,
        ..wide(species)
    };
    start(&scene, places)
}

fn tick(simulation: &mut Simulation) {
    simulation.run_tick(&no_visitors());
}

fn run(simulation: &mut Simulation, secs: f32, seen: &Observation) {
    for _ in 0..(secs * 60.0) as usize {
        simulation.run_tick(seen);
    }
}

fn no_visitors() -> Observation {
    Observation::default()
}

fn executed(simulation: &Simulation, index: usize) -> Vec<String> {
    simulation
        .active_actions(index)
        .map(str::to_owned)
        .collect()
}

/// Returns an attraction that attracts every agent at once and always, without personal differences.
fn at_once() -> AttractionParams {
    AttractionParams {
        share: 1.0,
        place_m: 0.0,
        hesitate_secs: 0.0,
        rest_secs: 0.0,
        spread: 0.0,
    }
}

fn seek_point(x: f32, z: f32, weight: f32) -> ActionParams {
    ActionParams::Seek(Seek {
        target: SeekTarget::Point,
        point_m: [x, Y, z],
        weight,
        ..Seek::default()
    })
}

fn shadow(at: Vec2, radius_m: f32, still_secs: f32) -> Observation {
    let shadow = Visitor {
        id: 1,
        centroid_m: at,
        foot_m: at,
        radius_m,
        velocity_mps: Vec2::ZERO,
        area_m2: 1.0,
        age_secs: 1.0,
        still_secs: f64::from(still_secs),
        ..Visitor::default()
    };
    Observation {
        time_secs: 0.0,
        shadows: vec![shadow],
    }
}
