//! Correction of id switches inside a shared blob.
//!
//! Two visitors who pass each other closely look alike for a moment, and their tracks can switch. Soon after, their
//! silhouettes differ again: a tall dark silhouette fits a short light visitor badly. Tracks that have met are
//! therefore fitted a second time, with the heights and tones known before the meeting, but swapped. If this second fit
//! is better, the ids are swapped.

use crate::vision::group::SWAP_GAIN_M2;

use super::ambiguity::AMBIGUOUS_M;
use super::meetings::{CROSSING_M, SWAP_M};
use super::{HeightProfile, SegmentedFrame, TrackState, Tracker, Work};

/// Why no swap of two ids can be tested.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Untestable {
    /// The tracks have not met, or are too far apart by now.
    NotClose,
    /// The height of one of both is not known reliably: which one, and how many times it was measured.
    UnknownHeight(usize, f32),
}

/// Known height and tone of a visitor.
type Appearance = (f32, Option<f32>);

impl Tracker {
    /// Swaps the ids of members of the current group if the fit with swapped heights and tones is better.
    pub(super) fn swap_ids(&mut self, frame: &SegmentedFrame<'_>) {
        let origins = frame.feet.lamp_and_camera();
        for second in 1..self.members.len() {
            for first in 0..second {
                let pair = [first, second];
                let tracks = pair.map(|member| &self.tracks[self.member_tracks[member]]);
                let bodies = tracks.map(|track| track.key);
                let are_published = tracks.iter().all(|track| track.id().is_some());
                let [first_m, second_m] = pair.map(|member| self.members[member].position_m);
                let distance_m = first_m.distance(second_m);
                if are_published && distance_m < CROSSING_M {
                    let fitter = &mut self.group_fitter;
                    let cost = fitter.exchange_cost(&mut self.members, pair, &origins);
                    self.meetings.cross(bodies, cost);
                }
                let appearances = self.appearances_to_swap(pair);
                if appearances != Err(Untestable::NotClose) && distance_m < AMBIGUOUS_M {
                    self.meetings.begin(bodies);
                }
                if !self.schedule.is_due(Work::Swap, bodies[0]) {
                    continue;
                }
                match appearances {
                    Ok(appearances) => {
                        let members = &mut self.members;
                        let gain_m2 =
                            (self.group_fitter).try_swap(members, pair, appearances, &origins);
                        if gain_m2 > SWAP_GAIN_M2 {
                            self.meetings.exchange(bodies, gain_m2);
                            self.swap_ids_of_members(pair);
                        } else {
                            self.meetings.reject(bodies, gain_m2);
                        }
                    }
                    Err(Untestable::UnknownHeight(member, n)) => {
                        let lacking = [bodies[member], bodies[1 - member]];
                        self.meetings.lack_heights(lacking, n);
                    }
                    Err(Untestable::NotClose) => {}
                }
            }
        }
    }

    /// Returns the known heights and tones of two members whose ids may have been switched, or why a switch is impossible or
    /// cannot be tested.
    fn appearances_to_swap(&self, pair: [usize; 2]) -> Result<[Appearance; 2], Untestable> {
        let positions_m = pair.map(|member| self.members[member].position_m);
        let [first, second] = pair.map(|member| &self.tracks[self.member_tracks[member]]);
        let have_met = first.ambiguity_id.is_some() && first.ambiguity_id == second.ambiguity_id;
        if !have_met || positions_m[0].distance(positions_m[1]) > SWAP_M {
            return Err(Untestable::NotClose);
        }
        let (Some(first_m), Some(second_m)) = (first.known_height_m(), second.known_height_m())
        else {
            let times = [first, second].map(|track| track.identity.heights.measurements());
            let fewest = usize::from(times[1] < times[0]);
            return Err(Untestable::UnknownHeight(fewest, times[fewest]));
        };
        // If only one tone is known, the fit would favor the position at which that tone was measured.
        let tones = match [first.body_tone, second.body_tone] {
            known @ [Some(_), Some(_)] => known,
            _ => [None; 2],
        };
        Ok([(first_m, tones[0]), (second_m, tones[1])])
    }

