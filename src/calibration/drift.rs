//! Whether the camera still sees the floor where it was calibrated: the slow watch over marks in the floor's own texture.
//!
//! In: a picture of the floor when it was calibrated, later pictures of it. Out: how far the floor has moved in the
//! picture, in pixels and in millimeters on the floor. Must not: raise an alarm, ask a clock, touch a camera.
//!
//! A mark is a small patch around a strong corner. It is looked for around its place by normalized correlation, which
//! does not care for brightness; one that somebody stands on is not found again and tells nothing. The median over the
//! marks that are found is believed only when many are.
//!
//! **Source**: Shi & Tomasi 1994 (corners); Lewis 1995 (normalized correlation); the peak's parabola is Tian & Huhns 1986.

use glam::DVec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::FloorFromCamera;

/// Half of a mark's side: marks are `2 · HALF + 1` pixels wide.
const HALF: usize = 7;
/// Pixels in a mark.
const AREA: usize = (2 * HALF + 1) * (2 * HALF + 1);
/// A mark is looked for up to so far from its place.
const SEARCH_PX: i32 = 14;
/// Marks that are kept.
const MARKS_MAX: usize = 24;
/// One mark at most in each cell of a grid over the picture, so that they lie everywhere.
const CELLS: (usize, usize) = (8, 6);
/// A corner's smaller eigenvalue, as a squared difference of levels from pixel to pixel, is at least this: above the
/// noise of usual cameras. **Source**: tuned by eye, 2026-11-21.
const STRENGTH_MIN: f64 = 6.0;
/// Less alike than this, it is not the mark.
const ALIKE_MIN: f64 = 0.75;
/// A mark must be this much more alike its place than anywhere else around, or it says nothing.
const AHEAD_MIN: f64 = 0.04;
/// So many marks, and this part of all, must be found.
const FOUND_MIN: usize = 5;
const FOUND_SHARE: f64 = 0.3;
/// And so many in a quarter of the picture for that to be heard by itself.
const QUARTER_MIN: usize = 4;

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

    /// Writes the patch around a pixel, and gives its mean and the root of its summed squares around it.
    fn patch(&self, x: usize, y: usize, to: &mut [f64; AREA]) -> (f64, f64) {
        let side = 2 * HALF + 1;
        for (row, cells) in to.chunks_exact_mut(side).enumerate() {
            for (column, cell) in cells.iter_mut().enumerate() {
                *cell = self.level(x + column - HALF, y + row - HALF);
            }
        }
        let mean = to.iter().sum::<f64>() / AREA as f64;
        let norm = to.iter().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt();
        (mean, norm)
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

/// How far the floor has moved in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Median distance in the picture.
    pub shift_px: f64,
    /// Median distance on the floor.
    pub shift_m: f64,
    /// Marks that were found.
    pub marks: usize,
}

/// The marks of a floor. Looks for one of them at a time, so that a frame costs little.
#[derive(Clone, Debug)]
pub struct DriftWatch {
    map: FloorFromCamera,
    marks: Vec<Mark>,
    next: usize,
    /// The marks of this round that were found.
    found: Vec<Found>,
}

/// A mark's place, and how far from it the mark was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    place: DVec2,
    shift_px: DVec2,
    shift_m: DVec2,
}

#[derive(Clone, Debug)]
struct Mark {
    x: usize,
    y: usize,
    levels: [f64; AREA],
    mean: f64,
    norm: f64,
}

/// The strongest corners of a picture of the floor, spread over it; those whose place on the floor the map does not know
/// are left out, and those on which `is_free` says that somebody is.
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
    corners.truncate(MARKS_MAX);
    let mark = |(_, x, y): (f64, usize, usize)| {
        let mut patch = [0.0; AREA];
        picture.patch(x, y, &mut patch);
        TextureMark {
            camera_px: [x as u32, y as u32],
            levels: patch.iter().map(|v| format!("{:02x}", *v as u8)).collect(),
        }
    };
    corners.into_iter().map(mark).collect()
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

impl DriftWatch {
    /// Watches these marks; `None` when they are too few to tell anything.
    pub fn new(marks: &[TextureMark], map: &FloorFromCamera) -> Option<Self> {
        let marks: Vec<Mark> = marks.iter().filter_map(Mark::of).collect();
        (marks.len() >= FOUND_MIN).then(|| Self {
            found: Vec::with_capacity(marks.len()),
            marks,
            map: *map,
            next: 0,
        })
    }

    /// Marks that are watched.
    pub fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Looks for the next mark in a picture of the size that the marks are from. After the last one, tells how far the
    /// floor has moved; `None` then means that too few were found to tell.
    pub fn look(&mut self, picture: &FloorPicture<'_>) -> Option<Option<Drift>> {
        let mark = self.marks.get(self.next)?;
        if let Some(at) = mark.find(picture) {
            let place = DVec2::new(mark.x as f64, mark.y as f64);
            let shift_m = self.map.floor_from_camera(at) - self.map.floor_from_camera(place);
            if shift_m.is_finite() {
                self.found.push(Found {
                    place,
                    shift_px: at - place,
                    shift_m,
                });
            }
        }
        self.next += 1;
        if self.next < self.marks.len() {
            return None;
        }
        self.next = 0;
        let drift = self.judge();
        self.found.clear();
        Some(drift)
    }

