//! Checks every frame of a source and detects frozen, black and saturated frames.
//!
//! Input: the levels of a frame and its time. Output: mean level, share of saturated pixels, and faults. The module stores only
//! a checksum of the last frame.

use pulp::{Arch, Simd, WithSimd};

use crate::camera::{FaultKind, Luma};

/// A pixel is saturated if its level is at least this share of full scale.
const SATURATED_LEVEL: f32 = 0.98;
/// A frame with more than this share of saturated pixels is saturated.
const SATURATED_SHARE: f32 = 0.5;
/// Lowest level of an 8-bit pixel that is not black. Cameras with limited range output black as level 16, plus noise. Tuned on
/// the black test pattern of the Linux driver vivid.
const MIN_LIT_LEVEL_U8: u8 = 24;
/// Lowest level of a pixel of more than 8 bits that is not black, as a share of full scale. Much lower than the limit for 8
/// bits, because many cameras use only the lowest part of their scale.
const MIN_LIT_SHARE_OF_FULL_SCALE: f32 = 0.001;
/// A frame is black if the share of its pixels that are not black is less than this.
const MIN_LIT_SHARE: f64 = 0.001;

/// Shortest time of identical frames that count as repeated, in seconds. A sensor has noise, so a camera delivers identical frames
/// only if its driver hands on one exposure several times: 5 per second as 30 frames, for example.
const REPEATED_MIN_SECS: f64 = 0.3;
/// Identical frames count as repeated if they last longer than the usual pause of the source by this factor.
const REPEATED_FACTOR: f64 = 2.0;
/// Time after which a pause of the source is mostly forgotten (to 1/e), in seconds: one short standstill of a camera must not hide
/// the next one all day.
const PAUSE_MEMORY_SECS: f64 = 600.0;

/// The quality of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FrameQuality {
    /// Mean level as a share of full scale, 0 to 1.
    pub(super) mean_level: f32,
    /// Share of saturated pixels, 0 to 1.
    pub(super) saturated_share: f32,
    /// Whether all frames have been identical for at least the minimum duration of a fault, and are neither black nor
    /// saturated.
    pub(super) is_frozen: bool,
    /// Time for which all frames have been identical, in seconds, if this is longer than is usual for this source, so that it has
    /// probably stopped.
    pub(super) repeated_secs: Option<f64>,
    /// Whether the frames have been black for at least the minimum duration of a fault.
    pub(super) is_black: bool,
    /// Whether the frames have been saturated for at least the minimum duration of a fault.
    pub(super) is_saturated: bool,
}

impl FrameQuality {
    /// Returns the kinds of fault that depend on the quality, and for each whether it is active.
    pub(super) fn faults(&self) -> [(FaultKind, bool); 3] {
        [
            (FaultKind::Frozen, self.is_frozen),
            (FaultKind::Black, self.is_black),
            (FaultKind::Saturated, self.is_saturated),
        ]
    }

    /// Returns the time for which a source that has probably stopped has repeated its frame, in milliseconds; otherwise 0.
    pub(super) fn repeated_ms(&self) -> u64 {
        (self.repeated_secs.unwrap_or_default() * 1e3) as u64
    }

    /// Returns a description of a fault that depends on the quality.
    pub(super) fn describe(&self, kind: FaultKind) -> String {
        match kind {
            FaultKind::Frozen => "frames arrive, but they do not change".to_owned(),
            FaultKind::Black => format!(
                "frames are black (mean level {:.3} of 1). Check that the lens is not covered, the light is on, and the exposure is long enough",
                self.mean_level
            ),
            _ => format!(
                "{:.0} % of the pixels are at the maximum level. Reduce exposure or gain in camera.controls",
                self.saturated_share * 100.0
            ),
        }
    }
}

/// Checks the quality of frames and measures how long they have been frozen, black or saturated.
#[derive(Debug)]
pub(super) struct QualityMonitor {
    min_duration_secs: f64,
    checksum: u64,
    unchanged_since_secs: Option<f64>,
    /// Longest time of identical frames that ended with another frame before it was a fault. 0 for a camera with noise; a strongly
    /// compressed picture of a still scene has pauses.
    pause_secs: f64,
    /// Time of the last frame.
    last_secs: f64,
    black_since_secs: Option<f64>,
    saturated_since_secs: Option<f64>,
}

