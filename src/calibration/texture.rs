//! Texture marks of the floor: small patches around strong corners, and their positions in a later frame.
//!
//! Input: frames of the floor, preferably the mean of several. Output: [`TextureMark`]s, and the position of each mark in
//! another frame. This file must not interpret the positions; [`super::drift`] interprets them.
//!
//! A mark is searched for around its original position by normalized correlation, which does not depend on brightness. A patch
//! is not used if it is not found in its own frame, because the floor next to it looks the same.
//!
//! **Source**: Shi & Tomasi 1994 (corners); Lewis 1995 (normalized correlation); Tian & Huhns 1986 (parabola through the peak).

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::FloorFromCamera;

/// Half of the side of a mark, in pixels.
const HALF: usize = 7;
/// Side of a mark, in pixels.
const SIDE: usize = 2 * HALF + 1;
/// Number of pixels of a mark.
const AREA: usize = SIDE * SIDE;
/// Largest shift in x and in y at which a mark is searched for, in pixels.
const SEARCH_PX: i32 = 14;
/// Maximum number of marks of one floor.
const MARKS_MAX: usize = 24;
/// Columns and rows of a grid over the frame. Each cell has at most one mark, so that the marks are spread over the frame.
const CELLS: (usize, usize) = (8, 6);
/// Minimum strength of a corner: the smaller eigenvalue of its structure tensor, in squared levels per pixel. The value was
/// chosen by eye. It is above the noise in the mean of a few frames of a usual camera.
const STRENGTH_MIN: f64 = 2.0;
/// Minimum correlation at which a patch counts as the searched mark.
const CORRELATION_MIN: f64 = 0.75;
/// Minimum difference between the best correlation and the correlations at all positions that are not next to the best one. If
/// the difference is smaller, the position is ambiguous.
const LEAD_MIN: f64 = 0.04;
/// Largest factor between the mean levels of a mark and of its place at which the place is lit well enough to show the mark. It is
/// beyond the differences of brightness on one floor; darkness and glare differ more.
const LIT_FACTOR: f64 = 3.0;
/// Largest mean level of a place that is not saturated.
const LIT_LEVEL_MAX: f64 = 245.0;
/// Largest difference between two pictures of a place that did not change, as a share of the contrast of its mark. It is above the
/// noise of two means in which the mark is barely found.
const STILL_SHARE: f64 = 0.7;
/// Maximum number of frames of one mean. The sum of so many levels fits in 16 bits.
const FRAMES_MAX: u16 = 256;

/// Camera frame: 8-bit levels, height × width, row-major.
#[derive(Clone, Copy, Debug)]
pub struct FloorFrame<'a> {
    /// One level per pixel.
    pub levels: &'a [u8],
    /// Number of pixels per row.
    pub width_px: usize,
}

impl FloorFrame<'_> {
    fn height_px(&self) -> usize {
        self.levels.len() / self.width_px.max(1)
    }

    fn level(&self, x: usize, y: usize) -> f64 {
        let level = self.levels.get(y * self.width_px + x);
        level.copied().map_or(0.0, f64::from)
    }

    /// Returns the rows of the patch with this upper left corner. Rows outside the frame are skipped.
    fn patch(&self, left: usize, top: usize) -> impl Iterator<Item = &[u8]> {
        let start = move |row: usize| (top + row) * self.width_px + left;
        (0..SIDE).filter_map(move |row| self.levels.get(start(row)..start(row) + SIDE))
    }
}

/// Mean of several frames of equal size. The mean has less noise than a single frame.
#[derive(Clone, Debug, Default)]
pub struct MeanFrame {
    sums: Vec<u16>,
    count: u16,
    levels: Vec<u8>,
    width_px: usize,
}

impl MeanFrame {
    /// Adds a frame to the next mean. If the size of the frame differs from the size of the earlier frames, a new mean starts.
    pub fn add(&mut self, frame: &FloorFrame<'_>) {
        if (self.sums.len(), self.width_px) != (frame.levels.len(), frame.width_px) {
            self.clear();
            self.sums.resize(frame.levels.len(), 0);
            self.width_px = frame.width_px;
        }
        if self.count < FRAMES_MAX {
            self.count += 1;
            for (sum, &level) in self.sums.iter_mut().zip(frame.levels) {
                *sum += u16::from(level);
            }
        }
    }

