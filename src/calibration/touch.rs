//! Touch procedure: crosses are projected one by one. The technician puts an object (disc or pole) on each cross. As soon as
//! the object is still, its position in the camera frame is measured.
//!
//! Input: a [`SpotFrame`] for every frame, and the technician's commands. Output: the [`TouchTarget`] to show, an instruction
//! for the technician, and at the end a calibration or the targets to repeat. The time stamps of the frames are the only source
//! of time, so the same frames and commands give the same calibration. This file must not use a camera, a projector or a file.
//!
//! A spot counts as the object on the shown target if it appeared after the cross, does not move, and is the only such spot.

mod instruction;

use glam::DVec2;

use super::calibrate::calibrate;
use super::file::Calibration;
use super::params::CalibrationParams;
use super::points::{MeasuredPoint, PointOrigin};
use super::rejection::{POINTS_MIN, Rejection};
use super::report::{CalibrationReport, CalibrationSetup};
use super::spot::{DarkMask, DarkSpot, SpotFault, TargetObject};

/// Allowed number of rows and of columns of targets.
pub const TOUCH_GRID_SIDES: std::ops::RangeInclusive<u8> = 3..=5;

/// Position of the outer targets, as a share of the distance from the surface's center to its edge. The value was chosen by
/// eye: the targets are close enough to the corners to measure them, and far enough inside for an object of 0.3 m on a surface
/// of 4 × 3 m.
const REACH: f64 = 0.9;

/// Time after the first frame in which vision learns the empty floor and nothing is measured, in seconds.
const LEARN_SECS: f64 = 2.0;
/// A spot that is missing for this time, in seconds, counts as removed. Shorter gaps are noise.
const GONE_SECS: f64 = 0.3;
/// Largest movement of a spot that counts as still, as a share of the frame width.
const STILL_SHARE: f64 = 0.0016;
/// Movement up to which a spot always counts as still, in pixels. It is the noise of a foot position.
const STILL_MIN_PX: f64 = 0.75;
/// Two spots closer than this, as a share of the frame width, count as spots at the same position.
const NEAR_SHARE: f64 = 0.02;
/// Time without any dark spot at a shown cross, in seconds, after which the object counts as not visible. The technician, who is a
/// dark spot too, has left by then.
const UNSEEN_SECS: f64 = 10.0;
/// Number of times that a rejected target is asked for again. If it still does not fit, other targets are wrong.
const REPEATS_MAX: u8 = 2;
/// Largest relative change of the area of a spot that counts as still.
const AREA_CHANGE: f64 = 0.2;

/// Settings of a touch procedure.
#[derive(Clone, Debug)]
pub struct TouchOptions {
    /// Numbers of columns and rows of targets, each within [`TOUCH_GRID_SIDES`].
    pub grid: (u8, u8),
    /// Object that is put on the targets.
    pub object: TargetObject,
    /// Camera and surface to calibrate.
    pub setup: CalibrationSetup,
    /// Limits for the calibration.
    pub limits: CalibrationParams,
}

/// Dark spots of one frame.
pub struct SpotFrame<'a> {
    /// Time stamp of the frame.
    pub time_secs: f64,
    /// Whether the light is steady, so that the spots are valid.
    pub is_steady: bool,
    /// Dark spots in the frame.
    pub spots: &'a [DarkSpot],
    /// Mask in which the spots were found.
    pub mask: DarkMask<'a>,
}

/// Target that the projector shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchTarget {
    /// Number of the target, counted from 1.
    pub number: usize,
    /// Total number of targets.
    pub of: usize,
    /// Position of the target's cross, in floor space.
    pub floor_m: DVec2,
}

/// Result of processing one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchEvent {
    /// No target was measured.
    None,
    /// The target with this number was measured.
    Measured(usize),
}

