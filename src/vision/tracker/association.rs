//! Data association: assigns blobs to tracks by their foot points. A remaining blob becomes a fragment of a track that
//! explains the blob, or stays free for a new candidate.

use glam::Vec2;

use crate::vision::assignment::FORBIDDEN;
use crate::vision::blobs::{Blob, Sample};
use crate::vision::group::Member;

use super::{Detection, SegmentedFrame, TYPICAL_HEIGHT_SHARE, TrackKey, TrackState, Tracker};

/// Largest distance in meters between a track and a blob at which the track counts as inside the blob.
const NEAR_BLOB_M: f32 = 0.25;
/// Every n-th sample is used to estimate the foot point of a blob before it is assigned.
const UNASSIGNED_SAMPLE_STEP: usize = 2;
/// Additional cost if a track is inside a blob, but not at the foot point of the blob, in meters.
const INSIDE_COST_M: f32 = 0.3;
/// Cost of a blob area that differs by a factor of e from the area of the track, in meters.
const AREA_COST_M: f32 = 0.15;
/// Additional cost for a candidate, so that published tracks are preferred, in meters.
const CANDIDATE_COST_M: f32 = 0.3;
/// A blob is a fragment of a track that explains at least this share of its samples.
const FRAGMENT_SHARE: f32 = 0.5;
/// A blob smaller than this, in m², can be a fragment because of its distance only.
const FRAGMENT_MAX_M2: f32 = 0.1;
/// Largest distance of a fragment from its track, in meters.
pub(super) const FRAGMENT_REACH_M: f32 = 1.0;
/// Area that a second visitor must explain in addition to the existing tracks, in m².
const SECOND_VISITOR_M2: f32 = 0.05;
/// Area that a second visitor must explain in addition to the existing tracks, as a share of the blob.
const SECOND_VISITOR_SHARE: f32 = 0.4;
/// If the own blob of a track is smaller than this share of the area of the track, the main part of the visitor may be
/// in another blob.
const PARTIAL_BLOB_SHARE: f32 = 0.7;
/// Share of the silhouette that must be foreground in the other blob before the track shares that blob.
const MAIN_BLOB_SHARE: f32 = 0.5;

impl Tracker {
    /// Assigns each track the blob whose foot point fits it best, if there is one.
    pub(super) fn assign_blobs(&mut self, frame: &SegmentedFrame<'_>) {
        let blobs = frame.blobs.blobs();
        self.unassigned_feet_m.clear();
        for blob in blobs {
            let samples = frame.blobs.samples(blob);
            let guess = frame.feet.guess(samples, blob.centroid_m);
            let some = samples.iter().step_by(UNASSIGNED_SAMPLE_STEP).copied();
            let measured = frame.feet.measure(some, blob.centroid_m, guess);
            self.unassigned_feet_m.push(measured.position_m);
        }
        let (tracks, unassigned_feet_m, gate) =
            (&self.tracks, &self.unassigned_feet_m, self.params.gate_m);
        let exited = &self.exited;
        let cost = |row: usize, column: usize| {
            let track = &tracks[row];
            let cost = track.cost_m(&blobs[column], unassigned_feet_m[column], frame);
            let candidate = if track.id().is_none() {
                CANDIDATE_COST_M
            } else {
                0.0
            };
            if cost > gate || exited[row] {
                FORBIDDEN
            } else {
                cost + candidate
            }
        };
        self.blob_owners.clear();
        self.blob_owners.resize(blobs.len(), None);
        let assigned = self.assignment.solve(tracks.len(), blobs.len(), cost);
        for (index, blob) in assigned.iter().enumerate() {
            if let &Some((blob, cost_m)) = blob {
                self.tracks[index].assignment_cost_m = Some(cost_m);
                self.blob_owners[blob] = Some(self.tracks[index].key);
                self.tracks[index].detection = Detection::Own(blob);
            }
        }
    }

    /// Lets tracks without a blob share the blob in which they are, and assigns fragments to tracks.
    pub(super) fn share_blobs(&mut self, frame: &SegmentedFrame<'_>) {
        let blobs = frame.blobs.blobs();
        for (track, &has_exited) in self.tracks.iter_mut().zip(&self.exited) {
            if track.detection != Detection::Missed || !track.can_share_blob() || has_exited {
                continue;
            }
            let at = track.kalman.position_m;
            let nearest = (0..blobs.len())
                .map(|b| (distance_to_samples_m(frame.blobs.samples(&blobs[b]), at), b))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((distance, blob)) = nearest
                && distance < NEAR_BLOB_M
            {
                track.detection = Detection::Shared(blob);
            }
        }
        self.share_main_blobs(frame);
        self.assign_fragments(frame);
        for (index, blob) in blobs.iter().enumerate() {
            if self.blob_owners[index].is_some() {
                continue;
            }
            let samples = frame.blobs.samples(blob);
            let wanted = (samples.len() as f32 * FRAGMENT_SHARE) as usize;
            let known =
                |v: &&TrackState| v.id().is_some() && matches!(v.detection, Detection::Own(_));
            let unassigned_feet_m = &self.unassigned_feet_m;
            let explains = |track: &TrackState| {
                // Only the foot point of the own blob counts. Otherwise an object that the visitor put down would hold
                // the track in place.
                let own = track
                    .detection
                    .blob()
                    .and_then(|own| unassigned_feet_m.get(own));
                let at = own.copied().unwrap_or(track.kalman.position_m);
                let explained = |s: &&Sample| frame.feet.explains(at, s.position_m);
                samples.iter().filter(explained).count() > wanted
            };
            let near = |track: &TrackState| {
                blob.area_m2 < FRAGMENT_MAX_M2
                    && distance_to_samples_m(samples, track.kalman.position_m) < FRAGMENT_REACH_M
            };
            self.blob_owners[index] = self
                .tracks
                .iter()
                .find(|v| known(v) && (explains(v) || near(v)))
                .map(|v| v.key);
        }
    }

