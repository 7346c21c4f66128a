//! A rendered room that vision watches, with walking visitors whose feet are known.

use glam::{DVec2, DVec3};
use shoal::calibration::{CalibrationParams, calibrate};
use shoal::geometry::{Surface, Visitor};
use shoal::vision::{FloorView, Vision, VisionParams};

use super::{Camera, Room, Thing, grid};

/// A visitor of legs, trunk and head, as upright cylinders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker {
    pub(crate) foot_m: DVec2,
    pub(crate) height_m: f64,
    /// Offset of the front foot from the foot point; the other foot has the opposite offset.
    pub(crate) stride_m: DVec2,
    /// Part of the body that hides nothing, as a range of shares of the height. It divides the silhouette into fragments.
    pub(crate) gap: [f64; 2],
    /// Height of the left and the right foot above the floor, as a share of the height of the body.
    pub(crate) lifted: [f64; 2],
    /// Offset of trunk and head to the side, in meters.
    pub(crate) sway_m: f64,
}

/// Parts of a body as shares of its height: offset to the side, offset along the stride (in strides), radius, and lower and upper
/// end.
const BODY: [[f64; 5]; 4] = [
    [0.06, 1.0, 0.045, 0.0, 0.5],
    [-0.06, -1.0, 0.045, 0.0, 0.5],
    [0.0, 0.0, 0.115, 0.45, 0.85],
    [0.0, 0.0, 0.055, 0.8, 1.0],
];
/// Farthest distance of a part of the body from the line between foot point and source of rays, in meters.
const REACH_ASIDE_M: f64 = 0.6;

impl Walker {
    pub(crate) fn standing(foot_m: DVec2, height_m: f64) -> Self {
        Self {
            foot_m,
            height_m,
            stride_m: DVec2::ZERO,
            gap: [0.0; 2],
            lifted: [0.0; 2],
            sway_m: 0.0,
        }
    }

    /// Returns a visitor who stamps on the spot with both feet in turn, `hz` times a second.
    pub(crate) fn stamping(foot_m: DVec2, height_m: f64, hz: f64, secs: f64) -> Self {
        let phase = std::f64::consts::PI * hz * secs;
        let lifted = [phase.sin(), -phase.sin()].map(|up| 0.09 * up.max(0.0));
        Self {
            lifted,
            sway_m: 0.03 * phase.sin(),
            ..Self::standing(foot_m, height_m)
        }
    }

    /// Returns a visitor who stands and sways.
    pub(crate) fn swaying(foot_m: DVec2, height_m: f64, secs: f64) -> Self {
        Self {
            sway_m: 0.015 * (std::f64::consts::TAU * 0.3 * secs).sin(),
            ..Self::standing(foot_m, height_m)
        }
    }

    /// Returns a visitor who walks with this velocity and phase of the steps.
    pub(crate) fn walking(
        foot_m: DVec2,
        height_m: f64,
        velocity_mps: DVec2,
        phase_rad: f64,
    ) -> Self {
        // The offset of a foot is at most a tenth of the height, like in a step of half a second.
        let reach_m = 0.15 * height_m * velocity_mps.length().min(1.2);
        Self {
            stride_m: reach_m * phase_rad.sin() * velocity_mps.normalize_or(DVec2::Y),
            ..Self::standing(foot_m, height_m)
        }
    }

