//! Binary mask with 64 pixels per word, with morphological operations.

use pulp::{Arch, Simd, WithSimd};

/// Mask with one bit per pixel, row-major. Every row starts on a new word; unused bits at the end of a row are 0.
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

    /// Clears columns `start` to `end` (exclusive) of a row.
    pub(super) fn clear_run(&mut self, y: usize, start: usize, end: usize) {
        for x in start..end {
            self.words[y * self.words_per_row + x / 64] &= !(1 << (x % 64));
        }
    }

    /// Copies the content of another mask, which must have the same size.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
    }

    /// Clears all bits that are set in `other`, a mask of the same size.
    pub(super) fn subtract(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= !other;
        }
    }

    /// Returns the words of one row. The leftmost pixel of a word is its lowest bit.
    pub(super) fn row(&self, y: usize) -> &[u64] {
        &self.words[y * self.words_per_row..(y + 1) * self.words_per_row]
    }

    /// Returns the words of all rows, from top to bottom.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        self.words.chunks_exact_mut(self.words_per_row.max(1))
    }

    pub(super) fn row_mut(&mut self, y: usize) -> &mut [u64] {
        &mut self.words[y * self.words_per_row..(y + 1) * self.words_per_row]
    }

    /// Applies a morphological opening, then a closing: removes foreground narrower than 2 · `open` + 1 pixels, then
    /// fills gaps narrower than 2 · `close` + 1 pixels. The image border neither grows nor erodes the foreground.
    /// `open` and `close` must be below 32.
    pub(super) fn clean(&mut self, open: u32, close: u32, scratch: &mut Self) {
        self.morph::<false>(open, scratch);
        // Two dilations in sequence equal one dilation by the sum of the radii.
        self.morph::<true>(open + close, scratch);
        self.morph::<false>(close, scratch);
    }

    /// Dilates the mask by a square that reaches `radius` pixels to each side; `radius` must be below 64.
    pub(super) fn dilate(&mut self, radius: u32, scratch: &mut Self) {
        self.morph::<true>(radius, scratch);
    }

    /// Dilates or erodes with a square: a pixel is set if any pixel (dilation) or every pixel (erosion) of the square
    /// is set. The operation is done first along rows, then along columns, with the same result.
    fn morph<const DILATE: bool>(&mut self, radius: u32, scratch: &mut Self) {
        if radius > 0 {
            Arch::new().dispatch(Morphology::<DILATE> {
                mask: self,
                radius,
                scratch,
            });
        }
    }

    #[inline(always)]
    fn morph_rows_and_columns<const DILATE: bool>(&mut self, radius: u32, scratch: &mut Self) {
        let n = self.words_per_row;
        // Most rows of a mask are empty and stay empty, so only the rows between the first and the last set pixel are
        // processed.
        let (Some(first), Some(last)) = (
            self.words.iter().position(|&word| word != 0),
            self.words.iter().rposition(|&word| word != 0),
        ) else {
            return;
        };
        let reach = radius as usize;
        let grown = if DILATE { reach } else { 0 };
        let top = (first / n).saturating_sub(grown);
        let bottom = (last / n + 1 + grown).min(self.height);
        let words = top * n..bottom * n;
        let (own, result) = (&mut self.words[words.clone()], &mut scratch.words[words]);
        let rows = own.chunks_exact_mut(n).zip(result.chunks_exact_mut(n));
        for (from, to) in rows {
            morph_row::<DILATE>(from, to, radius, self.width);
        }
        own.copy_from_slice(result);
        for away in (1..=reach.min(bottom - top - 1)).map(|away| away * n) {
            let inner = own.len() - away;
            combine_row::<DILATE>(&mut own[..inner], &result[away..]);
            combine_row::<DILATE>(&mut own[away..], &result[..inner]);
        }
        if !DILATE {
            // Pixels outside the image do not erode the mask. The empty rows above and below the processed rows do.
            let shrunk = reach.min(bottom - top) * n;
            if top > 0 {
                own[..shrunk].fill(0);
            }
            if bottom < self.height {
                let inner = own.len() - shrunk;
                own[inner..].fill(0);
            }
        }
    }
}

