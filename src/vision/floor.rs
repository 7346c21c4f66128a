//! Geometry that vision needs: the mapping from pixels to the floor, and the positions of lamp and camera.

use glam::{DVec2, DVec3, Vec2};

use super::VisionParams;
use super::areas;
use crate::geometry::{FloorFromCamera, Surface};

/// Mapping from camera pixels to the floor, and positions of lamp and camera. It comes from the calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorView {
    /// Mapping between camera pixels and floor points.
    pub map: FloorFromCamera,
    /// Position of the infrared lamp in world space. If it is unknown, the centroid of the shadow replaces the foot
    /// point.
    pub lamp_m: Option<DVec3>,
    /// Position of the infrared camera in world space. If it is unknown, Shoal assumes that the camera looks straight
    /// down.
    pub camera_m: Option<DVec3>,
    /// Surface that the projector illuminates.
    pub surface: Surface,
}

/// Half of the horizontal field of view assumed for a camera of unknown position, in radians. An error of 10 % has
/// little effect on the result.
const TYPICAL_HALF_FOV_RAD: f64 = 0.6;

impl FloorView {
    /// Returns a camera position for a calibration without one, or `None` if it cannot be derived. It assumes a camera
    /// with a typical lens that looks straight down. The height can be wrong by a quarter, which is still far better
    /// than no position.
    pub(super) fn assumed_camera_m(&self) -> Option<DVec3> {
        let lens = self.map.lens();
        let center = lens.center_px();
        let edge = DVec2::new(0.0, center.y);
        let below = self.map.floor_from_camera(center);
        let height = below.distance(self.map.floor_from_camera(edge)) / TYPICAL_HALF_FOV_RAD.tan();
        height
            .is_finite()
            .then(|| DVec3::new(below.x, height, below.y))
    }
}

/// Largest floor distance between neighboring pixels for a usable pixel, in meters. Larger distances occur near the
/// horizon, where no measurement is possible.
const MAX_PIXEL_M: f32 = 0.25;

/// Floor position and floor area of every pixel. With this table, the area and centroid of a blob are exact for any
/// lens.
pub(super) struct FloorTable {
    map: FloorFromCamera,
    width: usize,
    /// Floor coordinates of the pixels. x and z are in separate lists so that sums over rows can be vectorized.
    pub(super) x_m: Vec<f32>,
    pub(super) z_m: Vec<f32>,
    pub(super) area_m2: Vec<f32>,
    total_m2: f32,
}

impl FloorTable {
    pub(super) fn new(view: &FloorView, width: usize, height: usize) -> Self {
        let (mut x_m, mut z_m) = (Vec::new(), Vec::new());
        x_m.reserve_exact(width * height);
        z_m.reserve_exact(width * height);
        for y in 0..height {
            for x in 0..width {
                let floor = view.map.floor_from_camera(DVec2::new(x as f64, y as f64));
                x_m.push(floor.x as f32);
                z_m.push(floor.y as f32);
            }
        }
        let lens = view.map.lens();
        // Beyond this radius the lens model is not valid.
        let trusted_px = lens.trusted_radius() * lens.half_diagonal_px();
        let is_trusted = |x: usize, y: usize| {
            DVec2::new(x as f64, y as f64).distance(lens.center_px()) < trusted_px
        };
        let at = |x: usize, y: usize| Vec2::new(x_m[y * width + x], z_m[y * width + x]);
        let mut area_m2 = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                // Derivatives by central differences; at the image border by one-sided differences.
                let (x0, x1) = (x.saturating_sub(1), (x + 1).min(width - 1));
                let (y0, y1) = (y.saturating_sub(1), (y + 1).min(height - 1));
                let across = (at(x1, y) - at(x0, y)) / (x1 - x0).max(1) as f32;
                let down = (at(x, y1) - at(x, y0)) / (y1 - y0).max(1) as f32;
                let area = across.perp_dot(down).abs();
                let widest = across.length().max(down.length());
                // A comparison with NaN is false, so pixels beyond the horizon get no area.
                let usable = widest < MAX_PIXEL_M && area.is_finite() && is_trusted(x, y);
                area_m2.push(if usable { area } else { 0.0 });
            }
        }
        // Pixels without floor area have weight 0 in all sums, but 0 times NaN would be NaN.
        for place_m in x_m.iter_mut().chain(&mut z_m) {
            if !place_m.is_finite() {
                *place_m = 0.0;
            }
        }
        Self {
            map: view.map,
            width,
            x_m,
            z_m,
            total_m2: area_m2.iter().sum(),
            area_m2,
        }
    }

    /// Takes the area of every pixel away that is not watched.
    pub(super) fn restrict(&mut self, params: &VisionParams) {
        let mut corners = Vec::new();
        for index in 0..self.area_m2.len() {
            let pixel = Vec2::new((index % self.width) as f32, (index / self.width) as f32);
            let floor_m = Vec2::new(self.x_m[index], self.z_m[index]);
            if !areas::is_watched(
                [&params.ignore, &params.include],
                pixel,
                floor_m,
                &mut corners,
            ) {
                self.area_m2[index] = 0.0;
            }
        }
        self.total_m2 = self.area_m2.iter().sum();
    }

    /// Returns the index of the pixel at which a floor point appears, or `None` if there is no usable pixel.
    pub(super) fn pixel_index_at(&self, floor_m: Vec2) -> Option<usize> {
        let seen_px = self.map.camera_from_floor(floor_m.as_dvec2()).round();
        // A comparison with NaN is false, so points behind the camera are outside.
        let inside = seen_px.cmpge(DVec2::ZERO).all() && seen_px.x < self.width as f64;
        if !inside {
            return None;
        }
        let index = seen_px.y as usize * self.width + seen_px.x as usize;
        (*self.area_m2.get(index)? > 0.0).then_some(index)
    }

    /// Returns the floor position of a pixel. The value is meaningless for a pixel without floor area.
    pub(super) fn position_m_of(&self, x: usize, y: usize) -> Vec2 {
        let index = y * self.width + x;
        Vec2::new(self.x_m[index], self.z_m[index])
    }

    /// Returns the floor area of all pixels together, in m².
    pub(super) fn total_m2(&self) -> f32 {
        self.total_m2
    }

    /// Returns the floor area of every pixel in m², row-major; 0 where no measurement is possible.
    pub(super) fn areas_m2(&self) -> &[f32] {
        &self.area_m2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixel_areas_sum_up_to_the_surface() {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_frame(64, 48, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        let table = FloorTable::new(&view, 64, 48);
        let sum: f32 = table.areas_m2().iter().sum();
        assert!((sum - 12.0).abs() < 0.01, "{sum}");
    }
}
