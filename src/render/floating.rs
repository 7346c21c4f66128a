//! Petals and leaves that float on the water of a floor. Visitors who walk by pull them along and swirl them, fish near the surface
//! push them, and stones and lily leaves stop them.
//!
//! In: time, visitors' shadows, agents. Out: the place of every leaf, and its shadow on the ground. A picture allocates no memory.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::drift::drifting_secs;
use super::ground_shadow::{GroundShadowVertex, leaf_shadow};
use super::light::Foliage;
use super::look::SceneLook;
use super::noise::unit_hash;
use super::scenery::Scenery;
use super::static_shape::StaticShape;
use super::waterside::waterside;
use crate::geometry::{Surface, SurfaceKind, Visitor};
use crate::world::AgentPose;

/// Number of leaves per square meter if `look.petals` is 1.
const PER_M2: f32 = 12.0;
/// Largest number of leaves.
const MOST: f32 = 1200.0;
/// Height of a leaf above the water, which is also its height above the plane of the picture.
const OVER_WATER_M: f32 = 0.003;
/// Distance from the edge of a visitor's shadow within which the visitor moves leaves. Tuned by eye.
const WAKE_M: f32 = 0.40;
/// Speed at which leaves leave the place where a visitor stands. Tuned by eye.
const ASIDE_MPS: f32 = 0.25;
/// Time constant with which a moved leaf slows down. Tuned by eye.
const REST_SECS: f32 = 2.2;
/// Depth down to which a fish moves leaves, as a share of its length. Tuned by eye.
const FISH_DEPTH_SHARE: f32 = 0.7;
/// Rotation per distance that a visitor's wake moves a leaf, in radians per meter. Tuned by eye.
const TURN_PER_M: f32 = 6.0;

/// One leaf; same layout as `Leaf` in `shaders/floating.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct Leaf {
    pub(super) position_m: Vec2,
    pub(super) half_length_m: Vec2,
    pub(super) kind: f32,
    pub(super) tone: f32,
}

/// Random numbers of a leaf, 0..1.
#[derive(Clone, Copy, Debug)]
struct Draws {
    /// It is a maple leaf if this is below the share of such leaves, otherwise a petal.
    kind: f32,
    size: f32,
}

impl Draws {
    /// Half the length of the leaf, and its kind as the shader reads it.
    fn half_length_and_kind(self, leaf_share: f32) -> (f32, f32) {
        if self.kind < leaf_share {
            (0.030 + 0.022 * self.size, 1.0)
        } else {
            (0.015 + 0.011 * self.size, 0.0)
        }
    }
}

/// All floating leaves of a scene.
#[derive(Debug, Default)]
pub(super) struct Floating {
    /// The leaves, as the GPU reads them.
    pub(super) leaves: Vec<Leaf>,
    /// What each leaf is drawn by.
    draws: Vec<Draws>,
    /// Share of maple leaves among the leaves.
    leaf_share: f32,
    /// Velocity of each leaf without the drift, in m/s.
    velocities_mps: Vec<Vec2>,
    /// Middle and radius of everything that leaves cannot cross, in meters.
    pub(super) obstacles: Vec<(Vec2, f32)>,
    /// Half extent of the area in which leaves float, in meters.
    half_m: Vec2,
}

