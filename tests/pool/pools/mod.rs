//! Scene descriptions for tests and benchmarks: the shipped pool from the folder `config/`, and simple pools.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::panic,
    reason = "shared by several tests and benchmarks, each of which uses a part"
)]

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use shoal::behavior::{ActionParams, NeedKind, NeedParams};
use shoal::geometry::Surface;
use shoal::simulation::{SceneDescription, Simulation, SimulationParams, SpeciesDescription};
use shoal::world::{ObstacleParams, Snapshot, SphereParams};

/// Reads a TOML file from the folder `config/`.
fn table(path: &str) -> toml::Table {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("config")
        .join(path);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Deserializes the value `name` of a configuration file.
fn part<T: DeserializeOwned>(table: &toml::Table, name: &str) -> T {
    let value = table
        .get(name)
        .cloned()
        .unwrap_or_else(|| panic!("no [{name}]"));
    value
        .try_into()
        .unwrap_or_else(|error| panic!("[{name}]: {error}"))
}

/// Returns the built-in species `name` with `count` individuals.
pub fn species(name: &str, count: u32) -> SpeciesDescription {
    let file = shoal::site::built_in_species(name)
        .unwrap_or_else(|| panic!("there is no built-in species {name}"));
    SpeciesDescription {
        name: name.into(),
        count,
        mind: file.mind(),
        groups: file.groups,
        body: file.body,
        motion: file.motion,
        perception: file.perception,
        flock: file.flock,
        relations: file.relations,
        ..SpeciesDescription::default()
    }
}

/// Returns the scene `pool` from `config/scenes` with its whole population, but without director rules.
pub fn pool() -> SceneDescription {
    let file = table("scenes/pool.toml");
    let population: BTreeMap<String, u32> = part(&file, "population");
    SceneDescription {
        surface: Surface::default(),
        pool: part(&file, "pool"),
        obstacles: part(&file, "obstacles"),
        species: population
            .iter()
            .map(|(name, &count)| species(name, count))
            .collect(),
        // Director rules would influence the measurements of the tests. A test of the director adds its own rules.
        director: Vec::new(),
        ..SceneDescription::default()
    }
}

/// Returns a scene with a U-shaped reef between a hunter and its prey, read from `tests/pool/u_reef`.
pub fn u_reef() -> SceneDescription {
    let site = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pool/u_reef/site.toml");
    shoal::site::load(Some(&site), None)
        .unwrap_or_else(|problems| panic!("{problems}"))
        .description()
}

/// Returns a species without actions. It swims at 1 m/s, weighs 1 kg, sees 5 m far and responds without delay.
pub fn bare(name: &str, count: u32) -> SpeciesDescription {
    let mut described = SpeciesDescription {
        name: name.into(),
        count,
        ..SpeciesDescription::default()
    };
    described.body.radius_m = 0.1;
    described.body.size_spread = 0.0;
    described.motion.cruise_mps = 1.0;
    described.motion.boost_mps = 3.0;
    described.motion.min_speed_mps = 0.0;
    described.motion.response_secs = 0.0;
    described.perception.sight_radius_m = 5.0;
    described.perception.prey_sight_radius_m = 5.0;
    described
}

/// Returns an action of this kind. Its parameters are written as in a species file, with commas between them; `AT_ONCE` is an
/// attraction that attracts every agent at once and always.
pub fn action(kind: &str, params: &str) -> ActionParams {
    let at_once = "{ share = 1, place_m = 0, hesitate_secs = 0, rest_secs = 0, spread = 0 }";
    let params = params.replace("AT_ONCE", at_once);
    let text = format!("it = {{ action = '{kind}', {params} }}").replace(",  }", " }");
    let mut table: BTreeMap<String, ActionParams> =
        toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    table.remove("it").unwrap_or_else(|| panic!("{text}"))
}

/// Adds a need with these actions, in this order, to a species. Returns the species.
pub fn wants(
    mut species: SpeciesDescription,
    need: &str,
    actions: &[(&str, ActionParams)],
) -> SpeciesDescription {
    for (name, params) in actions {
        add_action(&mut species, name, params.clone());
    }
    species.mind.needs.push(NeedParams {
        name: need.into(),
        kind: NeedKind::ActionBased,
        actions: actions.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ..NeedParams::default()
    });
    species
}

/// Adds an action that no need names yet.
pub fn add_action(species: &mut SpeciesDescription, name: &str, action: ActionParams) {
    species.mind.actions.insert(name.into(), action);
}

/// Returns a visible round rock.
pub fn sphere(center_m: [f32; 3], radius_m: f32) -> ObstacleParams {
    let visible = true;
    ObstacleParams::Sphere(SphereParams {
        visible,
        center_m,
        radius_m,
    })
}

/// Returns a pool of 60 m by 60 m without obstacles.
pub fn wide(species: Vec<SpeciesDescription>) -> SceneDescription {
    SceneDescription {
        surface: Surface {
            width_m: 60.0,
            height_m: 60.0,
            ..Surface::default()
        },
        species,
        ..SceneDescription::default()
    }
}

/// Returns the scene `pool` with these species instead of its own population.
pub fn pool_with(species: Vec<SpeciesDescription>) -> SceneDescription {
    SceneDescription { species, ..pool() }
}

/// Returns simulation parameters with this seed and number of threads.
pub fn run(seed: u64, threads: u16) -> SimulationParams {
    SimulationParams {
        seed,
        threads,
        ..SimulationParams::default()
    }
}

/// Adds the public state of a pool to a hash.
pub fn hash_state(simulation: &Simulation, snapshot: &mut Snapshot, hasher: &mut impl Hasher) {
    simulation.snapshot(snapshot);
    for agent in &snapshot.agents {
        for vector in [
            agent.position_m,
            agent.forward,
            agent.up,
            agent.velocity_mps,
        ] {
            vector.to_array().map(f32::to_bits).hash(hasher);
        }
        (agent.id, agent.boost.to_bits(), agent.teleported).hash(hasher);
    }
    for splash in &snapshot.splashes {
        let numbers = [splash.speed_mps, splash.age_secs];
        numbers.map(f32::to_bits).hash(hasher);
    }
    for index in 0..snapshot.agents.len() {
        simulation.active_need(index).hash(hasher);
        simulation
            .active_actions(index)
            .for_each(|name| name.hash(hasher));
    }
}