    /// Swaps the ids of two members, which keep their positions.
    fn swap_ids_of_members(&mut self, pair: [usize; 2]) {
        let [first, second] = pair.map(|member| self.member_tracks[member]);
        if let Ok([first, second]) = self.tracks.get_disjoint_mut([first, second]) {
            first.swap_ids_with(second);
            std::mem::swap(&mut first.body_tone, &mut second.body_tone);
            std::mem::swap(&mut first.area_factor, &mut second.area_factor);
            for track in [first, second] {
                track.height_m = track.identity.heights.height_m();
                track.recent_profile = HeightProfile::default();
            }
        }
    }
}

impl TrackState {
    /// Returns the reliable height from before the meeting, in meters, or `None` if there is none.
    fn known_height_m(&self) -> Option<f32> {
        (self.identity.heights.height_m()).filter(|_| self.identity.heights.is_known())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::Decision;
    use crate::vision::tracker::ambiguity::tests::test_track;
    use glam::Vec2;

    #[test]
    fn swapped_tracks_exchange_ids_and_appearance_but_not_positions() {
        let params = TrackingParams::default();
        let mut tracker = Tracker::new(&params);
        tracker.tracks = vec![test_track(1, 1.7, 1.2, 5), test_track(2, 1.2, 1.7, 5)];
        tracker.tracks[0].body_tone = Some(-1.0);
        let positions_m = [0, 1].map(|number| tracker.tracks[number].kalman.position_m);
        tracker.member_tracks = vec![0, 1];
        let bodies = [0, 1].map(|number| tracker.tracks[number].key);
        tracker.meetings.exchange(bodies, 0.1);
        tracker.swap_ids_of_members([0, 1]);
        tracker.record_meetings();
        for (number, (id, height_m, body_tone)) in [(2, 1.2, None), (1, 1.7, Some(-1.0))]
            .into_iter()
            .enumerate()
        {
            let track = &tracker.tracks[number];
            assert_eq!((track.id(), track.body_tone), (Some(id), body_tone));
            assert!((track.height_m.unwrap_or_default() - height_m).abs() < 0.05);
            assert_eq!(track.recent_profile.measurements(), 0.0);
            assert_eq!(track.kalman.position_m, positions_m[number]);
            let event = tracker.events()[number];
            assert_eq!(event.decision, Decision::Exchanged);
            assert_eq!((event.id, event.other_id), (Some(id), Some(3 - id)));
            assert_eq!(
                (event.measured, event.limit),
                (Some(0.1), Some(SWAP_GAIN_M2))
            );
        }
    }

    #[test]
    fn only_near_tracks_that_met_and_have_known_heights_may_swap() {
        let params = TrackingParams::default();
        let appearances = |change: &dyn Fn(&mut TrackState)| {
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
            let appearances = tracker.appearances_to_swap([0, 1]);
            appearances.map(|appearances| {
                appearances.map(|(height_m, body_tone)| ((10.0 * height_m).round(), body_tone))
            })
        };
        let both = [(17.0, Some(-1.0)), (12.0, Some(-1.0))];
        assert_eq!(appearances(&|_| ()), Ok(both));
        let heights = [(17.0, None), (12.0, None)];
        assert_eq!(appearances(&|other| other.body_tone = None), Ok(heights));
        let apart = appearances(&|other| other.kalman.position_m.x = 2.0 * SWAP_M);
        assert_eq!(apart, Err(Untestable::NotClose));
        let not_met = appearances(&|other| other.ambiguity_id = Some(2));
        assert_eq!(not_met, Err(Untestable::NotClose));
        let unknown = appearances(&|other| other.identity.heights = HeightProfile::default());
        assert_eq!(unknown, Err(Untestable::UnknownHeight(1, 0.0)));
    }
}
