//! Localization: measures foot points, areas and heights of tracks. A track with its own blob is measured separately.
//! Tracks in a shared blob are measured together by the group fit.

use glam::{Mat2, Vec2};

use crate::vision::agitation::Shape;
use crate::vision::blobs::{Blob, Sample};
use crate::vision::group::{CANDIDATE_M2, Member};
use crate::vision::kalman::{Kalman, Measurement};

use super::ambiguity::AMBIGUOUS_M;
use super::walk::Start;
use super::{
    Decision, Detection, GROUP_POSITION_SPREAD_M, GroupCandidate, GroupFit, SegmentedFrame,
    TYPICAL_HEIGHT_SHARE, TrackKey, TrackState, Tracker, Work, outline,
};

/// A track older than this, in seconds, that never left its birth position may be an object, so the group fit does not
/// move it.
const UNMOVED_SECS: f64 = 3.0;
/// Factor on the covariance of a measurement from a shared blob.
const SHARED_COVARIANCE_FACTOR: f32 = 4.0;
/// Largest age of a track that may be two small visitors, in seconds.
const SPLIT_MAX_AGE_SECS: f64 = 10.0;
/// Time in seconds for which a fit of two visitors must explain clearly more area before the track is split.
const SPLIT_SECS: f32 = 0.3;
/// If the gain is never clear, a track is split when the average additional area that two visitors explain exceeds this
/// share of the silhouette. On rendered scenes, this value was reached by 3 of 644 single visitors, and by 3 of the 17
/// pairs whose gain was never clear for long enough.
const SPLIT_GAIN_SHARE: f32 = 0.14;
/// Time constant of the average of the additional area that two visitors explain, in seconds.
const SPLIT_GAIN_SECS: f32 = 1.0;
/// Height and tone are measured only if the nearest other track is at least this far away, in meters.
const APPEARANCE_CLEARANCE_M: f32 = 0.6;
/// Largest group whose heights are measured. In larger groups, too little of each visitor is visible.
const MAX_MEASURED_MEMBERS: usize = 3;
/// Learning rate of the height, per measurement, for a visitor alone in a blob.
const HEIGHT_RATE_ALONE: f32 = 0.3;
/// Learning rate of the height, per measurement, for a visitor in a group.
const HEIGHT_RATE_IN_GROUP: f32 = 0.2;
/// Learning rate of the body tone, per measurement.
const TONE_RATE: f32 = 0.3;
/// A track that has stayed within the radius of standing still for this time, in seconds, is on the spot: a visitor who walks at 0.4 m/s
/// leaves that radius sooner.
const ON_SPOT_SECS: f64 = 0.3;
/// A track that has stood still for this time, in seconds, is assumed to stand still while other visitors pass.
const STANDING_SECS: f64 = 5.0;
/// Area in m² that a track must explain alone in a group to count as detected. This value is for a track of a visitor
/// who walked in.
const PRESENT_IN_GROUP_M2: f32 = 0.03;
/// Area that any other track must explain alone in a group to count as detected, in m². A height measurement also
/// requires this area.
const VISIBLE_IN_GROUP_M2: f32 = 0.1;

