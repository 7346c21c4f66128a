//! Two small ones who came side by side: from the first frame on they are one blob, and look like one who is taller.

use crate::vision::foot::Origin;

use super::height::HEIGHT_ADJUST_M;
use super::{CANDIDATE_APART_M, CANDIDATE_M2, GroupFitter, Member, STEPS_M};

/// Heights that both of them are first taken to have, as shares of the tallest visitor's.
const HEIGHT_SHARES: [f32; 3] = [0.45, 0.53, 0.61];
/// How far each may well be from where they are first looked for.
const SPREAD_M: f32 = 0.3;
/// They are at least so far from each other.
const MIN_APART_M: f32 = 0.25;
/// Two are looked for where one leaves so much unexplained, as a share of what they would darken.
const UNEXPLAINED_SHARE: f32 = 0.1;
/// Of that, two explain at least so much.
const EXPLAINED_SHARE: f32 = 0.5;

/// Two in the place of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct SplitFit {
    pub(in crate::vision) members: [Member; 2],
    /// What they explain more, as a share of what the one would darken.
    pub(in crate::vision) gain_share: f32,
    /// Whether they explain as much more, and are as far from each other, as anybody must whom nobody knew of.
    pub(in crate::vision) is_clear: bool,
}

impl GroupFitter {
    /// The one in a blob as two who are smaller, where that explains most of what they leave unexplained. To be asked after
    /// [`Self::find_candidate`], for the same one.
    pub(in crate::vision) fn fit_split(
        &mut self,
        alone: &Member,
        origins: &[Option<Origin>; 2],
    ) -> Option<SplitFit> {
        self.pixels.restore_stride_area();
        let without_m2 = self.unexplained_m2(&[*alone], origins);
        let silhouette_m2 = alone.silhouette(origins).area_m2(|_| true);
        if without_m2 < UNEXPLAINED_SHARE * silhouette_m2 {
            return None;
        }
        let mut least_m2 = (1.0 - EXPLAINED_SHARE) * without_m2;
        let mut found = None;
        for share in HEIGHT_SHARES {
            let height_m = share * self.tallest_m;
            if height_m > alone.height_m - HEIGHT_ADJUST_M {
                break;
            }
            let first = Member {
                height_m,
                spread_m: SPREAD_M,
                ..*alone
            };
            self.cover_by_others(&[first], 1, origins);
            let Some((position_m, _)) = self.find_missing(height_m, origins) else {
                continue;
            };
            let second = Member {
                expected_m: position_m,
                position_m,
                ..first
            };
            let mut pair = [first, second];
            for &step_m in STEPS_M.iter().chain(&STEPS_M) {
                self.step(&mut pair, 0, step_m, origins);
                self.step(&mut pair, 1, step_m, origins);
            }
            self.adjust_height(&mut pair, 0, origins);
            self.adjust_height(&mut pair, 1, origins);
            for &step_m in &STEPS_M[2..] {
                self.step(&mut pair, 0, step_m, origins);
                self.step(&mut pair, 1, step_m, origins);
            }
            let is_separate = pair[0].position_m.distance(pair[1].position_m) > MIN_APART_M;
            let residual_m2 = self.unexplained_m2(&pair, origins);
            if is_separate && residual_m2 < least_m2 {
                least_m2 = residual_m2;
                found = Some(pair);
            }
        }
        let members = found?;
        let gain_m2 = without_m2 - least_m2;
        let apart_m = members[0].position_m.distance(members[1].position_m);
        Some(SplitFit {
            members,
            gain_share: gain_m2 / silhouette_m2.max(gain_m2),
            is_clear: gain_m2 > CANDIDATE_M2 && apart_m > CANDIDATE_APART_M,
        })
    }
}
