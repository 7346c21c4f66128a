//! A camera that sees visible light is calibrated by stripes: what the calibrating stage asks for is projected onto a drawn
//! floor, seen through a wide lens with noise and delay, until a calibration is proven; then it is held against the room.

#![allow(
    clippy::panic,
    clippy::print_stderr,
    reason = "a test says what it measured, and fails by panicking"
)]

use std::collections::VecDeque;

use crate::rooms::{Room, Wired, error};
use glam::{DVec2, DVec3};
use shoal::camera::{Frame, Luma};
use shoal::control::CalibrationStep;
use shoal::render::{FloorStripes, StripeAxis};

const FPS: f64 = 5.0;
/// The light of the room that is no projector's, as a share of the projector's.
const ROOM_LIGHT: f64 = 0.15;
/// Frames until what is shown is seen.
const DELAY: usize = 3;

/// The calibrating stage before a camera that sees what is projected.
struct Stage {
    room: Room,
    /// Where four rays of every pixel meet the floor, so that edges of stripes are seen gray.
    rays: Vec<[DVec2; 4]>,
    sees_visible: bool,
    shown: VecDeque<Option<FloorStripes>>,
    frames: u64,
    wired: Wired,
}

impl Stage {
    fn new(sees_visible: bool) -> Self {
        let room = Room::new((320, 240), DVec3::new(0.6, 4.0, 0.9), 80.0, [-0.26, 0.07]);
        let pixels = (0..240).flat_map(|y| (0..320).map(move |x| (x, y)));
        let ray = |(x, y): (i32, i32), (dx, dy): (f64, f64)| {
            room.floor_from_pixel(DVec2::new(f64::from(x) + dx, f64::from(y) + dy))
        };
        let offsets = [(-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25)];
        let rays = pixels.map(|p| offsets.map(|o| ray(p, o))).collect();
        Self {
            room,
            rays,
            sees_visible,
            shown: VecDeque::from(vec![None; DELAY]),
            frames: 0,
            wired: Wired::new(None),
        }
    }

    /// Projects what is asked for, and shows the stage what the camera sees.
    fn watch(&mut self) {
        self.shown.push_back(self.wired.stripes());
        let shown = self
            .shown
            .pop_front()
            .flatten()
            .filter(|_| self.sees_visible);
        let frame = Frame {
            sequence: self.frames,
            time_secs: self.frames as f64 / FPS,
            width_px: 320,
            height_px: 240,
            luma: Luma::U8(self.picture(shown)),
        };
        self.frames += 1;
        self.wired.calibration.observe(&frame, None);
    }

    fn picture(&self, shown: Option<FloorStripes>) -> Vec<u8> {
        let pixels = self.room.floor.iter().zip(&self.rays).enumerate();
        let level = |(i, ((_, level), rays)): (usize, (&(DVec2, f64), &[DVec2; 4]))| {
            let bright = rays
                .iter()
                .filter(|at| shown.is_some_and(|s| is_bright(&s, **at)));
            let light = ROOM_LIGHT + (1.0 - ROOM_LIGHT) * bright.count() as f64 / 4.0;
            (level * light + 2.0 * noise(self.frames, i as u64)).clamp(0.0, 255.0) as u8
        };
        pixels.map(level).collect()
    }
}

fn is_bright(stripes: &FloorStripes, at: DVec2) -> bool {
    let share = at / DVec2::new(4.0, 3.0) + 0.5;
    let along = match stripes.axis {
        StripeAxis::Columns => share.x,
        StripeAxis::Rows => share.y,
    };
    let is_inside = share.cmpge(DVec2::ZERO).all() && share.cmplt(DVec2::ONE).all();
    is_inside && stripes.bright >> (along * f64::from(stripes.count)) as u32 & 1 == 1
}

/// Noise of spread 1, near enough, the same in every run.
fn noise(frame: u64, pixel: u64) -> f64 {
    let mut mixed = (frame << 32 | pixel).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let [a, b] = [mixed >> 40, mixed >> 16 & 0xff_ffff].map(|v| v as f64 / f64::from(1 << 24));
    2.4 * (a + b - 1.0)
}

#[test]
fn stripes_calibrate_a_camera_that_sees_them() {
    let mut stage = Stage::new(true);
    stage.wired.tell(CalibrationStep::GrayCode);
    assert!(
        stage
            .wired
            .status()
            .sentence
            .contains("has sent no picture"),
        "{:?}",
        stage.wired.status()
    );
    stage.watch();
    stage.wired.tell(CalibrationStep::GrayCode);
    let mut taken = 0;
    while !stage.wired.status().is_proven {
        let status = stage.wired.status();
        assert!(status.is_running, "{}", status.sentence);
        taken = taken.max(status.taken);
        stage.watch();
    }
    assert_eq!(stage.wired.stripes(), None, "the pool is seen again");
    assert_eq!(taken, 25, "all but the last of 26 patterns");
    assert!(stage.wired.tell(CalibrationStep::Accept));
    let calibration = stage.wired.accepted.try_recv().expect("it is handed over");
    let (rms, worst) = error(&stage.room, &calibration);
    eprintln!(
        "stripes: {} points after {:.0} s, floor error RMS {:.1} mm, worst {:.1} mm; predicted {:?}",
        calibration.points.len(),
        stage.frames as f64 / FPS,
        rms * 1e3,
        worst * 1e3,
        calibration.errors
    );
    assert!(rms <= 0.008 && worst <= 0.03, "{rms} {worst}");
}

#[test]
fn a_camera_that_sees_infrared_only_is_told_so_at_once() {
    let mut stage = Stage::new(false);
    stage.watch();
    stage.wired.tell(CalibrationStep::GrayCode);
    while stage.wired.status().is_running {
        stage.watch();
        assert!(
            stage.frames as f64 / FPS < 10.0,
            "{:?}",
            stage.wired.status()
        );
    }
    let said = stage.wired.status().sentence;
    assert!(
        said.contains("must see visible light")
            && said.contains("The old calibration stays in use."),
        "{said}"
    );
    assert!(!stage.wired.tell(CalibrationStep::Accept));
    assert_eq!(stage.wired.calibration.current(), None);
}

#[test]
fn a_scan_can_be_cancelled_and_goes_on_through_a_clock_that_jumps_back() {
    let mut stage = Stage::new(true);
    stage.watch();
    stage.wired.tell(CalibrationStep::GrayCode);
    for _ in 0..40 {
        stage.watch();
    }
    assert_eq!(stage.wired.status().taken, 2);
    stage.frames = 10;
    for _ in 0..17 {
        stage.watch();
    }
    assert_eq!(stage.wired.status().taken, 3);
    stage.wired.tell(CalibrationStep::Cancel);
    assert!(!stage.wired.status().is_running);
    assert_eq!(stage.wired.stripes(), None);
}
