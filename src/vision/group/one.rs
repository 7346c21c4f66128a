//! Two who may be one: what is seen of one visitor in two places was taken for two.

use crate::vision::blobs::Bounds;
use crate::vision::foot::Origin;
use crate::vision::tracks::Sight;

use super::{GroupFinder, Member, PIXELS_ALONE, STEPS_M};

/// How far the one may well be from where they are first looked for.
const SPREAD_M: f32 = 0.3;
/// So often they are moved and made taller or smaller.
const ROUNDS: usize = 2;
/// Who darkens less than this is taken to darken so much.
const LEAST_DARK_M2: f32 = 0.05;

/// One in the place of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::vision) struct One {
    pub(in crate::vision) member: Member,
    /// How much more two explain, as a share of what the lesser of them would darken. Less than nothing where two explain
    /// less.
    pub(in crate::vision) more_share: f32,
}

impl GroupFinder {
    /// The one who explains best what is dark within the bounds, in the place of two. How bright bodies are does not count:
    /// two have more to choose from.
    pub(in crate::vision) fn one(
        &mut self,
        pair: [Member; 2],
        bounds: &Bounds,
        sight: &Sight<'_>,
    ) -> One {
        self.look_at(bounds, PIXELS_ALONE, sight);
        self.pixels.forget_tones();
        let (more_m2, member) = self.in_place_of(pair, &sight.feet.lamp_and_camera());
        let [first_m2, second_m2] = pair.map(|member| member.darkens_m2(sight));
        One {
            member,
            more_share: more_m2 / first_m2.min(second_m2).max(LEAST_DARK_M2),
        }
    }

    /// How much more is explained by two, near where they are expected, than by one who stands about where either
    /// does, all as tall as need be; and that one.
    pub(super) fn in_place_of(
        &mut self,
        pair: [Member; 2],
        origins: &[Option<Origin>; 2],
    ) -> (f32, Member) {
        let mut two = pair;
        self.fit(&mut two, origins);
        let two_m2 = self.unexplained_m2(&two, origins);
        let mut best = (f32::INFINITY, pair[0]);
        for either in pair {
            let mut one = [Member {
                spread_m: SPREAD_M,
                ..Member::new(either.at_m, either.height_m)
            }];
            self.fit(&mut one, origins);
            let one_m2 = self.unexplained_m2(&one, origins);
            if one_m2 < best.0 {
                best = (one_m2, one[0]);
            }
        }
        (best.0 - two_m2, best.1)
    }

    /// Moves members to where they explain best what is dark, and makes them as tall as explains best.
    fn fit(&mut self, members: &mut [Member], origins: &[Option<Origin>; 2]) {
        for _ in 0..ROUNDS {
            for step_m in STEPS_M {
                for index in 0..members.len() {
                    self.step(members, index, step_m, origins);
                }
            }
            for index in 0..members.len() {
                self.stretch(members, index, origins);
                self.stretch(members, index, origins);
            }
        }
    }
}
