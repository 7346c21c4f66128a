//! Two in one blob who slid into each other's places.
//!
//! Who pass each other closely are hard to tell for a moment, and may go on as each other. Soon after, their stripes tell
//! again: a tall dark one explains the short light one's badly. So those who met are also tried as each other, as tall and
//! as bright as they were known to be before, and are exchanged when that explains more.

use super::placing::is_turn;
use super::{Profile, Sight, Tracker, Visitor};

/// Who have got farther from each other keep their names: until then nobody sees a name change hands.
const NEAR_M: f32 = 0.5;

impl Tracker {
    /// Exchanges members of the present group who are in each other's places.
    pub(super) fn exchange(&mut self, sight: &Sight<'_>) {
        let origins = sight.feet.lamp_and_camera();
        for second in 1..self.members.len() {
            for first in 0..second {
                let pair = [first, second];
                if is_turn(self.frames, first + second)
                    && let Some(looks) = self.looks_of_mistakable(pair)
                    && (self.groups).exchange(&mut self.members, pair, looks, &origins)
                {
                    self.exchange_visitors(pair);
                }
            }
        }
    }

    /// What two members are known to look like who may have been taken for each other; `None` for others.
    fn looks_of_mistakable(&self, pair: [usize; 2]) -> Option<[(f32, Option<f32>); 2]> {
        let places_m = pair.map(|member| self.members[member].at_m);
        let [first, second] = pair.map(|member| &self.visitors[self.member_of[member]]);
        let have_met = first.meeting.is_some() && first.meeting == second.meeting;
        if !have_met || places_m[0].distance(places_m[1]) > NEAR_M {
            return None;
        }
        let heights_m = [first.known_height_m()?, second.known_height_m()?];
        // One brightness alone would tell for whoever is where it is found.
        let tones = match [first.tone, second.tone] {
            known @ [Some(_), Some(_)] => known,
            _ => [None; 2],
        };
        Some([0, 1].map(|n| (heights_m[n], tones[n])))
    }

    /// Each becomes who the other was, where they are.
    fn exchange_visitors(&mut self, pair: [usize; 2]) {
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
    }
}

impl Visitor {
    /// How tall they were known to be before they met others.
    fn known_height_m(&self) -> Option<f32> {
        (self.profile.height_m()).filter(|_| self.profile.is_known())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracks::meetings::tests::visitor;
    use glam::Vec2;

    #[test]
    fn who_is_exchanged_is_called_and_looks_like_the_other_and_stays_in_place() {
        let params = TrackingParams::default();
        let mut tracker = Tracker::new(&params);
        tracker.visitors = vec![visitor(1, 1.7, 1.2, 5), visitor(2, 1.2, 1.7, 5)];
        tracker.visitors[0].tone = Some(-1.0);
        let places_m = [0, 1].map(|number| tracker.visitors[number].state.at_m);
        tracker.member_of = vec![0, 1];
        tracker.exchange_visitors([0, 1]);
        for (number, (id, height_m, tone)) in [(2, 1.2, None), (1, 1.7, Some(-1.0))]
            .into_iter()
            .enumerate()
        {
            let visitor = &tracker.visitors[number];
            assert_eq!((visitor.id, visitor.tone), (Some(id), tone));
            assert!((visitor.height_m.unwrap_or_default() - height_m).abs() < 0.05);
            assert_eq!(visitor.fresh.measurements(), 0.0);
            assert_eq!(visitor.state.at_m, places_m[number]);
        }
    }

    #[test]
    fn only_who_met_are_near_and_are_known_may_be_in_each_others_places() {
        let params = TrackingParams::default();
        let looks = |change: &dyn Fn(&mut Visitor)| {
            let mut tracker = Tracker::new(&params);
            tracker.visitors = vec![visitor(1, 1.7, 0.0, 0), visitor(2, 1.2, 0.0, 0)];
            for visitor in &mut tracker.visitors {
                visitor.state.at_m = Vec2::ZERO;
                visitor.meeting = Some(1);
                visitor.tone = Some(-1.0);
            }
            change(&mut tracker.visitors[1]);
            tracker.members = tracker.visitors.iter().map(|v| v.member(&params)).collect();
            tracker.member_of = vec![0, 1];
            let looks = tracker.looks_of_mistakable([0, 1]);
            looks.map(|looks| looks.map(|(height_m, tone)| ((10.0 * height_m).round(), tone)))
        };
        let both = [(17.0, Some(-1.0)), (12.0, Some(-1.0))];
        assert_eq!(looks(&|_| ()), Some(both));
        let heights = [(17.0, None), (12.0, None)];
        assert_eq!(looks(&|other| other.tone = None), Some(heights));
        assert_eq!(looks(&|other| other.state.at_m.x = 2.0 * NEAR_M), None);
        assert_eq!(looks(&|other| other.meeting = Some(2)), None);
        assert_eq!(looks(&|other| other.profile = Profile::default()), None);
    }
}
