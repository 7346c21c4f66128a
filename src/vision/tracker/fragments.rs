//! Merging of fragments. The shadow and the body of one visitor, or parts of them, can start separate tracks, mostly at
//! the image border.

use crate::vision::group::MergedFit;

use super::{Detection, SegmentedFrame, TrackState, Tracker};

/// Two tracks are merged if two visitors explain less additional area than this share of the smaller silhouette. On
/// rendered scenes, this was true for 70 of 100 fits to fragments of one visitor, and for 4 of 100 fits to two
/// visitors. Compared with this code, those fits used a more thorough search for the single visitor and a less thorough
/// one for the pair.
const MAX_SPLIT_GAIN_SHARE: f32 = 0.03;
/// Time for which one visitor must explain the foreground of both tracks before they are merged, in seconds.
const MERGE_SECS: f32 = 0.4;
/// Largest distance between two fragments, in meters.
const FRAGMENT_M: f32 = 1.0;
/// A track that was ever this far from all others, in meters, is not a fragment.
const ISOLATED_M: f32 = 0.95;
/// Largest age of a fragment, in seconds.
const FRAGMENT_MAX_AGE_SECS: f64 = 2.0;
/// A track that has moved less than this, in meters, may be an object and is not merged.
const MOVED_M: f32 = 0.1;
/// Offset of the phase (see `Schedule::is_due`). With it, this work is done in other frames than other expensive work.
const PHASE_OFFSET: usize = 2;

impl Tracker {
    /// Merges a recent track into an earlier one if one visitor has explained both for `MERGE_SECS`. The id of the
    /// earlier track is kept. The state comes from the track that is nearer to the merged position.
    pub(super) fn merge_fragments(&mut self, frame: &SegmentedFrame<'_>) {
        if !frame.feet.can_locate_feet() {
            return;
        }
        for track in &mut self.tracks {
            let has_own = track.id.is_some() && matches!(track.detection, Detection::Own(_));
            track.was_isolated |= has_own && track.nearest_track_m > ISOLATED_M;
        }
        let fragment = (0..self.tracks.len()).find_map(|fragment| {
            let (whole, merged) = self.find_whole(fragment, frame)?;
            Some((fragment, whole, merged))
        });
        if let Some((fragment, whole, merged)) = fragment {
            self.merge_tracks(fragment, whole, &merged);
        }
    }

    /// Returns the earlier track of which `fragment` has been a fragment for long enough, and the merged fit. Returns
    /// `None` if there is no such track.
    fn find_whole(
        &mut self,
        fragment: usize,
        frame: &SegmentedFrame<'_>,
    ) -> Option<(usize, MergedFit)> {
        let may_be_fragment = self.tracks[fragment].may_be_fragment(frame.time_secs);
        if !may_be_fragment || !self.schedule.is_due(fragment + PHASE_OFFSET) {
            return None;
        }
        let found = (0..self.tracks.len()).find_map(|whole| {
            let merged = self.fit_merged(fragment, whole, frame)?;
            (merged.split_gain_share < MAX_SPLIT_GAIN_SHARE).then_some((whole, merged))
        });
        let track = &mut self.tracks[fragment];
        if found.is_some() {
            track.mergeable_secs += self.schedule.measured_secs();
        } else {
            track.mergeable_secs = 0.0;
        }
        found.filter(|_| self.tracks[fragment].mergeable_secs > MERGE_SECS)
    }

    /// Fits one visitor to two published tracks that are close to each other. `fragment` is the later track.
    fn fit_merged(
        &mut self,
        fragment: usize,
        whole: usize,
        frame: &SegmentedFrame<'_>,
    ) -> Option<MergedFit> {
        let pair = [fragment, whole];
        let [later, earlier] = pair.map(|number| &self.tracks[number]);
        let blobs = [later.detection.blob()?, earlier.detection.blob()?];
        let is_later = (later.id_birth_secs, fragment) > (earlier.id_birth_secs, whole);
        let is_near = later.kalman.position_m.distance(earlier.kalman.position_m) < FRAGMENT_M;
        if earlier.id.is_none() || !is_later || !is_near {
            return None;
        }
        let is_theirs = |(index, owner): (usize, &Option<usize>)| {
            blobs.contains(&index) || owner.is_some_and(|owner| pair.contains(&owner))
        };
        let all = frame.blobs.blobs();
        let owned = self.blob_owners.iter().enumerate().zip(all);
        let theirs = owned.filter(|(blob, _)| is_theirs(*blob));
        let bounds = theirs.fold(all[blobs[0]].bounds(), |bounds, (_, blob)| {
            bounds.around(&blob.bounds())
        });
        let members = pair.map(|number| self.tracks[number].member(&self.params));
        let others = self.tracks.iter().enumerate().filter(|(number, track)| {
            !pair.contains(number) && track.id.is_some() && track.detection != Detection::Missed
        });
        self.group_fitter.set_bystanders(others.map(|(_, track)| {
            let member = track.member(&self.params);
            (member.position_m, member.height_m)
        }));
        Some(self.group_fitter.fit_merged(members, &bounds, frame))
    }