impl Tracker {
    /// Measures foot point, area and centroid of a track from its blobs.
    pub(super) fn measure(&mut self, index: usize, blob: usize, frame: &SegmentedFrame<'_>) {
        let blobs = frame.blobs.blobs();
        self.rivals_m.clear();
        let mut is_passed = false;
        for (other, track) in self.tracks.iter().enumerate() {
            if other != index && track.can_share_blob() && track.detection.blob() == Some(blob) {
                self.rivals_m.push(track.kalman.position_m);
                is_passed |= track.stillness.in_place_secs(frame.time_secs) < ON_SPOT_SECS;
            }
        }
        let key = self.tracks[index].key;
        let own = |b: usize| b == blob || self.blob_owners[b] == Some(key);
        self.samples.clear();
        let (mut area, mut middle) = (0.0, Vec2::ZERO);
        for (_, fragment) in blobs.iter().enumerate().filter(|(b, _)| own(*b)) {
            self.samples
                .extend_from_slice(frame.blobs.samples(fragment));
            area += fragment.area_m2;
            middle += fragment.area_m2 * fragment.centroid_m;
        }
        let mut centroid_m = middle / area.max(f32::MIN_POSITIVE);
        let track = &mut self.tracks[index];
        let at = track.kalman.position_m;
        if !self.rivals_m.is_empty() {
            (area, centroid_m) = nearest_share(&self.samples, at, &self.rivals_m);
        }
        let own = matches!(track.detection, Detection::Own(_));
        // Foot points in shared blobs are measured by the group fit, not here.
        if self.rivals_m.is_empty() || !frame.feet.can_locate_feet() {
            let all = self.samples.iter().copied();
            let mut measured = frame.feet.measure(all, centroid_m, at);
            if !self.rivals_m.is_empty() {
                measured.covariance_m2 *= SHARED_COVARIANCE_FACTOR;
            }
            track.kalman.update(&measured);
        }
        if self.rivals_m.is_empty() {
            track.exclusive_share = 1.0;
        }
        let is_due = self.schedule.is_due(Work::Appearance, key);
        let is_alone = self.rivals_m.is_empty() && track.nearest_track_m > APPEARANCE_CLEARANCE_M;
        if is_due && is_alone && track.id().is_some() {
            self.measure_appearance(index, blob, frame);
        }
        let track = &mut self.tracks[index];
        track.last_foreground_secs = frame.time_secs;
        if own {
            track.last_detected_secs = frame.time_secs;
            track.phase.count(self.schedule.is_evidence());
            if self.rivals_m.is_empty() {
                (track.course).update(&track.kalman, area, frame.time_secs);
            }
        }
        // Other visitors in the blob must not reduce the area of this visitor.
        let is_area_due = !self.rivals_m.is_empty() || is_due;
        if frame.feet.can_locate_feet() && is_area_due {
            let silhouette_m2 = track.member(&self.params).silhouette_m2(frame);
            if !self.rivals_m.is_empty() {
                area = track.area_factor.unwrap_or(1.0) * silhouette_m2;
            } else if silhouette_m2 > 0.0 {
                track.learn_area_factor(area / silhouette_m2, self.schedule.measured_secs());
            }
        }
        track.output.area_m2 = area;
        track.output.centroid_m = centroid_m;
        // In a shared blob, area and centroid depend on where the other tracks are.
        if own && self.rivals_m.is_empty() {
            track.walk.observe(Start {
                centroid_m,
                area_m2: area,
                time_secs: frame.time_secs,
            });
        }
        outline(
            &blobs[blob],
            frame,
            &mut self.tracer,
            &mut track.output.outline_m,
        );
        let (at, rivals_m) = (track.kalman.position_m, &self.rivals_m);
        let is_own = |corner_m: Vec2| {
            let own_m2 = corner_m.distance_squared(at);
            (rivals_m.iter()).all(|rival| corner_m.distance_squared(*rival) >= own_m2)
        };
        let shape = Shape {
            outline_m: &track.output.outline_m,
            pixel_m: blobs[blob].pixel_m(),
            sharers: rivals_m.len(),
        };
        let shape = (!is_passed).then_some(&shape);
        track.agitation.update(frame.time_secs, shape, is_own);
    }

    /// Measures height and tone of the visitor of one track, who is alone in a blob.
    fn measure_appearance(&mut self, index: usize, blob: usize, frame: &SegmentedFrame<'_>) {
        self.set_bystanders(blob);
        let track = &mut self.tracks[index];
        let alone = track.member(&self.params);
        let blob = &frame.blobs.blobs()[blob];
        let (height_m, body_tone) = self.group_fitter.measure_appearance(&alone, blob, frame);
        if let Some(measured) = body_tone {
            let body_tone = track.body_tone.get_or_insert(measured);
            *body_tone += TONE_RATE * (measured - *body_tone);
        }
        if let Some(measured_m) = height_m {
            track.recent_profile.add(measured_m);
            track.learn_height(measured_m, HEIGHT_RATE_ALONE);
        }
    }

    /// Passes the positions and heights of the tracks in other blobs to the group fit as bystanders.
    fn set_bystanders(&mut self, blob: usize) {
        let elsewhere = |v: &&TrackState| v.detection.blob().is_some_and(|other| other != blob);
        let bystanders = self.tracks.iter().filter(elsewhere);
        self.group_fitter.set_bystanders(bystanders.map(|track| {
            let member = track.member(&self.params);
            (member.position_m, member.height_m)
        }));
    }

