//! Tests of pools that have run for months: the fish move as at the start.

use std::collections::BTreeMap;

use glam::Vec2;
use serde_json::{Value, json};
use shoal::geometry::Visitor;
use shoal::simulation::Simulation;
use shoal::site::load;
use shoal::world::{Observation, Snapshot};

use crate::pools;

/// Ticks in 24 hours at 60 ticks per second.
const DAY_TICKS: u64 = 24 * 3600 * 60;
/// Ticks of a measurement.
const TICKS: u64 = 1800;
/// Largest relative difference of the mean speed of a species. Runs with other random numbers differ by up to 11 %.
const TOLERANCE: f32 = 0.2;
/// Fewest individuals of a compared species. A single hunter swims five times as fast while it hunts.
const COUNT_MIN: f32 = 8.0;

/// A visitor who walks to and fro.
fn visitor(tick: u64) -> Observation {
    let secs = (tick % 3600) as f32 / 60.0;
    let centroid_m = Vec2::new((secs * 0.7).sin() * 1.5, 0.2);
    Observation {
        time_secs: f64::from(secs),
        shadows: vec![Visitor {
            id: 1,
            centroid_m,
            foot_m: centroid_m,
            radius_m: 0.25,
            velocity_mps: Vec2::X * (secs * 0.7).cos(),
            area_m2: 0.2,
            age_secs: f64::from(secs),
            ..Visitor::default()
        }],
    }
}

/// Returns the mean speed of each species from this tick on.
fn speeds(scene: &str, start_tick: u64) -> BTreeMap<String, f32> {
    let scene = load(None, Some(scene)).unwrap().description();
    let pool = Simulation::new(&scene, &pools::run(5, 1)).unwrap();
    let mut saved: Value = serde_json::from_str(&pool.save().unwrap()).unwrap();
    for path in ["/state/world/random/tick", "/state/planner/tick"] {
        *saved.pointer_mut(path).unwrap() = json!(start_tick);
    }
    let mut pool = Simulation::load(&scene, &pools::run(5, 1), &saved.to_string()).unwrap();
    let mut snapshot = Snapshot::default();
    let mut sums: BTreeMap<String, (f32, f32)> = BTreeMap::new();
    for tick in 0..TICKS {
        pool.run_tick(&visitor(tick));
        pool.snapshot(&mut snapshot);
        for agent in &snapshot.agents {
            let name = scene.species[usize::from(agent.species)].name.to_string();
            let (sum, count) = sums.entry(name).or_default();
            *sum += agent.velocity_mps.length();
            *count += 1.0;
        }
    }
    assert_eq!(pool.tick(), start_tick + TICKS);
    sums.into_iter()
        .filter(|(_, (_, count))| *count >= COUNT_MIN * TICKS as f32)
        .map(|(name, (sum, count))| (name, sum / count))
        .collect()
}

#[test]
fn fish_swim_after_90_days_and_3_years_as_at_the_start() {
    let mut wrong = Vec::new();
    for scene in ["pool", "cascade"] {
        let start = speeds(scene, 0);
        assert!(!start.is_empty(), "no species is compared");
        for days in [90, 3 * 365] {
            let later = speeds(scene, days * DAY_TICKS);
            for (name, speed) in &start {
                println!(
                    "{scene}, {name}: {speed:.3} m/s, after {days} days {:.3}",
                    later[name]
                );
                if (later[name] / speed - 1.0).abs() > TOLERANCE {
                    wrong.push(format!(
                        "{scene}, {name}, {days} days: {speed} and {}",
                        later[name]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
