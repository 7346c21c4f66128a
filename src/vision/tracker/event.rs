//! What the tracker decides, and what it measured for each decision.
//!
//! The decisions are made in several passes; each pass records its decisions here, with the measured value and the limit. So a
//! changed id can be explained afterwards: `shoal track --why` writes the events of every frame.

use glam::Vec2;

use super::{Detection, TrackState};

/// Number of events of one frame for which memory is reserved.
const USUAL_EVENTS: usize = 64;

/// A kind of decision. Each has one reason, and one unit of the measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A blob that no track explains started a candidate.
    Began,
    /// A visitor without a track was found in the blob of other tracks.
    BeganInGroup,
    /// Two small visitors explain a blob better than one tall visitor.
    BeganBySplit,
    /// A candidate was published under a new id.
    Published,
    /// A candidate was published under the id of a lost track.
    Returned,
    /// A track shares its blob with another one from this frame on.
    JoinedGroup,
    /// A track has a blob to itself again.
    LeftGroup,
    /// A track in a shared blob is covered by others from this frame on: it explains too little alone.
    Hidden,
    /// A hidden track explains enough of its blob alone again.
    Seen,
    /// Two tracks came so close that their ids may be exchanged by mistake from now on.
    Met,
    /// The number of published tracks that share the blob of this track has changed.
    InGroup,
    /// Two tracks were so close in one group that the group fit alone decided which of them followed which visitor. Recorded when
    /// they are apart again.
    Crossed,
    /// No exchange of the ids of two tracks that have met could be tested: a height is not known.
    LackedHeights,
    /// No exchange of the ids of two tracks that have met was tested: they were apart before.
    PartedUntested,
    /// Exchanges of the ids of two tracks that have met were tried and rejected. Recorded when the tracks are apart.
    KeptIds,
    /// A track that explained almost nothing in its group was moved to where somebody is whom no track explains. If that is another
    /// visitor, the id has gone over to that one.
    Relocated,
    /// A published track is not detected from this frame on.
    Missed,
    /// Two tracks in one blob exchanged their ids.
    Exchanged,
    /// A visitor walked away from a thing that had kept the id, and has the id again.
    LeftThing,
    /// A recent track was a fragment of this visitor. The id of the earlier track stays.
    Merged,
    /// A recent track continues a track that is no longer detected, under its id.
    Continued,
    /// The track was removed: its foot point is that of an earlier track.
    Duplicate,
    /// The track was removed: other tracks explain its silhouette.
    Redundant,
    /// The track was removed: it is no longer detected.
    Lost,
    /// The track was removed: it is an object, and becomes part of the background.
    Object,
}

impl Decision {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        self.texts().0
    }

    /// Returns the reason in words. It names the measured value.
    pub fn reason(self) -> &'static str {
        self.texts().1
    }

    /// Returns the unit of the measured value and its limit.
    pub fn unit(self) -> &'static str {
        self.texts().2
    }

    fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Began => ("began", "area of a blob that no track explains", "m²"),
            Self::BeganInGroup => (
                "began_in_group",
                "area that only a further visitor in the blob explains",
                "m²",
            ),
            Self::BeganBySplit => (
                "began_by_split",
                "share of the silhouette that two small visitors explain in addition",
                "",
            ),
            Self::Published => ("published", "number of frames with a detection", ""),
            Self::Returned => (
                "returned",
                "distance to the place where the id was lost",
                "m",
            ),
            Self::JoinedGroup => (
                "joined_group",
                "distance to the nearest track in the same blob",
                "m",
            ),
            Self::LeftGroup => (
                "left_group",
                "distance to the nearest track in another blob",
                "m",
            ),
            Self::Hidden => (
                "hidden",
                "area that the track alone explains in the group",
                "m²",
            ),
            Self::Seen => (
                "seen",
                "area that the track alone explains in the group",
                "m²",
            ),
            Self::Met => ("met", "distance to the other track", "m"),
            Self::InGroup => (
                "in_group",
                "area that the track alone explains in the group",
                "m²",
            ),
            Self::Crossed => (
                "crossed",
                "lowest cost of the exchanged positions above that of the kept ones; 1 is one standard deviation, or 0.02 m² unexplained",
                "",
            ),
            Self::LackedHeights => (
                "swap_not_tested",
                "number of heights of this track that were measured",
                "",
            ),
            Self::PartedUntested => (
                "swap_not_tested",
                "distance at which the tracks were apart before the test",
                "m",
            ),
            Self::KeptIds => (
                "kept_ids",
                "largest area that the heights and tones of both visitors explain in addition if they are exchanged, of all tests",
                "m²",
            ),
            Self::Relocated => (
                "relocated",
                "area that the track alone explains at its new place in the group; limit: at its old place, and 0.1 m², and 0.2 m² where others cover it",
                "m²",
            ),
            Self::Missed => ("missed", "distance to the nearest other track", "m"),
            Self::Exchanged => (
                "exchanged",
                "area that the heights and tones of both visitors explain in addition if they are exchanged",
                "m²",
            ),
            Self::LeftThing => (
                "left_thing",
                "time in which the thing was rigid while the visitor walked away",
                "s",
            ),
            Self::Merged => (
                "merged",
                "share of the silhouette that two visitors would explain in addition to one",
                "",
            ),
            Self::Continued => (
                "continued",
                "distance between the last detection and the new track",
                "m",
            ),
            Self::Duplicate => ("duplicate", "time at the place of an earlier track", "s"),
            Self::Redundant => (
                "redundant",
                "time in which other tracks explain this silhouette",
                "s",
            ),
            Self::Lost => ("lost", "time without a detection", "s"),
            Self::Object => ("object", "time without any motion", "s"),
        }
    }
}

