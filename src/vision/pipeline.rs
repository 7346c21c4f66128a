//! Processes one frame through all steps of vision.

use std::mem;

use glam::Mat2;

use crate::camera::{Frame, Luma, UsedBits};
use crate::geometry::Visitor;

use super::debug::{self, DebugViews};
use super::exposure::{ExposureMeter, JudgedPicture, Lighting};
use super::fault::VisionFault;
use super::floor::FloorView;
use super::foot::FootFinder;
use super::polarity::Polarity;
use super::segmentation::{LightState, Segmentation};
use super::segmented_frame::SegmentedFrame;
use super::strobe::{Strobe, StrobePhase};
use super::tracker::{TrackEvent, Tracker};
use super::{TrackingParams, VisionParams};

/// Upper limit for the time step between two frames, in seconds. Without it, predicted tracks would jump far after a
/// camera stall.
const MAX_STEP_SECS: f64 = 0.5;

/// Turns frames into tracks. All buffers are reused: a steady frame allocates nothing.
pub struct Vision {
    params: VisionParams,
    view: FloorView,
    feet: FootFinder,
    segmentation: Option<Segmentation>,
    /// `None` if only the foreground is wanted.
    tracker: Option<Tracker>,
    strobe: Strobe,
    last_frame_secs: Option<f64>,
    light_changed_since_secs: Option<f64>,
}

impl Vision {
    /// Creates the vision stage for one camera.
    pub fn new(params: &VisionParams, view: FloorView) -> Self {
        Self {
            tracker: Some(Tracker::new(&params.tracking)),
            ..Self::without_tracks(params, view)
        }
    }

    /// Creates a vision stage that finds the foreground and never returns a track. Because no track decides what an object is,
    /// an object on the floor never becomes part of the background model, however long it lies still.
    pub fn without_tracks(params: &VisionParams, view: FloorView) -> Self {
        Self {
            params: params.clone(),
            feet: feet(&view, &params.tracking),
            tracker: None,
            view,
            segmentation: None,
            strobe: Strobe::default(),
            last_frame_secs: None,
            light_changed_since_secs: None,
        }
    }

    /// Uses other parameters from the next frame on. Tracks keep their ids. If polarity or areas change, the background is learned
    /// again, and returning visitors can recover their ids.
    pub fn change_params(&mut self, params: &VisionParams) {
        let shows = |params: &VisionParams| {
            (
                params.polarity,
                params.ignore.clone(),
                params.include.clone(),
            )
        };
        if shows(params) != shows(&self.params) {
            self.lose_all_tracks();
            self.segmentation = None;
        }
        self.feet = feet(&self.view, &params.tracking);
        if let Some(tracker) = &mut self.tracker {
            tracker.change_params(&params.tracking);
        }
        self.params.clone_from(params);
    }

    /// Returns the state of the lighting in the last frame.
    pub fn light(&self) -> LightState {
        if self.light_changed_since_secs.is_some() {
            LightState::Changed
        } else {
            LightState::Steady
        }
    }

    /// Returns how the surface is lit. `None` in the first second, while the light changes, and if visitors are not darker than the
    /// floor.
    pub fn lighting(&self) -> Option<&Lighting> {
        self.segmentation.as_ref()?.exposure.lighting()
    }

    /// Returns the faults of the picture, the most severe first.
    pub fn faults(&self) -> impl Iterator<Item = VisionFault> {
        let segmentation = self.segmentation.as_ref();
        let exposure = segmentation.map(|s| &s.exposure);
        let dark = exposure.and_then(ExposureMeter::too_dark);
        let bright = exposure.and_then(ExposureMeter::too_bright);
        let area = segmentation.and_then(|s| s.background.unreliable().fault());
        let now_secs = self.last_frame_secs.unwrap_or_default();
        let depth = segmentation.and_then(|s| s.bands.depth(now_secs));
        let faults = [
            dark.map(VisionFault::DarkFloor),
            bright.map(VisionFault::BrightFloor),
            area,
            self.strobe.dark_share().map(VisionFault::StrobingLight),
            depth.map(VisionFault::RollingBands),
        ];
        faults.into_iter().flatten()
    }

    /// Writes the cleaned foreground mask of the last frame to `to`, one value per pixel, row-major, and returns the
    /// width of the mask in pixels. All values are false in the state [`LightState::Changed`]. Before the first frame,
    /// `to` becomes empty.
    pub fn write_foreground(&self, to: &mut Vec<bool>) -> usize {
        to.clear();
        let Some(segmentation) = &self.segmentation else {
            return 0;
        };
        let is_steady = self.light_changed_since_secs.is_none();
        for y in 0..segmentation.height {
            let row = segmentation.foreground.row(y);
            to.extend(
                (0..segmentation.width).map(|x| is_steady && row[x / 64] >> (x % 64) & 1 == 1),
            );
        }
        segmentation.width
    }