    /// Returns the number of frames added since the last mean was computed.
    pub fn frame_count(&self) -> u16 {
        self.count
    }

    /// Computes the mean of the frames that were added since the last mean. If none were added, the last mean is kept.
    pub fn finish(&mut self) {
        let count = self.count;
        if count == 0 {
            return;
        }
        let rounded =
            |sum: &u16| ((u32::from(*sum) + u32::from(count / 2)) / u32::from(count)) as u8;
        self.levels.clear();
        self.levels.extend(self.sums.iter().map(rounded));
        self.sums.fill(0);
        self.count = 0;
    }

    /// Removes all frames and the mean.
    pub fn clear(&mut self) {
        self.sums.clear();
        self.levels.clear();
        self.count = 0;
    }

    /// Returns the last mean. The frame is empty before the first mean.
    pub fn frame(&self) -> FloorFrame<'_> {
        FloorFrame {
            levels: &self.levels,
            width_px: self.width_px,
        }
    }
}

/// Patch of the floor's texture that can be found again in later frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureMark {
    /// Center `[x, y]` of the patch in the camera frame, in pixels.
    #[schemars(inner(range(min = 0, max = 16384)))]
    pub camera_px: [u32; 2],
    /// Levels of the 15 × 15 pixels, row by row, two hexadecimal digits each.
    pub levels: String,
}

/// Levels of the pixels at the place of a mark, row by row.
pub(super) type Patch = [u8; AREA];

/// Texture mark, decoded for the search.
#[derive(Clone, Debug)]
pub(super) struct MarkTemplate {
    x: usize,
    y: usize,
    levels: Patch,
    sum: f64,
    /// Square root of the sum of squared deviations of the levels from their mean.
    norm: f64,
}

/// Returns marks at the strongest corners of a frame, spread over the frame. Each of them can be found again in the same frame.
/// Skips positions that are outside the floor according to `map`, and positions for which `is_free` returns false because they
/// are covered.
pub fn find_texture_marks(
    frame: &FloorFrame<'_>,
    map: &FloorFromCamera,
    is_free: impl Fn(DVec2) -> bool,
) -> Vec<TextureMark> {
    let (width, height) = (frame.width_px, frame.height_px());
    let margin = HALF + SEARCH_PX as usize + 1;
    if width <= 2 * margin || height <= 2 * margin {
        return Vec::new();
    }
    let mut best: Vec<Option<(f64, usize, usize)>> = vec![None; CELLS.0 * CELLS.1];
    for y in (margin..height - margin).step_by(3) {
        for x in (margin..width - margin).step_by(3) {
            let cell = y * CELLS.1 / height * CELLS.0 + x * CELLS.0 / width;
            let Some(place) = best.get_mut(cell) else {
                continue;
            };
            let strength = corner_strength(frame, x, y);
            if strength > place.map_or(STRENGTH_MIN, |(s, _, _)| s) {
                let at = DVec2::new(x as f64, y as f64);
                if map.floor_from_camera(at).is_finite() && is_free(at) {
                    *place = Some((strength, x, y));
                }
            }
        }
    }
    let mut corners: Vec<(f64, usize, usize)> = best.into_iter().flatten().collect();
    corners.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mark = |(_, x, y): (f64, usize, usize)| {
        let levels = frame.patch(x - HALF, y - HALF).flatten();
        TextureMark {
            camera_px: [x as u32, y as u32],
            levels: levels.map(|v| format!("{v:02x}")).collect(),
        }
    };
    let is_found =
        |mark: &TextureMark| MarkTemplate::of(mark).is_some_and(|m| m.find(frame).is_some());
    let marks = corners.into_iter().map(mark).filter(is_found);
    marks.take(MARKS_MAX).collect()
}

/// Returns the strength of a corner: the smaller eigenvalue of the structure tensor over a mark, per pixel.
fn corner_strength(frame: &FloorFrame<'_>, x: usize, y: usize) -> f64 {
    let (mut xx, mut xy, mut yy, mut count) = (0.0, 0.0, 0.0, 0.0);
    for row in (y - HALF + 1..y + HALF).step_by(2) {
        for column in (x - HALF + 1..x + HALF).step_by(2) {
            // Central differences, averaged over two rows or columns to reduce noise.
            let pair = |x: usize, y: usize, along: bool| {
                let (u, v) = if along { (x, y + 1) } else { (x + 1, y) };
                f64::midpoint(frame.level(x, y), frame.level(u, v))
            };
            let gx = (pair(column + 1, row, true) - pair(column - 1, row, true)) / 2.0;
            let gy = (pair(column, row + 1, false) - pair(column, row - 1, false)) / 2.0;
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
            count += 1.0;
        }
    }
    ((xx + yy) / 2.0 - ((xx - yy) / 2.0).hypot(xy)) / count
}

