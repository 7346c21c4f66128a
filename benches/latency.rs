//! Latency of the live pool: a recording runs in real time through the real threads and is rendered without a window. Two
//! times are measured from the arrival of a frame: until its observation reaches the simulation, and until the first
//! picture that depends on it is submitted to the GPU. This picture shows the start of the reaction. Interpolation takes
//! one tick (17 ms) more, and GPU and projector add their own latency.
//!
//! Run it with `cargo bench --bench latency [-- FILE.y4m]`. Without a recording, it uses synthetic visitors.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use shoal::app::live::capture::AtEnd;
use shoal::app::live::meter::Meter;
use shoal::app::live::show::Opener;
use shoal::app::live::supervise::Stop;
use shoal::app::live::{Live, Plan};
use shoal::app::picture;
use shoal::camera::SourceSpec;
use shoal::render::{OutputScreen, Screen};
use shoal::world::annotation::Layers;

/// Duration of the measurement, in seconds.
const SECS: u64 = 20;
/// Size of the rendered picture. Small enough for a machine without a graphics card.
const SIZE_PX: (u32, u32) = (480, 270);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --benches` runs this program without `--bench`; it only has to compile then.
        return Ok(());
    }
    let recording = arguments.iter().find(|a| a.ends_with(".y4m"));
    let source = recording.map_or("synthetic:1".to_owned(), |path| format!("file:{path}"));
    let site = shoal::site::load(None, None).map_err(|problems| anyhow::anyhow!("{problems}"))?;
    let plan = Plan {
        camera: SourceSpec::parse(&source)?,
        camera_params: site.file.camera.clone(),
        at_end: AtEnd::Repeat,
        record: None,
        vision: site.file.vision.clone(),
        calibration: None,
        surface: site.file.surface.clone(),
        scene: site.description(),
        simulation: site.file.simulation.clone(),
        layers: Layers::NONE,
    };
    let setup = picture(site, SIZE_PX);
    let stop = Stop::default();
    let mut live = Live::start(plan, stop)?;
    let open: Opener = Box::new(move || {
        let screen = OutputScreen::offscreen(setup.clone())?;
        println!("picture: {}", screen.describe());
        Ok(Some(Box::new(screen)))
    });
    live.show(open, || Duration::from_secs_f64(1.0 / 60.0), None)?;
    let begun = Instant::now();
    while live.crew.watch() && begun.elapsed() < Duration::from_secs(SECS) {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{source}, {SECS} s in real time, demo pool, 60 ticks per second, at most 60 pictures per second"
    );
    print("frame → observation", &live.observed);
    print("frame → submitted to the GPU", &live.submitted);
    print("rendering a picture", &live.drawn);
    println!("frames skipped by vision: {}", live.frames_skipped());
    live.crew.end()
}

fn print(what: &str, meter: &Meter) {
    let quantiles = meter.quantiles();
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms ({} measurements)",
        quantiles.p50_secs * 1e3,
        quantiles.p99_secs * 1e3,
        quantiles.count
    );
}
