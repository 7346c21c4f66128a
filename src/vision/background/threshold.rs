//! Foreground test of every pixel: a pixel is foreground if its level is below its threshold times the gain, and is not
//! saturated. One mask word holds the results of 64 pixels.

#[cfg(target_arch = "x86_64")]
use pulp::{m16x16, u8x16, u16x16, x86::V3};

use super::gain::SATURATED_LEVEL;

/// Number of pixels per mask word.
const BLOCK: usize = 64;
/// Upper limit for a threshold times the gain, in 1/64 of a level: a saturated pixel is never foreground.
const MAX_THRESHOLD: u16 = (SATURATED_LEVEL as u16) << 6;

/// One image row: the mask words (output), the levels, and the thresholds in 1/256 of a level.
pub(super) type Row<'a> = (&'a mut [u64], &'a [u8], &'a [u16]);

/// Sets the mask bits of all pixels that are darker than their threshold times `gain`, and clears all other bits.
pub(super) fn mark_below<'a>(rows: impl Iterator<Item = Row<'a>>, gain: f32) {
    // The gain as a fixed-point number with 14 fraction bits.
    let gain = (gain * 16384.0) as u16;
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return simd.vectorize(
            #[inline(always)]
            || {
                mark_rows(
                    rows,
                    #[inline(always)]
                    |levels, thresholds| below_threshold_v3(simd, levels, thresholds, gain),
                );
            },
        );
    }
    mark_rows(rows, |levels, thresholds| {
        below_threshold(levels, thresholds, gain)
    });
}

#[inline(always)]
fn mark_rows<'a>(
    rows: impl Iterator<Item = Row<'a>>,
    below_threshold: impl Fn(&[u8; BLOCK], &[u16; BLOCK]) -> u64,
) {
    for (words, levels, thresholds) in rows {
        let (level_blocks, level_rest) = levels.as_chunks::<BLOCK>();
        let (threshold_blocks, threshold_rest) = thresholds.as_chunks::<BLOCK>();
        let blocks = level_blocks.iter().zip(threshold_blocks);
        for (word, (levels, thresholds)) in words.iter_mut().zip(blocks) {
            *word = below_threshold(levels, thresholds);
        }
        if let Some(last) = words.get_mut(level_blocks.len()) {
            // No level is below a threshold of 0, so the bits of the padding stay 0.
            let (mut levels, mut thresholds) = ([0; BLOCK], [0; BLOCK]);
            levels[..level_rest.len()].copy_from_slice(level_rest);
            thresholds[..threshold_rest.len()].copy_from_slice(threshold_rest);
            *last = below_threshold(&levels, &thresholds);
        }
    }
}

/// Returns one bit per pixel of a block, set if the pixel is below its threshold. The first pixel is the lowest bit.
fn below_threshold(levels: &[u8; BLOCK], thresholds: &[u16; BLOCK], gain: u16) -> u64 {
    let mut is_below = [0; BLOCK];
    for i in 0..BLOCK {
        // Both sides of the comparison are in 1/64 of a level.
        let threshold = ((u32::from(thresholds[i]) * u32::from(gain)) >> 16) as u16;
        let threshold = threshold.min(MAX_THRESHOLD);
        is_below[i] = u8::from(u16::from(levels[i]) << 6 < threshold);
    }
    let mut word = 0;
    for (position, &eight) in is_below.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication moves the lowest bit of each byte into the highest byte, at the bit position of that
        // byte's index.
        let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * position);
    }
    word
}

