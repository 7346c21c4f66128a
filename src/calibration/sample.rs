//! Views and noise for the tests of this room.

use glam::DVec2;

use super::fit::Pair;
use crate::geometry::{FloorFromCamera, Homography, Lens};

/// A camera of 640 × 480 that looks aslant at a floor of 4 × 3 m from above.
pub(super) fn view(k1: f64, k2: f64) -> FloorFromCamera {
    let corners = [
        (DVec2::new(150.0, 120.0), DVec2::new(-2.0, -1.5)),
        (DVec2::new(490.0, 115.0), DVec2::new(2.0, -1.5)),
        (DVec2::new(620.0, 440.0), DVec2::new(2.0, 1.5)),
        (DVec2::new(20.0, 450.0), DVec2::new(-2.0, 1.5)),
    ];
    let homography = Homography::from_pairs(&corners).expect("four corners fix a map");
    let lens = Lens::new(640, 480, k1, k2).expect("finite terms make a lens");
    FloorFromCamera::new(lens, homography).expect("a view from above is a map")
}

/// `n × n` targets at the middles of equal parts of that floor.
pub(super) fn grid(view: &FloorFromCamera, n: i32) -> Vec<Pair> {
    let at = |i: i32| f64::from(2 * i + 1) / f64::from(n) - 1.0;
    (0..n * n)
        .map(|i| DVec2::new(2.0 * at(i % n), 1.5 * at(i / n)))
        .map(|floor| (view.camera_from_floor(floor), floor))
        .collect()
}

/// Nearly normal noise that is the same in every run.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The pairs with their points moved, standard deviation `deviation` in each direction.
    pub(super) fn on(&mut self, pairs: &[Pair], deviation: f64) -> Vec<Pair> {
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

    /// Twelve uniform numbers add up to a nearly normal one. **Source**: generator splitmix64 (Steele et al. 2014).
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
