//! Detects that the camera has moved since its calibration, from marks in the texture of the floor.
//!
//! Input: texture marks from the time of the calibration, and later frames. Output: the distance that the floor has moved in
//! the frame, in pixels and in meters on the floor, or that the marks are gone. This file must not raise an alarm, ask a clock, or use a camera.
//!
//! A mark that a visitor covers is not found, so it has no effect. The result is the median shift of the found marks, if enough
//! marks are found. Otherwise most marks may be gone, because the camera was moved further than marks are searched for. A mark is
//! gone if nothing covers its place, which is as well lit as at the calibration and shows the same as a round ago, but not the mark.

use glam::DVec2;

use crate::geometry::FloorFromCamera;

use super::texture::{FloorFrame, MarkTemplate, Patch, TextureMark};

/// Minimum number of found marks for a result.
const FOUND_MIN: usize = 5;
/// Minimum share of all marks that must be found for a result.
const FOUND_SHARE: f64 = 0.3;
/// Minimum share of all marks that are gone if the camera was moved far.
const GONE_SHARE: f64 = 0.5;
/// Number of nearest found marks with which a found mark is compared.
const NEIGHBORS: usize = 3;
/// Difference between the shifts of two neighbors that measurement explains, in pixels.
const AGREE_PX: f64 = 1.0;
/// Difference between the shifts of two neighbors that a turned camera explains, per pixel of their distance.
const AGREE_SHARE: f64 = 0.04;
/// Minimum number of found marks in one quarter of the frame for a result from that quarter alone.
const QUARTER_MIN: usize = 4;

/// Distance that the floor has moved in the camera's view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Median shift in the frame, in pixels.
    pub shift_px: f64,
    /// Median shift on the floor, in meters.
    pub shift_m: f64,
    /// Number of marks that were found.
    pub marks: usize,
}

/// Result of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DriftRound {
    /// Enough marks were found.
    Measured(Drift),
    /// Too few marks were found, and nothing explains this except that the floor in the frame is another one.
    Gone,
    /// Too few marks can be seen, so the drift is unknown.
    Unknown,
}

/// Measures the drift of the camera. Searches for one mark per call, so that the cost per frame is small.
#[derive(Clone, Debug)]
pub struct DriftDetector {
    map: FloorFromCamera,
    marks: Vec<MarkTemplate>,
    next: usize,
    /// Marks found in the current round.
    found: Vec<Found>,
    /// What the last round showed at the place of each mark; `None` where the mark was found, or its place could not be seen.
    places: Vec<Option<Patch>>,
    /// Number of marks that are gone in the current round.
    gone: usize,
}

/// A found mark: its original position in the frame, and its shift since then.
#[derive(Clone, Copy, Debug)]
struct Found {
    original_px: DVec2,
    shift_px: DVec2,
    shift_m: DVec2,
    /// Whether most of its neighbors have moved in the same way.
    is_confirmed: bool,
}

impl DriftDetector {
    /// Creates a detector for these marks, or returns `None` if there are too few marks for a result.
    pub fn new(marks: &[TextureMark], map: &FloorFromCamera) -> Option<Self> {
        let marks: Vec<MarkTemplate> = marks.iter().filter_map(MarkTemplate::of).collect();
        (marks.len() >= FOUND_MIN).then(|| Self {
            found: Vec::with_capacity(marks.len()),
            places: vec![None; marks.len()],
            marks,
            map: *map,
            next: 0,
            gone: 0,
        })
    }

    /// Returns the number of marks.
    pub fn mark_count(&self) -> usize {
        self.marks.len()
    }

    /// Starts the round again, for frames of another source.
    pub fn restart(&mut self) {
        (self.next, self.gone) = (0, 0);
        self.found.clear();
        self.places.fill(None);
    }

    /// Searches for the next mark in a frame, which must have the same size as at the calibration. `is_covered` says whether a
    /// visitor covers a pixel. Returns `None` before the last mark, and the result of the round after it.
    pub fn observe(
        &mut self,
        frame: &FloorFrame<'_>,
        is_covered: impl Fn(DVec2) -> bool,
    ) -> Option<DriftRound> {
        let mark = self.marks.get(self.next)?;
        let place = self.places.get_mut(self.next)?;
        let found = mark.find(frame);
        let is_visible = found.is_none() && !is_covered(mark.position());
        let shown = is_visible.then(|| mark.place(frame)).flatten();
        if let (Some(before), Some(shown)) = (&*place, &shown) {
            self.gone += usize::from(mark.is_still(before, shown));
        }
        *place = shown;
        if let Some(at) = found {
            let original_px = mark.position();
            let shift_m = self.map.floor_from_camera(at) - self.map.floor_from_camera(original_px);
            if shift_m.is_finite() {
                self.found.push(Found {
                    original_px,
                    shift_px: at - original_px,
                    shift_m,
                    is_confirmed: false,
                });
            }
        }
        self.next += 1;
        if self.next < self.marks.len() {
            return None;
        }
        keep_confirmed(&mut self.found);
        let round = match self.evaluate() {
            Some(drift) => DriftRound::Measured(drift),
            None if self.gone >= self.least(GONE_SHARE) => DriftRound::Gone,
            None => DriftRound::Unknown,
        };
        (self.next, self.gone) = (0, 0);
        self.found.clear();
        Some(round)
    }

