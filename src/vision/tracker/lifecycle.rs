//! Life cycle of tracks: creation of candidates, confirmation, loss and id recovery, and absorption of objects into the
//! background.

use glam::{DVec2, Mat2, Vec2};

use crate::geometry::Visitor;
use crate::vision::kalman::Measurement;

use super::association::FRAGMENT_REACH_M;
use super::{
    Decision, Detection, GROUP_POSITION_SPREAD_M, LostTrack, Phase, RETURN_DISTANCE_M,
    RETURN_SPEED_MPS, SegmentedFrame, TrackKey, TrackState, Tracker, outline,
};

/// Time after the first frame in which staff may still move objects on the floor, in seconds. Objects that appear in
/// this time become background at its end.
const SETTLING_SECS: f64 = 9.0;
/// Time for which such an object must have been rigid, in seconds. People who stand still sway in less time.
const RIGID_SECS: f64 = 1.5;
/// Time after the settling time in which such an object must become rigid, in seconds.
const SETTLED_LATE_SECS: f64 = 3.0;
/// A new track may continue a lost one if it was created at most this long before the last detection of the lost one, in
/// seconds.
const SUCCESSOR_SECS: f64 = 1.0;
/// Largest distance between a lost track and the new one that may continue it, in meters.
const SUCCESSOR_M: f32 = 1.5;
/// Number of recent arrivals above which Shoal assumes that visitors pass through and do not stay. A new visitor is
/// then rarely one who returns.
const THROUGH_TRAFFIC_ARRIVALS: f32 = 4.0;
/// Time constant of the number of recent arrivals, in seconds.
const THROUGH_TRAFFIC_SECS: f32 = 20.0;
/// Visitors detected within this time after the first frame, in seconds, do not count as arrivals.
const INITIAL_SECS: f64 = 0.5;
/// Factor on the number of detections that a candidate in a shared blob needs before it is published.
const GROUP_CANDIDATE_FACTOR: u32 = 2;

impl Tracker {
    /// Creates candidates for blobs without a track.
    pub(super) fn create_candidates(&mut self, frame: &SegmentedFrame<'_>) {
        for (index, blob) in frame.blobs.blobs().iter().enumerate() {
            let is_large = blob.area_m2 >= frame.min_candidate_area_m2;
            if self.blob_owners[index].is_some() || !is_large || !blob.is_reliable() {
                continue;
            }
            let samples = frame.blobs.samples(blob).iter().copied();
            let guess = self.unassigned_feet_m[index];
            let measured = frame.feet.measure(samples, blob.centroid_m, guess);
            self.create_candidate(index, Detection::Own(index), &measured, frame);
            let candidate = self.tracks.len() - 1;
            let origin = self.published_near(measured.position_m);
            let near = origin.map(|origin| &self.tracks[origin]);
            let near_id = near.and_then(TrackState::id);
            self.tracks[candidate].assignment_cost_m =
                near.map(|track| track.cost_m(blob, guess, frame));
            let evidence = [blob.area_m2, frame.min_candidate_area_m2];
            (self.events).add(Decision::Began, &self.tracks[candidate], near_id, evidence);
            if let Some(origin) = origin {
                self.part([candidate, origin]);
            }
        }
        let candidates = std::mem::take(&mut self.candidates);
        for candidate in &candidates {
            let measured = Measurement {
                position_m: candidate.position_m,
                covariance_m2: Mat2::from_diagonal(Vec2::splat(
                    GROUP_POSITION_SPREAD_M * GROUP_POSITION_SPREAD_M,
                )),
            };
            let blob = candidate.blob;
            self.create_candidate(blob, Detection::Shared(blob), &measured, frame);
            let (decision, evidence) = candidate.found_by;
            self.record(self.tracks.len() - 1, decision, evidence);
            if let Some(track) = self.tracks.last_mut() {
                track.height_m = candidate.height_m;
                if candidate.confirm_at_once {
                    track.phase = Phase::Candidate {
                        hits: GROUP_CANDIDATE_FACTOR * self.params.birth_frames,
                        is_in_group: true,
                    };
                }
            }
        }
        self.candidates = candidates;
    }

    /// Returns the index of the nearest published track from whose blob a new body at a position may have come, or `None`.
    fn published_near(&self, position_m: Vec2) -> Option<usize> {
        let distance_m = |track: &TrackState| track.kalman.position_m.distance(position_m);
        let published = self.tracks.iter().enumerate();
        published
            .filter(|(_, track)| track.id().is_some() && distance_m(track) < FRAGMENT_REACH_M)
            .min_by(|a, b| distance_m(a.1).total_cmp(&distance_m(b.1)))
            .map(|(index, _)| index)
    }

