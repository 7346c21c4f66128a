//! Who comes and who goes: visitors are born of blobs that belong to nobody, things become scenery, those who are gone are
//! kept in mind for their return.

use glam::{DVec2, Mat2, Vec2};

use crate::vision::kalman::{Kalman, Measurement};
use crate::vision::profile::Profile;

use super::leaving::Course;
use super::{
    Evidence, GROUP_SPREAD_M, Lost, RETURN_DISTANCE_M, RETURN_SPEED_MPS, Sight, Track, Tracker,
    Visitor, outline,
};

/// The room may be put in order for so long after the first frame: what came then and has not moved since belongs to it.
const SETTLING_SECS: f64 = 9.0;
const SETTLED_SECS: f64 = 0.5;
/// Who came less than so long before somebody vanished, and so near, may be the same.
const HEIR_SECS: f64 = 1.0;
const HEIR_M: f32 = 1.5;
/// Where more than so many came within about so long, people stream through the room, and who comes is hardly ever who left.
const STREAM: f32 = 4.0;
const STREAM_SECS: f32 = 20.0;
/// Who is there in the first frames did not come.
const PRESENT_SECS: f64 = 0.5;
/// Who is seen only among others is told after so many times as many frames.
const HIDDEN_FRAMES: u32 = 2;

impl Tracker {
    /// Begins to follow blobs that belong to nobody.
    pub(super) fn welcome(&mut self, sight: &Sight<'_>) {
        for (index, blob) in sight.blobs.blobs().iter().enumerate() {
            if self.owners[index].is_some() || blob.area_m2 < sight.newcomer_area_m2 {
                continue;
            }
            let samples = sight.blobs.samples(blob).iter().copied();
            let guess = self.cold_feet[index];
            let measured = sight.feet.measure(samples, blob.centroid_m, guess);
            self.begin(index, Evidence::Own(index), &measured, sight);
        }
        let newcomers = std::mem::take(&mut self.newcomers);
        for newcomer in &newcomers {
            let measured = Measurement {
                at_m: newcomer.at_m,
                covariance_m2: Mat2::from_diagonal(Vec2::splat(GROUP_SPREAD_M * GROUP_SPREAD_M)),
            };
            let blob = newcomer.blob;
            self.begin(blob, Evidence::Shared(blob), &measured, sight);
            if let Some(visitor) = self.visitors.last_mut() {
                visitor.height_m = newcomer.height_m;
                if newcomer.is_sure {
                    visitor.hits = HIDDEN_FRAMES * self.params.birth_frames;
                }
            }
        }
        self.newcomers = newcomers;
    }

    /// Begins to follow somebody in a blob.
    fn begin(
        &mut self,
        index: usize,
        evidence: Evidence,
        measured: &Measurement,
        sight: &Sight<'_>,
    ) {
        let blob = &sight.blobs.blobs()[index];
        let mut track = Track {
            area_m2: f64::from(blob.area_m2),
            centroid_m: blob.centroid_m.as_dvec2(),
            outline_m: self.spare_outlines.pop().unwrap_or_default(),
            ..Track::default()
        };
        outline(blob, sight, &mut self.tracer, &mut track.outline_m);
        let state = Kalman::new(measured);
        self.visitors.push(Visitor {
            id: None,
            state,
            hits: 1,
            hidden: matches!(evidence, Evidence::Shared(_)),
            born_secs: sight.time_secs,
            born_m: measured.at_m,
            walked: false,
            walked_before: false,
            first_secs: sight.time_secs,
            own_secs: sight.time_secs,
            dark_secs: sight.time_secs,
            last_seen: state,
            same_secs: 0.0,
            apart: false,
            needed_secs: 0.0,
            alone_share: 1.0,
            redundant_secs: 0.0,
            was_far: false,
            one_secs: 0.0,
            pair_secs: 0.0,
            pair_share: 0.0,
            anchor_m: measured.at_m,
            still_since_secs: sight.time_secs,
            evidence,
            profile: Profile::default(),
            fresh: Profile::default(),
            height_m: None,
            tone: None,
            fullness: None,
            meeting: None,
            nearest_m: f32::INFINITY,
            course: Course::new(&state, blob.area_m2, sight.time_secs),
            track,
        });
    }