    /// The median over all marks, or over those of one quarter of the picture, if that says more: a camera that was turned
    /// about its axis moves nothing on the whole.
    fn judge(&mut self) -> Option<Drift> {
        let count = self.found.len();
        let least = FOUND_MIN.max((FOUND_SHARE * self.marks.len() as f64).ceil() as usize);
        if count < least {
            return None;
        }
        let lens = self.map.lens();
        let quarter = |found: &Found| {
            let beyond = found.place.cmpgt(lens.center_px());
            usize::from(beyond.x) + 2 * usize::from(beyond.y)
        };
        let all = (median_of(&mut self.found), count);
        self.found.sort_by_key(quarter);
        let quarters = self.found.chunk_by_mut(|a, b| quarter(a) == quarter(b));
        let (shift, _) = quarters
            .filter(|marks| marks.len() >= QUARTER_MIN)
            .map(|marks| (median_of(marks), marks.len()))
            .fold(all, |most, one| if one.0.1 > most.0.1 { one } else { most });
        Some(Drift {
            shift_px: shift.0,
            shift_m: shift.1,
            marks: count,
        })
    }
}

/// Lengths of the medians of shifts, in the picture and on the floor; each direction by itself.
fn median_of(found: &mut [Found]) -> (f64, f64) {
    let mut median = |value: &dyn Fn(&Found) -> f64| {
        let middle = found.len() / 2;
        let (_, at, _) = found.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)));
        value(at)
    };
    let in_picture = DVec2::new(median(&|f| f.shift_px.x), median(&|f| f.shift_px.y));
    let on_floor = DVec2::new(median(&|f| f.shift_m.x), median(&|f| f.shift_m.y));
    (in_picture.length(), on_floor.length())
}

impl Mark {
    fn of(mark: &TextureMark) -> Option<Self> {
        let mut levels = [0.0; AREA];
        if mark.levels.len() != 2 * AREA || !mark.levels.is_ascii() {
            return None;
        }
        for (level, at) in levels.iter_mut().zip((0..).step_by(2)) {
            let digits = mark.levels.get(at..at + 2)?;
            *level = f64::from(u8::from_str_radix(digits, 16).ok()?);
        }
        let mean = levels.iter().sum::<f64>() / AREA as f64;
        let norm = levels
            .iter()
            .map(|v| (v - mean).powi(2))
            .sum::<f64>()
            .sqrt();
        (norm > 0.0).then_some(Self {
            x: mark.camera_px[0] as usize,
            y: mark.camera_px[1] as usize,
            levels,
            mean,
            norm,
        })
    }

