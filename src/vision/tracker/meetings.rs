//! What happened to the ids of two tracks while they were close to each other in one group. It explains ids and decides nothing.
//!
//! The group fit moves each track from its prediction to the position nearby that explains the foreground best. If two visitors
//! look alike where they pass each other, a track can follow the other visitor, and no other step of the tracker changes an id.

use super::{Decision, TrackKey, TrackState, Tracker};
use crate::vision::group::SWAP_GAIN_M2;
use crate::vision::height_profile::KNOWN_MEASUREMENTS;

/// Number of meetings for which memory is reserved.
const USUAL_MEETINGS: usize = 32;
/// Tracks farther apart than this, in meters, keep their ids, because visitors would notice a swap.
pub(super) const SWAP_M: f32 = 0.5;
/// Two tracks of a group that come closer than this, in meters, may cross or turn back: both look alike. Each position has a standard deviation of
/// `GROUP_POSITION_SPREAD_M`, 0.12 m; this is about that of the distance between two of them.
pub(super) const CROSSING_M: f32 = 0.2;

/// Two published tracks that are close to each other in one group.
struct Meeting {
    bodies: [TrackKey; 2],
    /// Lowest additional cost of exchanged positions while the tracks are closer than [`CROSSING_M`].
    crossing_cost: Option<f32>,
    /// Area that an exchange of the ids explains in addition, if it was made in this frame, in m².
    exchanged_m2: Option<f32>,
    /// Largest area that a rejected exchange would explain in addition, in m².
    rejected_m2: Option<f32>,
    /// Track whose height was measured too seldom for a test, and how often it was measured.
    lacking: Option<(TrackKey, f32)>,
    /// Whether an event says what became of the test.
    is_reported: bool,
}

/// All meetings, from frame to frame.
pub(super) struct Meetings(Vec<Meeting>);

impl Default for Meetings {
    fn default() -> Self {
        Self(Vec::with_capacity(USUAL_MEETINGS))
    }
}

impl Meetings {
    /// Begins a meeting, unless it has begun already.
    pub(super) fn begin(&mut self, bodies: [TrackKey; 2]) {
        self.get(bodies);
    }

    /// Remembers how much more exchanged positions would cost in this frame.
    pub(super) fn cross(&mut self, bodies: [TrackKey; 2], cost: f32) {
        let lowest = &mut self.get(bodies).crossing_cost;
        *lowest = Some(lowest.map_or(cost, |lowest| lowest.min(cost)));
    }

    /// Remembers that an exchange of the ids could not be tested, because the height of the first track was measured too seldom.
    pub(super) fn lack_heights(&mut self, bodies: [TrackKey; 2], measurements: f32) {
        if let Some(index) = self.find(bodies) {
            let lacking = &mut self.0[index].lacking;
            lacking.get_or_insert((bodies[0], measurements));
        }
    }

    /// Remembers a rejected exchange of the ids, and the area that it would explain in addition.
    pub(super) fn reject(&mut self, bodies: [TrackKey; 2], gain_m2: f32) {
        if let Some(index) = self.find(bodies) {
            let best_m2 = self.0[index].rejected_m2.get_or_insert(gain_m2);
            *best_m2 = best_m2.max(gain_m2);
        }
    }

    /// Remembers an exchange of the ids, and the area that it explains in addition.
    pub(super) fn exchange(&mut self, bodies: [TrackKey; 2], gain_m2: f32) {
        let meeting = self.get(bodies);
        meeting.exchanged_m2 = Some(gain_m2);
        meeting.rejected_m2 = None;
    }

    fn find(&self, [a, b]: [TrackKey; 2]) -> Option<usize> {
        let same = |meeting: &Meeting| meeting.bodies == [a, b] || meeting.bodies == [b, a];
        self.0.iter().position(same)
    }

    fn get(&mut self, bodies: [TrackKey; 2]) -> &mut Meeting {
        let index = self.find(bodies).unwrap_or_else(|| {
            self.0.push(Meeting {
                bodies,
                crossing_cost: None,
                exchanged_m2: None,
                rejected_m2: None,
                lacking: None,
                is_reported: false,
            });
            self.0.len() - 1
        });
        &mut self.0[index]
    }
}

