//! Benchmark of vision. It measures the CPU time per frame, from the background model to tracks, with synthetic visitors; for
//! several cameras that of one frame of each, with the fusion of their tracks.
//!
//! Run it with `cargo bench --bench vision`. The time to draw the synthetic frames is measured separately.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use cpu_time::ProcessTime;
use glam::DVec3;
use shoal::camera::{Frame, Source, SourceSpec};
use shoal::geometry::{FloorFromCamera, Surface};
use shoal::vision::{CameraTracks, FloorView, Fusion, Vision, VisionParams, WatchedFloor};

const FRAMES: usize = 400;
const WARM_UP: usize = 100;

fn main() {
    for (width, height) in [(320, 240), (640, 480), (1280, 720)] {
        measure(1, (width, height));
        print_opencv(width, height);
    }
    for cameras in [2, 4] {
        measure(cameras, (640, 480));
    }
}

/// Prints the CPU time of OpenCV for comparison, if OpenCV is installed.
fn print_opencv(width: u32, height: u32) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/opencv.py");
    let output = std::process::Command::new("python3")
        .args([script.to_owned(), width.to_string(), height.to_string()])
        .output();
    match output {
        Ok(output) if output.status.success() => {
            print!("{}", String::from_utf8_lossy(&output.stdout));
        }
        _ => println!(
            "OpenCV: SKIPPED, python3 with opencv-python-headless and numpy is not installed"
        ),
    }
}

/// Measures cameras that see the same visitors; all together for one frame of each.
fn measure(cameras: usize, (width, height): (u32, u32)) {
    let spec = SourceSpec::parse(&format!("synthetic:1?fps=30&size={width}x{height}"))
        .expect("the source is valid");
    let mut source = Source::open(&spec).expect("a synthetic source can be opened");
    let surface = Surface::default();
    let view = FloorView {
        map: FloorFromCamera::whole_frame(width, height, &surface),
        lamp_m: Some(DVec3::new(0.1, 4.0, -0.2)),
        camera_m: Some(DVec3::new(0.0, 5.0, 1.0)),
        surface: surface.clone(),
    };
    let params = VisionParams::default();
    let mut visions: Vec<Vision> = (0..cameras)
        .map(|_| Vision::new(&params, view.clone()))
        .collect();
    let mut fusion = Fusion::new(&surface, cameras, 0.2);
    for camera in 0..cameras {
        fusion.set_watched(camera, WatchedFloor::new(&view, &params, (width, height)));
    }
    let mut frame = Frame::default();
    let mut times_ms = Vec::with_capacity(FRAMES);
    let (mut draw_ms, mut fusion_ms) = (times_ms.clone(), times_ms.clone());
    let mut tracks = 0;
    let elapsed_ms = |start: ProcessTime| start.elapsed().as_secs_f64() * 1e3;
    for number in 0..WARM_UP + FRAMES {
        let start = ProcessTime::now();
        source
            .read(&mut frame)
            .expect("synthetic frames can be read");
        let drawn = elapsed_ms(start);
        let start = ProcessTime::now();
        for vision in &mut visions {
            vision.observe(&frame);
        }
        let fused = ProcessTime::now();
        for (camera, vision) in visions.iter().enumerate() {
            fusion.observe(&CameraTracks {
                camera,
                time_secs: frame.time_secs,
                tracks: vision.tracks(),
                covariances_m2: vision.covariances_m2(),
            });
        }
        let seen = fusion.visitors().len();
        if number >= WARM_UP {
            fusion_ms.push(elapsed_ms(fused));
            times_ms.push(elapsed_ms(start));
            draw_ms.push(drawn);
            tracks += seen;
        }
    }
    for times in [&mut times_ms, &mut fusion_ms, &mut draw_ms] {
        times.sort_by(f64::total_cmp);
    }
    println!(
        "vision, {cameras} × {width}x{height}: {:.2} / {:.2} ms CPU p50 / p99 for one frame of each ({FRAMES} frames, {:.1} visitors \
         on average); fusion {:.3} ms of it; drawing a frame: {:.2} ms",
        times_ms[FRAMES / 2],
        times_ms[FRAMES * 99 / 100],
        tracks as f64 / FRAMES as f64,
        fusion_ms[FRAMES / 2],
        draw_ms[FRAMES / 2],
    );
}
