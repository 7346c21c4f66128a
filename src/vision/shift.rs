//! Whether the camera was knocked: the floor's own texture is held against how it lay when it was learned.
//!
//! In goes the background model, which has little noise and no visitors and follows the picture within seconds; out
//! comes how far the picture has moved since, or nothing where the floor has too little texture to tell. Both pictures
//! are made small and freed of uneven light; of all small shifts the one that correlates best is taken. One row of
//! shifts is tried every few frames, which costs little.
//!
//! **Source**: normalized cross-correlation, Lewis 1995, "Fast normalized cross-correlation"; limits tuned by eye,
//! 2026-11-21.

use glam::Vec2;

/// The small picture is at most so wide.
const WIDTH: usize = 160;
/// Shifts of fewer than so many of its pixels are found.
const REACH: i32 = 6;
/// One row of shifts is tried every so many frames.
const EVERY: u32 = 3;
const SHIFTS: usize = 2 * REACH as usize + 1;
/// Half width of the square whose mean is taken as the light.
const LIGHT_RADIUS: usize = 4;
/// Every so many-th pixel and row is compared.
const STEP: usize = 3;
/// Two pictures alike by less than this are not of the same floor.
const LEAST_ALIKE: f32 = 0.4;
/// A shift must be better than none by this.
const BETTER: f32 = 0.02;
/// Fewer pixels cannot tell.
const LEAST_PIXELS: f32 = 200.0;
/// The same shift must be found so many times in a row: visitors hide the floor in passing.
const TIMES: u32 = 2;

/// Watches for the picture to move.
#[derive(Default)]
pub(super) struct ShiftFinder {
    /// Pixels of the picture per small one.
    scale: usize,
    width: usize,
    height: usize,
    /// The floor as it was learned, and as it is in this sweep: contrast against the light around, 0 where unknown.
    learned: Vec<f32>,
    seen: Vec<f32>,
    small: Vec<u32>,
    /// Sums of levels and of known pixels, left of and above each corner.
    sums: Vec<[u32; 2]>,
    scores: Vec<f32>,
    /// The next row of shifts, and how many frames were left out since the last.
    row: usize,
    rested: u32,
    found: Option<Vec2>,
    times: u32,
    told: Option<Vec2>,
}

impl ShiftFinder {
    /// How far the picture has moved, in pixels: where floor was seen at `p`, it is now at `p` plus this.
    pub(super) fn shift_px(&self) -> Option<Vec2> {
        self.told
    }

    /// Takes the floor as known in one frame, row-major. The first one is how it lies.
    pub(super) fn watch(&mut self, levels: &[f32], width: usize) {
        if self.learned.is_empty() {
            self.scale = width.div_ceil(WIDTH);
            self.width = width / self.scale;
            self.height = levels.len() / width / self.scale;
            self.scores.resize(SHIFTS * SHIFTS, 0.0);
            self.look(levels, width);
            self.learned.clone_from(&self.seen);
            return;
        }
        self.rested += 1;
        if self.rested < EVERY {
            return;
        }
        self.rested = 0;
        if self.row == 0 {
            self.look(levels, width);
        }
        let dy = self.row as i32 - REACH;
        for column in 0..SHIFTS {
            let score = self.alike(column as i32 - REACH, dy);
            self.scores[self.row * SHIFTS + column] = score;
        }
        self.row += 1;
        if self.row == SHIFTS {
            self.row = 0;
            self.judge();
        }
    }

    /// Makes the floor small, and frees it of the light.
    fn look(&mut self, levels: &[f32], width: usize) {
        let scale = self.scale;
        let step = (scale / 2).max(1);
        self.small.clear();
        for y in (0..self.height).map(|y| y * scale) {
            for x in (0..self.width).map(|x| x * scale) {
                let mut sum = 0;
                for y in (y..y + scale).step_by(step) {
                    let row = &levels[y * width + x..][..scale];
                    sum += row
                        .iter()
                        .step_by(step)
                        .map(|&v| (v * 16.0) as u32)
                        .sum::<u32>();
                }
                self.small.push(sum);
            }
        }
        let stride = self.width + 1;
        self.sums.clear();
        self.sums.resize(stride * (self.height + 1), [0; 2]);
        for y in 0..self.height {
            let mut row = [0; 2];
            for x in 0..self.width {
                let level = self.small[y * self.width + x];
                row = [row[0] + level, row[1] + u32::from(level > 0)];
                let above = self.sums[y * stride + x + 1];
                self.sums[(y + 1) * stride + x + 1] = [above[0] + row[0], above[1] + row[1]];
            }
        }
        self.seen.clear();
        for y in 0..self.height {
            for x in 0..self.width {
                self.seen.push(self.contrast(x, y));
            }
        }
    }

    /// Brightness of a small pixel against the mean around it, 0 where it is not known.
    fn contrast(&self, x: usize, y: usize) -> f32 {
        let (left, top) = (
            x.saturating_sub(LIGHT_RADIUS),
            y.saturating_sub(LIGHT_RADIUS),
        );
        let right = (x + LIGHT_RADIUS + 1).min(self.width);
        let bottom = (y + LIGHT_RADIUS + 1).min(self.height);
        let at = |x: usize, y: usize, i: usize| self.sums[y * (self.width + 1) + x][i];
        let within =
            |i| at(right, bottom, i) + at(left, top, i) - at(left, bottom, i) - at(right, top, i);
        let own = self.small[y * self.width + x];
        if own == 0 {
            return 0.0;
        }
        own as f32 * within(1) as f32 / within(0) as f32 - 1.0
    }

