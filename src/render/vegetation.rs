//! Corals on stones and between them, and plants along the rim.
//!
//! In: a scene's look and its static shapes. Out: position, rotation and size of every coral and plant.

use glam::{Affine3A, Quat, Vec2, Vec3};

use super::look::SceneLook;
use super::noise::unit_hash;
use super::scenery::Scenery;
use super::static_shape::{StaticForm, StaticShape};
use crate::geometry::{Surface, SurfaceKind};

/// Number of plants if `look.plants` is 1.
pub(super) const MAX_PLANTS: f32 = 60.0;
/// Number of corals if `look.corals` is 1.
const MAX_CORALS: f32 = 110.0;

/// Places corals: three out of four on the upper side of a stone, the others in clumps on the ground. Only floors have corals.
pub(super) fn corals(
    rocks: &[StaticShape],
    surface: &Surface,
    look: &SceneLook,
    scenery: &Scenery,
) -> Vec<Affine3A> {
    let count = (look.corals * MAX_CORALS).round() as u32;
    if surface.kind != SurfaceKind::Floor {
        return Vec::new();
    }
    let ground = surface.half_extent_m() * surface.scale_at_depth(scenery.depth_m);
    let number = |i: u32| i.wrapping_add(look.ground_seed.wrapping_mul(211));
    let placed = |i: u32| {
        let draw = |purpose| unit_hash(number(i), purpose);
        let turn = Quat::from_rotation_y(std::f32::consts::TAU * draw(71));
        // Two stones are chosen at random and the larger one is used, so that large stones carry more corals.
        let rock = (i % 4 < 3 && !rocks.is_empty())
            .then(|| {
                let of = |purpose| rocks.get((draw(purpose) * rocks.len() as f32) as usize);
                [of(72), of(82)]
                    .into_iter()
                    .flatten()
                    .max_by(|a, b| a.reach_m().total_cmp(&b.reach_m()))
            })
            .flatten()
            .filter(|rock| matches!(rock.form, StaticForm::Stone | StaticForm::Log));
        if let Some(rock) = rock {
            let aside =
                Vec2::from_angle(std::f32::consts::TAU * draw(73)) * (0.85 * draw(74).sqrt());
            let up = (1.0 - aside.length_squared()).sqrt();
            // The surface of a stone model is inside its ellipsoid, at about 0.8 of the radius.
            let at = rock.center_m + rock.half_axes_m * Vec3::new(aside.x, up, aside.y) * 0.80;
            let lean = Quat::from_rotation_z(-0.6 * aside.x) * Quat::from_rotation_x(0.6 * aside.y);
            return (at, lean * turn, 0.07 + 0.10 * draw(75));
        }
        let clump = |purpose| 2.0 * unit_hash(number(i / 8), purpose) - 1.0;
        let beside = Vec2::new(draw(78) - 0.5, draw(79) - 0.5) * 0.8;
        let at = Vec2::new(clump(76), clump(77)) * ground * 0.95 + beside;
        let at = Vec3::new(at.x, -scenery.ground_at(at).0, at.y);
        (at, turn, 0.06 + 0.12 * draw(75) * draw(80))
    };
    (0..count)
        .map(placed)
        .map(|(at, turn, height_m)| {
            Affine3A::from_scale_rotation_translation(Vec3::splat(height_m), turn, at)
        })
        .collect()
}

/// Places plants: on a floor along the rim of the visible ground, on a wall towards both ends of its lower edge.
pub(super) fn plants(surface: &Surface, look: &SceneLook, scenery: &Scenery) -> Vec<Affine3A> {
    let count = (look.plants * MAX_PLANTS).round() as u32;
    let half = surface.half_extent_m();
    let ground = half * surface.scale_at_depth(scenery.depth_m);
    let number = |i: u32| i.wrapping_add(look.ground_seed.wrapping_mul(101));
    let placed = |i: u32| {
        let draw = |purpose| unit_hash(number(i), purpose);
        let turn = Quat::from_rotation_y(std::f32::consts::TAU * draw(44));
        match surface.kind {
            SurfaceKind::Floor => {
                // Four plants share one random position along the rim and form a tuft.
                let tuft = |purpose| unit_hash(number(i / 4), purpose);
                let angle = std::f32::consts::TAU * tuft(41);
                let (sin, cos) = angle.sin_cos();
                let rim =
                    (ground / Vec2::new(cos.abs(), sin.abs()).max(Vec2::splat(1e-3))).min_element();
                let beside = Vec2::new(draw(45) - 0.5, draw(46) - 0.5) * 0.35;
                let at =
                    Vec2::new(cos, sin) * rim * (0.80 - 0.25 * look.clearing + 0.22 * tuft(42))
                        + beside;
                let height_m = (0.28 + 0.30 * draw(43)).min(0.6 * scenery.depth_m);
                let at = Vec3::new(at.x, -scenery.ground_at(at).0, at.y);
                Some((at, turn, height_m))
            }
            SurfaceKind::Wall => {
                let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
                let away = draw(41) * draw(42);
                let back_m = 0.15 + 1.6 * draw(47);
                let scale = surface.scale_at_depth(back_m);
                let at = Vec3::new(
                    side * half.x * scale * (1.02 - 0.75 * away),
                    -back_m,
                    half.y,
                );
                let height_m = surface.height_m * (0.14 + 0.26 * draw(43));
                // On a wall, up is −z.
                let upright = Quat::from_rotation_arc(Vec3::Y, Vec3::NEG_Z) * turn;
                Some((at, upright, height_m))
            }
            SurfaceKind::Ceiling => None,
        }
    };
    (0..count)
        .filter_map(placed)
        .map(|(at, turn, height_m)| {
            Affine3A::from_scale_rotation_translation(Vec3::splat(height_m), turn, at)
        })
        .collect()
}
