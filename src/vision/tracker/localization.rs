//! Where everybody is: those with a blob of their own by its foot, those who share one all together. Who turns out to
//! stand where somebody else does is let go of.

use glam::{Mat2, Vec2};

use crate::vision::blobs::{Blob, Sample};
use crate::vision::group::{CANDIDATE_M2, Member};
use crate::vision::kalman::{Kalman, Measurement};

use super::ambiguity::AMBIGUOUS_M;
use super::{
    Detection, GROUP_POSITION_SPREAD_M, GroupCandidate, SegmentedFrame, TYPICAL_HEIGHT_SHARE,
    TrackState, Tracker, outline,
};

/// What never moved for so long does not do so within a group: it may be a thing.
const UNMOVED_SECS: f64 = 3.0;
/// A measured place counts for so much less when the blob is shared.
const SHARED_COVARIANCE_FACTOR: f32 = 4.0;
/// Two whose feet are this near for so long, with nothing dark between them, are one.
const DUPLICATE_M: f32 = 0.25;
const DUPLICATE_SECS: f32 = 0.5;
/// The same for two who once were seen apart: one of them has gone unnoticed, and is kept in mind.
const INDEPENDENT_DUPLICATE_SECS: f32 = 3.0;
/// Who hardly explains anything besides somebody this near in their blob, for so long, was left behind on that one's body: one
/// walked away unnoticed, or there never were two. That is less than this share of what they darken, in the mean over about
/// so long. In rendered rooms it was so in 45 of 100 frames with two on one body, and in 6 of 1000 others in groups.
const REDUNDANT_M: f32 = 0.6;
const REDUNDANT_SECS: f32 = 0.5;
const REDUNDANT_SHARE: f32 = 0.15;
/// Who came earlier is left behind only beside somebody who explains more than this share of what they darken. They, and who
/// once was seen far from everybody else, may be hidden for a moment where more than two share a blob, and are left behind
/// there only after so long.
const NEEDED_SHARE: f32 = 0.1;
const CROWDED_REDUNDANT_SECS: f32 = 1.5;
const EXCLUSIVE_SHARE_SECS: f32 = 0.3;
/// Who darkens less than this is taken to darken so much.
const MIN_SILHOUETTE_M2: f32 = 0.05;
/// Who was seen this far from everybody else is a visitor of their own, however near they come later; and so is who for so
/// long explained as much as somebody new must.
const INDEPENDENT_M: f32 = 0.7;
const INDEPENDENT_SECS: f32 = 1.0;
/// Who came so lately may be two small ones, once two have explained more for so long.
const SPLIT_MAX_AGE_SECS: f64 = 10.0;
const SPLIT_SECS: f32 = 0.3;
/// Or once what two explain more was this share of what one would darken, in the mean over about so long. In rendered rooms
/// it was in 3 of 644 who were alone, and in 3 of 17 pairs who never were clearly two for long.
const SPLIT_GAIN_SHARE: f32 = 0.14;
const SPLIT_GAIN_SECS: f32 = 1.0;
/// What somebody looks like is learned while nobody else is this near.
const APPEARANCE_CLEARANCE_M: f32 = 0.6;
/// It is looked at every so many frames, not at everybody in the same one.
pub(super) const TURN_FRAMES: u32 = 4;
/// Where more than these share a blob, too little of each is seen.
const MAX_MEASURED_MEMBERS: usize = 3;
/// So much of a height is believed that is measured alone, and of one found among others.
const HEIGHT_RATE_ALONE: f32 = 0.3;
const HEIGHT_RATE_IN_GROUP: f32 = 0.2;
/// And so much of how bright their body is.
const TONE_RATE: f32 = 0.3;
/// Who stood for so long still stands while others pass.
const STANDING_SECS: f64 = 5.0;
/// In a group, who came by walking is still there while they alone explain this much of what is dark. Anybody else, and
/// whoever is to tell how tall they are, must explain more.
const PRESENT_IN_GROUP_M2: f32 = 0.03;
const VISIBLE_IN_GROUP_M2: f32 = 0.1;

