//! Calibrating while the pool runs: the part of the vision stage that leads the technician from cross to cross, and watches
//! whether the camera still stands where it did.
//!
//! In: wishes from the desk, every frame. Out: the cross to show, a new calibration when one is accepted, a
//! [`CalibrationStatus`] for whoever shows it. Shadows are found by a second [`Vision`] of its own, which takes the whole
//! picture for floor: what the calibration of before did not see counts as well, and fish go on with that one meanwhile.
//! Must not: write a file; the desk does.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex};

use glam::{DVec2, DVec3};

use crate::calibration::{
    Calibration, CalibrationParams, DarkPicture, FloorPicture, GrayScan, Mark, MeanPicture,
    MeasuredPoint, PointOrigin, PoleMeasurement, Report, Setup, Sight, Touch, TouchPlan, Turn,
    find_spots, lamp_from_poles, read_points,
};
use crate::camera::{Frame, UsedBits};
use crate::control::{CalibrationStatus, CalibrationStep, TouchMark};
use crate::geometry::{FloorFromCamera, Surface};
use crate::vision::{FloorView, LightState, Vision, VisionParams};
use crate::world::FloorTarget;

use super::super::calibrate::today;
use super::drifting::DriftRounds;
use super::editing::lock;

mod accepting;
mod scanning;
mod telling;

/// Marks are opaque: of a pole only what is darker than this share of what counts as a visitor's shadow tells where it stands.
/// In half shade its foot is found to one side.
const MARK_SHARE: f32 = 0.85;

/// Wishes and results that may wait.
pub const WAITING_MAX: usize = 16;

/// While calibrating, floor that is uncovered is learned at once for so long.
const LEARN_SECS: f32 = 60.0;

/// The floor's marks are chosen in the mean of so many frames.
const MEAN_FRAMES: u16 = 16;

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
    /// The last frame, while it may be needed, and the mean of some.
    levels: Vec<u8>,
    mean: MeanPicture,
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
            mean: MeanPicture::default(),
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

    /// Takes a frame in, and leads on. `vision` is what has seen the frame with the calibration that counts, if any has.
    pub fn observe(&mut self, frame: &Frame, vision: Option<&Vision>) {
        if frame.luma.len() != frame.width_px as usize * frame.height_px as usize {
            return;
        }
        self.picture_px = Some((frame.width_px, frame.height_px));
        if self.procedure.is_some() {
            self.used_bits.observe(&frame.luma);
            (self.used_bits).write_eight_bit(&frame.luma, &mut self.levels);
            self.mean.add(&FloorPicture {
                levels: &self.levels,
                width_px: frame.width_px as usize,
            });
            if self.mean.pictures() >= MEAN_FRAMES {
                self.mean.finish();
            }
        }
        match self.procedure.take() {
            Some(Procedure::Asked { grid, mark }) => {
                self.procedure = self.begin(grid, mark, (frame.width_px, frame.height_px));
                self.publish();
            }
            Some(Procedure::Touching { touch, vision }) => self.touch(frame, touch, vision),
            Some(Procedure::Scanning(scan)) => self.scan(frame, scan),
            Some(waiting) => self.procedure = Some(waiting),
            None => self.watch_drift(frame, vision),
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
                self.mean.clear();
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
        let width_px = vision.write_foreground(&mut self.dark);
        let picture = DarkPicture {
            dark: &self.dark,
            width_px,
        };
        let before = touch.pattern();
        let turn = touch.observe(&Sight {
            time_secs: frame.time_secs,
            is_steady: vision.light() == LightState::Steady,
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

    /// Goes on looking for the floor's marks.
    fn watch_drift(&mut self, frame: &Frame, vision: Option<&Vision>) {
        let Some(current) = &self.current else { return };
        let allowed_m = self.limits.drift_max_m;
        if (self.drift).observe((frame, vision), current, &mut self.levels, allowed_m) {
            lock(&self.status).drift = self.drift.status();
        }
    }
}