/// Target of the grid.
#[derive(Clone, Debug)]
struct Target {
    floor_m: DVec2,
    state: TargetState,
    /// Number of times that a rejection has asked for it again.
    repeats: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TargetState {
    Open,
    Measured { camera_px: DVec2 },
    Skipped,
}

/// Spot that is followed from frame to frame while it is still.
#[derive(Clone, Debug)]
struct SpotTrack {
    /// Foot of the spot when it became still, in pixels.
    anchor_px: DVec2,
    /// Area of the spot when it became still, in pixels.
    pixels: usize,
    /// Time at which the spot became still.
    since_secs: f64,
    /// Time of the last frame that contains the spot.
    last_secs: f64,
    /// Sum of the foot positions of the spot over `count` frames.
    sum_px: DVec2,
    count: u32,
    fault: Option<SpotFault>,
}

/// Spot that was already visible when the cross appeared.
#[derive(Clone, Debug)]
struct EarlierSpot {
    at_px: DVec2,
    /// Time since which the position has been free of a spot; `None` while the position is dark.
    free_since_secs: Option<f64>,
}

/// Reason why the procedure waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WaitReason {
    /// The empty floor is being learned.
    Floor,
    /// The light is not steady.
    Light,
    /// The object is not on the target yet.
    Object,
    /// No dark spot has been visible for a while, so the object is probably not dark for the camera.
    Unseen,
    /// All spots were already visible before the cross appeared. The object must be lifted first.
    Removal,
    /// The object must stay still for this time, in seconds.
    Stillness {
        /// The time.
        left_secs: f64,
    },
    /// Several spots are still; only one is allowed.
    SingleSpot {
        /// Number of spots.
        spots: usize,
    },
    /// The spot cannot be the object.
    Faulty(SpotFault),
}

/// Result of a fit to all measured targets.
#[derive(Clone, Debug)]
enum Outcome {
    Fitted(Box<(Calibration, CalibrationReport)>),
    Rejected(Rejection),
}

/// State of a running touch procedure.
#[derive(Clone, Debug)]
pub struct TouchProcedure {
    options: TouchOptions,
    targets: Vec<Target>,
    /// Index of the shown target; `None` if all targets are done.
    shown: Option<usize>,
    started_secs: Option<f64>,
    last_secs: f64,
    tracks: Vec<SpotTrack>,
    earlier: Vec<EarlierSpot>,
    /// Whether the spots of the last frame are valid.
    has_spots: bool,
    /// Whether it is not known yet which spots were visible before the cross appeared. All spots of the next steady frame then
    /// count as earlier spots.
    is_new_target: bool,
    /// Time of the last frame with a dark spot, or of the first frame of the shown target.
    last_spot_secs: f64,
    waiting: WaitReason,
    outcome: Option<Outcome>,
}

impl TouchProcedure {
    /// Creates a procedure that starts with the first target.
    ///
    /// # Errors
    /// Returns a message if the grid has too few or too many targets.
    pub fn new(options: TouchOptions) -> Result<Self, String> {
        let (columns, rows) = options.grid;
        if !TOUCH_GRID_SIDES.contains(&columns) || !TOUCH_GRID_SIDES.contains(&rows) {
            return Err(format!(
                "a grid of {columns} x {rows} targets is not possible; allowed: 3 x 3 to 5 x 5, usually 4 x 4"
            ));
        }
        let targets = targets(options.grid, options.setup.surface_m);
        Ok(Self {
            options,
            targets,
            shown: Some(0),
            started_secs: None,
            last_secs: f64::NEG_INFINITY,
            tracks: Vec::new(),
            earlier: Vec::new(),
            has_spots: false,
            is_new_target: true,
            last_spot_secs: f64::NEG_INFINITY,
            waiting: WaitReason::Floor,
            outcome: None,
        })
    }

