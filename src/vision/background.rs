//! Background model: level and noise of every pixel of the empty floor, and detection of the foreground by comparison
//! with this model.
//!
//! The inputs are frames and a mask of occupied pixels (the dilated foreground); the output is the foreground mask. The
//! model does not learn from occupied pixels, so a visitor who stands still never becomes background. The level of a
//! pixel decreases only by small drift, except when an object is made part of the model. It increases only to a level that
//! the pixel has kept for a long time, so light that comes and goes is never learned.

mod gain;
mod light;
mod threshold;
mod update;

use pulp::Arch;

use super::VisionParams;
use super::bit_mask::BitMask;
use super::dim_floor::DimFloor;
use super::floor::FloorTable;
use super::polarity::Polarity;
use super::unreliable::UnreliablePixels;
use gain::{GainInput, GainMeter};
pub(super) use gain::{ROW_PARTS, SATURATED_LEVEL};
use update::{Rates, UpdateRows};

/// Lower limit of the noise estimate, in levels. A camera rounds to whole levels, so a lower estimate cannot be
/// correct.
const MIN_STD_DEV: f32 = 0.7;
/// Initial noise estimate of every pixel, in levels, as a standard deviation.
const INITIAL_STD_DEV: f32 = 3.0;
/// Time after the first frame in which every pixel may become darker, in seconds. A flash of light in the first frame would
/// leave a false shadow. Flashes are shorter than this. Nothing is foreground in this time.
pub(super) const START_SECS: f32 = 0.12;
/// Pixels within this share of the width of the picture from foreground may show a visitor in bright clothes.
const NEAR_SHARE: usize = 8;
/// Capacity for disturbed pixels of one frame. Further ones are not counted.
const MAX_DISTURBED: usize = 1 << 14;

/// Model of the empty floor, row-major, in levels of 0 to 255.
pub(super) struct Background {
    width: usize,
    /// Level of every pixel; empty before the first frame.
    level: Vec<f32>,
    /// Standard deviation of the noise of every pixel.
    std_dev: Vec<f32>,
    /// Foreground threshold of every pixel, in 1/256 of a level. A pixel is foreground if its level is below its
    /// threshold times the gain. The threshold is 0 where a shadow cannot be detected.
    threshold: Vec<u16>,
    /// Level of a pixel that is much brighter than the model.
    brighter_level: Vec<u8>,
    /// Number of consecutive updates in which the pixel had about this level; 0 for a pixel that is not brighter.
    brighter_visits: Vec<u8>,
    /// Level of each pixel without light that came after the learning phase, such as sunlight. If that light goes, the floor has this
    /// level again.
    unlit_level: Vec<u8>,
    /// Pixels that are clearly brighter than that.
    is_raised: BitMask,
    /// Indexes of the pixels that stopped being brighter in this frame.
    dimmed: Vec<u32>,
    unreliable: UnreliablePixels,
    dim: DimFloor,
    /// Pixels with a known floor area.
    usable: BitMask,
    usable_count: u32,
    gain: GainMeter,
    frames: u64,
    /// Time since the first frame, in seconds. A 32-bit number would stop to grow after twelve days.
    age_secs: f64,
}

impl Background {
    /// Creates an empty model. `areas_m2` is the floor area of each pixel; a pixel without area is never foreground.
    pub(super) fn new(width: usize, height: usize, areas_m2: &[f32]) -> Self {
        let mut usable = BitMask::new(width, height);
        for y in 0..height {
            for x in (0..width).filter(|x| areas_m2[y * width + x] > 0.0) {
                usable.row_mut(y)[x / 64] |= 1 << (x % 64);
            }
        }
        Self {
            width,
            level: Vec::with_capacity(width * height),
            std_dev: vec![INITIAL_STD_DEV; width * height],
            threshold: vec![0; width * height],
            brighter_level: vec![0; width * height],
            brighter_visits: vec![0; width * height],
            unlit_level: vec![u8::MAX; width * height],
            is_raised: BitMask::new(width, height),
            dimmed: Vec::with_capacity(MAX_DISTURBED),
            unreliable: UnreliablePixels::new(width, height),
            dim: DimFloor::new(width, height),
            usable_count: usable.count(),
            usable,
            gain: GainMeter::new(),
            frames: 0,
            age_secs: 0.0,
        }
    }

    /// Discards the model; the next frame starts a new learning phase.
    pub(super) fn reset(&mut self) {
        self.level.clear();
        self.std_dev.fill(INITIAL_STD_DEV);
        self.brighter_visits.fill(0);
        self.unlit_level.fill(u8::MAX);
        self.is_raised.clear();
        self.unreliable.reset();
        self.gain.reset();
        self.frames = 0;
        self.age_secs = 0.0;
    }