    /// Creates one candidate in a blob.
    fn create_candidate(
        &mut self,
        index: usize,
        detection: Detection,
        measured: &Measurement,
        frame: &SegmentedFrame<'_>,
    ) {
        let blob = &frame.blobs.blobs()[index];
        let mut output = Visitor {
            area_m2: blob.area_m2,
            centroid_m: blob.centroid_m,
            outline_m: self.spare_outlines.pop().unwrap_or_default(),
            ..Visitor::default()
        };
        outline(blob, frame, &mut self.tracer, &mut output.outline_m);
        let key = TrackKey(self.next_key);
        self.next_key = self.next_key.wrapping_add(1);
        let track = TrackState::new(key, measured, output, frame.time_secs);
        self.tracks.push(TrackState {
            detection,
            phase: Phase::candidate(matches!(detection, Detection::Shared(_))),
            ..track
        });
    }

    /// Removes tracks that are objects: they have not moved since they appeared. [`Self::static_blobs`] then returns
    /// the indexes of their blobs.
    pub(super) fn absorb_static_objects(&mut self, frame: &SegmentedFrame<'_>) {
        self.static_blobs.clear();
        let first_frame_secs = *self.first_frame_secs.get_or_insert(frame.time_secs);
        let settled_secs = first_frame_secs + SETTLING_SECS;
        for index in (0..self.tracks.len()).rev() {
            let track = &self.tracks[index];
            let rigid_secs = track.rigidity.secs(frame.time_secs);
            let is_old = rigid_secs > f64::from(frame.scenery_secs);
            let settling_ends = settled_secs..settled_secs + SETTLED_LATE_SECS;
            let is_initial_object = settling_ends.contains(&frame.time_secs)
                && track.birth_secs < settled_secs
                && rigid_secs > RIGID_SECS
                && !track.has_walked
                && !track.identity.has_walked;
            let Detection::Own(blob) = track.detection else {
                continue;
            };
            if is_old && !self.holds_visitor(blob) || is_initial_object && !self.is_shared(blob) {
                self.static_blobs.push(blob);
                let limit_secs = if is_old {
                    f64::from(frame.scenery_secs)
                } else {
                    RIGID_SECS
                };
                self.record(
                    index,
                    Decision::Object,
                    [rigid_secs as f32, limit_secs as f32],
                );
                self.remove(index);
            }
        }
    }

    /// Returns whether a blob contains a track that does not own it.
    fn is_shared(&self, blob: usize) -> bool {
        let mut detections = self.tracks.iter().map(|track| track.detection);
        detections.any(|detection| detection == Detection::Shared(blob))
    }

    /// Returns whether a body in a blob has walked, or has the id of a visitor. Then the blob is more than an object.
    fn holds_visitor(&self, blob: usize) -> bool {
        let mut inside = (self.tracks.iter()).filter(|track| track.detection.blob() == Some(blob));
        inside.any(|track| track.walk.has_walked || track.identity.has_walked)
    }

    /// Returns the indexes of the blobs in the last frame that are objects.
    pub(in crate::vision) fn static_blobs(&self) -> &[usize] {
        &self.static_blobs
    }

    /// Changes tracks that are no longer detected to lost tracks, and removes lost tracks after `return_secs`.
    pub(super) fn lose_undetected(&mut self) {
        let now = self.time_secs;
        let linger_secs = f64::from(self.params.linger_secs);
        let coast_secs = f64::from(self.params.coast_secs).max(linger_secs);
        let gone = |track: &TrackState| {
            if track.id().is_none() {
                return match track.detection {
                    Detection::Own(_) => false,
                    Detection::Shared(_) => !track.phase.is_group_candidate(),
                    Detection::Missed => true,
                };
            }
            now - track.last_foreground_secs > linger_secs
                || now - track.last_detected_secs > coast_secs
        };
        for index in (0..self.tracks.len()).rev() {
            if gone(&self.tracks[index]) {
                if let Some(successor) = self.find_successor(index)
                    && let Ok([gone, successor]) = self.tracks.get_disjoint_mut([index, successor])
                {
                    let distance_m = gone.distance_to_successor_m(successor);
                    successor.swap_ids_with(gone);
                    (self.events).add(
                        Decision::Continued,
                        successor,
                        gone.id(),
                        [distance_m, SUCCESSOR_M],
                    );
                }
                let dark_secs = now - self.tracks[index].last_foreground_secs;
                // A candidate is removed in the first frame without a detection.
                let evidence = if self.tracks[index].id().is_none() {
                    [self.undetected_secs(index), 0.0]
                } else if dark_secs > linger_secs {
                    [dark_secs as f32, linger_secs as f32]
                } else {
                    [self.undetected_secs(index), coast_secs as f32]
                };
                self.record(index, Decision::Lost, evidence);
                self.lose(index);
            }
        }
        let return_secs = f64::from(self.params.return_secs);
        self.lost.retain(|lost| now - lost.lost_secs <= return_secs);
    }

