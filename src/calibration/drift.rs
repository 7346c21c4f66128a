//! Detects that the camera has moved since its calibration, from marks in the texture of the floor.
//!
//! Input: texture marks from the time of the calibration, and later frames. Output: the distance that the floor has moved in
//! the frame, in pixels and in meters on the floor. This file must not raise an alarm, ask a clock, or use a camera.
//!
//! A mark that a visitor covers is not found, so it has no effect. The result is the median shift of the found marks, if enough
//! marks are found.

use glam::DVec2;

use crate::geometry::FloorFromCamera;

use super::texture::{FloorFrame, MarkTemplate, TextureMark};

/// Minimum number of found marks for a result.
const FOUND_MIN: usize = 5;
/// Minimum share of all marks that must be found for a result.
const FOUND_SHARE: f64 = 0.3;
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

/// Measures the drift of the camera. Searches for one mark per call, so that the cost per frame is small.
#[derive(Clone, Debug)]
pub struct DriftDetector {
    map: FloorFromCamera,
    marks: Vec<MarkTemplate>,
    next: usize,
    /// Marks found in the current round.
    found: Vec<Found>,
}

/// A found mark: its original position in the frame, and its shift since then.
#[derive(Clone, Copy, Debug)]
struct Found {
    original_px: DVec2,
    shift_px: DVec2,
    shift_m: DVec2,
}

impl DriftDetector {
    /// Creates a detector for these marks, or returns `None` if there are too few marks for a result.
    pub fn new(marks: &[TextureMark], map: &FloorFromCamera) -> Option<Self> {
        let marks: Vec<MarkTemplate> = marks.iter().filter_map(MarkTemplate::of).collect();
        (marks.len() >= FOUND_MIN).then(|| Self {
            found: Vec::with_capacity(marks.len()),
            marks,
            map: *map,
            next: 0,
        })
    }

    /// Returns the number of marks.
    pub fn mark_count(&self) -> usize {
        self.marks.len()
    }

    /// Searches for the next mark in a frame, which must have the same size as at the calibration. Returns `None` before the
    /// last mark. After the last mark, returns `Some` with the result of the round, which is `None` if too few marks were
    /// found.
    pub fn observe(&mut self, frame: &FloorFrame<'_>) -> Option<Option<Drift>> {
        let mark = self.marks.get(self.next)?;
        if let Some(at) = mark.find(frame) {
            let original_px = mark.position();
            let shift_m = self.map.floor_from_camera(at) - self.map.floor_from_camera(original_px);
            if shift_m.is_finite() {
                self.found.push(Found {
                    original_px,
                    shift_px: at - original_px,
                    shift_m,
                });
            }
        }
        self.next += 1;
        if self.next < self.marks.len() {
            return None;
        }
        self.next = 0;
        let drift = self.evaluate();
        self.found.clear();
        Some(drift)
    }

    /// Returns the larger of two shifts: the median over all marks, and the largest median over the marks of one quarter of the
    /// frame. The quarters are needed because their shifts cancel out if the camera was rotated about its axis.
    fn evaluate(&mut self) -> Option<Drift> {
        let count = self.found.len();
        let least = FOUND_MIN.max((FOUND_SHARE * self.marks.len() as f64).ceil() as usize);
        if count < least {
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

    fn full_round(detector: &mut DriftDetector, levels: &[u8]) -> Option<Drift> {
        for _ in 1..detector.mark_count() {
            assert_eq!(detector.observe(&frame_of(levels)), None);
        }
        detector.observe(&frame_of(levels)).unwrap()
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
