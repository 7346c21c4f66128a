//! The slow watch over the camera's place: when marks are looked for, and when what they say is an alarm.
//!
//! In: frames, a mark at a time. Out: a [`DriftStatus`], a warning in the log when the camera has moved, and one when
//! nothing can be told any more. Must not: find marks; [`crate::calibration`] does.

use crate::calibration::{Calibration, DriftWatch, FloorPicture, texture_marks};
use crate::camera::{Frame, UsedBits};
use crate::control::DriftStatus;

use super::supervise::Trouble;

/// A round over all marks of the floor is spread over about so long.
const ROUND_SECS: f64 = 3.0;
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
    next_secs: Option<f64>,
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
            next_secs: None,
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

    /// Takes a frame in, and looks for one mark of the floor if it is time; true when a round is over, and [`Self::status`]
    /// is new. `levels` is memory for the picture.
    ///
    /// A calibration without marks is given those of this floor, which are as good as the camera's place is now.
    pub fn observe(
        &mut self,
        frame: &Frame,
        calibration: &Calibration,
        levels: &mut Vec<u8>,
        allowed_m: f64,
    ) -> bool {
        let size = (frame.width_px, frame.height_px);
        let calibrated = calibration.picture;
        if (calibrated.width_px, calibrated.height_px) != size || !self.is_due(frame.time_secs) {
            return false;
        }
        self.used_bits.observe(&frame.luma);
        self.used_bits.write_eight_bit(&frame.luma, levels);
        let picture = FloorPicture {
            levels,
            width_px: frame.width_px as usize,
        };
        if self.watch.is_none()
            && let Ok(map) = calibration.floor_from_camera(size.0, size.1)
        {
            self.watch = DriftWatch::new(&texture_marks(&picture, &map, |_| true), &map);
            if self.watch.is_none() {
                // Looking for marks all over the picture takes its time; a bare floor is not asked again and again.
                self.next_secs = self.next_secs.map(|due_secs| due_secs + BARE_SECS);
            }
            return false;
        }
        self.look(&picture, allowed_m)
    }

    /// Whether it is time for the next mark.
    fn is_due(&mut self, time_secs: f64) -> bool {
        let first_secs = match self.watch {
            Some(_) => time_secs,
            None => time_secs + FIRST_MARKS_SECS,
        };
        let due_secs = *self.next_secs.get_or_insert(first_secs);
        if time_secs < due_secs {
            return false;
        }
        let marks = self.watch.as_ref().map_or(1, DriftWatch::marks);
        self.next_secs = Some((due_secs + ROUND_SECS / marks as f64).max(time_secs));
        true
    }

    fn look(&mut self, picture: &FloorPicture<'_>, allowed_m: f64) -> bool {
        let Some(round) = self.watch.as_mut().and_then(|w| w.look(picture)) else {
            return false;
        };
        let Some(drift) = round else {
            self.status = None;
            self.lost += 1;
            if self.lost >= ROUNDS_LOST {
                self.trouble.happened(
                    &"the floor's marks have not been found for a minute: was the camera moved far, or is the floor covered? If it \
                      was moved, calibrate anew",
                );
            }
            return true;
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
        true
    }
}