    /// Processes one frame. Frames that go back in time are ignored.
    pub fn observe(&mut self, frame: &SpotFrame<'_>) -> TouchEvent {
        let now = frame.time_secs;
        if !now.is_finite() || now < self.last_secs {
            return TouchEvent::None;
        }
        self.last_secs = now;
        let began = *self.started_secs.get_or_insert(now);
        if !frame.is_steady {
            self.tracks.clear();
            self.has_spots = false;
            self.waiting = WaitReason::Light;
            return TouchEvent::None;
        }
        self.follow(frame.spots, now);
        self.has_spots = true;
        if now - began < LEARN_SECS {
            self.waiting = WaitReason::Floor;
            return TouchEvent::None;
        }
        let Some(shown) = self.shown else {
            return TouchEvent::None;
        };
        if std::mem::take(&mut self.is_new_target) {
            self.remember_earlier_spots();
            self.last_spot_secs = now;
        }
        if !self.tracks.is_empty() {
            self.last_spot_secs = now;
        }
        self.earlier.retain_mut(|spot| {
            if frame.mask.is_dark(spot.at_px) {
                spot.free_since_secs = None;
                return true;
            }
            now - *spot.free_since_secs.get_or_insert(now) < GONE_SECS
        });
        let Some(foot_px) = self.measured_foot(now) else {
            return TouchEvent::None;
        };
        self.record(shown, foot_px);
        TouchEvent::Measured(shown + 1)
    }

    /// Skips the shown target.
    pub fn skip(&mut self) {
        if let Some(target) = self.shown.and_then(|i| self.targets.get_mut(i)) {
            target.state = TargetState::Skipped;
            self.show_next();
        }
    }

    /// Goes back to the previous target, to measure it again.
    pub fn previous(&mut self) {
        let before = self.shown.unwrap_or(self.targets.len()).saturating_sub(1);
        self.show(before);
    }

    /// Starts to measure a target again. `number` is counted from 1; without a number, the shown target is measured again.
    ///
    /// # Errors
    /// Returns a message if there is no such target.
    pub fn repeat(&mut self, number: Option<usize>) -> Result<(), String> {
        let last = self.targets.len();
        let index = match number {
            Some(number) if (1..=last).contains(&number) => number - 1,
            Some(number) => {
                return Err(format!(
                    "there is no cross {number}; give a number from 1 to {last}"
                ));
            }
            None => self.shown.unwrap_or(last - 1),
        };
        self.show(index);
        Ok(())
    }

    /// Measures all targets again, from the first one.
    pub fn start_again(&mut self) {
        for target in &mut self.targets {
            (target.state, target.repeats) = (TargetState::Open, 0);
        }
        self.outcome = None;
        self.show(0);
    }

    /// Whether targets were measured again in vain, so that others must be wrong.
    pub fn is_stuck(&self) -> bool {
        self.rejection().is_some()
            && self.shown.is_none()
            && self.targets.iter().any(|target| target.repeats > 0)
    }

    /// Returns the target to show, or `None` if all targets are done.
    pub fn shown_target(&self) -> Option<TouchTarget> {
        let index = self.shown?;
        let target = self.targets.get(index)?;
        Some(TouchTarget {
            number: index + 1,
            of: self.targets.len(),
            floor_m: target.floor_m,
        })
    }

    /// Returns the size of the camera frames, in pixels.
    pub fn frame_px(&self) -> (u32, u32) {
        self.options.setup.frame_px
    }

    /// Returns the object that is put on the targets.
    pub fn target_object(&self) -> TargetObject {
        self.options.object
    }

    /// Returns the number of targets.
    pub fn target_count(&self) -> usize {
        self.targets.len()
    }

    /// Returns the number of measured targets.
    pub fn measured_count(&self) -> usize {
        let is_measured = |t: &&Target| matches!(t.state, TargetState::Measured { .. });
        self.targets.iter().filter(is_measured).count()
    }

    /// Returns the fitted calibration, or `None` if targets are missing or the calibration is not within the limits.
    pub fn fitted(&self) -> Option<&(Calibration, CalibrationReport)> {
        match &self.outcome {
            Some(Outcome::Fitted(fitted)) => Some(fitted),
            _ => None,
        }
    }

    /// Returns the reasons why the last fit was rejected, or `None` if it was not rejected.
    pub fn rejection(&self) -> Option<&Rejection> {
        match &self.outcome {
            Some(Outcome::Rejected(rejection)) => Some(rejection),
            _ => None,
        }
    }

    /// Returns what the procedure waits for at the shown target.
    pub fn wait_reason(&self) -> WaitReason {
        self.waiting
    }

