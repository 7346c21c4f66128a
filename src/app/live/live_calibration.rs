//! Calibration of the camera while the pool runs. This part of the vision stage guides the technician from target to target,
//! and afterwards monitors whether the camera has moved.
//!
//! In: commands from the desk, and every frame. Out: the pattern to show, a new calibration when one is accepted, and a
//! [`CalibrationStatus`]. A second [`Vision`] finds the marks. It has no tracks, because a tracker makes objects that lie still
//! part of the floor. It maps the whole picture onto the surface, so it also sees the parts of the picture that the old
//! calibration does not use. During the procedure the fish use the old calibration. Must not: write a file; the desk does that.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use glam::{DVec2, DVec3};
use parking_lot::Mutex;

use super::drift_monitor::DriftMonitor;
use crate::calibration::{
    Calibration, CalibrationParams, CalibrationReport, CalibrationSetup, DarkMask, FloorFrame,
    GrayScan, MeanFrame, MeasuredPoint, PointOrigin, PoleMeasurement, SpotFrame, TargetObject,
    TouchEvent, TouchOptions, TouchProcedure, find_dark_spots, lamp_from_poles, read_points,
};
use crate::camera::{FaultKind, Frame, UsedBits};
use crate::control::{
    CalibrationEnd, CalibrationRejection, CalibrationStatus, CalibrationStep, CalibrationWait,
    DeskClient, Journal, TouchMark,
};
use crate::geometry::{FloorFromCamera, Surface};
use crate::render::{CalibrationPattern, FloorTarget};
use crate::runtime::now_iso;
use crate::screen::NoticeBoard;
use crate::vision::{FloorView, LightState, Vision, VisionParams};

mod accept;
mod floor_text;
mod gray_scan;
mod status;

/// Factor that reduces the shadow threshold of the tracker while marks are measured. Marks are opaque, so only darker pixels
/// belong to them. With the usual threshold, half-shadows beside a pole would shift its measured foot point to one side.
const MARK_THRESHOLD_FACTOR: f32 = 0.85;

/// Largest number of commands that may wait.
pub const CALIBRATION_COMMANDS_MAX: usize = 16;

/// Time in which the background model learns uncovered floor while the camera is calibrated, in seconds.
const LEARN_SECS: f32 = 60.0;

/// Number of frames that are averaged to the mean picture in which the floor's marks are chosen.
const MEAN_FRAMES: u16 = 16;

/// Error message of steps that need a calibration.
const NO_CALIBRATION: &str = "the camera is not calibrated yet; calibrate it first";
/// Error message of steps that need the size of the camera's pictures.
const NO_PICTURE: &str = "the camera has sent no picture yet";

/// Receives what became of a step. It is called once, on the thread of the vision stage, so it must not block.
pub struct StepAnswer(Box<dyn FnOnce(Result<(), CalibrationRejection>) + Send>);

impl StepAnswer {
    /// Calls `answer` with what became of the step.
    pub fn new(answer: impl FnOnce(Result<(), CalibrationRejection>) + Send + 'static) -> Self {
        Self(Box::new(answer))
    }

    /// Says what became of the step.
    pub(super) fn give(self, done: Result<(), CalibrationRejection>) {
        (self.0)(done);
    }
}

impl std::fmt::Debug for StepAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StepAnswer")
    }
}

/// A message from the desk to the calibration.
#[derive(Debug)]
pub enum CalibrationCommand {
    /// A step of the calibration procedure, with the current limits of the site, and who waits for what becomes of it.
    Step(CalibrationStep, CalibrationParams, StepAnswer),
    /// The site file names another calibration.
    Replace(Option<Box<Calibration>>),
    /// The result of saving the accepted calibration, as a message for the technician.
    ReportSaved(String),
}

