//! Removal of duplicate and redundant tracks.

use crate::vision::group::CANDIDATE_M2;

use super::{Decision, Detection, TrackState, Tracker};

/// Two tracks whose foot points are closer than this, in meters, are duplicates.
const DUPLICATE_M: f32 = 0.25;
/// Time after which the later of two duplicates is removed, in seconds.
const DUPLICATE_SECS: f32 = 0.5;
/// Time after which a duplicate is removed, in seconds, if it certainly belonged to a separate visitor. In this case
/// one of the two visitors has left undetected, so the id is remembered.
const INDEPENDENT_DUPLICATE_SECS: f32 = 3.0;
/// Largest distance in meters at which a track can make another track in the same blob redundant.
const REDUNDANT_M: f32 = 0.6;
/// Time after which a redundant track is removed, in seconds.
const REDUNDANT_SECS: f32 = 0.5;
/// If less than this share of a track's silhouette is explained by that track alone, the track is redundant: its
/// visitor has left undetected, or never existed. On rendered scenes, this was true in 45 of 100 frames with two tracks
/// on one body, and in 6 of 1000 other frames with groups.
const REDUNDANT_SHARE: f32 = 0.15;
/// An earlier track can be redundant only if the other track alone explains at least this share of its silhouette.
const NEEDED_SHARE: f32 = 0.1;
/// Time after which a redundant track is removed, in seconds, if more than two tracks share the blob and the track is
/// the earlier one or was isolated before. Such a track may only be occluded for a short time.
const CROWDED_REDUNDANT_SECS: f32 = 1.5;
/// Time constant of the average of the exclusive share, in seconds.
const EXCLUSIVE_SHARE_SECS: f32 = 0.3;
/// Lower limit of the silhouette area that a share is computed from, in m².
const MIN_SILHOUETTE_M2: f32 = 0.05;
/// A track that was ever this far from all others, in meters, belongs to a separate visitor.
const INDEPENDENT_M: f32 = 0.7;
/// A track that has explained enough area of its own for this time, in seconds, also belongs to a separate visitor.
const INDEPENDENT_SECS: f32 = 1.0;

impl Tracker {
    /// Removes duplicate and redundant tracks. They occur if two fragments of one visitor are tracked, or if a visitor
    /// left undetected. Of two duplicates, the later track is removed. If the removed track certainly belonged to a
    /// separate visitor, it becomes a lost track; otherwise it is discarded.
    pub(super) fn remove_duplicates(&mut self, dt_secs: f32) {
        for index in (0..self.tracks.len()).rev() {
            let position_m = self.tracks[index].kalman.position_m;
            let since_secs = self.tracks[index].identity.since_secs();
            let others = self.tracks.iter().enumerate();
            let others = others.filter(|(other, v)| *other != index && v.id().is_some());
            let nearest_m = others
                .clone()
                .map(|(_, v)| v.kalman.position_m.distance(position_m))
                .fold(f32::INFINITY, f32::min);
            let earlier = (others.clone())
                .filter(|(other, v)| (v.identity.since_secs(), *other) < (since_secs, index));
            let is_duplicate = earlier.clone().any(|(_, v)| {
                let is_detected = v.detection != Detection::Missed;
                is_detected && v.kalman.position_m.distance(position_m) < DUPLICATE_M
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
            // The height of a fragment cannot be measured, so a track with a known height is a visitor.
            track.is_independent |= track.identity.heights.is_known();
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
                    self.blob_owners[blob].get_or_insert(track.key);
                }
                let (decision, evidence) = if track.duplicate_secs > limit_secs {
                    (Decision::Duplicate, [track.duplicate_secs, limit_secs])
                } else {
                    (Decision::Redundant, [track.redundant_secs, redundant_secs])
                };
                self.record(index, decision, evidence);
                if self.tracks[index].is_independent {
                    self.lose(index);
                } else {
                    self.remove(index);
                }
            }
        }
    }
}

