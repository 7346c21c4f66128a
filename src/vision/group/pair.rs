//! Two small ones who came side by side: from the first frame on they are one blob, and look like one who is taller.

use crate::vision::foot::Origin;

use super::height::STRETCH_M;
use super::{GroupFinder, Member, STEPS_M, UNKNOWN_APART_M, UNKNOWN_M2};

/// Heights that both of them are first taken to have, as shares of the tallest visitor's.
const SHARES: [f32; 3] = [0.45, 0.53, 0.61];
/// How far each may well be from where they are first looked for.
const SPREAD_M: f32 = 0.3;
/// They are at least so far from each other.
const APART_M: f32 = 0.25;
/// Two are looked for where one leaves so much unexplained, as a share of what they would darken.
const UNEXPLAINED_SHARE: f32 = 0.1;
/// Of that, two explain at least so much.
const EXPLAINED_SHARE: f32 = 0.5;

/// Two in the place of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct Pair {
    pub(in crate::vision) members: [Member; 2],
    /// What they explain more, as a share of what the one would darken.
    pub(in crate::vision) share: f32,
    /// Whether they explain as much more, and are as far from each other, as anybody must whom nobody knew of.
    pub(in crate::vision) is_clear: bool,
}

impl GroupFinder {
    /// The one in a blob as two who are smaller, where that explains most of what they leave unexplained. To be asked after
    /// [`Self::unknown`], for the same one.
    pub(in crate::vision) fn pair(
        &mut self,
        alone: &Member,
        origins: &[Option<Origin>; 2],
    ) -> Option<Pair> {
        self.pixels.look_at_legs();
        let without_m2 = self.unexplained_m2(&[*alone], origins);
        let darkens_m2 = alone.shape(origins).area_m2(|_| true);
        if without_m2 < UNEXPLAINED_SHARE * darkens_m2 {
            return None;
        }
        let mut least_m2 = (1.0 - EXPLAINED_SHARE) * without_m2;
        let mut found = None;
        for share in SHARES {
            let height_m = share * self.tallest_m;
            if height_m > alone.height_m - STRETCH_M {
                break;
            }
            let first = Member {
                height_m,
                spread_m: SPREAD_M,
                ..*alone
            };
            self.leave_out(&[first], 1, origins);
            let Some((at_m, _)) = self.missing(height_m, origins) else {
                continue;
            };
            let second = Member {
                expected_m: at_m,
                at_m,
                ..first
            };
            let mut pair = [first, second];
            for &step_m in STEPS_M.iter().chain(&STEPS_M) {
                self.step(&mut pair, 0, step_m, origins);
                self.step(&mut pair, 1, step_m, origins);
            }
            self.stretch(&mut pair, 0, origins);
            self.stretch(&mut pair, 1, origins);
            for &step_m in &STEPS_M[2..] {
                self.step(&mut pair, 0, step_m, origins);
                self.step(&mut pair, 1, step_m, origins);
            }
            let is_apart = pair[0].at_m.distance(pair[1].at_m) > APART_M;
            let wrong_m2 = self.unexplained_m2(&pair, origins);
            if is_apart && wrong_m2 < least_m2 {
                least_m2 = wrong_m2;
                found = Some(pair);
            }
        }
        let members = found?;
        let more_m2 = without_m2 - least_m2;
        let apart_m = members[0].at_m.distance(members[1].at_m);
        Some(Pair {
            members,
            share: more_m2 / darkens_m2.max(more_m2),
            is_clear: more_m2 > UNKNOWN_M2 && apart_m > UNKNOWN_APART_M,
        })
    }
}