/// Dilation or erosion with the widest SIMD instructions of this machine. Every function called from `with_simd` must
/// be inlined.
struct Morphology<'a, const DILATE: bool> {
    mask: &'a mut BitMask,
    radius: u32,
    scratch: &'a mut BitMask,
}

impl<const DILATE: bool> WithSimd for Morphology<'_, DILATE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.mask
            .morph_rows_and_columns::<DILATE>(self.radius, self.scratch);
    }
}

/// Combines each pixel of `to` with the pixel of `from` in the same column: OR for dilation, AND for erosion.
#[inline(always)]
fn combine_row<const DILATE: bool>(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        combine::<DILATE>(to, *from);
    }
}

#[inline(always)]
fn combine<const DILATE: bool>(to: &mut u64, from: u64) {
    *to = if DILATE { *to | from } else { *to & from };
}

/// Returns, for each pixel of `word`, the combination of the two pixels that are `away` columns to its left and to its
/// right.
#[inline(always)]
fn shifted_neighbors<const DILATE: bool>(before: u64, word: u64, after: u64, away: u32) -> u64 {
    let left = word << away | before >> (64 - away);
    let right = word >> away | after << (64 - away);
    if DILATE { left | right } else { left & right }
}

/// Combines each pixel of a row with all pixels up to `reach` columns to its left and right, and writes the result to
/// `to`. `reach` must be below 64. Overwrites the unused bits at the end of `from`.
#[inline(always)]
fn morph_row<const DILATE: bool>(from: &mut [u64], to: &mut [u64], reach: u32, width: usize) {
    if from.iter().all(|&word| word == 0) {
        to.fill(0);
        return;
    }
    let outside = if DILATE { 0 } else { u64::MAX };
    let end = from.len() - 1;
    let behind = u64::MAX.checked_shl((width - 64 * end) as u32).unwrap_or(0);
    from[end] |= outside & behind;
    to.copy_from_slice(from);
    for away in 1..=reach {
        let second = from.get(1).copied().unwrap_or(outside);
        combine::<DILATE>(
            &mut to[0],
            shifted_neighbors::<DILATE>(outside, from[0], second, away),
        );
        if end > 0 {
            let words = from.iter().zip(&from[1..]).zip(&from[2..]);
            for (to, ((before, word), after)) in to[1..].iter_mut().zip(words) {
                combine::<DILATE>(
                    to,
                    shifted_neighbors::<DILATE>(*before, *word, *after, away),
                );
            }
            let last = shifted_neighbors::<DILATE>(from[end - 1], from[end], outside, away);
            combine::<DILATE>(&mut to[end], last);
        }
    }
    to[end] &= !behind;
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

    /// Largest radius of closing that is compared.
    const CLOSE_MAX: u8 = 3;

    proptest! {
        #[test]
        fn morphology_matches_imageproc(image in any_image(), radius in 0u8..4) {
            // imageproc limits distances to width + height. If an image is full and smaller than a radius,
            // imageproc's erosion therefore clears it, but ours keeps it.
            prop_assume!(image.width() + image.height() > u32::from(radius.max(CLOSE_MAX)));
            let mut scratch = from_image(&image);
            let r = u32::from(radius);
            let mut grown = from_image(&image);
            grown.dilate(r, &mut scratch);
            prop_assert_eq!(&grown, &from_image(&morphology::dilate(&image, Norm::LInf, radius)));
            let opened = morphology::open(&image, Norm::LInf, radius);
            for close in 0..=CLOSE_MAX {
                let mut cleaned = from_image(&image);
                cleaned.clean(r, u32::from(close), &mut scratch);
                let closed = morphology::close(&opened, Norm::LInf, close);
                prop_assert_eq!(&cleaned, &from_image(&closed), "closed by {}", close);
            }
        }
    }
}
