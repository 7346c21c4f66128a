//! Whether a body has walked by itself, and which of two bodies the visitor is.
//!
//! A visitor and a thing that the visitor carries, pushes or leans on are one blob. When they part, the track can stay with the
//! thing, and the visitor gets a new one. Neither the place nor the former motion says which is which, because both were there.
//! What happens afterwards does: the visitor walks away, and the thing stays and is rigid. So the evidence that a body has
//! walked counts only while it has a blob to itself, and is void as soon as it shares a blob with a body that has not walked.

use glam::Vec2;

use super::{Decision, Detection, TrackKey, TrackState, Tracker, WALKED_M};

/// Time after two bodies parted in which one of them can prove to be the visitor, in seconds.
const PARTED_SECS: f64 = 3.0;
/// A body that has not moved for this time, in seconds, while the other one walked, is a thing. People sway in less time.
const LEFT_RIGID_SECS: f64 = 0.5;

/// If the area of a body changes by more than this factor, its movement does not count as walking. The area of a walking visitor varies
/// less, also with the legs apart.
const MAX_AREA_CHANGE: f32 = 1.3;

/// Motion of a body while it has a blob to itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    /// The first frame with a blob to itself; `None` in a shared blob.
    from: Option<Start>,
    /// Whether the body was ever farther than [`WALKED_M`] from there.
    pub(super) has_walked: bool,
    /// The body with which this one shared a blob or from whose blob it came, and the last time of it, in seconds.
    met: Option<(TrackKey, f64)>,
}

/// A body when it got a blob to itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) centroid_m: Vec2,
    pub(super) area_m2: f32,
    pub(super) time_secs: f64,
}

impl Walk {
    /// Updates the evidence of a body that has a blob to itself.
    pub(super) fn observe(&mut self, seen: Start) {
        let from = *self.from.get_or_insert(seen);
        // A thing that a visitor uncovers grows, and its centroid moves.
        if seen.area_m2.max(from.area_m2) > MAX_AREA_CHANGE * seen.area_m2.min(from.area_m2) {
            self.from = Some(seen);
        } else {
            self.has_walked |= seen.centroid_m.distance(from.centroid_m) > WALKED_M;
        }
    }

    /// Returns the time for which the body has had a blob to itself, with about the same area, in seconds.
    fn alone_secs(&self, now_secs: f64) -> f64 {
        self.from.map_or(0.0, |from| now_secs - from.time_secs)
    }

    /// Returns whether the body parted from another one a short time ago.
    fn has_just_parted(&self, now_secs: f64) -> bool {
        (self.met).is_some_and(|(_, parted_secs)| now_secs - parted_secs < PARTED_SECS)
    }

    /// Ends the evidence of a body that meets another one. `is_certain` is whether both have walked.
    fn meet(&mut self, other: TrackKey, now_secs: f64, is_certain: bool) {
        self.from = None;
        self.has_walked &= is_certain;
        self.met = Some((other, now_secs));
    }
}

impl Tracker {
    /// Ends the evidence of all bodies that share a blob, and gives the id of a visitor back who left a thing behind.
    pub(super) fn observe_walks(&mut self) {
        for index in 0..self.tracks.len() {
            let partner = self.nearest_in_blob(index);
            if let Some(partner) = partner {
                let other = &self.tracks[partner];
                let key = other.key;
                let is_certain = self.tracks[index].walk.has_walked && other.walk.has_walked;
                (self.tracks[index].walk).meet(key, self.time_secs, is_certain);
            }
        }
        for walker in 0..self.tracks.len() {
            if let Some(thing) = self.left_behind_by(walker) {
                self.return_id(walker, thing);
            }
            let now_secs = self.time_secs;
            let track = &mut self.tracks[walker];
            // Before, the id may be that of the other body.
            if track.walk.has_walked && !track.walk.has_just_parted(now_secs) {
                track.identity.has_walked = true;
            }
        }
    }

    /// Records that a new body came from the blob of a track: their indexes.
    pub(super) fn part(&mut self, pair: [usize; 2]) {
        let keys = pair.map(|index| self.tracks[index].key);
        for (index, other) in pair.into_iter().zip([keys[1], keys[0]]) {
            (self.tracks[index].walk).meet(other, self.time_secs, false);
        }
    }

    /// Returns the index of the nearest other track in the blob of a track.
    fn nearest_in_blob(&self, index: usize) -> Option<usize> {
        let track = &self.tracks[index];
        let blob = track.detection.blob()?;
        let distance_m = |other: &usize| {
            let position_m = self.tracks[*other].kalman.position_m;
            position_m.distance_squared(track.kalman.position_m)
        };
        (0..self.tracks.len())
            .filter(|&other| other != index && self.tracks[other].can_share_blob())
            .filter(|&other| self.tracks[other].detection.blob() == Some(blob))
            .min_by(|a, b| distance_m(a).total_cmp(&distance_m(b)))
    }

