//! Touch targets: crosses are shown one by one, the technician puts a mark on each, and what stands still there is taken.
//!
//! In: a [`Sight`] of every frame, and the technician's wishes. Out: the [`Pattern`] to show, a sentence for the
//! technician, at the end a proven calibration or the targets to repeat. Asks no clock but the frames' time stamps, so the
//! same frames and wishes give the same calibration. Must not: touch a camera, a projector or a file.
//!
//! A spot is the mark on the target that is shown when it was not there before the cross appeared, stands still, and is
//! the only one that does.

use std::fmt::Write as _;

use glam::DVec2;

use super::file::Calibration;
use super::judge::{POINTS_MIN, Rejection, Report, Setup, calibrate};
use super::params::CalibrationParams;
use super::points::{MeasuredPoint, PointOrigin};
use super::spot::{DarkPicture, Mark, Spot, SpotFault};

/// Rows and columns of targets.
pub const GRID_SIDES: std::ops::RangeInclusive<u8> = 3..=5;

/// The outer targets lie this part of the way from the surface's middle to its edge: near enough to prove the corners, far
/// enough in for a mark of 0.3 m on a surface of 4 × 3 m. **Source**: tuned by eye, 2026-11-21.
const REACH: f64 = 0.9;

/// Nothing is taken in the first seconds, in which the empty floor is learned.
const LEARN_SECS: f64 = 2.0;
/// A spot that was not seen for so long is gone; shorter gaps are noise.
const GONE_SECS: f64 = 0.3;
/// A spot that moves less than this part of the picture's width stands still.
const STILL_SHARE: f64 = 0.0016;
/// And less than this in pixels is always noise.
const STILL_LEAST_PX: f64 = 0.75;
/// Spots nearer to each other than this part of the picture's width are in the same place.
const NEAR_SHARE: f64 = 0.02;
/// The area of a spot that stands still changes by at most this part.
const AREA_CHANGE: f64 = 0.2;

/// What a procedure is made of.
#[derive(Clone, Debug)]
pub struct TouchPlan {
    /// Columns and rows of targets, each within [`GRID_SIDES`].
    pub grid: (u8, u8),
    /// What is put on the targets.
    pub mark: Mark,
    /// What the points belong to.
    pub setup: Setup,
    /// What is good enough.
    pub limits: CalibrationParams,
}

/// What the camera sees in one frame.
pub struct Sight<'a> {
    /// The frame's time stamp.
    pub time_secs: f64,
    /// Whether the floor's light can be trusted.
    pub is_steady: bool,
    /// The dark spots.
    pub spots: &'a [Spot],
    /// Which pixels are dark.
    pub picture: DarkPicture<'a>,
}

/// What the projector shall show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pattern {
    /// The target's number, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
    /// Where its cross is, floor space.
    pub floor_m: DVec2,
}

/// What a frame has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nothing that was waited for.
    Nothing,
    /// The target of this number was taken.
    Taken(usize),
}

#[derive(Clone, Debug)]
struct Target {
    floor_m: DVec2,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Open,
    Taken { camera_px: DVec2 },
    Skipped,
}

/// A spot as it was followed from frame to frame.
#[derive(Clone, Debug)]
struct Followed {
    anchor_px: DVec2,
    pixels: usize,
    since_secs: f64,
    last_secs: f64,
    sum_px: DVec2,
    count: u32,
    fault: Option<SpotFault>,
}