    /// Fits the positions of all tracks in each shared blob.
    pub(super) fn locate_groups(&mut self, frame: &SegmentedFrame<'_>) {
        self.candidates.clear();
        if !frame.feet.can_locate_feet() {
            return;
        }
        for (index, blob) in frame.blobs.blobs().iter().enumerate() {
            self.members.clear();
            self.member_tracks.clear();
            for (number, track) in self.tracks.iter().enumerate() {
                if track.can_share_blob() && track.detection.blob() == Some(index) {
                    self.member_tracks.push(number);
                    self.members.push(Member {
                        is_standing: track.stillness.in_place_secs(frame.time_secs) > STANDING_SECS,
                        ..track.member(&self.params)
                    });
                }
            }
            self.set_bystanders(index);
            if self.members.len() > 1 {
                // A member may also own fragments outside the blob, so the bounds include them.
                let is_members = |owner: TrackKey| {
                    let mut members = self.member_tracks.iter();
                    members.any(|&number| self.tracks[number].key == owner)
                };
                let parts = self.blob_owners.iter().zip(frame.blobs.blobs());
                let bounds = parts
                    .filter(|(owner, _)| owner.is_some_and(is_members))
                    .fold(blob.bounds(), |all, (_, fragment)| {
                        all.around(&fragment.bounds())
                    });
                self.group_fitter.fit(&mut self.members, &bounds, frame);
                self.swap_ids(frame);
                self.measure_member_heights(blob, frame);
            }
            let first = self
                .member_tracks
                .first()
                .map(|&number| self.tracks[number].key);
            if first.is_some_and(|key| self.schedule.is_due(Work::Search, key)) {
                let typical = Member::new(Vec2::ZERO, TYPICAL_HEIGHT_SHARE * self.params.tallest_m);
                let found =
                    self.group_fitter
                        .find_candidate(&mut self.members, typical, blob, frame);
                let candidate = found.map(|member| GroupCandidate {
                    blob: index,
                    position_m: member.position_m,
                    height_m: None,
                    confirm_at_once: false,
                    found_by: (Decision::BeganInGroup, [member.exclusive_m2, CANDIDATE_M2]),
                });
                let candidate = candidate.or_else(|| self.find_split(index, frame));
                self.candidates.extend(candidate);
            }
            if self.members.len() > 1 {
                self.apply_group_fit(frame);
            }
        }
    }

    /// Updates the tracks of the current group with the positions, areas and heights of the fit.
    fn apply_group_fit(&mut self, frame: &SegmentedFrame<'_>) {
        for (&number, member) in self.member_tracks.iter().zip(&self.members) {
            let track = &mut self.tracks[number];
            let limit_m2 = if track.has_walked {
                PRESENT_IN_GROUP_M2
            } else {
                VISIBLE_IN_GROUP_M2
            };
            track.group_fit = Some(GroupFit {
                explained_m2: member.exclusive_m2,
                limit_m2,
                off_m: member.position_m.distance(track.kalman.position_m),
            });
            if member.exclusive_m2 > limit_m2 {
                track.last_detected_secs = frame.time_secs;
            }
            let silhouette_m2 =
                Member::new(member.position_m, member.height_m).silhouette_m2(frame);
            track.update_exclusive_share(member.exclusive_m2, silhouette_m2, frame.dt_secs);
            if member.exclusive_m2 > VISIBLE_IN_GROUP_M2 {
                let expected_m = track.member(&self.params).height_m;
                track.height_m.get_or_insert(expected_m);
                track.learn_height(member.height_m, HEIGHT_RATE_IN_GROUP);
            }
            let is_candidate = track.phase.is_group_candidate();
            if is_candidate && member.exclusive_m2 > CANDIDATE_M2 {
                track.phase.count(self.schedule.is_evidence());
            } else if is_candidate {
                track.detection = Detection::Missed;
            }
            if member.is_standing {
                track.kalman.velocity_mps = Vec2::ZERO;
                continue;
            }
            if !track.has_walked && frame.time_secs - track.birth_secs > UNMOVED_SECS {
                continue;
            }
            let measured = Measurement {
                position_m: member.position_m,
                covariance_m2: Mat2::from_diagonal(Vec2::splat(
                    GROUP_POSITION_SPREAD_M * GROUP_POSITION_SPREAD_M,
                )),
            };
            let Some(relocation) = member.relocation else {
                track.kalman.update(&measured);
                continue;
            };
            track.kalman = Kalman::new(&measured);
            let runner_up = relocation.runner_up;
            let other_id =
                runner_up.and_then(|(other, _)| self.tracks[self.member_tracks[other]].id());
            let evidence = [member.exclusive_m2, relocation.limit_m2];
            let track = &self.tracks[number];
            let event = (self.events).add(Decision::Relocated, track, other_id, evidence);
            event.from_m = Some(relocation.from_m);
            event.from_explained_m2 = Some(relocation.from_exclusive_m2);
            event.other_explained_m2 = runner_up.map(|(_, explained_m2)| explained_m2);
        }
    }

