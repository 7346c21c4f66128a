//! Benchmark with the Boids workload of OpenSteer: the CPU time per step, and the largest difference between our forces and
//! those of OpenSteer.
//!
//! `cargo bench --bench flocking -- [--state FILE --force FILE] [--large]`

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/pool/boids/mod.rs"]
mod boids;

use std::path::PathBuf;

use boids::Boids;
use cpu_time::ProcessTime;

/// Time per step of OpenSteer with its LQ database, as (number of boids, milliseconds). It was measured on a machine like the
/// one on which our figures were measured.
const OPENSTEER_MS: [(usize, f64); 4] =
    [(300, 0.10), (1_000, 0.73), (10_000, 11.0), (100_000, 640.0)];

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|a| a == name)?;
        arguments.get(place + 1).map(PathBuf::from)
    };
    if let Some(state) = value("--state") {
        let mut flock = Boids::read(&state)?;
        if let Some(force) = value("--force") {
            println!("largest force error {:.2e}", flock.largest_error(&force)?);
        }
        return time(&mut flock);
    }
    for count in [300, 3_000] {
        let (state, force) = boids::files(count);
        match Boids::read(&state) {
            Ok(mut flock) => {
                let error = flock.largest_error(&force)?;
                println!(
                    "{count} boids of OpenSteer: largest force error {error:.2e} (at most 1e-3)"
                );
            }
            Err(error) => eprintln!("SKIPPED comparison with OpenSteer: {error}"),
        }
    }
    let counts: &[usize] = if arguments.iter().any(|a| a == "--large") {
        &[300, 1_000, 3_000, 10_000, 100_000]
    } else {
        &[300, 1_000, 3_000, 10_000]
    };
    for &count in counts {
        // Uses the recorded states of OpenSteer if they exist, so that the density is the same as for the figures of OpenSteer.
        let mut flock =
            Boids::read(&boids::files(count).0).unwrap_or_else(|_| Boids::evolved(count, 1_200));
        time(&mut flock)?;
    }
    Ok(())
}

/// Measures 20 runs of several steps. Prints the mean CPU time of a step in the fastest run.
fn time(flock: &mut Boids) -> Result<(), String> {
    let count = flock.position.len();
    let neighbors = flock.neighbors();
    let steps = (30_000 / count.max(1)).clamp(1, 100);
    let mut least_ms = f64::MAX;
    for _ in 0..20 {
        let start = ProcessTime::try_now().map_err(|error| error.to_string())?;
        for _ in 0..steps {
            flock.step();
        }
        least_ms = least_ms.min(start.elapsed().as_secs_f64() * 1e3 / steps as f64);
    }
    let theirs = OPENSTEER_MS.iter().find(|(n, _)| *n == count);
    let theirs = theirs.map_or(String::new(), |(_, ms)| {
        format!("; OpenSteer took {ms} ms on a similar machine")
    });
    println!(
        "plain flocking, {count} boids, {neighbors:.1} neighbors each: {least_ms:.3} ms of CPU time per step{theirs}"
    );
    Ok(())
}