/// Where a spot was when the cross appeared, and since when its place has been free.
#[derive(Clone, Debug)]
struct Before {
    at_px: DVec2,
    free_since_secs: Option<f64>,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Waiting {
    Floor,
    Light,
    Mark,
    Removal,
    Stillness { left_secs: f64 },
    Solitude { spots: usize },
    Better(SpotFault),
}

#[derive(Clone, Debug)]
enum Verdict {
    Proven(Box<(Calibration, Report)>),
    Refused(Rejection),
}

/// The procedure.
#[derive(Clone, Debug)]
pub struct Touch {
    plan: TouchPlan,
    targets: Vec<Target>,
    /// The target that is shown; none when all are done.
    shown: Option<usize>,
    began_secs: Option<f64>,
    last_secs: f64,
    followed: Vec<Followed>,
    before: Vec<Before>,
    /// The cross is new: what is there in the next frame was there before it.
    is_fresh: bool,
    waiting: Waiting,
    verdict: Option<Verdict>,
}

impl Touch {
    /// Begins with the first target.
    ///
    /// # Errors
    /// A sentence, when the grid has too few or too many targets.
    pub fn new(plan: TouchPlan) -> Result<Self, String> {
        let (columns, rows) = plan.grid;
        if !GRID_SIDES.contains(&columns) || !GRID_SIDES.contains(&rows) {
            return Err(format!(
                "a grid of {columns} x {rows} targets is not possible; 3 x 3 to 5 x 5 are, 4 x 4 is usual"
            ));
        }
        let targets = targets(plan.grid, plan.setup.surface_m);
        Ok(Self {
            plan,
            targets,
            shown: Some(0),
            began_secs: None,
            last_secs: f64::NEG_INFINITY,
            followed: Vec::new(),
            before: Vec::new(),
            is_fresh: true,
            waiting: Waiting::Floor,
            verdict: None,
        })
    }

    /// Takes one frame in. Frames that go back in time change nothing.
    pub fn observe(&mut self, sight: &Sight<'_>) -> Turn {
        let now = sight.time_secs;
        if !now.is_finite() || now < self.last_secs {
            return Turn::Nothing;
        }
        self.last_secs = now;
        let began = *self.began_secs.get_or_insert(now);
        if !sight.is_steady {
            self.followed.clear();
            self.waiting = Waiting::Light;
            return Turn::Nothing;
        }
        self.follow(sight.spots, now);
        if now - began < LEARN_SECS {
            self.waiting = Waiting::Floor;
            return Turn::Nothing;
        }
        let Some(shown) = self.shown else {
            return Turn::Nothing;
        };
        if std::mem::take(&mut self.is_fresh) {
            let there = self.followed.iter().map(|f| Before {
                at_px: f.anchor_px,
                free_since_secs: None,
            });
            self.before = there.collect();
        }
        self.before.retain_mut(|before| {
            if sight.picture.is_dark(before.at_px) {
                before.free_since_secs = None;
                return true;
            }
            now - *before.free_since_secs.get_or_insert(now) < GONE_SECS
        });
        let Some(foot_px) = self.wait_for_mark(now) else {
            return Turn::Nothing;
        };
        self.take(shown, foot_px);
        Turn::Taken(shown + 1)
    }

    /// Leaves the target that is shown out.
    pub fn skip(&mut self) {
        if let Some(target) = self.shown.and_then(|i| self.targets.get_mut(i)) {
            target.state = State::Skipped;
            self.show_next();
        }
    }

    /// Shows the target before the one that is shown again, to be taken anew.
    pub fn back(&mut self) {
        let before = self.shown.unwrap_or(self.targets.len()).saturating_sub(1);
        self.show(before);
    }

    /// Shows a target (from 1) again, to be taken anew; without a number the one that is shown.
    ///
    /// # Errors
    /// A sentence, when there is no such target.
    pub fn repeat(&mut self, number: Option<usize>) -> Result<(), String> {
        let last = self.targets.len();
        let index = match number {
            Some(number) if (1..=last).contains(&number) => number - 1,
            Some(number) => {
                return Err(format!(
                    "there is no target {number}; they are numbered 1 to {last}"
                ));
            }
            None => self.shown.unwrap_or(last - 1),
        };
        self.show(index);
        Ok(())
    }

    /// What the projector shall show; nothing when all targets are done.
    pub fn pattern(&self) -> Option<Pattern> {
        let index = self.shown?;
        let target = self.targets.get(index)?;
        Some(Pattern {
            number: index + 1,
            of: self.targets.len(),
            floor_m: target.floor_m,
        })
    }

    /// Size of the pictures that it is for.
    pub fn picture_px(&self) -> (u32, u32) {
        self.plan.setup.picture_px
    }

    /// What is put on the targets.
    pub fn mark(&self) -> Mark {
        self.plan.mark
    }

    /// How many targets there are.
    pub fn targets(&self) -> usize {
        self.targets.len()
    }

    /// How many targets are taken.
    pub fn taken(&self) -> usize {
        let is_taken = |t: &&Target| matches!(t.state, State::Taken { .. });
        self.targets.iter().filter(is_taken).count()
    }

