//! Detects ghosts: blobs without an object. A ghost appears where something bright was part of the background model and has
//! moved away: a thread before the lens at the start, or a patch of sunlight.
//!
//! The outline of a shadow is an edge in the frame, but not in the background model. The outline of a ghost is an edge in
//! the background model, but not in the frame (Cucchiara et al. 2003, "ghosts"). The test compares pixels inside and outside
//! along the outline.

use super::{Blob, BlobContext, Run};
use crate::vision::bit_mask::BitMask;

/// Number of rows per blob in which outlines are compared. Larger blobs are compared in other rows in each frame.
const ROWS: u32 = 8;
/// Every pixel in one of this many columns is compared with the pixels above and below.
const COLUMN_STEP: u32 = 8;
/// Distance from the outline to the compared pixel inside, in pixels. The edge of a shadow is soft.
const INSET_PX: i32 = 2;
/// Largest such distance, in pixels. In a wide blob, it is a quarter of the width.
const MAX_INSET_PX: i32 = 16;
/// Distances from the outline at which the compared pixel outside is searched for, in pixels. A patch of light can have a very
/// soft edge.
const OUTSIDE_PX: [i32; 10] = [3, 4, 5, 7, 9, 12, 16, 22, 30, 40];
/// A pixel outside is on lit floor if its level is between these multiples of the background model. If the edge of a blob is
/// so soft that none is found, the farthest pixel that is not brighter is compared.
const LIT: (f32, f32) = (0.9, 1.12);
/// Smallest number of comparisons for a decision.
const MIN_PAIRS: f32 = 4.0;
/// A blob is a ghost if less than this share of its depth is an edge in the frame.
const EDGE_SHARE: f32 = 0.3;
/// Standard deviation of the depth between two pixels of an evenly lit floor, as a natural logarithm: texture and noise.
const TEXTURE: f32 = 0.15;
/// Number of standard deviations by which a ghost must differ from a shadow.
const CERTAIN_STD_DEVS: f32 = 4.0;

/// Sums over the outline of one blob. Depths are natural logarithms of brightness ratios, so they are negative.
#[derive(Clone, Copy, Default)]
struct Outline {
    /// Row in which pixels are compared.
    row: u32,
    /// Distance to the next such row.
    row_step: u32,
    pairs: f32,
    /// Depth of the inside relative to the outside, in the frame.
    edge: f32,
    /// Depth of the inside relative to the background model, minus that of the outside.
    depth: f32,
}

impl Outline {
    fn is_ghost(&self) -> bool {
        // The edge of a shadow is as deep as the shadow, and the edge of a ghost is 0. Both are measured with the error of the
        // texture.
        let difference = -self.depth * (1.0 - EDGE_SHARE);
        self.pairs >= MIN_PAIRS
            && self.edge > EDGE_SHARE * self.depth
            && difference > CERTAIN_STD_DEVS * TEXTURE * self.pairs.sqrt()
    }
}

/// Finds the ghosts among the blobs of a frame. Its buffers are reused.
#[derive(Default)]
pub(super) struct GhostFinder {
    outlines: Vec<Outline>,
    is_ghost: Vec<bool>,
    has_ghosts: bool,
    frame: u32,
}

impl GhostFinder {
    /// Returns whether the blob with this index is a ghost.
    pub(super) fn is_ghost(&self, blob: usize) -> bool {
        self.is_ghost[blob]
    }

    pub(super) fn has_ghosts(&self) -> bool {
        self.has_ghosts
    }