/// The calibration in use, the running procedure, and the drift monitor.
pub struct LiveCalibration {
    /// Index of the camera.
    camera: usize,
    commands: Receiver<CalibrationCommand>,
    desk: DeskClient,
    status: Arc<Mutex<CalibrationStatus>>,
    params: VisionParams,
    limits: CalibrationParams,
    surface: Surface,
    /// Digest of the geometry of the outputs; `None` if it is unknown.
    projection: Option<String>,
    /// The same when the last procedure began.
    measured_projection: Option<String>,
    current: Option<Calibration>,
    procedure: Option<Procedure>,
    /// End of the last procedure; `None` before the first.
    end: Option<CalibrationEnd>,
    /// Message of the last step, shown in addition to the procedure's own message.
    message: String,
    /// Rejection of the last step or result. A touch procedure keeps its own.
    rejection: Option<CalibrationRejection>,
    drift: DriftMonitor,
    journal: Journal,
    notices: NoticeBoard,
    /// The last frame with 8 bits per pixel. Scratch memory.
    levels: Vec<u8>,
    /// Mean of the frames since the procedure started, in which the floor's marks are chosen.
    mean: MeanFrame,
    used_bits: UsedBits,
    /// Pixels of the last frame that a mark covers.
    dark: Vec<bool>,
    /// Size of the camera's pictures in pixels; `None` before the first frame.
    picture_px: Option<(u32, u32)>,
    /// Whether the camera has stopped to send pictures.
    is_camera_lost: bool,
    /// What makes the pictures useless.
    picture_fault: Option<FaultKind>,
    /// Whether the pictures come from a recording that is replayed instead of the camera.
    is_replay: bool,
    /// Whether the message has to be printed even if the state has not changed.
    has_new_message: bool,
}

/// A running calibration procedure.
enum Procedure {
    /// Touch targets were requested. The procedure starts with the next frame, because it needs the size of the frame.
    Requested { grid: (u8, u8), mark: TargetObject },
    /// Touch targets are shown.
    Touching {
        touch: Box<TouchProcedure>,
        vision: Box<Vision>,
    },
    /// Gray-code stripes are shown.
    Scanning(Box<GrayScan>),
    /// A calibration from markers, a table or stripes was checked and waits until the technician accepts it.
    Proven(Box<(Calibration, CalibrationReport)>),
}

fn rejected(code: &str, text: impl Into<String>) -> CalibrationRejection {
    CalibrationRejection {
        code: code.to_owned(),
        text: text.into(),
        repeat: Vec::new(),
    }
}

/// The rejection of a step that is not possible now.
pub(super) fn not_now(text: impl Into<String>) -> CalibrationRejection {
    rejected("step", text)
}

/// Returns the parameters with which marks are found.
fn mark_params(params: VisionParams) -> VisionParams {
    VisionParams {
        learn_secs: LEARN_SECS,
        shadow_ratio: params.shadow_ratio * MARK_THRESHOLD_FACTOR,
        ..params
    }
}

impl LiveCalibration {
    /// Creates the state with the calibration of the site, and publishes the first status.
    pub fn new(
        commands: Receiver<CalibrationCommand>,
        desk: DeskClient,
        status: Arc<Mutex<CalibrationStatus>>,
        (params, surface): (VisionParams, Surface),
        current: Option<Calibration>,
    ) -> Self {
        let mut started = Self {
            camera: 0,
            commands,
            desk,
            status,
            limits: CalibrationParams::default(),
            params: mark_params(params),
            surface,
            projection: None,
            measured_projection: None,
            drift: DriftMonitor::new(current.as_ref(), &Journal::default()),
            journal: Journal::default(),
            notices: NoticeBoard::default(),
            current,
            procedure: None,
            end: None,
            message: String::new(),
            rejection: None,
            levels: Vec::new(),
            mean: MeanFrame::default(),
            used_bits: UsedBits::default(),
            dark: Vec::new(),
            picture_px: None,
            is_camera_lost: false,
            picture_fault: None,
            is_replay: false,
            has_new_message: false,
        };
        started.publish();
        started
    }

    /// Sets the index of the camera. Reports faults to this journal, and texts for the floor to this board, from now on.
    #[must_use]
    pub(super) fn with_boards(
        mut self,
        camera: usize,
        journal: &Journal,
        notices: &NoticeBoard,
    ) -> Self {
        self.camera = camera;
        self.notices = notices.clone();
        self.drift = DriftMonitor::new(self.current.as_ref(), journal);
        self.journal = journal.clone();
        self
    }

