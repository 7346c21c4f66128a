//! Smooths dim floor. Where little light arrives, averaging over 3 × 3 pixels reduces noise that would hide a shadow.
//!
//! The input is a frame and the levels of the background model. The output is the same frame, in which blocks of 64
//! pixels with dim floor are averaged over 3 × 3 pixels. The background model works on these averages, so its noise
//! estimate already includes the effect of the smoothing. Blocks with bright floor do not enter an average, because
//! bright pixels would hide a shadow next to them. At the border to a bright block, the border pixels of the dim block
//! are repeated instead.

use pulp::{Arch, Simd, WithSimd};

/// Number of pixels in a block; equals the number of pixels in one mask word.
const BLOCK: usize = 64;
/// Number of pixels in a block plus one on each side, padded to whole SIMD registers.
const PADDED: usize = BLOCK + 8;
/// Floor below this many times `dark_level` is dim. On such floor, camera noise of about 3 levels is about a third of
/// the decrease in level that a shadow causes (see `noise_factor` and `shadow_ratio`).
const DIM_FACTOR: f32 = 3.0;
/// Factor on the dim limit for blocks that are already dim: such a block stays dim up to this many times the limit.
/// Without this hysteresis a block could alternate between both states, because averaging changes its level.
const HYSTERESIS_FACTOR: f32 = 2.0;

/// State of the smoothing: dim blocks and the smoothed rows.
#[derive(Default)]
pub(super) struct DimFloor {
    width: usize,
    /// Whether each block is dim, one value per mask word.
    is_dim: Vec<bool>,
    /// Whether each row has at least one dim block.
    has_dim: Vec<bool>,
    /// Smoothed frame, row-major. Valid only in rows that have dim blocks; only these blocks are smoothed.
    smooth: Vec<u8>,
}

impl DimFloor {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            is_dim: vec![false; width.div_ceil(BLOCK) * height],
            has_dim: vec![false; height],
            smooth: vec![0; width * height],
        }
    }

    /// Decides which blocks of row `y` are dim, from the background levels `floor` of that row.
    #[inline(always)]
    pub(super) fn classify_row(&mut self, y: usize, floor: &[f32], dark_level: f32) {
        let words = self.width.div_ceil(BLOCK);
        let is_dim = &mut self.is_dim[y * words..(y + 1) * words];
        for (is_dim, floor) in is_dim.iter_mut().zip(floor.chunks(BLOCK)) {
            let hysteresis = if *is_dim { HYSTERESIS_FACTOR } else { 1.0 };
            let dim_level = hysteresis * DIM_FACTOR * dark_level;
            let (mut has_dim, mut has_lit) = (0, 0);
            for &level in floor {
                has_dim |= u32::from(level < dim_level);
                has_lit |= u32::from(level >= dark_level);
            }
            // Smoothing is useless for a block that is too dark everywhere, because no shadow can be detected on it.
            *is_dim = has_dim != 0 && has_lit != 0;
        }
        self.has_dim[y] = is_dim.contains(&true);
    }

    /// Smooths the dim blocks of a frame and stores the result for `row`.
    pub(super) fn smooth(&mut self, levels: &[u8]) {
        if self.has_dim.contains(&true) {
            Arch::new().dispatch(Smoothing {
                floor: self,
                levels,
            });
        }
    }

    #[inline(always)]
    fn smooth_rows(&mut self, levels: &[u8]) {
        let (width, height) = (self.width, self.has_dim.len());
        for y in (0..height).filter(|&y| self.has_dim[y]) {
            let row = y * width..(y + 1) * width;
            self.smooth[row.clone()].copy_from_slice(&levels[row]);
            let words = width.div_ceil(BLOCK);
            let is_dim = |y: usize, word: usize| y < height && self.is_dim[y * words + word];
            for word in (0..words).filter(|&word| is_dim(y, word)) {
                let above = if y > 0 && is_dim(y - 1, word) {
                    y - 1
                } else {
                    y
                };
                let below = if is_dim(y + 1, word) { y + 1 } else { y };
                let (start, end) = (BLOCK * word, (BLOCK * (word + 1)).min(width));
                let is_left_dim = word > 0 && is_dim(y, word - 1);
                let is_right_dim = word + 1 < words && is_dim(y, word + 1);
                let mut around = [[0; PADDED]; 3];
                for (padded, row) in around.iter_mut().zip([above, y, below]) {
                    let row = &levels[row * width..(row + 1) * width];
                    padded[1..=end - start].copy_from_slice(&row[start..end]);
                    padded[0] = row[start - usize::from(is_left_dim)];
                    padded[end - start + 1] = row[end - usize::from(!is_right_dim)];
                }
                let means = means(&around);
                self.smooth[y * width + start..y * width + end]
                    .copy_from_slice(&means[..end - start]);
            }
        }
    }

    /// Returns a row of the frame that was passed to [`Self::smooth`], with its dim blocks smoothed.
    pub(super) fn row<'a>(&'a self, levels: &'a [u8], y: usize) -> &'a [u8] {
        let frame = if self.has_dim[y] {
            &self.smooth
        } else {
            levels
        };
        &frame[y * self.width..(y + 1) * self.width]
    }
}

