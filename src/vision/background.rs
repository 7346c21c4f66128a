//! Background model: level and noise of every pixel of the empty floor, and detection of the foreground by comparison
//! with this model.
//!
//! The inputs are frames and a mask of occupied pixels (the dilated foreground); the output is the foreground mask. The
//! model does not learn from occupied pixels, so a visitor who stands still never becomes background. The level of a
//! pixel decreases only by small drift, except when an object is made part of the model.

mod threshold;

use std::iter::StepBy;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::VisionParams;
use super::bit_mask::BitMask;
use super::dim_floor::DimFloor;

/// The camera may clip levels of this value or higher, so pixels with such levels are not used to measure the gain.
const SATURATED_LEVEL: u8 = 250;
/// Lower limit of the noise estimate, in levels. A camera rounds to whole levels, so a lower estimate cannot be
/// correct.
const MIN_STD_DEV: f32 = 0.7;
/// Initial noise estimate of every pixel, in levels, as a standard deviation.
const INITIAL_STD_DEV: f32 = 3.0;
/// A level change of at most this many standard deviations counts as small drift.
const FOLLOWED_STD_DEVS: f32 = 4.0;
/// A level change of at most this share of the level also counts as small drift.
const FOLLOWED_SHARE: f32 = 0.1;
/// Ratio of the standard deviation to the mean absolute deviation of normally distributed noise.
const STD_DEV_PER_MEAN_DEVIATION: f32 = 1.25;
/// If a pixel becomes this many times brighter than its model, a shadow covered the pixel when the model learned it.
const UNCOVERED_RATIO: f32 = 3.0;
/// Time for which floor must stay brighter before the model accepts the brighter level, in seconds.
const UNCOVERED_SECS: f32 = 0.4;
/// After the learning phase, each frame updates only one of every this many rows.
const ROW_STEP: usize = 8;
/// Number of pixels that are updated together with SIMD instructions.
const BLOCK: usize = 32;
/// Approximate number of pixels used to measure the gain.
const GAIN_PIXELS: f32 = 2048.0;
/// Number of bins of the gain histogram. All bins together cover gains from 0 to 4.
const GAIN_BINS: usize = 512;
/// Width of a bin of the gain histogram.
const GAIN_BIN_WIDTH: f32 = 1.0 / 128.0;
/// Smallest number of pixels from which the gain can be measured reliably. With fewer pixels, the previous gain is
/// kept.
const MIN_GAIN_SAMPLES: u32 = 100;

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
    /// Number of consecutive updates in which the pixel was much brighter than the model.
    brighter_visits: Vec<u8>,
    dim: DimFloor,
    /// Pixels with a known floor area.
    usable: BitMask,
    usable_count: u32,
    histogram: Vec<u32>,
    gain: f32,
    frames: u64,
    age_secs: f32,
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
            brighter_visits: vec![0; width * height],
            dim: DimFloor::new(width, height),
            usable_count: usable.count(),
            usable,
            histogram: vec![0; GAIN_BINS],
            gain: 1.0,
            frames: 0,
            age_secs: 0.0,
        }
    }

    /// Discards the model; the next frame starts a new learning phase.
    pub(super) fn reset(&mut self) {
        self.level.clear();
        self.std_dev.fill(INITIAL_STD_DEV);
        self.brighter_visits.fill(0);
        self.gain = 1.0;
        self.frames = 0;
        self.age_secs = 0.0;
    }

    /// Returns the gain: the ratio of the brightness of the last frame to the model. It follows the exposure of the
    /// camera.
    pub(super) fn gain(&self) -> f32 {
        self.gain
    }

    /// Returns the number of pixels that can become foreground.
    pub(super) fn usable_count(&self) -> u32 {
        self.usable_count
    }

    /// Returns the levels of the empty floor, row-major. These levels times [`Self::gain`] match the last frame.
    pub(super) fn levels(&self) -> &[f32] {
        &self.level
    }

    /// Returns whether a shadow on this pixel can be detected.
    pub(super) fn is_observable(&self, index: usize) -> bool {
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
                let observed = f32::from(levels[index]) / self.gain;
                self.level[index] = self.level[index].min(observed);
                self.brighter_visits[index] = 0;
                self.set_threshold(index, params);
            }
        }
    }

    /// Finds the pixels that are darker than the model, and writes them to `foreground`. `occupied` is the dilated
    /// foreground of the previous frame.
    pub(super) fn find_foreground(
        &mut self,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
        foreground: &mut BitMask,
    ) {
        if self.level.is_empty() {
            self.initialize(levels, params);
        }
        self.measure_gain(levels, occupied, params);
        self.dim.smooth(levels);
        let rows = foreground
            .rows_mut()
            .zip(self.threshold.chunks_exact(self.width));
        let dim = &self.dim;
        let rows = rows.enumerate();
        let rows = rows.map(|(y, (words, thresholds))| (words, dim.row(levels, y), thresholds));
        threshold::mark_below(rows, self.gain);
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

    /// Measures the gain: the median ratio of the frame to the model over unoccupied pixels. Thresholds are multiplied
    /// by the gain, so an exposure change creates no foreground.
    fn measure_gain(&mut self, levels: &[u8], occupied: &BitMask, params: &VisionParams) {
        self.histogram.fill(0);
        let mut samples = 0;
        let step = ((levels.len() as f32 / GAIN_PIXELS).sqrt() as usize).max(1);
        for (y, row) in levels.chunks_exact(self.width).enumerate().step_by(step) {
            let floor = &self.level[y * self.width..(y + 1) * self.width];
            let (words, usable) = (occupied.row(y), self.usable.row(y));
            for x in (y / step % step..self.width).step_by(step) {
                let free = usable[x / 64] & !words[x / 64];
                if free >> (x % 64) & 1 == 0
                    || floor[x] < 2.0 * params.dark_level
                    || floor[x] > f32::from(SATURATED_LEVEL)
                    || row[x] >= SATURATED_LEVEL
                {
                    continue;
                }
                let bin = (f32::from(row[x]) / floor[x] / GAIN_BIN_WIDTH) as usize;
                self.histogram[bin.min(GAIN_BINS - 1)] += 1;
                samples += 1;
            }
        }
        if samples < MIN_GAIN_SAMPLES {
            return;
        }
        let mut below = 0;
        for (bin, &count) in self.histogram.iter().enumerate() {
            if 2 * (below + count) >= samples {
                let within = (samples as f32 / 2.0 - below as f32) / count as f32;
                self.gain = ((bin as f32 + within) * GAIN_BIN_WIDTH).max(GAIN_BIN_WIDTH);
                return;
            }
            below += count;
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
        let is_learning = self.age_secs < params.learn_secs;
        let (first, step) = if is_learning {
            (0, 1)
        } else {
            (self.frames as usize % ROW_STEP, ROW_STEP)
        };
        let visit_secs = dt_secs * step as f32;
        let rates = Rates {
            inverse_gain: 1.0 / self.gain,
            follow: (1.0 - (-visit_secs / params.follow_secs).exp())
                .max(1.0 / (self.frames as f32 + 2.0)),
            brighten: 1.0 - (-visit_secs / params.brighten_secs).exp(),
            uncovered_visits: (UNCOVERED_SECS / visit_secs.max(1e-3))
                .ceil()
                .clamp(2.0, 200.0) as u8,
            is_learning,
        };
        let height = levels.len() / self.width.max(1);
        Arch::new().dispatch(UpdateRows {
            background: self,
            rows: (first..height).step_by(step),
            levels,
            occupied,
            params,
            rates,
        });
        self.frames += 1;
        self.age_secs += dt_secs;
    }

    #[inline(always)]
    fn update_rows(
        &mut self,
        rows: StepBy<Range<usize>>,
        levels: &[u8],
        occupied: &BitMask,
        params: &VisionParams,
        rates: &Rates,
    ) {
        // `dim` is moved out of `self`, because `update_block` borrows `self` mutably while rows of `dim` are in use.
        let mut dim = std::mem::take(&mut self.dim);
        for y in rows {
            let row = dim.row(levels, y);
            for (word, occupied) in occupied.row(y).iter().enumerate() {
                let free = self.usable.row(y)[word] & !occupied;
                let halves = [free as u32, (free >> 32) as u32];
                for (half, free) in halves.into_iter().enumerate() {
                    let x = 64 * word + BLOCK * half;
                    let Some(levels) = row.get(x..) else { continue };
                    self.update_block(y * self.width + x, levels, free, rates, params);
                }
            }
            let floor = &self.level[y * self.width..(y + 1) * self.width];
            dim.classify_row(y, floor, params.dark_level);
        }
        self.dim = dim;
    }

    /// Updates up to 32 pixels from index `start` on. Bit i of `free` is set if pixel i is not occupied.
    #[inline(always)]
    fn update_block(
        &mut self,
        start: usize,
        levels: &[u8],
        free: u32,
        rates: &Rates,
        params: &VisionParams,
    ) {
        if free == 0 {
            self.brighter_visits[start..start + levels.len().min(BLOCK)].fill(0);
            return;
        }
        if self.update_stable_block(start, levels, free, rates, params) {
            return;
        }
        for (i, &level) in levels.iter().take(BLOCK).enumerate() {
            if free >> i & 1 == 1 {
                self.update_pixel(start + i, f32::from(level) * rates.inverse_gain, rates);
                self.set_threshold(start + i, params);
            } else {
                self.brighter_visits[start + i] = 0;
            }
        }
    }

    #[inline(always)]
    fn update_pixel(&mut self, index: usize, observed: f32, rates: &Rates) {
        let level = &mut self.level[index];
        let std_dev = &mut self.std_dev[index];
        let change = observed - *level;
        let followed = (FOLLOWED_STD_DEVS * *std_dev).max(FOLLOWED_SHARE * *level);
        if change.abs() <= followed {
            *level += rates.follow * change;
            *std_dev += rates.follow * (STD_DEV_PER_MEAN_DEVIATION * change.abs() - *std_dev);
            *std_dev = std_dev.max(MIN_STD_DEV);
            self.brighter_visits[index] = 0;
        } else if change > 0.0 {
            let visits = &mut self.brighter_visits[index];
            *visits = visits.saturating_add(1);
            let uncovered = rates.is_learning || observed > UNCOVERED_RATIO * *level;
            if uncovered && *visits >= rates.uncovered_visits {
                *level = observed;
                *visits = 0;
            } else {
                *level += rates.brighten * change;
            }
        } else {
            self.brighter_visits[index] = 0;
        }
    }

    /// Updates all free pixels of a block together, if each of them shows only small drift. Returns `false` without an
    /// update otherwise.
    #[inline(always)]
    fn update_stable_block(
        &mut self,
        start: usize,
        levels: &[u8],
        free: u32,
        rates: &Rates,
        params: &VisionParams,
    ) -> bool {
        let Some(observed) = levels.first_chunk::<BLOCK>() else {
            return false;
        };
        let block = start..start + BLOCK;
        let (Some(level), Some(std_dev), Some(threshold)) = (
            self.level[block.clone()].first_chunk_mut::<BLOCK>(),
            self.std_dev[block.clone()].first_chunk_mut::<BLOCK>(),
            self.threshold[block.clone()].first_chunk_mut::<BLOCK>(),
        ) else {
            return false;
        };
        // Each mask value has as many bits as a level (32), because SIMD registers have no single-bit lanes.
        let mut is_free = [0_u32; BLOCK];
        for (i, is_free) in is_free.iter_mut().enumerate() {
            *is_free = if free & 1 << i == 0 { 0 } else { u32::MAX };
        }
        let (mut next_level, mut next_std_dev) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut beyond = 0;
        for i in 0..BLOCK {
            let change = f32::from(observed[i]) * rates.inverse_gain - level[i];
            let followed = larger(FOLLOWED_STD_DEVS * std_dev[i], FOLLOWED_SHARE * level[i]);
            beyond |= is_free[i] & u32::from(change.abs() > followed);
            let off = STD_DEV_PER_MEAN_DEVIATION * change.abs() - std_dev[i];
            let followed_level = level[i] + rates.follow * change;
            let followed_std_dev = larger(std_dev[i] + rates.follow * off, MIN_STD_DEV);
            next_level[i] = if is_free[i] != 0 {
                followed_level
            } else {
                level[i]
            };
            next_std_dev[i] = if is_free[i] != 0 {
                followed_std_dev
            } else {
                std_dev[i]
            };
        }
        if beyond != 0 {
            return false;
        }
        *level = next_level;
        *std_dev = next_std_dev;
        for i in 0..BLOCK {
            // Selecting with a mask avoids one branch per pixel.
            let is_free = is_free[i] as u16;
            let next_threshold = threshold_of(level[i], std_dev[i], params);
            threshold[i] = next_threshold & is_free | threshold[i] & !is_free;
        }
        self.brighter_visits[block].fill(0);
        true
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

/// Update of some rows with the widest SIMD instructions of this machine. Every function called from `with_simd` must
/// be inlined.
struct UpdateRows<'a> {
    background: &'a mut Background,
    rows: StepBy<Range<usize>>,
    levels: &'a [u8],
    occupied: &'a BitMask,
    params: &'a VisionParams,
    rates: Rates,
}

impl WithSimd for UpdateRows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.background.update_rows(
            self.rows,
            self.levels,
            self.occupied,
            self.params,
            &self.rates,
        );
    }
}

/// Learning rates for one frame.
struct Rates {
    /// Factor that converts levels of the frame to levels of the model.
    inverse_gain: f32,
    /// Share of a small level change that is added to the model per update.
    follow: f32,
    /// Share of the level difference that is added to the model per update, for a pixel that is much brighter than the
    /// model.
    brighten: f32,
    /// Number of consecutive updates in which a pixel must be much brighter before the model accepts the brighter
    /// level.
    uncovered_visits: u8,
    is_learning: bool,
}

#[cfg(test)]
mod tests;