impl QualityMonitor {
    /// Creates a monitor. Frames that are frozen, black or saturated for `min_duration_secs` are a fault.
    pub(super) fn new(min_duration_secs: f64) -> Self {
        Self {
            min_duration_secs,
            checksum: 0,
            unchanged_since_secs: None,
            pause_secs: 0.0,
            last_secs: 0.0,
            black_since_secs: None,
            saturated_since_secs: None,
        }
    }

    /// Checks the next frame. `now_secs` must not decrease.
    pub(super) fn check(&mut self, luma: &Luma, now_secs: f64) -> FrameQuality {
        let saturated_from = |full_scale: u32| (full_scale as f32 * SATURATED_LEVEL).ceil();
        let (sums, full_scale, new_checksum) = match luma {
            Luma::U8(levels) => {
                let pixels = SumPixels {
                    levels,
                    bright: saturated_from(255) as u8,
                    lit: MIN_LIT_LEVEL_U8,
                };
                (Arch::new().dispatch(pixels), 255, checksum(levels))
            }
            Luma::U16 { bits, levels } => {
                let full_scale = (1u32 << (*bits).clamp(9, 16)) - 1;
                let pixels = SumPixels {
                    levels,
                    bright: saturated_from(full_scale) as u16,
                    lit: (full_scale as f32 * MIN_LIT_SHARE_OF_FULL_SCALE).ceil() as u16,
                };
                let checksum = checksum(bytemuck::cast_slice(levels));
                (Arch::new().dispatch(pixels), full_scale, checksum)
            }
        };
        let count = luma.len().max(1) as f64;
        let mean_level = (sums.sum as f64 / count / f64::from(full_scale)) as f32;
        let saturated_share = (sums.saturated as f64 / count) as f32;
        let is_black = sums.lit as f64 / count < MIN_LIT_SHARE;
        let is_saturated = saturated_share > SATURATED_SHARE;
        let unchanged = new_checksum == self.checksum;
        self.checksum = new_checksum;
        self.learn_pause(unchanged, now_secs);
        let min_duration_secs = self.min_duration_secs;
        let lasting = |since: &mut Option<f64>, present: bool| {
            if !present {
                *since = None;
                return false;
            }
            now_secs - *since.get_or_insert(now_secs) >= min_duration_secs
        };
        // Black and saturated frames often stay identical too. Those faults are more specific than "frozen", so they have
        // priority.
        let is_frozen = lasting(
            &mut self.unchanged_since_secs,
            unchanged && !is_black && !is_saturated,
        );
        let unusual_secs = (self.pause_secs * REPEATED_FACTOR).max(REPEATED_MIN_SECS);
        let unchanged_secs = self.unchanged_since_secs.map(|since| now_secs - since);
        FrameQuality {
            mean_level,
            saturated_share,
            is_frozen,
            repeated_secs: unchanged_secs.filter(|&secs| secs > unusual_secs),
            is_black: lasting(&mut self.black_since_secs, is_black),
            is_saturated: lasting(&mut self.saturated_since_secs, is_saturated),
        }
    }

    /// Learns from each frame for how long the frames of this source are identical although it works.
    fn learn_pause(&mut self, unchanged: bool, now_secs: f64) {
        let passed_secs = now_secs - self.last_secs;
        self.pause_secs *= (1.0 - passed_secs / PAUSE_MEMORY_SECS).max(0.0);
        if let (false, Some(since)) = (unchanged, self.unchanged_since_secs) {
            let pause_secs = self.last_secs - since;
            if pause_secs < self.min_duration_secs {
                self.pause_secs = self.pause_secs.max(pause_secs);
            }
        }
        self.last_secs = now_secs;
    }
}

/// Sums over the pixels of a frame.
#[derive(Default)]
struct FrameSums {
    /// Sum of all levels.
    sum: u64,
    /// Number of saturated pixels.
    saturated: u64,
    /// Number of pixels that are not black.
    lit: u64,
}

/// Number of pixels that are summed up together.
const LANES: usize = 32;
/// Number of times for which a sum of [`LANES`] pixels cannot overflow: the counters have 8 bits.
const ROUNDS: usize = 255;

