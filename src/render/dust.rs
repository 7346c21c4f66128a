//! Specks that drift in the water, and bubbles that burst from a catch. Visitors who walk by swirl the specks.
//!
//! In: time, visitors' shadows, catches. Out: the position of every speck. `Dust::advance` allocates no memory.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::drift::drifting_secs;
use super::look::SceneLook;
use super::noise::unit_hash;
use crate::geometry::{Surface, SurfaceKind, Visitor};
use crate::world::Catch;

/// Number of specks if `look.dust` is 1.
const MAX_SPECKS: f32 = 900.0;
/// Distance from the edge of a visitor's shadow within which the visitor moves specks. Tuned by eye.
const WAKE_M: f32 = 0.35;
/// Time constant with which a moved speck slows down. Tuned by eye.
const REST_SECS: f32 = 1.4;

/// Number of bubbles of one catch.
const BUBBLES: usize = 24;
/// Number of catches whose bubbles are drawn at the same time. Older catches have no bubbles.
const PUFFS: usize = 3;
/// Time in which the bubbles of a catch disappear. Tuned by eye.
const PUFF_SECS: f32 = 1.5;
/// Time constant with which bubbles come to rest. Tuned by eye.
const BURST_SECS: f32 = 0.25;
/// Speed at which bubbles rise. Tuned by eye.
const RISE_MPS: f32 = 0.12;

/// One speck; same layout as `Speck` in `shaders/dust.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Speck {
    pub(super) position_m: Vec3,
    pub(super) radius_m: f32,
}

/// All specks of a scene.
#[derive(Debug, Default)]
pub(super) struct Dust {
    /// The specks, as the GPU reads them. After the drifting specks come the bubbles of catches; their radius is 0 while there
    /// is no catch.
    pub specks: Vec<Speck>,
    /// Horizontal velocity of each speck without the drift, in m/s.
    velocities_mps: Vec<Vec2>,
    /// Half extent of the area in which specks drift, in meters.
    half_m: Vec2,
    /// Unit vector against gravity.
    up: Vec3,
}

impl Dust {
    /// Creates the specks at random positions in the water.
    pub(super) fn new(look: &SceneLook, surface: &Surface, ground_depth_m: f32) -> Self {
        let count = (look.dust * MAX_SPECKS).round() as u32;
        let half_m = surface.half_extent_m() * surface.scale_at_depth(0.6 * ground_depth_m) * 1.05;
        let specks = (0..count).map(|i| {
            let draw = |purpose| 2.0 * unit_hash(i, purpose) - 1.0;
            let depth_m = 0.05 + 0.75 * unit_hash(i, 53) * ground_depth_m;
            Speck {
                position_m: Vec3::new(half_m.x * draw(51), -depth_m, half_m.y * draw(52)),
                radius_m: 0.0016 + 0.0030 * unit_hash(i, 54) * unit_hash(i, 55),
            }
        });
        let bubbles = std::iter::repeat_n(Speck::zeroed(), BUBBLES * PUFFS);
        Self {
            specks: specks.chain(bubbles).collect(),
            up: match surface.kind {
                SurfaceKind::Floor => Vec3::Y,
                SurfaceKind::Wall => Vec3::NEG_Z,
                SurfaceKind::Ceiling => Vec3::NEG_Y,
            },
            velocities_mps: vec![Vec2::ZERO; count as usize],
            half_m,
        }
    }

    /// Places the bubbles of the newest catches.
    pub(super) fn burst(&mut self, catches: &[Catch]) {
        let bubbles = self.specks.iter_mut().skip(self.velocities_mps.len());
        for (index, bubble) in bubbles.enumerate() {
            let catch = catches.iter().rev().nth(index / BUBBLES);
            *bubble = catch.map_or(Speck::zeroed(), |catch| {
                bubble_of(catch, index as u32, self.up)
            });
        }
    }

    /// Puts each speck to the place that it has in other dust, so that it does not jump. The depth stays, because it depends on the
    /// ground.
    pub(super) fn continue_from(&mut self, old: &Self) {
        let half_m = self.half_m;
        let specks = self.specks.iter_mut().zip(&mut self.velocities_mps);
        for ((speck, velocity), (from, moved)) in
            specks.zip(old.specks.iter().zip(&old.velocities_mps))
        {
            let at = Vec2::new(from.position_m.x, from.position_m.z);
            if at.abs().cmple(half_m).all() {
                (speck.position_m.x, speck.position_m.z) = (at.x, at.y);
                *velocity = *moved;
            }
        }
    }

