//! Pixels that cannot be trusted, because something bright passes before them again and again: a thread or an insect before
//! the lens, sunlight through leaves, snow in the light of the lamps.
//!
//! The inputs are disturbances: a pixel that was brighter than the background model, or was learned while it was, shows the
//! floor again. A pixel with several disturbances in a short time is masked. It comes back when the disturbances have ended.

use glam::UVec2;

use super::bit_mask::BitMask;
use super::fault::{LARGE_SHARE, UnreliableArea, VisionFault};
use super::floor::FloorTable;

/// Score of one disturbance. The score of a pixel decreases by 1 every [`DECAY_SECS`], so one disturbance is forgotten after
/// 16 s. A place at which visitors in bright clothes or single specks of dust pass is disturbed less often.
const DISTURBANCE_SCORE: u8 = 32;
/// Time in which all scores decrease by 1, in seconds.
const DECAY_SECS: f32 = 0.5;
/// Score from which a pixel is masked: four disturbances in quick succession, or a longer series of one every 8 s.
const MASKED_SCORE: u8 = 120;
/// Score below which a masked pixel is trusted again.
const TRUSTED_SCORE: u8 = 64;
/// Largest score. With [`TRUSTED_SCORE`], it makes a pixel come back 40 s after its last disturbance.
const MAX_SCORE: u8 = 144;
/// Number of tiles over the height of the picture. The largest unreliable place is searched for in windows of 3 × 3 tiles.
const TILE_ROWS: usize = 15;

/// Scores of all pixels and the mask of unreliable ones.
pub(super) struct UnreliablePixels {
    width: usize,
    score: Vec<u8>,
    /// Whether any score may be above 0.
    is_disturbed: bool,
    mask: BitMask,
    count: u32,
    since_decay_secs: f32,
    /// Unreliable floor area per tile, in m².
    tiles_m2: Vec<f32>,
    fault: Option<VisionFault>,
}