    /// Uses other parameters and another surface for the next procedure.
    pub(super) fn change_settings(&mut self, params: &VisionParams, surface: &Surface) {
        self.params = mark_params(params.clone());
        self.surface.clone_from(surface);
    }

    /// Sets the digest of the geometry of the outputs, which a calibration remembers.
    pub fn set_projection(&mut self, projection: String) {
        self.projection = Some(projection);
    }

    /// Says that no pictures arrive, until the next one does.
    pub fn camera_lost(&mut self) {
        if !std::mem::replace(&mut self.is_camera_lost, true) && self.procedure.is_some() {
            self.has_new_message = true;
            self.publish();
        }
    }

    /// Whether a procedure is running.
    pub(super) fn is_running(&self) -> bool {
        self.procedure.is_some()
    }

    /// Says which fault makes the pictures useless for a calibration; `None` if they are good.
    pub fn set_picture_fault(&mut self, fault: Option<FaultKind>) {
        if std::mem::replace(&mut self.picture_fault, fault) != fault && self.procedure.is_some() {
            self.has_new_message = true;
            self.publish();
        }
    }

    /// Returns what a procedure that measures waits for while the camera sends nothing that could be measured.
    fn camera_wait(&self) -> Option<CalibrationWait> {
        match (&self.procedure, self.picture_fault) {
            (Some(Procedure::Touching { .. } | Procedure::Scanning(_)), fault) => match fault {
                Some(FaultKind::Black) => Some(CalibrationWait::CameraBlack),
                Some(FaultKind::Saturated) => Some(CalibrationWait::CameraSaturated),
                Some(FaultKind::Frozen) => Some(CalibrationWait::CameraFrozen),
                _ => self.is_camera_lost.then_some(CalibrationWait::CameraLost),
            },
            _ => None,
        }
    }

    /// Says that the next frames come from a source that was opened again: the camera, or a recording that is replayed instead.
    /// A recording does not show whether the camera has moved.
    pub fn source_opened(&mut self, is_replay: bool) {
        self.is_replay = is_replay;
        self.drift.restart();
        self.status.lock().drift = None;
    }

    /// Returns the calibration in use.
    pub fn current(&self) -> Option<&Calibration> {
        self.current.as_ref()
    }

    /// Returns the pattern to show on the surface; `None` if there is nothing to show.
    pub fn pattern(&self) -> Option<CalibrationPattern> {
        match &self.procedure {
            Some(Procedure::Touching { touch, .. }) => {
                let pattern = touch.shown_target()?;
                Some(CalibrationPattern::Target(FloorTarget {
                    number: pattern.number,
                    at_m: pattern.floor_m.as_vec2(),
                }))
            }
            Some(Procedure::Scanning(scan)) => {
                Some(CalibrationPattern::Stripes(gray_scan::stripes(scan)?))
            }
            _ => None,
        }
    }

    /// Applies the commands that arrived since the last call. Returns true if the calibration in use has been replaced.
    pub fn apply_commands(&mut self) -> bool {
        let (mut is_replaced, mut has_commands) = (false, false);
        let mut answers = Vec::new();
        while let Ok(command) = self.commands.try_recv() {
            has_commands = true;
            match command {
                CalibrationCommand::Step(step, limits, answer) => {
                    self.limits = limits;
                    let done = self.step(step);
                    match &done {
                        Ok(changed) => is_replaced |= changed,
                        Err(rejection) => {
                            self.message.clone_from(&rejection.text);
                            self.rejection = Some(rejection.clone());
                        }
                    }
                    answers.push((answer, done.map(|_| ())));
                }
                CalibrationCommand::Replace(named) => {
                    let named = named.map(|boxed| *boxed);
                    if named != self.current {
                        self.use_calibration(named);
                        is_replaced = true;
                    }
                }
                CalibrationCommand::ReportSaved(message) => self.message = message,
            }
        }
        if has_commands {
            self.has_new_message = true;
            self.publish();
        }
        // After the answer, the status shows the effect of the step.
        for (answer, done) in answers {
            answer.give(done);
        }
        is_replaced
    }