    /// The calibration, once it is proven good enough.
    pub fn proven(&self) -> Option<&(Calibration, Report)> {
        match &self.verdict {
            Some(Verdict::Proven(proven)) => Some(proven),
            _ => None,
        }
    }

    /// Why the targets that were taken make no calibration, as of the last time that all were done.
    pub fn rejection(&self) -> Option<&Rejection> {
        match &self.verdict {
            Some(Verdict::Refused(rejection)) => Some(rejection),
            _ => None,
        }
    }

    /// What the technician shall know and do now.
    pub fn sentence(&self) -> String {
        let mut text = String::new();
        if let Some(rejection) = self.rejection() {
            text = rejection.text();
            text.push(' ');
        }
        // Writing to a String cannot fail.
        let _ = match (self.pattern(), self.proven()) {
            (Some(pattern), _) => write!(
                text,
                "Target {} of {}: {}",
                pattern.number,
                pattern.of,
                self.wish()
            ),
            (None, Some((_, report))) => write!(
                text,
                "{} targets are taken: floor errors of {:.0} mm are to be expected (worst place {:.0} mm). Accept it, or \
                 cancel to keep the old one.",
                report.points,
                report.errors.predicted_rms_m * 1e3,
                report.errors.predicted_worst_m * 1e3
            ),
            (None, None) => write!(
                text,
                "The old calibration stays. Repeat a target by its number, or cancel."
            ),
        };
        text
    }

    fn wish(&self) -> String {
        let (put, mark) = match self.plan.mark {
            Mark::Disc => ("lay the disc's middle on the cross and step away", "disc"),
            Mark::Pole => ("stand the pole on the cross and step away", "pole"),
        };
        match self.waiting {
            Waiting::Floor => "the empty floor is being learned, step out of the light".to_owned(),
            Waiting::Light => "the light changed, wait a moment".to_owned(),
            Waiting::Mark => format!("{put}."),
            Waiting::Removal => format!(
                "{put}; what lies in the picture since before the cross appeared does not count, take it up first."
            ),
            Waiting::Stillness { left_secs } => format!("hold still for {left_secs:.1} s."),
            Waiting::Solitude { spots } => format!(
                "{spots} shadows stand still, only the one on the cross may; step out of the light."
            ),
            Waiting::Better(SpotFault::CutOff) => {
                "the picture's edge cuts the shadow off; turn the camera so that it sees this target whole, or skip it."
                    .to_owned()
            }
            Waiting::Better(SpotFault::TooLarge) => {
                format!("the shadow is too large for a {mark}; step out of the light.")
            }
            Waiting::Better(SpotFault::NoDisc) => {
                "what is dark there is no disc; step away, so that only the disc is dark.".to_owned()
            }
            Waiting::Better(SpotFault::OneStripe) => {
                "the pole's shadow and the pole itself cannot be told apart from here; use the disc for this target, or skip it."
                    .to_owned()
            }
        }
    }

    /// Follows spots from the last frame to this one.
    fn follow(&mut self, spots: &[Spot], now: f64) {
        let width = f64::from(self.plan.setup.picture_px.0);
        let still_px = (STILL_SHARE * width).max(STILL_LEAST_PX);
        let near_px = NEAR_SHARE * width;
        for spot in spots {
            let nearest = self
                .followed
                .iter_mut()
                .filter(|f| f.last_secs < now)
                .map(|f| (f.anchor_px.distance(spot.foot_px), f))
                .filter(|(distance, _)| *distance < near_px)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let fresh = Followed {
                anchor_px: spot.foot_px,
                pixels: spot.pixels,
                since_secs: now,
                last_secs: now,
                sum_px: spot.foot_px,
                count: 1,
                fault: spot.fault,
            };
            match nearest {
                None => self.followed.push(fresh),
                Some((distance, followed)) => {
                    let area = spot.pixels as f64 / followed.pixels.max(1) as f64;
                    let is_still = distance <= still_px && (area - 1.0).abs() <= AREA_CHANGE;
                    if !is_still || spot.fault != followed.fault {
                        *followed = fresh;
                        continue;
                    }
                    followed.last_secs = now;
                    followed.sum_px += spot.foot_px;
                    followed.count += 1;
                }
            }
        }
        self.followed.retain(|f| now - f.last_secs < GONE_SECS);
    }

