//! Benchmark of vision. It measures the CPU time per frame, from the background model to tracks, with synthetic visitors.
//!
//! Run it with `cargo bench --bench vision`. The time to draw the synthetic frames is measured separately.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use cpu_time::ProcessTime;
use glam::DVec3;
use shoal::camera::{Frame, Source, SourceSpec};
use shoal::geometry::{FloorFromCamera, Surface};
use shoal::vision::{FloorView, Vision, VisionParams};

const FRAMES: usize = 400;
const WARM_UP: usize = 100;

fn main() {
    for (width, height) in [(320, 240), (640, 480), (1280, 720)] {
        measure(width, height);
        print_opencv(width, height);
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

fn measure(width: u32, height: u32) {
    let spec = SourceSpec::parse(&format!("synthetic:1?fps=30&size={width}x{height}"))
        .expect("the source is valid");
    let mut source = Source::open(&spec).expect("a synthetic source can be opened");
    let surface = Surface::default();
    let view = FloorView {
        map: FloorFromCamera::whole_frame(width, height, &surface),
        lamp_m: Some(DVec3::new(0.1, 4.0, -0.2)),
        camera_m: Some(DVec3::new(0.0, 5.0, 1.0)),
        surface,
    };
    let mut vision = Vision::new(&VisionParams::default(), view);
    let mut frame = Frame::default();
    let (mut times_ms, mut draw_ms) = (Vec::with_capacity(FRAMES), Vec::with_capacity(FRAMES));
    let mut tracks = 0;
    for number in 0..WARM_UP + FRAMES {
        let start = ProcessTime::now();
        source
            .read(&mut frame)
            .expect("synthetic frames can be read");
        let drawn = start.elapsed().as_secs_f64() * 1e3;
        let start = ProcessTime::now();
        let seen = vision.observe(&frame).len();
        if number >= WARM_UP {
            times_ms.push(start.elapsed().as_secs_f64() * 1e3);
            draw_ms.push(drawn);
            tracks += seen;
        }
    }
    times_ms.sort_by(f64::total_cmp);
    draw_ms.sort_by(f64::total_cmp);
    println!(
        "vision {width}x{height}: {:.2} / {:.2} ms CPU p50 / p99 per frame ({FRAMES} frames, {:.1} visitors on average); \
         drawing a frame: {:.2} ms",
        times_ms[FRAMES / 2],
        times_ms[FRAMES * 99 / 100],
        tracks as f64 / FRAMES as f64,
        draw_ms[FRAMES / 2],
    );
}