impl Floating {
    /// Places the leaves: most of them in loose groups. `shapes` are the stones of the scene; the rim and the lilies are added.
    pub(super) fn new(look: &SceneLook, surface: &Surface, shapes: &[StaticShape]) -> Self {
        if surface.kind != SurfaceKind::Floor {
            return Self::default();
        }
        let half_m = surface.half_extent_m() * 1.05;
        let area_m2 = 4.0 * half_m.x * half_m.y;
        let count = (look.petals * PER_M2 * area_m2).min(MOST).round() as u32;
        let leaf_share = Foliage::of(look.season).floating_leaves;
        let leaf = |i: u32| {
            let draw = |purpose| unit_hash(i.wrapping_add(look.ground_seed << 8), purpose);
            let uniform = Vec2::new(draw(131), draw(132)) * 2.0 - 1.0;
            let group = (draw(133) * 6.0) as u32 + 1000 * look.ground_seed;
            let middle = Vec2::new(unit_hash(group, 134), unit_hash(group, 135)) * 2.0 - 1.0;
            let beside = Vec2::from_angle(std::f32::consts::TAU * draw(136)) * (0.5 * draw(137));
            let place = if draw(138) < 0.65 {
                (middle * half_m + beside).clamp(-half_m, half_m)
            } else {
                uniform * half_m
            };
            let draws = draws(i, look);
            let (length_m, kind) = draws.half_length_and_kind(leaf_share);
            Leaf {
                position_m: place,
                half_length_m: Vec2::from_angle(std::f32::consts::TAU * draw(141)) * length_m,
                kind,
                tone: draw(142),
            }
        };
        let reaches_surface =
            |shape: &&StaticShape| shape.center_m.y.abs() < shape.half_towards_m(Vec3::Y).max(0.03);
        let obstacle = |shape: &StaticShape| {
            let at = Vec2::new(shape.center_m.x, shape.center_m.z);
            let wide = shape.half_towards_m(Vec3::X) + shape.half_towards_m(Vec3::Z);
            (at, 0.5 * wide)
        };
        Self {
            leaves: (0..count).map(leaf).collect(),
            draws: (0..count).map(|i| draws(i, look)).collect(),
            leaf_share,
            velocities_mps: vec![Vec2::ZERO; count as usize],
            obstacles: shapes
                .iter()
                .chain(&waterside(surface, look))
                .filter(reaches_surface)
                .map(obstacle)
                .collect(),
            half_m,
        }
    }

    /// Turns petals into leaves, or leaves into petals, as many as the season of the picture wants.
    pub(super) fn turn(&mut self, foliage: Foliage) {
        if foliage.floating_leaves == self.leaf_share {
            return;
        }
        self.leaf_share = foliage.floating_leaves;
        for (leaf, draws) in self.leaves.iter_mut().zip(&self.draws) {
            let (length_m, kind) = draws.half_length_and_kind(self.leaf_share);
            if kind != leaf.kind {
                leaf.kind = kind;
                leaf.half_length_m = leaf.half_length_m.normalize_or(Vec2::X) * length_m;
            }
        }
    }

    /// Puts each leaf to the place that it has in `old`, so that it does not jump.
    pub(super) fn continue_from(&mut self, old: &Self) {
        let half_m = self.half_m;
        let leaves = self.leaves.iter_mut().zip(&mut self.velocities_mps);
        for ((leaf, velocity), (from, moved)) in
            leaves.zip(old.leaves.iter().zip(&old.velocities_mps))
        {
            if from.position_m.abs().cmple(half_m).all() {
                leaf.position_m = from.position_m;
                *velocity = *moved;
            }
        }
    }

    /// Moves the leaves for a time step of `dt_secs`.
    pub(super) fn advance(
        &mut self,
        dt_secs: f32,
        time_secs: f64,
        shadows: &[Visitor],
        agents: &[AgentPose],
    ) {
        let t = drifting_secs(time_secs);
        let calm = (-dt_secs / REST_SECS).exp();
        let half_m = self.half_m;
        for (leaf, velocity) in self.leaves.iter_mut().zip(&mut self.velocities_mps) {
            let at = leaf.position_m;
            let drift = 0.010
                * Vec2::new(
                    (1.1 * at.y + 0.10 * t).sin() + 0.5 * (2.3 * at.y - 0.19 * t + at.x).sin(),
                    (1.3 * at.x - 0.08 * t).cos() + 0.5 * (2.9 * at.x + 0.16 * t - at.y).cos(),
                );
            for shadow in shadows {
                pull(at, shadow, dt_secs, velocity);
            }
            for agent in agents {
                push(at, agent, dt_secs, velocity);
            }
            *velocity *= calm;
            let mut moved = at + (*velocity + drift) * dt_secs;
            keep_out(&self.obstacles, dt_secs, &mut moved, velocity);
            let turn = TURN_PER_M * velocity.length() * (leaf.tone - 0.5) + 0.1 * drift.x;
            // A leaf that leaves the area on one side enters it on the opposite side.
            let wrap = |v: f32, half: f32| (v + half).rem_euclid(2.0 * half) - half;
            let place = Vec2::new(wrap(moved.x, half_m.x), wrap(moved.y, half_m.y));
            let turned = Vec2::from_angle(turn * dt_secs).rotate(leaf.half_length_m);
            if place.is_finite() && velocity.is_finite() && turned.is_finite() {
                leaf.position_m = place;
                leaf.half_length_m = turned;
            } else {
                *velocity = Vec2::ZERO;
            }
        }
    }
}