impl MarkTemplate {
    /// Returns the center of the mark in its original frame, in pixels.
    pub(super) fn position(&self) -> DVec2 {
        DVec2::new(self.x as f64, self.y as f64)
    }

    /// Returns what a frame shows at the original position of the mark; `None` if it is too dark or too bright there to show the
    /// mark.
    pub(super) fn place(&self, frame: &FloorFrame<'_>) -> Option<Patch> {
        let (left, top) = (self.x.checked_sub(HALF)?, self.y.checked_sub(HALF)?);
        let mut patch = [0; AREA];
        let mut rows = frame.patch(left, top);
        for to in patch.chunks_exact_mut(SIDE) {
            to.copy_from_slice(rows.next()?);
        }
        let sum: f64 = patch.iter().map(|&v| f64::from(v)).sum();
        let is_lit = sum <= LIT_LEVEL_MAX * AREA as f64
            && sum <= LIT_FACTOR * self.sum
            && self.sum <= LIT_FACTOR * sum;
        is_lit.then_some(patch)
    }

    /// Whether two pictures of the place of this mark show the same, apart from their brightness.
    pub(super) fn is_still(&self, before: &Patch, after: &Patch) -> bool {
        let pairs = before.iter().zip(after);
        let change = pairs.map(|(&a, &b)| f64::from(b) - f64::from(a));
        let mean = change.clone().sum::<f64>() / AREA as f64;
        let squares = change.map(|c| (c - mean).powi(2));
        squares.sum::<f64>().sqrt() <= STILL_SHARE * self.norm
    }

    /// Decodes a texture mark. Returns `None` if its levels are invalid or all equal.
    pub(super) fn of(mark: &TextureMark) -> Option<Self> {
        let mut levels = [0; AREA];
        if mark.levels.len() != 2 * AREA || !mark.levels.is_ascii() {
            return None;
        }
        for (level, at) in levels.iter_mut().zip((0..).step_by(2)) {
            let digits = mark.levels.get(at..at + 2)?;
            *level = u8::from_str_radix(digits, 16).ok()?;
        }
        let sum: f64 = levels.iter().map(|&v| f64::from(v)).sum();
        let mean = sum / AREA as f64;
        let squares = levels.iter().map(|&v| (f64::from(v) - mean).powi(2));
        let norm = squares.sum::<f64>().sqrt();
        (norm > 0.0).then_some(Self {
            x: mark.camera_px[0] as usize,
            y: mark.camera_px[1] as usize,
            levels,
            sum,
            norm,
        })
    }

    /// Returns the normalized correlation of the mark with the patch at this upper left corner: 1 if they differ only in
    /// brightness and contrast. The sums are exact: 225 products of two levels fit in 32 bits.
    fn correlation(&self, frame: &FloorFrame<'_>, left: usize, top: usize) -> f64 {
        let (mut sum, mut squares, mut products) = (0_u32, 0_u32, 0_u32);
        for (other, own) in frame.patch(left, top).zip(self.levels.chunks_exact(SIDE)) {
            for (&other, &own) in other.iter().zip(own) {
                let (other, own) = (u32::from(other), u32::from(own));
                sum += other;
                squares += other * other;
                products += other * own;
            }
        }
        let (area, sum) = (AREA as f64, f64::from(sum));
        let norm = (f64::from(squares) - sum * sum / area).max(0.0).sqrt();
        let product = f64::from(products) - sum * self.sum / area;
        product / (norm * self.norm).max(f64::MIN_POSITIVE)
    }

