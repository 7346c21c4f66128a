//! Geometry that vision needs: the mapping from pixels to the floor, and the positions of lamp and camera.

use std::ops::Range;

use glam::{DVec2, DVec3, Vec2};
#[cfg(target_arch = "x86_64")]
use pulp::{i32x8, u8x16, x86::V3};

use crate::geometry::{FloorFromCamera, Surface};

use super::background::{Background, shadow_depth};

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

/// Sums over pixels that give the area and the centroid of a blob.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moments {
    /// Sum of the floor areas of the pixels, in m².
    pub(super) area_m2: f32,
    /// Sum of area times shadow depth, in m².
    pub(super) weight: f32,
    /// Sum of area times shadow depth times floor position, in m³.
    pub(super) weighted_m: Vec2,
}

impl Moments {
    /// Adds up the partial sums of all SIMD lanes. They are given as area, weight, and the x and z part of the weighted
    /// position.
    #[inline(always)]
    fn new([area_m2, weight, x, z]: &[[f32; LANES]; 4]) -> Self {
        Self {
            area_m2: area_m2.iter().sum(),
            weight: weight.iter().sum(),
            weighted_m: Vec2::new(x.iter().sum(), z.iter().sum()),
        }
    }
}

/// Number of partial sums that one SIMD instruction updates.
const LANES: usize = 8;

