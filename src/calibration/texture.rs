//! Marks in the floor's own texture: small patches around strong corners, and where they are in a later picture.
//!
//! In: pictures of the floor, best the mean of several. Out: [`TextureMark`]s, and for each its place in another picture.
//! Must not: judge what their places mean; [`super::drift`] does.
//!
//! A mark is looked for around its place by normalized correlation, which does not care for brightness. One that is not
//! found in its own picture, because the floor looks the same beside it, tells nothing and is none.
//!
//! **Source**: Shi & Tomasi 1994 (corners); Lewis 1995 (normalized correlation); the peak's parabola is Tian & Huhns 1986.

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::FloorFromCamera;

/// Half of a mark's side: marks are `2 · HALF + 1` pixels wide.
const HALF: usize = 7;
const SIDE: usize = 2 * HALF + 1;
/// Pixels in a mark.
const AREA: usize = SIDE * SIDE;
/// A mark is looked for up to so far from its place.
const SEARCH_PX: i32 = 14;
/// Marks that are kept.
const MARKS_MAX: usize = 24;
/// One mark at most in each cell of a grid over the picture, so that they lie everywhere.
const CELLS: (usize, usize) = (8, 6);
/// A corner's smaller eigenvalue, as a squared difference of levels from pixel to pixel, is at least this: above the
/// noise that the mean of a few frames of a usual camera has left. **Source**: tuned by eye, 2026-11-22.
const STRENGTH_MIN: f64 = 2.0;
/// Less alike than this, it is not the mark.
const ALIKE_MIN: f64 = 0.75;
/// A mark must be this much more alike its place than anywhere else around, or it says nothing.
const AHEAD_MIN: f64 = 0.04;
/// No more pictures than these go into a mean, so that its sums hold them.
const PICTURES_MAX: u16 = 256;

/// A picture of the camera: 8-bit levels, height × width, row-major.
#[derive(Clone, Copy, Debug)]
pub struct FloorPicture<'a> {
    /// One level a pixel.
    pub levels: &'a [u8],
    /// Pixels in a row.
    pub width_px: usize,
}

impl FloorPicture<'_> {
    fn height_px(&self) -> usize {
        self.levels.len() / self.width_px.max(1)
    }

    fn level(&self, x: usize, y: usize) -> f64 {
        let level = self.levels.get(y * self.width_px + x);
        level.copied().map_or(0.0, f64::from)
    }

    /// Rows of the patch whose left upper corner a pixel is; what would lie beyond the picture is left out.
    fn patch(&self, left: usize, top: usize) -> impl Iterator<Item = &[u8]> {
        let start = move |row: usize| (top + row) * self.width_px + left;
        (0..SIDE).filter_map(move |row| self.levels.get(start(row)..start(row) + SIDE))
    }
}

/// The mean of pictures of one size: the camera's noise is fainter in it than in each of them.
#[derive(Clone, Debug, Default)]
pub struct MeanPicture {
    sums: Vec<u16>,
    pictures: u16,
    levels: Vec<u8>,
    width_px: usize,
}

impl MeanPicture {
    /// Adds a picture to the next mean; one of another size than those before starts it anew.
    pub fn add(&mut self, picture: &FloorPicture<'_>) {
        if (self.sums.len(), self.width_px) != (picture.levels.len(), picture.width_px) {
            self.clear();
            self.sums.resize(picture.levels.len(), 0);
            self.width_px = picture.width_px;
        }
        if self.pictures < PICTURES_MAX {
            self.pictures += 1;
            for (sum, &level) in self.sums.iter_mut().zip(picture.levels) {
                *sum += u16::from(level);
            }
        }
    }

    /// Pictures added since the last mean.
    pub fn pictures(&self) -> u16 {
        self.pictures
    }

    /// Takes the mean of what was added since the last one; nothing added leaves that one.
    pub fn finish(&mut self) {
        let count = self.pictures;
        if count == 0 {
            return;
        }
        let rounded =
            |sum: &u16| ((u32::from(*sum) + u32::from(count / 2)) / u32::from(count)) as u8;
        self.levels.clear();
        self.levels.extend(self.sums.iter().map(rounded));
        self.sums.fill(0);
        self.pictures = 0;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sums.clear();
        self.levels.clear();
        self.pictures = 0;
    }