    /// Lets go of things: what appeared in its place and never left it. Their blobs are told by [`Self::scenery`].
    pub(super) fn put_down(&mut self, sight: &Sight<'_>) {
        self.scenery.clear();
        let first_secs = *self.first_secs.get_or_insert(sight.time_secs);
        let settled_secs = first_secs + SETTLING_SECS;
        let is_settling_over = self.settling && sight.time_secs >= settled_secs;
        self.settling &= !is_settling_over;
        for index in (0..self.visitors.len()).rev() {
            let visitor = &self.visitors[index];
            let age_secs = sight.time_secs - visitor.born_secs;
            let is_old = age_secs > f64::from(sight.scenery_secs);
            let is_new_order =
                is_settling_over && age_secs > SETTLED_SECS && !visitor.walked_before;
            if let Evidence::Own(blob) = visitor.evidence
                && (is_old || is_new_order)
                && !visitor.walked
            {
                self.scenery.push(blob);
                self.remove(index);
            }
        }
    }

    /// Blobs of the last frame that are no visitors but things put down.
    pub(in crate::vision) fn scenery(&self) -> &[usize] {
        &self.scenery
    }

    /// Lets go of those who are no longer there.
    pub(super) fn part(&mut self) {
        let now = self.time_secs;
        let linger_secs = f64::from(self.params.linger_secs);
        let coast_secs = f64::from(self.params.coast_secs).max(linger_secs);
        let gone = |visitor: &Visitor| {
            if visitor.id.is_none() {
                return match visitor.evidence {
                    Evidence::Own(_) => false,
                    Evidence::Shared(_) => !visitor.hidden,
                    Evidence::Nothing => true,
                };
            }
            now - visitor.dark_secs > linger_secs || now - visitor.own_secs > coast_secs
        };
        for index in (0..self.visitors.len()).rev() {
            if gone(&self.visitors[index]) {
                if let Some(heir) = self.heir(index)
                    && let Ok([gone, heir]) = self.visitors.get_disjoint_mut([index, heir])
                {
                    heir.exchange_names(gone);
                }
                self.lose(index);
            }
        }
        let return_secs = f64::from(self.params.return_secs);
        self.lost.retain(|lost| now - lost.lost_secs <= return_secs);
    }

    /// The newcomer whom somebody who is gone was taken for: of what is seen of one visitor at the picture's edge, one part
    /// is followed and vanishes, another is thought to be somebody new.
    fn heir(&self, gone: usize) -> Option<usize> {
        let gone = &self.visitors[gone];
        // Who is not seen is drawn along by others, so where they were seen last counts too.
        let distance_m = |v: &Visitor| {
            let now_m = v.state.at_m.distance(gone.state.at_m);
            now_m.min(v.born_m.distance(gone.last_seen.at_m))
        };
        let is_heir = |v: &(usize, &Visitor)| {
            let is_new = v.1.born_secs > gone.own_secs - HEIR_SECS;
            // The name that is known for longer is the one that counts.
            let is_later = v.1.id.is_some() && v.1.first_secs > gone.first_secs;
            is_new && is_later && distance_m(v.1) < HEIR_M
        };
        if gone.id.is_none() || self.is_streaming() {
            return None;
        }
        let visitors = self.visitors.iter().enumerate();
        visitors
            .filter(is_heir)
            .min_by(|a, b| distance_m(a.1).total_cmp(&distance_m(b.1)))
            .map(|(heir, _)| heir)
    }

    /// Forgets somebody, but not the memory they took.
    pub(super) fn remove(&mut self, index: usize) -> Visitor {
        let mut visitor = self.visitors.remove(index);
        let outline_m = std::mem::take(&mut visitor.track.outline_m);
        self.spare_outlines.push(outline_m);
        visitor
    }

