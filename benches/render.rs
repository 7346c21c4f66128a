//! Benchmark of rendering. It measures the time to build the draw list of 300 fish on one thread, and the time to draw a whole
//! image with the available adapter. It prints the CPU time of this process and the wall time. The CPU time includes the work
//! of a software adapter, which runs inside this process.
//!
//! `cargo bench --bench render`. Without an adapter, it prints a message and measures only the draw list.
//! `cargo bench --profile dev --bench render -- costs` prints the table of docs/rendering.md: the work of each pass. It counts the
//! work of one picture, so it does not need an optimized build.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its figures"
)]

#[path = "../tests/picture/stage/mod.rs"]
mod stage;

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use shoal::render::{Body, DrawList, PassCost, PictureQuality, Renderer, Scenery};
use shoal::world::Snapshot;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        // `cargo test --benches` runs this without `--bench` and only checks that the benchmark compiles.
        return;
    }
    if std::env::args().any(|argument| argument == "costs") {
        costs();
        return;
    }
    pose();
    for (fish, size) in [(60, [480, 270]), (300, [1280, 720])] {
        for quality in [PictureQuality::Low, PictureQuality::High] {
            pictures(fish, size, quality);
        }
    }
}

/// Prints the median and the 95th percentile of many measurements.
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
    let setup = stage::setup([480, 270]);
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

fn pictures(fish: u32, size: [u32; 2], quality: PictureQuality) {
    let Some(gpu) = stage::gpu() else { return };
    let adapter = gpu.name();
    let mut setup = stage::setup(size);
    setup.quality = quality;
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
            "{fish} fish ({triangles} triangles with full meshes), one visitor, {}x{}, quality {quality:?}, on {adapter}",
            size[0], size[1]
        ),
        times,
    );
}

/// Prints the work of each pass in the quality `high`, as Markdown.
fn costs() {
    const MIB: f64 = 1024.0 * 1024.0;
    let tables = [[1920, 1080], [3840, 2160]].map(|size| {
        let gpu = stage::gpu()?;
        let mut setup = stage::setup(size);
        setup.quality = PictureQuality::High;
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let [from, to] = [0, 1].map(|tick| stage::snapshot(tick, 300, true));
        renderer.draw(&from, &to, 1.0).unwrap();
        Some(renderer.pass_costs())
    });
    let [Some(small), Some(large)] = tables else {
        return;
    };
    println!(
        "| pass | 1920×1080: thousand pixels | triangles | MiB read | MiB written | 3840×2160: thousand pixels | triangles | MiB read | MiB written |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let columns = |cost: &PassCost| {
        format!(
            "{} | {} | {:.1} | {:.1}",
            cost.pixels / 1000,
            cost.triangles,
            cost.read_bytes as f64 / MIB,
            cost.written_bytes as f64 / MIB
        )
    };
    let sum = |costs: &[PassCost]| {
        let of = |value: fn(&PassCost) -> u64| costs.iter().map(value).sum();
        PassCost {
            name: "all",
            pixels: of(|c| c.pixels),
            triangles: of(|c| c.triangles),
            read_bytes: of(|c| c.read_bytes),
            written_bytes: of(|c| c.written_bytes),
        }
    };
    let all = [sum(&small), sum(&large)];
    for (one, two) in (small.iter().chain(&all[..1])).zip(large.iter().chain(&all[1..])) {
        println!("| {} | {} | {} |", one.name, columns(one), columns(two));
    }
}