    /// How well the floor as seen, moved back by a shift, is correlated with the learned one: −1 to 1.
    fn alike(&self, dx: i32, dy: i32) -> f32 {
        let span = |size: usize, d: i32| {
            let start = usize::try_from(-d).unwrap_or(0);
            start..size - usize::try_from(d).unwrap_or(0).min(size)
        };
        let (mut both, mut one, mut other, mut count) = (0.0, 0.0, 0.0, 0.0);
        for y in span(self.height, dy).step_by(STEP) {
            let learned = &self.learned[y * self.width..(y + 1) * self.width];
            let moved = y.saturating_add_signed(dy as isize) * self.width;
            let seen = &self.seen[moved..moved + self.width];
            for x in span(self.width, dx).step_by(STEP) {
                let (a, b) = (learned[x], seen[x.saturating_add_signed(dx as isize)]);
                if a != 0.0 && b != 0.0 {
                    both += a * b;
                    one += a * a;
                    other += b * b;
                    count += 1.0;
                }
            }
        }
        if count < LEAST_PIXELS {
            return 0.0;
        }
        both / (one * other).sqrt().max(f32::MIN_POSITIVE)
    }

    /// Takes the best shift of a whole sweep.
    fn judge(&mut self) {
        let at = |x: usize, y: usize| self.scores[y * SHIFTS + x];
        let middle = REACH as usize;
        let best = (0..SHIFTS * SHIFTS)
            .max_by(|&a, &b| self.scores[a].total_cmp(&self.scores[b]))
            .map_or((middle, middle), |i| (i % SHIFTS, i / SHIFTS));
        let alike = at(best.0, best.1);
        if alike < LEAST_ALIKE {
            // Nothing can be told of this floor now: what was told stays.
            self.times = 0;
            return;
        }
        let inside = |i: usize| (1..SHIFTS - 1).contains(&i);
        let shift = if alike - at(middle, middle) < BETTER || !inside(best.0) || !inside(best.1) {
            None
        } else {
            let x = peak(at(best.0 - 1, best.1), alike, at(best.0 + 1, best.1));
            let y = peak(at(best.0, best.1 - 1), alike, at(best.0, best.1 + 1));
            let small = Vec2::new(best.0 as f32 + x, best.1 as f32 + y) - REACH as f32;
            Some(small * self.scale as f32)
        };
        let same = match (shift, self.found) {
            (Some(a), Some(b)) => a.distance(b) < self.scale as f32,
            (None, None) => true,
            _ => false,
        };
        self.times = if same { self.times + 1 } else { 1 };
        self.found = shift;
        if self.times >= TIMES {
            self.told = shift;
        }
    }
}

/// Where a parabola through three scores has its top, from the middle one: −0.5 to 0.5.
fn peak(before: f32, middle: f32, after: f32) -> f32 {
    let bend = before - 2.0 * middle + after;
    if bend < 0.0 {
        (0.5 * (before - after) / bend).clamp(-0.5, 0.5)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: (usize, usize) = (320, 240);

    /// A blotchy floor in uneven light, moved by whole pixels, with noise.
    fn floor(shift: (usize, usize), light: f32, frame: usize) -> Vec<f32> {
        let hash = |x: usize, y: usize| {
            let mixed = ((x as u64 * 0x9e37_79b9) ^ (y as u64 * 0x85eb_ca6b))
                .wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed >> 40) as f32 / (1u64 << 24) as f32
        };
        let mut levels = Vec::new();
        for y in 0..SIZE.1 {
            for x in 0..SIZE.0 {
                let (u, v) = (x + 40 - shift.0, y + 40 - shift.1);
                let blotch = hash(u / 9, v / 9) + hash(u / 5 + 999, v / 5);
                let noise = hash(x + 7 * frame, y + 1000) * 3.0;
                let slope = 1.0 + x as f32 / 640.0;
                levels.push((70.0 + 12.0 * blotch) * slope * light + noise);
            }
        }
        levels
    }

    fn watch(finder: &mut ShiftFinder, shift: (usize, usize), light: f32) -> Option<Vec2> {
        for frame in 0..3 * EVERY as usize * SHIFTS {
            finder.watch(&floor(shift, light, frame), SIZE.0);
        }
        finder.shift_px()
    }

    #[test]
    fn a_knock_is_found_and_light_is_none() {
        let mut finder = ShiftFinder::default();
        assert_eq!(watch(&mut finder, (0, 0), 1.0), None);
        assert_eq!(watch(&mut finder, (0, 0), 0.6), None);
        for shift in [(6, 0), (3, 9), (0, 10)] {
            let found = watch(&mut finder, shift, 1.2).unwrap();
            let truth = Vec2::new(shift.0 as f32, shift.1 as f32);
            assert!(found.distance(truth) < 0.7, "{found} {truth}");
        }
        assert_eq!(watch(&mut finder, (0, 0), 1.0), None, "it was put back");
    }

    #[test]
    fn a_floor_without_texture_tells_nothing() {
        let mut finder = ShiftFinder::default();
        for _ in 0..200 {
            finder.watch(&[90.0; SIZE.0 * SIZE.1], SIZE.0);
        }
        assert_eq!(finder.shift_px(), None);
    }

    #[test]
    fn any_size_is_survived() {
        for (width, height) in [(1, 1), (3, 200), (161, 5), (17, 17)] {
            let mut finder = ShiftFinder::default();
            for frame in 0..160 {
                let level = |i: usize| f32::from((i * 7 + frame) as u8);
                let levels: Vec<f32> = (0..width * height).map(level).collect();
                finder.watch(&levels, width);
            }
        }
    }
}
