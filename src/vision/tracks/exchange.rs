//! Two in one blob who slid into each other's places.
//!
//! Who pass each other closely are hard to tell for a moment, and may go on as each other. Soon after, their stripes tell
//! again: a tall dark one explains the short light one's badly. So those who met are also tried in each other's places, as
//! tall and as bright as they were known to be before, and when that explains more for a while, they are exchanged.

use super::names::SURE_MEASUREMENTS;
use super::placing::{LOOK_EVERY, is_turn};
use super::{Profile, Sight, Tracker, Visitor};

/// Farther from each other they are told apart by what is seen of each.
const NEAR_M: f32 = 1.2;
/// What the exchange explains more is averaged over so long, and so much is enough.
const DOUBT_SECS: f32 = 0.5;
const MORE_M2: f32 = 0.06;
/// A pair that was not tried for so long begins anew.
const FORGOTTEN_SECS: f64 = 0.5;

/// How much more is explained when two are exchanged.
pub(super) struct Doubt {
    /// In ascending order.
    ids: [u32; 2],
    more_m2: f32,
    seen_secs: f64,
}

impl Tracker {
    /// Exchanges members of the present group who are in each other's places.
    pub(super) fn exchange(&mut self, sight: &Sight<'_>) {
        let now = sight.time_secs;
        (self.doubts).retain(|doubt| now - doubt.seen_secs < FORGOTTEN_SECS);
        for second in 1..self.members.len() {
            for first in 0..second {
                if is_turn(self.frames, first + second)
                    && self.doubt([first, second], sight) > MORE_M2
                {
                    self.exchange_pair([first, second]);
                }
            }
        }
    }

    /// How much more two members explained lately in each other's places, in m²; 0 where that is not known.
    fn doubt(&mut self, pair: [usize; 2], sight: &Sight<'_>) -> f32 {
        let places_m = pair.map(|member| self.members[member].at_m);
        let [first, second] = pair.map(|member| &self.visitors[self.member_of[member]]);
        let have_met = first.meeting.is_some() && first.meeting == second.meeting;
        if !have_met || places_m[0].distance(places_m[1]) > NEAR_M {
            return 0.0;
        }
        let (Some(own), Some(others)) = (first.known_looks(), second.known_looks()) else {
            return 0.0;
        };
        let (Some(a), Some(b)) = (first.id, second.id) else {
            return 0.0;
        };
        let ids = [a.min(b), a.max(b)];
        let origins = sight.feet.lamp_and_camera();
        let more_m2 = (self.groups).exchanged_m2(&mut self.members, pair, [own, others], &origins);
        let number = self.doubts.iter().position(|doubt| doubt.ids == ids);
        let number = number.unwrap_or_else(|| {
            self.doubts.push(Doubt {
                ids,
                more_m2: 0.0,
                seen_secs: sight.time_secs,
            });
            self.doubts.len() - 1
        });
        let doubt = &mut self.doubts[number];
        let believed = 1.0 - (-sight.dt_secs * LOOK_EVERY as f32 / DOUBT_SECS).exp();
        doubt.more_m2 = (doubt.more_m2 + believed * (more_m2 - doubt.more_m2)).max(0.0);
        doubt.seen_secs = sight.time_secs;
        doubt.more_m2
    }

    /// Each becomes who the other was, where they are.
    fn exchange_pair(&mut self, pair: [usize; 2]) {
        let [first, second] = pair.map(|member| self.member_of[member]);
        if let Ok([first, second]) = self.visitors.get_disjoint_mut([first, second]) {
            first.exchange_names(second);
            std::mem::swap(&mut first.tone, &mut second.tone);
            std::mem::swap(&mut first.fullness, &mut second.fullness);
            for visitor in [first, second] {
                visitor.height_m = visitor.profile.height_m();
                visitor.fresh = Profile::default();
            }
        }
        for member in pair {
            let visitor = &self.visitors[self.member_of[member]];
            let looks = visitor.member(&self.params);
            self.members[member].height_m = looks.height_m;
            self.members[member].tone = looks.tone;
            self.doubts
                .retain(|doubt| visitor.id.is_none_or(|id| !doubt.ids.contains(&id)));
        }
    }
}

impl Visitor {
    /// How tall and how bright they were known to be before they met others.
    fn known_looks(&self) -> Option<(f32, Option<f32>)> {
        let is_known = self.profile.measurements() >= SURE_MEASUREMENTS;
        let height_m = self.profile.height_m().filter(|_| is_known)?;
        Some((height_m, self.tone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracks::names::tests::visitor;

    #[test]
    fn who_is_exchanged_is_called_and_looks_like_the_other_and_stays_in_place() {
        let params = TrackingParams::default();
        let mut tracker = Tracker::new(&params);
        tracker.visitors = vec![visitor(1, 1.7, 1.2, 5), visitor(2, 1.2, 1.7, 5)];
        tracker.visitors[0].tone = Some(-1.0);
        let places_m = [0, 1].map(|number| tracker.visitors[number].state.at_m);
        tracker.members = tracker.visitors.iter().map(|v| v.member(&params)).collect();
        tracker.member_of = vec![0, 1];
        tracker.doubts.push(Doubt {
            ids: [1, 2],
            more_m2: 1.0,
            seen_secs: 0.0,
        });
        tracker.exchange_pair([0, 1]);
        for (number, (id, height_m, tone)) in [(2, 1.2, None), (1, 1.7, Some(-1.0))]
            .into_iter()
            .enumerate()
        {
            let (visitor, member) = (&tracker.visitors[number], &tracker.members[number]);
            assert_eq!((visitor.id, visitor.tone), (Some(id), tone));
            assert!((visitor.height_m.unwrap_or_default() - height_m).abs() < 0.05);
            assert_eq!(visitor.fresh.measurements(), 0.0);
            assert_eq!(visitor.state.at_m, places_m[number]);
            assert!((member.height_m - height_m).abs() < 0.05 && member.tone == tone);
        }
        assert!(tracker.doubts.is_empty());
    }
}
