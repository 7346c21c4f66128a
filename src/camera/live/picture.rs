//! Looks at every frame of a live camera: is it a picture at all? Frozen, black and saturated ones are told apart.
//!
//! In: levels and a time. Out: mean, saturated share, and which faults are present. Holds a checksum, no picture.

use super::FaultKind;
use crate::camera::Luma;

/// A level this near to the top counts as saturated.
const SATURATED_LEVEL: f32 = 0.98;
/// More of the picture than this must not be saturated.
const SATURATED_SHARE: f32 = 0.5;
/// A picture is black when less of it than [`LIT_SHARE`] reaches this level of 255: cameras of the limited range have
/// their black at 16, and noise on it. Tuned on a driver's black test picture, 2026-11.
const BLACK_BELOW: u32 = 24;
/// The same of cameras with more bits, as a share of full scale: many use the lowest part of their scale only.
const BLACK_BELOW_DEEP: f32 = 0.001;
const LIT_SHARE: f64 = 0.001;

/// What a frame looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Mean level, 0 to 1.
    pub(super) mean: f32,
    /// Share of saturated pixels, 0 to 1.
    pub(super) saturated: f32,
    /// Whether the picture has been frozen, black or saturated for longer than the patience.
    pub(super) frozen: bool,
    pub(super) black: bool,
    pub(super) is_saturated: bool,
}

impl Look {
    /// The picture's faults and whether each is present.
    pub(super) fn faults(&self) -> [(FaultKind, bool); 3] {
        [
            (FaultKind::Frozen, self.frozen),
            (FaultKind::Black, self.black),
            (FaultKind::Saturated, self.is_saturated),
        ]
    }

    /// One of its faults in words.
    pub(super) fn told(&self, kind: FaultKind) -> String {
        match kind {
            FaultKind::Frozen => "frames come, but the picture does not change".to_owned(),
            FaultKind::Black => format!(
                "the picture is black (mean {:.3} of 1): is the lens covered, is there light, is the exposure long enough?",
                self.mean
            ),
            _ => format!(
                "{:.0} % of the picture is as bright as it can be: less exposure or gain in camera.controls",
                self.saturated * 100.0
            ),
        }
    }
}

/// Remembers since when pictures have been wrong.
#[derive(Debug)]
pub(super) struct PictureWatch {
    patience_secs: f64,
    checksum: u64,
    unchanged_since_secs: Option<f64>,
    black_since_secs: Option<f64>,
    saturated_since_secs: Option<f64>,
}

impl PictureWatch {
    /// A watch that says what is wrong once it has been for `patience_secs`.
    pub(super) fn new(patience_secs: f64) -> Self {
        Self {
            patience_secs,
            checksum: 0,
            unchanged_since_secs: None,
            black_since_secs: None,
            saturated_since_secs: None,
        }
    }

    /// Looks at the next frame. `now_secs` never goes back.
    pub(super) fn look(&mut self, luma: &Luma, now_secs: f64) -> Look {
        let (sums, full_scale, sum_of_all) = match luma {
            Luma::Eight(levels) => (Sums::of(levels, 255, BLACK_BELOW), 255, checksum(levels)),
            Luma::Sixteen { bits, levels } => {
                let full_scale = (1u32 << (*bits).clamp(9, 16)) - 1;
                let lit = (full_scale as f32 * BLACK_BELOW_DEEP).ceil() as u32;
                (
                    Sums::of(levels, full_scale, lit),
                    full_scale,
                    checksum(bytemuck::cast_slice(levels)),
                )
            }
        };
        let count = luma.len().max(1) as f64;
        let mean = (sums.sum as f64 / count / f64::from(full_scale)) as f32;
        let saturated = (sums.saturated as f64 / count) as f32;
        let black = sums.lit as f64 / count < LIT_SHARE;
        let is_saturated = saturated > SATURATED_SHARE;
        let unchanged = sum_of_all == self.checksum;
        self.checksum = sum_of_all;
        let patience = self.patience_secs;
        let lasting = |since: &mut Option<f64>, present: bool| {
            if !present {
                *since = None;
                return false;
            }
            now_secs - *since.get_or_insert(now_secs) >= patience
        };
        // Black and saturated pictures do not change either; the nearer name is told.
        Look {
            mean,
            saturated,
            frozen: lasting(
                &mut self.unchanged_since_secs,
                unchanged && !black && !is_saturated,
            ),
            black: lasting(&mut self.black_since_secs, black),
            is_saturated: lasting(&mut self.saturated_since_secs, is_saturated),
        }
    }
}