    /// Splits the single track of a blob if two small visitors have explained clearly more area for `SPLIT_SECS`, or
    /// more area on average than `SPLIT_GAIN_SHARE`. Reduces the height of the track and returns the second visitor, or
    /// `None` without a split.
    fn find_split(&mut self, blob: usize, frame: &SegmentedFrame<'_>) -> Option<GroupCandidate> {
        let ([alone], [number]) = (self.members.as_slice(), self.member_tracks.as_slice()) else {
            return None;
        };
        let track = &mut self.tracks[*number];
        if frame.time_secs - track.birth_secs > SPLIT_MAX_AGE_SECS {
            return None;
        }
        let pair = self
            .group_fitter
            .fit_split(alone, &frame.feet.lamp_and_camera());
        let dt_secs = self.schedule.measured_secs();
        let share = pair.map_or(0.0, |pair| pair.gain_share);
        track.split_gain_share +=
            (1.0 - (-dt_secs / SPLIT_GAIN_SECS).exp()) * (share - track.split_gain_share);
        let confirm_at_once = track.split_gain_share > SPLIT_GAIN_SHARE;
        if pair.is_some_and(|pair| pair.is_clear) {
            track.splittable_secs += dt_secs;
        } else {
            track.splittable_secs = 0.0;
        }
        let [first, second] = pair?.members;
        // A thing may have any shape. Only what has walked can be two visitors.
        let is_enough = track.splittable_secs >= SPLIT_SECS || confirm_at_once;
        if !is_enough || !track.walk.has_walked {
            return None;
        }
        let found_by = if confirm_at_once {
            [track.split_gain_share, SPLIT_GAIN_SHARE]
        } else {
            [share, 0.0]
        };
        track.splittable_secs = 0.0;
        track.split_gain_share = 0.0;
        track.height_m = Some(first.height_m);
        Some(GroupCandidate {
            blob,
            position_m: second.position_m,
            height_m: Some(second.height_m),
            confirm_at_once,
            found_by: (Decision::BeganBySplit, found_by),
        })
    }

    /// Measures the heights of members of a small group who are not close to others.
    fn measure_member_heights(&mut self, blob: &Blob, frame: &SegmentedFrame<'_>) {
        if self.members.len() > MAX_MEASURED_MEMBERS {
            return;
        }
        for (index, &number) in self.member_tracks.iter().enumerate() {
            let track = &mut self.tracks[number];
            let member = &self.members[index];
            let is_seen = member.exclusive_m2 > VISIBLE_IN_GROUP_M2 && member.relocation.is_none();
            let is_confirmed = track.id().is_some() && track.nearest_track_m > AMBIGUOUS_M;
            if !is_seen || !is_confirmed || !self.schedule.is_due(Work::Appearance, track.key) {
                continue;
            }
            let height_m = (self.group_fitter).measure_height_m(&self.members, index, blob, frame);
            if let Some(measured_m) = height_m {
                track.recent_profile.add(measured_m);
            }
        }
    }
}

/// Returns the area and centroid of the samples that are nearer to the track than to any rival.
fn nearest_share(samples: &[Sample], position_m: Vec2, rivals_m: &[Vec2]) -> (f32, Vec2) {
    let (mut area, mut middle) = (0.0, Vec2::ZERO);
    for sample in samples {
        let own = sample.position_m.distance_squared(position_m);
        if rivals_m
            .iter()
            .all(|r| sample.position_m.distance_squared(*r) >= own)
        {
            area += sample.area_m2;
            middle += sample.area_m2 * sample.position_m;
        }
    }
    (
        area,
        if area > 0.0 {
            middle / area
        } else {
            position_m
        },
    )
}
