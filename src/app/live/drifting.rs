//! The slow watch over the camera's place: when marks are looked for, and when what they say is an alarm.
//!
//! In: frames. Out: a [`DriftStatus`], a warning in the log when the camera has moved, and one when
//! nothing can be told any more. Must not: find marks; [`crate::calibration`] does.
//!
//! A round over all marks takes the mean of half a second's frames, in which noise is fainter than faint texture, and looks
//! for the marks in it within another second, so that no frame costs much.

use crate::calibration::{
    Calibration, Drift, DriftWatch, FloorPicture, MeanPicture, texture_marks,
};
use crate::camera::{Frame, UsedBits};
use crate::control::DriftStatus;
use crate::vision::Vision;

use super::supervise::Trouble;

/// From one round over all marks of the floor to the next.
const ROUND_SECS: f64 = 3.0;
/// The frames of so long are averaged.
const MEAN_SECS: f64 = 0.5;
/// And the marks are looked for within so long.
const LOOK_SECS: f64 = 1.0;
/// A calibration that was made without a picture is given its marks so long after the first frame.
const FIRST_MARKS_SECS: f64 = 3.0;
/// And a floor on which none were found is looked at again after so long.
const BARE_SECS: f64 = 60.0;
/// A drift is told when so many rounds in a row say so, and that nothing can be told after so many.
const ROUNDS_ABOVE: u32 = 2;
const ROUNDS_LOST: u32 = 20;
/// A change this large from one round to the next is sudden, whatever is allowed in the long run.
const SUDDEN_PX: f64 = 2.0;

/// The rounds over the floor's marks, and what they say.
pub struct DriftRounds {
    watch: Option<DriftWatch>,
    /// When this round begins or began; before there are marks, when they are chosen.
    begin_secs: Option<f64>,
    mean: MeanPicture,
    /// Marks that were looked for in this round; `None` while frames are averaged.
    looked: Option<usize>,
    status: Option<DriftStatus>,
    last_px: Option<f64>,
    above: u32,
    lost: u32,
    used_bits: UsedBits,
    trouble: Trouble,
}

impl DriftRounds {
    /// Watches the marks of a calibration.
    pub fn of(calibration: Option<&Calibration>) -> Self {
        let watch = calibration.and_then(|c| {
            let map = c
                .floor_from_camera(c.picture.width_px, c.picture.height_px)
                .ok()?;
            DriftWatch::new(&c.marks, &map)
        });
        Self {
            watch,
            begin_secs: None,
            mean: MeanPicture::default(),
            looked: None,
            status: None,
            last_px: None,
            above: 0,
            lost: 0,
            used_bits: UsedBits::default(),
            trouble: Trouble::new("camera_moved"),
        }
    }

    /// How far the camera has moved; `None` where that cannot be told.
    pub fn status(&self) -> Option<DriftStatus> {
        self.status
    }

    /// Takes a frame in, that vision has seen, and goes on with the round; true when a round is over, and
    /// [`Self::status`] is new. `levels` is memory for the picture.
    ///
    /// A calibration without marks is given those of the floor that vision has learned, which are as good as the camera's
    /// place is now.
    pub fn observe(
        &mut self,
        (frame, vision): (&Frame, Option<&Vision>),
        calibration: &Calibration,
        levels: &mut Vec<u8>,
        allowed_m: f64,
    ) -> bool {
        let size = (frame.width_px, frame.height_px);
        let calibrated = calibration.picture;
        if (calibrated.width_px, calibrated.height_px) != size {
            return false;
        }
        let wait_secs = if self.watch.is_some() {
            0.0
        } else {
            FIRST_MARKS_SECS
        };
        let begin_secs = *(self.begin_secs).get_or_insert(frame.time_secs + wait_secs);
        let secs = frame.time_secs - begin_secs;
        if secs < 0.0 {
            return false;
        }
        let Some(watch) = &mut self.watch else {
            let map = calibration.floor_from_camera(size.0, size.1);
            if let (Ok(map), Some(vision)) = (map, vision) {
                let width_px = vision.write_background(levels);
                let marks = texture_marks(&FloorPicture { levels, width_px }, &map, |_| true);
                self.watch = DriftWatch::new(&marks, &map);
            }
            // Looking for marks all over the picture takes its time; a bare floor is not asked again and again.
            let wait_secs = if self.watch.is_some() { 0.0 } else { BARE_SECS };
            self.begin_secs = Some(frame.time_secs + wait_secs);
            return false;
        };
        let Some(looked) = &mut self.looked else {
            self.used_bits.observe(&frame.luma);
            self.used_bits.write_eight_bit(&frame.luma, levels);
            let width_px = frame.width_px as usize;
            self.mean.add(&FloorPicture { levels, width_px });
            if secs >= MEAN_SECS {
                self.mean.finish();
                self.looked = Some(0);
            }
            return false;
        };
        let share = (secs - MEAN_SECS) / LOOK_SECS;
        while (*looked as f64) < share * watch.marks() as f64 {
            *looked += 1;
            if let Some(drift) = watch.look(&self.mean.picture()) {
                self.looked = None;
                self.begin_secs = Some((begin_secs + ROUND_SECS).max(frame.time_secs));
                self.judge(drift, allowed_m);
                return true;
            }
        }
        false
    }

    /// Takes over what a round over all marks has found.
    fn judge(&mut self, round: Option<Drift>, allowed_m: f64) {
        let Some(drift) = round else {
            self.status = None;
            self.lost += 1;
            if self.lost >= ROUNDS_LOST {
                self.trouble.happened(
                    &"the floor's marks have not been found for a minute: was the camera moved far, or is the floor covered? If it \
                      was moved, calibrate anew",
                );
            }
            return;
        };
        self.lost = 0;
        let is_sudden = self
            .last_px
            .is_some_and(|last| (drift.shift_px - last).abs() > SUDDEN_PX);
        // A round during which the camera moved says something between: the next one decides.
        if !is_sudden {
            self.last_px = Some(drift.shift_px);
        }
        self.above = if is_sudden || drift.shift_m > allowed_m {
            self.above + 1
        } else {
            0
        };
        let is_alarm = self.above >= ROUNDS_ABOVE;
        if is_alarm {
            self.trouble.happened(&format!(
                "drift: the camera has moved: the floor is seen {:.0} mm ({:.1} px) from where it was calibrated, {:.0} mm are allowed; \
                 calibrate anew",
                drift.shift_m * 1e3,
                drift.shift_px,
                allowed_m * 1e3
            ));
        } else if self.above == 0 {
            self.trouble.over();
        }
        tracing::trace!(shift_px = drift.shift_px, shift_m = drift.shift_m, "drift");
        self.status = Some(DriftStatus {
            shift_m: drift.shift_m,
            shift_px: drift.shift_px,
            is_alarm,
        });
    }
}