/// Moves a place out of everything that leaves cannot cross: middle and radius of each, in meters.
pub(super) fn keep_out(
    obstacles: &[(Vec2, f32)],
    dt_secs: f32,
    place: &mut Vec2,
    velocity: &mut Vec2,
) {
    for &(middle, radius_m) in obstacles {
        let from = *place - middle;
        let inside_m = radius_m - from.length();
        if inside_m > 0.0 {
            let out = from.normalize_or(Vec2::X);
            *place += out * inside_m.min(0.3 * dt_secs);
            *velocity -= out * velocity.dot(out).min(0.0);
        }
    }
}

/// Appends the shadows of leaves on the ground.
pub(super) fn cast_shadows(leaves: &[Leaf], scenery: &Scenery, out: &mut Vec<GroundShadowVertex>) {
    for leaf in leaves {
        let at = Vec3::new(leaf.position_m.x, OVER_WATER_M, leaf.position_m.y);
        leaf_shadow(at, leaf.half_length_m, scenery, out);
    }
}

/// Changes the velocity of a leaf by a visitor: one who walks pulls it along and swirls it, one who stands lets it float aside.
pub(super) fn pull(at: Vec2, shadow: &Visitor, dt_secs: f32, velocity: &mut Vec2) {
    let from = at - shadow.centroid_m;
    let beyond_m = from.length() - shadow.radius_m;
    let reach = (1.0 - beyond_m.max(0.0) / WAKE_M).max(0.0);
    if reach > 0.0 {
        let out = from.normalize_or(Vec2::X);
        let side = shadow.velocity_mps.perp_dot(from).signum();
        let swirl = out.perp() * (0.5 * side * shadow.velocity_mps.length());
        let aside = out * if beyond_m < 0.0 { ASIDE_MPS } else { 0.0 };
        let wanted = 0.45 * shadow.velocity_mps + swirl + aside;
        *velocity += (wanted - *velocity) * (reach * (5.0 * dt_secs).min(1.0));
    }
}

/// Changes the velocity of a leaf by a fish that swims close below it.
pub(super) fn push(at: Vec2, agent: &AgentPose, dt_secs: f32, velocity: &mut Vec2) {
    let length_m = 4.0 * agent.radius_m;
    let from = at - Vec2::new(agent.position_m.x, agent.position_m.z);
    let near = 1.0 - from.length_squared() / (0.36 * length_m * length_m).max(1e-6);
    let high = 1.0 + agent.position_m.y.min(0.0) / (FISH_DEPTH_SHARE * length_m).max(1e-3);
    if near > 0.0 && high > 0.0 {
        let wanted = Vec2::new(agent.velocity_mps.x, agent.velocity_mps.z) * 0.6;
        *velocity += (wanted - *velocity) * (near * high * (4.0 * dt_secs).min(1.0));
    }
}

