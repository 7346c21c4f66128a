//! CPU time of a tick with complete minds: the species of `config/` with visitors, occlusion and obstacles.
//!
//! The pool grows with the number of fish, so that each fish has about the same number of neighbors.
//! Run with `cargo bench --bench minds [-- FISH...]`.

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/pool/pools/mod.rs"]
mod pools;

use cpu_time::ProcessTime;
use glam::Vec2;
use shoal::geometry::Visitor;
use shoal::simulation::{SceneDescription, Simulation};
use shoal::world::{Observation, ObstacleParams, SphereParams};

fn main() -> Result<(), String> {
    let mut counts: Vec<u32> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    if counts.is_empty() {
        counts = vec![300, 1_000, 10_000];
    }
    let moves = [true, false];
    let all = counts
        .into_iter()
        .flat_map(|count| moves.map(|moves| (count, moves)));
    all.into_iter()
        .try_for_each(|(count, moves)| time(count, moves))
}

/// Returns the scene `pool` with `count` fish. The pool is enlarged, so that the density of the fish stays the same. The
/// proportions of the species stay the same too.
fn scene(count: u32) -> SceneDescription {
    let mut scene = pools::pool();
    let shipped: u32 = scene.species.iter().map(|species| species.count).sum();
    for species in &mut scene.species {
        species.count = (species.count * count / shipped).max(1);
        // Salmon see across the whole original pool. Without these limits, they would see more neighbors in a larger pool.
        species.perception.sight_radius_m = species.perception.sight_radius_m.min(1.2);
        species.perception.prey_sight_radius_m = species.perception.prey_sight_radius_m.min(1.5);
    }
    let missing = count
        - scene
            .species
            .iter()
            .map(|species| species.count)
            .sum::<u32>();
    scene.species[0].count += missing;
    let wider = (count as f32 / shipped as f32).sqrt() * 2.0;
    scene.surface.width_m *= wider;
    scene.surface.height_m *= wider;
    scene.obstacles = (0..24)
        .map(|n| {
            let at = spread_point(
                n,
                Vec2::new(scene.surface.width_m, scene.surface.height_m) * 0.45,
            );
            ObstacleParams::Sphere(SphereParams {
                visible: true,
                center_m: [at.x, -1.0, at.y],
                radius_m: 0.35,
            })
        })
        .collect();
    scene
}

/// Returns the `n`-th point of an evenly spread sequence of points within ±`half_m`. **Source**: Roberts 2018, the R2 sequence.
fn spread_point(n: u32, half_m: Vec2) -> Vec2 {
    let along = Vec2::new(0.754_877_7, 0.569_840_3) * n as f32;
    (along.fract() * 2.0 - 1.0) * half_m
}

/// Returns eight visitors who walk, or who have stood still for a long time.
fn visitors(scene: &SceneDescription, tick: u64, moves: bool) -> Observation {
    let tick = if moves { tick } else { 0 };
    let half = Vec2::new(scene.surface.width_m, scene.surface.height_m) * 0.45;
    let shadow = |id: u32| {
        let sway = Vec2::from_angle(tick as f32 * 0.02 + id as f32) * 0.5;
        let at = spread_point(100 + id, half) + sway;
        Visitor {
            id,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.25,
            velocity_mps: if moves { sway.perp() * 1.2 } else { Vec2::ZERO },
            still_secs: if moves { 0.0 } else { 30.0 },
            area_m2: 0.2,
            age_secs: 10.0,
            outline_m: (0..64)
                .map(|step| at + Vec2::from_angle(step as f32 * 0.098_174_77) * Vec2::new(0.4, 0.2))
                .collect(),
            ..Visitor::default()
        }
    };
    Observation {
        time_secs: tick as f64 / 60.0,
        shadows: (0..8).map(shadow).collect(),
    }
}

/// Measures 20 series of ticks. Prints the mean CPU time of a tick in the fastest series.
fn time(count: u32, moves: bool) -> Result<(), String> {
    let scene = scene(count);
    let mut simulation =
        Simulation::new(&scene, &pools::run(1, 1)).map_err(|error| error.to_string())?;
    let mut tick = 0;
    let mut run = |simulation: &mut Simulation, ticks: u64| {
        for _ in 0..ticks {
            simulation.run_tick(&visitors(&scene, tick, moves));
            tick += 1;
        }
    };
    run(&mut simulation, 600);
    let ticks = u64::from((20_000 / count).clamp(2, 60));
    let mut least_ms = f64::MAX;
    for _ in 0..20 {
        let start = ProcessTime::try_now().map_err(|error| error.to_string())?;
        run(&mut simulation, ticks);
        least_ms = least_ms.min(start.elapsed().as_secs_f64() * 1e3 / ticks as f64);
    }
    let world = simulation.world();
    let mut pairs = 0usize;
    for (index, me) in world.agents.bodies.iter().enumerate() {
        let sight = world.species[usize::from(world.agents.species[index])]
            .perception
            .sight_radius_m;
        let sees = |other: &&shoal::world::Body| other.position_m.distance(me.position_m) <= sight;
        pairs += world.agents.bodies.iter().filter(sees).count() - 1;
    }
    let shadows = visitors(&scene, 0, moves).shadows.len();
    println!(
        "complete minds, {} fish with {:.1} neighbors each, {shadows} {} shadows of 64 corners, {} rocks: {least_ms:.3} ms CPU time per tick",
        world.agents.len(),
        pairs as f64 / world.agents.len() as f64,
        if moves { "walking" } else { "standing" },
        world.solids.len()
    );
    Ok(())
}