impl FrameSums {
    /// Computes the sums. Saturated and lit pixels are counted in 8 bits, which is several times faster than in 64.
    #[inline(always)]
    fn of<T: Copy + PartialOrd + Into<u32>>(pixels: &SumPixels<'_, T>) -> Self {
        let (bright, lit) = (pixels.bright, pixels.lit);
        let mut all = Self::default();
        for chunk in pixels.levels.chunks(LANES * ROUNDS) {
            let (blocks, rest) = chunk.as_chunks::<LANES>();
            let (mut sum, mut saturated, mut lit_here) =
                ([0_u32; LANES], [0_u8; LANES], [0_u8; LANES]);
            for block in blocks {
                for i in 0..LANES {
                    sum[i] += block[i].into();
                    saturated[i] += u8::from(block[i] >= bright);
                    lit_here[i] += u8::from(block[i] >= lit);
                }
            }
            let total = |counts: &[u8]| counts.iter().map(|&count| u64::from(count)).sum::<u64>();
            all.sum += sum.iter().map(|&sum| u64::from(sum)).sum::<u64>();
            all.saturated += total(&saturated);
            all.lit += total(&lit_here);
            for level in rest {
                all.sum += u64::from((*level).into());
                all.saturated += u64::from(*level >= bright);
                all.lit += u64::from(*level >= lit);
            }
        }
        all
    }
}

/// Sums of a frame with the widest SIMD instructions of this machine. Every function called from `with_simd` must be inlined.
struct SumPixels<'a, T> {
    levels: &'a [T],
    /// Lowest level of a saturated pixel.
    bright: T,
    /// Lowest level of a pixel that is not black.
    lit: T,
}

impl<T: Copy + PartialOrd + Into<u32>> WithSimd for SumPixels<'_, T> {
    type Output = FrameSums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> FrameSums {
        FrameSums::of(&self)
    }
}