    /// The last mean; empty before there is one.
    pub fn picture(&self) -> FloorPicture<'_> {
        FloorPicture {
            levels: &self.levels,
            width_px: self.width_px,
        }
    }
}

/// A patch of the floor's texture that is found again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextureMark {
    /// Its middle in the camera's picture, `[x, y]`.
    #[schemars(inner(range(min = 0, max = 16384)))]
    pub camera_px: [u32; 2],
    /// Its 15 × 15 levels, row by row, two hexadecimal digits each.
    pub levels: String,
}

/// A mark, ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    x: usize,
    y: usize,
    levels: [u8; AREA],
    sum: f64,
    /// Root of the summed squares around the mean.
    norm: f64,
}

/// The strongest corners of a picture of the floor, spread over it, that are found again in it; those whose place on the
/// floor the map does not know are left out, and those on which `is_free` says that somebody is.
pub fn texture_marks(
    picture: &FloorPicture<'_>,
    map: &FloorFromCamera,
    is_free: impl Fn(DVec2) -> bool,
) -> Vec<TextureMark> {
    let (width, height) = (picture.width_px, picture.height_px());
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
            let strength = corner_strength(picture, x, y);
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
        let levels = picture.patch(x - HALF, y - HALF).flatten();
        TextureMark {
            camera_px: [x as u32, y as u32],
            levels: levels.map(|v| format!("{v:02x}")).collect(),
        }
    };
    let is_found = |mark: &TextureMark| Mark::of(mark).is_some_and(|m| m.find(picture).is_some());
    let marks = corners.into_iter().map(mark).filter(is_found);
    marks.take(MARKS_MAX).collect()
}