    /// Whether a visitor covers this pixel of the last frame, according to the same mask.
    pub fn is_foreground(&self, x: usize, y: usize) -> bool {
        let segmentation = self.segmentation.as_ref();
        segmentation.is_some_and(|segmentation| {
            self.light_changed_since_secs.is_none()
                && (x < segmentation.width && y < segmentation.height)
                && segmentation.foreground.row(y)[x / 64] >> (x % 64) & 1 == 1
        })
    }

    /// Writes the background model, multiplied by the gain of the last frame, to `to`: one level per pixel, row-major.
    /// Returns the width in pixels. Before the first frame, `to` becomes empty.
    pub fn write_background(&self, to: &mut Vec<u8>) -> usize {
        to.clear();
        let Some(segmentation) = &self.segmentation else {
            return 0;
        };
        let gain = segmentation.background.gain();
        let lit = segmentation.background.levels().iter();
        let is_turned = self.params.polarity == Polarity::Bright;
        to.extend(lit.map(|level| match is_turned {
            true => segmentation.reciprocal.level_of(level * gain).round() as u8,
            false => (level * gain).round() as u8,
        }));
        segmentation.width
    }

    /// Returns images of the intermediate results for the last frame. `frame` must be that same frame. Returns `None`
    /// before the first frame, or if the size of `frame` differs.
    pub fn debug_views(&self, frame: &Frame) -> Option<DebugViews> {
        let segmentation = self.segmentation.as_ref()?;
        let mut levels = Vec::new();
        (segmentation.used_bits).write_eight_bit(&frame.luma, &mut levels);
        (levels.len() == segmentation.width * segmentation.height).then(|| {
            debug::draw(&debug::DebugInput {
                levels: &levels,
                background: &segmentation.background,
                foreground: &segmentation.foreground,
                blobs: &segmentation.blobs,
                tracks: self.tracks(),
                view: &self.view,
            })
        })
    }

    /// Discards the background model and starts to learn a new one with the next frame. All tracks become lost, so
    /// returning visitors can recover their ids.
    pub fn relearn(&mut self) {
        if let Some(segmentation) = &mut self.segmentation {
            segmentation.background.reset();
            segmentation.crowd_share = 0.0;
            segmentation.reciprocal.reset();
            segmentation.exposure.reset();
            segmentation.occupied.clear();
            segmentation.used_bits = UsedBits::default();
        }
        self.lose_all_tracks();
        self.light_changed_since_secs = None;
    }

    /// Returns the view of the floor that this stage was created with.
    pub fn view(&self) -> &FloorView {
        &self.view
    }

    /// Returns the tracks of the last frame, ordered by id.
    pub fn tracks(&self) -> &[Visitor] {
        self.tracker.as_ref().map_or(&[], Tracker::published)
    }

    /// Returns the covariance of the foot point of each track, in m².
    pub fn covariances_m2(&self) -> &[Mat2] {
        (self.tracker.as_ref()).map_or(&[], Tracker::covariances_m2)
    }

    /// Returns the decisions of the tracker in the last frame, in the order in which they were made.
    pub fn events(&self) -> &[TrackEvent] {
        (self.tracker.as_ref()).map_or(&[], Tracker::events)
    }

    fn lose_all_tracks(&mut self) {
        if let Some(tracker) = &mut self.tracker {
            tracker.lose_all();
        }
    }

    /// Processes one frame and returns the tracks at the time of that frame, ordered by id.
    ///
    /// A frame whose size differs from the previous frame resets the background model. A frame that is empty,
    /// incomplete or without a valid time stamp changes nothing.
    pub fn observe(&mut self, frame: &Frame) -> &[Visitor] {
        let (width, height) = (frame.width_px as usize, frame.height_px as usize);
        let is_complete = width > 0 && height > 0 && frame.luma.len() == width * height;
        if !is_complete || !frame.time_secs.is_finite() {
            return self.tracks();
        }
        if self
            .segmentation
            .as_ref()
            .is_none_or(|s| (s.width, s.height) != (width, height))
        {
            self.lose_all_tracks();
            self.segmentation = Some(Segmentation::new(&self.view, &self.params, width, height));
        }
        let Some(segmentation) = &mut self.segmentation else {
            return &[];
        };
        let mut eight_bit = mem::take(&mut segmentation.eight_bit);
        let levels: &[u8] = match &frame.luma {
            Luma::U8(levels) => levels,
            Luma::U16 { .. } => {
                segmentation.used_bits.observe(&frame.luma);
                (segmentation.used_bits).write_eight_bit(&frame.luma, &mut eight_bit);
                &eight_bit
            }
        };
        let phase = self.strobe.observe(levels, width, frame.time_secs);
        if phase == StrobePhase::Detected && self.tracks().is_empty() {
            // The model may have been learned from dark pictures.
            self.relearn();
        }
        if phase != StrobePhase::Dark {
            self.observe_levels(levels, frame.time_secs);
        }
        if let Some(segmentation) = &mut self.segmentation {
            segmentation.eight_bit = eight_bit;
        }
        self.tracks()
    }

