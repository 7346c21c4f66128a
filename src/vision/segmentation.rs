//! Models and buffers of one frame size: from the levels of a frame to its blobs, with changes of the lighting.

use crate::camera::UsedBits;

use super::VisionParams;
use super::background::{Background, START_SECS};
use super::bands::RollingBands;
use super::bit_mask::BitMask;
use super::blobs::{BlobContext, BlobFinder};
use super::exposure::ExposureMeter;
use super::floor::{FloorTable, FloorView};
use super::polarity::{self, Polarity, Reciprocal};

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

/// State of the lighting, which decides whether the foreground mask can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightState {
    /// The lighting is the same as when the background model was learned.
    Steady,
    /// Most of the image changed at once. Tracks are frozen until the lighting returns, or until the background is
    /// learned again.
    Changed,
}

/// Buffers and models whose size depends on the frame size.
pub(super) struct Segmentation {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) floor: FloorTable,
    /// Buffer for frames with more than 8 bits per pixel, converted to 8 bits.
    pub(super) eight_bit: Vec<u8>,
    pub(super) used_bits: UsedBits,
    /// Buffer for the picture in which bright visitors are dark.
    pub(super) turned: Vec<u8>,
    /// Buffer for the picture in which everything that differs from the floor is dark.
    pub(super) folded: Vec<u8>,
    pub(super) reciprocal: Reciprocal,
    pub(super) exposure: ExposureMeter,
    pub(super) bands: RollingBands,
    /// Buffer for a frame without rolling bands.
    pub(super) even: Vec<u8>,
    pub(super) background: Background,
    /// Share of the floor that visitors may cover, as far as they came one after another.
    pub(super) crowd_share: f32,
    /// Foreground mask. Morphology cleans it in place.
    pub(super) foreground: BitMask,
    /// The cleaned foreground mask, dilated. The background model does not learn there.
    pub(super) occupied: BitMask,
    pub(super) scratch: BitMask,
    pub(super) blobs: BlobFinder,
    /// Foreground that was not occupied in the frame before.
    pub(super) new_foreground: BitMask,
    pub(super) new_blobs: BlobFinder,
}

impl Segmentation {
    pub(super) fn new(
        view: &FloorView,
        params: &VisionParams,
        width: usize,
        height: usize,
    ) -> Self {
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

    pub(super) fn find_foreground(&mut self, levels: &[u8], params: &VisionParams) {
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
    pub(super) fn correct_bands(
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
    pub(super) fn light(&mut self, params: &VisionParams, dt_secs: f32) -> LightState {
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
    pub(super) fn adapt(
        &mut self,
        levels: &[u8],
        params: &VisionParams,
        changed_secs: f64,
    ) -> bool {
        let is_exposure = (1.0 / MAX_GAIN..=MAX_GAIN).contains(&self.background.gain());
        if is_exposure || changed_secs < START_SECS.into() || !self.background.fold_gain(params) {
            return false;
        }
        self.find_foreground(levels, params);
        true
    }

    /// Lowers the background model where light has gone at once from a part of the floor, such as that of one of several lamps, also
    /// behind visitors. Such a part has no edge in the picture, while a visitor has.
    pub(super) fn follow_lost_light(&mut self, levels: &[u8], params: &VisionParams) {
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

    pub(super) fn find_blobs(&mut self, levels: &[u8], params: &VisionParams) {
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
