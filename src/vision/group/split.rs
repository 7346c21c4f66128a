//! Split hypothesis: one blob may belong to two small visitors who entered side by side and look like one taller
//! visitor.

use crate::vision::foot::Origin;

use super::height::HEIGHT_ADJUST_M;
use crate::vision::noise::{BODY_M, CERTAIN, FEET_M, nats};

use super::{GroupFitter, Member, STEPS_M};

/// Initial heights to try for both visitors, as shares of the tallest expected height.
const HEIGHT_SHARES: [f32; 3] = [0.45, 0.53, 0.61];
/// Standard deviation of each position around its start position, in meters.
const SPREAD_M: f32 = 0.3;
/// A split is tried if the residual area exceeds this share of the silhouette area of the single visitor.
const UNEXPLAINED_SHARE: f32 = 0.1;
/// Share of the residual area that two visitors must explain.
const EXPLAINED_SHARE: f32 = 0.5;

/// Result of fitting two members instead of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct SplitFit {
    /// The two smaller members.
    pub(in crate::vision) members: [Member; 2],
    /// Log-likelihood of two members, less that of one, as a share of that of the whole silhouette of the single member: the errors of
    /// the silhouette of one body do not change from step to step, and grow with it.
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
        let without = self.unexplained(&[*alone], origins);
        let silhouette = nats(alone.silhouette(origins).area_m2(|_| true));
        if without < UNEXPLAINED_SHARE * silhouette {
            return None;
        }
        let mut least = (1.0 - EXPLAINED_SHARE) * without;
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
            let is_separate = pair[0].position_m.distance(pair[1].position_m) > FEET_M;
            let misfit = self.unexplained(&pair, origins);
            if is_separate && misfit < least {
                least = misfit;
                found = Some(pair);
            }
        }
        let members = found?;
        let evidence_for_two = without - least;
        let apart_m = members[0].position_m.distance(members[1].position_m);
        Some(SplitFit {
            members,
            gain_share: evidence_for_two / silhouette.max(evidence_for_two),
            is_clear: evidence_for_two > CERTAIN && apart_m > BODY_M,
        })
    }
}
