//! What vision is told of the room: how pixels lie on the floor, and where lamp and camera hang.

use std::ops::Range;

use glam::{DVec2, DVec3, Vec2};
use pulp::{Arch, Simd, WithSimd};

use crate::geometry::{FloorFromCamera, Surface};

/// The camera's view of the floor. Comes from the calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorView {
    /// Floor point of every pixel.
    pub map: FloorFromCamera,
    /// The infrared lamp in world space; without it a visitor's foot is the middle of their shadow.
    pub lamp_m: Option<DVec3>,
    /// The infrared camera in world space; without it the camera is taken to look straight down.
    pub camera_m: Option<DVec3>,
    /// The projected surface.
    pub surface: Surface,
}

/// Half of a usual lens's angle of view across the picture: a tenth more or less matters little here.
const USUAL_HALF_VIEW_RAD: f64 = 0.6;

impl FloorView {
    /// Where the camera hangs if it looks straight down through a usual lens, for a calibration that does not tell it. That
    /// may be off by a quarter of the height, which is far better than nothing.
    pub(super) fn camera_straight_above_m(&self) -> Option<DVec3> {
        let lens = self.map.lens();
        let center = lens.center_px();
        let edge = DVec2::new(0.0, center.y);
        let below = self.map.floor_from_camera(center);
        let height = below.distance(self.map.floor_from_camera(edge)) / USUAL_HALF_VIEW_RAD.tan();
        height
            .is_finite()
            .then(|| DVec3::new(below.x, height, below.y))
    }
}

/// Floor seen by one pixel is at most so wide; beyond (near the horizon) nothing can be measured.
const COARSEST_PIXEL_M: f32 = 0.25;

/// Sums over pixels: their area, the same weighted by depth, and that again times the place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    pub(super) area_m2: f32,
    pub(super) weight: f32,
    pub(super) weighted_m: Vec2,
}

const LANES: usize = 8;

/// Several sums side by side, which one instruction adds to.
#[derive(Default)]
struct Sums {
    area_m2: [f32; LANES],
    weight: [f32; LANES],
    x: [f32; LANES],
    z: [f32; LANES],
}

impl Sums {
    #[inline(always)]
    fn take(
        &mut self,
        [x_m, z_m, area_m2]: [&[f32; LANES]; 3],
        levels: &[u8; LANES],
        lit: &[f32; LANES],
        depth: impl Fn(u8, f32) -> f32,
    ) {
        for i in 0..LANES {
            let weight = area_m2[i] * depth(levels[i], lit[i]);
            // What lies beyond the horizon has no area, and no place.
            let is_floor = area_m2[i] > 0.0;
            self.area_m2[i] += area_m2[i];
            self.weight[i] += weight;
            self.x[i] += weight * if is_floor { x_m[i] } else { 0.0 };
            self.z[i] += weight * if is_floor { z_m[i] } else { 0.0 };
        }
    }

    #[inline(always)]
    fn moments(&self) -> Moments {
        Moments {
            area_m2: self.area_m2.iter().sum(),
            weight: self.weight.iter().sum(),
            weighted_m: Vec2::new(self.x.iter().sum(), self.z.iter().sum()),
        }
    }
}

/// A run of pixels to sum over, with the widest vector instructions.
struct Summing<'a, F> {
    /// The pixels' x and z on the floor and their areas.
    places: [&'a [f32]; 3],
    levels: &'a [u8],
    lit: &'a [f32],
    depth: F,
}

impl<F: Fn(u8, f32) -> f32> WithSimd for Summing<'_, F> {
    type Output = Moments;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Moments {
        let mut sums = Sums::default();
        let [(x_m, x_rest), (z_m, z_rest), (area_m2, area_rest)] =
            self.places.map(<[f32]>::as_chunks::<LANES>);
        let (levels, level_rest) = self.levels.as_chunks::<LANES>();
        let (lit, lit_rest) = self.lit.as_chunks::<LANES>();
        let places = x_m.iter().zip(z_m).zip(area_m2);
        for (((x_m, z_m), area_m2), (levels, lit)) in places.zip(levels.iter().zip(lit)) {
            sums.take([x_m, z_m, area_m2], levels, lit, &self.depth);
        }
        // The rest as one more block, filled up with pixels without area.
        let [mut x_m, mut z_m, mut area_m2, mut lit] = [[0.0; LANES]; 4];
        let mut levels = [0; LANES];
        let count = area_rest.len();
        x_m[..count].copy_from_slice(x_rest);
        z_m[..count].copy_from_slice(z_rest);
        area_m2[..count].copy_from_slice(area_rest);
        levels[..count].copy_from_slice(level_rest);
        lit[..count].copy_from_slice(lit_rest);
        sums.take([&x_m, &z_m, &area_m2], &levels, &lit, &self.depth);
        sums.moments()
    }
}

