//! Whether two members of a group are each other: with their appearances exchanged, and with their positions exchanged.

use super::{EXPECTED_SPREAD_M, GroupFitter, Member, Origin, RESIDUAL_UNIT_M2, STEPS_M, Vec2};

/// Standard deviation of a member's position while an id swap is tested, in meters.
const SWAP_SPREAD_M: f32 = 0.3;
/// Area in m² by which an id swap must decrease the residual area.
pub(in crate::vision) const SWAP_GAIN_M2: f32 = 0.08;

impl GroupFitter {
    /// Swaps the heights and tones of two members if the fit with swapped `appearances` is clearly better than the fit
    /// without the swap: by more than [`SWAP_GAIN_M2`]. Returns the area that the swap explains in addition. Call it after
    /// [`Self::fit`], for the same members.
    pub(in crate::vision) fn try_swap(
        &mut self,
        members: &mut [Member],
        pair: [usize; 2],
        appearances: [(f32, Option<f32>); 2],
        origins: &[Option<Origin>; 2],
    ) -> f32 {
        let placed = pair.map(|index| members[index]);
        let residual_m2 = [0, 1].map(|swapped| {
            for (number, &index) in pair.iter().enumerate() {
                let (height_m, body_tone) = appearances[number ^ swapped];
                members[index] = Member {
                    expected_m: placed[number].position_m,
                    spread_m: SWAP_SPREAD_M,
                    height_m,
                    body_tone,
                    ..placed[number]
                };
            }
            // The search uses each step length twice, because the start positions were fitted with the unswapped
            // appearances and favor them.
            for step_m in STEPS_M.into_iter().chain(STEPS_M) {
                for index in pair {
                    self.step(members, index, step_m, origins);
                }
            }
            self.cover_by_others(members, pair[0], origins);
            let silhouette = members[pair[0]].silhouette(origins);
            self.pixels.residual_m2(Some(&silhouette))
        });
        let gain_m2 = residual_m2[0] - residual_m2[1];
        let is_better = gain_m2 > SWAP_GAIN_M2;
        for (index, placed) in pair.into_iter().zip(placed) {
            members[index] = if is_better {
                Member {
                    expected_m: members[index].position_m,
                    spread_m: EXPECTED_SPREAD_M,
                    ..members[index]
                }
            } else {
                placed
            };
        }
        gain_m2
    }

    /// Returns by how much the cost of the fit increases if two members exchange their positions and keep everything else. A
    /// value near 0 means that the fit could as well have placed each member on the visitor of the other one. Call it after
    /// [`Self::fit`], for the same members, which it does not change.
    pub(in crate::vision) fn exchange_cost(
        &mut self,
        members: &mut [Member],
        pair: [usize; 2],
        origins: &[Option<Origin>; 2],
    ) -> f32 {
        let kept_m = pair.map(|index| members[index].position_m);
        let costs = [kept_m, [kept_m[1], kept_m[0]]]
            .map(|positions_m| self.cost_of_pair(members, pair, positions_m, origins));
        for (index, position_m) in pair.into_iter().zip(kept_m) {
            members[index].position_m = position_m;
        }
        costs[1] - costs[0]
    }

    /// Moves two members to these positions and returns their cost there: residual area plus both deviations from the
    /// predictions.
    fn cost_of_pair(
        &mut self,
        members: &mut [Member],
        pair: [usize; 2],
        positions_m: [Vec2; 2],
        origins: &[Option<Origin>; 2],
    ) -> f32 {
        let mut deviation = 0.0;
        for (index, position_m) in pair.into_iter().zip(positions_m) {
            members[index].position_m = position_m;
            deviation += members[index].deviation_cost(position_m);
        }
        self.cover_by_others(members, pair[0], origins);
        let silhouette = members[pair[0]].silhouette(origins);
        self.pixels.residual_m2(Some(&silhouette)) / RESIDUAL_UNIT_M2 + deviation
    }
}