/// Returns the same result as [`below_threshold`], but uses SIMD instructions that the compiler does not generate for
/// that function. The most important one packs 32 results into one word.
///
/// Do not pass closures to iterators or arrays in this function. If the compiler does not inline such a closure, each
/// of its instructions becomes a call, and a frame takes four times as long.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn below_threshold_v3(simd: V3, levels: &[u8; BLOCK], thresholds: &[u16; BLOCK], gain: u16) -> u64 {
    let gain = simd.splat_u16x16(gain);
    let levels: [[u8; 16]; 4] = pulp::cast(*levels);
    let thresholds: [[u16; 16]; 4] = pulp::cast(*thresholds);
    let [a, b, c, d] = [
        compare_16_v3(simd, levels[0], thresholds[0], gain),
        compare_16_v3(simd, levels[1], thresholds[1], gain),
        compare_16_v3(simd, levels[2], thresholds[2], gain),
        compare_16_v3(simd, levels[3], thresholds[3], gain),
    ];
    u64::from(gather_32_v3(simd, a, b)) | u64::from(gather_32_v3(simd, c, d)) << 32
}

/// Compares the levels of 16 pixels with their thresholds times the gain.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compare_16_v3(simd: V3, levels: [u8; 16], thresholds: [u16; 16], gain: u16x16) -> m16x16 {
    let level = simd.convert_u8x16_to_u16x16(pulp::cast::<_, u8x16>(levels));
    let (_, threshold) = simd.widening_mul_u16x16(pulp::cast::<_, u16x16>(thresholds), gain);
    let limit = simd.splat_u16x16(MAX_THRESHOLD);
    let threshold = (simd.avx2)._mm256_min_epu16(pulp::cast(threshold), pulp::cast(limit));
    simd.cmp_lt_u16x16(simd.shl_const_u16x16::<6>(level), pulp::cast(threshold))
}

/// Packs the results of 32 pixels into one word.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn gather_32_v3(simd: V3, low: m16x16, high: m16x16) -> u32 {
    let packed = simd.pack_with_signed_saturation_i16x16(pulp::cast(low), pulp::cast(high));
    // Packing puts the groups of 8 pixels into the order 0, 2, 1, 3.
    let ordered = (simd.avx2)._mm256_permute4x64_epi64::<0b11_01_10_00>(pulp::cast(packed));
    (simd.avx2)._mm256_movemask_epi8(ordered).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pixels_below_threshold_times_gain_are_marked(
            width in 1_usize..200,
            gain in 0.1_f32..3.99,
            seed in any::<u64>(),
        ) {
            let mix = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let levels: Vec<u8> = (0..width).map(|x| mix(x) as u8).collect();
            // Thresholds of four kinds: zero, random, and thresholds that a level just reaches or just misses.
            let thresholds: Vec<u16> = (0..width)
                .map(|x| match mix(1000 + x) % 4 {
                    0 => 0,
                    1 => (f32::from(levels[x]) * 256.0 / gain) as u16,
                    2 => ((f32::from(levels[x]) + 1.0) * 256.0 / gain) as u16,
                    _ => mix(2000 + x) as u16,
                })
                .collect();
            let words = width.div_ceil(BLOCK);
            let mut marked = vec![u64::MAX; words];
            mark_below([(&mut *marked, &*levels, &*thresholds)].into_iter(), gain);
            let mut portable = vec![u64::MAX; words];
            let fixed = (gain * 16384.0) as u16;
            mark_rows([(&mut *portable, &*levels, &*thresholds)].into_iter(), |levels, thresholds| {
                below_threshold(levels, thresholds, fixed)
            });
            prop_assert_eq!(&marked, &portable);
            for x in 0..64 * words {
                let is_marked = marked[x / 64] >> (x % 64) & 1 == 1;
                let threshold = thresholds.get(x).map_or(0.0, |&threshold| f32::from(threshold) / 256.0 * gain);
                let threshold = threshold.min(f32::from(SATURATED_LEVEL));
                let level = levels.get(x).map_or(0.0, |&level| f32::from(level));
                // Thresholds are rounded down to 1/64 of a level, and the gain to 1/16384.
                if (level - threshold).abs() > 0.04 {
                    prop_assert_eq!(is_marked, level < threshold, "{} {} {}", x, level, threshold);
                }
            }
        }
    }
}