    /// Returns the gain: the ratio of the brightness of the last frame to the model. It follows the exposure of the
    /// camera.
    pub(super) fn gain(&self) -> f32 {
        self.gain.gain()
    }

    /// Returns the mean ratio of each part of each sampled row of the last frame to the model; 0 for a part that cannot be
    /// measured.
    pub(super) fn row_ratios(&self) -> &[[f32; ROW_PARTS]] {
        self.gain.row_ratios()
    }

    /// Writes the gain of every row of a frame, relative to the whole frame, to `to`.
    pub(super) fn measure_rows(
        &mut self,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
        to: &mut [f32],
    ) {
        let input = GainInput {
            levels,
            floor: &self.level,
            width: self.width,
            usable: &self.usable,
            occupied,
        };
        self.gain.measure_rows(&input, params, to);
    }

    /// Returns whether the model accepts every darker level, because it has just begun to learn. Nothing is foreground then.
    pub(super) fn is_starting(&self) -> bool {
        self.age_secs < f64::from(START_SECS)
    }

    /// Returns the pixels that cannot be trusted.
    pub(super) fn unreliable(&self) -> &UnreliablePixels {
        &self.unreliable
    }

    /// Returns the number of pixels that can become foreground.
    pub(super) fn usable_count(&self) -> u32 {
        self.usable_count
    }

    /// Returns the levels of the empty floor, row-major. These levels times [`Self::gain`] match the last frame.
    pub(super) fn levels(&self) -> &[f32] {
        &self.level
    }

    /// Returns the noise of every pixel, in the same unit.
    pub(super) fn std_devs(&self) -> &[f32] {
        &self.std_dev
    }

    /// Returns whether a shadow on this pixel is always detected.
    pub(super) fn is_observable(&self, index: usize) -> bool {
        self.threshold[index] > 0 && !self.unreliable.contains(index)
    }

    /// Returns whether a shadow on this pixel can be detected.
    pub(super) fn is_detectable(&self, index: usize) -> bool {
        self.threshold[index] > 0
    }

    /// Lowers the model to the levels of one pixel row of an object, including a margin of `rim_px` pixels around the
    /// row.
    pub(super) fn absorb(
        &mut self,
        levels: &[u8],
        (y, start, end): (u32, u32, u32),
        rim_px: usize,
        params: &VisionParams,
    ) {
        let (y, start, end) = (y as usize, start as usize, end as usize);
        let height = self.level.len() / self.width.max(1);
        for row in y.saturating_sub(rim_px)..(y + rim_px + 1).min(height) {
            for x in start.saturating_sub(rim_px)..(end + rim_px).min(self.width) {
                let index = row * self.width + x;
                if params.polarity == Polarity::Both {
                    self.level[index] = f32::from(levels[index]) / self.gain.gain();
                }
                self.lower(index, levels[index], params);
            }
        }
    }

    /// Lowers the model to the levels of one pixel row of a ghost and of the pixels around it that are not foreground. The
    /// ghost's pixels count as disturbed.
    pub(super) fn heal(
        &mut self,
        levels: &[u8],
        (y, start, end): (u32, u32, u32),
        foreground: &BitMask,
        params: &VisionParams,
    ) {
        let (y, start, end) = (y as usize, start as usize, end as usize);
        let height = self.level.len() / self.width.max(1);
        let rim_px = params.grow_px as usize;
        for row in y.saturating_sub(rim_px)..(y + rim_px + 1).min(height) {
            for x in start.saturating_sub(rim_px)..(end + rim_px).min(self.width) {
                if !foreground.contains(x as i32, row as i32) {
                    self.lower(row * self.width + x, levels[row * self.width + x], params);
                }
            }
        }
        for x in start..end {
            self.unreliable.disturb(y * self.width + x);
        }
    }

    /// Lowers the model of a pixel to an observed level.
    fn lower(&mut self, index: usize, observed: u8, params: &VisionParams) {
        let observed = f32::from(observed) / self.gain.gain();
        self.level[index] = self.level[index].min(observed);
        self.brighter_visits[index] = 0;
        self.set_threshold(index, params);
    }

    /// Measures the gain of a frame and marks the foreground.
    #[cfg(test)]
    pub(super) fn find_foreground(
        &mut self,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
        foreground: &mut BitMask,
    ) {
        self.measure_gain(levels, occupied, params);
        self.mark_foreground(levels, foreground);
    }

    /// Writes the pixels that are darker than the model to `foreground`. The gain must be that of the frame.
    pub(super) fn mark_foreground(&mut self, levels: &[u8], foreground: &mut BitMask) {
        self.dim.smooth(levels);
        let rows = foreground
            .rows_mut()
            .zip(self.threshold.chunks_exact(self.width));
        let dim = &self.dim;
        let rows = rows.enumerate();
        let rows = rows.map(|(y, (words, thresholds))| (words, dim.row(levels, y), thresholds));
        threshold::mark_below(rows, self.gain.gain());
        self.clear_unlit(levels, foreground);
    }

