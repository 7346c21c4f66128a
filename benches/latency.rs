//! Measures the latency of the live pool: a recording is played in real time through the real threads, and rendered without
//! a window. Measured are the time from the arrival of a frame until its observation is handed to the simulation, and until
//! the first picture with its effect is handed to the GPU. Because of the interpolation, the effect is complete one tick
//! (17 ms) later. Graphics device and projector add their own latency.
//!
//! `cargo bench --bench latency [-- FILE.y4m]`. Without a recording, visitors are simulated.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use shoal::app::{DurationMeter, LiveConfig, LivePool, ScreenOpener, StopFlag, first_output_setup};
use shoal::camera::{AtEnd, SourceSpec};
use shoal::render::{GpuPresenter, Presenter};
use shoal::world::OverlayLayers;

/// Duration of the measurement. In its first second the background model is learned.
const SECS: u64 = 20;
/// Picture size that a machine without a graphics card can render in real time.
const SIZE_PX: (u32, u32) = (480, 270);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --benches` only checks that it compiles.
        return Ok(());
    }
    let recording = arguments.iter().find(|a| a.ends_with(".y4m"));
    let source = recording.map_or("synthetic:1".to_owned(), |path| format!("file:{path}"));
    let site = shoal::site::load(None, None).map_err(|problems| anyhow::anyhow!("{problems}"))?;
    let config = LiveConfig {
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
    let setup = first_output_setup(site, SIZE_PX);
    let stop = StopFlag::default();
    let mut live = LivePool::start(config, stop)?;
    let open: ScreenOpener = Box::new(move || {
        let screen = GpuPresenter::offscreen(setup.clone())?;
        println!("picture: {}", screen.describe());
        Ok(Some(Box::new(screen)))
    });
    live.start_render(open, || Duration::from_secs_f64(1.0 / 60.0), None)?;
    let begun = Instant::now();
    while live.supervisor.check() && begun.elapsed() < Duration::from_secs(SECS) {
        std::thread::sleep(Duration::from_millis(50));
    }
    println!(
        "{source}, {SECS} s in real time, demo pool, 60 ticks per second, at most 60 pictures per second"
    );
    print("frame → observation", &live.observation_latency);
    print("frame → handed to the GPU", &live.picture_latency);
    print("time to draw a picture", &live.draw_time);
    println!("frames skipped by vision: {}", live.frames_skipped());
    live.supervisor.shut_down()
}

fn print(what: &str, meter: &DurationMeter) {
    let summary = meter.summary();
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms ({} measured)",
        summary.p50_secs * 1e3,
        summary.p99_secs * 1e3,
        summary.count
    );
}