    pub(super) fn lose(&mut self, index: usize) {
        let visitor = self.remove(index);
        if let Some(id) = visitor.id {
            self.lost.push(Lost {
                id,
                at_m: visitor.last_seen.at_m.as_dvec2(),
                velocity_mps: visitor.last_seen.velocity_mps.as_dvec2(),
                first_secs: visitor.first_secs,
                walked: visitor.walked,
                lost_secs: visitor.own_secs,
                profile: visitor.profile,
            });
        }
    }

    /// Whether people stream through the room, rather than some being here for a while.
    pub(super) fn is_streaming(&self) -> bool {
        self.arrivals > STREAM
    }

    /// Gives an id to those who were seen often enough: their old one, when they come back.
    pub(super) fn confirm(&mut self, dt_secs: f32) {
        self.arrivals *= (-dt_secs / STREAM_SECS).exp();
        let is_streaming = self.is_streaming();
        let return_secs = f64::from(self.params.return_secs);
        let gate_m = f64::from(self.params.gate_m);
        let present_secs = (self.first_secs).map(|first_secs| first_secs + PRESENT_SECS);
        for visitor in &mut self.visitors {
            let frames = self.params.birth_frames * if visitor.hidden { HIDDEN_FRAMES } else { 1 };
            if visitor.id.is_some() || visitor.hits < frames {
                continue;
            }
            visitor.hidden = false;
            let at_m = visitor.state.at_m.as_dvec2();
            let known = self
                .lost
                .iter()
                .enumerate()
                .filter(|(_, lost)| {
                    let away_secs = visitor.first_secs - lost.lost_secs;
                    let reach_m = (gate_m + RETURN_SPEED_MPS * away_secs).min(RETURN_DISTANCE_M);
                    away_secs <= return_secs
                        && lost.at_m.distance(at_m) < reach_m
                        && (!is_streaming || lost.is_expected(at_m, visitor.first_secs, gate_m))
                })
                .min_by(|a, b| a.1.at_m.distance(at_m).total_cmp(&b.1.at_m.distance(at_m)))
                .map(|(index, _)| index);
            if let Some(index) = known {
                let lost = self.lost.swap_remove(index);
                if !lost.is_expected(at_m, visitor.first_secs, gate_m) {
                    self.arrivals += 1.0;
                }
                visitor.id = Some(lost.id);
                visitor.first_secs = lost.first_secs;
                visitor.walked_before = lost.walked;
                visitor.profile = lost.profile;
            } else {
                visitor.id = Some(self.next_id);
                self.next_id = self.next_id.saturating_add(1);
                if present_secs.is_none_or(|until_secs| visitor.born_secs > until_secs) {
                    self.arrivals += 1.0;
                }
            }
        }
    }
}

impl Lost {
    /// Whether they would be near a place by now, had they gone on.
    fn is_expected(&self, at_m: DVec2, now_secs: f64, gate_m: f64) -> bool {
        let ahead_m = self.at_m + self.velocity_mps * (now_secs - self.lost_secs);
        ahead_m.distance(at_m) < gate_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracks::meetings::tests::visitor;

    /// The ids that are left when the first of two is gone, and those kept in mind. The first was last seen at the floor's middle and seems to be somewhere else by now; the other came where they are.
    fn left_of(
        arrivals: f32,
        gone_at_m: Vec2,
        newcomer_at_m: Vec2,
        born_secs: f64,
    ) -> (Vec<Option<u32>>, Vec<u32>) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.time_secs = 10.0;
        tracker.arrivals = arrivals;
        tracker.visitors = vec![visitor(1, 1.7, 0.0, 0), visitor(2, 0.0, 0.0, 0)];
        let [gone, newcomer] = &mut tracker.visitors[..] else {
            unreachable!("there are two");
        };
        (gone.own_secs, gone.dark_secs) = (8.5, 8.5);
        gone.last_seen.at_m = Vec2::ZERO;
        gone.state.at_m = gone_at_m;
        (newcomer.own_secs, newcomer.dark_secs) = (10.0, 10.0);
        newcomer.state.at_m = newcomer_at_m;
        newcomer.born_m = newcomer_at_m;
        newcomer.born_secs = born_secs;
        tracker.part();
        let left = tracker.visitors.iter().map(|v| v.id).collect();
        (left, tracker.lost.iter().map(|lost| lost.id).collect())
    }

