//! Who walks out of the picture.
//!
//! Where people stream through a room, one comes in where another goes out. The shadow of the one is easily taken for the
//! other's, who then seems to have turned round. So the course of everybody is taken down while they have a shadow to
//! themselves, and who has left the picture by it has nothing in it any more.

use glam::Vec2;

use crate::vision::group::Member;
use crate::vision::kalman::Kalman;

use super::{SegmentedFrame, TrackState, Tracker};

/// Who is slower than this may as well stand still or turn round.
const WALKING_MPS: f32 = 0.6;
/// A course is believed for so long.
const COURSE_SECS: f64 = 1.0;
/// A shadow that is so many times as large as the one before may be somebody else's too.
const MAX_AREA_GROWTH: f32 = 1.1;
/// Who would darken less than this of what is seen is not seen.
const MIN_VISIBLE_M2: f32 = 0.02;

/// Where somebody was and was going when they last had a shadow to themselves.
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

    /// Takes the course down of somebody who has a blob to themselves, unless it grew.
    pub(super) fn update(&mut self, kalman: &Kalman, area_m2: f32, now_secs: f64) {
        let is_old = now_secs - self.seen_secs > COURSE_SECS;
        if is_old || area_m2 < MAX_AREA_GROWTH * self.area_m2 {
            *self = Self::new(kalman, area_m2, now_secs);
        }
    }

    /// Where somebody is by their course who walked, and was not seen in the last frame.
    fn ahead_m(&self, now_secs: f64, dt_secs: f32) -> Option<Vec2> {
        let since_secs = now_secs - self.seen_secs;
        let is_missed = since_secs > 1.5 * f64::from(dt_secs) && since_secs < COURSE_SECS;
        let walks = self.velocity_mps.length() > WALKING_MPS;
        (is_missed && walks).then(|| self.position_m + self.velocity_mps * since_secs as f32)
    }
}

impl Tracker {
    /// Notes who has walked out of the picture.
    pub(super) fn mark_exited(&mut self, frame: &SegmentedFrame<'_>) {
        let mut exited = std::mem::take(&mut self.exited);
        exited.clear();
        exited.extend(self.tracks.iter().map(|v| self.has_exited(v, frame)));
        self.exited = exited;
    }

    fn has_exited(&self, track: &TrackState, frame: &SegmentedFrame<'_>) -> bool {
        if !self.has_through_traffic() || track.id.is_none() || !track.has_walked {
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
    fn who_walks_goes_on_while_they_are_not_seen_for_a_second() {
        let course = Course::new(&walking(Vec2::ONE, Vec2::X), 0.5, 10.0);
        let ahead_m = course.ahead_m(10.5, 0.03).unwrap();
        assert!(ahead_m.distance(Vec2::new(1.5, 1.0)) < 1e-6, "{ahead_m}");
        assert_eq!(course.ahead_m(10.03, 0.03), None, "just seen");
        assert_eq!(course.ahead_m(11.5, 0.03), None, "long ago");
        let slow = Course::new(&walking(Vec2::ONE, 0.3 * Vec2::X), 0.5, 10.0);
        assert_eq!(slow.ahead_m(10.5, 0.03), None, "may have turned");
    }

    #[test]
    fn a_shadow_that_grew_does_not_tell_where_somebody_goes() {
        let out = walking(Vec2::X, Vec2::X);
        let taken_along = walking(Vec2::ZERO, -Vec2::X);
        let mut course = Course::new(&out, 0.5, 10.0);
        course.update(&taken_along, 0.8, 10.1);
        assert_eq!(course.position_m, out.position_m);
        course.update(&taken_along, 0.5, 10.1);
        assert_eq!(course.position_m, taken_along.position_m);
        // What stays so large is their own.
        course.update(&out, 0.8, 11.2);
        assert_eq!(course.position_m, out.position_m);
    }
}