    /// Returns the index of the thing that has the id of the visitor at index `walker`, or `None`.
    fn left_behind_by(&self, walker: usize) -> Option<usize> {
        let track = &self.tracks[walker];
        let (met, _) = track.walk.met?;
        let is_visitor =
            track.id().is_some() && track.walk.has_walked && !track.identity.has_walked;
        if !is_visitor || !track.walk.has_just_parted(self.time_secs) {
            return None;
        }
        let is_thing = |thing: &TrackState| {
            thing.id().is_some()
                && thing.identity.has_walked
                && !thing.walk.has_walked
                && matches!(thing.detection, Detection::Own(_))
                && thing.walk.alone_secs(self.time_secs) > LEFT_RIGID_SECS
                && thing.rigidity.secs(self.time_secs) > LEFT_RIGID_SECS
        };
        self.index_of(met)
            .filter(|&met| is_thing(&self.tracks[met]))
    }

    /// Gives a visitor the id back that a thing has kept. The thing starts again as a candidate that has never moved.
    fn return_id(&mut self, walker: usize, thing: usize) {
        let now_secs = self.time_secs;
        if let Ok([walker, thing]) = self.tracks.get_disjoint_mut([walker, thing]) {
            let given_up = walker.id();
            walker.take_id_of(thing, now_secs);
            walker.has_walked = true;
            thing.has_walked = false;
            thing.birth_m = thing.kalman.position_m;
            thing.birth_secs = now_secs;
            let rigid_secs = thing.rigidity.secs(now_secs);
            let evidence = [rigid_secs as f32, LEFT_RIGID_SECS as f32];
            (self.events).add(Decision::LeftThing, walker, given_up, evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use crate::vision::tracker::ambiguity::tests::test_track;

    /// Lets two bodies part: the first one stays with id 1, the second one walks away with id 2. Returns their ids in the end.
    fn ids_after(sway_m: f32, had_second_walked: bool) -> [Option<u32>; 2] {
        let mut tracker = Tracker::new(&TrackingParams::default());
        tracker.tracks = vec![test_track(1, 1.7, 1.7, 5), test_track(2, 1.7, 1.7, 5)];
        tracker.tracks[1].identity.has_walked = had_second_walked;
        for frame in 0..30_u8 {
            tracker.time_secs = 0.1 * f64::from(frame);
            let has_parted = frame > 5;
            for (index, track) in tracker.tracks.iter_mut().enumerate() {
                track.detection = Detection::Own(index * usize::from(has_parted));
                let sway_m = sway_m * f32::from(frame % 4);
                let walked_m = 0.05 * f32::from(frame.saturating_sub(5));
                track.output.centroid_m = Vec2::X * if index == 0 { sway_m } else { walked_m };
                let centroid_m = track.output.centroid_m;
                (track.rigidity).add(centroid_m, 0.03, tracker.time_secs, 0.1);
                if has_parted {
                    track.walk.observe(Start {
                        centroid_m,
                        area_m2: 1.0,
                        time_secs: tracker.time_secs,
                    });
                }
            }
            tracker.observe_walks();
        }
        [0, 1].map(|index| tracker.tracks[index].id())
    }

    #[test]
    fn a_thing_gives_the_id_back_to_the_visitor_who_walks_away() {
        assert_eq!(ids_after(0.0, false), [None, Some(1)]);
    }

    #[test]
    fn a_thing_that_is_uncovered_has_not_walked() {
        let mut walk = Walk::default();
        let mut see = |x_m: f32, area_m2: f32, frame: u8| {
            let seen = Start {
                centroid_m: x_m * Vec2::X,
                area_m2,
                time_secs: 0.1 * f64::from(frame),
            };
            walk.observe(seen);
            walk.has_walked
        };
        for frame in 0..10 {
            let uncovered = 0.1 * f32::from(frame + 1);
            assert!(!see(0.5 * uncovered, uncovered, frame), "{frame}");
        }
        let stride = |frame: u8| 1.0 + 0.1 * f32::from(frame % 2);
        let mut walking = (10..20_u8).map(|frame| (0.5 + 0.1 * f32::from(frame - 9), frame));
        assert!(walking.any(|(x_m, frame)| see(x_m, stride(frame), frame)));
    }

    #[test]
    fn a_visitor_who_stays_and_sways_keeps_the_id() {
        assert_eq!(ids_after(0.02, false), [Some(1), Some(2)]);
    }

    #[test]
    fn a_visitor_who_has_walked_before_keeps_an_id_of_their_own() {
        assert_eq!(ids_after(0.0, true), [Some(1), Some(2)]);
    }
}
