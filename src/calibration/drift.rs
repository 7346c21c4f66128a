//! Whether the camera still sees the floor where it was calibrated: the slow watch over marks in the floor's own texture.
//!
//! In: marks of the floor from when it was calibrated, later pictures of it. Out: how far the floor has moved in the
//! picture, in pixels and in millimeters on the floor. Must not: raise an alarm, ask a clock, touch a camera.
//!
//! A mark that somebody stands on is not found and tells nothing. The median over the marks that are found is believed
//! only when many are.

use glam::DVec2;

use crate::geometry::FloorFromCamera;

use super::texture::{FloorPicture, Mark, TextureMark};

/// So many marks, and this part of all, must be found.
const FOUND_MIN: usize = 5;
const FOUND_SHARE: f64 = 0.3;
/// And so many in a quarter of the picture for that to be heard by itself.
const QUARTER_MIN: usize = 4;

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
            let place = mark.place();
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

/// Lengths of the medians of shifts, in the picture and on the floor; each direction by itself. Of the two in the middle
/// of an even number it is the lesser: what half of the marks say is no majority.
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
    let in_picture = DVec2::new(median(&|f| f.shift_px.x), median(&|f| f.shift_px.y));
    let on_floor = DVec2::new(median(&|f| f.shift_m.x), median(&|f| f.shift_m.y));
    (in_picture.length(), on_floor.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::sample::{
        FLOOR_SIZE as SIZE, floor_map as map, floor_picture as picture, floor_texture as texture,
        noisy, seen,
    };
    use crate::calibration::texture::{MeanPicture, texture_marks};

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
        assert!(marks.len() > 20, "{}", marks.len());
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

    /// The mean of some pictures of a floor whose texture is fainter than the noise of each, moved by `shift_px`.
    fn faint(shift_px: DVec2, pictures: u64, seed: u64) -> MeanPicture {
        let mut mean = MeanPicture::default();
        for number in 0..pictures {
            let shade = |at: DVec2| 90.0 + 28.0 * texture((at - shift_px) / 7.0);
            mean.add(&seen(&noisy(shade, 6.0, seed + number)));
        }
        mean.finish();
        mean
    }

    #[test]
    fn faint_texture_is_found_in_the_mean_of_noisy_pictures() {
        let learned = faint(DVec2::ZERO, 60, 100);
        let marks = texture_marks(&learned.picture(), &map(), |_| true);
        let mut watch = DriftWatch::new(&marks, &map()).expect("there are marks");
        let moved = DVec2::new(3.0, -1.0);
        let one = round(&mut watch, faint(moved, 1, 300).picture().levels);
        let mean = round(&mut watch, faint(moved, 15, 300).picture().levels);
        assert_eq!(one, None, "a picture alone is too noisy");
        let drift = mean.expect("the mean is not");
        assert!(drift.marks > watch.marks() / 2, "{drift:?}");
        assert!((drift.shift_px - moved.length()).abs() < 0.33, "{drift:?}");
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
    fn half_of_the_marks_are_no_majority() {
        let of = |shifts_px: &[f64]| {
            let found = shifts_px.iter().map(|&px| Found {
                place: DVec2::ZERO,
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
}