    /// Returns the index of the new track that continues the track at index `gone`, or `None`. At the image border, the
    /// tracked fragment of a visitor may disappear while another fragment starts a new track.
    fn find_successor(&self, gone: usize) -> Option<usize> {
        let gone = &self.tracks[gone];
        let distance_m = |v: &TrackState| gone.distance_to_successor_m(v);
        let is_successor = |v: &(usize, &TrackState)| {
            let is_new = v.1.birth_secs > gone.last_detected_secs - SUCCESSOR_SECS;
            // Only a track with a later id can be continued under the older id.
            let is_later =
                v.1.id().is_some() && v.1.identity.since_secs() > gone.identity.since_secs();
            is_new && is_later && distance_m(v.1) < SUCCESSOR_M
        };
        if gone.id().is_none() || self.has_through_traffic() {
            return None;
        }
        let tracks = self.tracks.iter().enumerate();
        tracks
            .filter(is_successor)
            .min_by(|a, b| distance_m(a.1).total_cmp(&distance_m(b.1)))
            .map(|(successor, _)| successor)
    }

    /// Returns the time since the last detection of a track, in seconds.
    pub(super) fn undetected_secs(&self, index: usize) -> f32 {
        (self.time_secs - self.tracks[index].last_detected_secs) as f32
    }

    /// Removes a track and keeps its outline buffer for reuse.
    pub(super) fn remove(&mut self, index: usize) -> TrackState {
        let mut track = self.tracks.remove(index);
        let outline_m = std::mem::take(&mut track.output.outline_m);
        self.spare_outlines.push(outline_m);
        track
    }

    /// Removes a track. If it was published, stores it as a lost track.
    pub(super) fn lose(&mut self, index: usize) {
        let track = self.remove(index);
        if track.id().is_some() {
            self.lost.push(LostTrack {
                identity: track.identity,
                position_m: track.last_detected.position_m.as_dvec2(),
                velocity_mps: track.last_detected.velocity_mps.as_dvec2(),
                lost_secs: track.last_detected_secs,
            });
        }
    }

    /// Returns whether visitors currently pass through and do not stay.
    pub(super) fn has_through_traffic(&self) -> bool {
        self.recent_arrivals > THROUGH_TRAFFIC_ARRIVALS
    }

    /// Publishes candidates with enough detections. A visitor who returns gets the old id.
    pub(super) fn confirm(&mut self, dt_secs: f32) {
        self.recent_arrivals *= (-dt_secs / THROUGH_TRAFFIC_SECS).exp();
        let has_through_traffic = self.has_through_traffic();
        let return_secs = f64::from(self.params.return_secs);
        let gate_m = f64::from(self.params.gate_m);
        let present_secs =
            (self.first_frame_secs).map(|first_frame_secs| first_frame_secs + INITIAL_SECS);
        for index in 0..self.tracks.len() {
            let track = &self.tracks[index];
            let Phase::Candidate { hits, is_in_group } = track.phase else {
                continue;
            };
            let factor = if is_in_group {
                GROUP_CANDIDATE_FACTOR
            } else {
                1
            };
            let required_hits = factor * self.params.birth_frames;
            if hits < required_hits {
                continue;
            }
            let birth_secs = track.birth_secs;
            let since_secs = track.identity.since_secs();
            let position_m = track.kalman.position_m.as_dvec2();
            let known = self
                .lost
                .iter()
                .enumerate()
                .filter(|(_, lost)| {
                    since_secs - lost.lost_secs <= return_secs
                        && lost.position_m.distance(position_m) < lost.reach_m(since_secs, gate_m)
                        && (!has_through_traffic
                            || lost.is_predicted_near(position_m, since_secs, gate_m))
                })
                .min_by(|a, b| {
                    a.1.position_m
                        .distance(position_m)
                        .total_cmp(&b.1.position_m.distance(position_m))
                })
                .map(|(lost, _)| lost);
            if let Some(lost) = known {
                let lost = self.lost.swap_remove(lost);
                let distance_m = lost.position_m.distance(position_m);
                let evidence = [distance_m as f32, lost.reach_m(since_secs, gate_m) as f32];
                if !lost.is_predicted_near(position_m, since_secs, gate_m) {
                    self.recent_arrivals += 1.0;
                }
                self.publish_as_returned(index, lost.identity, evidence);
            } else {
                self.publish_as_new(index, [hits, required_hits]);
                if present_secs.is_none_or(|until_secs| birth_secs > until_secs) {
                    self.recent_arrivals += 1.0;
                }
            }
        }
    }
}

impl TrackState {
    /// Returns the distance to a track that may continue this one, in meters. A track without detections can drift along with
    /// other tracks, so its last detected position is tested too.
    fn distance_to_successor_m(&self, successor: &Self) -> f32 {
        let now_m = (successor.kalman.position_m).distance(self.kalman.position_m);
        now_m.min((successor.birth_m).distance(self.last_detected.position_m))
    }
}

impl LostTrack {
    /// Returns how far from its last place the visitor may come back, in meters.
    fn reach_m(&self, now_secs: f64, gate_m: f64) -> f64 {
        (gate_m + RETURN_SPEED_MPS * (now_secs - self.lost_secs)).min(RETURN_DISTANCE_M)
    }

    /// Returns whether the visitor would now be within `gate_m` of a position if the velocity had not changed.
    fn is_predicted_near(&self, position_m: DVec2, now_secs: f64, gate_m: f64) -> bool {
        let ahead_m = self.position_m + self.velocity_mps * (now_secs - self.lost_secs);
        ahead_m.distance(position_m) < gate_m
    }
}
