//! Two who may be one: what is seen of one visitor in two places was taken for two.

use crate::vision::blobs::Bounds;
use crate::vision::foot::Origin;
use crate::vision::tracker::SegmentedFrame;

use super::{GroupFitter, Member, PIXELS_ALONE, STEPS_M};

/// How far the one may well be from where they are first looked for.
const SPREAD_M: f32 = 0.3;
/// So often they are moved and made taller or smaller.
const ROUNDS: usize = 2;
/// Who darkens less than this is taken to darken so much.
const MIN_SILHOUETTE_M2: f32 = 0.05;

/// One in the place of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct MergedFit {
    pub(in crate::vision) member: Member,
    /// How much more two explain, as a share of what the lesser of them would darken. Less than nothing where two explain
    /// less.
    pub(in crate::vision) split_gain_share: f32,
}

impl GroupFitter {
    /// The one who explains best what is dark within the bounds, in the place of two. How bright bodies are does not count:
    /// two have more to choose from.
    pub(in crate::vision) fn fit_merged(
        &mut self,
        pair: [Member; 2],
        bounds: &Bounds,
        frame: &SegmentedFrame<'_>,
    ) -> MergedFit {
        self.sample_pixels(bounds, PIXELS_ALONE, frame);
        self.pixels.ignore_tones();
        let (more_m2, member) = self.fit_merged_and_pair(pair, &frame.feet.lamp_and_camera());
        let [first_m2, second_m2] = pair.map(|member| member.silhouette_m2(frame));
        MergedFit {
            member,
            split_gain_share: more_m2 / first_m2.min(second_m2).max(MIN_SILHOUETTE_M2),
        }
    }

    /// How much more is explained by two, near where they are expected, than by one who stands about where either
    /// does, all as tall as need be; and that one.
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

    /// Moves members to where they explain best what is dark, and makes them as tall as explains best.
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
