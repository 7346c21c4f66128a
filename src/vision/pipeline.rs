//! Processes one frame through all steps of vision, and detects changes of the lighting.

use std::mem;

use glam::Mat2;

use crate::camera::{Frame, Luma, UsedBits};
use crate::geometry::Visitor;

use super::background::{Background, START_SECS};
use super::bands::RollingBands;
use super::bit_mask::BitMask;
use super::blobs::{BlobContext, BlobFinder};
use super::debug::{self, DebugViews};
use super::exposure::{ExposureMeter, JudgedPicture, Lighting};
use super::fault::VisionFault;
use super::floor::{FloorTable, FloorView};
use super::foot::FootFinder;
use super::polarity::{self, Polarity, Reciprocal};
use super::segmented_frame::SegmentedFrame;
use super::strobe::{Strobe, StrobePhase};
use super::tracker::{TrackEvent, Tracker};
use super::{TrackingParams, VisionParams};

/// Largest gain that is a change of the exposure; the smallest such gain is its inverse. A gain outside this range means that a
/// light was switched on or off, or that the light has changed by so much since the model was learned.
const MAX_GAIN: f32 = 3.0;
/// Speed with which visitors fill the floor at most, in shares of the floor per second. A class that runs in takes five seconds.
/// Light changes faster.
const CROWD_SHARE_PER_SEC: f32 = 0.15;
/// Smallest share of the floor that must become dark in one frame for a check whether a lamp went out. A visitor who walks darkens
/// less new floor.
const LOST_LIGHT_SHARE: f32 = 0.02;
/// Smallest blob that can belong to an existing track, as a share of the smallest blob that can start one.
const TRACKED_AREA_SHARE: f32 = 0.5;
/// Upper limit for the time step between two frames, in seconds. Without it, predicted tracks would jump far after a
/// camera stall.
const MAX_STEP_SECS: f64 = 0.5;

/// State of the lighting, which decides whether the foreground mask can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightState {
    /// The lighting is the same as when the background model was learned.
    Steady,
    /// Most of the image changed at once. Tracks are frozen until the lighting returns, or until the background is
    /// learned again.
    Changed,
}

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

/// Buffers and models whose size depends on the frame size.
struct Segmentation {
    width: usize,
    height: usize,
    floor: FloorTable,
    /// Buffer for frames with more than 8 bits per pixel, converted to 8 bits.
    eight_bit: Vec<u8>,
    used_bits: UsedBits,
    /// Buffer for the picture in which bright visitors are dark.
    turned: Vec<u8>,
    /// Buffer for the picture in which everything that differs from the floor is dark.
    folded: Vec<u8>,
    reciprocal: Reciprocal,
    exposure: ExposureMeter,
    bands: RollingBands,
    /// Buffer for a frame without rolling bands.
    even: Vec<u8>,
    background: Background,
    /// Share of the floor that visitors may cover, as far as they came one after another.
    crowd_share: f32,
    /// Foreground mask. Morphology cleans it in place.
    foreground: BitMask,
    /// The cleaned foreground mask, dilated. The background model does not learn there.
    occupied: BitMask,
    scratch: BitMask,
    blobs: BlobFinder,
    /// Foreground that was not occupied in the frame before.
    new_foreground: BitMask,
    new_blobs: BlobFinder,
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

impl Segmentation {
    fn new(view: &FloorView, params: &VisionParams, width: usize, height: usize) -> Self {
        let mut floor = FloorTable::new(view, width, height);
        floor.restrict(params);
        Self {
            width,
            height,
            background: Background::new(width, height, floor.areas_m2()),
            eight_bit: Vec::new(),
            turned: Vec::new(),
            folded: Vec::new(),
            reciprocal: Reciprocal::default(),
            exposure: ExposureMeter::new(&floor, &view.surface, (width, height)),
            used_bits: UsedBits::default(),
            bands: RollingBands::new(height),
            even: Vec::with_capacity(width * height),
            crowd_share: 0.0,
            foreground: BitMask::new(width, height),
            occupied: BitMask::new(width, height),
            scratch: BitMask::new(width, height),
            blobs: BlobFinder::default(),
            new_foreground: BitMask::new(width, height),
            new_blobs: BlobFinder::default(),
            floor,
        }
    }