/// Smaller eigenvalue of the structure tensor over a mark, a pixel.
fn corner_strength(picture: &FloorPicture<'_>, x: usize, y: usize) -> f64 {
    let (mut xx, mut xy, mut yy, mut count) = (0.0, 0.0, 0.0, 0.0);
    for row in (y - HALF + 1..y + HALF).step_by(2) {
        for column in (x - HALF + 1..x + HALF).step_by(2) {
            // Differences over two pixels, of pairs of rows or columns: half as noisy.
            let pair = |x: usize, y: usize, along: bool| {
                let (u, v) = if along { (x, y + 1) } else { (x + 1, y) };
                f64::midpoint(picture.level(x, y), picture.level(u, v))
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

impl Mark {
    /// Its middle in the picture it is from.
    pub(super) fn place(&self) -> DVec2 {
        DVec2::new(self.x as f64, self.y as f64)
    }

    /// `None` where it is broken or bare.
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

    /// How much the patch with this left upper corner is like the mark: 1 where they are the same but for brightness. Sums
    /// of whole numbers: 225 products of two levels fit in 32 bits.
    fn likeness(&self, picture: &FloorPicture<'_>, left: usize, top: usize) -> f64 {
        let (mut sum, mut squares, mut products) = (0_u32, 0_u32, 0_u32);
        for (seen, own) in picture.patch(left, top).zip(self.levels.chunks_exact(SIDE)) {
            for (&seen, &own) in seen.iter().zip(own) {
                let (seen, own) = (u32::from(seen), u32::from(own));
                sum += seen;
                squares += seen * seen;
                products += seen * own;
            }
        }
        let (area, sum) = (AREA as f64, f64::from(sum));
        let norm = (f64::from(squares) - sum * sum / area).max(0.0).sqrt();
        let product = f64::from(products) - sum * self.sum / area;
        product / (norm * self.norm).max(f64::MIN_POSITIVE)
    }

    /// Where the mark is in a picture, to a part of a pixel.
    pub(super) fn find(&self, picture: &FloorPicture<'_>) -> Option<DVec2> {
        let side = (2 * SEARCH_PX + 1) as usize;
        let mut alike = [0.0; ((2 * SEARCH_PX + 1) * (2 * SEARCH_PX + 1)) as usize];
        let first = |at: usize| at.checked_sub(SEARCH_PX as usize);
        let (left, top) = (first(self.x)?, first(self.y)?);
        let fits = left >= HALF
            && top >= HALF
            && left + side + HALF <= picture.width_px
            && top + side + HALF <= picture.height_px();
        if !fits {
            return None;
        }
        for (i, to) in alike.iter_mut().enumerate() {
            *to = self.likeness(picture, left - HALF + i % side, top - HALF + i / side);
        }
        let (best, most) = alike
            .iter()
            .copied()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (x, y) = (best % side, best / side);
        // At the edge of where it was looked for it may well lie beyond.
        if most < ALIKE_MIN || x == 0 || y == 0 || x + 1 == side || y + 1 == side {
            return None;
        }
        let rival = alike
            .iter()
            .enumerate()
            .filter(|(i, _)| (i % side).abs_diff(x).max((i / side).abs_diff(y)) > 3)
            .map(|(_, a)| *a)
            .fold(f64::MIN, f64::max);
        if most - rival < AHEAD_MIN {
            return None;
        }
        let peak = |before: f64, after: f64| {
            let bend = before + after - 2.0 * most;
            if bend < 0.0 {
                ((before - after) / (2.0 * bend)).clamp(-0.5, 0.5)
            } else {
                0.0
            }
        };
        let at = |i: usize| alike.get(i).copied().unwrap_or(most);
        Some(DVec2::new(
            (left + x) as f64 + peak(at(best - 1), at(best + 1)),
            (top + y) as f64 + peak(at(best - side), at(best + side)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{floor_map, floor_picture, noisy, seen, view};

    #[test]
    fn a_bare_floor_has_no_marks() {
        let mut mean = MeanPicture::default();
        for seed in 0..8 {
            mean.add(&seen(&noisy(|_| 90.0, 3.5, seed)));
        }
        mean.finish();
        assert_eq!(texture_marks(&mean.picture(), &floor_map(), |_| true), []);
        assert_eq!(texture_marks(&seen(&[]), &floor_map(), |_| true), []);
    }

    #[test]
    fn floor_that_looks_the_same_beside_has_no_marks() {
        let tiles = |at: DVec2| 90.0 + 50.0 * f64::from((at.x as u32 / 6 + at.y as u32 / 6) % 2);
        let levels = noisy(tiles, 1.0, 3);
        assert_eq!(texture_marks(&seen(&levels), &floor_map(), |_| true), []);
    }

    #[test]
    fn a_mean_has_a_part_of_the_noise() {
        let mut mean = MeanPicture::default();
        mean.finish();
        assert!(mean.picture().levels.is_empty());
        mean.add(&seen(&[1; 12]));
        for seed in 0..16 {
            mean.add(&seen(&noisy(|_| 90.5, 4.0, seed)));
        }
        assert_eq!(mean.pictures(), 16, "one of another size starts anew");
        mean.finish();
        let levels = mean.picture().levels;
        let square = |v: &u8| (f64::from(*v) - 90.0).powi(2);
        let spread = (levels.iter().map(square).sum::<f64>() / levels.len() as f64).sqrt();
        assert!((0.8..1.2).contains(&spread), "{spread}");
        assert_eq!(mean.pictures(), 0);
    }

    #[test]
    fn marks_lie_where_the_map_knows_the_floor_and_nobody_stands() {
        let levels = floor_picture(DVec2::ZERO, 1.0, 2.5, 1);
        let marks = texture_marks(&seen(&levels), &floor_map(), |p| p.x < 160.0);
        assert!(!marks.is_empty() && marks.iter().all(|m| m.camera_px[0] < 160));
        // Beyond this view's horizon nothing is floor.
        let _ = texture_marks(&seen(&levels), &view(-0.2, 0.05), |_| true);
    }

    #[test]
    fn broken_marks_are_left_out() {
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
            assert!(Mark::of(&mark(&levels)).is_none(), "{levels}");
        }
    }
}
