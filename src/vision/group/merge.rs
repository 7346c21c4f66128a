//! Merge hypothesis: two tracks may be fragments of one visitor.

use crate::vision::blobs::Bounds;
use crate::vision::foot::Origin;
use crate::vision::segmented_frame::SegmentedFrame;

use super::{GroupFitter, Member, PIXELS_ALONE, STEPS_M};

/// Standard deviation of the merged member's position around its start position, in meters.
const SPREAD_M: f32 = 0.3;
/// Number of rounds of position and height fitting.
const ROUNDS: usize = 2;

/// Result of fitting one member instead of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct MergedFit {
    /// The single member, fitted.
    pub(in crate::vision) member: Member,
    /// Log-likelihood of two members, less that of one, in nats.
    pub(in crate::vision) evidence_for_two: f32,
}

impl GroupFitter {
    /// Fits one member to the foreground within `bounds` instead of the two members of `pair`. Tones are ignored,
    /// because two members can match more tones than one can.
    pub(in crate::vision) fn fit_merged(
        &mut self,
        pair: [Member; 2],
        bounds: &Bounds,
        frame: &SegmentedFrame<'_>,
    ) -> MergedFit {
        self.sample_pixels(bounds, PIXELS_ALONE, frame);
        self.pixels.ignore_tones();
        let (evidence_for_two, member) =
            self.fit_merged_and_pair(pair, &frame.feet.lamp_and_camera());
        MergedFit {
            member,
            evidence_for_two,
        }
    }

    /// Fits the pair, and a single member near each of the two positions. Returns the evidence in nats
    /// for the pair instead of the better single member, and this single member. Heights are fitted too.
    pub(super) fn fit_merged_and_pair(
        &mut self,
        pair: [Member; 2],
        origins: &[Option<Origin>; 2],
    ) -> (f32, Member) {
        let mut fitted_pair = pair;
        self.fit_with_heights(&mut fitted_pair, origins);
        let pair_misfit = self.unexplained(&fitted_pair, origins);
        let mut best = (f32::INFINITY, pair[0]);
        for either in pair {
            let mut merged = [Member {
                spread_m: SPREAD_M,
                ..Member::new(either.position_m, either.height_m)
            }];
            self.fit_with_heights(&mut merged, origins);
            let misfit = self.unexplained(&merged, origins);
            if misfit < best.0 {
                best = (misfit, merged[0]);
            }
        }
        (best.0 - pair_misfit, best.1)
    }

    /// Fits positions and heights of the members.
    fn fit_with_heights(&mut self, members: &mut [Member], origins: &[Option<Origin>; 2]) {
        for _ in 0..ROUNDS {
            for step_m in STEPS_M {
                for index in 0..members.len() {
                    self.step(members, index, step_m, origins);
                }
            }
            for index in 0..members.len() {
                self.adjust_height(members, index, origins);
                self.adjust_height(members, index, origins);
            }
        }
    }
}