impl Tracker {
    /// Measures a visitor's foot, area and middle from what is theirs.
    pub(super) fn measure(&mut self, index: usize, blob: usize, frame: &SegmentedFrame<'_>) {
        let blobs = frame.blobs.blobs();
        self.rivals_m.clear();
        for (other, track) in self.tracks.iter().enumerate() {
            if other != index && track.can_share_blob() && track.detection.blob() == Some(blob) {
                self.rivals_m.push(track.kalman.position_m);
            }
        }
        let own = |b: usize| b == blob || self.blob_owners[b] == Some(index);
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
        // Feet of those who share a blob are told together.
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
        let is_turn = is_turn(self.frame_count, index);
        let is_alone = self.rivals_m.is_empty() && track.nearest_track_m > APPEARANCE_CLEARANCE_M;
        if is_turn && is_alone && track.id.is_some() {
            self.measure_appearance(index, blob, frame);
        }
        let track = &mut self.tracks[index];
        track.last_foreground_secs = frame.time_secs;
        if own {
            track.last_detected_secs = frame.time_secs;
            track.hits += 1;
            if self.rivals_m.is_empty() {
                (track.course).update(&track.kalman, area, frame.time_secs);
            }
        }
        // What somebody darkens does not become less where others darken it too.
        let is_area_due = !self.rivals_m.is_empty() || is_turn;
        if frame.feet.can_locate_feet() && is_area_due {
            let silhouette_m2 = track.member(&self.params).silhouette_m2(frame);
            if !self.rivals_m.is_empty() {
                area = track.area_factor.unwrap_or(1.0) * silhouette_m2;
            } else if silhouette_m2 > 0.0 {
                track.learn_area_factor(area / silhouette_m2, TURN_FRAMES as f32 * frame.dt_secs);
            }
        }
        track.output.area_m2 = f64::from(area);
        track.output.centroid_m = centroid_m.as_dvec2();
        outline(
            &blobs[blob],
            frame,
            &mut self.tracer,
            &mut track.output.outline_m,
        );
    }

    /// Learns what somebody looks like who is alone in a blob.
    fn measure_appearance(&mut self, index: usize, blob: usize, frame: &SegmentedFrame<'_>) {
        self.set_bystanders(blob);
        let track = &mut self.tracks[index];
        let alone = track.member(&self.params);
        let blob = &frame.blobs.blobs()[blob];
        let (height_m, body_tone) = self.group_fitter.measure_appearance(&alone, blob, frame);
        if let Some(seen) = body_tone {
            let body_tone = track.body_tone.get_or_insert(seen);
            *body_tone += TONE_RATE * (seen - *body_tone);
        }
        if let Some(measured_m) = height_m {
            track.recent_profile.add(measured_m);
            track.learn_height(measured_m, HEIGHT_RATE_ALONE);
        }
    }

    /// Tells the group finder who is there but not in a blob.
    fn set_bystanders(&mut self, blob: usize) {
        let elsewhere = |v: &&TrackState| v.detection.blob().is_some_and(|other| other != blob);
        let bystanders = self.tracks.iter().filter(elsewhere);
        self.group_fitter.set_bystanders(bystanders.map(|track| {
            let member = track.member(&self.params);
            (member.position_m, member.height_m)
        }));
    }