/// Returns the random numbers of the leaf with a number.
fn draws(number: u32, look: &SceneLook) -> Draws {
    let draw = |purpose| unit_hash(number.wrapping_add(look.ground_seed << 8), purpose);
    Draws {
        kind: draw(139),
        size: draw(140),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floating(petals: f32, shapes: &[StaticShape]) -> Floating {
        let look = SceneLook {
            petals,
            ..SceneLook::default()
        };
        Floating::new(&look, &Surface::default(), shapes)
    }

    fn visitor(velocity_mps: Vec2) -> Visitor {
        Visitor {
            radius_m: 0.4,
            velocity_mps,
            ..Visitor::default()
        }
    }

    fn fastest(floating: &Floating) -> f32 {
        let speeds = floating.velocities_mps.iter().map(|v| v.length());
        speeds.fold(0.0, f32::max)
    }

    #[test]
    fn a_walking_visitor_moves_leaves_which_then_come_to_rest() {
        let mut pool = floating(1.0, &[]);
        for _ in 0..30 {
            pool.advance(1.0 / 60.0, 1.0, &[visitor(Vec2::X)], &[]);
        }
        assert!(fastest(&pool) > 0.3, "{}", fastest(&pool));
        for _ in 0..900 {
            pool.advance(1.0 / 60.0, 1.0, &[], &[]);
        }
        assert!(fastest(&pool) < 0.01, "{}", fastest(&pool));
    }

    #[test]
    fn leaves_float_out_of_the_shadow_of_a_standing_visitor() {
        let mut pool = floating(1.0, &[]);
        let inside = |pool: &Floating| {
            let near = |leaf: &&Leaf| leaf.position_m.length() < 0.3;
            pool.leaves.iter().filter(near).count()
        };
        assert!(inside(&pool) > 0);
        for _ in 0..600 {
            pool.advance(1.0 / 60.0, 1.0, &[visitor(Vec2::ZERO)], &[]);
        }
        assert_eq!(inside(&pool), 0);
    }

    #[test]
    fn leaves_float_out_of_a_stone_that_breaks_the_surface() {
        let stone = StaticShape {
            form: crate::render::static_shape::StaticForm::Stone,
            center_m: Vec3::ZERO,
            half_axes_m: glam::Mat3::from_diagonal(Vec3::splat(0.3)),
        };
        let mut pool = floating(1.0, &[stone]);
        for tick in 0..600 {
            pool.advance(1.0 / 60.0, f64::from(tick) / 60.0, &[], &[]);
        }
        let nearest = pool.leaves.iter().map(|leaf| leaf.position_m.length());
        assert!(nearest.fold(9.0, f32::min) > 0.28);
    }

    #[test]
    fn leaves_stay_on_the_water_with_non_finite_shadows_and_long_time_steps() {
        let mut pool = floating(0.5, &[]);
        for dt in [0.0, 0.25, 1e6] {
            let shadows = [visitor(Vec2::NAN), visitor(Vec2::splat(1e30))];
            pool.advance(dt, 1e9, &shadows, &[]);
        }
        for leaf in &pool.leaves {
            assert!(leaf.position_m.abs().max_element() < 10.0, "{leaf:?}");
            assert!(leaf.half_length_m.length() < 0.1, "{leaf:?}");
        }
    }

    #[test]
    fn walls_and_ceilings_have_no_floating_leaves() {
        let wall = Surface {
            kind: SurfaceKind::Wall,
            ..Surface::default()
        };
        let look = SceneLook {
            petals: 1.0,
            ..SceneLook::default()
        };
        assert!(Floating::new(&look, &wall, &[]).leaves.is_empty());
    }

    #[test]
    fn petals_turn_into_leaves_and_back_as_the_season_wants() {
        let look = SceneLook {
            petals: 1.0,
            ..SceneLook::default()
        };
        let mut floating = Floating::new(&look, &Surface::default(), &[]);
        let first = floating.leaves.clone();
        let leaves = |floating: &Floating| {
            let kinds = floating.leaves.iter().map(|leaf| leaf.kind);
            kinds.sum::<f32>() / floating.leaves.len() as f32
        };
        let turn = |floating: &mut Floating, share: f32| {
            floating.turn(Foliage {
                floating_leaves: share,
                ..Foliage::of(look.season)
            });
        };
        assert!((leaves(&floating) - 0.15).abs() < 0.1);
        turn(&mut floating, 0.95);
        assert!(leaves(&floating) > 0.85);
        turn(&mut floating, 0.15);
        for (now, before) in floating.leaves.iter().zip(&first) {
            assert_eq!(now.kind, before.kind);
            assert!(now.half_length_m.distance(before.half_length_m) < 1e-6);
        }
    }
}
