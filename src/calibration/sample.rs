//! Camera views and noise for the tests of this module.

use glam::DVec2;

use super::fit::PointPair;
use super::texture::FloorFrame;
use crate::geometry::{FloorFromCamera, Homography, Lens, Surface};

/// Returns the view of a camera of 640 × 480 px that looks obliquely from above at a floor of 4 × 3 m.
pub(super) fn view(k1: f64, k2: f64) -> FloorFromCamera {
    let corners = [
        (DVec2::new(150.0, 120.0), DVec2::new(-2.0, -1.5)),
        (DVec2::new(490.0, 115.0), DVec2::new(2.0, -1.5)),
        (DVec2::new(620.0, 440.0), DVec2::new(2.0, 1.5)),
        (DVec2::new(20.0, 450.0), DVec2::new(-2.0, 1.5)),
    ];
    let homography = Homography::from_pairs(&corners).expect("four corners determine a map");
    let lens = Lens::new(640, 480, k1, k2).expect("finite terms make a lens");
    FloorFromCamera::new(lens, homography).expect("a view from above is a map")
}

/// Returns `n × n` targets at the centers of equal parts of the floor that `view` shows.
pub(super) fn grid(view: &FloorFromCamera, n: i32) -> Vec<PointPair> {
    let at = |i: i32| f64::from(2 * i + 1) / f64::from(n) - 1.0;
    (0..n * n)
        .map(|i| DVec2::new(2.0 * at(i % n), 1.5 * at(i / n)))
        .map(|floor| (view.camera_from_floor(floor), floor))
        .collect()
}

/// Generator of approximately normal noise. The noise is the same in every run.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns the pairs with noise added to their points; `deviation` is the standard deviation in each direction.
    pub(super) fn on(&mut self, pairs: &[PointPair], deviation: f64) -> Vec<PointPair> {
        pairs
            .iter()
            .map(|(a, b)| {
                (
                    *a,
                    *b + DVec2::new(self.normal(), self.normal()) * deviation,
                )
            })
            .collect()
    }

    /// Returns a random number that is approximately normal: the sum of twelve uniform numbers. **Source**: generator
    /// splitmix64 (Steele et al. 2014).
    fn normal(&mut self) -> f64 {
        let sum: f64 = (0..12)
            .map(|_| {
                self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mut z = self.0;
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
            })
            .sum();
        sum - 6.0
    }
}

/// Size of the frames of [`floor_frame`].
pub(super) const FLOOR_SIZE: (usize, usize) = (320, 240);

/// Returns the value of a smooth random texture at a point, from 0 to 1. The texture is the same in every run.
pub(super) fn floor_texture(p: DVec2) -> f64 {
    let cell = |x: f64, y: f64| {
        let mut z = (x as i64 as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add((y as i64 as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9));
        z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 32)) & 0xffff) as f64 / 65536.0
    };
    let (i, f) = (p.floor(), p - p.floor());
    let f = f * f * (DVec2::splat(3.0) - 2.0 * f);
    let top = cell(i.x, i.y) * (1.0 - f.x) + cell(i.x + 1.0, i.y) * f.x;
    let low = cell(i.x, i.y + 1.0) * (1.0 - f.x) + cell(i.x + 1.0, i.y + 1.0) * f.x;
    top * (1.0 - f.y) + low * f.y
}

/// Returns a frame of the floor, shifted by `shift_px`. `noise` is the standard deviation of the noise, in levels.
pub(super) fn floor_frame(shift_px: DVec2, gain: f64, noise: f64, seed: u64) -> Vec<u8> {
    let shade = |at: DVec2| {
        let at = at - shift_px;
        90.0 + 40.0 * floor_texture(at / 7.0) + 25.0 * floor_texture(at / 19.0 + DVec2::splat(40.0))
    };
    noisy(|at| gain * shade(at), noise, seed)
}

/// Returns a frame with the levels of `shade` and added noise.
pub(super) fn noisy(shade: impl Fn(DVec2) -> f64, noise: f64, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..FLOOR_SIZE.0 * FLOOR_SIZE.1)
        .map(|i| {
            let at = DVec2::new((i % FLOOR_SIZE.0) as f64, (i / FLOOR_SIZE.0) as f64);
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let chance = ((state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 3.46;
            (shade(at) + chance * noise).clamp(0.0, 255.0) as u8
        })
        .collect()
}

/// Returns a [`FloorFrame`] that refers to these levels.
pub(super) fn frame_of(levels: &[u8]) -> FloorFrame<'_> {
    FloorFrame {
        levels,
        width_px: FLOOR_SIZE.0,
    }
}

/// Returns a map in which every pixel is 10 mm wide on the floor.
pub(super) fn floor_map() -> FloorFromCamera {
    let surface = Surface {
        width_m: 3.2,
        height_m: 2.4,
        ..Surface::default()
    };
    FloorFromCamera::whole_frame(FLOOR_SIZE.0 as u32, FLOOR_SIZE.1 as u32, &surface)
}