    /// Returns how far a floor point is inside the area that the visitor hides from a source of rays, in meters.
    /// Outside, the value is negative.
    pub(super) fn inside_m(&self, at_m: DVec2, source: DVec3) -> f64 {
        let to_foot_m = self.foot_m - at_m;
        let aside = self.stride_m.normalize_or(DVec2::X).perp();
        let mut most_m = f64::NEG_INFINITY;
        let ray_m = DVec2::new(source.x, source.z) - at_m;
        if to_foot_m.perp_dot(ray_m).abs() > REACH_ASIDE_M * ray_m.length() {
            return most_m;
        }
        for (part, [side, strides, radius, low, high]) in BODY.into_iter().enumerate() {
            let (up_share, sway_m) = match self.lifted.get(part) {
                Some(lifted) => (*lifted, 0.0),
                None => (0.0, self.sway_m),
            };
            // A lifted foot is also ahead: the knee bends.
            let ahead_m = aside.perp() * (up_share * self.height_m);
            let to_axis_m = to_foot_m
                + aside * (side * self.height_m + sway_m)
                + self.stride_m * strides
                + ahead_m;
            let along = (to_axis_m.dot(ray_m) / ray_m.length_squared()).max(0.0);
            let up = along * source.y / self.height_m;
            let is_gap = (self.gap[0]..self.gap[1]).contains(&up);
            if (low + up_share..high).contains(&up) && !is_gap {
                let off_m = (to_axis_m - along * ray_m).length();
                most_m = most_m.max(radius * self.height_m - off_m);
            }
        }
        most_m
    }
}

/// A room with a calibrated camera whose frames go to vision.
pub(crate) struct WatchedRoom {
    room: Room,
    pub(crate) vision: Vision,
}

impl WatchedRoom {
    /// Creates a room of 4 × 3 m in front of a camera with 160 × 120 pixels. `lamp_m` is the position of the lamp.
    pub(crate) fn new(fps: f64, lamp_m: DVec3) -> Self {
        let camera = Camera::wide((160, 120), DVec3::new(0.6, 4.0, 0.9), 84.0);
        Self::of(camera, fps, lamp_m)
    }

    /// Creates a room of 4 × 3 m in front of this camera.
    pub(crate) fn of(camera: Camera, fps: f64, lamp_m: DVec3) -> Self {
        let mut room = Room::new(camera);
        room.fps = fps;
        room.lamp_m = lamp_m;
        room.draw_floor();
        let vision = Vision::new(&VisionParams::default(), calibrated_view(&room));
        Self { room, vision }
    }

    /// Shifts all following frames by this number of pixels, as if the camera was moved.
    pub(crate) fn bump(&mut self, bump_px: (i32, i32)) {
        self.room.bump_px = bump_px;
    }

    /// Returns the time of the next frame, in seconds.
    pub(crate) fn now_secs(&self) -> f64 {
        self.room.frames as f64 / self.room.fps
    }

    /// Renders the next frame with these visitors, and returns the tracks in it.
    pub(crate) fn show(&mut self, walkers: &[Walker]) -> &[Visitor] {
        self.room.things.clear();
        let things = walkers.iter().map(|&walker| Thing::Walker(walker));
        self.room.things.extend(things);
        self.vision.observe(&self.room.frame())
    }
}

/// Calibrates the camera of a room with exact markers, those that it sees.
pub(crate) fn calibrated_view(room: &Room) -> FloorView {
    let camera = &room.camera;
    let mut points = camera.measured(&grid(4, 0.9));
    let size_px = DVec2::new(f64::from(camera.size_px.0), f64::from(camera.size_px.1));
    let is_inside = |px: DVec2| px.cmpge(DVec2::ZERO).all() && px.cmple(size_px - 1.0).all();
    points.retain(|point| is_inside(point.camera_px));
    let setup = camera.setup(Some(room.lamp_m));
    // One of several cameras sees only a part of the surface.
    let params = CalibrationParams {
        coverage_min: 0.0,
        predicted_rms_max_m: 1.0,
        predicted_worst_max_m: 10.0,
        ..CalibrationParams::default()
    };
    let (calibration, _) = calibrate(&points, &setup, &params).unwrap();
    FloorView {
        map: calibration
            .floor_from_camera(camera.size_px.0, camera.size_px.1)
            .unwrap(),
        lamp_m: calibration.lamp_m.map(DVec3::from_array),
        camera_m: calibration.camera_m.map(DVec3::from_array),
        surface: Surface::default(),
    }
}