impl UnreliablePixels {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            score: vec![0; width * height],
            is_disturbed: false,
            mask: BitMask::new(width, height),
            count: 0,
            since_decay_secs: 0.0,
            tiles_m2: Vec::new(),
            fault: None,
        }
    }

    /// Returns whether a pixel is masked.
    pub(super) fn contains(&self, index: usize) -> bool {
        self.count > 0
            && self.mask.row(index / self.width)[index % self.width / 64]
                >> (index % self.width % 64)
                & 1
                == 1
    }

    /// Returns the number of masked pixels in columns `start` to `end` (exclusive) of a row.
    pub(super) fn count_in(&self, y: u32, start: u32, end: u32) -> u32 {
        if self.count == 0 {
            return 0;
        }
        let (row, start, end) = (self.mask.row(y as usize), start as usize, end as usize);
        let words = start / 64..end.div_ceil(64);
        let bits = words.map(|word| {
            let from = start.saturating_sub(64 * word);
            let behind = (64 * (word + 1)).saturating_sub(end);
            row[word] & (u64::MAX << from) & (u64::MAX >> behind)
        });
        bits.map(u64::count_ones).sum()
    }

    /// Returns whether a pixel was disturbed at least once in the last seconds.
    pub(super) fn was_disturbed(&self, index: usize) -> bool {
        self.score[index] > 0
    }

    /// Records a disturbance of a pixel.
    pub(super) fn disturb(&mut self, index: usize) {
        let score = (self.score[index] + DISTURBANCE_SCORE).min(MAX_SCORE);
        self.score[index] = score;
        self.is_disturbed = true;
        if score >= MASKED_SCORE && !self.contains(index) {
            self.mask.row_mut(index / self.width)[index % self.width / 64] |=
                1 << (index % self.width % 64);
            self.count += 1;
        }
    }

    /// Lets the scores decrease. Updates the fault from time to time. `min_area_m2` is the smallest area in one place that is
    /// reported.
    pub(super) fn advance(&mut self, dt_secs: f32, floor: &FloorTable, min_area_m2: f32) {
        self.since_decay_secs += dt_secs;
        if self.since_decay_secs < DECAY_SECS {
            return;
        }
        let steps = (self.since_decay_secs / DECAY_SECS).min(255.0) as u8;
        self.since_decay_secs -= f32::from(steps) * DECAY_SECS;
        if !self.is_disturbed {
            return;
        }
        let mut highest = 0;
        for score in &mut self.score {
            *score = score.saturating_sub(steps);
            highest = highest.max(*score);
        }
        self.is_disturbed = highest > 0;
        if self.count > 0 {
            self.release_trusted();
            self.fault = self.find_fault(floor, min_area_m2);
        }
    }

    fn release_trusted(&mut self) {
        self.count = 0;
        let rows = self
            .mask
            .rows_mut()
            .zip(self.score.chunks_exact(self.width));
        for (words, scores) in rows {
            for (word, scores) in words.iter_mut().zip(scores.chunks(64)) {
                if *word == 0 {
                    continue;
                }
                for (bit, &score) in scores.iter().enumerate() {
                    if score < TRUSTED_SCORE {
                        *word &= !(1 << bit);
                    }
                }
                self.count += word.count_ones();
            }
        }
    }

    /// Forgets all disturbances, for a new background model.
    pub(super) fn reset(&mut self) {
        self.score.fill(0);
        self.mask.clear();
        (self.is_disturbed, self.count, self.fault) = (false, 0, None);
    }

    /// Returns the current fault.
    pub(super) fn fault(&self) -> Option<VisionFault> {
        self.fault
    }

    /// Finds the largest unreliable place and the share of all places.
    fn find_fault(&mut self, floor: &FloorTable, min_area_m2: f32) -> Option<VisionFault> {
        let height = self.score.len() / self.width.max(1);
        let tile_px = height.div_ceil(TILE_ROWS).max(4);
        let columns = self.width.div_ceil(tile_px);
        let rows = height.div_ceil(tile_px);
        self.tiles_m2.clear();
        self.tiles_m2.resize(columns * rows, 0.0);
        let areas_m2 = floor.areas_m2();
        for index in masked(&self.mask) {
            let (x, y) = (index % self.width, index / self.width);
            self.tiles_m2[y / tile_px * columns + x / tile_px] += areas_m2[index];
        }
        let around = |tile: usize| {
            let (x, y) = (tile % columns, tile / columns);
            let tiles = (y.saturating_sub(1)..(y + 2).min(rows)).flat_map(move |y| {
                (x.saturating_sub(1)..(x + 2).min(columns)).map(move |x| y * columns + x)
            });
            tiles.map(|tile| self.tiles_m2[tile]).sum::<f32>()
        };
        let best = (0..columns * rows).max_by(|&a, &b| around(a).total_cmp(&around(b)))?;
        if around(best) < min_area_m2 {
            return None;
        }
        let (left, top) = (best % columns, best / columns);
        let (mut sum_px, mut count) = (UVec2::ZERO, 0);
        for index in masked(&self.mask) {
            let at = (index % self.width, index / self.width);
            if (at.0 / tile_px).abs_diff(left) <= 1 && (at.1 / tile_px).abs_diff(top) <= 1 {
                sum_px += UVec2::new(at.0 as u32, at.1 as u32);
                count += 1;
            }
        }
        let place_px = sum_px / count.max(1);
        let place_m = floor.position_m_of(place_px.x as usize, place_px.y as usize);
        let area = UnreliableArea {
            place_px,
            place_m: place_m.as_dvec2(),
            share: self.tiles_m2.iter().sum::<f32>() / floor.total_m2().max(f32::MIN_POSITIVE),
        };
        Some(if area.share > LARGE_SHARE {
            VisionFault::UnreliableFloor(area)
        } else {
            VisionFault::UnreliableArea(area)
        })
    }
}

/// Returns the indexes of all set pixels.
fn masked(mask: &BitMask) -> impl Iterator<Item = usize> {
    let width = mask.width();
    (0..mask.height()).flat_map(move |y| {
        mask.row(y)
            .iter()
            .enumerate()
            .flat_map(move |(word, &bits)| {
                let or_end = |rest: u64| (rest != 0).then_some(rest);
                // Each step clears the lowest set bit.
                let rests =
                    std::iter::successors(or_end(bits), move |rest| or_end(rest & (rest - 1)));
                rests.map(move |rest| y * width + 64 * word + rest.trailing_zeros() as usize)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_pixels_are_counted_and_listed_across_words() {
        let (width, places) = (150, [0_usize, 62, 63, 64, 70, 127, 128, 149]);
        let mut pixels = UnreliablePixels::new(width, 3);
        assert_eq!(pixels.count_in(1, 0, 150), 0);
        for _ in 0..4 {
            for x in places {
                pixels.disturb(width + x);
            }
        }
        let listed: Vec<usize> = masked(&pixels.mask).collect();
        assert_eq!(listed, places.map(|x| width + x));
        for (start, end) in [
            (0, 150),
            (1, 149),
            (62, 64),
            (64, 128),
            (65, 66),
            (128, 150),
        ] {
            let expected = places.iter().filter(|x| (start..end).contains(*x)).count();
            let counted = pixels.count_in(1, start as u32, end as u32);
            assert_eq!(counted as usize, expected, "{start}..{end}");
        }
    }
}