/// Floor position and floor area of every pixel. With this table, the area and centroid of a blob are exact for any
/// lens.
pub(super) struct FloorTable {
    map: FloorFromCamera,
    width: usize,
    /// Floor coordinates of the pixels. x and z are in separate lists so that sums over rows can be vectorized.
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
            area_m2,
        }
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

    /// Returns the [`Moments`] of a run of pixels. The shadow depth of a pixel is computed from its level and the
    /// background model.
    pub(super) fn moments(
        &self,
        pixels: Range<usize>,
        levels: &[u8],
        background: &Background,
    ) -> Moments {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V3::try_new()
            && pixels.start + pixels.len().next_multiple_of(LANES) <= levels.len()
        {
            return simd.vectorize(
                #[inline(always)]
                || self.moments_v3(simd, pixels, levels, background),
            );
        }
        self.portable_moments(pixels, levels, background)
    }

    fn portable_moments(
        &self,
        pixels: Range<usize>,
        levels: &[u8],
        background: &Background,
    ) -> Moments {
        let mut sums = [[0.0; LANES]; 4];
        for (number, index) in pixels.enumerate() {
            let lit = background.levels()[index] * background.gain();
            let area_m2 = self.area_m2[index];
            let weight = area_m2 * shadow_depth(f32::from(levels[index]), lit);
            let values = [
                area_m2,
                weight,
                weight * self.x_m[index],
                weight * self.z_m[index],
            ];
            for (sums, value) in sums.iter_mut().zip(values) {
                sums[number % LANES] += value;
            }
        }
        Moments::new(&sums)
    }

    /// Returns the same result as `portable_moments`, with SIMD instructions that compilers do not generate by
    /// themselves. The run is extended to whole blocks; the caller ensures that the extended run stays inside the
    /// image.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn moments_v3(
        &self,
        simd: V3,
        pixels: Range<usize>,
        levels: &[u8],
        background: &Background,
    ) -> Moments {
        let whole = pixels.start..pixels.start + pixels.len().next_multiple_of(LANES);
        let (x_m, _) = self.x_m[whole.clone()].as_chunks::<LANES>();
        let (z_m, _) = self.z_m[whole.clone()].as_chunks::<LANES>();
        let (area_m2, _) = self.area_m2[whole.clone()].as_chunks::<LANES>();
        let (lit, _) = background.levels()[whole.clone()].as_chunks::<LANES>();
        let (levels, _) = levels[whole].as_chunks::<LANES>();
        let lane: i32x8 = pulp::cast([0, 1, 2, 3, 4, 5, 6, 7]);
        let (none, one) = (simd.splat_f32x8(0.0), simd.splat_f32x8(1.0));
        let gain = simd.splat_f32x8(background.gain());
        let (mut area, mut weight, mut weighted_x, mut weighted_z) = (none, none, none, none);
        let mut left = pixels.len() as i32;
        let floor = area_m2.iter().zip(x_m).zip(z_m);
        for (((area_m2, x_m), z_m), (lit, levels)) in floor.zip(lit.iter().zip(levels)) {
            let is_own = pulp::cast(simd.cmp_gt_i32x8(simd.splat_i32x8(left), lane));
            let area_m2 = simd.and_f32x8(is_own, pulp::cast(*area_m2));
            let levels: u8x16 = pulp::cast([u64::from_le_bytes(*levels), 0]);
            let level = simd.convert_i32x8_to_f32x8(simd.convert_u8x16_to_i32x8(levels));
            let lit = simd.max_f32x8(simd.mul_f32x8(pulp::cast(*lit), gain), one);
            let depth = simd.sub_f32x8(one, simd.div_f32x8(level, lit));
            let deep = simd.mul_f32x8(area_m2, simd.max_f32x8(depth, none));
            area = simd.add_f32x8(area, area_m2);
            weight = simd.add_f32x8(weight, deep);
            weighted_x = simd.add_f32x8(weighted_x, simd.mul_f32x8(deep, pulp::cast(*x_m)));
            weighted_z = simd.add_f32x8(weighted_z, simd.mul_f32x8(deep, pulp::cast(*z_m)));
            left -= LANES as i32;
        }
        Moments::new(&pulp::cast([area, weight, weighted_x, weighted_z]))
    }

    /// Returns the floor area of every pixel in m², row-major; 0 where no measurement is possible.
    pub(super) fn areas_m2(&self) -> &[f32] {
        &self.area_m2
    }
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;
    use crate::geometry::{Homography, Lens};
    use crate::vision::VisionParams;
    use crate::vision::bit_mask::BitMask;

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

    #[test]
    fn simd_and_portable_moments_are_identical() {
        let (width, height) = (83, 40);
        // This tilt puts the upper part of the image beyond the horizon.
        let tilted = DMat3::from_cols_array(&[0.02, 0.0, 0.0, 0.0, 0.02, 0.03, -0.8, -0.6, -0.2]);
        let lens = Lens::straight(width as u32, height as u32);
        let view = FloorView {
            map: FloorFromCamera::new(lens, Homography(tilted)).unwrap(),
            lamp_m: None,
            camera_m: None,
            surface: Surface::default(),
        };
        let table = FloorTable::new(&view, width, height);
        assert!(table.areas_m2()[0] == 0.0 && table.areas_m2()[width * height - 1] > 0.0);
        let lit: Vec<u8> = (0..width * height).map(|i| (i * 31 % 200) as u8).collect();
        let mut background = Background::new(width, height, table.areas_m2());
        let mask = BitMask::new(width, height);
        background.find_foreground(&lit, &mask, &VisionParams::default(), &mut mask.clone());
        let levels: Vec<u8> = (0..width * height).map(|i| (i * 17 % 120) as u8).collect();
        for start in (0..width * height).step_by(37) {
            for length in [1, 7, 8, 9, 60] {
                let run = start..(start + length).min(width * height);
                let moments = table.moments(run.clone(), &levels, &background);
                let portable = table.portable_moments(run.clone(), &levels, &background);
                assert_eq!(moments, portable, "{run:?}");
                assert!(moments.weighted_m.is_finite());
                let alone = run.map(|i| table.portable_moments(i..i + 1, &levels, &background));
                let sum_m2: f32 = alone.map(|moments| moments.area_m2).sum();
                assert!(
                    (moments.area_m2 - sum_m2).abs() <= 1e-5 * sum_m2,
                    "{moments:?} {sum_m2}"
                );
            }
        }
    }

    #[test]
    fn pixels_outside_the_valid_lens_radius_have_no_area() {
        let surface = Surface {
            width_m: 0.6,
            height_m: 0.45,
            ..Surface::default()
        };
        let straight = FloorFromCamera::whole_frame(64, 48, &surface);
        // The distortion curve of this lens stops increasing at 0.54 of the distance from the center to a corner.
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
