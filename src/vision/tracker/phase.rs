//! Life stages of a track. A lost track has a type of its own.

use super::{Decision, Detection, TrackState, Tracker};

/// Life stage of a track, with what counts only in this stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Not published.
    Candidate {
        /// Number of frames with a detection.
        hits: u32,
        /// Whether the group fit found the candidate inside a shared blob.
        is_in_group: bool,
    },
    /// Has a blob to itself.
    Alone,
    /// Shares a blob with other tracks.
    Grouped,
    /// Shares a blob with other tracks, which cover it.
    Occluded,
    /// Not detected.
    Missed,
}

impl Phase {
    /// Returns the stage of a candidate after its first detection.
    pub(super) fn candidate(is_in_group: bool) -> Self {
        Self::Candidate {
            hits: 1,
            is_in_group,
        }
    }

    /// Returns whether this is a candidate that the group fit found inside a shared blob.
    pub(super) fn is_group_candidate(self) -> bool {
        matches!(
            self,
            Self::Candidate {
                is_in_group: true,
                ..
            }
        )
    }

    /// Counts a frame with a detection of a candidate. `is_evidence` is whether it is separate evidence.
    pub(super) fn count(&mut self, is_evidence: bool) {
        if let Self::Candidate { hits, .. } = self {
            *hits += u32::from(is_evidence);
        }
    }
}

impl Tracker {
    /// Updates the phases of all tracks and records their changes.
    pub(super) fn advance_phases(&mut self) {
        for index in 0..self.tracks.len() {
            let track = &self.tracks[index];
            let (before, phase) = (track.phase, self.phase(index));
            let group_size = self.group_size(index);
            let decision = match (before, phase) {
                (before, now) if before == now => {
                    let has_changed = group_size > 1 && group_size != track.group_size;
                    has_changed.then_some(Decision::InGroup)
                }
                (_, Phase::Candidate { .. }) | (Phase::Candidate { .. }, Phase::Alone) => None,
                (Phase::Occluded, Phase::Grouped) => Some(Decision::Seen),
                (_, Phase::Grouped) => Some(Decision::JoinedGroup),
                (_, Phase::Occluded) => Some(Decision::Hidden),
                (_, Phase::Alone) => Some(Decision::LeftGroup),
                (_, Phase::Missed) => Some(Decision::Missed),
            };
            if let Some(decision) = decision {
                let is_in_group = matches!(phase, Phase::Grouped | Phase::Occluded);
                let blob = track.detection.blob().filter(|_| is_in_group);
                let others = self.tracks.iter().enumerate().filter(|(number, other)| {
                    let is_in_blob = blob.is_none() || other.detection.blob() == blob;
                    *number != index && other.id().is_some() && is_in_blob
                });
                let distance_m =
                    |other: &TrackState| other.kalman.position_m.distance(track.kalman.position_m);
                let nearest = others
                    .map(|(_, other)| (distance_m(other), other.id()))
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                let (nearest_m, other_id) = nearest.unwrap_or((f32::INFINITY, None));
                let evidence = match decision {
                    Decision::Hidden | Decision::Seen | Decision::InGroup => {
                        let fit = track.group_fit;
                        fit.map_or([f32::INFINITY; 2], |fit| [fit.explained_m2, fit.limit_m2])
                    }
                    _ => [nearest_m, f32::INFINITY],
                };
                (self.events).add(decision, track, other_id, evidence);
            }
            self.tracks[index].phase = phase;
            self.tracks[index].group_size = group_size;
        }
    }

    /// Returns the number of published tracks in the blob of the track at `index`; 0 without a blob.
    fn group_size(&self, index: usize) -> usize {
        let blob = self.tracks[index].detection.blob();
        let is_member =
            |track: &&TrackState| track.id().is_some() && track.detection.blob() == blob;
        let members = self.tracks.iter().filter(is_member);
        blob.map_or(0, |_| members.count())
    }

    fn phase(&self, index: usize) -> Phase {
        let track = &self.tracks[index];
        let Some(blob) = track.detection.blob() else {
            return match track.id() {
                Some(_) => Phase::Missed,
                None => track.phase,
            };
        };
        let is_other = |(number, other): (usize, &TrackState)| {
            number != index && other.can_share_blob() && other.detection.blob() == Some(blob)
        };
        match track.detection {
            _ if track.id().is_none() => track.phase,
            Detection::Own(_) if !self.tracks.iter().enumerate().any(is_other) => Phase::Alone,
            _ if track.last_detected_secs < self.time_secs => Phase::Occluded,
            _ => Phase::Grouped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::GroupFit;
    use crate::vision::tracker::ambiguity::tests::test_track;

    #[test]
    fn a_track_that_explains_too_little_of_its_group_is_hidden_until_it_is_seen() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 1.7, 5), test_track(2, 1.6, 1.6, 5)];
        let mut decisions = |secs: f64, explained_m2: f32, seen_secs: f64| {
            tracker.events.clear();
            tracker.time_secs = secs;
            let [owner, other] = &mut tracker.tracks[..] else {
                return Vec::new();
            };
            (owner.detection, owner.last_detected_secs) = (Detection::Own(3), secs);
            (other.detection, other.last_detected_secs) = (Detection::Shared(3), seen_secs);
            other.group_fit = Some(GroupFit {
                explained_m2,
                limit_m2: 0.1,
                off_m: 0.0,
            });
            tracker.advance_phases();
            let of_second = tracker.events().iter().filter(|event| event.id == Some(2));
            of_second
                .map(|event| {
                    assert_eq!((event.blob, event.is_shared), (Some(3), true));
                    (event.decision, event.measured, event.limit)
                })
                .collect()
        };
        let joined = (Decision::JoinedGroup, Some(1.0), None);
        assert_eq!(decisions(1.0, 0.4, 1.0), [joined]);
        let hidden = (Decision::Hidden, Some(0.05), Some(0.1));
        assert_eq!(decisions(1.1, 0.05, 1.0), [hidden]);
        assert_eq!(decisions(1.2, 0.05, 1.0), []);
        let seen = (Decision::Seen, Some(0.3), Some(0.1));
        assert_eq!(decisions(1.3, 0.3, 1.3), [seen]);
    }

    #[test]
    fn the_members_of_a_group_are_recorded_when_their_number_changes() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = [1, 2, 3].map(|id| test_track(id, 1.7, 1.7, 5)).into();
        let mut members = |blobs: [usize; 3]| {
            tracker.events.clear();
            for (track, blob) in tracker.tracks.iter_mut().zip(blobs) {
                track.detection = Detection::Shared(blob);
                track.group_fit = Some(GroupFit {
                    explained_m2: 0.5,
                    limit_m2: 0.03,
                    off_m: 0.04,
                });
            }
            tracker.tracks[0].detection = Detection::Own(blobs[0]);
            tracker.advance_phases();
            let members = tracker.events().iter();
            let members = members.filter(|event| event.decision == Decision::InGroup);
            let members = members.map(|event| {
                assert_eq!((event.measured, event.limit), (Some(0.5), Some(0.03)));
                assert_eq!((event.explained_m2, event.off_m), (Some(0.5), Some(0.04)));
                event.id.unwrap_or_default()
            });
            members.collect::<Vec<_>>()
        };
        assert_eq!(members([0, 0, 1]), [0; 0], "they joined the group");
        assert_eq!(members([0, 0, 1]), [0; 0]);
        assert_eq!(members([0, 0, 0]), [1, 2, 3]);
        assert_eq!(members([0, 0, 0]), [0; 0]);
        assert_eq!(members([0, 0, 1]), [1, 2]);
    }
}
