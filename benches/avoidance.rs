//! Benchmark of the methods for collision avoidance. `benches/avoidance/README.md` explains the figures.
//!
//! `cargo bench --bench avoidance -- [METHOD …] [FIRST_SEED]`

#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/pool/crowds/mod.rs"]
mod crowds;
#[path = "avoidance/references.rs"]
mod references;

use crowds::{Figures, Scene};
use references::Reference;

/// Number of runs per scene and method. The start positions differ between the runs.
const SEEDS: u32 = 4;
/// Longest duration of a run, in seconds. Agents that have not arrived after this time count as stuck.
const SECS: f32 = 120.0;

type Make = fn(u32) -> Scene;

const SCENES: [(&str, Make); 6] = [
    ("circle swap (40)", crowds::circle_swap),
    ("T-bone (2 x 30)", crowds::t_bone),
    ("hallway (2 x 24)", crowds::hallway),
    ("rock field, single", crowds::rocks_single),
    ("rock field, school (20)", crowds::rocks_school),
    ("formation change (20)", crowds::formation_change),
];

fn main() {
    let first: u32 = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(1);
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--") && a.parse::<u32>().is_err())
        .collect();
    println!(
        "radius {} m, {} m/s, 60 Hz, at most 8 m/s²; {SEEDS} runs a row (rock field, single: {})",
        crowds::RADIUS_M,
        crowds::SPEED_MPS,
        4 * SEEDS
    );
    println!(
        "{:24} {:14} {:>10} {:>8} {:>8} {:>8} {:>8} {:>7} {:>9}",
        "scene",
        "method",
        "coll/ag·min",
        "worst %",
        "jitter",
        "loss %",
        "speed ±%",
        "time",
        "arrived"
    );
    for (name, make) in SCENES {
        let runs = if name.contains("single") {
            4 * SEEDS
        } else {
            SEEDS
        };
        let references = Reference::ALL.map(Some);
        for method in references.into_iter().chain([None]) {
            let method_name = method.map_or("ours", Reference::name);
            if !wanted.is_empty() && !wanted.iter().any(|w| method_name.contains(w.as_str())) {
                continue;
            }
            let mut all = Figures::default();
            for seed in first..first + runs {
                let scene = make(seed);
                all.add(&match method {
                    Some(method) => references::run(&scene, method, SECS),
                    None => crowds::run(&scene, SECS),
                });
            }
            println!(
                "{:24} {:14} {:10.2} {:8.1} {:8.1} {:8.1} {:8.1} {:7.2} {:>5}/{}",
                name,
                method_name,
                all.collision_rate(),
                all.worst_overlap_percent,
                all.jitter_dps(),
                all.speed_loss_percent(),
                all.speed_deviation_percent(),
                all.time_ratio(),
                all.arrived,
                all.agents
            );
        }
    }
}
