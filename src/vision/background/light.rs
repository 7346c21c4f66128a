//! Light that changes: that of all lamps, that of one of several lamps, and other light that comes and goes, such as sunlight.

use std::ops::Range;

use super::{Background, START_SECS, larger};
use crate::vision::VisionParams;
use crate::vision::bit_mask::BitMask;

/// A pixel has its level without other light within this number of standard deviations of its noise.
const UNLIT_STD_DEVS: f32 = 3.0;
/// The same within this share of the level.
const UNLIT_SHARE: f32 = 0.1;
/// A pixel that is brighter than its level without other light by this factor may lose that light again. A smaller factor could not
/// be told from noise.
const RAISED_FACTOR: f32 = 1.2;
/// Each frame compares one of this many rows with their levels without other light.
const UNLIT_ROW_STEP: usize = 64;
/// Time in which such a level rises by 1 if the floor stays brighter, in seconds: the light of lamps that are added is expected to
/// stay after one or two hours.
const UNLIT_RISE_SECS: f32 = 60.0;
/// Number of pixels beside a visitor from which the light that is lost behind that visitor is estimated.
const LOST_LIGHT_PX: usize = 16;

impl Background {
    /// Makes the gain of the last frame part of the model, because the light of the lamps has changed, and averages the floor
    /// between the visitors again. Returns `false` without a change if the light has not changed equally everywhere, or if most of
    /// the floor would be too dark for shadows.
    pub(in crate::vision) fn fold_gain(&mut self, params: &VisionParams) -> bool {
        let gain = self.gain.gain();
        let lit = (self.level.iter().zip(&self.threshold)).filter(|(_, threshold)| **threshold > 0);
        let (mut before, mut after) = (0_u32, 0_u32);
        for (level, _) in lit {
            before += 1;
            after += u32::from(level * gain >= params.dark_level);
        }
        if !self.gain.is_uniform() || 2 * after < before {
            return false;
        }
        for index in 0..self.level.len() {
            let brightest = f32::from(u8::MAX);
            self.level[index] = (self.level[index] * gain).min(brightest);
            // The noise of a camera does not decrease with the light as its levels do.
            self.std_dev[index] *= gain.max(1.0);
            self.unlit_level[index] = (f32::from(self.unlit_level[index]) * gain) as u8;
            self.set_threshold(index, params);
        }
        for (y, floor) in self.level.chunks_exact(self.width).enumerate() {
            self.dim.classify_row(y, floor, params.dark_level);
        }
        self.brighter_visits.fill(0);
        self.gain.reset();
        (self.frames, self.age_secs) = (0, START_SECS.into());
        true
    }

    /// Lowers the model where light has gone from one pixel row. Next to it, where `covered` is set, the model is lowered by the same
    /// share, from column `first` on. Returns the column behind the last changed one.
    pub(in crate::vision) fn lose_light(
        &mut self,
        levels: &[u8],
        (y, start, end): (u32, u32, u32),
        (covered, first): (&BitMask, usize),
        params: &VisionParams,
    ) -> usize {
        let (y, start, end) = (y as usize, start as usize, end as usize);
        let row = y * self.width;
        let share = |pixels: Range<usize>| {
            let sum = |of: &dyn Fn(usize) -> f32| pixels.clone().map(of).sum::<f32>();
            let lit = sum(&|x| self.level[row + x] * self.gain.gain());
            (sum(&|x| f32::from(levels[row + x])) / lit.max(1.0)).min(1.0)
        };
        let length = (end - start).min(LOST_LIGHT_PX);
        let shares = [share(start..start + length), share(end - length..end)];
        for x in start..end {
            self.lower(row + x, levels[row + x], params);
        }
        let is_covered = |x: &usize| covered.contains(*x as i32, y as i32);
        let mut last = end;
        let left = (first..start)
            .rev()
            .take_while(is_covered)
            .zip(std::iter::repeat(shares[0]));
        let right = (end..self.width)
            .take_while(is_covered)
            .zip(std::iter::repeat(shares[1]));
        for (x, share) in left.chain(right) {
            last = last.max(x + 1);
            self.level[row + x] *= share;
            self.set_threshold(row + x, params);
        }
        last
    }

    /// Clears the foreground where the floor has the level that it had before other light came.
    pub(super) fn clear_unlit(&self, levels: &[u8], foreground: &mut BitMask) {
        let inverse_gain = 1.0 / self.gain.gain();
        for y in 0..foreground.height() {
            let row = levels.get(y * self.width..).unwrap_or_default();
            let words = (foreground.row_mut(y).iter_mut()).zip(self.is_raised.row(y));
            for (word, (marked, raised)) in words.enumerate() {
                let mut either = *marked & raised;
                while either != 0 {
                    let bit = either.trailing_zeros() as usize;
                    either &= either - 1;
                    let x = 64 * word + bit;
                    if self.is_unlit(y * self.width + x, f32::from(row[x]) * inverse_gain) {
                        *marked &= !(1 << bit);
                    }
                }
            }
        }
    }

    /// Returns whether a pixel shows the level that it had before other light came.
    #[inline(always)]
    pub(super) fn is_unlit(&self, index: usize, observed: f32) -> bool {
        let unlit = f32::from(self.unlit_level[index]);
        let tolerance = larger(UNLIT_STD_DEVS * self.std_dev[index], UNLIT_SHARE * unlit);
        self.level[index] > RAISED_FACTOR * unlit && (observed - unlit).abs() <= tolerance
    }

    /// Lets the levels without other light follow the model in some rows: down at once, up very slowly. The light at the end of the
    /// learning phase is no other light.
    pub(super) fn follow_unlit(&mut self, dt_secs: f32, learning_secs: f32) {
        if learning_secs > 0.0 {
            if learning_secs <= dt_secs {
                let pixels = self.unlit_level.iter_mut().zip(&self.level);
                pixels.for_each(|(unlit, level)| *unlit = *level as u8);
            }
            return;
        }
        let height = self.level.len() / self.width.max(1);
        let (first, sweep) = (
            self.frames as usize % UNLIT_ROW_STEP,
            self.frames / UNLIT_ROW_STEP as u64,
        );
        let sweeps = UNLIT_RISE_SECS / (UNLIT_ROW_STEP as f32 * dt_secs).max(1e-3);
        let is_rising = sweep.is_multiple_of((sweeps as u64).max(1));
        for y in (first..height).step_by(UNLIT_ROW_STEP) {
            let row = y * self.width..(y + 1) * self.width;
            let pixels = self.level[row.clone()]
                .chunks(64)
                .zip(self.unlit_level[row].chunks_mut(64));
            for ((levels, unlit), word) in pixels.zip(self.is_raised.row_mut(y)) {
                *word = 0;
                for (bit, (level, unlit)) in levels.iter().zip(unlit).enumerate() {
                    let limit = unlit.saturating_add(u8::from(is_rising));
                    *unlit = (*level as u8).min(limit);
                    let is_raised = *level > RAISED_FACTOR * f32::from(*unlit);
                    *word |= u64::from(is_raised) << bit;
                }
            }
        }
    }
}
