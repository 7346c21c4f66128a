//! The vision stage: computes an observation of the visitors from the newest camera frame, and runs the camera calibration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::camera::{CameraParams, Frame, ReadOutcome};
use crate::geometry::{Surface, Visitor};
use crate::panel::LiveViews;
use crate::render::CalibrationPattern;
use crate::vision::{Vision, VisionParams};
use crate::world::Observation;

use super::super::floor_view::floor_view;
use super::camera_link::CameraLink;
use super::live_calibration::LiveCalibration;
use super::panel_views::{show_frame, show_mask, show_outlines, show_tracks};
use super::picture_faults::PictureFaults;
use crate::control::Journal;
use crate::runtime::{DurationMeter, Heartbeat, Latest, SETTLE_TIME};

/// Longest wait for a frame before the next heartbeat.
const FRAME_WAIT: Duration = Duration::from_millis(100);
/// Largest plausible age of a frame. An older timestamp does not come from the clock of this machine.
const LONGEST_AGE: Duration = Duration::from_secs(10);
/// Time without a frame after which the camera counts as lost, and all visitors are removed.
const CAMERA_LOST_AFTER: Duration = Duration::from_secs(1);

/// An observation, and the time of arrival of its camera frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimedObservation {
    /// The visitors on the surface.
    pub(crate) observation: Observation,
    /// Time of arrival of the frame; `None` if the observation does not come from a frame.
    pub(crate) frame_at: Option<Instant>,
}

/// Settings of the site that this stage uses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VisionSettings {
    /// Parameters of detection and tracking.
    pub(crate) vision: VisionParams,
    /// The projected surface.
    pub(crate) surface: Surface,
    /// The camera.
    pub(crate) camera: CameraParams,
}

/// Inputs and outputs of the vision stage. After a panic, the stage builds the background model and the tracks again.
pub(crate) struct VisionStage {
    /// Parameters of detection and tracking.
    pub(crate) params: VisionParams,
    /// The calibration in use and the running calibration procedure. Without a calibration the whole picture is mapped
    /// onto the surface.
    pub(crate) calibration: LiveCalibration,
    /// The projected surface.
    pub(crate) surface: Surface,
    /// Time from a frame until its effect is visible, in seconds. Positions are extrapolated by this time.
    pub(crate) latency_secs: f32,
    /// The camera source.
    pub(crate) camera: Arc<CameraLink>,
    /// Settings that the desk has changed and this stage has not applied yet.
    pub(crate) settings: Arc<Mutex<Option<VisionSettings>>>,
    /// Observations for the simulation stage.
    pub(crate) observations: Arc<Latest<TimedObservation>>,
    /// The visitors on the surface, for the counting stage.
    pub(crate) visitors: Arc<Latest<Vec<Visitor>>>,
    /// Calibration pattern for the render stage.
    pub(crate) pattern: Arc<Mutex<Option<CalibrationPattern>>>,
    /// Time from the arrival of a frame until its observation is passed to the simulation.
    pub(crate) observation_latency: Arc<DurationMeter>,
    /// Faults of this stage.
    pub(crate) journal: Journal,
    /// Camera picture and tracks, for the operator's panel.
    pub(crate) views: LiveViews,
}

impl VisionStage {
    /// Returns inactive faults of the picture for the current calibration.
    fn picture_faults(&self) -> PictureFaults {
        PictureFaults::new(self.calibration.current().is_some(), &self.journal)
    }

    /// Applies changed settings. The background model and the tracks are kept where the change allows it.
    fn apply_settings(
        &mut self,
        settings: VisionSettings,
        vision: &mut Option<(u32, u32, Vision)>,
    ) {
        let VisionSettings {
            vision: params,
            surface,
            camera,
        } = settings;
        self.latency_secs = camera.latency_ms / 1000.0;
        if let Err(error) = self.camera.change(&camera) {
            tracing::error!("the camera cannot be opened with the changed settings: {error:#}");
        }
        let is_kept = surface == self.surface
            && vision
                .as_mut()
                .is_none_or(|(_, _, vision)| vision.change_params(&params));
        if !is_kept {
            *vision = None;
        }
        self.calibration.change_settings(&params, &surface);
        (self.params, self.surface) = (params, surface);
    }