    /// Moves the specks for a time step of `dt_secs`. A walking visitor pulls nearby specks along and swirls them to both
    /// sides.
    pub(super) fn advance(&mut self, dt_secs: f32, time_secs: f64, shadows: &[Visitor]) {
        let t = drifting_secs(time_secs);
        let calm = (-dt_secs / REST_SECS).exp();
        for (speck, velocity) in self.specks.iter_mut().zip(&mut self.velocities_mps) {
            let Vec3 { x, y, z } = speck.position_m;
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
                let wanted = 0.55 * shadow.velocity_mps + 0.5 * side * swirl;
                *velocity += (wanted - *velocity) * (reach * (6.0 * dt_secs).min(1.0));
            }
            *velocity *= calm;
            let moved = at + (*velocity + drift) * dt_secs;
            // A speck that leaves the area on one side enters it on the opposite side.
            let wrap = |v: f32, half: f32| (v + half).rem_euclid(2.0 * half) - half;
            let place = Vec3::new(
                wrap(moved.x, self.half_m.x),
                y,
                wrap(moved.y, self.half_m.y),
            );
            if place.is_finite() && velocity.is_finite() {
                speck.position_m = place;
            } else {
                *velocity = Vec2::ZERO;
            }
        }
    }
}

/// Returns one bubble of a catch. Its radius is 0 if it has disappeared.
fn bubble_of(catch: &Catch, index: u32, up: Vec3) -> Speck {
    let left = (1.0 - catch.age_secs / PUFF_SECS).clamp(0.0, 1.0);
    let draw = |purpose| unit_hash(index, purpose);
    let (sin, cos) = (std::f32::consts::TAU * draw(61)).sin_cos();
    let height = 2.0 * draw(62) - 1.0;
    let level = (1.0 - height * height).max(0.0).sqrt();
    let direction = Vec3::new(level * cos, height, level * sin);
    let burst = 1.0 - (-catch.age_secs / BURST_SECS).exp();
    let way_m = catch.prey_length_m * (0.25 + 0.75 * draw(63)) * burst;
    let rise_m = RISE_MPS * (0.4 + draw(64)) * catch.age_secs;
    let position_m = catch.at_m + direction * way_m + up * rise_m;
    let radius_m = catch.prey_length_m * 0.07 * (0.3 + draw(65)) * left;
    if position_m.is_finite() && radius_m.is_finite() {
        Speck {
            position_m,
            radius_m,
        }
    } else {
        Speck::zeroed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(velocity_mps: Vec2) -> Visitor {
        Visitor {
            id: 1,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.4,
            velocity_mps,
            area_m2: 0.5,
            age_secs: 1.0,
            ..Visitor::default()
        }
    }

    #[test]
    fn a_walking_visitor_moves_specks_which_then_come_to_rest() {
        let look = SceneLook {
            dust: 1.0,
            ..SceneLook::default()
        };
        let mut dust = Dust::new(&look, &Surface::default(), 1.2);
        let near = |dust: &Dust| {
            let fast = dust
                .velocities_mps
                .iter()
                .map(|s| s.length())
                .fold(0.0, f32::max);
            (fast, dust.specks.len())
        };
        for _ in 0..30 {
            dust.advance(1.0 / 60.0, 1.0, &[visitor(Vec2::X)]);
        }
        assert!(near(&dust).0 > 0.3, "{:?}", near(&dust));
        for _ in 0..600 {
            dust.advance(1.0 / 60.0, 1.0, &[]);
        }
        assert!(near(&dust).0 < 0.01);
    }

    #[test]
    fn a_catch_bursts_into_bubbles_that_disappear() {
        let mut dust = Dust::new(&SceneLook::default(), &Surface::default(), 1.2);
        let bubbles = |dust: &Dust| {
            let all = &dust.specks[dust.velocities_mps.len()..];
            let shown = all.iter().filter(|b| b.radius_m > 0.0);
            let far = shown.clone().map(|b| b.position_m.distance(Vec3::NEG_Y));
            (shown.count(), far.fold(0.0, f32::max))
        };
        let catch = |age_secs| Catch {
            at_m: Vec3::NEG_Y,
            prey_length_m: 0.2,
            age_secs,
        };
        dust.burst(&[]);
        assert_eq!(bubbles(&dust).0, 0);
        dust.burst(&[catch(0.05)]);
        let (count, near_m) = bubbles(&dust);
        assert_eq!(count, BUBBLES);
        dust.burst(&[catch(0.5)]);
        assert!(bubbles(&dust).1 > near_m, "the bubbles do not spread");
        dust.burst(&[catch(f32::NAN), catch(1.0), catch(PUFF_SECS)]);
        assert_eq!(bubbles(&dust).0, BUBBLES, "only one catch has bubbles");
    }

    #[test]
    fn specks_stay_in_the_water_with_non_finite_shadows_and_long_time_steps() {
        let look = SceneLook {
            dust: 0.5,
            ..SceneLook::default()
        };
        let mut dust = Dust::new(&look, &Surface::default(), 1.2);
        for dt in [0.0, 0.25, 1e6] {
            dust.advance(dt, 1e9, &[visitor(Vec2::NAN), visitor(Vec2::splat(1e30))]);
        }
        for speck in &dust.specks {
            assert!(speck.position_m.is_finite() && speck.position_m.abs().max_element() < 10.0);
        }
    }
}