    /// The mark's foot, when it was waited for long enough.
    fn wait_for_mark(&mut self, now: f64) -> Option<DVec2> {
        let near_px = NEAR_SHARE * f64::from(self.plan.setup.picture_px.0);
        let was_before = |f: &&Followed| {
            self.before
                .iter()
                .any(|b| b.at_px.distance(f.anchor_px) < near_px)
        };
        let new: Vec<&Followed> = self.followed.iter().filter(|f| !was_before(f)).collect();
        let is_still = |f: &&&Followed| now - f.since_secs >= 0.5 * self.plan.limits.still_secs;
        let marks: Vec<&Followed> = new.iter().copied().filter(|f| f.fault.is_none()).collect();
        let still = marks.iter().filter(is_still).count();
        let longest = marks
            .iter()
            .min_by(|a, b| a.since_secs.total_cmp(&b.since_secs));
        let faulty = new.iter().find_map(|f| f.fault);
        let (waiting, foot) = match longest {
            _ if still > 1 => (Waiting::Solitude { spots: still }, None),
            Some(mark) if now - mark.since_secs >= self.plan.limits.still_secs => {
                (Waiting::Mark, Some(mark.sum_px / f64::from(mark.count)))
            }
            Some(mark) => {
                let left_secs = self.plan.limits.still_secs - (now - mark.since_secs);
                (Waiting::Stillness { left_secs }, None)
            }
            None => match faulty {
                Some(fault) => (Waiting::Better(fault), None),
                None if self.followed.is_empty() => (Waiting::Mark, None),
                None if new.is_empty() => (Waiting::Removal, None),
                None => (Waiting::Mark, None),
            },
        };
        self.waiting = waiting;
        foot
    }

    fn take(&mut self, index: usize, camera_px: DVec2) {
        if let Some(target) = self.targets.get_mut(index) {
            target.state = State::Taken { camera_px };
        }
        self.show_next();
    }

    fn show(&mut self, index: usize) {
        if let Some(target) = self.targets.get_mut(index) {
            target.state = State::Open;
            self.shown = Some(index);
            self.is_fresh = true;
            self.waiting = Waiting::Mark;
            // What was proven was proven with the target.
            self.verdict = self
                .verdict
                .take()
                .filter(|v| matches!(v, Verdict::Refused(_)));
        }
    }

    fn show_next(&mut self) {
        let open = |state: State| self.targets.iter().position(|t| t.state == state);
        match open(State::Open) {
            Some(next) => self.show(next),
            None => {
                self.shown = None;
                self.judge();
            }
        }
    }

    /// Fits and proves; where single targets are to blame, only those are shown again.
    fn judge(&mut self) {
        let points: Vec<MeasuredPoint> = self
            .targets
            .iter()
            .enumerate()
            .filter_map(|(i, target)| match target.state {
                State::Taken { camera_px } => Some(MeasuredPoint {
                    camera_px,
                    floor_m: target.floor_m,
                    origin: PointOrigin::Target(i + 1),
                }),
                _ => None,
            })
            .collect();
        let rejection = match calibrate(&points, &self.plan.setup, &self.plan.limits) {
            Ok(proven) => {
                self.verdict = Some(Verdict::Proven(Box::new(proven)));
                return;
            }
            Err(rejection) => rejection,
        };
        let blamed: Vec<usize> = rejection
            .again
            .iter()
            .filter_map(|i| match points.get(*i)?.origin {
                PointOrigin::Target(number) => Some(number - 1),
                _ => None,
            })
            .collect();
        // Too few targets, or all in a corner: those that were left out are what is missing.
        let is_short = points.len() < POINTS_MIN || rejection.again.is_empty();
        self.verdict = Some(Verdict::Refused(rejection));
        for (i, target) in self.targets.iter_mut().enumerate() {
            if blamed.contains(&i) || is_short && target.state == State::Skipped {
                target.state = State::Open;
            }
        }
        if let Some(next) = self.targets.iter().position(|t| t.state == State::Open) {
            self.show(next);
        }
    }
}

/// The targets in the order of a walk: to and fro over the rows.
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
                state: State::Open,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
