//! The vision stage: computes an observation of the visitors from the newest camera frame, and runs the camera calibration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::camera::{FaultKind, Frame, ReadOutcome};
use crate::geometry::{Surface, Visitor};
use crate::panel::LiveViews;
use crate::render::CalibrationPattern;
use crate::vision::{Vision, VisionParams, WatchedFloor};

use super::super::floor_view::floor_view;
use super::super::frame_tracker::CAMERA_LOST_AFTER;
use super::camera_link::CameraLink;
use super::drawn_areas::SeenAreas;
use super::live_calibration::LiveCalibration;
use super::panel_views::{show_frame, show_mask, show_outlines, show_tracks};
use super::picture_faults::PictureFaults;
use super::rig::{FrameTracks, Outlet, Rig, VisionSettings};
use super::tracker_follower::TrackerFollower;
use crate::control::Journal;
use crate::runtime::{DurationMeter, Heartbeat, SETTLE_TIME};

/// Longest wait for a frame before the next heartbeat.
const FRAME_WAIT: Duration = Duration::from_millis(100);
/// Largest plausible age of a frame. An older timestamp does not come from the clock of this machine.
const LONGEST_AGE: Duration = Duration::from_secs(10);

/// Inputs and outputs of the vision stage. After a panic, the stage builds the background model and the tracks again.
pub(crate) struct VisionStage {
    /// Index of the camera.
    pub(crate) camera_index: usize,
    /// All cameras.
    pub(crate) rig: Arc<Rig>,
    /// Receives the tracks of every frame.
    pub(crate) outlet: Arc<Outlet>,
    /// Parameters of detection and tracking.
    pub(crate) params: VisionParams,
    /// The calibration in use and the running calibration procedure. Without a calibration the whole picture is mapped
    /// onto the surface.
    pub(crate) calibration: LiveCalibration,
    /// The projected surface.
    pub(crate) surface: Surface,
    /// Time from a frame until its effect is visible, in seconds. Positions are extrapolated by this time.
    pub(crate) latency_secs: f32,
    /// Calibration pattern for the render stage.
    pub(crate) pattern: Arc<Mutex<Option<CalibrationPattern>>>,
    /// Time from the arrival of a frame until its observation is passed to the simulation.
    pub(crate) observation_latency: Arc<DurationMeter>,
    /// Faults of this stage.
    pub(crate) journal: Journal,
    /// Camera picture and tracks, for the operator's panel.
    pub(crate) views: LiveViews,
}

/// Reused memory for what the panel shows.
#[derive(Default)]
struct Scratch {
    mask: Vec<bool>,
    visitors: Vec<Visitor>,
}

