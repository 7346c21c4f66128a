//! Who may have been taken for whom: those who stood close together have met, until they were seen apart for a while.
//!
//! Where people meet, places alone cannot tell who is who. As long as they are near each other, they may still turn out to
//! be in each other's places (see `exchange`). Once they have parted, whoever has another's name keeps it: what follows
//! them over the floor has followed them by then, and would jump once more.

use crate::vision::profile::{KNOWN_MEASUREMENTS, Profile};

use super::{Tracker, Visitor};

/// Visitors this close may be taken for each other.
pub(super) const CLOSE_M: f32 = 0.4;
/// Whoever was measured so often after a meeting, or looking unlike who they are called, is who they are called from then
/// on.
const SETTLED_MEASUREMENTS: f32 = 12.0;
/// Who looks this unlike who they are called may be somebody else.
const CONTRADICTION: f32 = 4.0;

impl Tracker {
    /// Notes who may from now on be taken for whom: those who stand close together.
    pub(super) fn meet(&mut self) {
        for a in 0..self.visitors.len() {
            let mut nearest_m = f32::INFINITY;
            for b in 0..self.visitors.len() {
                if a == b || self.visitors[a].id.is_none() || self.visitors[b].id.is_none() {
                    continue;
                }
                let distance_m = self.visitors[a]
                    .state
                    .at_m
                    .distance(self.visitors[b].state.at_m);
                nearest_m = nearest_m.min(distance_m);
                if b < a && distance_m < CLOSE_M {
                    self.mix(a, b);
                }
            }
            self.visitors[a].nearest_m = nearest_m;
        }
    }

    fn mix(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.visitors[a].meeting, self.visitors[b].meeting);
        let meeting = of_a.or(of_b).unwrap_or_else(|| {
            self.meetings = self.meetings.wrapping_add(1);
            self.meetings
        });
        for (index, visitor) in self.visitors.iter_mut().enumerate() {
            let joins = index == a || index == b;
            if joins
                || visitor.meeting.is_some() && (visitor.meeting == of_a || visitor.meeting == of_b)
            {
                visitor.meeting = Some(meeting);
            }
            if joins {
                // From now on it may be another body that looks so.
                visitor.settle(KNOWN_MEASUREMENTS);
                visitor.fresh = Profile::default();
            }
        }
    }

    /// Learns what those look like who are apart from others, and lets go of meetings that are over.
    pub(super) fn settle(&mut self) {
        for visitor in &mut self.visitors {
            let wanted = match visitor.meeting {
                Some(_) => SETTLED_MEASUREMENTS,
                None => KNOWN_MEASUREMENTS,
            };
            if visitor.settle(wanted) {
                visitor.meeting = None;
            }
        }
    }
}

impl Visitor {
    /// Takes what was seen of them since they were mixed up with others for what they look like, if that was measured so
    /// often; more often where it is unlike what was known.
    fn settle(&mut self, measurements: f32) -> bool {
        let is_other =
            self.profile.is_known() && self.profile.difference(&self.fresh) >= CONTRADICTION;
        let wanted = if is_other {
            SETTLED_MEASUREMENTS
        } else {
            measurements
        };
        if self.fresh.measurements() < wanted {
            return false;
        }
        let fresh = std::mem::take(&mut self.fresh);
        if is_other {
            self.profile = fresh;
        } else {
            self.profile.merge(&fresh);
        }
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::kalman::{Kalman, Measurement};
    use crate::vision::tracks::leaving::Course;
    use crate::vision::tracks::{Evidence, Track};
    use glam::{Mat2, Vec2};

    fn profile(height_m: f32, measurements: u32) -> Profile {
        let mut profile = Profile::default();
        for _ in 0..measurements {
            profile.add(height_m);
        }
        profile
    }

    /// Somebody in a meeting who is called `id`, known to be `known_m` tall and seen `times` to be `seen_m` since.
    pub(in crate::vision::tracks) fn visitor(
        id: u32,
        known_m: f32,
        seen_m: f32,
        times: u32,
    ) -> Visitor {
        let at_m = Vec2::new(id as f32, 0.0);
        let first = Measurement {
            at_m,
            covariance_m2: Mat2::IDENTITY,
        };
        let state = Kalman::new(&first);
        Visitor {
            id: Some(id),
            state,
            hits: 9,
            hidden: false,
            born_secs: 0.0,
            born_m: at_m,
            walked: true,
            walked_before: false,
            first_secs: f64::from(id),
            own_secs: 0.0,
            dark_secs: 0.0,
            last_seen: state,
            same_secs: 0.0,
            apart: true,
            needed_secs: 0.0,
            alone_share: 1.0,
            redundant_secs: 0.0,
            was_far: true,
            one_secs: 0.0,
            pair_secs: 0.0,
            pair_share: 0.0,
            anchor_m: at_m,
            still_since_secs: 0.0,
            evidence: Evidence::Own(0),
            profile: profile(known_m, 20),
            fresh: profile(seen_m, times),
            height_m: None,
            tone: None,
            fullness: None,
            meeting: Some(1),
            nearest_m: 1.0,
            course: Course::new(&state, 0.0, 0.0),
            track: Track::default(),
        }
    }

    fn settled(visitor: Visitor) -> Visitor {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor];
        tracker.settle();
        tracker.visitors.remove(0)
    }

    #[test]
    fn who_was_seen_apart_for_a_while_is_who_they_are_called() {
        assert!(settled(visitor(1, 1.7, 1.72, 11)).meeting.is_some());
        assert!(settled(visitor(1, 1.7, 1.72, 12)).meeting.is_none());
        let mut hardly = visitor(1, 0.0, 1.2, 12);
        hardly.profile = profile(1.8, 2);
        assert!(settled(hardly).meeting.is_none());
    }

    #[test]
    fn who_looks_unlike_their_name_bears_it_once_that_is_certain() {
        let doubtful = settled(visitor(1, 1.7, 1.2, 11));
        assert_eq!(doubtful.profile.height_m(), profile(1.7, 20).height_m());
        assert!(doubtful.meeting.is_some());
        let certain = settled(visitor(1, 1.7, 1.2, 12));
        assert_eq!(certain.profile.height_m(), profile(1.2, 12).height_m());
        assert!(certain.meeting.is_none());
        let mut alone = visitor(1, 1.7, 1.2, 3);
        alone.meeting = None;
        let alone = settled(alone);
        assert_eq!(alone.profile.height_m(), profile(1.7, 20).height_m());
    }

    #[test]
    fn who_meet_may_be_taken_for_all_whom_either_met() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![
            visitor(1, 1.7, 1.7, 5),
            visitor(2, 1.6, 1.6, 5),
            visitor(3, 1.4, 1.4, 5),
        ];
        for (visitor, (x_m, meeting)) in
            (tracker.visitors.iter_mut()).zip([(0.0, Some(4)), (0.3, Some(5)), (2.0, Some(5))])
        {
            visitor.state.at_m = Vec2::new(x_m, 0.0);
            visitor.meeting = meeting;
        }
        tracker.meet();
        let meetings = [0, 1, 2].map(|number: usize| tracker.visitors[number].meeting);
        assert!(meetings[0].is_some());
        assert_eq!(meetings, [meetings[0]; 3]);
        let fresh = [0, 1, 2].map(|number: usize| tracker.visitors[number].fresh.measurements());
        assert_eq!(fresh, [0.0, 0.0, 5.0]);
    }
}
