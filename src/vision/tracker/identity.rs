//! The identity of a track: its id, and what belongs to the id and not to the followed body. Ids change only here. Most ids reach another
//! visitor without a change: where two visitors pass each other in one blob, `GroupFitter::fit` can place each track on the visitor of the
//! other one ([`Decision::Crossed`]), or move a track that explains almost nothing ([`Decision::Relocated`]).

use crate::vision::height_profile::HeightProfile;

use super::{Decision, Phase, TrackState, Tracker};

/// Data that move with an id.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    id: Option<u32>,
    since_secs: f64,
    /// Whether a body with this id has walked, so the id belongs to a visitor.
    pub(super) has_walked: bool,
    /// Heights that certainly belong to the visitor with this id.
    pub(super) heights: HeightProfile,
}

impl Identity {
    /// Returns the identity of a candidate, which has no id.
    pub(super) fn candidate(now_secs: f64) -> Self {
        Self {
            id: None,
            since_secs: now_secs,
            has_walked: false,
            heights: HeightProfile::default(),
        }
    }

    /// Returns the id; `None` for a candidate.
    pub(super) fn id(&self) -> Option<u32> {
        self.id
    }

    /// Returns the time of the first detection under this id, in seconds.
    pub(super) fn since_secs(&self) -> f64 {
        self.since_secs
    }

    #[cfg(test)]
    pub(super) fn with_id(id: u32, heights: HeightProfile) -> Self {
        Self {
            id: Some(id),
            since_secs: 0.0,
            has_walked: true,
            heights,
        }
    }
}

impl TrackState {
    /// Returns the id of a published track; `None` for a candidate.
    pub(super) fn id(&self) -> Option<u32> {
        self.identity.id()
    }

    /// Exchanges the identities of two tracks. The bodies stay where they are.
    pub(super) fn swap_ids_with(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.identity, &mut other.identity);
    }

    /// Takes the id of another track, which becomes a candidate. The id that this track had is never used again: for a moment, it
    /// was that of the same visitor.
    pub(super) fn take_id_of(&mut self, other: &mut Self, now_secs: f64) {
        self.identity = std::mem::replace(&mut other.identity, Identity::candidate(now_secs));
        other.phase = Phase::candidate(false);
    }
}

impl Tracker {
    /// Publishes the candidate at `index` under a new id, after this number of `hits`. `required` hits are necessary.
    pub(super) fn publish_as_new(&mut self, index: usize, [hits, required]: [u32; 2]) {
        self.tracks[index].identity.id = Some(self.next_id);
        self.next_id = self.next_id.saturating_add(1);
        let evidence = [hits as f32, required as f32];
        self.record(index, Decision::Published, evidence);
    }

    /// Publishes the candidate at `index` under the id of a lost track. `evidence` is its distance to the lost track, and how
    /// far the visitor may have come.
    pub(super) fn publish_as_returned(&mut self, index: usize, lost: Identity, evidence: [f32; 2]) {
        self.tracks[index].identity = lost;
        self.record(index, Decision::Returned, evidence);
    }
}
