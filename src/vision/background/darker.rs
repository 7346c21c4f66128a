//! The test of every pixel of every frame: is it darker than its limit times the gain? Answers 64 pixels with one word.

#[cfg(target_arch = "x86_64")]
use pulp::{m16x16, u8x16, u16x16, x86::V3};

/// Pixels of a word.
const BLOCK: usize = 64;

/// A row of the picture: where to mark, the levels, and their limits in 256ths of a level.
pub(super) type Row<'a> = (&'a mut [u64], &'a [u8], &'a [u16]);

/// Marks the pixels of some rows that are darker than their limits times the gain.
pub(super) fn mark<'a>(rows: impl Iterator<Item = Row<'a>>, gain: f32) {
    // A whole number, 14 bits behind the point.
    let gain = (gain * 16384.0) as u16;
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        return simd.vectorize(
            #[inline(always)]
            || {
                mark_rows(
                    rows,
                    #[inline(always)]
                    |levels, limits| darker_v3(simd, levels, limits, gain),
                );
            },
        );
    }
    mark_rows(rows, |levels, limits| darker(levels, limits, gain));
}

#[inline(always)]
fn mark_rows<'a>(
    rows: impl Iterator<Item = Row<'a>>,
    darker: impl Fn(&[u8; BLOCK], &[u16; BLOCK]) -> u64,
) {
    for (words, levels, limits) in rows {
        let (level_blocks, level_rest) = levels.as_chunks::<BLOCK>();
        let (limit_blocks, limit_rest) = limits.as_chunks::<BLOCK>();
        let blocks = level_blocks.iter().zip(limit_blocks);
        for (word, (levels, limits)) in words.iter_mut().zip(blocks) {
            *word = darker(levels, limits);
        }
        if let Some(last) = words.get_mut(level_blocks.len()) {
            // Nothing is darker than a limit of 0.
            let (mut levels, mut limits) = ([0; BLOCK], [0; BLOCK]);
            levels[..level_rest.len()].copy_from_slice(level_rest);
            limits[..limit_rest.len()].copy_from_slice(limit_rest);
            *last = darker(&levels, &limits);
        }
    }
}

/// The pixels of a block that are darker, the first in the lowest bit.
fn darker(levels: &[u8; BLOCK], limits: &[u16; BLOCK], gain: u16) -> u64 {
    let mut dark = [0; BLOCK];
    for i in 0..BLOCK {
        // Both sides in 64ths of a level.
        let limit = ((u32::from(limits[i]) * u32::from(gain)) >> 16) as u16;
        dark[i] = u8::from(u16::from(levels[i]) << 6 < limit);
    }
    let mut word = 0;
    for (position, &eight) in dark.as_chunks::<8>().0.iter().enumerate() {
        // Every factor's bit moves one byte's lowest bit to its place in the highest byte.
        let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * position);
    }
    word
}

/// The same by instructions that [`darker`] is not compiled to: one that gathers the answers of 32 pixels, above all.
///
/// Nothing in here may be a closure that iterators or arrays call: where a compiler happens not to inline one, each
/// instruction in it becomes a call of its own, and a frame takes four times as long.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn darker_v3(simd: V3, levels: &[u8; BLOCK], limits: &[u16; BLOCK], gain: u16) -> u64 {
    let gain = simd.splat_u16x16(gain);
    let levels: [[u8; 16]; 4] = pulp::cast(*levels);
    let limits: [[u16; 16]; 4] = pulp::cast(*limits);
    let [a, b, c, d] = [
        sixteen_v3(simd, levels[0], limits[0], gain),
        sixteen_v3(simd, levels[1], limits[1], gain),
        sixteen_v3(simd, levels[2], limits[2], gain),
        sixteen_v3(simd, levels[3], limits[3], gain),
    ];
    u64::from(gathered_v3(simd, a, b)) | u64::from(gathered_v3(simd, c, d)) << 32
}

/// Whether each of 16 pixels is darker.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn sixteen_v3(simd: V3, levels: [u8; 16], limits: [u16; 16], gain: u16x16) -> m16x16 {
    let level = simd.convert_u8x16_to_u16x16(pulp::cast::<_, u8x16>(levels));
    let (_, limit) = simd.widening_mul_u16x16(pulp::cast::<_, u16x16>(limits), gain);
    simd.cmp_lt_u16x16(simd.shl_const_u16x16::<6>(level), limit)
}

/// The answers of 32 pixels as one word.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn gathered_v3(simd: V3, low: m16x16, high: m16x16) -> u32 {
    let packed = simd.pack_with_signed_saturation_i16x16(pulp::cast(low), pulp::cast(high));
    // Packing leaves quarters of 8 pixels in the order 0, 2, 1, 3.
    let ordered = (simd.avx2)._mm256_permute4x64_epi64::<0b11_01_10_00>(pulp::cast(packed));
    (simd.avx2)._mm256_movemask_epi8(ordered).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marked_is_what_lies_below_its_limit_times_the_gain(
            width in 1_usize..200,
            gain in 0.1_f32..3.99,
            seed in any::<u64>(),
        ) {
            let mix = |i: usize| (seed ^ i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            let levels: Vec<u8> = (0..width).map(|x| mix(x) as u8).collect();
            // Any limit at all, none, and those that are just reached or just missed.
            let limits: Vec<u16> = (0..width)
                .map(|x| match mix(1000 + x) % 4 {
                    0 => 0,
                    1 => (f32::from(levels[x]) * 256.0 / gain) as u16,
                    2 => ((f32::from(levels[x]) + 1.0) * 256.0 / gain) as u16,
                    _ => mix(2000 + x) as u16,
                })
                .collect();
            let words = width.div_ceil(BLOCK);
            let mut marked = vec![u64::MAX; words];
            mark([(&mut *marked, &*levels, &*limits)].into_iter(), gain);
            let mut portable = vec![u64::MAX; words];
            let fixed = (gain * 16384.0) as u16;
            mark_rows([(&mut *portable, &*levels, &*limits)].into_iter(), |levels, limits| {
                darker(levels, limits, fixed)
            });
            prop_assert_eq!(&marked, &portable);
            for x in 0..64 * words {
                let is_marked = marked[x / 64] >> (x % 64) & 1 == 1;
                let limit = limits.get(x).map_or(0.0, |&limit| f32::from(limit) / 256.0 * gain);
                let level = levels.get(x).map_or(0.0, |&level| f32::from(level));
                // Limits are rounded down to whole 64ths, after the gain was to 16384ths.
                if (level - limit).abs() > 0.04 {
                    prop_assert_eq!(is_marked, level < limit, "{} {} {}", x, level, limit);
                }
            }
        }
    }
}