    fn merge_tracks(&mut self, fragment: usize, whole: usize, merged: &MergedFit) {
        let mut removed = fragment;
        if let Ok([fragment, earlier]) = self.tracks.get_disjoint_mut([fragment, whole]) {
            let off_m = [&*fragment, &*earlier]
                .map(|v| v.kalman.position_m.distance(merged.member.position_m));
            if off_m[0] < off_m[1] {
                fragment.swap_ids_with(earlier);
                removed = whole;
            }
        }
        let remaining = fragment + whole - removed;
        self.tracks[remaining].height_m = Some(merged.member.height_m);
        self.tracks[remaining].mergeable_secs = 0.0;
        if let Some(blob) = self.tracks[removed].detection.blob() {
            self.blob_owners[blob].get_or_insert(remaining);
        }
        self.remove(removed);
        self.reindex_owners(removed);
    }
}

impl TrackState {
    /// Returns whether this is a published track that may be a fragment of another one. The height of a fragment cannot
    /// be measured.
    fn may_be_fragment(&self, now_secs: f64) -> bool {
        let is_new = now_secs - self.birth_secs < FRAGMENT_MAX_AGE_SECS;
        let has_moved = self.kalman.position_m.distance(self.birth_m) > MOVED_M;
        self.id.is_some()
            && is_new
            && has_moved
            && !self.was_isolated
            && !self.height_profile.is_known()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::group::Member;
    use crate::vision::tracker::ambiguity::tests::test_track;
    use glam::Vec2;

    #[test]
    fn only_a_recent_moved_track_without_height_may_be_a_fragment() {
        let may_be_fragment = |change: &dyn Fn(&mut TrackState)| {
            let mut candidate = test_track(2, 0.0, 0.0, 0);
            candidate.height_profile = std::mem::take(&mut candidate.recent_profile);
            candidate.was_isolated = false;
            candidate.kalman.position_m += 2.0 * MOVED_M * Vec2::X;
            change(&mut candidate);
            candidate.may_be_fragment(1.0)
        };
        assert!(may_be_fragment(&|_| ()));
        assert!(!may_be_fragment(&|v| v.id = None), "is only a candidate");
        assert!(
            !may_be_fragment(&|v| v.birth_secs = -FRAGMENT_MAX_AGE_SECS),
            "is too old"
        );
        assert!(
            !may_be_fragment(&|v| v.kalman.position_m = v.birth_m),
            "may be an object"
        );
        assert!(!may_be_fragment(&|v| v.was_isolated = true), "was isolated");
        let is_tall = |v: &mut TrackState| (0..20).for_each(|_| v.height_profile.add(1.7));
        assert!(!may_be_fragment(&is_tall), "has a height");
    }

    /// Returns the id and position of the track that remains after a merge at `one_m`. The earlier track is at 1 m, the
    /// later one at 2 m.
    fn left_of(one_m: Vec2) -> (Option<u32>, f32) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 0.0, 0), test_track(2, 1.7, 0.0, 0)];
        tracker.tracks[1].detection = Detection::Own(1);
        tracker.blob_owners = vec![Some(0), Some(1)];
        let merged = MergedFit {
            member: Member::new(one_m, 1.4),
            split_gain_share: 0.0,
        };
        tracker.merge_tracks(1, 0, &merged);
        let [left] = tracker.tracks.as_slice() else {
            unreachable!("one track remains");
        };
        assert_eq!(left.height_m, Some(1.4));
        assert!(tracker.lost.is_empty(), "no track is lost");
        assert!(
            tracker.blob_owners.iter().all(Option::is_some),
            "every blob has an owner"
        );
        (left.id, left.kalman.position_m.x)
    }

    #[test]
    fn the_earlier_id_stays_at_the_merged_position() {
        assert_eq!(left_of(Vec2::new(1.2, 0.0)), (Some(1), 1.0));
        assert_eq!(left_of(Vec2::new(1.8, 0.0)), (Some(1), 2.0));
    }
}
