//! Who is called what after people met: names are given back by what visitors look like.
//!
//! Where people meet, places alone cannot tell who is who when they part. Those who may have been taken for each other
//! share a meeting; whoever is seen alone again is held against what everybody looked like before. No place is changed
//! here, only names.

use crate::vision::profile::Profile;

use super::{RETURN_DISTANCE_M, RETURN_SPEED_MPS, Tracker, Visitor};

/// Visitors in one blob and this near, or anywhere and this close, may be taken for each other.
const MIXED_M: f32 = 1.0;
const CLOSE_M: f32 = 0.5;
/// So many frames alone tell what somebody looks like; after so many more they are who they are called.
pub(super) const SURE_MEASUREMENTS: f32 = 3.0;
const SETTLED_MEASUREMENTS: f32 = 12.0;
/// Names are exchanged when both fit so well, and better by so much; for somebody who is gone it takes more. How people
/// walked tells most of the time, so what they look like must tell clearly.
const ALIKE: f32 = 2.0;
const SWAP_MARGIN: f32 = 5.0;
const RETURN_MARGIN: f32 = 6.0;
/// What somebody not seen before costs against looking like somebody who is gone.
const STRANGER_DIFFERENCE: f32 = 4.0;

impl Tracker {
    /// Notes who may from now on be taken for whom: those in one blob, and those who stand close together.
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
                let blob = self.visitors[a].evidence.blob();
                let same_blob = blob.is_some() && blob == self.visitors[b].evidence.blob();
                if b < a && (same_blob && distance_m < MIXED_M || distance_m < CLOSE_M) {
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
            if joins && visitor.fresh.measurements() < SURE_MEASUREMENTS {
                visitor.fresh = Profile::default();
            }
        }
    }

    /// Gives back their names to those who left a meeting with each other's; lets go of meetings that are over.
    pub(super) fn tell_apart(&mut self) {
        for a in 0..self.visitors.len() {
            for b in 0..a {
                let (one, other) = (&self.visitors[a], &self.visitors[b]);
                if one.meeting.is_none() || one.meeting != other.meeting {
                    continue;
                }
                let enough = |v: &Visitor| v.fresh.measurements() >= SURE_MEASUREMENTS;
                if !enough(one) || !enough(other) {
                    continue;
                }
                let as_named =
                    one.profile.difference(&one.fresh) + other.profile.difference(&other.fresh);
                let swapped =
                    one.profile.difference(&other.fresh) + other.profile.difference(&one.fresh);
                if swapped < ALIKE && as_named - swapped > SWAP_MARGIN {
                    self.swap_names(a, b);
                }
            }
        }
        self.remember();
        for visitor in &mut self.visitors {
            if visitor.meeting.is_some() && visitor.fresh.measurements() >= SETTLED_MEASUREMENTS {
                let fresh = std::mem::take(&mut visitor.fresh);
                visitor.profile.merge(&fresh);
                visitor.meeting = None;
            }
        }
    }

    /// Gives their old name back to those who look like somebody who is gone, rather than like who they were taken for.
    fn remember(&mut self) {
        for visitor in &mut self.visitors {
            if visitor.meeting.is_none() || visitor.fresh.measurements() < SURE_MEASUREMENTS {
                continue;
            }
            let as_named = if visitor.profile.measurements() > 0.0 {
                visitor.profile.difference(&visitor.fresh)
            } else {
                STRANGER_DIFFERENCE
            };
            let at_m = visitor.state.at_m.as_dvec2();
            let known = self.lost.iter_mut().filter(|lost| {
                let away_secs = self.time_secs - lost.lost_secs;
                lost.profile.measurements() >= SURE_MEASUREMENTS
                    && lost.at_m.distance(at_m) < RETURN_DISTANCE_M + RETURN_SPEED_MPS * away_secs
            });
            let likest = known
                .map(|lost| (lost.profile.difference(&visitor.fresh), lost))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((difference, lost)) = likest
                && difference < ALIKE
                && as_named - difference > RETURN_MARGIN
            {
                if let Some(id) = &mut visitor.id {
                    std::mem::swap(id, &mut lost.id);
                }
                std::mem::swap(&mut visitor.profile, &mut lost.profile);
                std::mem::swap(&mut visitor.first_secs, &mut lost.first_secs);
            }
        }
    }

    fn swap_names(&mut self, a: usize, b: usize) {
        let (low, high) = self.visitors.split_at_mut(a.max(b));
        let (one, other) = (&mut low[a.min(b)], &mut high[0]);
        std::mem::swap(&mut one.id, &mut other.id);
        std::mem::swap(&mut one.profile, &mut other.profile);
        std::mem::swap(&mut one.first_secs, &mut other.first_secs);
    }
}