    /// Returns the numbers of the targets that the last rejection asks for again.
    pub fn targets_to_repeat(&self) -> impl Iterator<Item = usize> + '_ {
        let open = self.targets.iter().zip(1..);
        let open = open.filter(|(target, _)| target.state == TargetState::Open);
        open.filter(|_| self.rejection().is_some())
            .map(|(_, number)| number)
    }

    /// Returns the number of each measured target and its leave-one-out error in meters: the distance from the position that all
    /// other targets predict. Empty without a fit.
    pub fn target_errors(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let points = self
            .fitted()
            .into_iter()
            .flat_map(|(fitted, _)| &fitted.points);
        points.filter_map(|point| {
            let at = DVec2::from_array(point.floor_m);
            let index = self.targets.iter().position(|t| t.floor_m == at)?;
            Some((index + 1, point.left_out_m))
        })
    }

    /// Matches the spots of this frame with the spots of the last frame.
    fn follow(&mut self, spots: &[DarkSpot], now: f64) {
        let width = f64::from(self.options.setup.frame_px.0);
        let still_px = (STILL_SHARE * width).max(STILL_MIN_PX);
        let near_px = NEAR_SHARE * width;
        for spot in spots {
            let nearest = self
                .tracks
                .iter_mut()
                .filter(|f| f.last_secs < now)
                .map(|f| (f.anchor_px.distance(spot.foot_px), f))
                .filter(|(distance, _)| *distance < near_px)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let new = SpotTrack {
                anchor_px: spot.foot_px,
                pixels: spot.pixels,
                since_secs: now,
                last_secs: now,
                sum_px: spot.foot_px,
                count: 1,
                fault: spot.fault,
            };
            match nearest {
                None => self.tracks.push(new),
                Some((distance, track)) => {
                    let area = spot.pixels as f64 / track.pixels.max(1) as f64;
                    let is_still = distance <= still_px && (area - 1.0).abs() <= AREA_CHANGE;
                    if !is_still || spot.fault != track.fault {
                        *track = new;
                        continue;
                    }
                    track.last_secs = now;
                    track.sum_px += spot.foot_px;
                    track.count += 1;
                }
            }
        }
        self.tracks.retain(|f| now - f.last_secs < GONE_SECS);
    }

    /// Returns the foot of the object as soon as it has been still for `still_secs`, otherwise `None`.
    fn measured_foot(&mut self, now: f64) -> Option<DVec2> {
        let near_px = NEAR_SHARE * f64::from(self.options.setup.frame_px.0);
        let is_earlier = |f: &&SpotTrack| {
            self.earlier
                .iter()
                .any(|b| b.at_px.distance(f.anchor_px) < near_px)
        };
        let new: Vec<&SpotTrack> = self.tracks.iter().filter(|f| !is_earlier(f)).collect();
        let is_still = |f: &&&SpotTrack| now - f.since_secs >= 0.5 * self.options.limits.still_secs;
        let objects: Vec<&SpotTrack> = new.iter().copied().filter(|f| f.fault.is_none()).collect();
        let still = objects.iter().filter(is_still).count();
        let longest = objects
            .iter()
            .min_by(|a, b| a.since_secs.total_cmp(&b.since_secs));
        let faulty = new.iter().find_map(|f| f.fault);
        let (waiting, foot) = match longest {
            _ if still > 1 => (WaitReason::SingleSpot { spots: still }, None),
            Some(object) if now - object.since_secs >= self.options.limits.still_secs => (
                WaitReason::Object,
                Some(object.sum_px / f64::from(object.count)),
            ),
            Some(object) => {
                let left_secs = self.options.limits.still_secs - (now - object.since_secs);
                (WaitReason::Stillness { left_secs }, None)
            }
            None => match faulty {
                Some(fault) => (WaitReason::Faulty(fault), None),
                None if now - self.last_spot_secs > UNSEEN_SECS => (WaitReason::Unseen, None),
                None if self.tracks.is_empty() => (WaitReason::Object, None),
                None if new.is_empty() => (WaitReason::Removal, None),
                None => (WaitReason::Object, None),
            },
        };
        self.waiting = waiting;
        foot
    }

    fn record(&mut self, index: usize, camera_px: DVec2) {
        if let Some(target) = self.targets.get_mut(index) {
            target.state = TargetState::Measured { camera_px };
        }
        self.show_next();
    }

    /// Remembers that all visible spots were there before the shown cross.
    fn remember_earlier_spots(&mut self) {
        let spots = self.tracks.iter().map(|f| EarlierSpot {
            at_px: f.anchor_px,
            free_since_secs: None,
        });
        self.earlier = spots.collect();
    }

    fn show(&mut self, index: usize) {
        if let Some(target) = self.targets.get_mut(index) {
            target.state = TargetState::Open;
            self.shown = Some(index);
            self.last_spot_secs = self.last_secs;
            // The spots of the last frame, not those of the next one: if the camera stalls, the object can already be on the
            // new cross in the next frame.
            if self.has_spots && !self.is_new_target {
                self.remember_earlier_spots();
            } else {
                self.is_new_target = true;
            }
            self.waiting = WaitReason::Object;
            // A fitted calibration is discarded, because it includes the target that is measured again.
            self.outcome = self
                .outcome
                .take()
                .filter(|v| matches!(v, Outcome::Rejected(_)));
        }
    }

    fn show_next(&mut self) {
        let open = |state: TargetState| self.targets.iter().position(|t| t.state == state);
        match open(TargetState::Open) {
            Some(next) => self.show(next),
            None => {
                self.shown = None;
                self.evaluate();
            }
        }
    }

    /// Fits the measured targets. If the fit is rejected, shows the targets that caused the rejection again.
    fn evaluate(&mut self) {
        let points: Vec<MeasuredPoint> = self
            .targets
            .iter()
            .enumerate()
            .filter_map(|(i, target)| match target.state {
                TargetState::Measured { camera_px } => Some(MeasuredPoint {
                    camera_px,
                    floor_m: target.floor_m,
                    origin: PointOrigin::Target(i + 1),
                }),
                _ => None,
            })
            .collect();
        let rejection = match calibrate(&points, &self.options.setup, &self.options.limits) {
            Ok(proven) => {
                self.outcome = Some(Outcome::Fitted(Box::new(proven)));
                return;
            }
            Err(rejection) => rejection,
        };
        let wrong: Vec<usize> = rejection
            .repeat
            .iter()
            .filter_map(|i| match points.get(*i)?.origin {
                PointOrigin::Target(number) => Some(number - 1),
                _ => None,
            })
            .collect();
        // If there are too few targets, or if all targets are in one corner, the skipped targets are needed.
        let needs_skipped = points.len() < POINTS_MIN || rejection.repeat.is_empty();
        self.outcome = Some(Outcome::Rejected(rejection));
        for (i, target) in self.targets.iter_mut().enumerate() {
            if wrong.contains(&i) && target.repeats < REPEATS_MAX {
                target.repeats += 1;
                target.state = TargetState::Open;
            } else if needs_skipped && target.state == TargetState::Skipped {
                target.state = TargetState::Open;
            }
        }
        if let Some(next) = self
            .targets
            .iter()
            .position(|t| t.state == TargetState::Open)
        {
            self.show(next);
        }
    }
}

/// Returns the targets row by row, in alternating direction, so that the technician walks short distances.
fn targets((columns, rows): (u8, u8), (width_m, height_m): (f64, f64)) -> Vec<Target> {
    let share = |i: u8, n: u8| (2.0 * f64::from(i) / f64::from(n - 1) - 1.0) * REACH / 2.0;
    (0..rows)
        .flat_map(|row| (0..columns).map(move |i| (row, i)))
        .map(|(row, i)| {
            let column = if row % 2 == 0 { i } else { columns - 1 - i };
            Target {
                floor_m: DVec2::new(
                    share(column, columns) * width_m,
                    share(row, rows) * height_m,
                ),
                state: TargetState::Open,
                repeats: 0,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
