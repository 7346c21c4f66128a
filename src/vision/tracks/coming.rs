//! Who comes and who goes: visitors are born of blobs that belong to nobody, things become scenery, those who are gone are
//! kept in mind for their return.

use crate::vision::kalman::Kalman;
use crate::vision::profile::Profile;

use super::names::SURE_MEASUREMENTS;
use super::{
    Evidence, Lost, RETURN_DISTANCE_M, RETURN_SPEED_MPS, Sight, Track, Tracker, Visitor, outline,
};

/// Who was seen well is remembered so long at least.
const REMEMBERED_SECS: f64 = 30.0;

impl Tracker {
    /// Begins to follow blobs that belong to nobody.
    pub(super) fn welcome(&mut self, sight: &Sight<'_>) {
        for (index, blob) in sight.blobs.blobs().iter().enumerate() {
            if self.owners[index].is_some() {
                continue;
            }
            let samples = sight.blobs.samples(blob).iter().copied();
            let guess = self.cold_feet[index];
            let measured = sight.feet.measure(samples, blob.centroid_m, guess, &[]);
            let mut track = Track {
                area_m2: f64::from(blob.area_m2),
                centroid_m: blob.centroid_m.as_dvec2(),
                ..Track::default()
            };
            outline(blob, sight, &mut self.tracer, &mut track.outline_m);
            self.visitors.push(Visitor {
                id: None,
                state: Kalman::new(&measured),
                hits: 1,
                born_secs: sight.time_secs,
                born_m: measured.at_m,
                walked: false,
                first_secs: sight.time_secs,
                own_secs: sight.time_secs,
                dark_secs: sight.time_secs,
                same_secs: 0.0,
                apart: false,
                anchor_m: measured.at_m,
                still_since_secs: sight.time_secs,
                evidence: Evidence::Own(index),
                profile: Profile::default(),
                fresh: Profile::default(),
                meeting: None,
                nearest_m: f32::INFINITY,
                track,
            });
        }
    }

    /// Lets go of things: what appeared in its place and never left it. Their blobs are told by [`Self::scenery`].
    pub(super) fn put_down(&mut self, sight: &Sight<'_>) {
        self.scenery.clear();
        for index in (0..self.visitors.len()).rev() {
            let visitor = &self.visitors[index];
            let old = sight.time_secs - visitor.born_secs > f64::from(sight.scenery_secs);
            if let Evidence::Own(blob) = visitor.evidence
                && old
                && !visitor.walked
            {
                self.scenery.push(blob);
                self.visitors.remove(index);
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
                return !matches!(visitor.evidence, Evidence::Own(_));
            }
            now - visitor.dark_secs > linger_secs || now - visitor.own_secs > coast_secs
        };
        for index in (0..self.visitors.len()).rev() {
            if gone(&self.visitors[index]) {
                self.lose(index);
            }
        }
        let return_secs = f64::from(self.params.return_secs);
        self.lost.retain(|lost| {
            let known = lost.profile.measurements() >= SURE_MEASUREMENTS;
            now - lost.lost_secs
                <= if known {
                    return_secs.max(REMEMBERED_SECS)
                } else {
                    return_secs
                }
        });
    }

    pub(super) fn lose(&mut self, index: usize) {
        let visitor = self.visitors.remove(index);
        if let Some(id) = visitor.id {
            self.lost.push(Lost {
                id,
                at_m: visitor.state.at_m.as_dvec2(),
                first_secs: visitor.first_secs,
                lost_secs: visitor.own_secs,
                profile: visitor.profile,
            });
        }
    }

    /// Gives an id to those who were seen often enough: their old one, when they come back.
    pub(super) fn confirm(&mut self) {
        let return_secs = f64::from(self.params.return_secs);
        for visitor in &mut self.visitors {
            if visitor.id.is_some() || visitor.hits < self.params.birth_frames {
                continue;
            }
            // Who looks like somebody else who is gone is given their name later.
            if !self.lost.is_empty() {
                self.meetings = self.meetings.wrapping_add(1);
                visitor.meeting = Some(self.meetings);
            }
            let at_m = visitor.state.at_m.as_dvec2();
            let known = self
                .lost
                .iter()
                .enumerate()
                .filter(|(_, lost)| {
                    let away_secs = visitor.first_secs - lost.lost_secs;
                    let reach = f64::from(self.params.gate_m) + RETURN_SPEED_MPS * away_secs;
                    away_secs <= return_secs
                        && lost.at_m.distance(at_m) < reach.min(RETURN_DISTANCE_M)
                })
                .min_by(|a, b| a.1.at_m.distance(at_m).total_cmp(&b.1.at_m.distance(at_m)))
                .map(|(index, _)| index);
            if let Some(index) = known {
                let lost = self.lost.swap_remove(index);
                visitor.id = Some(lost.id);
                visitor.first_secs = lost.first_secs;
                visitor.profile = lost.profile;
            } else {
                visitor.id = Some(self.next_id);
                self.next_id = self.next_id.saturating_add(1);
            }
        }
    }
}
