//! Update of the background model with the pixels of a frame. Pixels that show only small drift are updated in blocks, with
//! SIMD instructions.

use std::iter::StepBy;
use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::gain::SATURATED_LEVEL;
use super::{Background, MAX_DISTURBED, MIN_STD_DEV, NEAR_SHARE, larger, threshold_of};
use crate::vision::VisionParams;
use crate::vision::bit_mask::BitMask;

/// A level change of at most this many standard deviations counts as small drift.
const FOLLOWED_STD_DEVS: f32 = 4.0;
/// A level change of at most this share of the level also counts as small drift.
const FOLLOWED_SHARE: f32 = 0.1;
/// Ratio of the standard deviation to the mean absolute deviation of normally distributed noise.
const STD_DEV_PER_MEAN_DEVIATION: f32 = 1.25;
/// If a pixel becomes this many times brighter than its model, a shadow covered the pixel when the model learned it.
const UNCOVERED_RATIO: f32 = 3.0;
/// Floor that was covered is at most this many times brighter than floor near it that was not.
const FLOOR_VARIATION: f32 = 1.5;
/// Time for which such a pixel must keep its level before the model accepts it, in seconds. It also applies to every brighter
/// pixel in the learning phase.
const UNCOVERED_SECS: f32 = 0.4;
/// Time between two updates of a pixel after the learning phase, in seconds.
const VISIT_SECS: f32 = 0.27;
/// After the learning phase, each frame updates at least one of every this many rows.
const MAX_ROW_STEP: usize = 8;
/// Largest number of updates in which a pixel must be brighter. The counters have 8 bits.
const MAX_VISITS: f32 = 250.0;
/// Number of pixels that are updated together with SIMD instructions.
const BLOCK: usize = 32;

/// Update of some rows with the widest SIMD instructions of this machine. Every function called from `with_simd` must
/// be inlined.
pub(super) struct UpdateRows<'a> {
    pub(super) background: &'a mut Background,
    pub(super) rows: StepBy<Range<usize>>,
    pub(super) levels: &'a [u8],
    pub(super) occupied: &'a BitMask,
    pub(super) params: &'a VisionParams,
    pub(super) rates: Rates,
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
pub(super) struct Rates {
    /// First updated row.
    pub(super) first_row: usize,
    /// Distance between updated rows.
    pub(super) row_step: usize,
    /// Factor that converts levels of the frame to levels of the model.
    inverse_gain: f32,
    /// Share of a small level change that is added to the model per update.
    follow: f32,
    /// Number of counted updates in which a pixel must keep a brighter level before the model accepts it.
    brighter_visits: u8,
    /// Whether this update counts for `brighter_visits`. Over a long time, only some updates are counted.
    is_counted: bool,
    /// The same number for a pixel that was covered when the model learned it.
    uncovered_visits: u8,
    is_learning: bool,
    is_starting: bool,
}

impl Rates {
    pub(super) fn new(
        model: &Background,
        params: &VisionParams,
        dt_secs: f32,
        is_learning: bool,
    ) -> Self {
        let row_step = if is_learning { 1 } else { row_step(dt_secs) };
        let visit_secs = dt_secs * row_step as f32;
        let brighter_visits = params.brighten_secs / visit_secs.max(1e-3);
        let visit = model.frames / row_step as u64;
        Self {
            first_row: model.frames as usize % row_step,
            row_step,
            inverse_gain: 1.0 / model.gain(),
            follow: (1.0 - (-visit_secs / params.follow_secs).exp())
                .max(1.0 / (model.frames as f32 + 2.0)),
            brighter_visits: brighter_visits.ceil().clamp(2.0, MAX_VISITS) as u8,
            is_counted: visit.is_multiple_of((brighter_visits / MAX_VISITS).ceil().max(1.0) as u64),
            uncovered_visits: (UNCOVERED_SECS / visit_secs.max(1e-3))
                .ceil()
                .clamp(2.0, 200.0) as u8,
            is_learning,
            is_starting: model.is_starting(),
        }
    }
}