/// Faults that make the pictures of a camera useless for a calibration.
const USELESS_PICTURES: [FaultKind; 3] =
    [FaultKind::Black, FaultKind::Saturated, FaultKind::Frozen];

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
            projection,
        } = settings;
        self.latency_secs = camera.latency_ms / 1000.0;
        match self.link().change(&camera) {
            Ok(true) => self.source_opened(),
            Ok(false) => {}
            Err(error) => {
                tracing::error!("the camera cannot be opened with the changed settings: {error:#}");
            }
        }
        if surface != self.surface {
            *vision = None;
        }
        if let Some((_, _, vision)) = vision {
            vision.change_params(&params);
        }
        self.calibration.change_settings(&params, &surface);
        self.calibration.set_projection(projection);
        self.outlet.set_surface(&surface);
        (self.params, self.surface) = (params, surface);
    }

    fn source_opened(&mut self) {
        let is_replay = self.link().is_replay();
        self.calibration.source_opened(is_replay);
    }

    /// Returns the camera source.
    fn link(&self) -> &CameraLink {
        &self.rig.cameras[self.camera_index].link
    }

    /// Whether picture and calibration of this camera are shown.
    fn is_chosen(&self) -> bool {
        self.rig.chosen_index() == self.camera_index
    }

    /// Passes on which floor the camera watches.
    fn set_watched(&self, vision: &Vision, size: (u32, u32)) {
        let seen = SeenAreas::new(vision.view(), &self.params, size);
        *self.rig.cameras[self.camera_index].seen.lock() = Some(seen);
        if self.outlet.is_fusing() {
            let watched = WatchedFloor::new(vision.view(), &self.params, size);
            self.outlet.set_watched(self.camera_index, watched);
        }
    }

    /// Passes the tracks of a frame on.
    fn publish(&self, vision: &Vision, frame: &Frame, taken_at: Instant) {
        let tracks = FrameTracks {
            tracks: vision.tracks(),
            covariances_m2: vision.covariances_m2(),
            time_secs: frame.time_secs,
            taken_at,
            latency_secs: self.latency_secs,
        };
        self.outlet.observe(self.camera_index, &tracks);
    }

    /// Passes the visitors of a tracker on, if the source is one. Returns whether it is.
    fn follow_tracker(&mut self, follower: &mut TrackerFollower, scratch: &mut Scratch) -> bool {
        let rig = Arc::clone(&self.rig);
        let mut tracker = rig.cameras[self.camera_index].link.tracker();
        let Some(tracker) = &mut *tracker else {
            follower.leave();
            return false;
        };
        self.calibration.camera_lost();
        let now = Instant::now();
        let Some(at) = follower.follow(tracker, FRAME_WAIT, self.latency_secs) else {
            return true;
        };
        self.observation_latency.record(at.taken_at.elapsed());
        if self.is_chosen() && self.views.tracks.is_due(now) {
            self.outlet.copy_visitors(&mut scratch.visitors);
            show_tracks(
                &self.views,
                (at.number, at.time_secs),
                &scratch.visitors,
                now,
            );
        }
        true
    }

    /// Shows picture, tracks and outlines to the panel if this camera is chosen.
    fn show(&self, vision: &Vision, (frame, is_shown): (&Frame, bool), scratch: &mut Scratch) {
        if !self.is_chosen() {
            return;
        }
        let now = Instant::now();
        if self.views.tracks.is_due(now) {
            self.outlet.copy_visitors(&mut scratch.visitors);
            show_tracks(
                &self.views,
                (frame.sequence, frame.time_secs),
                &scratch.visitors,
                now,
            );
        }
        show_mask(&self.views, vision, &mut scratch.mask, now);
        let rename = |id: &mut u32| self.outlet.rename(self.camera_index, id);
        show_outlines(&self.views, vision, (frame, is_shown), rename);
    }

    /// Runs until the program ends.
    pub(crate) fn run(&mut self, heartbeat: &Heartbeat) {
        let mut vision: Option<(u32, u32, Vision)> = None;
        let mut wrong_size = self.journal.fault("camera_size").settling(SETTLE_TIME);
        let mut picture_faults = self.picture_faults();
        let mut frame = Frame::default();
        let mut scratch = Scratch::default();
        let outlet = (self.camera_index, &self.outlet);
        let mut follower =
            TrackerFollower::new(outlet, &self.params.tracking, &self.surface, &self.journal);
        let mut is_watched_known = false;
        // Time without a frame in which this thread waited. The clock is not used, because the program may have been stopped.
        let mut silence = Duration::ZERO;
        let mut is_camera_lost = true;
        while heartbeat.keep_running() {
            // First, because the desk sends a step of the calibration after the change that the step is for.
            let settings = self.rig.cameras[self.camera_index].settings.lock().take();
            if let Some(settings) = settings {
                self.apply_settings(settings, &mut vision);
                follower.change(&self.params.tracking, &self.surface);
                is_watched_known = false;
            }
            if self.calibration.apply_commands() {
                // The new calibration maps the picture differently, so the tracker starts again.
                vision = None;
                picture_faults = self.picture_faults();
                tracing::info!("a new calibration is in use");
            }
            match self.link().reopen_if_requested() {
                Ok(true) => self.source_opened(),
                Ok(false) => {}
                Err(error) => tracing::error!("the camera cannot be opened again: {error:#}"),
            }
            if self.is_chosen() {
                *self.pattern.lock() = self.calibration.pattern();
            }
            if self.follow_tracker(&mut follower, &mut scratch) {
                continue;
            }
            // A live feed has no end and returns no error, because it opens a failed source again itself.
            let Some(feed) = self.link().feed() else {
                heartbeat.sleep(FRAME_WAIT);
                self.calibration.camera_lost();
                continue;
            };
            let outcome = feed.take(&mut frame, FRAME_WAIT);
            if self.calibration.is_running() {
                let fault = USELESS_PICTURES.into_iter().find(|kind| feed.has(*kind));
                self.calibration.set_picture_fault(fault);
            }
            if !matches!(outcome, Ok(ReadOutcome::Frame)) {
                silence += FRAME_WAIT;
                // Frames that a camera only repeats are kept back some time after it has stopped.
                let is_silent = silence.max(feed.repeated_for()) > CAMERA_LOST_AFTER;
                if is_silent {
                    self.calibration.camera_lost();
                }
                if is_silent && !std::mem::replace(&mut is_camera_lost, true) {
                    self.link().set_lighting(None);
                    self.outlet.lose(self.camera_index);
                }
                continue;
            }
            silence = Duration::ZERO;
            let now = Instant::now();
            let age = feed.taken_age().min(LONGEST_AGE);
            let taken_at = now.checked_sub(age).unwrap_or(now);
            let frame = &frame;
            let is_frame_shown = self.is_chosen() && show_frame(&self.views.camera, frame, now);
            let size = (frame.width_px, frame.height_px);
            if !matches!(&vision, Some((width, height, _)) if (*width, *height) == size) {
                // This is the first frame, or the camera has returned with another picture size.
                match floor_view(self.calibration.current(), &self.surface, frame) {
                    Ok(view) => {
                        wrong_size.clear();
                        vision = Some((size.0, size.1, Vision::new(&self.params, view)));
                        is_watched_known = false;
                        self.outlet.restart(self.camera_index);
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
                self.outlet.lose(self.camera_index);
                continue;
            };
            if !std::mem::replace(&mut is_watched_known, true) {
                self.set_watched(vision, size);
            }
            vision.observe(frame);
            is_camera_lost = false;
            self.publish(vision, frame, taken_at);
            self.observation_latency.record(taken_at.elapsed());
            self.show(vision, (frame, is_frame_shown), &mut scratch);
            picture_faults.observe(vision);
            self.link().set_lighting(vision.lighting());
            self.calibration.observe(frame, Some(&*vision));
        }
    }
}