    /// Returns the number of marks that is this share of all, but enough for a result.
    fn least(&self, share: f64) -> usize {
        FOUND_MIN.max((share * self.marks.len() as f64).ceil() as usize)
    }

    /// Returns the larger of two shifts: the median over all marks, and the largest median over the marks of one quarter of the
    /// frame. The quarters are needed because their shifts cancel out if the camera was rotated about its axis.
    fn evaluate(&mut self) -> Option<Drift> {
        let count = self.found.len();
        if count < self.least(FOUND_SHARE) {
            return None;
        }
        let lens = self.map.lens();
        let quarter = |found: &Found| {
            let beyond = found.original_px.cmpgt(lens.center_px());
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

/// Keeps the marks with whose shift most of their [`NEIGHBORS`] agree. For other marks, something similar was found.
fn keep_confirmed(found: &mut Vec<Found>) {
    for index in 0..found.len() {
        let mark = found[index];
        let mut nearest = [(f64::INFINITY, false); NEIGHBORS];
        for (_, other) in found.iter().enumerate().filter(|(i, _)| *i != index) {
            let distance_px = other.original_px.distance(mark.original_px);
            let agrees =
                other.shift_px.distance(mark.shift_px) <= AGREE_PX + AGREE_SHARE * distance_px;
            let mut candidate = (distance_px, agrees);
            for place in &mut nearest {
                if candidate.0 < place.0 {
                    std::mem::swap(place, &mut candidate);
                }
            }
        }
        let agreeing = nearest.iter().filter(|(_, agrees)| *agrees).count();
        found[index].is_confirmed = agreeing > NEIGHBORS / 2;
    }
    found.retain(|mark| mark.is_confirmed);
}

/// Returns the length of the median shift in the frame (pixels) and on the floor (meters). The medians of x and y are computed
/// separately. For an even number of marks, the smaller of the two middle values is used, because half of the marks are not a
/// majority.
fn median_of(found: &mut [Found]) -> (f64, f64) {
    let mut median = |value: &dyn Fn(&Found) -> f64| {
        let (middle, is_even) = (found.len() / 2, found.len().is_multiple_of(2));
        let (below, at, _) =
            found.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)));
        let above = value(at);
        let below = below.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        if is_even && below.abs() < above.abs() {
            below
        } else {
            above
        }
    };
    let in_frame = DVec2::new(median(&|f| f.shift_px.x), median(&|f| f.shift_px.y));
    let on_floor = DVec2::new(median(&|f| f.shift_m.x), median(&|f| f.shift_m.y));
    (in_frame.length(), on_floor.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{
        FLOOR_SIZE as SIZE, floor_frame as frame, floor_map as map, floor_texture as texture,
        frame_of, noisy,
    };
    use crate::calibration::texture::{MeanFrame, find_texture_marks};
    use shoal_testing::assert_near;

    fn outcome(
        detector: &mut DriftDetector,
        levels: &[u8],
        is_covered: impl Fn(DVec2) -> bool,
    ) -> DriftRound {
        for _ in 1..detector.mark_count() {
            assert_eq!(detector.observe(&frame_of(levels), &is_covered), None);
        }
        detector.observe(&frame_of(levels), is_covered).unwrap()
    }

    fn full_round(detector: &mut DriftDetector, levels: &[u8]) -> Option<Drift> {
        match outcome(detector, levels, |_| false) {
            DriftRound::Measured(drift) => Some(drift),
            DriftRound::Gone | DriftRound::Unknown => None,
        }
    }

    fn detector() -> DriftDetector {
        let marks = find_texture_marks(&frame_of(&frame(DVec2::ZERO, 1.0, 2.5, 1)), &map(), |_| {
            true
        });
        assert!(marks.len() > 20, "{}", marks.len());
        DriftDetector::new(&marks, &map()).unwrap()
    }

    #[test]
    fn shifts_are_measured_to_a_third_of_a_pixel() {
        let mut detector = detector();
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
                let levels = frame(shift, gain, 2.5, 7 + i as u64);
                let drift = full_round(&mut detector, &levels).unwrap();
                assert!(
                    (drift.shift_px - shift.length()).abs() < 0.33,
                    "{shift} {gain}: {drift:?}"
                );
                assert_near(drift.shift_m, 0.01 * shift.length(), 0.0033);
            }
        }
    }

    /// Returns the mean of several frames of a floor that is shifted by `shift_px`. The texture of the floor is fainter than
    /// the noise of one frame.
    fn faint(shift_px: DVec2, frames: u64, seed: u64) -> MeanFrame {
        let mut mean = MeanFrame::default();
        for number in 0..frames {
            let shade = |at: DVec2| 90.0 + 28.0 * texture((at - shift_px) / 7.0);
            mean.add(&frame_of(&noisy(shade, 6.0, seed + number)));
        }
        mean.finish();
        mean
    }

    #[test]
    fn faint_texture_is_found_in_the_mean_of_noisy_frames() {
        let learned = faint(DVec2::ZERO, 60, 100);
        let marks = find_texture_marks(&learned.frame(), &map(), |_| true);
        let mut detector = DriftDetector::new(&marks, &map()).unwrap();
        let moved = DVec2::new(3.0, -1.0);
        let single = full_round(&mut detector, faint(moved, 1, 300).frame().levels);
        let mean = full_round(&mut detector, faint(moved, 15, 300).frame().levels);
        assert_eq!(single, None, "a single frame is too noisy");
        let drift = mean.unwrap();
        assert!(drift.marks > detector.mark_count() / 2, "{drift:?}");
        assert!((drift.shift_px - moved.length()).abs() < 0.33, "{drift:?}");
    }

    #[test]
    fn a_rotation_about_the_camera_axis_is_detected() {
        let mut detector = detector();
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
        let drift = full_round(&mut detector, &levels).unwrap();
        // The marks in each quarter are about 100 px from the center.
        assert!((2.0..6.0).contains(&drift.shift_px), "{drift:?}");
    }

    #[test]
    fn half_of_the_marks_are_no_majority() {
        let of = |shifts_px: &[f64]| {
            let found = shifts_px.iter().map(|&px| Found {
                original_px: DVec2::ZERO,
                shift_px: DVec2::new(px, 0.0),
                shift_m: DVec2::new(0.01 * px, 0.0),
                is_confirmed: false,
            });
            median_of(&mut found.collect::<Vec<_>>()).0
        };
        assert_eq!(of(&[9.4, 0.03, 9.0, -0.04]), 0.03);
        assert_eq!(of(&[-9.4, 0.03, -9.0, -0.04]), 0.04);
        assert_eq!(of(&[9.4, 0.03, 9.0]), 9.0);
        assert_eq!(of(&[9.4, 9.1, 9.0, 9.2]), 9.1);
    }

    #[test]
    fn covered_marks_do_not_change_the_result() {
        let mut detector = detector();
        let mut levels = frame(DVec2::new(1.0, 1.0), 1.0, 2.5, 3);
        // Dark columns, like visitors, cover almost half of the floor.
        for y in 40..200 {
            for x in (30..290).filter(|x| x / 30 % 2 == 0) {
                levels[y * SIZE.0 + x] = 12 + (x * y % 5) as u8;
            }
        }
        let drift = full_round(&mut detector, &levels).unwrap();
        assert!((drift.shift_px - 2_f64.sqrt()).abs() < 0.2, "{drift:?}");
        assert!(drift.marks < detector.mark_count());
    }

    /// A fixed bug: a camera that was moved further than marks are searched for was not reported.
    #[test]
    fn marks_that_are_no_longer_where_they_were_are_gone() {
        for shift in [
            DVec2::new(9.0, 14.0),
            DVec2::new(40.0, 0.0),
            DVec2::new(-100.0, 60.0),
        ] {
            let mut detector = detector();
            let mut round = |shift: DVec2, gain: f64, seed: u64| {
                outcome(&mut detector, &frame(shift, gain, 2.5, seed), |_| false)
            };
            assert!(matches!(
                round(DVec2::ZERO, 1.0, 2),
                DriftRound::Measured(_)
            ));
            // Until the next round shows the same, it may be something that passes.
            assert_eq!(round(shift, 1.0, 3), DriftRound::Unknown, "{shift}");
            assert_eq!(round(shift, 0.8, 4), DriftRound::Gone, "{shift}");
            assert_eq!(round(shift, 1.2, 5), DriftRound::Gone, "{shift}");
            assert!(matches!(
                round(DVec2::ZERO, 1.0, 6),
                DriftRound::Measured(_)
            ));
        }
    }

    /// Returns a floor without texture on which a cross of tape lies in each quarter.
    fn taped(shift_px: DVec2, seed: u64) -> Vec<u8> {
        let crosses = [80.0, 240.0].map(|x| [60.0, 180.0].map(|y| DVec2::new(x, y)));
        let is_tape = |at: DVec2| {
            crosses.as_flattened().iter().any(|cross| {
                let off = (at - shift_px - *cross).abs();
                off.max_element() < 22.0 && off.min_element() < 3.0
            })
        };
        noisy(|at| if is_tape(at) { 40.0 } else { 100.0 }, 1.0, seed)
    }

    #[test]
    fn crosses_of_tape_on_a_plain_floor_are_enough() {
        let marks = find_texture_marks(&frame_of(&taped(DVec2::ZERO, 1)), &map(), |_| true);
        let mut detector = DriftDetector::new(&marks, &map()).unwrap();
        let still = full_round(&mut detector, &taped(DVec2::ZERO, 2)).unwrap();
        assert!(still.shift_px < 0.3, "{still:?}");
        let moved = DVec2::new(9.0, 14.0);
        outcome(&mut detector, &taped(moved, 3), |_| false);
        let round = outcome(&mut detector, &taped(moved, 4), |_| false);
        assert_eq!(round, DriftRound::Gone);
    }

    /// A fixed bug: marks that were mistaken for similar places of the floor gave a small shift of a camera that was moved far.
    #[test]
    fn marks_that_moved_in_different_ways_are_mistaken() {
        let mut random = 1_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as f64 / f64::from(1_u32 << 31)
        };
        for _ in 0..200 {
            let mark = |i: usize, shift_px: DVec2| Found {
                original_px: DVec2::new((i % 6) as f64 * 90.0, (i / 6) as f64 * 90.0),
                shift_px,
                shift_m: 0.01 * shift_px,
                is_confirmed: false,
            };
            let mut mistaken: Vec<Found> = (0..12)
                .map(|i| mark(2 * i, 26.0 * DVec2::new(next(), next()) - 13.0))
                .collect();
            keep_confirmed(&mut mistaken);
            assert!(mistaken.len() < 8, "{}", mistaken.len());
            let turned = |i: usize| {
                let at = mark(i, DVec2::ZERO).original_px - DVec2::new(225.0, 135.0);
                mark(i, DVec2::from_angle(0.03).rotate(at) - at)
            };
            let mut found: Vec<Found> = (0..24).map(turned).collect();
            keep_confirmed(&mut found);
            assert_eq!(found.len(), 24);
        }
    }

    #[test]
    fn marks_are_not_gone_if_something_hides_them() {
        type Pictures<'p> = &'p dyn Fn(u64) -> Vec<u8>;
        let moved = |number: u64| frame(DVec2::new(30.0, 30.0), 1.0, 2.5, 50 + number);
        let dark = |number: u64| frame(DVec2::ZERO, 0.05, 0.5, 50 + number);
        let glaring = |number: u64| frame(DVec2::ZERO, 9.0, 2.5, 50 + number);
        // People who walk over all of the floor.
        let crowd = |number: u64| {
            let off = DVec2::new(17.0 * number as f64, 300.0);
            noisy(|at| 90.0 + 70.0 * texture(at / 3.0 + off), 2.5, number)
        };
        let pictures: [(&str, Pictures<'_>, bool); 4] = [
            ("covered", &moved, true),
            ("dark", &dark, false),
            ("glaring", &glaring, false),
            ("crowd", &crowd, false),
        ];
        for (name, picture, is_covered) in pictures {
            let mut detector = detector();
            for number in 1..6 {
                let round = outcome(&mut detector, &picture(number), |_| is_covered);
                assert_eq!(round, DriftRound::Unknown, "{name}");
            }
        }
    }

    #[test]
    fn there_is_no_result_without_visible_marks() {
        let mut detector = detector();
        assert_eq!(full_round(&mut detector, &vec![90; SIZE.0 * SIZE.1]), None);
        assert_eq!(
            full_round(&mut detector, &frame(DVec2::splat(60.0), 1.0, 2.5, 9)),
            None
        );
        // A frame of another size.
        assert_eq!(full_round(&mut detector, &[]), None);
    }
}