    fn find_foreground(&mut self, levels: &[u8], params: &VisionParams) {
        self.background.measure_gain(levels, &self.occupied, params);
        let shown = if params.polarity == Polarity::Both {
            let (floor, gain) = (self.background.levels(), self.background.gain());
            polarity::fold(levels, floor, gain, &mut self.folded);
            &self.folded
        } else {
            levels
        };
        self.background.mark_foreground(shown, &mut self.foreground);
    }

    /// Writes the frame without rolling bands to `even`. Returns whether there are bands.
    fn correct_bands(
        &mut self,
        levels: &[u8],
        time_secs: f64,
        params: &VisionParams,
        even: &mut Vec<u8>,
    ) -> bool {
        if !(self.bands).observe(self.background.row_ratios(), time_secs) {
            return false;
        }
        let row_gains = self.bands.row_gains_mut();
        self.background
            .measure_rows(levels, &self.occupied, params, row_gains);
        self.bands.correct(levels, even);
        true
    }

    /// Returns the state of the lighting in this frame, from the foreground before morphology. Light changes if most of the floor
    /// that was free becomes foreground within a short time. Visitors who come one after another may cover as much.
    fn light(&mut self, params: &VisionParams, dt_secs: f32) -> LightState {
        let gain = self.background.gain();
        if self.background.is_starting() {
            return LightState::Steady;
        }
        let share = self.foreground.count() as f32 / self.background.usable_count().max(1) as f32;
        let added = (share - self.crowd_share) / (1.0 - self.crowd_share).max(f32::MIN_POSITIVE);
        if added > params.light_change_share || !(1.0 / MAX_GAIN..=MAX_GAIN).contains(&gain) {
            return LightState::Changed;
        }
        self.crowd_share = share.min(self.crowd_share + CROWD_SHARE_PER_SEC * dt_secs);
        LightState::Steady
    }

    /// Adapts the background model to light that has changed equally everywhere, after more than a flash. Returns `false` if it has
    /// not.
    fn adapt(&mut self, levels: &[u8], params: &VisionParams, changed_secs: f64) -> bool {
        let is_exposure = (1.0 / MAX_GAIN..=MAX_GAIN).contains(&self.background.gain());
        if is_exposure || changed_secs < START_SECS.into() || !self.background.fold_gain(params) {
            return false;
        }
        self.find_foreground(levels, params);
        true
    }

    /// Lowers the background model where light has gone at once from a part of the floor, such as that of one of several lamps, also
    /// behind visitors. Such a part has no edge in the picture, while a visitor has.
    fn follow_lost_light(&mut self, levels: &[u8], params: &VisionParams) {
        self.new_foreground.copy_from(&self.foreground);
        self.new_foreground.subtract(&self.occupied);
        let limit = LOST_LIGHT_SHARE * self.background.usable_count() as f32;
        if self.background.is_starting() || (self.new_foreground.count() as f32) < limit {
            return;
        }
        (self.new_foreground).clean(params.open_px, params.close_px, &mut self.scratch);
        let context = BlobContext {
            levels,
            background: &self.background,
            floor: &self.floor,
        };
        (self.new_blobs).find_ghosts(&self.new_foreground, &self.foreground, &context);
        self.scratch.copy_from(&self.foreground);
        self.scratch.subtract(&self.new_foreground);
        let (mut row, mut from) = (u32::MAX, 0);
        for ghost in self.new_blobs.ghost_rows() {
            if ghost.0 != row {
                (row, from) = (ghost.0, 0);
            }
            let covered = (&self.scratch, from);
            from = (self.background).lose_light(levels, ghost, covered, params);
        }
        if row != u32::MAX {
            self.find_foreground(levels, params);
        }
    }

    fn find_blobs(&mut self, levels: &[u8], params: &VisionParams) {
        if self.background.is_starting() {
            self.foreground.clear();
        }
        self.foreground
            .clean(params.open_px, params.close_px, &mut self.scratch);
        let context = BlobContext {
            levels,
            background: &self.background,
            floor: &self.floor,
        };
        let areas_m2 = (TRACKED_AREA_SHARE * params.min_area_m2, params.max_area_m2);
        self.blobs.find(&self.foreground, &context, areas_m2);
        for (y, start, end) in self.blobs.ghost_rows() {
            (self.foreground).clear_run(y as usize, start as usize, end as usize);
        }
        for row in self.blobs.ghost_rows() {
            self.background.heal(levels, row, &self.foreground, params);
        }
        self.occupied.copy_from(&self.foreground);
        self.occupied.dilate(params.grow_px, &mut self.scratch);
    }
}
