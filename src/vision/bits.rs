//! A mask of one bit a pixel, 64 pixels a word, with the morphology that cleans it.

use std::ops::Range;

/// Height × width bits, row-major; rows start on a new word, bits behind a row's end are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BitMask {
    width: usize,
    height: usize,
    words_per_row: usize,
    words: Vec<u64>,
}

impl BitMask {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let words_per_row = width.div_ceil(64);
        Self {
            width,
            height,
            words_per_row,
            words: vec![0; words_per_row * height],
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    pub(super) fn contains(&self, x: i32, y: i32) -> bool {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return false;
        };
        x < self.width
            && y < self.height
            && self.words[y * self.words_per_row + x / 64] >> (x % 64) & 1 == 1
    }

    pub(super) fn count(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Takes over a mask of the same size.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
    }

    /// The words of one row, lowest x in the lowest bit.
    pub(super) fn row(&self, y: usize) -> &[u64] {
        &self.words[y * self.words_per_row..(y + 1) * self.words_per_row]
    }

    pub(super) fn row_mut(&mut self, y: usize) -> &mut [u64] {
        &mut self.words[y * self.words_per_row..(y + 1) * self.words_per_row]
    }

    /// Removes what is narrower than 2 · `radius` + 1 pixels.
    pub(super) fn open(&mut self, radius: u32, scratch: &mut Self) {
        self.grow_or_shrink::<false>(radius, scratch);
        self.grow_or_shrink::<true>(radius, scratch);
    }

    /// Fills gaps that are narrower than 2 · `radius` + 1 pixels.
    pub(super) fn close(&mut self, radius: u32, scratch: &mut Self) {
        self.grow_or_shrink::<true>(radius, scratch);
        self.grow_or_shrink::<false>(radius, scratch);
    }

    /// Grows by a square of `radius` pixels to each side.
    pub(super) fn grow(&mut self, radius: u32, scratch: &mut Self) {
        self.grow_or_shrink::<true>(radius, scratch);
    }

    /// The square is taken apart into rows and columns. Beyond the picture's edge there is nothing to grow from, and
    /// nothing to shrink away.
    fn grow_or_shrink<const GROW: bool>(&mut self, radius: u32, scratch: &mut Self) {
        // Most rows of a mask are empty, and stay so.
        let n = self.words_per_row.max(1);
        let (Some(first), Some(last)) = (
            self.words.iter().position(|&word| word != 0),
            self.words.iter().rposition(|&word| word != 0),
        ) else {
            return;
        };
        let reach = if GROW { radius as usize } else { 0 };
        let top = (first / n).saturating_sub(reach);
        let bottom = (last / n + 1 + reach).min(self.height);
        self.join_columns::<GROW>(top..bottom, radius);
        self.join_rows::<GROW>(top..bottom, radius as usize, scratch);
    }

    /// Joins every pixel of some rows with those at most `reach` to its left and right.
    fn join_columns<const GROW: bool>(&mut self, rows: Range<usize>, reach: u32) {
        let outside = if GROW { 0 } else { u64::MAX };
        let tail_bits = self.width % 64;
        let tail = if tail_bits == 0 {
            u64::MAX
        } else {
            (1 << tail_bits) - 1
        };
        let n = self.words_per_row;
        for row in self.words[rows.start * n..rows.end * n].chunks_exact_mut(n.max(1)) {
            // What is far from every pixel stays empty.
            let Some(first) = row.iter().position(|&word| word != 0) else {
                continue;
            };
            let last = row.iter().rposition(|&word| word != 0).unwrap_or(first);
            let far = 1 + reach as usize / 64;
            let near = first.saturating_sub(far)..(last + 1 + far).min(n);
            for _ in 0..reach {
                if let Some(last) = row.last_mut() {
                    *last |= outside & !tail;
                }
                let before = near.start.checked_sub(1);
                let mut before = before.map_or(outside, |i| row[i]);
                for i in near.clone() {
                    let word = row[i];
                    let after = row.get(i + 1).copied().unwrap_or(outside);
                    let left = word << 1 | before >> 63;
                    let right = word >> 1 | after << 63;
                    row[i] = if GROW {
                        word | left | right
                    } else {
                        word & left & right
                    };
                    before = word;
                }
                if let Some(last) = row.last_mut() {
                    *last &= tail;
                }
            }
        }
    }

    /// Joins every row with those at most `reach` above and below. What lies above and below `rows` is empty.
    fn join_rows<const GROW: bool>(
        &mut self,
        rows: Range<usize>,
        reach: usize,
        scratch: &mut Self,
    ) {
        let n = self.words_per_row;
        let join = |to: &mut [u64], from: &[u64]| {
            for (a, b) in to.iter_mut().zip(from) {
                *a = if GROW { *a | b } else { *a & b };
            }
        };
        let words = rows.start * n..rows.end * n;
        let (own, old) = (&mut self.words[words.clone()], &mut scratch.words[words]);
        old.copy_from_slice(own);
        for away in (1..=reach.min(rows.len() - 1)).map(|away| away * n) {
            let inner = own.len() - away;
            join(&mut own[..inner], &old[away..]);
            join(&mut own[away..], &old[..inner]);
        }
        if !GROW {
            // Beyond the picture's edge nothing shrinks; beyond the rows within it all does.
            let away = reach.min(rows.len()) * n;
            if rows.start > 0 {
                own[..away].fill(0);
            }
            if rows.end < self.height {
                let inner = own.len() - away;
                own[inner..].fill(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, Luma};
    use imageproc::distance_transform::Norm;
    use imageproc::morphology;
    use proptest::prelude::*;

    fn from_image(image: &GrayImage) -> BitMask {
        let mut mask = BitMask::new(image.width() as usize, image.height() as usize);
        for (x, y, p) in image.enumerate_pixels() {
            if p.0[0] > 0 {
                mask.row_mut(y as usize)[x as usize / 64] |= 1 << (x % 64);
            }
        }
        mask
    }

    fn any_image() -> impl Strategy<Value = GrayImage> {
        (
            1u32..400,
            1u32..20,
            any::<u64>(),
            prop_oneof![1u64..6, 100u64..2000],
        )
            .prop_map(|(w, h, seed, rarity)| {
                GrayImage::from_fn(w, h, |x, y| {
                    let mix = (seed ^ u64::from(x) << 32 ^ u64::from(y))
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        .rotate_left(31)
                        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    Luma([if (mix >> 40) % rarity == 0 { 255 } else { 0 }])
                })
            })
    }

    proptest! {
        #[test]
        fn morphology_is_imageprocs(image in any_image(), radius in 0u8..4) {
            // imageproc holds no distance to be longer than width + height: of a picture without any background that is
            // smaller than the radius, its erosion leaves nothing. Ours leaves it whole.
            prop_assume!(image.width() + image.height() > u32::from(radius));
            let mut scratch = from_image(&image);
            let r = u32::from(radius);
            let mut grown = from_image(&image);
            grown.grow(r, &mut scratch);
            prop_assert_eq!(&grown, &from_image(&morphology::dilate(&image, Norm::LInf, radius)));
            let mut opened = from_image(&image);
            opened.open(r, &mut scratch);
            prop_assert_eq!(&opened, &from_image(&morphology::open(&image, Norm::LInf, radius)));
            let mut closed = from_image(&image);
            closed.close(r, &mut scratch);
            prop_assert_eq!(&closed, &from_image(&morphology::close(&image, Norm::LInf, radius)));
        }
    }
}
