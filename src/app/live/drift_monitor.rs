//! Checks whether the camera has moved since its calibration. Schedules the search for the floor's marks, and decides whether a
//! shift of the marks is an alarm.
//!
//! In: frames. Out: a [`DriftStatus`], and a fault when the camera has moved. Must not: find marks; [`crate::calibration`] finds them.
//!
//! One round averages the frames of half a second, so that weak texture is visible above the noise. In the next second, the
//! monitor searches for all marks in this mean picture. It searches for a few marks per frame, so that no frame takes much
//! longer.

use glam::DVec2;

use crate::calibration::{
    Calibration, Drift, DriftDetector, DriftRound, FloorFrame, MeanFrame, find_texture_marks,
};
use crate::camera::{Frame, UsedBits};
use crate::control::{DriftStatus, Journal};
use crate::runtime::Fault;
use crate::vision::Vision;

/// Time from the start of one round to the start of the next, in seconds.
const ROUND_SECS: f64 = 3.0;
/// Time over which frames are averaged in a round, in seconds.
const MEAN_SECS: f64 = 0.5;
/// Duration of the search for the marks after averaging, in seconds.
const SEARCH_SECS: f64 = 1.0;
/// Time from the first frame until marks are chosen for a calibration that has none, in seconds. By then the background model
/// is stable.
const FIRST_MARKS_SECS: f64 = 3.0;
/// If a floor has no texture that is suitable for marks, time until the next attempt to choose marks, in seconds.
const NO_TEXTURE_SECS: f64 = 60.0;
/// Number of rounds with a shift above the limit, or without the marks, that raise the alarm if no round between them is good.
const ALARM_ROUNDS: u32 = 2;
/// Change of the shift from one round to the next, in camera pixels, above which the camera was knocked, even if the shift is
/// within the limit.
const SUDDEN_PX: f64 = 2.0;

/// State of the drift check for one calibration, and its result.
pub(crate) struct DriftMonitor {
    watch: Option<DriftDetector>,
    /// Timestamp at which the next round starts, in seconds. Without marks, the timestamp at which marks are chosen.
    begin_secs: Option<f64>,
    mean: MeanFrame,
    /// Number of marks that were searched for in this round; `None` while frames are averaged.
    searched: Option<usize>,
    status: Option<DriftStatus>,
    /// Shift in the last round that was not sudden, in camera pixels.
    last_px: Option<f64>,
    /// Number of rounds with a shift above the limit, or without the marks, since the last good round.
    above: u32,
    used_bits: UsedBits,
    fault: Fault,
}

impl DriftMonitor {
    /// Creates a monitor for the marks of a calibration.
    pub(crate) fn new(calibration: Option<&Calibration>, journal: &Journal) -> Self {
        let watch = calibration.and_then(|c| {
            let map = c
                .floor_from_camera(c.picture.width_px, c.picture.height_px)
                .ok()?;
            DriftDetector::new(&c.marks, &map)
        });
        Self {
            watch,
            begin_secs: None,
            mean: MeanFrame::default(),
            searched: None,
            status: None,
            last_px: None,
            above: 0,
            used_bits: UsedBits::default(),
            fault: journal.fault("camera_moved"),
        }
    }

    /// Starts the round again, because the frames come from another source. An alarm stays until a round is good.
    pub(crate) fn restart(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.restart();
        }
        self.begin_secs = None;
        self.mean.clear();
        self.searched = None;
        self.status = None;
    }

    /// Returns how far the camera has moved; `None` if that is unknown.
    pub(crate) fn status(&self) -> Option<DriftStatus> {
        self.status
    }

    /// Processes a frame that `vision` has already processed. Returns true when a round is complete and [`Self::status`] has
    /// changed. `levels` is scratch memory.
    ///
    /// If a calibration has no marks, marks are chosen in the background model. The shift is then measured from the position
    /// that the camera has at that time.
    pub(crate) fn observe(
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
                let marks = find_texture_marks(&FloorFrame { levels, width_px }, &map, |_| true);
                self.watch = DriftDetector::new(&marks, &map);
            }
            // The search for marks in the whole picture is slow, so if the floor has no texture, it is repeated only once a
            // minute.
            let wait_secs = if self.watch.is_some() {
                0.0
            } else {
                NO_TEXTURE_SECS
            };
            self.begin_secs = Some(frame.time_secs + wait_secs);
            return false;
        };
        let Some(searched) = &mut self.searched else {
            self.used_bits.observe(&frame.luma);
            self.used_bits.write_eight_bit(&frame.luma, levels);
            let width_px = frame.width_px as usize;
            self.mean.add(&FloorFrame { levels, width_px });
            if secs >= MEAN_SECS {
                self.mean.finish();
                self.searched = Some(0);
            }
            return false;
        };
        let share = (secs - MEAN_SECS) / SEARCH_SECS;
        while (*searched as f64) < share * watch.mark_count() as f64 {
            *searched += 1;
            let is_covered =
                |at: DVec2| vision.is_some_and(|v| v.is_foreground(at.x as usize, at.y as usize));
            if let Some(round) = watch.observe(&self.mean.frame(), is_covered) {
                self.searched = None;
                self.begin_secs = Some((begin_secs + ROUND_SECS).max(frame.time_secs));
                match round {
                    DriftRound::Measured(drift) => self.evaluate(drift, allowed_m),
                    DriftRound::Gone => self.miss_marks(),
                    DriftRound::Unknown => self.status = None,
                }
                return true;
            }
        }
        false
    }

    /// Evaluates a round in which the marks are gone.
    fn miss_marks(&mut self) {
        self.status = None;
        self.above += 1;
        if self.above >= ALARM_ROUNDS {
            self.fault.raise(
                &"drift: the marks of the floor are no longer where they were at the calibration: the camera was moved far, or something \
                  covers the floor; calibrate the camera again, or clear the floor",
            );
        }
    }

    /// Evaluates a round in which the marks were found.
    fn evaluate(&mut self, drift: Drift, allowed_m: f64) {
        let is_sudden = self
            .last_px
            .is_some_and(|last| (drift.shift_px - last).abs() > SUDDEN_PX);
        // If the camera moved during a round, the measured shift lies between the old and the new one. The next round decides.
        if !is_sudden {
            self.last_px = Some(drift.shift_px);
        }
        self.above = if is_sudden || drift.shift_m > allowed_m {
            self.above + 1
        } else {
            0
        };
        let is_alarm = self.above >= ALARM_ROUNDS;
        if is_alarm {
            self.fault.raise(&format!(
                "drift: the camera has moved: the floor is shifted by {:.0} mm ({:.1} px) since the calibration, {:.0} mm are allowed; \
                 calibrate the camera again",
                drift.shift_m * 1e3,
                drift.shift_px,
                allowed_m * 1e3
            ));
        } else if self.above == 0 {
            self.fault.clear();
        }
        tracing::trace!(
            "drift: {:.2} px, {:.1} mm",
            drift.shift_px,
            drift.shift_m * 1e3
        );
        self.status = Some(DriftStatus {
            shift_m: drift.shift_m,
            shift_px: drift.shift_px,
            is_alarm,
        });
    }
}
