//! Merge hypothesis: two tracks may be fragments of one visitor.

use crate::vision::blobs::Bounds;
use crate::vision::foot::Origin;
use crate::vision::segmented_frame::SegmentedFrame;

use super::{GroupFitter, Member, PIXELS_ALONE, STEPS_M};

/// Standard deviation of the merged member's position around its start position, in meters.
const SPREAD_M: f32 = 0.3;
/// Number of rounds of position and height fitting.
const ROUNDS: usize = 2;
/// Lower limit of the silhouette area that a gain is divided by, in m².
const MIN_SILHOUETTE_M2: f32 = 0.05;

/// Result of fitting one member instead of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct MergedFit {
    /// The single member, fitted.
    pub(in crate::vision) member: Member,
    /// Additional area that two members explain, as a share of the smaller of their silhouettes. Negative if two
    /// members explain less than one.
    pub(in crate::vision) split_gain_share: f32,
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
        let (gain_m2, member) = self.fit_merged_and_pair(pair, &frame.feet.lamp_and_camera());
        let [first_m2, second_m2] = pair.map(|member| member.silhouette_m2(frame));
        MergedFit {
            member,
            split_gain_share: gain_m2 / first_m2.min(second_m2).max(MIN_SILHOUETTE_M2),
        }
    }

    /// Fits the pair, and a single member near each of the two positions. Returns the area by which the residual of the
    /// pair is smaller than that of the better single member, and this single member. Heights are fitted too.
    pub(super) fn fit_merged_and_pair(
        &mut self,
        pair: [Member; 2],
        origins: &[Option<Origin>; 2],
    ) -> (f32, Member) {
        let mut fitted_pair = pair;
        self.fit_with_heights(&mut fitted_pair, origins);
        let pair_m2 = self.unexplained_m2(&fitted_pair, origins);
        let mut best = (f32::INFINITY, pair[0]);
        for either in pair {
            let mut merged = [Member {
                spread_m: SPREAD_M,
                ..Member::new(either.position_m, either.height_m)
            }];
            self.fit_with_heights(&mut merged, origins);
            let merged_m2 = self.unexplained_m2(&merged, origins);
            if merged_m2 < best.0 {
                best = (merged_m2, merged[0]);
            }
        }
        (best.0 - pair_m2, best.1)
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
