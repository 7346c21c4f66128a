//! Split hypothesis: one blob may belong to two small visitors who entered side by side and look like one taller
//! visitor.

use crate::vision::foot::Origin;

use super::height::HEIGHT_ADJUST_M;
use super::{CANDIDATE_APART_M, CANDIDATE_M2, GroupFitter, Member, STEPS_M};

/// Initial heights to try for both visitors, as shares of the tallest expected height.
const HEIGHT_SHARES: [f32; 3] = [0.45, 0.53, 0.61];
/// Standard deviation of each position around its start position, in meters.
const SPREAD_M: f32 = 0.3;
/// Smallest distance between the two visitors, in meters.
const MIN_APART_M: f32 = 0.25;
/// A split is tried if the residual area exceeds this share of the silhouette area of the single visitor.
const UNEXPLAINED_SHARE: f32 = 0.1;
/// Share of the residual area that two visitors must explain.
const EXPLAINED_SHARE: f32 = 0.5;

/// Result of fitting two members instead of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct SplitFit {
    /// The two smaller members.
    pub(in crate::vision) members: [Member; 2],
    /// Additional area that two members explain, as a share of the silhouette area of the single member.
    pub(in crate::vision) gain_share: f32,
    /// Whether the gain and the distance also meet the limits for a new candidate.
    pub(in crate::vision) is_clear: bool,
}

impl GroupFitter {
    /// Fits two smaller members instead of the single member of a blob. Returns `None` if they do not explain most of
    /// the residual area. Call this function after [`Self::find_candidate`] with the same member.
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