    /// Passes the visitors on: to the counting stage where they are, and to the simulation where they will be when its picture
    /// is visible. `seen` is reused memory.
    fn publish(&self, latest: &mut TimedObservation, seen: &mut Vec<Visitor>) {
        seen.clone_from(&latest.observation.shadows);
        self.visitors.put(seen);
        latest.observation.extrapolate(self.latency_secs);
        self.observations.put(latest);
    }

    /// Runs until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        let mut vision: Option<(u32, u32, Vision)> = None;
        let mut wrong_size = self.journal.fault("camera_size").settling(SETTLE_TIME);
        let mut picture_faults = self.picture_faults();
        let mut frame = Frame::default();
        let mut mask = Vec::new();
        let mut latest = TimedObservation::default();
        let mut seen = Vec::new();
        // Time without a frame in which this thread waited. The clock is not used, because the program may have been stopped.
        let mut silence = Duration::ZERO;
        let mut is_camera_lost = true;
        while heartbeat.keep_running() {
            if self.calibration.apply_commands() {
                // The new calibration maps the picture differently, so the tracker starts again.
                vision = None;
                picture_faults = self.picture_faults();
                tracing::info!("a new calibration is in use");
            }
            let settings = self.settings.lock().take();
            if let Some(settings) = settings {
                self.apply_settings(settings, &mut vision);
            }
            if let Err(error) = self.camera.reopen_if_requested() {
                tracing::error!("the camera cannot be opened again: {error:#}");
            }
            *self.pattern.lock() = self.calibration.pattern();
            // A live feed has no end and returns no error, because it opens a failed source again itself.
            let Some(feed) = self.camera.feed() else {
                heartbeat.sleep(FRAME_WAIT);
                self.calibration.camera_lost();
                continue;
            };
            let outcome = feed.take(&mut frame, FRAME_WAIT);
            if !matches!(outcome, Ok(ReadOutcome::Frame)) {
                silence += FRAME_WAIT;
                if silence > CAMERA_LOST_AFTER {
                    self.calibration.camera_lost();
                }
                if silence > CAMERA_LOST_AFTER && !std::mem::replace(&mut is_camera_lost, true) {
                    self.camera.set_lighting(None);
                    latest.observation.shadows.clear();
                    latest.frame_at = None;
                    self.publish(&mut latest, &mut seen);
                }
                continue;
            }
            silence = Duration::ZERO;
            let now = Instant::now();
            let age = feed.taken_age().min(LONGEST_AGE);
            let taken_at = now.checked_sub(age).unwrap_or(now);
            let frame = &frame;
            let is_frame_shown = show_frame(&self.views.camera, frame, now);
            let size = (frame.width_px, frame.height_px);
            if !matches!(&vision, Some((width, height, _)) if (*width, *height) == size) {
                // This is the first frame, or the camera has returned with another picture size.
                match floor_view(self.calibration.current(), &self.surface, frame) {
                    Ok(view) => {
                        wrong_size.clear();
                        vision = Some((size.0, size.1, Vision::new(&self.params, view)));
                    }
                    Err(error) => {
                        wrong_size.raise(&error);
                        vision = None;
                    }
                }
            }
            let Some((_, _, vision)) = &mut vision else {
                // The calibration was made with another picture size. There is no tracking, but the camera can be calibrated
                // again.
                self.calibration.observe(frame, None);
                latest.observation.shadows.clear();
                self.publish(&mut latest, &mut seen);
                continue;
            };
            let tracks = vision.observe(frame);
            show_tracks(&self.views, frame, tracks, now);
            latest.observation.update(frame.time_secs, tracks);
            show_mask(&self.views, vision, &mut mask, now);
            show_outlines(&self.views, vision, (frame, is_frame_shown), now);
            latest.frame_at = Some(taken_at);
            is_camera_lost = false;
            self.publish(&mut latest, &mut seen);
            self.observation_latency.record(taken_at.elapsed());
            picture_faults.observe(vision);
            self.camera.set_lighting(vision.lighting());
            self.calibration.observe(frame, Some(&*vision));
        }
    }
}
