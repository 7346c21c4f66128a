//! Tests of determinism and memory. The same seed, scene description and shadows give the same run bit by bit, with any
//! number of threads. After the first second, a tick allocates no memory.

use crate::pools;
use std::hash::{DefaultHasher, Hasher};

use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::{SceneDescription, Simulation};
use shoal::site::load;
use shoal::world::{Observation, Snapshot};

/// Returns the shadows of two visitors in a tick: one walks back and forth, the other stands still.
fn visitors(tick: u64) -> Observation {
    let time_secs = tick as f64 / 60.0;
    let x = (time_secs * 0.7).sin() as f32 * 1.8;
    let shadow = |id, at: Vec2, velocity_mps, still_secs| Visitor {
        id,
        centroid_m: at,
        foot_m: at,
        radius_m: 0.25,
        velocity_mps,
        area_m2: 0.2,
        age_secs: time_secs,
        still_secs,
        outline_m: (0..24)
            .map(|step| {
                let angle = step as f32 / 24.0 * std::f32::consts::TAU;
                at + Vec2::from_angle(angle) * Vec2::new(0.3, 0.2)
            })
            .collect(),
        ..Visitor::default()
    };
    Observation {
        time_secs,
        shadows: vec![
            shadow(1, Vec2::new(x, 0.3), Vec2::new(0.6, 0.0), 0.0),
            shadow(2, Vec2::new(-0.8, -0.9), Vec2::ZERO, time_secs),
        ],
    }
}

fn hash_of_run(scene: &SceneDescription, seed: u64, threads: u16, ticks: u64) -> u64 {
    let mut simulation = Simulation::new(scene, &pools::run(seed, threads)).unwrap();
    let mut snapshot = Snapshot::default();
    let mut hasher = DefaultHasher::new();
    for tick in 0..ticks {
        simulation.run_tick(&visitors(tick));
        pools::hash_state(&simulation, &mut snapshot, &mut hasher);
    }
    hasher.finish()
}

#[test]
fn a_run_is_the_same_again_and_with_more_threads() {
    for name in ["pool", "lagoon", "nursery", "plankton", "molecules"] {
        let scene = load(None, Some(name)).unwrap().description();
        let run = |seed, threads| hash_of_run(&scene, seed, threads, 300);
        let once = run(7, 1);
        assert_eq!(once, run(7, 1), "{name}: a second run differs");
        assert_eq!(once, run(7, 2), "{name}: a run with two threads differs");
        assert_eq!(once, run(7, 3), "{name}: a run with three threads differs");
        assert_ne!(once, run(8, 1), "{name}: two seeds give the same run");
    }
}

#[test]
fn a_steady_tick_allocates_nothing() {
    let mut simulation = Simulation::new(&pools::pool(), &pools::run(3, 1)).unwrap();
    let mut snapshot = Snapshot::default();
    let observations: Vec<Observation> = (0..600).map(visitors).collect();
    for observation in &observations[..60] {
        simulation.run_tick(observation);
        simulation.snapshot(&mut snapshot);
    }
    let counted = allocation_counter::measure(|| {
        for observation in &observations[60..] {
            simulation.run_tick(observation);
            simulation.snapshot(&mut snapshot);
        }
    });
    assert_eq!(counted.count_total, 0, "allocations in 540 ticks");
}
