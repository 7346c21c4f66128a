//! Specks that drift in the water and are swirled by whoever walks by.
//!
//! In: time, shadows. Out: where every speck is. A steady frame allocates nothing.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::params::SceneLook;
use super::pose::chance;
use super::water::drifting_secs;
use crate::geometry::Surface;
use crate::world::Shadow;

/// Specks where a look wants a cloud of them.
const MOST: f32 = 900.0;
/// How far a walker's wake reaches beyond the shadow.
const WAKE_M: f32 = 0.35;
/// Time in which a stirred speck comes to rest.
const REST_SECS: f32 = 1.4;

/// One speck; twin of `Speck` in `shaders/dust.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Speck {
    /// In world space.
    pub position_m: [f32; 3],
    /// Radius.
    pub radius_m: f32,
}

/// All specks of a scene.
#[derive(Debug, Default)]
pub struct Dust {
    /// Where they are.
    pub specks: Vec<Speck>,
    speeds: Vec<Vec2>,
    half_m: Vec2,
}

impl Dust {
    /// Specks all over the water.
    pub fn new(look: &SceneLook, surface: &Surface, depth_m: f32) -> Self {
        let count = (look.dust * MOST).round() as u32;
        let half_m = surface.half_extent_m() * surface.scale_at_depth(0.6 * depth_m) * 1.05;
        let specks = (0..count).map(|i| {
            let draw = |purpose| 2.0 * chance(i, purpose) - 1.0;
            let deep = 0.05 + 0.75 * chance(i, 53) * depth_m;
            Speck {
                position_m: [half_m.x * draw(51), -deep, half_m.y * draw(52)],
                radius_m: 0.0016 + 0.0030 * chance(i, 54) * chance(i, 55),
            }
        });
        Self {
            specks: specks.collect(),
            speeds: vec![Vec2::ZERO; count as usize],
            half_m,
        }
    }

    /// Lets them drift for a while; walkers draw them along and turn them about.
    pub fn advance(&mut self, dt_secs: f32, time_secs: f64, shadows: &[Shadow]) {
        let t = drifting_secs(time_secs);
        let calm = (-dt_secs / REST_SECS).exp();
        for (speck, speed) in self.specks.iter_mut().zip(&mut self.speeds) {
            let [x, y, z] = speck.position_m;
            let at = Vec2::new(x, z);
            let drift = 0.012
                * Vec2::new(
                    (1.3 * z + 0.11 * t).sin() + 0.5 * (3.1 * z - 0.2 * t + x).sin(),
                    (1.1 * x - 0.09 * t).cos() + 0.5 * (2.7 * x + 0.17 * t - z).cos(),
                );
            for shadow in shadows {
                let from = at - shadow.centroid_m;
                let reach = (1.0 - (from.length() - shadow.radius_m).max(0.0) / WAKE_M).max(0.0);
                let swirl = from.normalize_or_zero().perp() * shadow.velocity_mps.length();
                let side = shadow.velocity_mps.perp_dot(from).signum();
                let wish = 0.55 * shadow.velocity_mps + 0.5 * side * swirl;
                *speed += (wish - *speed) * (reach * (6.0 * dt_secs).min(1.0));
            }
            *speed *= calm;
            let moved = at + (*speed + drift) * dt_secs;
            // Who drifts out on one side comes in on the other.
            let wrap = |v: f32, half: f32| (v + half).rem_euclid(2.0 * half) - half;
            let place = Vec3::new(
                wrap(moved.x, self.half_m.x),
                y,
                wrap(moved.y, self.half_m.y),
            );
            if place.is_finite() && speed.is_finite() {
                speck.position_m = place.to_array();
            } else {
                *speed = Vec2::ZERO;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walker(velocity_mps: Vec2) -> Shadow {
        Shadow {
            id: 1,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.4,
            velocity_mps,
            area_m2: 0.5,
            age_secs: 1.0,
            still_secs: 0.0,
            outline_m: Vec::new(),
        }
    }

    #[test]
    fn a_walker_draws_specks_along_and_they_come_to_rest() {
        let look = SceneLook {
            dust: 1.0,
            ..SceneLook::default()
        };
        let mut dust = Dust::new(&look, &Surface::default(), 1.2);
        let near = |dust: &Dust| {
            let fast = dust.speeds.iter().map(|s| s.length()).fold(0.0, f32::max);
            (fast, dust.specks.len())
        };
        for _ in 0..30 {
            dust.advance(1.0 / 60.0, 1.0, &[walker(Vec2::X)]);
        }
        assert!(near(&dust).0 > 0.3, "{:?}", near(&dust));
        for _ in 0..600 {
            dust.advance(1.0 / 60.0, 1.0, &[]);
        }
        assert!(near(&dust).0 < 0.01);
    }

    #[test]
    fn broken_walkers_and_long_pauses_do_no_harm() {
        let look = SceneLook {
            dust: 0.5,
            ..SceneLook::default()
        };
        let mut dust = Dust::new(&look, &Surface::default(), 1.2);
        for dt in [0.0, 0.25, 1e6] {
            dust.advance(dt, 1e9, &[walker(Vec2::NAN), walker(Vec2::splat(1e30))]);
        }
        for speck in &dust.specks {
            assert!(
                speck
                    .position_m
                    .iter()
                    .all(|v| v.is_finite() && v.abs() < 10.0)
            );
        }
    }
}
