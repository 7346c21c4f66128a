//! Ambiguity of tracks whose ids may have been switched. Tracks that came close to each other stay ambiguous until
//! enough heights have been measured after they separated.
//!
//! Where visitors meet, their positions are not enough to identify them. While the visitors are close, an id switch can
//! still be corrected (see `id_swap`). Once they have separated, ids are no longer changed, even if they are wrong.
//! Otherwise, effects that follow a visitor would jump a second time.

use crate::vision::height_profile::{HeightProfile, KNOWN_MEASUREMENTS};

use super::{Decision, TrackState, Tracker};

/// Tracks closer than this, in meters, can switch ids.
pub(super) const AMBIGUOUS_M: f32 = 0.4;
/// Number of height measurements after a meeting that makes an id certain. The same number is needed to replace a known
/// height by heights that contradict it.
const RESOLVED_MEASUREMENTS: f32 = 12.0;
/// Height difference from which a measurement contradicts the known height, in squared standard deviations.
const CONTRADICTING_DIFFERENCE: f32 = 4.0;

impl Tracker {
    /// Marks tracks that are close to each other as ambiguous, and measures the distance of each track to the nearest
    /// other track.
    pub(super) fn mark_ambiguous(&mut self) {
        for a in 0..self.tracks.len() {
            let mut nearest_m = f32::INFINITY;
            for b in 0..self.tracks.len() {
                if a == b || self.tracks[a].id().is_none() || self.tracks[b].id().is_none() {
                    continue;
                }
                let distance_m = self.tracks[a]
                    .kalman
                    .position_m
                    .distance(self.tracks[b].kalman.position_m);
                nearest_m = nearest_m.min(distance_m);
                if b < a && distance_m < AMBIGUOUS_M {
                    self.join_ambiguity(a, b);
                }
            }
            self.tracks[a].nearest_track_m = nearest_m;
        }
    }

    /// Gives the same ambiguity id to two tracks and to all tracks that are ambiguous with one of them.
    fn join_ambiguity(&mut self, a: usize, b: usize) {
        let (of_a, of_b) = (self.tracks[a].ambiguity_id, self.tracks[b].ambiguity_id);
        if of_a.is_none() || of_a != of_b {
            let [first, second] = [a, b].map(|index| &self.tracks[index]);
            let distance_m = first.kalman.position_m.distance(second.kalman.position_m);
            let evidence = [distance_m, AMBIGUOUS_M];
            (self.events).add(Decision::Met, first, second.id(), evidence);
        }
        let ambiguity_id = of_a.or(of_b).unwrap_or_else(|| {
            self.last_ambiguity_id = self.last_ambiguity_id.wrapping_add(1);
            self.last_ambiguity_id
        });
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let joins = index == a || index == b;
            if joins
                || track.ambiguity_id.is_some()
                    && (track.ambiguity_id == of_a || track.ambiguity_id == of_b)
            {
                track.ambiguity_id = Some(ambiguity_id);
            }
            if joins {
                // Heights measured after this frame may belong to another body.
                track.accept_recent_profile(KNOWN_MEASUREMENTS);
                track.recent_profile = HeightProfile::default();
            }
        }
    }

    /// Accepts recent heights of tracks that are not close to others, and ends ambiguities that are resolved.
    pub(super) fn resolve_ambiguities(&mut self) {
        for track in &mut self.tracks {
            let wanted = match track.ambiguity_id {
                Some(_) => RESOLVED_MEASUREMENTS,
                None => KNOWN_MEASUREMENTS,
            };
            if track.accept_recent_profile(wanted) {
                track.ambiguity_id = None;
            }
        }
    }
}

