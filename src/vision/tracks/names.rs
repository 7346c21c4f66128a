//! Who is called what after people met: names are given back by what visitors look like.
//!
//! Where people meet, places alone cannot tell who is who when they part. Those who may have been taken for each other
//! share a meeting; whoever is seen apart again is held against what everybody looked like before, and all names are
//! given anew at once where one does not fit. What is seen of a body that does not look like who it is called is never
//! learned as theirs. No place is changed here, only names.

use crate::vision::assign::FORBIDDEN;
use crate::vision::profile::Profile;

use super::{RETURN_DISTANCE_M, RETURN_SPEED_MPS, Tracker, Visitor};

/// Visitors this close may be taken for each other.
pub(super) const CLOSE_M: f32 = 0.4;
/// So many frames apart tell what somebody looks like; after so many more they are who they are called.
const SURE_MEASUREMENTS: f32 = 3.0;
const SETTLED_MEASUREMENTS: f32 = 12.0;
/// So many are certain: the name may change hands before the body that bears it was seen alone.
const CERTAIN_MEASUREMENTS: f32 = 8.0;
/// Who looks this unlike who they are called is not taken for them.
const CONTRADICTION: f32 = 4.0;
/// A body takes another name when it looks so much like its owner, and all bodies together then look more like who they
/// are called, by so much for each that changes; for somebody who is gone, or was in another meeting, it takes more. How
/// people walked tells most of the time, so what they look like must tell clearly.
const ALIKE: f32 = 2.0;
const NAME_MARGIN: f32 = 4.0;
const FAR_MARGIN: f32 = 6.0;
/// What it costs to give another name to somebody who was not seen alone since.
const UNSEEN_MISFIT: f32 = 1.0;
/// What somebody not seen before costs against looking like somebody who is gone.
const STRANGER_DIFFERENCE: f32 = 4.0;

/// A name and what is known of who it belongs to.
pub(super) struct Name {
    id: Option<u32>,
    first_secs: f64,
    profile: Profile,
    meeting: Option<u32>,
}

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
                visitor.settle(SURE_MEASUREMENTS);
                visitor.fresh = Profile::default();
            }
        }
        for lost in &mut self.lost {
            if lost.meeting.is_some() && (lost.meeting == of_a || lost.meeting == of_b) {
                lost.meeting = Some(meeting);
            }
        }
    }

    /// Gives back their names to those who left a meeting with each other's, or look like somebody who is gone; lets go
    /// of meetings that are over. Who comes to look unlike who they are called was taken for somebody unnoticed.
    pub(super) fn tell_apart(&mut self) {
        if self
            .visitors
            .iter()
            .any(|v| v.is_seen_anew() && v.misfit() > NAME_MARGIN)
        {
            self.give_names();
        }
        for visitor in &mut self.visitors {
            let wanted = match visitor.meeting {
                Some(_) => SETTLED_MEASUREMENTS,
                None => SURE_MEASUREMENTS,
            };
            if visitor.settle(wanted) {
                visitor.meeting = None;
            } else if visitor.meeting.is_none() && visitor.fresh.measurements() >= wanted {
                self.meetings = self.meetings.wrapping_add(1);
                visitor.meeting = Some(self.meetings);
            }
        }
    }

    /// Gives all names, those of the gone among them, to the bodies that look like them, at the least cost altogether.
    fn give_names(&mut self) {
        let (visitors, lost, now) = (&self.visitors, &self.lost, self.time_secs);
        self.names.clear();
        self.names.extend(visitors.iter().map(|v| Name {
            id: v.id,
            first_secs: v.first_secs,
            profile: v.profile.clone(),
            meeting: v.meeting,
        }));
        self.names.extend(lost.iter().map(|l| Name {
            id: Some(l.id),
            first_secs: l.first_secs,
            profile: l.profile.clone(),
            meeting: l.meeting,
        }));
        let names = &self.names;
        let is_streaming = self.is_streaming();
        let cost = |row: usize, column: usize| {
            let body = &visitors[row];
            if row == column {
                return body.misfit();
            }
            let name = &names[column];
            let is_known = is_known(&name.profile);
            if body.meeting.is_none() || body.id.is_none() {
                return FORBIDDEN;
            }
            let misfit = if body.is_seen_anew() && is_known {
                name.profile.difference(&body.fresh)
            } else if body.is_seen_anew() {
                // Of those who met somebody has to be who is not known, gone or not.
                return if name.meeting == body.meeting && name.id.is_some() {
                    STRANGER_DIFFERENCE + NAME_MARGIN
                } else {
                    FORBIDDEN
                };
            } else {
                match visitors.get(column) {
                    Some(other) if other.fresh.measurements() >= CERTAIN_MEASUREMENTS => {
                        UNSEEN_MISFIT
                    }
                    _ => FORBIDDEN,
                }
            };
            let margin = match (
                visitors.get(column),
                lost.get(column.wrapping_sub(visitors.len())),
            ) {
                (Some(other), _) if other.meeting == body.meeting => NAME_MARGIN,
                (Some(other), _) if other.meeting.is_some() => FAR_MARGIN,
                (None, Some(lost)) if body.is_seen_anew() && !is_streaming => {
                    let reach_m = RETURN_DISTANCE_M + RETURN_SPEED_MPS * (now - lost.lost_secs);
                    if lost.at_m.distance(body.state.at_m.as_dvec2()) < reach_m {
                        FAR_MARGIN
                    } else {
                        FORBIDDEN
                    }
                }
                _ => FORBIDDEN,
            };
            if misfit > ALIKE || margin >= FORBIDDEN {
                FORBIDDEN
            } else {
                misfit + margin
            }
        };
        let given = self.assignment.solve(visitors.len(), names.len(), cost);
        let count = visitors.len();
        for (visitor, &name) in self.visitors.iter_mut().zip(given) {
            if let Some(name) = name.and_then(|name| self.names.get(name)) {
                visitor.id = name.id;
                visitor.first_secs = name.first_secs;
                visitor.profile.clone_from(&name.profile);
            }
        }
        // Whose name somebody gone had is themselves gone now.
        let mut displaced = (0..count).filter(|n| !given.contains(&Some(*n)));
        for (number, lost) in self.lost.iter_mut().enumerate() {
            if given.contains(&Some(count + number))
                && let Some(name) = displaced.next().and_then(|n| self.names.get(n))
                && let Some(id) = name.id
            {
                lost.id = id;
                lost.first_secs = name.first_secs;
                lost.profile.clone_from(&name.profile);
            }
        }
    }
}