    /// Finds the places of those who share a blob, all together.
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
                        is_standing: frame.time_secs - track.still_since_secs > STANDING_SECS,
                        ..track.member(&self.params)
                    });
                }
            }
            self.set_bystanders(index);
            if self.members.len() > 1 {
                // A member may have parts beside it.
                let is_members = |owner: usize| self.member_tracks.contains(&owner);
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
            if !self.members.is_empty() && is_turn(self.frame_count, index) {
                let usual = Member::new(Vec2::ZERO, TYPICAL_HEIGHT_SHARE * self.params.tallest_m);
                let find_candidate =
                    self.group_fitter
                        .find_candidate(&mut self.members, usual, blob, frame);
                let candidate = find_candidate.map(|member| GroupCandidate {
                    blob: index,
                    position_m: member.position_m,
                    height_m: None,
                    confirm_at_once: false,
                });
                let candidate = candidate.or_else(|| self.find_split(index, frame));
                self.candidates.extend(candidate);
            }
            if self.members.len() < 2 {
                continue;
            }
            for (&number, member) in self.member_tracks.iter().zip(&self.members) {
                let track = &mut self.tracks[number];
                let is_present = track.has_walked && member.exclusive_m2 > PRESENT_IN_GROUP_M2;
                if is_present || member.exclusive_m2 > VISIBLE_IN_GROUP_M2 {
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
                if track.is_group_candidate && member.exclusive_m2 > CANDIDATE_M2 {
                    track.hits += 1;
                } else if track.is_group_candidate {
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
                let kalman = &mut self.tracks[number].kalman;
                if member.was_relocated {
                    *kalman = Kalman::new(&measured);
                } else {
                    kalman.update(&measured);
                }
            }
        }
    }

    /// Makes the only one in a blob smaller, and tells of a second, once two have explained more for a while.
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
        let dt_secs = TURN_FRAMES as f32 * frame.dt_secs;
        let share = pair.map_or(0.0, |pair| pair.share);
        track.split_gain_share +=
            (1.0 - (-dt_secs / SPLIT_GAIN_SECS).exp()) * (share - track.split_gain_share);
        let confirm_at_once = track.split_gain_share > SPLIT_GAIN_SHARE;
        if pair.is_some_and(|pair| pair.is_clear) {
            track.splittable_secs += dt_secs;
        } else {
            track.splittable_secs = 0.0;
        }
        let [first, second] = pair?.members;
        if track.splittable_secs < SPLIT_SECS && !confirm_at_once {
            return None;
        }
        track.splittable_secs = 0.0;
        track.split_gain_share = 0.0;
        track.height_m = Some(first.height_m);
        Some(GroupCandidate {
            blob,
            position_m: second.position_m,
            height_m: Some(second.height_m),
            confirm_at_once,
        })
    }

    /// Learns how tall those few are who share a blob but are not close to anybody.
    fn measure_member_heights(&mut self, blob: &Blob, frame: &SegmentedFrame<'_>) {
        if self.members.len() > MAX_MEASURED_MEMBERS {
            return;
        }
        for (index, &number) in self.member_tracks.iter().enumerate() {
            let track = &mut self.tracks[number];
            let member = &self.members[index];
            let is_seen = member.exclusive_m2 > VISIBLE_IN_GROUP_M2 && !member.was_relocated;
            let is_confirmed = track.id.is_some() && track.nearest_track_m > AMBIGUOUS_M;
            if !is_seen || !is_confirmed || !is_turn(self.frame_count, number) {
                continue;
            }
            let height_m = (self.group_fitter).measure_height_m(&self.members, index, blob, frame);
            if let Some(measured_m) = height_m {
                track.recent_profile.add(measured_m);
            }
        }
    }

    /// Makes one of two who stand in the same place, or of whom one explains nothing: the parts of one visitor were taken for
    /// two, or one of two has gone unnoticed. The later one goes, or the one who explains nothing, without being kept in mind
    /// unless they once were apart.
    pub(super) fn remove_duplicates(&mut self, dt_secs: f32) {
        for index in (0..self.tracks.len()).rev() {
            let position_m = self.tracks[index].kalman.position_m;
            let since_secs = self.tracks[index].id_birth_secs;
            let others = self.tracks.iter().enumerate();
            let others = others.filter(|(other, v)| *other != index && v.id.is_some());
            let nearest_m = others
                .clone()
                .map(|(_, v)| v.kalman.position_m.distance(position_m))
                .fold(f32::INFINITY, f32::min);
            let earlier = (others.clone())
                .filter(|(other, v)| (v.id_birth_secs, *other) < (since_secs, index));
            let is_duplicate = earlier.clone().any(|(_, v)| {
                let dark = v.detection != Detection::Missed;
                dark && v.kalman.position_m.distance(position_m) < DUPLICATE_M
            });
            let blob = self.tracks[index].detection.blob();
            let shares = |v: &TrackState| blob.is_some() && v.detection.blob() == blob;
            let is_beside = |(_, v): (usize, &TrackState)| {
                shares(v) && v.kalman.position_m.distance(position_m) < REDUNDANT_M
            };
            let is_later = earlier.clone().any(is_beside);
            let mut needed = others.filter(|(_, v)| v.exclusive_share > NEEDED_SHARE);
            let has_other = is_later || needed.any(is_beside);
            let is_crowded = self.tracks.iter().filter(|v| shares(v)).count() > 2;
            let track = &mut self.tracks[index];
            let redundant_secs = if is_crowded && (track.was_isolated || !is_later) {
                CROWDED_REDUNDANT_SECS
            } else {
                REDUNDANT_SECS
            };
            if has_other && track.exclusive_share < REDUNDANT_SHARE {
                track.redundant_secs += dt_secs;
            } else {
                track.redundant_secs = 0.0;
            }
            track.is_independent |=
                nearest_m > INDEPENDENT_M && matches!(track.detection, Detection::Own(_));
            // What is only a part of somebody has no height.
            track.is_independent |= track.height_profile.is_known();
            if is_duplicate {
                track.duplicate_secs += dt_secs;
            } else {
                track.duplicate_secs = 0.0;
            }
            let limit_secs = if track.is_independent {
                INDEPENDENT_DUPLICATE_SECS
            } else {
                DUPLICATE_SECS
            };
            if track.duplicate_secs > limit_secs || track.redundant_secs > redundant_secs {
                if let Some(blob) = track.detection.blob() {
                    self.blob_owners[blob].get_or_insert(0);
                }
                if track.is_independent {
                    self.lose(index);
                } else {
                    self.remove(index);
                }
                self.reindex_owners(index);
            }
        }
    }

    /// Lets blobs' owners have the numbers that are left to them after one has gone.
    pub(super) fn reindex_owners(&mut self, gone: usize) {
        for owner in self.blob_owners.iter_mut().flatten() {
            // An owner beyond those who are left only says that the blob is taken in this frame.
            *owner = if *owner > gone { *owner - 1 } else { *owner };
        }
    }
}

