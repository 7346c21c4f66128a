//! One frame through all stages of vision, and what happens when the light itself changes.

use std::mem;

use crate::camera::{Frame, Luma, UsedBits};

use super::VisionParams;
use super::background::Background;
use super::bits::BitMask;
use super::blobs::{BlobFinder, Scene};
use super::debug::{self, DebugViews};
use super::foot::FootFinder;
use super::tracks::{Sight, Track, Tracker};
use super::view::{FloorTable, FloorView};

/// Beyond this gain, up or down, the light was switched rather than the exposure changed.
const STEEPEST_GAIN: f32 = 3.0;
/// Somebody known is followed down to this share of the least area of a newcomer.
const KNOWN_AREA_SHARE: f32 = 0.5;
/// A gap between two frames counts as at most this, so that a stalled camera does not throw tracks far away.
const LONGEST_STEP_SECS: f64 = 0.5;

/// Whether the floor's light can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Light {
    /// The floor is lit as it was learned.
    Steady,
    /// Most of the picture changed at once: tracks are held until it is as before, or learned anew.
    Changed,
}

/// Turns frames into tracks. Keeps its memory: a steady frame allocates nothing.
pub struct Vision {
    params: VisionParams,
    view: FloorView,
    feet: FootFinder,
    stage: Option<Stage>,
    tracker: Tracker,
    last_secs: Option<f64>,
    changed_since_secs: Option<f64>,
}

/// Everything that depends on the picture's size.
struct Stage {
    width: usize,
    height: usize,
    floor: FloorTable,
    /// Memory for frames of more than 8 bit.
    eight_bit: Vec<u8>,
    used_bits: UsedBits,
    background: Background,
    /// Where shadow was found, before and after cleaning.
    shadow: BitMask,
    /// The same, grown: nothing is learned there.
    occupied: BitMask,
    scratch: BitMask,
    blobs: BlobFinder,
}

impl Vision {
    /// Vision for one camera.
    pub fn new(params: &VisionParams, view: FloorView) -> Self {
        let lamp_m = view.lamp_m.map(glam::DVec3::as_vec3);
        let camera_m = view.camera_m.or_else(|| view.camera_straight_above_m());
        let camera_m = camera_m.map(glam::DVec3::as_vec3);
        Self {
            params: params.clone(),
            feet: FootFinder::new(lamp_m, camera_m, &params.tracking),
            tracker: Tracker::new(&params.tracking),
            view,
            stage: None,
            last_secs: None,
            changed_since_secs: None,
        }
    }

    /// Whether the floor's light can be trusted, as of the last frame.
    pub fn light(&self) -> Light {
        if self.changed_since_secs.is_some() {
            Light::Changed
        } else {
            Light::Steady
        }
    }

    /// Where the last frame was darker than the floor, cleaned: writes a value for every pixel, row-major, and returns the
    /// width. Nothing is dark before the first frame, and while the light has changed.
    pub fn write_dark(&self, to: &mut Vec<bool>) -> usize {
        to.clear();
        let Some(stage) = &self.stage else { return 0 };
        let is_steady = self.changed_since_secs.is_none();
        for y in 0..stage.height {
            let row = stage.shadow.row(y);
            to.extend((0..stage.width).map(|x| is_steady && row[x / 64] >> (x % 64) & 1 == 1));
        }
        stage.width
    }

    /// The lit floor as it is known, at the last frame's brightness: writes a level for every pixel, row-major, and returns
    /// the width. Empty before the first frame.
    pub fn write_floor(&self, to: &mut Vec<u8>) -> usize {
        to.clear();
        let Some(stage) = &self.stage else { return 0 };
        let gain = stage.background.gain();
        let lit = stage.background.levels().iter();
        to.extend(lit.map(|level| (level * gain).round() as u8));
        stage.width
    }

    /// Pictures of what every stage made of the last frame, which is given once more; `None` before any, or when it is
    /// of another size.
    pub fn debug_views(&self, frame: &Frame) -> Option<DebugViews> {
        let stage = self.stage.as_ref()?;
        let mut levels = Vec::new();
        (stage.used_bits).write_eight_bit(&frame.luma, &mut levels);
        (levels.len() == stage.width * stage.height).then(|| {
            debug::draw(&debug::Stages {
                levels: &levels,
                background: &stage.background,
                shadow: &stage.shadow,
                blobs: &stage.blobs,
                tracks: self.tracker.tracks(),
                view: &self.view,
            })
        })
    }

    /// Forgets the floor and learns it anew from the next frame on. Visitors are kept in mind for their return.
    pub fn relearn(&mut self) {
        if let Some(stage) = &mut self.stage {
            stage.background.restart();
            stage.occupied.clear();
            stage.used_bits = UsedBits::default();
        }
        self.tracker.lose_all();
        self.changed_since_secs = None;
    }