impl Visitor {
    /// Whether they were seen alone often enough since they were last mixed up with others.
    fn is_seen_anew(&self) -> bool {
        self.meeting.is_some() && self.fresh.measurements() >= SURE_MEASUREMENTS
    }

    /// Takes what was seen of them since they were mixed up with others for theirs, if that was seen in so many frames and
    /// is not somebody else.
    fn settle(&mut self, measurements: f32) -> bool {
        let is_other =
            is_known(&self.profile) && self.profile.difference(&self.fresh) >= CONTRADICTION;
        let settles = self.fresh.measurements() >= measurements && !is_other;
        if settles {
            let fresh = std::mem::take(&mut self.fresh);
            self.profile.merge(&fresh);
        }
        settles
    }

    /// How unlike they look to who they are called; 0 where that was not seen.
    fn misfit(&self) -> f32 {
        if !self.is_seen_anew() {
            0.0
        } else if is_known(&self.profile) {
            self.profile.difference(&self.fresh)
        } else {
            STRANGER_DIFFERENCE
        }
    }
}

/// Whether somebody's looks were seen often enough to be compared.
pub(super) fn is_known(profile: &Profile) -> bool {
    profile.measurements() >= SURE_MEASUREMENTS
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

    fn told_apart(visitors: Vec<Visitor>) -> Tracker {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = visitors;
        tracker.tell_apart();
        tracker
    }

    fn ids(tracker: &Tracker) -> Vec<u32> {
        tracker.visitors.iter().filter_map(|v| v.id).collect()
    }

    #[test]
    fn three_who_left_with_each_others_names_get_theirs_back() {
        let tracker = told_apart(vec![
            visitor(1, 1.7, 1.2, 3),
            visitor(2, 1.45, 1.7, 3),
            visitor(3, 1.2, 1.45, 3),
        ]);
        assert_eq!(ids(&tracker), [3, 1, 2]);
        assert_eq!(tracker.visitors[0].first_secs, 3.0);
    }

    #[test]
    fn who_looks_as_before_keeps_the_name() {
        let tracker = told_apart(vec![visitor(1, 1.7, 1.72, 3), visitor(2, 1.65, 1.63, 3)]);
        assert_eq!(ids(&tracker), [1, 2]);
    }

    #[test]
    fn somebody_not_seen_since_gets_a_name_only_when_the_other_is_certain() {
        let unsure = told_apart(vec![visitor(1, 1.7, 1.2, 3), visitor(2, 1.2, 0.0, 0)]);
        assert_eq!(ids(&unsure), [1, 2]);
        let certain = told_apart(vec![visitor(1, 1.7, 1.2, 8), visitor(2, 1.2, 0.0, 0)]);
        assert_eq!(ids(&certain), [2, 1]);
    }

    #[test]
    fn who_comes_back_takes_the_name_of_the_gone_and_leaves_theirs() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(2, 1.7, 1.2, 3), visitor(1, 1.2, 1.2, 3)];
        tracker.visitors[1].meeting = None;
        tracker.lose(1);
        tracker.tell_apart();
        assert_eq!(ids(&tracker), [1]);
        assert_eq!(tracker.lost[0].id, 2);
        assert_eq!(
            tracker.lost[0].profile.height_m(),
            profile(1.7, 20).height_m()
        );
    }

    #[test]
    fn who_is_not_who_they_are_called_is_the_one_of_those_who_met_whom_nobody_saw_alone() {
        let left = |meeting| {
            let mut tracker = Tracker::new(&TrackingParams::default());
            tracker.visitors = vec![visitor(2, 1.6, 1.2, 3), visitor(3, 0.0, 0.0, 0)];
            tracker.visitors[1].profile = Profile::default();
            tracker.visitors[1].meeting = meeting;
            tracker.lose(1);
            tracker.tell_apart();
            (ids(&tracker), tracker.lost[0].id)
        };
        assert_eq!(left(Some(1)), (vec![3], 2));
        // Any other stranger who is gone may be as tall as anybody.
        assert_eq!(left(Some(2)), (vec![2], 3));
        assert_eq!(left(None), (vec![2], 3));
    }

    #[test]
    fn who_is_gone_stays_among_those_they_met_when_these_meet_others() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![
            visitor(1, 1.7, 0.0, 0),
            visitor(2, 1.6, 0.0, 0),
            visitor(3, 1.4, 0.0, 0),
        ];
        (tracker.visitors[0].meeting, tracker.visitors[1].meeting) = (Some(4), Some(5));
        tracker.visitors[2].meeting = Some(5);
        tracker.lose(2);
        for visitor in &mut tracker.visitors {
            visitor.state.at_m = Vec2::ZERO;
        }
        tracker.meet();
        assert!(tracker.visitors[0].meeting.is_some());
        assert_eq!(tracker.lost[0].meeting, tracker.visitors[0].meeting);
    }

    #[test]
    fn where_people_stream_through_nobody_takes_the_name_of_the_gone() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(2, 1.7, 1.2, 3), visitor(1, 1.2, 1.2, 3)];
        tracker.visitors[1].meeting = None;
        tracker.lose(1);
        tracker.arrivals = 8.0;
        tracker.tell_apart();
        assert_eq!(ids(&tracker), [2]);
    }

    #[test]
    fn who_comes_to_look_unlike_their_name_without_having_met_anybody_is_somebody_else() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(2, 1.7, 1.2, 3), visitor(1, 1.2, 1.2, 3)];
        tracker.visitors[0].meeting = None;
        tracker.lose(1);
        tracker.tell_apart();
        assert_eq!(ids(&tracker), [2]);
        assert!(tracker.visitors[0].meeting.is_some());
        tracker.tell_apart();
        assert_eq!(ids(&tracker), [1]);
    }

    #[test]
    fn names_are_given_back_to_those_who_ended_up_in_different_meetings() {
        let mut visitors = vec![visitor(1, 1.7, 1.4, 8), visitor(2, 1.4, 1.7, 8)];
        visitors[1].meeting = Some(2);
        assert_eq!(ids(&told_apart(visitors)), [2, 1]);
        let mut settled = vec![visitor(1, 1.7, 1.4, 8), visitor(2, 1.4, 1.4, 8)];
        settled[1].meeting = None;
        assert_eq!(ids(&told_apart(settled)), [1, 2]);
    }

    #[test]
    fn a_name_that_nobody_knows_the_looks_of_can_be_given_too() {
        let mut strangers = vec![visitor(1, 1.2, 1.6, 3), visitor(2, 0.0, 1.2, 3)];
        strangers[1].profile = Profile::default();
        assert_eq!(ids(&told_apart(strangers)), [2, 1]);
    }

    #[test]
    fn who_was_hardly_seen_before_is_no_more_unlike_than_a_stranger() {
        let mut hardly = visitor(1, 0.0, 1.2, 12);
        hardly.profile = profile(1.8, 2);
        assert_eq!(hardly.misfit(), STRANGER_DIFFERENCE);
        assert!(told_apart(vec![hardly]).visitors[0].meeting.is_none());
    }

    #[test]
    fn what_contradicts_the_name_is_not_learned() {
        let tracker = told_apart(vec![visitor(1, 1.7, 1.2, 30)]);
        let learned = tracker.visitors[0].profile.height_m();
        assert_eq!(learned, profile(1.7, 20).height_m());
        assert!(tracker.visitors[0].meeting.is_some());
        let tracker = told_apart(vec![visitor(1, 1.7, 1.72, 30)]);
        assert!(tracker.visitors[0].meeting.is_none());
    }
}
