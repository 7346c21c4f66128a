//! Whether a body is rigid: a thing. People who stand still sway by several millimeters and never keep still for long.

use glam::Vec2;

/// Time constant with which the noise of a centroid is averaged, in seconds.
const FAST_SECS: f32 = 0.4;
/// Time constant of the centroid that is compared with it while the body is still, in seconds. Changes of light are slower, people
/// who sway are not.
const SLOW_SECS: f32 = 4.0;
/// Distance between both averages from which a body has moved, in pixels of the camera on the floor. It is about seven standard
/// deviations of the noise of a small blob.
const MOVED_PX: f32 = 0.1;
/// Distance of a centroid from its average from which the averages start again, in pixels. It is far above the noise. Without it, a
/// thing would seem to move for more than a second after the visitor who put it down left.
const JUMP_PX: f32 = 1.0;

/// Motion of the centroid of a body, apart from noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rigidity {
    fast_m: Vec2,
    slow_m: Vec2,
    /// Time of the last motion.
    moved_secs: f64,
}

impl Rigidity {
    pub(super) fn new(centroid_m: Vec2, now_secs: f64) -> Self {
        Self {
            fast_m: centroid_m,
            slow_m: centroid_m,
            moved_secs: now_secs,
        }
    }

    /// Adds the centroid of a frame. `pixel_m` is the size of a pixel on the floor.
    pub(super) fn add(&mut self, centroid_m: Vec2, pixel_m: f32, now_secs: f64, dt_secs: f32) {
        let rate = |secs: f32| 1.0 - (-dt_secs / secs).exp();
        if centroid_m.distance(self.fast_m) > JUMP_PX * pixel_m {
            *self = Self::new(centroid_m, now_secs);
        }
        self.fast_m += rate(FAST_SECS) * (centroid_m - self.fast_m);
        self.slow_m += rate(SLOW_SECS) * (centroid_m - self.slow_m);
        if self.fast_m.distance(self.slow_m) > MOVED_PX * pixel_m {
            self.moved_secs = now_secs;
            // Otherwise a thing that was put down would seem to move for several times `SLOW_SECS`.
            self.slow_m = self.fast_m;
        }
    }

    /// Returns the time for which the body has not moved, in seconds.
    pub(super) fn secs(&self, now_secs: f64) -> f64 {
        now_secs - self.moved_secs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_rigid_as_soon_as_it_was_put_down() {
        let (fps, pixel_m) = (12.5, 0.047);
        let mut thing = Rigidity::new(Vec2::ZERO, 0.0);
        for frame in 1..250_u32 {
            let secs = f64::from(frame) / fps;
            // It comes with a visitor who walks until second 10, and is seen alone from second 10 on.
            let centroid_m = Vec2::X * (0.5 * secs.min(10.0)) as f32
                - if secs > 10.0 { Vec2::Y } else { Vec2::ZERO };
            thing.add(centroid_m, pixel_m, secs, 1.0 / fps as f32);
        }
        assert!(thing.secs(20.0) > 9.5, "{thing:?}");
    }

    #[test]
    fn a_swaying_body_is_not_rigid_and_a_noisy_one_is() {
        let (fps, pixel_m) = (15.0, 0.03);
        let mut thing = Rigidity::new(Vec2::ZERO, 0.0);
        let mut person = thing;
        let mut longest_secs: f64 = 0.0;
        for frame in 1..900_u32 {
            let secs = f64::from(frame) / fps;
            let noise_m = 0.0006 * Vec2::new((f64::from(frame) * 7.1).sin() as f32, 0.5);
            let sway_m = 0.006 * Vec2::Y * (2.0 * secs).sin() as f32;
            thing.add(noise_m, pixel_m, secs, 1.0 / fps as f32);
            person.add(sway_m + noise_m, pixel_m, secs, 1.0 / fps as f32);
            longest_secs = longest_secs.max(person.secs(secs));
        }
        assert!(thing.secs(60.0) > 59.0, "{thing:?}");
        assert!(longest_secs < 3.0, "{longest_secs}");
    }
}