impl TrackState {
    /// Takes in how much they alone explain of what is dark in a group, where somebody so tall darkens so much.
    fn update_exclusive_share(&mut self, exclusive_m2: f32, silhouette_m2: f32, dt_secs: f32) {
        let share = (exclusive_m2 / silhouette_m2.max(MIN_SILHOUETTE_M2)).clamp(0.0, 1.0);
        let believed = 1.0 - (-dt_secs / EXCLUSIVE_SHARE_SECS).exp();
        self.exclusive_share += believed * (share - self.exclusive_share);
        if exclusive_m2 > CANDIDATE_M2 {
            self.strong_evidence_secs += dt_secs;
            self.is_independent |= self.strong_evidence_secs > INDEPENDENT_SECS;
        } else {
            self.strong_evidence_secs = 0.0;
        }
    }
}

/// Whether it is the turn of the one so numbered to be looked at.
pub(super) fn is_turn(frame_count: u32, number: usize) -> bool {
    (frame_count.wrapping_add(number as u32)).is_multiple_of(TURN_FRAMES)
}

/// Area and middle of the samples that are nearer to a visitor than to any rival.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::ambiguity::tests::test_track;

    /// After how many seconds the later one of two in one place, whose height was so often measured, is no longer followed,
    /// and whether they are kept in mind then.
    fn united(measurements: u32) -> (f32, bool) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![
            test_track(1, 1.7, 0.0, 0),
            test_track(2, 0.0, 1.4, measurements),
        ];
        let later = &mut tracker.tracks[1];
        later.height_profile = std::mem::take(&mut later.recent_profile);
        later.is_independent = false;
        for track in &mut tracker.tracks {
            track.kalman.position_m = Vec2::ZERO;
        }
        tracker.blob_owners = vec![Some(0)];
        let mut secs = 0.0;
        while tracker.tracks.len() > 1 && secs < 60.0 {
            tracker.remove_duplicates(0.1);
            secs += 0.1;
        }
        (secs, tracker.lost.iter().any(|lost| lost.id == 2))
    }

    #[test]
    fn a_part_of_somebody_goes_soon_and_who_has_a_height_is_kept_in_mind() {
        let (part_secs, is_kept) = united(0);
        assert!(part_secs < 1.0 && !is_kept, "{part_secs}");
        let (somebody_secs, is_kept) = united(3);
        assert!(
            (3.0..4.0).contains(&somebody_secs) && is_kept,
            "{somebody_secs}"
        );
    }

    /// After how many seconds somebody a step from an earlier one, in the same blob or in another, is no longer followed who
    /// alone explains so much of the square meter that they darken; none where they still are after ten.
    fn redundant_secs(blob: usize, exclusive_m2: &dyn Fn(u32) -> f32) -> Option<f32> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 0.0, 0), test_track(2, 1.4, 0.0, 0)];
        for (track, (x_m, blob)) in (tracker.tracks.iter_mut()).zip([(0.0, 0), (0.4, blob)]) {
            track.kalman.position_m = Vec2::new(x_m, 0.0);
            track.detection = Detection::Shared(blob);
        }
        tracker.blob_owners = vec![Some(0), Some(1)];
        let mut gone = |frame: u32| {
            tracker.tracks[0].update_exclusive_share(0.3, 1.0, 0.1);
            tracker.tracks[1].update_exclusive_share(exclusive_m2(frame), 1.0, 0.1);
            tracker.remove_duplicates(0.1);
            tracker.tracks.len() < 2
        };
        let frame = (1..=100).find(|&frame| gone(frame));
        frame.map(|frame| 0.1 * frame as f32)
    }

    #[test]
    fn who_explains_nothing_on_anothers_body_goes_and_who_is_hidden_for_a_moment_stays() {
        let secs = redundant_secs(0, &|_| 0.05).unwrap_or(f32::INFINITY);
        assert!((0.5..2.5).contains(&secs), "{secs}");
        assert_eq!(redundant_secs(0, &|_| 0.3), None);
        let hidden_in_turn = |frame| if frame % 10 < 4 { 0.0 } else { 0.4 };
        assert_eq!(redundant_secs(0, &hidden_in_turn), None);
        // Who has a blob elsewhere is not on anybody's body.
        assert_eq!(redundant_secs(1, &|_| 0.05), None);
    }

    /// After how many seconds the one so numbered of two, or of three, in one blob is no longer followed, who explains nothing
    /// while the others explain such a share of what they darken, and was seen far from them or not; none where they still
    /// are after ten.
    fn left_behind_secs(
        tracks: u32,
        hidden: u32,
        was_isolated: bool,
        others_share: f32,
    ) -> Option<f32> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = (1..=tracks).map(|id| test_track(id, 1.7, 0.0, 0)).collect();
        for (number, track) in tracker.tracks.iter_mut().enumerate() {
            track.was_isolated = was_isolated;
            track.kalman.position_m = Vec2::new(0.4 * number as f32, 0.0);
            track.detection = Detection::Shared(0);
        }
        tracker.blob_owners = vec![Some(0)];
        let mut gone = || {
            for track in &mut tracker.tracks {
                let share = if track.id == Some(hidden) {
                    0.0
                } else {
                    others_share
                };
                track.update_exclusive_share(share, 1.0, 0.1);
            }
            tracker.remove_duplicates(0.1);
            tracker.tracks.iter().all(|v| v.id != Some(hidden))
        };
        let frame = (1..=100).find(|_| gone());
        frame.map(|frame| 0.1 * frame as f32)
    }

    #[test]
    fn who_went_away_unnoticed_is_not_drawn_along_by_somebody_who_came_later() {
        let of_two = left_behind_secs(2, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((0.5..2.0).contains(&of_two), "{of_two}");
        let of_three = left_behind_secs(3, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((of_two + 0.3..3.0).contains(&of_three), "{of_three}");
        // The later one goes, where neither is needed.
        assert_eq!(left_behind_secs(2, 1, false, 0.05), None);
    }

    #[test]
    fn who_was_seen_far_from_the_others_may_be_hidden_among_them_for_longer() {
        let secs = |tracks: u32, was_isolated: bool| {
            left_behind_secs(tracks, tracks, was_isolated, 0.5).unwrap_or(f32::INFINITY)
        };
        assert_eq!(secs(2, true), secs(2, false));
        let (known, find_candidate) = (secs(3, true), secs(3, false));
        assert!(
            (find_candidate + 0.7..3.0).contains(&known),
            "{known} {find_candidate}"
        );
    }

    #[test]
    fn who_is_needed_in_a_group_for_a_while_is_somebody() {
        let is_somebody = |needed: &dyn Fn(u32) -> bool| {
            let mut track = test_track(1, 0.0, 0.0, 0);
            track.is_independent = false;
            for frame in 0..60 {
                let exclusive_m2 = if needed(frame) { 0.25 } else { 0.15 };
                track.update_exclusive_share(exclusive_m2, 1.0, 1.0 / 30.0);
            }
            track.is_independent
        };
        assert!(is_somebody(&|_| true));
        assert!(!is_somebody(&|frame| frame % 20 > 0));
        assert!(!is_somebody(&|_| false));
    }

    #[test]
    fn a_step_or_somebody_not_noticed_yet_fattens_nobody() {
        let mut track = test_track(1, 1.7, 0.0, 0);
        for frame in 0..60 {
            let is_stepping = frame % 15 < 10;
            track.learn_area_factor(if is_stepping { 1.3 } else { 1.1 }, 1.0 / 30.0);
        }
        let stands = track.area_factor.unwrap_or_default();
        assert!((1.05..1.2).contains(&stands), "{stands}");
        track.learn_area_factor(3.0, 1.0 / 30.0);
        let met = track.area_factor.unwrap_or_default();
        assert!(met < 1.45, "{met}");
        for _ in 0..240 {
            track.learn_area_factor(1.4, 1.0 / 30.0);
        }
        let grown = track.area_factor.unwrap_or_default();
        assert!((grown - 1.4).abs() < 0.01, "{grown}");
    }
}