    /// Tests all blobs. The bounding boxes of the blobs must be complete.
    pub(super) fn find(
        &mut self,
        labeled: &Labeled<'_>,
        mask: &BitMask,
        context: &BlobContext<'_>,
    ) {
        self.frame = self.frame.wrapping_add(1);
        self.outlines.clear();
        self.outlines.extend(labeled.blobs.iter().map(|blob| {
            let bounds = blob.bounds();
            let row_step = ((bounds.bottom - bounds.top) / ROWS).max(1);
            let row = bounds.top + self.frame % row_step;
            Outline {
                row,
                row_step,
                ..Outline::default()
            }
        }));
        let compared = Compared { mask, context };
        for run in labeled.runs {
            let index = labeled.blob_of_label[run.label as usize] as usize;
            let outline = &mut self.outlines[index];
            if run.y >= outline.row + outline.row_step {
                outline.row = run.y;
            }
            if run.y == outline.row {
                compared.add_run(run, self.frame, outline);
            }
        }
        self.is_ghost.clear();
        self.is_ghost
            .extend(self.outlines.iter().map(Outline::is_ghost));
        self.has_ghosts = self.is_ghost.contains(&true);
    }
}

/// Runs and their blobs.
pub(super) struct Labeled<'a> {
    pub(super) runs: &'a [Run],
    pub(super) blob_of_label: &'a [u32],
    pub(super) blobs: &'a [Blob],
}

/// Comparison of the frame with the background model along the outlines of the mask.
struct Compared<'a> {
    mask: &'a BitMask,
    context: &'a BlobContext<'a>,
}

impl Compared<'_> {
    /// Compares both ends of a run, and the pixels of some columns whose upper or lower neighbor is outside.
    fn add_run(&self, run: &Run, frame: u32, outline: &mut Outline) {
        let (y, start, last) = (run.y as i32, run.start as i32, run.end as i32 - 1);
        let height = self.mask.height() as i32;
        let width = last - start;
        let inset = (INSET_PX.min(width / 2)).max((width / 4).min(MAX_INSET_PX));
        self.add_pair((start + inset, y), (start, y), (-1, 0), outline);
        self.add_pair((last - inset, y), (last, y), (1, 0), outline);
        let first = run.start.next_multiple_of(COLUMN_STEP) + frame % COLUMN_STEP;
        for x in (first..run.end).step_by(COLUMN_STEP as usize) {
            let x = x as i32;
            for step in [-1, 1] {
                if !self.mask.contains(x, y + step) && (0..height).contains(&(y + step)) {
                    let deeper = (x, y - step * INSET_PX);
                    let is_inside = self.mask.contains(deeper.0, deeper.1);
                    let inside = if is_inside { deeper } else { (x, y) };
                    self.add_pair(inside, (x, y), (0, step), outline);
                }
            }
        }
    }

    /// Compares a pixel inside a blob with a pixel outside, which is searched for from the outline pixel `at` in direction
    /// `step`. Without a pixel outside that shows lit floor, nothing is compared.
    fn add_pair(
        &self,
        inside: (i32, i32),
        at: (i32, i32),
        step: (i32, i32),
        outline: &mut Outline,
    ) {
        let (width, height) = (self.mask.width() as i32, self.mask.height() as i32);
        let background = self.context.background;
        let (floor, gain) = (background.levels(), background.gain());
        let level = |index: usize| f32::from(self.context.levels[index]).max(1.0);
        let mut outside = None;
        for distance in OUTSIDE_PX {
            let (x, y) = (at.0 + distance * step.0, at.1 + distance * step.1);
            if x < 0 || y < 0 || x >= width || y >= height {
                break;
            }
            let index = (y * width + x) as usize;
            let lit = floor[index] * gain;
            let is_free = !self.mask.contains(x, y) && background.is_detectable(index);
            if is_free && level(index) <= LIT.1 * lit {
                outside = Some(index);
                if level(index) >= LIT.0 * lit {
                    break;
                }
            }
        }
        let Some(outside) = outside else { return };
        let inside = (inside.1 * width + inside.0) as usize;
        let edge = (level(inside) / level(outside)).ln();
        let model = (floor[inside].max(1.0) / floor[outside].max(1.0)).ln();
        outline.pairs += 1.0;
        outline.edge += edge;
        outline.depth += edge - model;
    }
}
