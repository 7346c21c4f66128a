//! Detection of visitors who walk out of the image.
//!
//! Where many visitors pass through, one visitor often enters at the point where another one leaves. The new shadow can
//! then be assigned to the old track by mistake, and the track seems to turn back. Each track therefore remembers its
//! course (position and velocity) while it has a blob to itself. A track that has left the image on this course is not
//! assigned to any blob.

use glam::Vec2;

use crate::vision::group::Member;
use crate::vision::kalman::Kalman;

use super::{SegmentedFrame, TrackState, Tracker};

/// Smallest speed of a walking visitor, in m/s. A slower visitor may stop or turn back.
const WALKING_MPS: f32 = 0.6;
/// Time for which a course stays valid, in seconds.
const COURSE_SECS: f64 = 1.0;
/// A blob that has grown by more than this factor may include another visitor, so it does not update the course.
const MAX_AREA_GROWTH: f32 = 1.1;
/// A visitor whose silhouette has less observable area than this, in m², counts as outside the image.
const MIN_VISIBLE_M2: f32 = 0.02;

/// Position and velocity of a track when it last had a blob to itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    position_m: Vec2,
    velocity_mps: Vec2,
    area_m2: f32,
    seen_secs: f64,
}

impl Course {
    pub(super) fn new(kalman: &Kalman, area_m2: f32, now_secs: f64) -> Self {
        Self {
            position_m: kalman.position_m,
            velocity_mps: kalman.velocity_mps,
            area_m2,
            seen_secs: now_secs,
        }
    }

    /// Updates the course from a track that has a blob to itself, unless the blob has grown suddenly.
    pub(super) fn update(&mut self, kalman: &Kalman, area_m2: f32, now_secs: f64) {
        let is_old = now_secs - self.seen_secs > COURSE_SECS;
        if is_old || area_m2 < MAX_AREA_GROWTH * self.area_m2 {
            *self = Self::new(kalman, area_m2, now_secs);
        }
    }

    /// Returns the extrapolated position of a walking visitor who was not detected in the last frame. Returns `None` if
    /// the visitor was detected, walks too slowly, or the course is too old.
    fn ahead_m(&self, now_secs: f64, dt_secs: f32) -> Option<Vec2> {
        let since_secs = now_secs - self.seen_secs;
        let is_missed = since_secs > 1.5 * f64::from(dt_secs) && since_secs < COURSE_SECS;
        let walks = self.velocity_mps.length() > WALKING_MPS;
        (is_missed && walks).then(|| self.position_m + self.velocity_mps * since_secs as f32)
    }
}

impl Tracker {
    /// Marks the tracks that have left the image.
    pub(super) fn mark_exited(&mut self, frame: &SegmentedFrame<'_>) {
        let mut exited = std::mem::take(&mut self.exited);
        exited.clear();
        exited.extend(self.tracks.iter().map(|v| self.has_exited(v, frame)));
        self.exited = exited;
    }

    fn has_exited(&self, track: &TrackState, frame: &SegmentedFrame<'_>) -> bool {
        if !self.has_through_traffic() || track.id().is_none() || !track.has_walked {
            return false;
        }
        let ahead_m = track.course.ahead_m(frame.time_secs, frame.dt_secs);
        ahead_m.is_some_and(|expected_m| {
            let ahead = Member {
                expected_m,
                ..track.member(&self.params)
            };
            !frame.is_observable(expected_m) && ahead.silhouette_m2(frame) < MIN_VISIBLE_M2
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::kalman::Measurement;
    use glam::Mat2;

    fn walking(position_m: Vec2, velocity_mps: Vec2) -> Kalman {
        let first = Measurement {
            position_m,
            covariance_m2: Mat2::IDENTITY,
        };
        let mut kalman = Kalman::new(&first);
        kalman.velocity_mps = velocity_mps;
        kalman
    }

    #[test]
    fn the_course_of_a_walking_visitor_is_extrapolated_for_a_second() {
        let course = Course::new(&walking(Vec2::ONE, Vec2::X), 0.5, 10.0);
        let ahead_m = course.ahead_m(10.5, 0.03).unwrap();
        assert!(ahead_m.distance(Vec2::new(1.5, 1.0)) < 1e-6, "{ahead_m}");
        assert_eq!(course.ahead_m(10.03, 0.03), None, "was just detected");
        assert_eq!(course.ahead_m(11.5, 0.03), None, "is too old");
        let slow = Course::new(&walking(Vec2::ONE, 0.3 * Vec2::X), 0.5, 10.0);
        assert_eq!(slow.ahead_m(10.5, 0.03), None, "may have turned round");
    }

    #[test]
    fn a_suddenly_grown_blob_does_not_update_the_course() {
        let out = walking(Vec2::X, Vec2::X);
        let taken_along = walking(Vec2::ZERO, -Vec2::X);
        let mut course = Course::new(&out, 0.5, 10.0);
        course.update(&taken_along, 0.8, 10.1);
        assert_eq!(course.position_m, out.position_m);
        course.update(&taken_along, 0.5, 10.1);
        assert_eq!(course.position_m, taken_along.position_m);
        // If the blob stays large, the size is that of the visitor.
        course.update(&out, 0.8, 11.2);
        assert_eq!(course.position_m, out.position_m);
    }
}
