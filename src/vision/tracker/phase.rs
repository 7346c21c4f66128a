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
            let decision = match (before, phase) {
                (before, now) if before == now => None,
                (_, Phase::Candidate { .. }) | (Phase::Candidate { .. }, Phase::Alone) => None,
                (_, Phase::Grouped) => Some(Decision::JoinedGroup),
                (_, Phase::Alone) => Some(Decision::LeftGroup),
                (_, Phase::Missed) => Some(Decision::Missed),
            };
            if let Some(decision) = decision {
                let blob = track.detection.blob().filter(|_| phase == Phase::Grouped);
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
                (self.events).add(decision, track, other_id, [nearest_m, f32::INFINITY]);
            }
            self.tracks[index].phase = phase;
        }
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
            _ => Phase::Grouped,
        }
    }
}
