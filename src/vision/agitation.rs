//! Agitation of a visitor: how fast the outline moves, also if the visitor stays on the spot.
//!
//! The outline is compared with that of a fifth of a second before: a comparison of neighboring frames would measure the noise of the
//! outline rather than its motion. Distances up to three quarters of a pixel are noise and count as 0. An outline that several visitors share is
//! compared only with an outline that as many shared, and only while they stay on the spot: one who walks past moves the whole outline.

use glam::Vec2;

use super::outline::MAX_CORNERS;
use crate::geometry::outline_distance_m;

/// Shortest age of the outline with which the current one is compared, in seconds. Feet stamp two to four times a second, so they are
/// elsewhere then. Less than 0.15 s, so that two frames of a camera with 15 frames per second are enough.
const LEAST_AGE_SECS: f64 = 0.13;
/// Largest age of that outline, in seconds. After a longer gap the agitation is unknown and keeps its value.
const MOST_AGE_SECS: f64 = 0.5;
/// Shortest time between two measurements, in seconds. A faster camera shows nearly the same outline again.
const STEP_SECS: f64 = 0.045;
/// Number of stored outlines: enough for [`LEAST_AGE_SECS`] at the shortest step.
const STORED: usize = 4;
/// A movement of the outline by less than this share of a pixel counts as noise. Measured on rendered scenes with pixels of 15 mm: a
/// visitor who sways has at most 0.01 m/s, one who stamps at least 0.025 m/s.
const NOISE_PX: f32 = 0.75;
/// Time constant of the average, in seconds. About half the duration of one stamp, so that the turning points of a foot, at which it
/// stands still, do not end the agitation.
const AVERAGE_SECS: f32 = 0.2;

/// The outline of a visitor in one frame.
pub(super) struct Shape<'a> {
    pub(super) outline_m: &'a [Vec2],
    /// Size of a pixel on the floor.
    pub(super) pixel_m: f32,
    /// Number of other visitors who share the outline.
    pub(super) sharers: usize,
}

/// An outline of one of the last frames.
#[derive(Clone, Copy)]
struct Stored {
    time_secs: f64,
    sharers: usize,
    corners_m: [Vec2; MAX_CORNERS],
    count: usize,
}

/// The last outlines of one visitor, and the agitation that follows from them. Does not allocate memory.
pub(super) struct Agitation {
    /// The oldest outline is at `next`.
    stored: [Stored; STORED],
    next: usize,
    measured_secs: f64,
    /// Average agitation in m/s; 0 until it is measured.
    pub(super) mps: f32,
}

impl Default for Agitation {
    fn default() -> Self {
        let nothing = Stored {
            time_secs: f64::NEG_INFINITY,
            sharers: 0,
            corners_m: [Vec2::ZERO; MAX_CORNERS],
            count: 0,
        };
        Self {
            stored: [nothing; STORED],
            next: 0,
            measured_secs: f64::NEG_INFINITY,
            mps: 0.0,
        }
    }
}

impl Agitation {
    /// Updates the agitation with a frame. `shape` is `None` if the outline moves with other visitors. `is_own` selects the points of the
    /// outline that belong to this visitor.
    pub(super) fn update(
        &mut self,
        time_secs: f64,
        shape: Option<&Shape<'_>>,
        is_own: impl Fn(Vec2) -> bool,
    ) {
        let step_secs = (time_secs - self.measured_secs) as f32;
        if f64::from(step_secs) < STEP_SECS {
            return;
        }
        self.measured_secs = time_secs;
        let moved = shape.map(|shape| self.moved_mps(time_secs, shape, is_own));
        // Without any comparison the visitor counts as calm; with too few frames the agitation keeps its value.
        if let Some(mps) = moved.unwrap_or(Some(0.0)) {
            self.mps += (1.0 - (-step_secs / AVERAGE_SECS).exp()) * (mps - self.mps);
        }
        if let Some(shape) = shape {
            let oldest = &mut self.stored[self.next];
            (oldest.time_secs, oldest.sharers) = (time_secs, shape.sharers);
            oldest.count = shape.outline_m.len().min(MAX_CORNERS);
            oldest.corners_m[..oldest.count].copy_from_slice(&shape.outline_m[..oldest.count]);
            self.next = (self.next + 1) % STORED;
        }
    }

    /// Returns the mean speed of the outline since the youngest stored one that is old enough; `None` if there is none.
    fn moved_mps(
        &self,
        time_secs: f64,
        shape: &Shape<'_>,
        is_own: impl Fn(Vec2) -> bool,
    ) -> Option<f32> {
        let age = |stored: &Stored| time_secs - stored.time_secs;
        let before = (self.stored.iter())
            .filter(|stored| stored.sharers == shape.sharers)
            .filter(|stored| (LEAST_AGE_SECS..MOST_AGE_SECS).contains(&age(stored)))
            .min_by(|a, b| age(a).total_cmp(&age(b)))?;
        let before_m = &before.corners_m[..before.count];
        let noise_m = NOISE_PX * shape.pixel_m;
        let moved_m = outline_distance_m(shape.outline_m, before_m, noise_m, is_own)?;
        Some(moved_m / age(before) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::TrackingParams;
    use std::f32::consts::TAU;

    /// Returns the agitation after a second of frames of a circle of 0.3 m radius whose middle and radius follow functions of the time.
    fn after_a_second(fps: f64, shape: impl Fn(f32) -> (Vec2, f32)) -> f32 {
        let mut agitation = Agitation::default();
        for frame in 0..=fps as u32 {
            let secs = f64::from(frame) / fps;
            let (middle_m, radius_m) = shape(secs as f32);
            let corner = |i: u32| middle_m + Vec2::from_angle(TAU * i as f32 / 32.0) * radius_m;
            let outline_m: Vec<Vec2> = (0..32).map(corner).collect();
            let shape = Shape {
                outline_m: &outline_m,
                pixel_m: 0.01,
                sharers: 0,
            };
            agitation.update(secs, Some(&shape), |_| true);
        }
        agitation.mps
    }

    #[test]
    fn a_walking_visitor_has_two_thirds_of_the_walking_speed_at_any_frame_rate() {
        for fps in [10.0, 15.0, 25.0, 30.0, 60.0] {
            let mps = after_a_second(fps, |secs| (Vec2::X * secs, 0.3));
            assert!((0.5..0.66).contains(&mps), "{fps} frames per second: {mps}");
        }
    }

    #[test]
    fn a_stamping_outline_is_agitated_and_a_swaying_one_is_not() {
        let still_mps = TrackingParams::default().still_agitation_mps;
        for fps in [10.0, 15.0, 25.0, 30.0, 60.0] {
            for hz in [2.0, 3.0, 4.0] {
                let mps = after_a_second(fps, |secs| {
                    (Vec2::ZERO, 0.3 + 0.04 * (TAU * hz * secs).sin())
                });
                assert!(
                    mps > 1.5 * still_mps,
                    "{fps} frames per second, {hz} Hz: {mps}"
                );
            }
            let mps = after_a_second(fps, |secs| {
                (Vec2::X * 0.015 * (TAU * 0.4 * secs).sin(), 0.3)
            });
            assert!(mps < 0.03, "{fps} frames per second: {mps}");
        }
    }

    #[test]
    fn noise_of_a_fraction_of_a_pixel_is_no_agitation() {
        let mps = after_a_second(30.0, |secs| {
            (Vec2::ZERO, 0.3 + 0.0025 * (secs * 997.0).sin())
        });
        assert!(mps < 1e-3, "{mps}");
    }
}
