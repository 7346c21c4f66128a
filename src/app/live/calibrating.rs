//! Calibrating while the pool runs: the part of the vision stage that leads the technician from cross to cross, and watches
//! whether the camera still stands where it did.
//!
//! In: wishes from the desk, every frame. Out: the cross to show, a new calibration when one is accepted, a
//! [`CalibrationStatus`] for whoever shows it. Shadows are found by a second [`Vision`] of its own, which takes the whole
//! picture for floor: what the calibration of before did not see counts as well, and fish go on with that one meanwhile.
//! Must not: write a file; the desk does.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex};

use glam::{DVec2, DVec3};

use crate::calibration::{
    Calibration, CalibrationParams, DarkPicture, FloorPicture, GrayScan, Mark, MeasuredPoint,
    PointOrigin, PoleMeasurement, Report, Setup, Sight, Touch, TouchPlan, Turn, calibrate,
    find_spots, lamp_from_poles, read_points, texture_marks,
};
use crate::camera::{Frame, UsedBits};
use crate::control::{CalibrationKnown, CalibrationStatus, CalibrationStep, TouchMark};
use crate::geometry::{FloorFromCamera, Surface};
use crate::vision::{FloorView, Light, Vision, VisionParams};
use crate::world::FloorTarget;

use super::super::calibrate::today;
use super::super::tell;
use super::drifting::DriftRounds;
use super::editing::lock;

mod scanning;

/// Marks are opaque: of a pole only what is darker than this share of what counts as a visitor's shadow tells where it stands.
/// In half shade its foot is found to one side.
const MARK_SHARE: f32 = 0.85;

/// Wishes and results that may wait.
pub const WAITING_MAX: usize = 16;

/// While calibrating, floor that is uncovered is learned at once for so long.
const LEARN_SECS: f32 = 60.0;

/// Visitors are not watched while points are fitted: no more than these.
const POINTS_MAX: usize = 500;

const NO_CALIBRATION: &str = "the camera is not calibrated yet; calibrate it first";
const NO_PICTURE: &str = "no picture has come from the camera yet";

/// What the desk tells the vision stage.
#[derive(Clone, Debug)]
pub enum Wish {
    /// A step of the procedure, and what is good enough as of now.
    Step(CalibrationStep, CalibrationParams),
    /// The site names another calibration.
    Use(Option<Box<Calibration>>),
    /// The calibration was saved, or why it was not.
    Told(String),
}

/// The calibrating part of the vision stage.
pub struct Calibrating {
    wishes: Receiver<Wish>,
    accepted: SyncSender<Box<Calibration>>,
    status: Arc<Mutex<CalibrationStatus>>,
    params: VisionParams,
    limits: CalibrationParams,
    surface: Surface,
    current: Option<Calibration>,
    procedure: Option<Procedure>,
    /// What was said last, while no procedure speaks.
    sentence: String,
    drift: DriftRounds,
    /// The last frame, while it may be needed.
    levels: Vec<u8>,
    used_bits: UsedBits,
    dark: Vec<bool>,
    picture_px: Option<(u32, u32)>,
    /// The sentence is to be told even where nothing else is new.
    is_news: bool,
}

/// What is going on.
enum Procedure {
    /// Touch targets were asked for; the first frame says how large pictures are.
    Asked { grid: (u8, u8), mark: Mark },
    /// Crosses are shown.
    Touching {
        touch: Box<Touch>,
        vision: Box<Vision>,
    },
    /// Stripes are shown.
    Scanning(Box<GrayScan>),
    /// Markers, a table or stripes made this calibration; it waits to be accepted.
    Proven(Box<(Calibration, Report)>),
}

impl Calibrating {
    /// Begins with the site's calibration.
    pub fn new(
        wishes: Receiver<Wish>,
        accepted: SyncSender<Box<Calibration>>,
        status: Arc<Mutex<CalibrationStatus>>,
        (params, surface): (VisionParams, Surface),
        current: Option<Calibration>,
    ) -> Self {
        let mut calibrating = Self {
            wishes,
            accepted,
            status,
            limits: CalibrationParams::default(),
            params: VisionParams {
                learn_secs: LEARN_SECS,
                shadow_ratio: params.shadow_ratio * MARK_SHARE,
                ..params
            },
            surface,
            drift: DriftRounds::of(current.as_ref()),
            current,
            procedure: None,
            sentence: String::new(),
            levels: Vec::new(),
            used_bits: UsedBits::default(),
            dark: Vec::new(),
            picture_px: None,
            is_news: false,
        };
        calibrating.publish();
        calibrating
    }