    /// Lets a track share a larger blob if its own blob is only a small part of its silhouette. Where visitors overlap,
    /// one leg can form a separate blob. Such a blob gives little information about the foot point.
    fn share_main_blobs(&mut self, frame: &SegmentedFrame<'_>) {
        if !frame.feet.can_locate_feet() {
            return;
        }
        let blobs = frame.blobs.blobs();
        for index in 0..self.tracks.len() {
            let track = &self.tracks[index];
            let Detection::Own(own) = track.detection else {
                continue;
            };
            let previous_m2 = track.output.area_m2;
            if track.id().is_none() || blobs[own].area_m2 > PARTIAL_BLOB_SHARE * previous_m2 {
                continue;
            }
            let member = track.member(&self.params);
            let is_anothers = |owner: TrackKey| {
                let owner = self.index_of(owner);
                owner.is_some_and(|owner| owner != index && self.tracks[owner].id().is_some())
            };
            let most = (0..blobs.len())
                .filter(|&other| self.blob_owners[other].is_some_and(is_anothers))
                .map(|other| (member.overlap_m2(&blobs[other], frame), other))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((covered_m2, other)) = most
                && covered_m2 > MAIN_BLOB_SHARE * member.silhouette_m2(frame)
            {
                self.tracks[index].detection = Detection::Shared(other);
            }
        }
    }

    /// Assigns each blob without a published track to a nearby track, if that track explains both this blob and its own
    /// one. Shadow and body of one visitor can be separate blobs, mostly at the image border.
    fn assign_fragments(&mut self, frame: &SegmentedFrame<'_>) {
        if !frame.feet.can_locate_feet() {
            return;
        }
        let blobs = frame.blobs.blobs();
        for (index, blob) in blobs.iter().enumerate() {
            let owner = self.blob_owners[index].and_then(|key| self.index_of(key));
            if owner.is_some_and(|owner| self.tracks[owner].id().is_some()) {
                continue;
            }
            let samples = frame.blobs.samples(blob);
            let nearest = self.tracks.iter().enumerate();
            let nearest = nearest
                .filter(|(_, v)| v.id().is_some())
                .filter_map(|(number, v)| match v.detection {
                    Detection::Own(own) => Some((
                        distance_to_samples_m(samples, v.kalman.position_m),
                        number,
                        own,
                    )),
                    _ => None,
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((distance_m, number, own)) = nearest else {
                continue;
            };
            let position_m = owner.map_or(self.unassigned_feet_m[index], |o| {
                self.tracks[o].kalman.position_m
            });
            // If a track was lost near this blob recently, the blob probably belongs to a returning visitor.
            let is_return = self.lost.iter().any(|lost| {
                frame.time_secs - lost.lost_secs < f64::from(self.params.return_secs)
                    && lost.position_m.as_vec2().distance(position_m) < FRAGMENT_REACH_M
            });
            if distance_m > FRAGMENT_REACH_M || is_return {
                continue;
            }
            self.members.clear();
            let mut known = 0;
            let there = self.tracks.iter().enumerate();
            for (other, track) in there.filter(|(_, v)| v.id().is_some()) {
                if other == number {
                    known = self.members.len();
                }
                self.members.push(track.member(&self.params));
            }
            self.members.push(Member::new(
                position_m,
                TYPICAL_HEIGHT_SHARE * self.params.tallest_m,
            ));
            self.group_fitter.set_bystanders(std::iter::empty());
            let pair = [&blobs[own], blob];
            let gain_m2 =
                self.group_fitter
                    .second_visitor_gain_m2(&mut self.members, known, pair, frame);
            if gain_m2 < SECOND_VISITOR_M2.max(SECOND_VISITOR_SHARE * blob.area_m2) {
                self.blob_owners[index] = Some(self.tracks[number].key);
                if let Some(owner) = owner {
                    self.tracks[owner].detection = Detection::Missed;
                }
            }
        }
    }
}

impl TrackState {
    /// Returns the cost of assigning a blob with this foot point to the track, in meters.
    pub(super) fn cost_m(&self, blob: &Blob, foot_m: Vec2, frame: &SegmentedFrame<'_>) -> f32 {
        let at = self.kalman.position_m;
        let to_blob = distance_to_samples_m(frame.blobs.samples(blob), at) + INSIDE_COST_M;
        let grown = f32::ln(blob.area_m2 / self.output.area_m2.max(1e-3));
        at.distance(foot_m).min(to_blob) + AREA_COST_M * grown.abs().min(2.0)
    }
}

/// Returns the distance from a point to the nearest sample, in meters.
fn distance_to_samples_m(samples: &[Sample], point_m: Vec2) -> f32 {
    samples
        .iter()
        .map(|s| s.position_m.distance_squared(point_m))
        .fold(f32::INFINITY, f32::min)
        .sqrt()
}
