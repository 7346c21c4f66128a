//! Merging of fragments. The shadow and the body of one visitor, or parts of them, can start separate tracks, mostly at
//! the image border.

use crate::vision::group::MergedFit;

use super::{Decision, Detection, SegmentedFrame, TrackKey, TrackState, Tracker, Work};

/// Two tracks are merged if two visitors explain less additional area than this share of the smaller silhouette. On
/// rendered scenes, this is true for about 70 of 100 fits to fragments of one visitor, and for 4 of 100 fits to two
/// visitors.
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

impl Tracker {
    /// Merges a recent track into an earlier one if one visitor has explained both for `MERGE_SECS`. The id of the
    /// earlier track is kept. The state comes from the track that is nearer to the merged position.
    pub(super) fn merge_fragments(&mut self, frame: &SegmentedFrame<'_>) {
        if !frame.feet.can_locate_feet() {
            return;
        }
        for track in &mut self.tracks {
            let has_own = track.id().is_some() && matches!(track.detection, Detection::Own(_));
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
        let track = &self.tracks[fragment];
        let may_be_fragment = track.may_be_fragment(frame.time_secs);
        if !may_be_fragment || !self.schedule.is_due(Work::Merge, track.key) {
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
        let is_later =
            (later.identity.since_secs(), fragment) > (earlier.identity.since_secs(), whole);
        let is_near = later.kalman.position_m.distance(earlier.kalman.position_m) < FRAGMENT_M;
        if earlier.id().is_none() || !is_later || !is_near {
            return None;
        }
        let keys = [later.key, earlier.key];
        let is_theirs = |(index, owner): (usize, &Option<TrackKey>)| {
            blobs.contains(&index) || owner.is_some_and(|owner| keys.contains(&owner))
        };
        let all = frame.blobs.blobs();
        let owned = self.blob_owners.iter().enumerate().zip(all);
        let theirs = owned.filter(|(blob, _)| is_theirs(*blob));
        let bounds = theirs.fold(all[blobs[0]].bounds(), |bounds, (_, blob)| {
            bounds.around(&blob.bounds())
        });
        let members = pair.map(|number| self.tracks[number].member(&self.params));
        let others = self.tracks.iter().enumerate().filter(|(number, track)| {
            !pair.contains(number) && track.id().is_some() && track.detection != Detection::Missed
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
        let gone_id = self.tracks[removed].id();
        let evidence = [merged.split_gain_share, MAX_SPLIT_GAIN_SHARE];
        (self.events).add(Decision::Merged, &self.tracks[remaining], gone_id, evidence);
        let removed = self.remove(removed);
        if let Some(blob) = removed.detection.blob() {
            self.blob_owners[blob].get_or_insert(removed.key);
        }
    }
}

impl TrackState {
    /// Returns whether this is a published track that may be a fragment of another one. The height of a fragment cannot
    /// be measured.
    fn may_be_fragment(&self, now_secs: f64) -> bool {
        let is_new = now_secs - self.birth_secs < FRAGMENT_MAX_AGE_SECS;
        let has_moved = self.kalman.position_m.distance(self.birth_m) > MOVED_M;
        self.id().is_some()
            && is_new
            && has_moved
            && !self.was_isolated
            && !self.identity.heights.is_known()
    }
}