    /// Where the mark is in a picture, to a part of a pixel.
    fn find(&self, picture: &FloorPicture<'_>) -> Option<DVec2> {
        let side = (2 * SEARCH_PX + 1) as usize;
        let mut alike = [0.0; ((2 * SEARCH_PX + 1) * (2 * SEARCH_PX + 1)) as usize];
        let mut patch = [0.0; AREA];
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
            let (mean, norm) = picture.patch(left + i % side, top + i / side, &mut patch);
            let product: f64 = patch
                .iter()
                .zip(&self.levels)
                .map(|(a, b)| (a - mean) * (b - self.mean))
                .sum();
            *to = product / (norm * self.norm).max(f64::MIN_POSITIVE);
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
    use crate::calibration::sample::view;

    const SIZE: (usize, usize) = (320, 240);

    /// Smooth chance between 0 and 1, the same at the same place in every run.
    fn texture(p: DVec2) -> f64 {
        let cell = |x: f64, y: f64| {
            let mut z = (x as i64 as u64)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .wrapping_add((y as i64 as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9));
            z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 32)) & 0xffff) as f64 / 65536.0
        };
        let (i, f) = (p.floor(), p - p.floor());
        let f = f * f * (DVec2::splat(3.0) - 2.0 * f);
        let top = cell(i.x, i.y) * (1.0 - f.x) + cell(i.x + 1.0, i.y) * f.x;
        let low = cell(i.x, i.y + 1.0) * (1.0 - f.x) + cell(i.x + 1.0, i.y + 1.0) * f.x;
        top * (1.0 - f.y) + low * f.y
    }

    /// The floor seen by a camera that was turned so that all moves by `shift_px`; `noise` in levels.
    fn picture(shift_px: DVec2, gain: f64, noise: f64, seed: u64) -> Vec<u8> {
        let mut state = seed;
        (0..SIZE.0 * SIZE.1)
            .map(|i| {
                let at = DVec2::new((i % SIZE.0) as f64, (i / SIZE.0) as f64) - shift_px;
                let shade = 90.0
                    + 40.0 * texture(at / 7.0)
                    + 25.0 * texture(at / 19.0 + DVec2::splat(40.0));
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let chance = ((state >> 33) as f64 / f64::from(1_u32 << 31) - 0.5) * 3.46;
                (shade * gain + chance * noise).clamp(0.0, 255.0) as u8
            })
            .collect()
    }

    fn seen(levels: &[u8]) -> FloorPicture<'_> {
        FloorPicture {
            levels,
            width_px: SIZE.0,
        }
    }

    /// A map whose pixels are 10 mm on the floor everywhere.
    fn map() -> FloorFromCamera {
        let surface = crate::geometry::Surface {
            width_m: 3.2,
            height_m: 2.4,
            ..crate::geometry::Surface::default()
        };
        FloorFromCamera::whole_picture(SIZE.0 as u32, SIZE.1 as u32, &surface)
    }

    fn round(watch: &mut DriftWatch, levels: &[u8]) -> Option<Drift> {
        for _ in 1..watch.marks() {
            assert_eq!(watch.look(&seen(levels)), None);
        }
        watch
            .look(&seen(levels))
            .expect("a round is over after its last mark")
    }

    fn watch() -> DriftWatch {
        let marks = texture_marks(&seen(&picture(DVec2::ZERO, 1.0, 2.5, 1)), &map(), |_| true);
        assert_eq!(marks.len(), MARKS_MAX);
        DriftWatch::new(&marks, &map()).expect("there are marks")
    }

    #[test]
    fn shifts_are_measured_to_a_third_of_a_pixel() {
        let mut watch = watch();
        for (i, shift) in [
            DVec2::ZERO,
            DVec2::new(0.5, 0.0),
            DVec2::new(3.3, -2.1),
            DVec2::new(-9.0, 8.6),
        ]
        .into_iter()
        .enumerate()
        {
            for gain in [1.0, 0.7, 1.3] {
                let levels = picture(shift, gain, 2.5, 7 + i as u64);
                let drift = round(&mut watch, &levels).expect("the floor is in full view");
                assert!(
                    (drift.shift_px - shift.length()).abs() < 0.33,
                    "{shift} {gain}: {drift:?}"
                );
                assert!(
                    (drift.shift_m - 0.01 * shift.length()).abs() < 0.0033,
                    "{drift:?}"
                );
            }
        }
    }

    #[test]
    fn a_camera_that_was_turned_about_its_axis_has_moved() {
        let mut watch = watch();
        let center = map().lens().center_px();
        let levels: Vec<u8> = (0..SIZE.0 * SIZE.1)
            .map(|i| {
                let at = DVec2::new((i % SIZE.0) as f64, (i / SIZE.0) as f64);
                let at = center + DVec2::from_angle(0.04).rotate(at - center);
                let shade =
                    40.0 * texture(at / 7.0) + 25.0 * texture(at / 19.0 + DVec2::splat(40.0));
                (90.0 + shade) as u8
            })
            .collect();
        let drift = round(&mut watch, &levels).expect("the floor is in full view");
        // A quarter's marks lie about 100 px from the middle.
        assert!((2.0..6.0).contains(&drift.shift_px), "{drift:?}");
    }

    #[test]
    fn who_stands_on_marks_does_not_move_the_floor() {
        let mut watch = watch();
        let mut levels = picture(DVec2::new(1.0, 1.0), 1.0, 2.5, 3);
        // Dark people over almost half of the floor.
        for y in 40..200 {
            for x in (30..290).filter(|x| x / 30 % 2 == 0) {
                levels[y * SIZE.0 + x] = 12 + (x * y % 5) as u8;
            }
        }
        let drift = round(&mut watch, &levels).expect("marks are left over");
        assert!((drift.shift_px - 2_f64.sqrt()).abs() < 0.2, "{drift:?}");
        assert!(drift.marks < watch.marks());
    }

    #[test]
    fn nothing_is_told_of_what_cannot_be_seen() {
        let mut watch = watch();
        assert_eq!(round(&mut watch, &vec![90; SIZE.0 * SIZE.1]), None);
        assert_eq!(
            round(&mut watch, &picture(DVec2::splat(60.0), 1.0, 2.5, 9)),
            None
        );
        assert_eq!(round(&mut watch, &[]), None, "a picture of another size");
    }

    #[test]
    fn a_bare_floor_has_no_marks() {
        let mut noise = picture(DVec2::ZERO, 0.0, 2.5, 5);
        for level in &mut noise {
            *level = level.wrapping_add(90);
        }
        assert_eq!(texture_marks(&seen(&noise), &map(), |_| true), []);
        assert_eq!(texture_marks(&seen(&[]), &map(), |_| true), []);
        assert!(DriftWatch::new(&[], &map()).is_none());
    }

    #[test]
    fn marks_lie_where_the_map_knows_the_floor_and_nobody_stands() {
        let levels = picture(DVec2::ZERO, 1.0, 2.5, 1);
        let marks = texture_marks(&seen(&levels), &map(), |p| p.x < 160.0);
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
