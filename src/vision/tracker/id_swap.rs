//! Two in one blob who slid into each other's places.
//!
//! Who pass each other closely are hard to tell for a moment, and may go on as each other. Soon after, their stripes tell
//! again: a tall dark one explains the short light one's badly. So those who met are also tried as each other, as tall and
//! as bright as they were known to be before, and are exchanged when that explains more.

use super::localization::is_turn;
use super::{HeightProfile, SegmentedFrame, TrackState, Tracker};

/// Who have got farther from each other keep their names: until then nobody sees a name change hands.
const SWAP_M: f32 = 0.5;

impl Tracker {
    /// Exchanges members of the present group who are in each other's places.
    pub(super) fn swap_ids(&mut self, frame: &SegmentedFrame<'_>) {
        let origins = frame.feet.lamp_and_camera();
        for second in 1..self.members.len() {
            for first in 0..second {
                let pair = [first, second];
                if is_turn(self.frame_count, first + second)
                    && let Some(looks) = self.appearances_to_swap(pair)
                    && (self.group_fitter).try_swap(&mut self.members, pair, looks, &origins)
                {
                    self.swap_ids_of_members(pair);
                }
            }
        }
    }

    /// What two members are known to look like who may have been taken for each other; `None` for others.
    fn appearances_to_swap(&self, pair: [usize; 2]) -> Option<[(f32, Option<f32>); 2]> {
        let places_m = pair.map(|member| self.members[member].position_m);
        let [first, second] = pair.map(|member| &self.tracks[self.member_tracks[member]]);
        let have_met = first.ambiguity_id.is_some() && first.ambiguity_id == second.ambiguity_id;
        if !have_met || places_m[0].distance(places_m[1]) > SWAP_M {
            return None;
        }
        let heights_m = [first.known_height_m()?, second.known_height_m()?];
        // One brightness alone would tell for whoever is where it is found.
        let tones = match [first.body_tone, second.body_tone] {
            known @ [Some(_), Some(_)] => known,
            _ => [None; 2],
        };
        Some([0, 1].map(|n| (heights_m[n], tones[n])))
    }

    /// Each becomes who the other was, where they are.
    fn swap_ids_of_members(&mut self, pair: [usize; 2]) {
        let [first, second] = pair.map(|member| self.member_tracks[member]);
        if let Ok([first, second]) = self.tracks.get_disjoint_mut([first, second]) {
            first.swap_ids_with(second);
            std::mem::swap(&mut first.body_tone, &mut second.body_tone);
            std::mem::swap(&mut first.area_factor, &mut second.area_factor);
            for track in [first, second] {
                track.height_m = track.height_profile.height_m();
                track.recent_profile = HeightProfile::default();
            }
        }
    }
}

impl TrackState {
    /// How tall they were known to be before they met others.
    fn known_height_m(&self) -> Option<f32> {
        (self.height_profile.height_m()).filter(|_| self.height_profile.is_known())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::ambiguity::tests::test_track;
    use glam::Vec2;

    #[test]
    fn who_is_exchanged_is_called_and_looks_like_the_other_and_stays_in_place() {
        let params = TrackingParams::default();
        let mut tracker = Tracker::new(&params);
        tracker.tracks = vec![test_track(1, 1.7, 1.2, 5), test_track(2, 1.2, 1.7, 5)];
        tracker.tracks[0].body_tone = Some(-1.0);
        let places_m = [0, 1].map(|number| tracker.tracks[number].kalman.position_m);
        tracker.member_tracks = vec![0, 1];
        tracker.swap_ids_of_members([0, 1]);
        for (number, (id, height_m, body_tone)) in [(2, 1.2, None), (1, 1.7, Some(-1.0))]
            .into_iter()
            .enumerate()
        {
            let track = &tracker.tracks[number];
            assert_eq!((track.id, track.body_tone), (Some(id), body_tone));
            assert!((track.height_m.unwrap_or_default() - height_m).abs() < 0.05);
            assert_eq!(track.recent_profile.measurements(), 0.0);
            assert_eq!(track.kalman.position_m, places_m[number]);
        }
    }

    #[test]
    fn only_who_met_are_near_and_are_known_may_be_in_each_others_places() {
        let params = TrackingParams::default();
        let looks = |change: &dyn Fn(&mut TrackState)| {
            let mut tracker = Tracker::new(&params);
            tracker.tracks = vec![test_track(1, 1.7, 0.0, 0), test_track(2, 1.2, 0.0, 0)];
            for track in &mut tracker.tracks {
                track.kalman.position_m = Vec2::ZERO;
                track.ambiguity_id = Some(1);
                track.body_tone = Some(-1.0);
            }
            change(&mut tracker.tracks[1]);
            tracker.members = tracker.tracks.iter().map(|v| v.member(&params)).collect();
            tracker.member_tracks = vec![0, 1];
            let looks = tracker.appearances_to_swap([0, 1]);
            looks.map(|looks| {
                looks.map(|(height_m, body_tone)| ((10.0 * height_m).round(), body_tone))
            })
        };
        let both = [(17.0, Some(-1.0)), (12.0, Some(-1.0))];
        assert_eq!(looks(&|_| ()), Some(both));
        let heights = [(17.0, None), (12.0, None)];
        assert_eq!(looks(&|other| other.body_tone = None), Some(heights));
        assert_eq!(
            looks(&|other| other.kalman.position_m.x = 2.0 * SWAP_M),
            None
        );
        assert_eq!(looks(&|other| other.ambiguity_id = Some(2)), None);
        assert_eq!(
            looks(&|other| other.height_profile = HeightProfile::default()),
            None
        );
    }
}
