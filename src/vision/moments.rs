//! Sums over the pixels of a blob on the floor, weighted by the depth of the shadow.

use std::ops::Range;

use glam::Vec2;
#[cfg(target_arch = "x86_64")]
use pulp::{i32x8, u8x16, x86::V3};

use super::background::{Background, shadow_depth};
use super::floor::FloorTable;

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

impl FloorTable {
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
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::*;
    use crate::geometry::{FloorFromCamera, Homography, Lens, Surface};
    use crate::vision::FloorView;
    use crate::vision::VisionParams;
    use crate::vision::bit_mask::BitMask;

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
