//! Benchmark with the Boids workload of OpenSteer: the CPU time per step, and the largest difference between our forces and
//! those of OpenSteer.
//!
//! `cargo bench --bench flocking -- [--state FILE --force FILE] [--large] [--opensteer PROGRAM]`. The program is
//! `benches/opensteer.cpp`, compiled with OpenSteer as its first lines say; its times are measured in turn with ours.

#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]

#[path = "../tests/pool/boids/mod.rs"]
mod boids;

use std::path::{Path, PathBuf};
use std::process::Command;

use boids::Boids;
use cpu_time::ProcessTime;

/// Number of times that each of both is measured.
const ROUNDS: usize = 9;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|a| a == name)?;
        arguments.get(place + 1).map(PathBuf::from)
    };
    let peer = value("--opensteer");
    if let Some(state) = value("--state") {
        if let Some(force) = value("--force") {
            let error = Boids::read(&state)?.largest_error(&force)?;
            println!("largest force error {error:.2e}");
        }
        return time(&state, peer.as_deref());
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
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    for &count in counts {
        // Uses the recorded states of OpenSteer if they exist, so that the density is the same as for the figures of OpenSteer.
        let mut state = boids::files(count).0;
        if !state.exists() {
            state = folder.path().join(format!("{count}.bin"));
            write(&Boids::evolved(count, 1_200), &state)?;
        }
        time(&state, peer.as_deref())?;
    }
    Ok(())
}

/// Measures both in turn from the same state. Prints the median of the times per step.
fn time(state: &Path, peer: Option<&Path>) -> Result<(), String> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(step_ms(&mut Boids::read(state)?)?);
        if let Some(peer) = peer {
            theirs.push(peer_ms(peer, state)?);
        }
    }
    let mut flock = Boids::read(state)?;
    let (count, neighbors) = (flock.position.len(), flock.neighbors());
    let least_ms = median(ours);
    let beside = if theirs.is_empty() {
        String::new()
    } else {
        let their_ms = median(theirs);
        let times = their_ms / least_ms;
        format!("; OpenSteer {their_ms:.3} ms, {times:.1} times as long")
    };
    println!(
        "plain flocking, {count} boids, {neighbors:.1} neighbors each: {least_ms:.3} ms of CPU time per step{beside}"
    );
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Measures 20 series of steps. Returns the mean CPU time of a step in the fastest series.
fn step_ms(flock: &mut Boids) -> Result<f64, String> {
    let steps = (30_000 / flock.position.len().max(1)).clamp(1, 100);
    let mut least_ms = f64::MAX;
    for _ in 0..20 {
        let start = ProcessTime::try_now().map_err(|error| error.to_string())?;
        for _ in 0..steps {
            flock.step();
        }
        least_ms = least_ms.min(start.elapsed().as_secs_f64() * 1e3 / steps as f64);
    }
    Ok(least_ms)
}

/// Measures OpenSteer in the same way.
fn peer_ms(peer: &Path, state: &Path) -> Result<f64, String> {
    let output = Command::new(peer).arg(state).output();
    let output = output.map_err(|error| format!("{}: {error}", peer.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let ms = text.trim().parse();
    ms.map_err(|_| format!("{} printed no time: {text}", peer.display()))
}

/// Writes a state as [`Boids::read`] reads it.
fn write(flock: &Boids, path: &Path) -> Result<(), String> {
    let mut bytes = (flock.position.len() as u32).to_le_bytes().to_vec();
    bytes.extend(flock.world_radius.to_le_bytes());
    let each = flock.position.iter().zip(&flock.forward).zip(&flock.speed);
    for ((position, forward), &speed) in each {
        let up = forward.any_orthonormal_vector();
        let vectors = [*position, *forward, up].map(|vector| vector.to_array());
        let numbers = vectors.into_iter().flatten().chain([speed, 0.0, 0.0, 0.0]);
        bytes.extend(numbers.flat_map(f32::to_le_bytes));
    }
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