    /// Searches for the mark in a frame. Returns its center with subpixel accuracy, or `None` if the mark is not found.
    pub(super) fn find(&self, frame: &FloorFrame<'_>) -> Option<DVec2> {
        let side = (2 * SEARCH_PX + 1) as usize;
        let mut correlations = [0.0; ((2 * SEARCH_PX + 1) * (2 * SEARCH_PX + 1)) as usize];
        let first = |at: usize| at.checked_sub(SEARCH_PX as usize);
        let (left, top) = (first(self.x)?, first(self.y)?);
        let fits = left >= HALF
            && top >= HALF
            && left + side + HALF <= frame.width_px
            && top + side + HALF <= frame.height_px();
        if !fits {
            return None;
        }
        for (i, to) in correlations.iter_mut().enumerate() {
            *to = self.correlation(frame, left - HALF + i % side, top - HALF + i / side);
        }
        let (best, peak) = correlations
            .iter()
            .copied()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (x, y) = (best % side, best / side);
        // If the maximum is at the edge of the search area, the true position may be outside.
        if peak < CORRELATION_MIN || x == 0 || y == 0 || x + 1 == side || y + 1 == side {
            return None;
        }
        let rival = correlations
            .iter()
            .enumerate()
            .filter(|(i, _)| (i % side).abs_diff(x).max((i / side).abs_diff(y)) > 3)
            .map(|(_, a)| *a)
            .fold(f64::MIN, f64::max);
        if peak - rival < LEAD_MIN {
            return None;
        }
        let offset = |before: f64, after: f64| {
            let bend = before + after - 2.0 * peak;
            if bend < 0.0 {
                ((before - after) / (2.0 * bend)).clamp(-0.5, 0.5)
            } else {
                0.0
            }
        };
        let at = |i: usize| correlations.get(i).copied().unwrap_or(peak);
        Some(DVec2::new(
            (left + x) as f64 + offset(at(best - 1), at(best + 1)),
            (top + y) as f64 + offset(at(best - side), at(best + side)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{floor_frame, floor_map, frame_of, noisy, view};

    #[test]
    fn a_floor_without_texture_has_no_marks() {
        let mut mean = MeanFrame::default();
        for seed in 0..8 {
            mean.add(&frame_of(&noisy(|_| 90.0, 3.5, seed)));
        }
        mean.finish();
        assert_eq!(
            find_texture_marks(&mean.frame(), &floor_map(), |_| true),
            []
        );
        assert_eq!(
            find_texture_marks(&frame_of(&[]), &floor_map(), |_| true),
            []
        );
    }

    #[test]
    fn a_periodic_floor_has_no_marks() {
        let tiles = |at: DVec2| 90.0 + 50.0 * f64::from((at.x as u32 / 6 + at.y as u32 / 6) % 2);
        let levels = noisy(tiles, 1.0, 3);
        assert_eq!(
            find_texture_marks(&frame_of(&levels), &floor_map(), |_| true),
            []
        );
    }

    #[test]
    fn a_mean_has_less_noise() {
        let mut mean = MeanFrame::default();
        mean.finish();
        assert!(mean.frame().levels.is_empty());
        mean.add(&frame_of(&[1; 12]));
        for seed in 0..16 {
            mean.add(&frame_of(&noisy(|_| 90.5, 4.0, seed)));
        }
        // A frame of another size starts a new mean.
        assert_eq!(mean.frame_count(), 16);
        mean.finish();
        let levels = mean.frame().levels;
        let square = |v: &u8| (f64::from(*v) - 90.0).powi(2);
        let spread = (levels.iter().map(square).sum::<f64>() / levels.len() as f64).sqrt();
        assert!((0.8..1.2).contains(&spread), "{spread}");
        assert_eq!(mean.frame_count(), 0);
    }

    #[test]
    fn marks_are_only_on_free_floor_inside_the_map() {
        let levels = floor_frame(DVec2::ZERO, 1.0, 2.5, 1);
        let marks = find_texture_marks(&frame_of(&levels), &floor_map(), |p| p.x < 160.0);
        assert!(!marks.is_empty() && marks.iter().all(|m| m.camera_px[0] < 160));
        // In this view, part of the frame is beyond the horizon.
        let _ = find_texture_marks(&frame_of(&levels), &view(-0.2, 0.05), |_| true);
    }

    #[test]
    fn invalid_marks_are_rejected() {
        let mark = |levels: &str| TextureMark {
            camera_px: [100, 100],
            levels: levels.to_owned(),
        };
        for levels in [
            String::new(),
            "zz".repeat(AREA),
            "00".repeat(AREA),
            "é".repeat(AREA),
        ] {
            assert!(MarkTemplate::of(&mark(&levels)).is_none(), "{levels}");
        }
    }
}
