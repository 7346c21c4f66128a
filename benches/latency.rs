//! How long a frame takes through the live pool: a recording played in real time through the real threads, drawn without
//! a window. Frame arrived → observation handed to the pool; frame arrived → first picture handed to the GPU that knows
//! what came of it. That picture begins to show it: interpolation takes one tick (17 ms) until it shows all of it, and
//! device and projector come on top.
//!
//! `cargo bench --bench latency [-- FILE.y4m]`. Without a recording it makes visitors up.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use shoal::app::live::capture::AtEnd;
use shoal::app::live::meter::Meter;
use shoal::app::live::show::Opener;
use shoal::app::live::supervise::Stop;
use shoal::app::live::{Live, Plan};
use shoal::app::picture;
use shoal::camera::SourceSpec;
use shoal::render::{GpuPresenter, Presenter};
use shoal::world::OverlayLayers;

/// How long it is measured, after a second in which the floor is learned.
const SECS: u64 = 20;
/// Large enough for a picture, small enough for a machine without a graphics card.
const SIZE_PX: (u32, u32) = (480, 270);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --benches` only wants to know that it compiles.
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
        layers: OverlayLayers::NONE,
    };
    let setup = picture(site, SIZE_PX);
    let stop = Stop::default();
    let mut live = Live::start(plan, stop)?;
    let open: Opener = Box::new(move || {
        let screen = GpuPresenter::offscreen(setup.clone())?;
        println!("picture: {}", screen.describe());
        Ok(Some(Box::new(screen)))
    });
    live.show(open, || Duration::from_secs_f64(1.0 / 60.0), None)?;
    let begun = Instant::now();
    while live.crew.watch() && begun.elapsed() < Duration::from_secs(SECS) {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{source}, {SECS} s in real time, demo pool, 60 ticks a second, at most 60 pictures a second"
    );
    print("frame → observation", &live.observed);
    print("frame → handed to the GPU", &live.submitted);
    print("making a picture", &live.drawn);
    println!("frames that vision skipped: {}", live.frames_skipped());
    live.crew.end()
}

fn print(what: &str, meter: &Meter) {
    let said = meter.quantiles();
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms ({} measured)",
        said.p50_secs * 1e3,
        said.p99_secs * 1e3,
        said.count
    );
}
