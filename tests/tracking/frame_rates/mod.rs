//! Tests that tracks do not depend on the frame rate of the camera.

use glam::{DVec2, DVec3};
use shoal::calibration::{CalibrationParams, CalibrationSetup, calibrate, read_points};
use shoal::camera::{Frame, Luma};
use shoal::geometry::{FloorFromCamera, Surface, Visitor};
use shoal::vision::{FloorView, Vision, VisionParams};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;
/// Gray levels of shadows and of lit floor.
const LEVELS: [u8; 2] = [15, 150];

/// Vision with a clock of its own.
struct Camera {
    vision: Vision,
    fps: f64,
    frames: u64,
}

impl Camera {
    fn new(view: FloorView, fps: f64) -> Self {
        Self {
            vision: Vision::new(&VisionParams::default(), view),
            fps,
            frames: 0,
        }
    }

    /// Returns the time stamp of the next frame, in seconds.
    fn now_secs(&self) -> f64 {
        self.frames as f64 / self.fps
    }

    /// Processes the next frame. Returns the published tracks.
    fn show(&mut self, levels: Vec<u8>) -> &[Visitor] {
        let frame = Frame {
            sequence: self.frames,
            time_secs: self.now_secs(),
            width_px: WIDTH,
            height_px: HEIGHT,
            luma: Luma::U8(levels),
        };
        self.frames += 1;
        self.vision.observe(&frame)
    }
}

/// Frames per second of the recording `frames.png`.
const RECORDED_FPS: f64 = 12.0;

/// Returns the foreground of a rendered room, 12 frames per second, as frames with two gray levels. Two visitors are at the
/// upper edge (z > 0). A third one enters at the left, walks along the lower edge and stops there, partly outside the image.
fn recording() -> Vec<Vec<u8>> {
    let strip = image::load_from_memory(include_bytes!("frames.png")).unwrap();
    let strip = strip.into_luma8();
    assert_eq!(strip.width(), WIDTH);
    let frames = strip.as_raw().chunks_exact((WIDTH * HEIGHT) as usize);
    let levels = |frame: &[u8]| {
        let levels = frame.iter().map(|&lit| LEVELS[usize::from(lit > 0)]);
        levels.collect()
    };
    frames.map(levels).collect()
}

/// Returns the calibrated view of the recording.
fn recorded_view() -> FloorView {
    let setup = CalibrationSetup {
        frame_px: (WIDTH, HEIGHT),
        surface_m: (4.0, 3.0),
        lamp_m: Some(DVec3::new(0.2, 4.2, -0.3)),
        camera_m: None,
        date: "2026-11-26".to_owned(),
    };
    let points = read_points(include_str!("markers.csv")).unwrap();
    let (calibration, _) = calibrate(&points, &setup, &CalibrationParams::default())
        .unwrap_or_else(|error| panic!("{error}"));
    FloorView {
        map: calibration.floor_from_camera(WIDTH, HEIGHT).unwrap(),
        lamp_m: calibration.lamp_m.map(DVec3::from_array),
        camera_m: calibration.camera_m.map(DVec3::from_array),
        surface: Surface::default(),
    }
}

/// At 12 frames per second, a single measurement that favored two visitors was enough to split a track. The second track then
/// stayed beside the visitor who stood still.
#[test]
fn a_track_created_on_part_of_another_shadow_does_not_survive_at_a_low_frame_rate() {
    let (frames, view) = (recording(), recorded_view());
    for step in [1, 2] {
        let fps = RECORDED_FPS / step as f64;
        let mut camera = Camera::new(view.clone(), fps);
        let (mut seen_secs, mut false_secs) = (0.0, 0.0);
        for frame in frames.iter().step_by(step) {
            let has_entered = camera.now_secs() > 2.5;
            let tracks = camera.show(frame.clone()).iter();
            let tracks = tracks.filter(|track| track.foot_m.y < 0.0).count();
            if has_entered {
                seen_secs += if tracks > 0 { 1.0 / fps } else { 0.0 };
                false_secs += if tracks > 1 { 1.0 / fps } else { 0.0 };
            }
        }
        assert!(seen_secs > 2.7, "{fps} fps: seen for {seen_secs} s");
        assert!(false_secs < 0.4, "{fps} fps: two tracks for {false_secs} s");
    }
}

/// Returns a lit floor, seen from straight above, with or without the shadow of a visitor.
fn floor(has_shadow: bool) -> Vec<u8> {
    let is_dark = |x: u32, y: u32| {
        let from_middle = DVec2::new(f64::from(x) - 80.0, f64::from(y) - 60.0);
        has_shadow && from_middle.length() < 8.0
    };
    let pixels = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
    pixels
        .map(|(x, y)| LEVELS[usize::from(!is_dark(x, y))])
        .collect()
}

/// Returns the number of frames with a track if a shadow appears after 2 s, for `secs` seconds.
fn frames_with_track(fps: f64, secs: f64) -> usize {
    let surface = Surface::default();
    let view = FloorView {
        map: FloorFromCamera::whole_frame(WIDTH, HEIGHT, &surface),
        lamp_m: None,
        camera_m: None,
        surface,
    };
    let mut camera = Camera::new(view, fps);
    let (empty, shadow) = (floor(false), floor(true));
    let mut found = 0;
    while camera.now_secs() < 3.0 {
        let has_shadow = (2.0..2.0 + secs).contains(&camera.now_secs());
        let levels = if has_shadow { &shadow } else { &empty };
        found += usize::from(!camera.show(levels.clone()).is_empty());
    }
    found
}

/// Three frames of a camera with 120 frames per second were enough for a track, although they show the same disturbance.
#[test]
fn a_shadow_shorter_than_a_thirtieth_of_a_second_is_no_track_at_any_frame_rate() {
    for fps in [6.0, 7.5, 12.0, 15.0, 25.0, 30.0, 60.0, 120.0] {
        assert_eq!(frames_with_track(fps, 0.99 / 30.0), 0, "{fps} fps");
        assert!(frames_with_track(fps, 0.6) > 0, "{fps} fps");
    }
}