    #[test]
    fn who_appeared_beside_somebody_just_before_they_vanished_is_them() {
        let near_m = Vec2::new(1.0, 0.5);
        let far_m = Vec2::new(2.0, 0.5);
        assert_eq!(
            left_of(2.0, Vec2::ZERO, near_m, 8.0),
            (vec![Some(1)], vec![2])
        );
        // Wherever somebody else has drawn the one who is not seen.
        let drawn_m = Vec2::new(-2.0, 0.0);
        assert_eq!(left_of(2.0, drawn_m, near_m, 8.0), (vec![Some(1)], vec![2]));
        // Somebody else, who came earlier, is too far, or one of many who stream through.
        assert_eq!(
            left_of(2.0, Vec2::ZERO, near_m, 7.0),
            (vec![Some(2)], vec![1])
        );
        assert_eq!(
            left_of(2.0, Vec2::ZERO, far_m, 8.0),
            (vec![Some(2)], vec![1])
        );
        assert_eq!(
            left_of(8.0, Vec2::ZERO, near_m, 8.0),
            (vec![Some(2)], vec![1])
        );
    }

    /// Somebody who left at 1 m/s to the right, `away_secs` before somebody else came to `at_m`: whether they are one, and
    /// whether people are thought to stream after that.
    fn is_return(arrivals: f32, at_m: Vec2, away_secs: f64) -> (bool, bool) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.visitors = vec![visitor(1, 1.7, 0.0, 0)];
        tracker.visitors[0].last_seen.at_m = Vec2::ZERO;
        tracker.visitors[0].last_seen.velocity_mps = Vec2::X;
        tracker.lose(0);
        tracker.next_id = 2;
        tracker.arrivals = arrivals;
        tracker.visitors = vec![visitor(2, 0.0, 0.0, 0)];
        let newcomer = &mut tracker.visitors[0];
        (newcomer.id, newcomer.first_secs) = (None, away_secs);
        newcomer.state.at_m = at_m;
        tracker.confirm(0.0);
        (tracker.visitors[0].id == Some(1), tracker.is_streaming())
    }

    #[test]
    fn where_people_stream_through_who_comes_is_only_who_left_if_they_would_be_there() {
        let (quiet, almost, stream) = (2.0, 3.5, 8.0);
        // Turned round out of view, or somebody else; too many of those are a stream.
        let back_m = Vec2::new(0.2, 0.0);
        assert_eq!(is_return(quiet, back_m, 2.0), (true, false));
        assert_eq!(is_return(almost, back_m, 2.0), (true, true));
        assert_eq!(is_return(stream, back_m, 2.0), (false, true));
        // Not seen for a moment, or hidden while they went on: no arrival.
        assert_eq!(is_return(almost, back_m, 0.1), (true, false));
        assert_eq!(is_return(stream, back_m, 0.1), (true, true));
        assert_eq!(is_return(stream, Vec2::new(1.9, 0.3), 2.0), (true, true));
    }

    #[test]
    fn however_many_are_there_at_first_are_no_stream() {
        let is_streaming = |born_secs: f64| {
            let mut tracker = Tracker::new(&TrackingParams::default());
            tracker.first_secs = Some(1.0);
            for id in 0..8 {
                let mut newcomer = visitor(id, 0.0, 0.0, 0);
                (newcomer.id, newcomer.born_secs) = (None, born_secs);
                tracker.visitors.push(newcomer);
            }
            tracker.confirm(0.0);
            tracker.is_streaming()
        };
        assert!(!is_streaming(1.1));
        assert!(is_streaming(2.0));
    }

    #[test]
    fn a_stream_is_over_when_nobody_new_came_for_a_while() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        for id in 0..8 {
            tracker.visitors.push(visitor(id, 0.0, 0.0, 0));
            tracker.visitors[id as usize].id = None;
        }
        tracker.confirm(1.0);
        assert!(tracker.is_streaming());
        assert!((0..30).any(|_| {
            tracker.confirm(1.0);
            !tracker.is_streaming()
        }));
    }
}
