//! Benchmark of the latency of the live pool. The usual threads process a recording in real time and render without a window.
//! The benchmark measures two times from the arrival of a camera frame: until the simulation gets its observation, and until
//! the GPU gets the first image that shows the effect of the frame. Images are interpolated between ticks, so the effect is
//! complete one tick (17 ms) later. The graphics device and the projector add their own latency.
//!
//! `cargo bench --bench latency [-- FILE.y4m]`. Without a recording, visitors are simulated.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::{Duration, Instant};

use shoal::app::{LiveCamera, LiveConfig, LivePool, first_output_setup};
use shoal::camera::{AtEnd, SourceSpec};
use shoal::render::{GpuPresenter, Presenter};
use shoal::runtime::{DurationMeter, StopFlag};
use shoal::screen::ScreenOpener;

/// Duration of the measurement, in seconds. Vision learns the background model during the first second.
const SECS: u64 = 20;
/// Size of the image in pixels. A machine without a graphics card can render this size in real time.
const SIZE_PX: (u32, u32) = (480, 270);

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        // `cargo test --benches` runs this without `--bench` and only checks that the benchmark compiles.
        return Ok(());
    }
    let recording = arguments.iter().find(|a| a.ends_with(".y4m"));
    let source = recording.map_or("synthetic:1".to_owned(), |path| format!("file:{path}"));
    let site =
        shoal::site::load(None, Some("pool")).map_err(|problems| anyhow::anyhow!("{problems}"))?;
    let config = LiveConfig {
        mapping: Default::default(),
        cameras: vec![LiveCamera {
            name: String::new(),
            source: SourceSpec::parse(&source)?,
            folder: None,
            params: site.file.camera.clone(),
            vision: site.file.vision.clone(),
            calibration: None,
        }],
        at_end: AtEnd::Repeat,
        record: None,
        surface: site.file.surface.clone(),
        projection: site.projection_digest(),
        scene: site.description(),
        simulation: site.file.simulation.clone(),
        hall: None,
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
    print("frame → observation", &live.meters.frame_to_observation);
    print("frame → handed to the GPU", &live.meters.frame_to_picture);
    print("time to draw a picture", &live.meters.draw);
    println!("frames skipped by vision: {}", live.frames_skipped());
    live.supervisor.shut_down()
}

fn print(what: &str, meter: &DurationMeter) {
    let summary = meter.summary();
    println!(
        "{what}: p50 {:.1} ms, p99 {:.1} ms ({} measured)",
        summary.p50_ms, summary.p99_ms, summary.count
    );
}