impl Tracker {
    /// Records what happened in the meetings, at the positions of this frame, and ends those whose tracks are apart or removed.
    pub(super) fn record_meetings(&mut self) {
        for index in (0..self.meetings.0.len()).rev() {
            let tracks = self.meetings.0[index]
                .bodies
                .map(|body| self.index_of(body));
            let [Some(first), Some(second)] = tracks else {
                self.meetings.0.swap_remove(index);
                continue;
            };
            let [first, second] = [first, second].map(|track| &self.tracks[track]);
            let distance_m = (first.kalman.position_m).distance(second.kalman.position_m);
            let is_over = distance_m > SWAP_M;
            let meeting = &mut self.meetings.0[index];
            let events = &mut self.events;
            let mut record = |decision, [track, other]: [&TrackState; 2], evidence| {
                events.add(decision, track, other.id(), evidence);
            };
            let both = [first, second];
            if distance_m > CROSSING_M
                && let Some(cost) = meeting.crossing_cost.take()
            {
                record(Decision::Crossed, both, [cost, f32::INFINITY]);
            }
            if let (Some((body, measurements)), false) = (meeting.lacking, meeting.is_reported) {
                let order = if body == first.key {
                    both
                } else {
                    [second, first]
                };
                record(
                    Decision::LackedHeights,
                    order,
                    [measurements, KNOWN_MEASUREMENTS],
                );
                meeting.is_reported = true;
            }
            if let Some(gain_m2) = meeting.exchanged_m2.take() {
                for order in [both, [second, first]] {
                    record(Decision::Exchanged, order, [gain_m2, SWAP_GAIN_M2]);
                }
                meeting.is_reported = true;
            }
            if is_over && let Some(gain_m2) = meeting.rejected_m2 {
                record(Decision::KeptIds, both, [gain_m2, SWAP_GAIN_M2]);
            } else if is_over && !meeting.is_reported {
                record(Decision::PartedUntested, both, [distance_m, SWAP_M]);
            }
            if is_over {
                self.meetings.0.swap_remove(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::ambiguity::tests::test_track;
    use glam::Vec2;

    /// Number of the frame, decision, ids, measured value and limit of an event.
    type Recorded = (usize, Decision, [Option<u32>; 2], [Option<f32>; 2]);

    /// Returns the events of a meeting of the tracks 1 and 2 that `happens` at a distance of 0.1 m, and of two further frames in
    /// which they are 0.3 m and 0.6 m apart.
    fn events_of_a_meeting(happens: &dyn Fn(&mut Meetings, [TrackKey; 2])) -> Vec<Recorded> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 1.7, 5), test_track(2, 1.6, 1.6, 5)];
        let bodies = [0, 1].map(|number| tracker.tracks[number].key);
        tracker.meetings.begin(bodies);
        happens(&mut tracker.meetings, bodies);
        let mut all = Vec::new();
        for (number, x_m) in [0.1, 0.3, 0.6].into_iter().enumerate() {
            tracker.events.clear();
            tracker.tracks[0].kalman.position_m = Vec2::ZERO;
            tracker.tracks[1].kalman.position_m = Vec2::new(x_m, 0.0);
            tracker.record_meetings();
            all.extend(tracker.events().iter().map(|event| {
                let ids = [event.id, event.other_id];
                (number, event.decision, ids, [event.measured, event.limit])
            }));
        }
        assert!(tracker.meetings.0.is_empty());
        all
    }

    const IDS: [Option<u32>; 2] = [Some(1), Some(2)];

    #[test]
    fn a_meeting_records_the_best_rejected_exchange_once() {
        let events = events_of_a_meeting(&|meetings, [a, b]| {
            for gain_m2 in [-0.1, 0.05, 0.01] {
                meetings.reject([b, a], gain_m2);
            }
        });
        let kept = [Some(0.05), Some(SWAP_GAIN_M2)];
        assert_eq!(events, [(2, Decision::KeptIds, IDS, kept)]);
    }

    #[test]
    fn a_meeting_records_once_whose_height_is_unknown() {
        let events = events_of_a_meeting(&|meetings, [a, b]| {
            meetings.lack_heights([b, a], 2.0);
            meetings.lack_heights([b, a], 1.0);
        });
        let heights = [Some(2.0), Some(KNOWN_MEASUREMENTS)];
        let ids = [Some(2), Some(1)];
        assert_eq!(events, [(0, Decision::LackedHeights, ids, heights)]);
    }

    #[test]
    fn a_meeting_without_a_test_records_the_distance() {
        let events = events_of_a_meeting(&|_, _| ());
        let distance = [Some(0.6), Some(SWAP_M)];
        assert_eq!(events, [(2, Decision::PartedUntested, IDS, distance)]);
    }

    #[test]
    fn tracks_that_crossed_record_the_lowest_cost_when_they_are_apart() {
        let events = events_of_a_meeting(&|meetings, bodies| {
            for cost in [4.0, 1.5, 9.0] {
                meetings.cross(bodies, cost);
            }
            meetings.reject(bodies, 0.0);
        });
        let kept = [Some(0.0), Some(SWAP_GAIN_M2)];
        let crossed = (1, Decision::Crossed, IDS, [Some(1.5), None]);
        assert_eq!(events, [crossed, (2, Decision::KeptIds, IDS, kept)]);
    }

    #[test]
    fn a_rejected_exchange_of_tracks_apart_begins_no_meeting() {
        let mut meetings = Meetings::default();
        meetings.reject([TrackKey(1), TrackKey(2)], 0.01);
        meetings.lack_heights([TrackKey(1), TrackKey(2)], 0.0);
        assert!(meetings.0.is_empty());
        meetings.exchange([TrackKey(1), TrackKey(2)], 0.1);
        assert_eq!(meetings.0.len(), 1);
    }
}