    /// Processes a frame for the running procedure, or for the drift monitor. `vision` has processed the same frame with the
    /// calibration in use; it is `None` if that was not possible.
    pub fn observe(&mut self, frame: &Frame, vision: Option<&Vision>) {
        if frame.luma.len() != frame.width_px as usize * frame.height_px as usize {
            return;
        }
        self.picture_px = Some((frame.width_px, frame.height_px));
        self.is_camera_lost = false;
        if self.procedure.is_some() {
            self.used_bits.observe(&frame.luma);
            (self.used_bits).write_eight_bit(&frame.luma, &mut self.levels);
            self.mean.add(&FloorFrame {
                levels: &self.levels,
                width_px: frame.width_px as usize,
            });
            if self.mean.frame_count() >= MEAN_FRAMES {
                self.mean.finish();
            }
        }
        match self.procedure.take() {
            Some(Procedure::Requested { grid, mark }) => {
                self.procedure = self.begin(grid, mark, (frame.width_px, frame.height_px));
                self.publish();
            }
            Some(Procedure::Touching { touch, vision }) => self.touch(frame, touch, vision),
            Some(Procedure::Scanning(scan)) => self.scan(frame, scan),
            Some(waiting) => self.procedure = Some(waiting),
            None if self.is_replay => {}
            None => self.monitor_drift(frame, vision),
        }
    }