    /// The calibration that counts.
    pub fn current(&self) -> Option<&Calibration> {
        self.current.as_ref()
    }

    /// The cross to show over the pool.
    pub fn target(&self) -> Option<FloorTarget> {
        let Some(Procedure::Touching { touch, .. }) = &self.procedure else {
            return None;
        };
        let pattern = touch.pattern()?;
        Some(FloorTarget {
            number: pattern.number,
            at_m: pattern.floor_m.as_vec2(),
        })
    }

    /// Does what was wished for since the last time. True when another calibration counts from now on.
    pub fn obey(&mut self) -> bool {
        let (mut is_other, mut is_told) = (false, false);
        while let Ok(wish) = self.wishes.try_recv() {
            is_told = true;
            match wish {
                Wish::Step(step, limits) => {
                    self.limits = limits;
                    match self.step(step) {
                        Ok(changed) => is_other |= changed,
                        Err(sentence) => {
                            tracing::warn!("calibration: {sentence}");
                            self.sentence = sentence;
                        }
                    }
                }
                Wish::Use(named) => {
                    let named = named.map(|boxed| *boxed);
                    if named != self.current {
                        self.adopt(named);
                        is_other = true;
                    }
                }
                Wish::Told(sentence) => self.sentence = sentence,
            }
        }
        if is_told {
            self.is_news = true;
            self.publish();
        }
        is_other
    }

    /// Takes a frame in, and leads on.
    pub fn observe(&mut self, frame: &Frame) {
        if frame.luma.len() != frame.width_px as usize * frame.height_px as usize {
            return;
        }
        self.picture_px = Some((frame.width_px, frame.height_px));
        if self.procedure.is_some() {
            self.used_bits.observe(&frame.luma);
            (self.used_bits).write_eight_bit(&frame.luma, &mut self.levels);
        }
        match self.procedure.take() {
            Some(Procedure::Asked { grid, mark }) => {
                self.procedure = self.begin(grid, mark, (frame.width_px, frame.height_px));
                self.publish();
            }
            Some(Procedure::Touching { touch, vision }) => self.touch(frame, touch, vision),
            Some(Procedure::Scanning(scan)) => self.scan(frame, scan),
            Some(waiting) => self.procedure = Some(waiting),
            None => self.watch_drift(frame),
        }
    }