/// Place and size on the floor of every pixel, so that a blob's area and middle are exact through any lens.
pub(super) struct FloorTable {
    map: FloorFromCamera,
    width: usize,
    /// The pixels' places, their x and z apart, so that sums over rows are fast.
    x_m: Vec<f32>,
    z_m: Vec<f32>,
    area_m2: Vec<f32>,
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
        // Beyond it nobody knows what a pixel sees.
        let trusted_px = lens.trusted_radius() * lens.half_diagonal_px();
        let is_trusted = |x: usize, y: usize| {
            DVec2::new(x as f64, y as f64).distance(lens.center_px()) < trusted_px
        };
        let at = |x: usize, y: usize| Vec2::new(x_m[y * width + x], z_m[y * width + x]);
        let mut area_m2 = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                // Differences to the neighbors, one-sided at the picture's edge.
                let (x0, x1) = (x.saturating_sub(1), (x + 1).min(width - 1));
                let (y0, y1) = (y.saturating_sub(1), (y + 1).min(height - 1));
                let across = (at(x1, y) - at(x0, y)) / (x1 - x0).max(1) as f32;
                let down = (at(x, y1) - at(x, y0)) / (y1 - y0).max(1) as f32;
                let area = across.perp_dot(down).abs();
                let widest = across.length().max(down.length());
                // A comparison with NaN is false: what lies beyond the horizon has no area.
                let usable = widest < COARSEST_PIXEL_M && area.is_finite() && is_trusted(x, y);
                area_m2.push(if usable { area } else { 0.0 });
            }
        }
        Self {
            map: view.map,
            width,
            x_m,
            z_m,
            area_m2,
        }
    }

    /// The pixel that sees a point of the floor; `None` where none does.
    pub(super) fn index_at(&self, floor_m: Vec2) -> Option<usize> {
        let seen_px = self.map.camera_from_floor(floor_m.as_dvec2()).round();
        // A comparison with NaN is false: nothing is seen behind the camera.
        let inside = seen_px.cmpge(DVec2::ZERO).all() && seen_px.x < self.width as f64;
        if !inside {
            return None;
        }
        let index = seen_px.y as usize * self.width + seen_px.x as usize;
        (*self.area_m2.get(index)? > 0.0).then_some(index)
    }

    /// Floor point of a pixel.
    pub(super) fn place_m(&self, x: usize, y: usize) -> Vec2 {
        let index = y * self.width + x;
        Vec2::new(self.x_m[index], self.z_m[index])
    }

    /// Sums over a run of pixels, given their levels and how deep the shadow on a pixel of this level is, by its place in
    /// the run: see [`Moments`].
    pub(super) fn moments(
        &self,
        pixels: Range<usize>,
        (levels, lit): (&[u8], &[f32]),
        depth: impl Fn(u8, f32) -> f32,
    ) -> Moments {
        Arch::new().dispatch(Summing {
            places: [
                &self.x_m[pixels.clone()],
                &self.z_m[pixels.clone()],
                &self.area_m2[pixels],
            ],
            levels,
            lit,
            depth,
        })
    }

    /// Floor area of every pixel of the picture; 0 where nothing can be measured.
    pub(super) fn areas_m2(&self) -> &[f32] {
        &self.area_m2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Lens;

    #[test]
    fn areas_sum_up_to_the_surface() {
        let surface = Surface::default();
        let view = FloorView {
            map: FloorFromCamera::whole_picture(64, 48, &surface),
            lamp_m: None,
            camera_m: None,
            surface,
        };
        let table = FloorTable::new(&view, 64, 48);
        let sum: f32 = table.areas_m2().iter().sum();
        assert!((sum - 12.0).abs() < 0.01, "{sum}");
    }

    #[test]
    fn nothing_is_measured_where_the_lens_is_not_believed() {
        let surface = Surface {
            width_m: 0.6,
            height_m: 0.45,
            ..Surface::default()
        };
        let straight = FloorFromCamera::whole_picture(64, 48, &surface);
        // Its curve turns back at .54 of the way to a corner.
        let lens = Lens::new(64, 48, -0.5, 0.0).unwrap();
        let map = FloorFromCamera::new(lens, straight.homography()).unwrap();
        let view = FloorView {
            map,
            lamp_m: None,
            camera_m: None,
            surface,
        };
        let table = FloorTable::new(&view, 64, 48);
        for (x, y, wanted) in [
            (32, 24, true),
            (46, 24, true),
            (60, 24, false),
            (1, 1, false),
        ] {
            assert_eq!(table.areas_m2()[y * 64 + x] > 0.0, wanted, "{x} {y}");
        }
    }
}
