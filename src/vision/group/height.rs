//! Measures the height of a member: tries several heights and selects the one that explains the foreground best.

use crate::vision::blobs::Blob;
use crate::vision::foot::Origin;
use crate::vision::segmented_frame::SegmentedFrame;

use super::silhouette::Silhouette;
use super::{GroupFitter, Member, PIXELS_ALONE};

/// Learning rate of the tone of shadows, per measurement.
const SHADOW_TONE_RATE: f32 = 0.05;
/// Number of heights that are tried.
const HEIGHT_COUNT: usize = 9;
/// Smallest height that is tried, as a share of the tallest expected height.
const SMALLEST_SHARE: f32 = 0.43;
/// A measurement is valid only if the worst cost exceeds the best cost by at least this value.
const MIN_COST_RANGE: f32 = 1.5;
/// A measurement is valid only if the costs of a clearly smaller and of a clearly taller height both exceed the best
/// cost by at least this value.
const BOUND_COST: f32 = 0.75;
/// Used instead of [`BOUND_COST`] for a visitor who may be only partly visible. With `BOUND_COST`, 17 of 100 such
/// measurements were wrong by more than 12 cm. With this value, 2 of 100 were, as for fully visible visitors.
const CUT_OFF_COST: f32 = 12.0;
/// Largest step by which the position is adapted to each tried height, in meters.
const REPOSITION_STEP_M: f32 = 0.06;
/// Step by which the height of a group member may change per frame, in meters.
pub(super) const HEIGHT_ADJUST_M: f32 = 0.08;
/// Cost of one height change, in the units of the position cost.
const HEIGHT_ADJUST_COST: f32 = 0.64;
/// If more than this area of the silhouette at the tallest height is unobservable, in m², the visitor may be only
/// partly visible.
const MAX_UNOBSERVABLE_M2: f32 = 0.02;
/// A blob closer to the image border than this, in pixels, may be cut off.
const EDGE_PX: u32 = 3;

impl GroupFitter {
    /// Measures the height and the body tone of a visitor who is alone in a blob. A value is `None` if it cannot be
    /// measured. Also updates the tone of shadows.
    pub(in crate::vision) fn measure_appearance(
        &mut self,
        alone: &Member,
        blob: &Blob,
        frame: &SegmentedFrame<'_>,
    ) -> (Option<f32>, Option<f32>) {
        self.sample_pixels(&blob.bounds(), PIXELS_ALONE, frame);
        let origins = frame.feet.lamp_and_camera();
        let [shadow, body] = if origins.contains(&None) {
            [None; 2]
        } else {
            self.pixels.tones(&alone.silhouette(&origins))
        };
        if let Some(observed) = shadow {
            let known = self.shadow_tone.get_or_insert(observed);
            *known += SHADOW_TONE_RATE * (observed - *known);
        }
        let alone = Member::new(alone.position_m, alone.height_m);
        (self.measure_height_m(&[alone], 0, blob, frame), body)
    }

    /// Measures the height of one member of a blob. Returns `None` if no height explains the foreground clearly better
    /// than the other heights. The pixels of the blob must already be sampled.
    pub(in crate::vision) fn measure_height_m(
        &mut self,
        members: &[Member],
        index: usize,
        blob: &Blob,
        frame: &SegmentedFrame<'_>,
    ) -> Option<f32> {
        let (width, height) = (frame.mask.width() as u32, frame.mask.height() as u32);
        let cut_off = blob.left.min(blob.first_pixel.1) < EDGE_PX
            || blob.end.0 + EDGE_PX > width
            || blob.end.1 + EDGE_PX > height;
        let origins = frame.feet.lamp_and_camera();
        let tallest = Silhouette::new(members[index].position_m, self.tallest_m, None, &origins);
        let unobservable = self
            .unobservable
            .iter()
            .filter(|(position_m, _)| tallest.covers(*position_m));
        let unobservable_m2: f32 = unobservable.map(|(_, area_m2)| area_m2).sum();
        let bound_cost = if cut_off || unobservable_m2 > MAX_UNOBSERVABLE_M2 {
            CUT_OFF_COST
        } else {
            BOUND_COST
        };
        let smallest_m = SMALLEST_SHARE * self.tallest_m;
        let step_m = (self.tallest_m - smallest_m) / (HEIGHT_COUNT - 1) as f32;
        let mut costs = [0.0; HEIGHT_COUNT];
        self.cover_by_others(members, index, &origins);
        for (number, cost) in costs.iter_mut().enumerate() {
            let mut member = Member {
                expected_m: members[index].position_m,
                height_m: smallest_m + number as f32 * step_m,
                is_standing: false,
                ..members[index]
            };
            *cost = self.step_member(&mut member, REPOSITION_STEP_M, &origins);
        }
        let (best, least) = costs.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
        let most = costs.iter().fold(0.0, |a: f32, b| a.max(*b));
        let inside = 1..HEIGHT_COUNT - 1;
        if most - least < MIN_COST_RANGE || !inside.contains(&best) {
            return None;
        }
        let is_bound = |costs: &[f32]| costs.iter().any(|cost| cost - least > bound_cost);
        let (smaller, taller) = (&costs[..best - 1], &costs[best + 2..]);
        if !is_bound(smaller) || !is_bound(taller) {
            return None;
        }
        // The result is at the minimum of the parabola through the costs of the best height and its two neighbors.
        let (before, after) = (costs[best - 1], costs[best + 1]);
        let bend = before - 2.0 * least + after;
        let offset = if bend > 0.0 {
            0.5 * (before - after) / bend
        } else {
            0.0
        };
        Some(smallest_m + (best as f32 + offset) * step_m)
    }

    /// Changes the height of a member by one step if this lowers the cost.
    pub(super) fn adjust_height(
        &mut self,
        members: &mut [Member],
        index: usize,
        origins: &[Option<Origin>; 2],
    ) {
        self.cover_by_others(members, index, origins);
        let member = members[index];
        let smallest_m = SMALLEST_SHARE * self.tallest_m;
        let by = |step_m: f32| Member {
            height_m: (member.height_m + step_m)
                .min(self.tallest_m)
                .max(smallest_m),
            ..member
        };
        let stretched = [-HEIGHT_ADJUST_M, HEIGHT_ADJUST_M].map(by);
        let mut least = self.cost(&member, member.position_m, origins);
        for stretched in stretched {
            let cost = self.cost(&stretched, member.position_m, origins) + HEIGHT_ADJUST_COST;
            if cost < least {
                least = cost;
                members[index] = stretched;
            }
        }
    }
}