impl TrackState {
    /// Updates the exclusive share of a track in a shared blob.
    pub(super) fn update_exclusive_share(
        &mut self,
        exclusive_m2: f32,
        silhouette_m2: f32,
        dt_secs: f32,
    ) {
        let share = (exclusive_m2 / silhouette_m2.max(MIN_SILHOUETTE_M2)).clamp(0.0, 1.0);
        let rate = 1.0 - (-dt_secs / EXCLUSIVE_SHARE_SECS).exp();
        self.exclusive_share += rate * (share - self.exclusive_share);
        if exclusive_m2 > CANDIDATE_M2 {
            self.strong_evidence_secs += dt_secs;
            self.is_independent |= self.strong_evidence_secs > INDEPENDENT_SECS;
        } else {
            self.strong_evidence_secs = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::ambiguity::tests::test_track;
    use crate::vision::tracker::{Schedule, Work};

    /// Returns a tracker with three tracks in a blob each. The second one is a duplicate of the first.
    fn with_duplicate() -> Tracker {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = (1..=3).map(|id| test_track(id, 1.7, 0.0, 0)).collect();
        for (blob, track) in tracker.tracks.iter_mut().enumerate() {
            track.detection = Detection::Own(blob);
            tracker.blob_owners.push(Some(track.key));
        }
        tracker.tracks[0].kalman.position_m = Vec2::ZERO;
        tracker.tracks[1].kalman.position_m = Vec2::ZERO;
        tracker.tracks[2].kalman.position_m = Vec2::new(3.0, 0.0);
        tracker
    }

    /// The owner of a blob was an index, which belonged to the next track after the owner was removed.
    #[test]
    fn the_blob_of_a_removed_track_goes_to_no_other_track() {
        let mut tracker = with_duplicate();
        while tracker.tracks.len() > 2 {
            tracker.remove_duplicates(0.1);
        }
        let owner_ids = tracker.blob_owners.iter().map(|owner| {
            let index = owner.and_then(|key| tracker.index_of(key))?;
            tracker.tracks[index].id()
        });
        assert_eq!(owner_ids.collect::<Vec<_>>(), [Some(1), None, Some(3)]);
        // The blob is still assigned, so it starts no candidate.
        assert!(tracker.blob_owners.iter().all(Option::is_some));
    }

    /// The phase of expensive work was the index of the track, which changed if another track ended.
    #[test]
    fn the_end_of_a_track_does_not_change_when_others_are_measured() {
        let mut tracker = with_duplicate();
        let due_frames = |tracker: &Tracker| -> Vec<usize> {
            let last = tracker.tracks.last().map(|track| track.key);
            let mut schedule = Schedule::default();
            let is_due = |number: &usize| {
                schedule.advance(*number as f64 / 30.0, 1.0 / 30.0);
                last.is_some_and(|key| schedule.is_due(Work::Appearance, key))
            };
            (0..30).filter(is_due).collect()
        };
        let before = due_frames(&tracker);
        tracker.remove(0);
        assert_eq!(due_frames(&tracker), before);
    }

    /// Returns the time in seconds after which the later of two tracks at the same position is removed, and whether it
    /// becomes lost (not discarded). `measurements` is the number of height measurements of that track.
    fn duplicate_removal(measurements: u32) -> (f32, bool) {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![
            test_track(1, 1.7, 0.0, 0),
            test_track(2, 0.0, 1.4, measurements),
        ];
        let later = &mut tracker.tracks[1];
        later.identity.heights = std::mem::take(&mut later.recent_profile);
        later.is_independent = false;
        for track in &mut tracker.tracks {
            track.kalman.position_m = Vec2::ZERO;
        }
        tracker.blob_owners = vec![None];
        let mut secs = 0.0;
        while tracker.tracks.len() > 1 && secs < 60.0 {
            tracker.remove_duplicates(0.1);
            secs += 0.1;
        }
        (
            secs,
            tracker
                .lost
                .iter()
                .any(|lost| lost.identity.id() == Some(2)),
        )
    }

    #[test]
    fn a_duplicate_fragment_is_discarded_and_a_duplicate_visitor_becomes_lost() {
        let (fragment_secs, is_kept) = duplicate_removal(0);
        assert!(fragment_secs < 1.0 && !is_kept, "{fragment_secs}");
        let (visitor_secs, is_kept) = duplicate_removal(3);
        assert!(
            (3.0..4.0).contains(&visitor_secs) && is_kept,
            "{visitor_secs}"
        );
    }

    /// Returns the time in seconds after which a track 0.4 m from an earlier one is removed, if the track alone
    /// explains `exclusive_m2` of its silhouette of 1 m². Returns `None` if the track remains for 10 s.
    fn redundant_secs(blob: usize, exclusive_m2: &dyn Fn(u32) -> f32) -> Option<f32> {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 0.0, 0), test_track(2, 1.4, 0.0, 0)];
        for (track, (x_m, blob)) in (tracker.tracks.iter_mut()).zip([(0.0, 0), (0.4, blob)]) {
            track.kalman.position_m = Vec2::new(x_m, 0.0);
            track.detection = Detection::Shared(blob);
        }
        tracker.blob_owners = vec![None, None];
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
    fn a_redundant_track_is_removed_and_a_briefly_occluded_one_stays() {
        let secs = redundant_secs(0, &|_| 0.05).unwrap_or(f32::INFINITY);
        assert!((0.5..2.5).contains(&secs), "{secs}");
        assert_eq!(redundant_secs(0, &|_| 0.3), None);
        let hidden_in_turn = |frame| if frame % 10 < 4 { 0.0 } else { 0.4 };
        assert_eq!(redundant_secs(0, &hidden_in_turn), None);
        // A track in another blob does not make the tested track redundant.
        assert_eq!(redundant_secs(1, &|_| 0.05), None);
    }

    /// Returns the time in seconds after which the track with id `hidden` is removed from a shared blob. This track
    /// alone explains nothing; each other track alone explains `others_share` of its silhouette. Returns `None` if the
    /// track remains for 10 s.
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
        tracker.blob_owners = vec![None];
        let mut gone = || {
            for track in &mut tracker.tracks {
                let share = if track.id() == Some(hidden) {
                    0.0
                } else {
                    others_share
                };
                track.update_exclusive_share(share, 1.0, 0.1);
            }
            tracker.remove_duplicates(0.1);
            tracker.tracks.iter().all(|v| v.id() != Some(hidden))
        };
        let frame = (1..=100).find(|_| gone());
        frame.map(|frame| 0.1 * frame as f32)
    }