/// Returns a checksum that changes when a pixel changes. The checksum is not cryptographic.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    // Four independent sums let the processor compute in parallel.
    let mut lanes = [1u64, 2, 3, 4];
    let (words, rest) = bytes.as_chunks::<8>();
    let (blocks, last_words) = words.as_chunks::<4>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block) {
            *lane = mix(*lane, u64::from_le_bytes(*word));
        }
    }
    let last_words = last_words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    lanes.into_iter().chain(last_words).chain(rest).fold(0, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_quality(frames: &[(f64, Luma)]) -> FrameQuality {
        let mut watch = QualityMonitor::new(3.0);
        let qualities = frames.iter().map(|(secs, luma)| watch.check(luma, *secs));
        qualities.last().unwrap()
    }

    fn floor(change: u8) -> Luma {
        Luma::U8(
            (0..10_000u32)
                .map(|i| 90 + (i % 40) as u8 + change * u8::from(i == 7777))
                .collect(),
        )
    }

    #[test]
    fn identical_frames_are_frozen_after_the_minimum_duration() {
        let same = |until: u32| -> Vec<(f64, Luma)> {
            (0..until).map(|s| (f64::from(s), floor(0))).collect()
        };
        assert!(!last_quality(&same(4)).is_frozen);
        assert!(last_quality(&same(5)).is_frozen);
        let mut changed = same(5);
        changed.push((5.0, floor(1)));
        assert!(!last_quality(&changed).is_frozen);
        let quality = last_quality(&same(1));
        assert!(
            (quality.mean_level - 109.5 / 255.0).abs() < 1e-3 && quality.saturated_share == 0.0
        );
    }

    /// Times at which frames count as repeated, for pauses of so many seconds, one after the other, in frames of 25 per second.
    fn repeated_secs(pauses: &[f64]) -> Vec<f64> {
        let mut watch = QualityMonitor::new(3.0);
        let (mut now, mut found) = (0.0, Vec::new());
        for (number, pause) in pauses.iter().enumerate() {
            let end = now + pause;
            let begin = found.len();
            while now <= end {
                let frame = Luma::U8(vec![90 + (number % 2) as u8; 16]);
                if watch.check(&frame, now).repeated_secs.is_some() && found.len() == begin {
                    found.push(now - (end - pause));
                }
                now += 0.04;
            }
        }
        found
    }

    /// A fixed bug: a frozen camera was a fault after 3 s, and the shadows of its last picture stayed as long.
    #[test]
    fn identical_frames_of_a_camera_with_noise_are_repeated_at_once() {
        let noisy = [0.0; 100];
        let frozen = repeated_secs(&[&noisy[..], &[2.0]].concat());
        assert!(
            frozen.len() == 1 && (0.3..0.45).contains(&frozen[0]),
            "{frozen:?}"
        );
        // Every exposure arrives six times.
        assert_eq!(repeated_secs(&[0.2; 50]), [0.0; 0]);
    }

    #[test]
    fn a_source_whose_frames_are_often_identical_is_repeated_later() {
        // A compressed picture of a still scene changes every 1.2 s. Only its first pause counts.
        let pauses = [1.2; 40];
        assert_eq!(repeated_secs(&pauses).len(), 1);
        let frozen = repeated_secs(&[&pauses[..], &[2.9]].concat());
        assert!((2.2..2.6).contains(&frozen[1]), "{frozen:?}");
        // A long standstill is a fault, so it is not usual.
        let again = repeated_secs(&[0.0, 0.0, 10.0, 0.0, 0.0, 2.0]);
        assert!(again.len() == 2 && again[1] < 0.45, "{again:?}");
        // An hour later, a pause is forgotten.
        let hour = vec![0.0; 90_000];
        let later = repeated_secs(&[&[1.2][..], &hour, &[1.2]].concat());
        assert!(later.len() == 2 && later[1] < 0.5, "{later:?}");
    }

    #[test]
    fn sums_are_exact_for_every_length_and_depth() {
        for length in [
            0,
            1,
            31,
            32,
            33,
            LANES * ROUNDS - 1,
            2 * LANES * ROUNDS + 40,
        ] {
            let levels: Vec<u16> = (0..length).map(|i| (i * 7919 % 1024) as u16).collect();
            let bytes: Vec<u8> = levels.iter().map(|level| (level / 4) as u8).collect();
            let of_bytes = FrameSums::of(&SumPixels {
                levels: &bytes,
                bright: 250,
                lit: 24,
            });
            let of_levels = FrameSums::of(&SumPixels {
                levels: &levels,
                bright: 1003,
                lit: 2,
            });
            let count = |is_counted: &dyn Fn(u16) -> bool| {
                levels.iter().filter(|level| is_counted(**level)).count() as u64
            };
            let sum = |levels: &mut dyn Iterator<Item = u64>| levels.sum::<u64>();
            assert_eq!(
                of_bytes.sum,
                sum(&mut bytes.iter().map(|&level| u64::from(level)))
            );
            assert_eq!(of_bytes.saturated, count(&|level| level / 4 >= 250));
            assert_eq!(of_bytes.lit, count(&|level| level / 4 >= 24));
            assert_eq!(
                of_levels.sum,
                sum(&mut levels.iter().map(|&level| u64::from(level)))
            );
            assert_eq!(of_levels.saturated, count(&|level| level >= 1003));
            assert_eq!(of_levels.lit, count(&|level| level >= 2));
        }
    }

    #[test]
    fn swapped_pixels_are_a_change() {
        let (mut a, mut watch) = (vec![1u8; 64], QualityMonitor::new(0.0));
        a[3] = 9;
        let mut b = vec![1u8; 64];
        b[4] = 9;
        watch.check(&Luma::U8(a.clone()), 0.0);
        assert!(!watch.check(&Luma::U8(b), 1.0).is_frozen);
    }

    #[test]
    fn black_and_saturated_frames_are_not_frozen() {
        let flat = |level: u8| -> Vec<(f64, Luma)> {
            (0..5)
                .map(|s| (f64::from(s), Luma::U8(vec![level; 100])))
                .collect()
        };
        for (level, black, saturated, frozen) in [
            (0, true, false, false),
            (16, true, false, false),
            (30, false, false, true),
            (255, false, true, false),
            (120, false, false, true),
        ] {
            let quality = last_quality(&flat(level));
            assert_eq!(
                (quality.is_black, quality.is_saturated, quality.is_frozen),
                (black, saturated, frozen),
                "{level}"
            );
        }
    }

    #[test]
    fn a_16_bit_camera_that_uses_its_lowest_levels_is_not_black() {
        let deep = |top: u16| -> Vec<(f64, Luma)> {
            let levels = (0..100)
                .map(|i| (i * u32::from(top) / 100) as u16)
                .collect();
            (0..5)
                .map(|s| {
                    (
                        f64::from(s),
                        Luma::U16 {
                            bits: 16,
                            levels: Vec::clone(&levels),
                        },
                    )
                })
                .collect()
        };
        assert!(!last_quality(&deep(1023)).is_black);
        assert!(last_quality(&deep(60)).is_black);
    }
}
