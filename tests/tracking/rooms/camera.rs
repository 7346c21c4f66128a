//! A camera with a distorting lens above a floor.

use glam::{DVec2, DVec3};
use shoal::calibration::{CalibrationSetup, MeasuredPoint, PointOrigin};

/// A camera. The coefficients `k` of its radial distortion are for distances in units of the focal length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) size_px: (u32, u32),
    pub(crate) eye_m: DVec3,
    pub(crate) axes: [DVec3; 3],
    pub(crate) focal_px: f64,
    pub(crate) k: [f64; 2],
}

impl Camera {
    /// Creates a camera that looks at a floor point.
    pub(crate) fn new(size_px: (u32, u32), eye_m: DVec3, at_m: DVec2, fov_deg: f64) -> Self {
        let ahead = (DVec3::new(at_m.x, 0.0, at_m.y) - eye_m).normalize();
        let right = ahead.cross(DVec3::NEG_Z).normalize();
        Self {
            size_px,
            eye_m,
            axes: [right, ahead.cross(right), ahead],
            focal_px: f64::from(size_px.0) / 2.0 / (fov_deg.to_radians() / 2.0).tan(),
            k: [0.0; 2],
        }
    }

    /// Creates a camera at `eye_m` with a wide lens that looks approximately at the center of the surface.
    pub(crate) fn wide(size_px: (u32, u32), eye_m: DVec3, fov_deg: f64) -> Self {
        Self {
            k: [-0.26, 0.07],
            ..Self::new(size_px, eye_m, DVec2::splat(0.1), fov_deg)
        }
    }

    /// Returns the same camera turned around its axis by `degrees`, and its picture mirrored if `is_mirrored`.
    pub(crate) fn turned(mut self, degrees: f64, is_mirrored: bool) -> Self {
        let [right, down, ahead] = self.axes;
        let (sin, cos) = degrees.to_radians().sin_cos();
        let side = if is_mirrored { -1.0 } else { 1.0 };
        self.axes = [
            (right * cos + down * sin) * side,
            down * cos - right * sin,
            ahead,
        ];
        self
    }

    /// Returns the pixel at which the camera sees a floor point.
    pub(crate) fn pixel_from_floor(&self, floor_m: DVec2) -> DVec2 {
        let to = DVec3::new(floor_m.x, 0.0, floor_m.y) - self.eye_m;
        let [right, down, ahead] = self.axes;
        let seen = DVec2::new(to.dot(right), to.dot(down)) / to.dot(ahead);
        self.middle() + seen * self.distortion(seen.length_squared()) * self.focal_px
    }

    /// Returns the floor point that the camera sees at a pixel.
    pub(crate) fn floor_from_pixel(&self, pixel: DVec2) -> DVec2 {
        let distorted = (pixel - self.middle()) / self.focal_px;
        let mut undistorted = distorted;
        for _ in 0..40 {
            undistorted = distorted / self.distortion(undistorted.length_squared());
        }
        let [right, down, ahead] = self.axes;
        let ray = ahead + right * undistorted.x + down * undistorted.y;
        let at = self.eye_m + ray * (-self.eye_m.y / ray.y);
        DVec2::new(at.x, at.z)
    }

    /// Returns what a calibration of this camera is for: a surface of 4 × 3 m.
    pub(crate) fn setup(&self, lamp_m: Option<DVec3>) -> CalibrationSetup {
        CalibrationSetup {
            frame_px: self.size_px,
            surface_m: (4.0, 3.0),
            lamp_m,
            camera_m: None,
            date: "2026-11-20T12:00:00Z".to_owned(),
        }
    }

    /// Returns exact measurements of floor points.
    pub(crate) fn measured(&self, floor_m: &[DVec2]) -> Vec<MeasuredPoint> {
        let numbered = (1..).zip(floor_m);
        let point = |(number, &floor_m): (usize, &DVec2)| MeasuredPoint {
            camera_px: self.pixel_from_floor(floor_m),
            floor_m,
            origin: PointOrigin::Line(number + 1),
        };
        numbered.map(point).collect()
    }

    fn distortion(&self, r2: f64) -> f64 {
        1.0 + self.k[0] * r2 + self.k[1] * r2 * r2
    }

    fn middle(&self) -> DVec2 {
        (DVec2::new(f64::from(self.size_px.0), f64::from(self.size_px.1)) - 1.0) / 2.0
    }
}

/// Returns `n × n` floor points on the surface, row by row. The outer points are at `reach` times the distance from the center
/// of the surface to its edge.
pub(crate) fn grid(n: u32, reach: f64) -> Vec<DVec2> {
    let at = |i: u32| (2.0 * f64::from(i) / f64::from(n - 1) - 1.0) * reach;
    let point = |i: u32| DVec2::new(2.0 * at(i % n), 1.5 * at(i / n));
    (0..n * n).map(point).collect()
}