    #[test]
    fn an_earlier_track_without_a_visitor_does_not_follow_a_later_one() {
        let of_two = left_behind_secs(2, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((0.5..2.0).contains(&of_two), "{of_two}");
        let of_three = left_behind_secs(3, 1, false, 0.5).unwrap_or(f32::INFINITY);
        assert!((of_two + 0.3..3.0).contains(&of_three), "{of_three}");
        // If no track explains enough, only the later track may be removed.
        assert_eq!(left_behind_secs(2, 1, false, 0.05), None);
    }

    #[test]
    fn a_track_once_isolated_may_be_occluded_for_longer() {
        let secs = |tracks: u32, was_isolated: bool| {
            left_behind_secs(tracks, tracks, was_isolated, 0.5).unwrap_or(f32::INFINITY)
        };
        assert_eq!(secs(2, true), secs(2, false));
        let (isolated, not_isolated) = (secs(3, true), secs(3, false));
        assert!(
            (not_isolated + 0.7..3.0).contains(&isolated),
            "{isolated} {not_isolated}"
        );
    }

    #[test]
    fn a_track_with_lasting_exclusive_area_becomes_independent() {
        let is_independent = |needed: &dyn Fn(u32) -> bool| {
            let mut track = test_track(1, 0.0, 0.0, 0);
            track.is_independent = false;
            for frame in 0..60 {
                let exclusive_m2 = if needed(frame) { 0.25 } else { 0.15 };
                track.update_exclusive_share(exclusive_m2, 1.0, 1.0 / 30.0);
            }
            track.is_independent
        };
        assert!(is_independent(&|_| true));
        assert!(!is_independent(&|frame| frame % 20 > 0));
        assert!(!is_independent(&|_| false));
    }

    #[test]
    fn brief_blob_growth_barely_raises_the_area_factor() {
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