/// Smoothing of a frame with the widest SIMD instructions of this machine. Every function called from `with_simd` must be inlined.
struct Smoothing<'a> {
    floor: &'a mut DimFloor,
    levels: &'a [u8],
}

impl WithSimd for Smoothing<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.floor.smooth_rows(self.levels);
    }
}

/// Returns the averages over 3 × 3 pixels for one block. The three rows have one more pixel on each side. 16-bit
/// integers allow many pixels per SIMD instruction.
#[inline(always)]
fn means(rows: &[[u8; PADDED]; 3]) -> [u8; BLOCK] {
    let mut sums = [0_u16; PADDED];
    for i in 0..PADDED {
        sums[i] = u16::from(rows[0][i]) + u16::from(rows[1][i]) + u16::from(rows[2][i]);
    }
    let mut means = [0; BLOCK];
    for i in 0..BLOCK {
        let sum = sums[i] + sums[i + 1] + sums[i + 2];
        // Rounded division by 9: 65536 / 9 ≈ 7282, exact for sums up to 2300.
        means[i] = ((u32::from(sum + 4) * 7282) >> 16) as u8;
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dim_blocks_are_averaged_and_others_are_unchanged(
            width in 1_usize..150,
            height in 1_usize..8,
            seed in any::<u64>(),
        ) {
            let mix = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let levels: Vec<u8> = (0..width * height).map(|i| mix(i) as u8).collect();
            let mut dim = DimFloor::new(width, height);
            let words = width.div_ceil(BLOCK);
            let is_dim = |y: usize, word: usize| mix(1000 + y * words + word) % 2 == 0;
            for y in 0..height {
                let block = |word: usize| if is_dim(y, word) { 20.0 } else { 40.0 };
                let floor: Vec<f32> = (0..width).map(|x| block(x / BLOCK)).collect();
                dim.classify_row(y, &floor, 12.0);
            }
            dim.smooth(&levels);
            let is_dim_at = |x: usize, y: usize| x < width && y < height && is_dim(y, x / BLOCK);
            let near = |at: usize, step: usize| (at + step).wrapping_sub(1);
            for y in 0..height {
                for (x, &level) in dim.row(&levels, y).iter().enumerate() {
                    let columns = [0, 1, 2].map(|u| near(x, u));
                    let rows = [0, 1, 2].map(|v| near(y, v));
                    let columns = columns.map(|u| if is_dim_at(u, y) { u } else { x });
                    let rows = rows.map(|v| if is_dim_at(x, v) { v } else { y });
                    let all = rows.iter().flat_map(|v| columns.map(|u| u32::from(levels[v * width + u])));
                    let own = u32::from(levels[y * width + x]);
                    let expected = if is_dim_at(x, y) { (all.sum::<u32>() + 4) / 9 } else { own };
                    prop_assert_eq!(u32::from(level), expected);
                }
            }
        }
    }
}
