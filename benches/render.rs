//! Cost of a picture: building the draw list of 300 fish on one thread, and whole pictures on the available adapter, as CPU
//! time of this process (a software adapter runs inside of it) and as wall time.
//!
//! `cargo bench --bench render`. Without an adapter only the draw list is measured, with a message.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures"
)]

#[path = "../tests/picture/stage/mod.rs"]
mod stage;

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use shoal::render::{Body, DrawList, EdgeSmoothing, Renderer, Scenery};
use shoal::world::Snapshot;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test --benches` runs this without `--bench` and only checks that it compiles.
        return;
    }
    pose();
    for (fish, size) in [(60, [480, 270]), (300, [1280, 720])] {
        // The figures that are wanted were measured with hard edges; without a graphics card `run` and `render` draw
        // soft ones, with one they take four samples.
        for edges in [
            EdgeSmoothing::Off,
            EdgeSmoothing::Filtered,
            EdgeSmoothing::Multisampled,
        ] {
            pictures(fish, size, edges);
        }
    }
}

/// Middle of many measurements, and the slowest.
fn print(what: &str, mut times: Vec<(Duration, Duration)>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    let (cpu, wall) = at(0.5);
    println!(
        "{what}: CPU ms median {:.3}, p95 {:.3}; wall ms {:.3} ({} runs)",
        ms(cpu),
        ms(at(0.95).0),
        ms(wall),
        times.len()
    );
}

fn measured(mut run: impl FnMut()) -> (Duration, Duration) {
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    run();
    (cpu.elapsed(), wall.elapsed())
}

fn snapshots(fish: u32) -> Vec<Snapshot> {
    (0..90)
        .map(|tick| stage::snapshot(tick, fish, true))
        .collect()
}

fn pose() {
    let setup = stage::setup([480, 270], EdgeSmoothing::Off);
    let scenery = Scenery::new(&setup.look, &setup.surface, [480, 270], setup.depth_m);
    let bodies: Vec<Body> = setup
        .species
        .into_iter()
        .map(|(look, model)| Body::new(model, look))
        .collect();
    let snapshots = snapshots(300);
    let mut list = DrawList::default();
    let times = (0..40)
        .flat_map(|_| snapshots.windows(2))
        .map(|pair| {
            measured(|| {
                list.update(&pair[0], &pair[1], 0.5, &bodies, &scenery);
            })
        })
        .skip(100)
        .collect();
    print("pose 300 fish and build their draw list, one thread", times);
}

fn pictures(fish: u32, size: [u32; 2], edges: EdgeSmoothing) {
    let Some(gpu) = stage::gpu() else { return };
    let adapter = gpu.name();
    let setup = stage::setup(size, edges);
    let triangles: usize = (0..fish as usize)
        .map(|i| {
            setup.species[usize::from(stage::snapshot(0, fish, false).agents[i].species)]
                .1
                .indices
                .len()
                / 3
        })
        .sum();
    let mut renderer = Renderer::new(gpu, setup).unwrap();
    let snapshots = snapshots(fish);
    let times = snapshots
        .windows(2)
        .map(|pair| {
            measured(|| {
                renderer.draw(&pair[0], &pair[1], 1.0).unwrap();
                renderer.gpu().wait().unwrap();
            })
        })
        .skip(20)
        .collect();
    print(
        &format!(
            "{fish} fish ({triangles} triangles with full meshes; fish under 150 px use low-detail ones), one visitor, {}x{}, edges {edges:?}, on {adapter}",
            size[0], size[1]
        ),
        times,
    );
}