/// One decision about one track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrackEvent {
    /// The decision.
    pub decision: Decision,
    /// Number of the followed body. It stays with the body if ids are exchanged, and is never used again.
    pub body: u32,
    /// Id of the track after the decision; `None` for a candidate.
    pub id: Option<u32>,
    /// Id of the other track in the decision, if there is one; after the decision.
    pub other_id: Option<u32>,
    /// Foot point of the track.
    pub position_m: Vec2,
    /// Measured value, if there is one. [`Decision::reason`] says of what, [`Decision::unit`] in which unit.
    pub measured: Option<f32>,
    /// Limit with which the value was compared, if there is one.
    pub limit: Option<f32>,
    /// Number of the blob in this frame in which the track was found, if there is one.
    pub blob: Option<usize>,
    /// Whether that blob belongs to another track.
    pub is_shared: bool,
    /// Cost at which the blob was assigned to the track, in meters. For [`Decision::Began`]: cost at which it would have been assigned
    /// to the other track, which is near. A pair that costs more than `gate_m` is not assigned.
    pub cost_m: Option<f32>,
    /// Area that the track alone explains in its group in this frame, in m².
    pub explained_m2: Option<f32>,
    /// Distance between the position that the group fit found in this frame and the predicted one, in meters.
    pub off_m: Option<f32>,
    /// For [`Decision::Relocated`]: the old place.
    pub from_m: Option<Vec2>,
    /// For [`Decision::Relocated`]: area that the track alone explained at the old place, in m².
    pub from_explained_m2: Option<f32>,
    /// For [`Decision::Relocated`]: area that the other track alone explains, in m². It explains the next least in the group.
    pub other_explained_m2: Option<f32>,
}

/// Decisions of the current frame.
pub(super) struct Events(Vec<TrackEvent>);

impl Default for Events {
    fn default() -> Self {
        Self(Vec::with_capacity(USUAL_EVENTS))
    }
}

impl Events {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn as_slice(&self) -> &[TrackEvent] {
        &self.0
    }

    /// Records a decision about a track, with the measured value and its limit. An infinite value is left out. Returns the event.
    pub(super) fn add(
        &mut self,
        decision: Decision,
        track: &TrackState,
        other_id: Option<u32>,
        [measured, limit]: [f32; 2],
    ) -> &mut TrackEvent {
        self.0.push_mut(TrackEvent {
            decision,
            body: track.key.0,
            id: track.id(),
            other_id,
            position_m: track.kalman.position_m,
            measured: Some(measured).filter(|value| value.is_finite()),
            limit: Some(limit).filter(|value| value.is_finite()),
            blob: track.detection.blob(),
            is_shared: matches!(track.detection, Detection::Shared(_)),
            cost_m: track.assignment_cost_m,
            explained_m2: track.group_fit.map(|fit| fit.explained_m2),
            off_m: track.group_fit.map(|fit| fit.off_m),
            from_m: None,
            from_explained_m2: None,
            other_explained_m2: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_protocols_describes_every_event_that_explains_an_id() {
        let page = include_str!("../../../docs/protocols.md");
        for decision in [
            Decision::InGroup,
            Decision::Crossed,
            Decision::LackedHeights,
            Decision::PartedUntested,
            Decision::KeptIds,
            Decision::Exchanged,
            Decision::Relocated,
        ] {
            let name = decision.name();
            assert!(page.contains(&format!("| `{name}`")), "{name}");
            assert!(!decision.reason().is_empty());
        }
    }
}