/// What is counted of a picture, in one pass.
#[derive(Default)]
struct Sums {
    sum: u64,
    saturated: u64,
    /// Pixels that are brighter than black.
    lit: u64,
}

impl Sums {
    /// Sums in chunks whose counts fit into 32 bits, which is several times as fast.
    fn of<T: Copy + Into<u32>>(levels: &[T], full_scale: u32, lit: u32) -> Self {
        let bright = (full_scale as f32 * SATURATED_LEVEL).ceil() as u32;
        let mut all = Self::default();
        for chunk in levels.chunks(4096) {
            let (mut sum, mut saturated, mut lit_here) = (0u32, 0u32, 0u32);
            for level in chunk {
                let level: u32 = (*level).into();
                sum += level;
                saturated += u32::from(level >= bright);
                lit_here += u32::from(level >= lit);
            }
            all.sum += u64::from(sum);
            all.saturated += u64::from(saturated);
            all.lit += u64::from(lit_here);
        }
        all
    }
}

/// A number that changes when any pixel does. No protection against anybody: cameras do not cheat.
fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    // Four sums side by side do not wait for each other.
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

    fn seen(frames: &[(f64, Luma)]) -> Look {
        let mut watch = PictureWatch::new(3.0);
        let looks = frames.iter().map(|(secs, luma)| watch.look(luma, *secs));
        looks.last().unwrap()
    }

    fn floor(change: u8) -> Luma {
        Luma::Eight(
            (0..10_000u32)
                .map(|i| 90 + (i % 40) as u8 + change * u8::from(i == 7777))
                .collect(),
        )
    }

    #[test]
    fn frozen_after_a_while_and_not_after_a_single_change() {
        let same = |until: u32| -> Vec<(f64, Luma)> {
            (0..until).map(|s| (f64::from(s), floor(0))).collect()
        };
        assert!(!seen(&same(4)).frozen);
        assert!(seen(&same(5)).frozen);
        let mut changed = same(5);
        changed.push((5.0, floor(1)));
        assert!(!seen(&changed).frozen);
        let look = seen(&same(1));
        assert!((look.mean - 109.5 / 255.0).abs() < 1e-3 && look.saturated == 0.0);
    }

    #[test]
    fn pixels_that_change_places_are_a_change() {
        let (mut a, mut watch) = (vec![1u8; 64], PictureWatch::new(0.0));
        a[3] = 9;
        let mut b = vec![1u8; 64];
        b[4] = 9;
        watch.look(&Luma::Eight(a.clone()), 0.0);
        assert!(!watch.look(&Luma::Eight(b), 1.0).frozen);
    }

    #[test]
    fn black_and_saturated_are_told_by_their_own_name() {
        let flat = |level: u8| -> Vec<(f64, Luma)> {
            (0..5)
                .map(|s| (f64::from(s), Luma::Eight(vec![level; 100])))
                .collect()
        };
        for (level, black, saturated, frozen) in [
            (0, true, false, false),
            (16, true, false, false),
            (30, false, false, true),
            (255, false, true, false),
            (120, false, false, true),
        ] {
            let look = seen(&flat(level));
            assert_eq!(
                (look.black, look.is_saturated, look.frozen),
                (black, saturated, frozen),
                "{level}"
            );
        }
    }

    #[test]
    fn a_deep_camera_that_uses_its_lowest_levels_is_not_black() {
        let deep = |top: u16| -> Vec<(f64, Luma)> {
            let levels = (0..100)
                .map(|i| (i * u32::from(top) / 100) as u16)
                .collect();
            (0..5)
                .map(|s| {
                    (
                        f64::from(s),
                        Luma::Sixteen {
                            bits: 16,
                            levels: Vec::clone(&levels),
                        },
                    )
                })
                .collect()
        };
        assert!(!seen(&deep(1023)).black);
        assert!(seen(&deep(60)).black);
    }
}
