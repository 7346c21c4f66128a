//! What tells one visitor from another when they part: how tall they are, and how bright their clothes are in infrared.
//!
//! In go the samples of somebody who stands alone, out comes a [`Profile`]. Nothing that would tell a person again on
//! another day: two numbers, kept only while the visitor is followed.

use glam::Vec2;

use super::blobs::Sample;
use super::foot::{FootFinder, Origin};

/// Half width of the strip around a stripe's axis in which the trunk's brightness is looked for.
const AXIS_HALF_WIDTH_M: f32 = 0.08;
/// A shorter stripe does not tell how tall somebody is.
const LEAST_STRIPE_M: f32 = 0.25;
/// The trunk's picture lies between these shares of the way from foot to head.
const TRUNK_SHARES: std::ops::Range<f32> = 0.3..0.85;
/// Fewer samples of the trunk do not tell its brightness.
const LEAST_TRUNK_SAMPLES: u32 = 6;
/// Spreads of what is measured of one and the same visitor in different places.
const HEIGHT_SPREAD_M: f32 = 0.07;
const SHADE_SPREAD: f32 = 0.4;
const DARKEST_SHADE: f32 = 0.03;
/// No single difference counts more than this.
const MOST_DIFFERENCE: f32 = 9.0;
/// Estimates forget what is older than so many measurements.
const MEMORY: f32 = 40.0;
/// An estimate of fewer measurements is not compared.
const LEAST_MEASUREMENTS: f32 = 2.0;

/// A running median, from a histogram that forgets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate<const FROM: i32, const BINS_PER_UNIT: i32> {
    bins: [f32; BINS],
    measurements: f32,
}

const BINS: usize = 32;

impl<const FROM: i32, const BINS_PER_UNIT: i32> Default for Estimate<FROM, BINS_PER_UNIT> {
    fn default() -> Self {
        Self {
            bins: [0.0; BINS],
            measurements: 0.0,
        }
    }
}

impl<const FROM: i32, const BINS_PER_UNIT: i32> Estimate<FROM, BINS_PER_UNIT> {
    fn add(&mut self, value: f32) {
        let bin = value * BINS_PER_UNIT as f32 - FROM as f32;
        self.bins[(bin.max(0.0) as usize).min(BINS - 1)] += 1.0;
        self.measurements += 1.0;
        self.forget();
    }

    fn merge(&mut self, other: &Self) {
        for (own, its) in self.bins.iter_mut().zip(&other.bins) {
            *own += its;
        }
        self.measurements += other.measurements;
        self.forget();
    }

    fn forget(&mut self) {
        let kept = MEMORY / self.measurements.max(MEMORY);
        self.measurements *= kept;
        for bin in &mut self.bins {
            *bin *= kept;
        }
    }

    fn median(&self) -> f32 {
        let mut below = 0.0;
        for (bin, &count) in self.bins.iter().enumerate() {
            if 2.0 * (below + count) >= self.measurements && count > 0.0 {
                let within = (0.5 * self.measurements - below) / count;
                return (FROM as f32 + bin as f32 + within) / BINS_PER_UNIT as f32;
            }
            below += count;
        }
        0.0
    }

    /// Square of the difference in spreads; 0 where one of them is not known.
    fn difference(&self, other: &Self, spread: f32) -> f32 {
        if self.measurements.min(other.measurements) < LEAST_MEASUREMENTS {
            return 0.0;
        }
        let off = (self.median() - other.median()) / spread;
        (off * off).min(MOST_DIFFERENCE)
    }
}

/// Heights from 0.8 m on in steps of 5 cm.
type Height = Estimate<16, 20>;
/// Natural logarithms of brightness from −4 on in steps of an eighth.
type Shade = Estimate<-32, 8>;

/// What a visitor looks like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Profile {
    height_m: Height,
    /// Natural logarithm of the trunk's brightness as a share of the floor's.
    shade: Shade,
}

impl Profile {
    /// How tall the visitor is, when that could be seen.
    pub(super) fn height_m(&self) -> Option<f32> {
        (self.height_m.measurements >= LEAST_MEASUREMENTS).then(|| self.height_m.median())
    }

    /// In how many frames it was measured.
    pub(super) fn measurements(&self) -> f32 {
        self.height_m.measurements.max(self.shade.measurements)
    }

    /// How unlike two profiles are: 0 alike or unknown, about 1 for each feature that differs by its spread.
    pub(super) fn difference(&self, other: &Self) -> f32 {
        self.height_m.difference(&other.height_m, HEIGHT_SPREAD_M)
            + self.shade.difference(&other.shade, SHADE_SPREAD)
    }

    /// Takes over what another one of the same visitor knows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.height_m.merge(&other.height_m);
        self.shade.merge(&other.shade);
    }

    /// Takes in one frame of somebody who stands alone at `foot_m`.
    pub(super) fn measure(
        &mut self,
        height_m: Option<f32>,
        samples: &[Sample],
        foot_m: Vec2,
        feet: &FootFinder,
    ) {
        if let Some(height_m) = height_m {
            self.height_m.add(height_m);
        }
        let [_, camera] = feet.lamp_and_camera();
        if let Some(height_m) = self.height_m()
            && let Some(camera) = camera
            && let Some(shade) = shade_of_trunk(samples, foot_m, height_m, &camera)
        {
            self.shade.add(shade.max(DARKEST_SHADE).ln());
        }
    }
}

/// Mean brightness of the trunk's picture, as a share of the floor's behind it.
fn shade_of_trunk(samples: &[Sample], foot_m: Vec2, height_m: f32, camera: &Origin) -> Option<f32> {
    let along = (foot_m - camera.below_m).normalize_or_zero();
    let start_m = foot_m.distance(camera.below_m);
    let length_m = start_m * height_m / (camera.height_m - height_m).max(0.3);
    let (mut sum, mut count) = (0.0, 0u32);
    for sample in samples {
        let offset = sample.at_m - camera.below_m;
        let share = (offset.dot(along) - start_m) / length_m.max(LEAST_STRIPE_M);
        if offset.perp_dot(along).abs() < AXIS_HALF_WIDTH_M && TRUNK_SHARES.contains(&share) {
            sum += sample.shade;
            count += 1;
        }
    }
    (count >= LEAST_TRUNK_SAMPLES).then(|| sum / count as f32)
}