    /// Processes the 8-bit levels of one frame.
    fn observe_levels(&mut self, levels: &[u8], time_secs: f64) {
        let dt_secs =
            (time_secs - self.last_frame_secs.unwrap_or(time_secs)).clamp(0.0, MAX_STEP_SECS);
        self.last_frame_secs = Some(time_secs);
        let Some(segmentation) = &mut self.segmentation else {
            return;
        };
        let mut turned = mem::take(&mut segmentation.turned);
        let levels = match self.params.polarity {
            Polarity::Bright => {
                segmentation.reciprocal.write(levels, &mut turned);
                &turned
            }
            Polarity::Dark | Polarity::Both => levels,
        };
        self.process(levels, time_secs, dt_secs);
        if let Some(segmentation) = &mut self.segmentation {
            segmentation.turned = turned;
        }
    }

    /// Processes one frame, given as the 8-bit levels of all pixels.
    fn process(&mut self, levels: &[u8], time_secs: f64, dt_secs: f64) {
        let Some(segmentation) = &mut self.segmentation else {
            return;
        };
        let mut even = mem::take(&mut segmentation.even);
        segmentation.find_foreground(levels, &self.params);
        let levels = if segmentation.correct_bands(levels, time_secs, &self.params, &mut even) {
            segmentation.find_foreground(&even, &self.params);
            &even
        } else {
            levels
        };
        self.track_foreground(levels, time_secs, dt_secs);
        if let Some(segmentation) = &mut self.segmentation {
            segmentation.even = even;
        }
    }

    /// Finds the blobs of the foreground and updates the tracks and the background model.
    fn track_foreground(&mut self, levels: &[u8], time_secs: f64, dt_secs: f64) {
        let Some(segmentation) = &mut self.segmentation else {
            return;
        };
        if segmentation.light(&self.params, dt_secs as f32) == LightState::Changed {
            let since = *self.light_changed_since_secs.get_or_insert(time_secs);
            if !segmentation.adapt(levels, &self.params, time_secs - since) {
                segmentation.exposure.reset();
                if let Some(tracker) = &mut self.tracker {
                    tracker.hold(dt_secs as f32);
                }
                if time_secs - since >= f64::from(self.params.relearn_secs) {
                    self.relearn();
                }
                return;
            }
        }
        self.light_changed_since_secs = None;
        segmentation.follow_lost_light(levels, &self.params);
        let folded = mem::take(&mut segmentation.folded);
        let shown = match self.params.polarity {
            Polarity::Both => &folded,
            Polarity::Dark | Polarity::Bright => levels,
        };
        segmentation.find_blobs(shown, &self.params);
        segmentation
            .background
            .learn(levels, &segmentation.occupied, &self.params, dt_secs as f32);
        if self.params.polarity == Polarity::Dark {
            let picture = JudgedPicture {
                levels,
                occupied: &segmentation.occupied,
            };
            (segmentation.exposure).advance(
                dt_secs as f32,
                &picture,
                &segmentation.background,
                &self.params,
            );
        }
        segmentation.background.advance_unreliable(
            dt_secs as f32,
            &segmentation.floor,
            &self.params,
        );
        let Some(tracker) = &mut self.tracker else {
            segmentation.folded = folded;
            return;
        };
        let segmented = SegmentedFrame {
            time_secs,
            dt_secs: dt_secs as f32,
            scenery_secs: self.params.scenery_secs,
            min_candidate_area_m2: self.params.min_area_m2,
            levels: shown,
            blobs: &segmentation.blobs,
            mask: &segmentation.foreground,
            background: &segmentation.background,
            floor: &segmentation.floor,
            feet: &self.feet,
            surface: &self.view.surface,
        };
        tracker.update(&segmented);
        for &blob in tracker.static_blobs() {
            for row in segmentation.blobs.rows(&segmentation.blobs.blobs()[blob]) {
                let rim_px = self.params.grow_px as usize;
                segmentation
                    .background
                    .absorb(levels, row, rim_px, &self.params);
            }
        }
        segmentation.folded = folded;
    }
}

/// Returns the finder of foot points for a view.
fn feet(view: &FloorView, params: &TrackingParams) -> FootFinder {
    let lamp_m = view.lamp_m.map(glam::DVec3::as_vec3);
    let camera_m = view.camera_m.or_else(|| view.assumed_camera_m());
    FootFinder::new(lamp_m, camera_m.map(glam::DVec3::as_vec3), params)
}