    fn step(&mut self, step: CalibrationStep) -> Result<bool, String> {
        self.sentence.clear();
        match step {
            CalibrationStep::Start {
                columns,
                rows,
                mark,
            } => {
                let mark = match mark {
                    TouchMark::Disc => Mark::Disc,
                    TouchMark::Pole => Mark::Pole,
                };
                // Refused at once where the grid is none; the size of the pictures is told by the next frame.
                Touch::new(self.plan((columns, rows), mark, (640, 480)))?;
                self.procedure = Some(Procedure::Asked {
                    grid: (columns, rows),
                    mark,
                });
            }
            CalibrationStep::GrayCode => self.start_scan()?,
            CalibrationStep::Back => self.touching()?.back(),
            CalibrationStep::Skip => self.touching()?.skip(),
            CalibrationStep::Repeat { target } => self.touching()?.repeat(target)?,
            CalibrationStep::Cancel => {
                if self.procedure.take().is_some() {
                    "Cancelled; the calibration of before stays.".clone_into(&mut self.sentence);
                }
            }
            CalibrationStep::Accept => return self.accept(),
            CalibrationStep::Markers { points } => {
                let measured = points.iter().zip(1..).map(|(p, number)| MeasuredPoint {
                    camera_px: DVec2::from_array(p.camera_px),
                    floor_m: DVec2::from_array(p.floor_m),
                    origin: PointOrigin::Marker(number),
                });
                let measured: Vec<_> = measured.collect();
                self.fit(&measured)?;
            }
            CalibrationStep::Table { text } => {
                let points = read_points(&text).map_err(|error| error.to_string())?;
                self.fit(&points)?;
            }
            CalibrationStep::Lamp { position_m } => {
                self.set_lamp(position_m)?;
                return Ok(true);
            }
            CalibrationStep::Poles { height_m, poles } => {
                let map = self.map().ok_or(NO_CALIBRATION)?;
                let measured: Vec<PoleMeasurement> = poles
                    .iter()
                    .map(|p| PoleMeasurement {
                        foot_m: map.floor_from_camera(DVec2::from_array(p.foot_px)),
                        tip_m: map.floor_from_camera(DVec2::from_array(p.tip_px)),
                    })
                    .collect();
                let found = lamp_from_poles(&measured, height_m)?;
                self.set_lamp(found.position_m.to_array())?;
                let [x, y, z] = found.position_m.to_array();
                self.sentence = format!(
                    "The lamp hangs at {x:.2}, {y:.2}, {z:.2} m, give or take {:.2} m; the shadows' tips agree within {:.0} mm.",
                    found.deviation_m,
                    found.rms_m * 1e3
                );
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn touching(&mut self) -> Result<&mut Touch, String> {
        match &mut self.procedure {
            Some(Procedure::Touching { touch, .. }) => Ok(touch),
            _ => Err("no touch targets are shown; start first".to_owned()),
        }
    }

    fn setup(&self, picture_px: (u32, u32)) -> Setup {
        Setup {
            picture_px,
            surface_m: (
                f64::from(self.surface.width_m),
                f64::from(self.surface.height_m),
            ),
            lamp_m: self
                .current
                .as_ref()
                .and_then(|c| c.lamp_m)
                .map(DVec3::from_array),
            camera_m: None,
            date: today(),
        }
    }

    fn plan(&self, grid: (u8, u8), mark: Mark, picture_px: (u32, u32)) -> TouchPlan {
        TouchPlan {
            grid,
            mark,
            setup: self.setup(picture_px),
            limits: self.limits.clone(),
        }
    }

    fn begin(&mut self, grid: (u8, u8), mark: Mark, picture_px: (u32, u32)) -> Option<Procedure> {
        match Touch::new(self.plan(grid, mark, picture_px)) {
            Ok(touch) => {
                let view = FloorView {
                    map: FloorFromCamera::whole_picture(picture_px.0, picture_px.1, &self.surface),
                    lamp_m: None,
                    camera_m: None,
                    surface: self.surface.clone(),
                };
                Some(Procedure::Touching {
                    touch: Box::new(touch),
                    vision: Box::new(Vision::new(&self.params, view)),
                })
            }
            Err(sentence) => {
                self.sentence = sentence;
                None
            }
        }
    }

    fn touch(&mut self, frame: &Frame, mut touch: Box<Touch>, mut vision: Box<Vision>) {
        if touch.picture_px() != (frame.width_px, frame.height_px) {
            self.size_changed();
            return;
        }
        vision.observe(frame);
        let width_px = vision.write_dark(&mut self.dark);
        let picture = DarkPicture {
            dark: &self.dark,
            width_px,
        };
        let before = touch.pattern();
        let turn = touch.observe(&Sight {
            time_secs: frame.time_secs,
            is_steady: vision.light() == Light::Steady,
            spots: &find_spots(&picture, touch.mark()),
            picture,
        });
        if let Turn::Taken(number) = turn {
            self.sentence.clear();
            tracing::info!(number, "calibration: target taken");
        }
        if before.is_some() && touch.pattern().is_none() {
            tracing::info!("calibration: {}", touch.sentence());
        }
        self.procedure = Some(Procedure::Touching { touch, vision });
        self.publish();
    }

    fn size_changed(&mut self) {
        "The camera's pictures have another size now; start again.".clone_into(&mut self.sentence);
        self.publish();
    }

    /// Fits to points; what is proven waits to be accepted.
    fn fit(&mut self, points: &[MeasuredPoint]) -> Result<(), String> {
        if points.len() > POINTS_MAX {
            return Err(format!(
                "{} points are more than the {POINTS_MAX} that are fitted while the pool runs; `shoal calibrate` takes more",
                points.len()
            ));
        }
        let picture_px = self.picture_px.ok_or(NO_PICTURE)?;
        match calibrate(points, &self.setup(picture_px), &self.limits) {
            Ok(proven) => {
                let errors = &proven.1.errors;
                self.sentence = format!(
                    "{} points: floor errors of {:.0} mm are to be expected (worst place {:.0} mm). Accept it, or cancel to keep \
                     the old one.",
                    proven.1.points,
                    errors.predicted_rms_m * 1e3,
                    errors.predicted_worst_m * 1e3
                );
                self.procedure = Some(Procedure::Proven(Box::new(proven)));
                self.dark.clear();
                Ok(())
            }
            Err(rejection) => Err(format!("{} The old calibration stays.", rejection.text())),
        }
    }

    fn accept(&mut self) -> Result<bool, String> {
        let proven = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => touch.proven(),
            Some(Procedure::Proven(proven)) => Some(&**proven),
            _ => None,
        };
        let (mut calibration, _) = proven
            .cloned()
            .ok_or("nothing is proven yet that could be accepted")?;
        self.procedure = None;
        let (width_px, height_px) = (calibration.picture.width_px, calibration.picture.height_px);
        if let Ok(map) = calibration.floor_from_camera(width_px, height_px) {
            let picture = FloorPicture {
                levels: &self.levels,
                width_px: width_px as usize,
            };
            let dark = DarkPicture {
                dark: &self.dark,
                width_px: width_px as usize,
            };
            calibration.marks = texture_marks(&picture, &map, |at| !dark.is_dark(at));
        }
        self.hand_over(&calibration);
        "Accepted; it counts from now on.".clone_into(&mut self.sentence);
        self.adopt(Some(calibration));
        Ok(true)
    }

    fn set_lamp(&mut self, position_m: [f64; 3]) -> Result<(), String> {
        let [x, y, z] = position_m;
        let is_above = position_m
            .iter()
            .all(|v| v.is_finite() && v.abs() <= 1000.0)
            && y > 0.1;
        if !is_above {
            return Err(format!(
                "the lamp cannot hang at {x}, {y}, {z}: finite meters are wanted, and its height (the second) above 0.1"
            ));
        }
        let mut calibration = self.current.clone().ok_or(NO_CALIBRATION)?;
        calibration.lamp_m = Some(position_m);
        calibration.date = today();
        self.hand_over(&calibration);
        self.sentence = format!("The lamp hangs at {x:.2}, {y:.2}, {z:.2} m.");
        self.adopt(Some(calibration));
        Ok(())
    }

    /// To the desk, which saves it. A desk that is busy with sixteen others is not there any more.
    fn hand_over(&self, calibration: &Calibration) {
        if let Err(TrySendError::Full(_)) = self.accepted.try_send(Box::new(calibration.clone())) {
            tracing::error!(
                "the accepted calibration counts, but it could not be handed over for saving"
            );
        }
    }

    fn adopt(&mut self, calibration: Option<Calibration>) {
        self.drift = DriftRounds::of(calibration.as_ref());
        self.current = calibration;
    }

    fn map(&self) -> Option<FloorFromCamera> {
        let current = self.current.as_ref()?;
        let picture = current.picture;
        current
            .floor_from_camera(picture.width_px, picture.height_px)
            .ok()
    }

    /// Looks for the next mark of the floor, if it is time.
    fn watch_drift(&mut self, frame: &Frame) {
        let Some(current) = &self.current else { return };
        let allowed_m = self.limits.drift_max_m;
        if (self.drift).observe(frame, current, &mut self.levels, allowed_m) {
            lock(&self.status).drift = self.drift.status();
        }
    }

    fn publish(&mut self) {
        let touch = match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => Some(touch),
            _ => None,
        };
        let pattern = touch.and_then(|t| t.pattern());
        let scan = match &self.procedure {
            Some(Procedure::Scanning(scan)) => Some(scan),
            _ => None,
        };
        let sentence = match (&self.procedure, touch) {
            (_, Some(touch)) if self.sentence.is_empty() => touch.sentence(),
            (_, Some(touch)) => format!("{} {}", self.sentence, touch.sentence()),
            (Some(Procedure::Scanning(scan)), _) => format!(
                "Pattern {} of {} is shown: keep off the surface, and the room dark.",
                scan.shown() + 1,
                scan.patterns()
            ),
            (Some(Procedure::Asked { .. }), _) => "Waiting for the camera's picture.".to_owned(),
            _ => self.sentence.clone(),
        };
        let status = CalibrationStatus {
            is_running: self.procedure.is_some(),
            target: pattern.map(|p| p.number),
            targets: touch.map_or_else(|| scan.map_or(0, |s| s.patterns()), |t| t.targets()),
            taken: touch.map_or_else(|| scan.map_or(0, |s| s.shown()), |t| t.taken()),
            is_proven: match &self.procedure {
                Some(Procedure::Proven(_)) => true,
                _ => touch.is_some_and(|t| t.proven().is_some()),
            },
            sentence,
            current: self.current.as_ref().map(|c| CalibrationKnown {
                date: c.date.clone(),
                predicted_rms_m: c.errors.predicted_rms_m,
                predicted_worst_m: c.errors.predicted_worst_m,
                knows_lamp: c.lamp_m.is_some(),
            }),
            drift: self.drift.status(),
        };
        let mut published = lock(&self.status);
        let said = |s: &CalibrationStatus| (s.is_running, s.target, s.taken, s.is_proven);
        let is_news = said(&published) != said(&status) || std::mem::take(&mut self.is_news);
        if is_news && !status.sentence.is_empty() {
            tell(&format!("calibration: {}", status.sentence));
        }
        *published = status;
    }
}
