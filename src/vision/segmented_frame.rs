//! What one frame shows, as the tracker and the group fit read it.

use glam::Vec2;

use super::background::Background;
use super::bit_mask::BitMask;
use super::blobs::BlobFinder;
use super::floor::FloorTable;
use super::foot::FootFinder;
use crate::geometry::Surface;

/// Segmentation of one frame. This is the input of the tracker.
pub(super) struct SegmentedFrame<'a> {
    pub(super) time_secs: f64,
    pub(super) dt_secs: f32,
    /// Age from which a blob that has not moved is treated as an object, in seconds.
    pub(super) scenery_secs: f32,
    /// Smallest area of a blob that can start a candidate, in m². Smaller blobs can still belong to an existing track.
    pub(super) min_candidate_area_m2: f32,
    /// 8-bit level of every pixel.
    pub(super) levels: &'a [u8],
    pub(super) blobs: &'a BlobFinder,
    pub(super) mask: &'a BitMask,
    pub(super) background: &'a Background,
    pub(super) floor: &'a FloorTable,
    pub(super) feet: &'a FootFinder,
    pub(super) surface: &'a Surface,
}

impl SegmentedFrame<'_> {
    /// Returns whether a shadow at a floor point can be detected.
    pub(super) fn is_observable(&self, floor_m: Vec2) -> bool {
        let index = self.floor.pixel_index_at(floor_m);
        index.is_some_and(|index| self.background.is_observable(index))
    }
}