    /// Measures the gain of a frame. The first frame becomes the model.
    pub(super) fn measure_gain(
        &mut self,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
    ) {
        if self.level.is_empty() {
            self.initialize(levels, params);
        }
        let input = GainInput {
            levels,
            floor: &self.level,
            width: self.width,
            usable: &self.usable,
            occupied,
        };
        if !self.is_starting() {
            self.gain.measure(&input, params);
        }
    }

    /// Sets the model to the levels of the first frame.
    fn initialize(&mut self, levels: &[u8], params: &VisionParams) {
        self.level.extend(levels.iter().map(|&v| f32::from(v)));
        for (y, floor) in self.level.chunks_exact(self.width).enumerate() {
            self.dim.classify_row(y, floor, params.dark_level);
        }
        self.dim.smooth(levels);
        for (y, floor) in self.level.chunks_exact_mut(self.width).enumerate() {
            for (to, &observed) in floor.iter_mut().zip(self.dim.row(levels, y)) {
                *to = f32::from(observed);
            }
        }
        for index in 0..levels.len() {
            self.set_threshold(index, params);
        }
    }

    /// Updates the model from the pixels of a frame that are not occupied.
    pub(super) fn learn(
        &mut self,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
        dt_secs: f32,
    ) {
        let learning_secs = f64::from(params.learn_secs) - self.age_secs;
        let is_learning = learning_secs > 0.0;
        let rates = Rates::new(self, params, dt_secs, is_learning);
        let height = levels.len() / self.width.max(1);
        Arch::new().dispatch(UpdateRows {
            background: self,
            rows: (rates.first_row..height).step_by(rates.row_step),
            levels,
            occupied,
            params,
            rates,
        });
        self.record_disturbances(occupied);
        self.follow_unlit(dt_secs, learning_secs as f32);
        self.frames += 1;
        self.age_secs += f64::from(dt_secs);
    }

    /// Lets disturbances be forgotten, and updates the fault of the picture.
    pub(super) fn advance_unreliable(
        &mut self,
        dt_secs: f32,
        floor: &FloorTable,
        params: &VisionParams,
    ) {
        (self.unreliable).advance(dt_secs, floor, 0.5 * params.min_area_m2);
    }

    /// Records the pixels that stopped being brighter. Pixels near foreground are left out, because visitors in bright clothes
    /// cause such changes too.
    fn record_disturbances(&mut self, occupied: &BitMask) {
        let reach = self.width / NEAR_SHARE;
        for &index in &self.dimmed {
            let index = index as usize;
            let (x, y) = (index % self.width, index / self.width);
            let words = x.saturating_sub(reach) / 64..=((x + reach).min(self.width - 1) / 64);
            let rows = y.saturating_sub(reach)..(y + reach).min(occupied.height());
            let is_near = (rows.step_by(2))
                .any(|y| occupied.row(y)[words.clone()].iter().any(|&word| word != 0));
            if !is_near {
                self.unreliable.disturb(index);
            }
        }
        self.dimmed.clear();
    }

    #[inline(always)]
    fn set_threshold(&mut self, index: usize, params: &VisionParams) {
        let (x, y) = (index % self.width, index / self.width);
        let usable = self.usable.row(y)[x / 64] >> (x % 64) & 1 == 1;
        self.threshold[index] = if usable {
            threshold_of(self.level[index], self.std_dev[index], params)
        } else {
            0
        };
    }
}

/// Returns the foreground threshold of a pixel, in 1/256 of a level.
#[inline(always)]
fn threshold_of(level: f32, std_dev: f32, params: &VisionParams) -> u16 {
    let below_noise = level - params.noise_factor * std_dev;
    let share = params.shadow_ratio * level;
    let threshold = larger(
        if share < below_noise {
            share
        } else {
            below_noise
        },
        0.0,
    );
    let observable_threshold = if level < params.dark_level {
        0.0
    } else {
        threshold
    };
    // Adding 2²³ moves the integer part of the number into its lowest bits. Unlike a cast, this can be vectorized.
    (observable_threshold * 256.0 + 8_388_608.0).to_bits() as u16
}

/// Returns the depth of a shadow: 0 for fully lit floor, 1 for black. `lit` is the level of the lit floor.
pub(super) fn shadow_depth(level: f32, lit: f32) -> f32 {
    larger(1.0 - level / larger(lit, 1.0), 0.0)
}

/// Returns the larger of two numbers that are not NaN. It compiles to one SIMD instruction, while [`f32::max`] needs
/// five.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests;