/// Returns the number of rows of which each frame updates one, so that the time between two updates of a pixel is about
/// [`VISIT_SECS`] at any frame rate.
fn row_step(dt_secs: f32) -> usize {
    let frames = VISIT_SECS / dt_secs.max(1e-3);
    1 << (frames.log2().round().max(0.0) as u32).min(MAX_ROW_STEP.ilog2())
}

impl Background {
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
        if self.is_unlit(index, observed) {
            self.level[index] = observed;
        }
        let level = &mut self.level[index];
        let std_dev = &mut self.std_dev[index];
        let change = observed - *level;
        let followed = (FOLLOWED_STD_DEVS * *std_dev).max(FOLLOWED_SHARE * *level);
        if change.abs() <= followed {
            *level += rates.follow * change;
            *std_dev += rates.follow * (STD_DEV_PER_MEAN_DEVIATION * change.abs() - *std_dev);
            *std_dev = std_dev.max(MIN_STD_DEV);
            self.stop_brighter(index);
        } else if change > 0.0 {
            self.update_brighter(index, observed.min(255.0), rates);
        } else {
            if rates.is_starting {
                *level = observed;
            }
            self.brighter_visits[index] = 0;
        }
    }

    /// Updates a pixel that is much brighter than the model. The model accepts the brighter level after the pixel has kept it
    /// for long enough; light that moves or changes is never accepted.
    #[inline(always)]
    fn update_brighter(&mut self, index: usize, observed: f32, rates: &Rates) {
        let level = self.level[index];
        let visits = &mut self.brighter_visits[index];
        let kept = f32::from(self.brighter_level[index]);
        let followed = (FOLLOWED_STD_DEVS * self.std_dev[index]).max(FOLLOWED_SHARE * kept);
        if *visits == 0 || (observed - kept).abs() > followed {
            self.brighter_level[index] = observed as u8;
            *visits = 1;
        } else if *visits < rates.uncovered_visits || rates.is_counted {
            *visits = visits.saturating_add(1);
        }
        let visits = *visits;
        if visits < rates.uncovered_visits {
            return;
        }
        let is_sunlit = observed >= f32::from(SATURATED_LEVEL) * rates.inverse_gain;
        let is_uncovered = rates.is_learning
            || observed > UNCOVERED_RATIO * level
                && !is_sunlit
                && !self.unreliable.was_disturbed(index)
                && self.is_like_floor_near(index, observed);
        if is_uncovered || visits >= rates.brighter_visits {
            self.brighter_visits[index] = 0;
            self.level[index] = observed;
            if is_uncovered && !rates.is_learning {
                self.unlit_level[index] = observed as u8;
            }
        }
    }

    /// Returns whether a level is about that of floor near a pixel, without other light there. Floor under other light, such as
    /// sunlight, is brighter.
    fn is_like_floor_near(&self, index: usize, observed: f32) -> bool {
        let (x, y) = (index % self.width, index / self.width);
        let is_bright = |x: usize, y: usize| {
            let near = self.unlit_level.get(y * self.width + x);
            near.is_some_and(|near| FLOOR_VARIATION * f32::from(*near) >= observed)
        };
        let reach = self.width / NEAR_SHARE;
        [reach, 2 * reach].into_iter().any(|step| {
            x >= step && is_bright(x - step, y)
                || x + step < self.width && is_bright(x + step, y)
                || y >= step && is_bright(x, y - step)
                || is_bright(x, y + step)
        })
    }

    /// Ends the series of updates in which a pixel was brighter.
    #[inline(always)]
    fn stop_brighter(&mut self, index: usize) {
        if self.brighter_visits[index] > 0 {
            self.brighter_visits[index] = 0;
            if self.dimmed.len() < MAX_DISTURBED {
                self.dimmed.push(index as u32);
            }
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
        if self.brighter_visits[block.clone()] != [0; BLOCK] {
            for index in block {
                if free >> (index - start) & 1 == 1 {
                    self.stop_brighter(index);
                } else {
                    self.brighter_visits[index] = 0;
                }
            }
        }
        true
    }
}