    fn step(&mut self, step: CalibrationStep) -> Result<bool, CalibrationRejection> {
        self.message.clear();
        self.rejection = None;
        if matches!(
            step,
            CalibrationStep::Start { .. }
                | CalibrationStep::StartAgain
                | CalibrationStep::GrayCode
                | CalibrationStep::Markers { .. }
                | CalibrationStep::Table { .. }
        ) {
            self.measured_projection.clone_from(&self.projection);
        }
        match step {
            CalibrationStep::Start {
                columns,
                rows,
                mark,
            } => {
                let mark = match mark {
                    TouchMark::Disc => TargetObject::Disc,
                    TouchMark::Pole => TargetObject::Pole,
                };
                // An invalid grid is rejected immediately. This check does not depend on the picture size, so any size is used.
                TouchProcedure::new(self.touch_options((columns, rows), mark, (640, 480)))
                    .map_err(not_now)?;
                self.mean.clear();
                self.procedure = Some(Procedure::Requested {
                    grid: (columns, rows),
                    mark,
                });
            }
            CalibrationStep::GrayCode => self.start_scan().map_err(not_now)?,
            CalibrationStep::Back => self.touching()?.previous(),
            CalibrationStep::Skip => self.touching()?.skip(),
            CalibrationStep::Repeat { target } => {
                self.touching()?.repeat(target).map_err(not_now)?;
            }
            CalibrationStep::StartAgain => self.touching()?.start_again(),
            CalibrationStep::Cancel => {
                if self.procedure.take().is_some() {
                    self.end = Some(CalibrationEnd::Cancelled);
                    "Cancelled. The old calibration stays in use.".clone_into(&mut self.message);
                }
            }
            CalibrationStep::Accept => return self.accept().map_err(not_now),
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
                let points = read_points(&text).map_err(|error| not_now(error.to_string()))?;
                self.fit(&points)?;
            }
            CalibrationStep::Lamp { position_m } => {
                self.set_lamp(position_m)?;
                return Ok(true);
            }
            CalibrationStep::Poles { height_m, poles } => {
                let map = self.map().ok_or_else(|| not_now(NO_CALIBRATION))?;
                let measured: Vec<PoleMeasurement> = poles
                    .iter()
                    .map(|p| PoleMeasurement {
                        foot_m: map.floor_from_camera(DVec2::from_array(p.foot_px)),
                        tip_m: map.floor_from_camera(DVec2::from_array(p.tip_px)),
                    })
                    .collect();
                let found = lamp_from_poles(&measured, height_m).map_err(not_now)?;
                self.set_lamp(found.position_m.to_array())?;
                let [x, y, z] = found.position_m.to_array();
                self.message = format!(
                    "The lamp is at {x:.2}, {y:.2}, {z:.2} m (± {:.2} m); the tips of the shadows agree within {:.0} mm.",
                    found.deviation_m,
                    found.rms_m * 1e3
                );
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn touching(&mut self) -> Result<&mut TouchProcedure, CalibrationRejection> {
        match &mut self.procedure {
            Some(Procedure::Touching { touch, .. }) => Ok(touch),
            _ => Err(not_now(
                "no touch targets are shown; start a calibration first",
            )),
        }
    }

    fn setup(&self, picture_px: (u32, u32)) -> CalibrationSetup {
        CalibrationSetup {
            frame_px: picture_px,
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
            date: now_iso(),
        }
    }

    fn touch_options(
        &self,
        grid: (u8, u8),
        object: TargetObject,
        picture_px: (u32, u32),
    ) -> TouchOptions {
        TouchOptions {
            grid,
            object,
            setup: self.setup(picture_px),
            limits: self.limits.clone(),
        }
    }

    fn begin(
        &mut self,
        grid: (u8, u8),
        mark: TargetObject,
        picture_px: (u32, u32),
    ) -> Option<Procedure> {
        match TouchProcedure::new(self.touch_options(grid, mark, picture_px)) {
            Ok(touch) => {
                let view = FloorView {
                    map: FloorFromCamera::whole_frame(picture_px.0, picture_px.1, &self.surface),
                    lamp_m: None,
                    camera_m: None,
                    surface: self.surface.clone(),
                };
                Some(Procedure::Touching {
                    touch: Box::new(touch),
                    vision: Box::new(Vision::without_tracks(&self.params, view)),
                })
            }
            Err(message) => {
                self.message = message;
                None
            }
        }
    }

    fn touch(&mut self, frame: &Frame, mut touch: Box<TouchProcedure>, mut vision: Box<Vision>) {
        if touch.frame_px() != (frame.width_px, frame.height_px) {
            self.size_changed();
            return;
        }
        vision.observe(frame);
        let width_px = vision.write_foreground(&mut self.dark);
        let mask = DarkMask {
            dark: &self.dark,
            width_px,
        };
        let before = touch.shown_target();
        let event = touch.observe(&SpotFrame {
            time_secs: frame.time_secs,
            is_steady: vision.light() == LightState::Steady,
            spots: &find_dark_spots(&mask, touch.target_object()),
            mask,
        });
        if let TouchEvent::Measured(number) = event {
            self.message.clear();
            self.rejection = None;
            tracing::info!(number, "calibration: target taken");
        }
        if before.is_some() && touch.shown_target().is_none() {
            tracing::info!("calibration: {}", touch.instruction());
        }
        self.procedure = Some(Procedure::Touching { touch, vision });
        self.publish();
    }

    fn size_changed(&mut self) {
        let text = "The size of the camera's pictures changed. Start the calibration again.";
        self.fail(rejected("picture_size", text));
        self.publish();
    }

    /// Ends the procedure without a result.
    fn fail(&mut self, rejection: CalibrationRejection) {
        self.end = Some(CalibrationEnd::Failed);
        self.message.clone_from(&rejection.text);
        self.rejection = Some(rejection);
    }

    fn use_calibration(&mut self, calibration: Option<Calibration>) {
        self.drift = DriftMonitor::new(calibration.as_ref(), &self.journal);
        self.current = calibration;
    }

    fn map(&self) -> Option<FloorFromCamera> {
        let current = self.current.as_ref()?;
        let picture = current.picture;
        current
            .floor_from_camera(picture.width_px, picture.height_px)
            .ok()
    }

    fn monitor_drift(&mut self, frame: &Frame, vision: Option<&Vision>) {
        let Some(current) = &self.current else { return };
        let allowed_m = self.limits.drift_max_m;
        if (self.drift).observe((frame, vision), current, &mut self.levels, allowed_m) {
            self.status.lock().drift = self.drift.status();
        }
    }
}