impl TrackState {
    /// Accepts the recent heights as heights of this id if there are at least `measurements` of them. If they
    /// contradict the known height, more are needed. Returns whether it accepted them.
    fn accept_recent_profile(&mut self, measurements: f32) -> bool {
        let is_other = self.identity.heights.is_known()
            && self.identity.heights.difference(&self.recent_profile) >= CONTRADICTING_DIFFERENCE;
        let wanted = if is_other {
            RESOLVED_MEASUREMENTS
        } else {
            measurements
        };
        if self.recent_profile.measurements() < wanted {
            return false;
        }
        let recent_profile = std::mem::take(&mut self.recent_profile);
        if is_other {
            self.identity.heights = recent_profile;
        } else {
            self.identity.heights.merge(&recent_profile);
        }
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::geometry::Visitor;
    use crate::vision::TrackingParams;
    use crate::vision::kalman::Measurement;
    use crate::vision::tracker::identity::Identity;
    use crate::vision::tracker::{Detection, Phase, TrackKey};
    use glam::{Mat2, Vec2};

    fn height_profile(height_m: f32, measurements: u32) -> HeightProfile {
        let mut height_profile = HeightProfile::default();
        for _ in 0..measurements {
            height_profile.add(height_m);
        }
        height_profile
    }

    /// Returns an ambiguous track with this id, a known height, and recent height measurements.
    pub(in crate::vision::tracker) fn test_track(
        id: u32,
        known_m: f32,
        measured_m: f32,
        times: u32,
    ) -> TrackState {
        let first = Measurement {
            position_m: Vec2::new(id as f32, 0.0),
            covariance_m2: Mat2::IDENTITY,
        };
        TrackState {
            has_walked: true,
            is_independent: true,
            was_isolated: true,
            detection: Detection::Own(0),
            phase: Phase::Alone,
            identity: Identity::with_id(id, height_profile(known_m, 20)),
            recent_profile: height_profile(measured_m, times),
            ambiguity_id: Some(1),
            ..TrackState::new(TrackKey(id), &first, Visitor::default(), 0.0)
        }
    }

    fn settled(track: TrackState) -> TrackState {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![track];
        tracker.resolve_ambiguities();
        tracker.tracks.remove(0)
    }

    #[test]
    fn an_ambiguity_ends_after_enough_measurements_apart() {
        assert!(settled(test_track(1, 1.7, 1.72, 11)).ambiguity_id.is_some());
        assert!(settled(test_track(1, 1.7, 1.72, 12)).ambiguity_id.is_none());
        let mut hardly = test_track(1, 0.0, 1.2, 12);
        hardly.identity.heights = height_profile(1.8, 2);
        assert!(settled(hardly).ambiguity_id.is_none());
    }

    #[test]
    fn a_contradicting_height_replaces_the_known_one_once_certain() {
        let doubtful = settled(test_track(1, 1.7, 1.2, 11));
        assert_eq!(
            doubtful.identity.heights.height_m(),
            height_profile(1.7, 20).height_m()
        );
        assert!(doubtful.ambiguity_id.is_some());
        let certain = settled(test_track(1, 1.7, 1.2, 12));
        assert_eq!(
            certain.identity.heights.height_m(),
            height_profile(1.2, 12).height_m()
        );
        assert!(certain.ambiguity_id.is_none());
        let mut alone = test_track(1, 1.7, 1.2, 3);
        alone.ambiguity_id = None;
        let alone = settled(alone);
        assert_eq!(
            alone.identity.heights.height_m(),
            height_profile(1.7, 20).height_m()
        );
    }

    #[test]
    fn meeting_tracks_join_their_ambiguities() {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![
            test_track(1, 1.7, 1.7, 5),
            test_track(2, 1.6, 1.6, 5),
            test_track(3, 1.4, 1.4, 5),
        ];
        for (track, (x_m, ambiguity_id)) in
            (tracker.tracks.iter_mut()).zip([(0.0, Some(4)), (0.3, Some(5)), (2.0, Some(5))])
        {
            track.kalman.position_m = Vec2::new(x_m, 0.0);
            track.ambiguity_id = ambiguity_id;
        }
        tracker.mark_ambiguous();
        let ambiguity_ids = [0, 1, 2].map(|number: usize| tracker.tracks[number].ambiguity_id);
        assert!(ambiguity_ids[0].is_some());
        assert_eq!(ambiguity_ids, [ambiguity_ids[0]; 3]);
        let recent_profile =
            [0, 1, 2].map(|number: usize| tracker.tracks[number].recent_profile.measurements());
        assert_eq!(recent_profile, [0.0, 0.0, 5.0]);
        let events = |tracker: &Tracker| {
            let events = tracker.events().iter();
            let events = events.map(|event| (event.decision, event.id, event.other_id));
            events.collect::<Vec<_>>()
        };
        let met = (Decision::Met, Some(2), Some(1));
        assert_eq!(events(&tracker), [met]);
        tracker.mark_ambiguous();
        assert_eq!(events(&tracker), [met], "they have met already");
    }
}