    /// Takes one frame and tells who is there at its time, by ascending id.
    ///
    /// A frame of another size starts the floor anew; one that is empty, short or without a time changes nothing.
    pub fn observe(&mut self, frame: &Frame) -> &[Track] {
        let (width, height) = (frame.width_px as usize, frame.height_px as usize);
        let whole = width > 0 && height > 0 && frame.luma.len() == width * height;
        if !whole || !frame.time_secs.is_finite() {
            return self.tracker.tracks();
        }
        if self
            .stage
            .as_ref()
            .is_none_or(|s| (s.width, s.height) != (width, height))
        {
            self.tracker.lose_all();
            self.stage = Some(Stage::new(&self.view, width, height));
        }
        let time_secs = frame.time_secs;
        let dt_secs =
            (time_secs - self.last_secs.unwrap_or(time_secs)).clamp(0.0, LONGEST_STEP_SECS);
        self.last_secs = Some(time_secs);
        let Some(stage) = &mut self.stage else {
            return &[];
        };
        let mut eight_bit = mem::take(&mut stage.eight_bit);
        let levels: &[u8] = match &frame.luma {
            Luma::Eight(levels) => levels,
            Luma::Sixteen { .. } => {
                stage.used_bits.observe(&frame.luma);
                (stage.used_bits).write_eight_bit(&frame.luma, &mut eight_bit);
                &eight_bit
            }
        };
        self.see(levels, time_secs, dt_secs);
        if let Some(stage) = &mut self.stage {
            stage.eight_bit = eight_bit;
        }
        self.tracker.tracks()
    }

    /// Takes the brightness of all pixels in, 8 bit.
    fn see(&mut self, levels: &[u8], time_secs: f64, dt_secs: f64) {
        let Some(stage) = &mut self.stage else {
            return;
        };
        if stage.find_shadow(levels, &self.params) == Light::Changed {
            let since = *self.changed_since_secs.get_or_insert(time_secs);
            self.tracker.hold(dt_secs as f32);
            if time_secs - since >= f64::from(self.params.relearn_secs) {
                self.relearn();
            }
            return;
        }
        self.changed_since_secs = None;
        stage.find_blobs(levels, &self.params);
        stage
            .background
            .learn(levels, &stage.occupied, &self.params, dt_secs as f32);
        let sight = Sight {
            time_secs,
            dt_secs: dt_secs as f32,
            scenery_secs: self.params.scenery_secs,
            newcomer_area_m2: self.params.min_area_m2,
            levels,
            blobs: &stage.blobs,
            mask: &stage.shadow,
            background: &stage.background,
            floor: &stage.floor,
            feet: &self.feet,
            surface: &self.view.surface,
        };
        self.tracker.update(&sight);
        for &blob in self.tracker.scenery() {
            for row in stage.blobs.rows(&stage.blobs.blobs()[blob]) {
                let rim_px = self.params.grow_px as usize;
                stage.background.absorb(levels, row, rim_px, &self.params);
            }
        }
    }
}

impl Stage {
    fn new(view: &FloorView, width: usize, height: usize) -> Self {
        let floor = FloorTable::new(view, width, height);
        Self {
            width,
            height,
            background: Background::new(width, height, floor.areas_m2()),
            eight_bit: Vec::new(),
            used_bits: UsedBits::default(),
            shadow: BitMask::new(width, height),
            occupied: BitMask::new(width, height),
            scratch: BitMask::new(width, height),
            blobs: BlobFinder::default(),
            floor,
        }
    }

    fn find_shadow(&mut self, levels: &[u8], params: &VisionParams) -> Light {
        self.background
            .find_shadow(levels, &self.occupied, params, &mut self.shadow);
        let share = self.shadow.count() as f32 / self.background.usable_count().max(1) as f32;
        let gain = self.background.gain();
        if share > params.light_change_share
            || !(1.0 / STEEPEST_GAIN..=STEEPEST_GAIN).contains(&gain)
        {
            Light::Changed
        } else {
            Light::Steady
        }
    }

    fn find_blobs(&mut self, levels: &[u8], params: &VisionParams) {
        self.shadow
            .clean(params.open_px, params.close_px, &mut self.scratch);
        self.occupied.copy_from(&self.shadow);
        self.occupied.grow(params.grow_px, &mut self.scratch);
        let scene = Scene {
            levels,
            background: &self.background,
            floor: &self.floor,
        };
        let areas_m2 = (KNOWN_AREA_SHARE * params.min_area_m2, params.max_area_m2);
        self.blobs.find(&self.shadow, &scene, areas_m2);
    }
}
