//! Stones along the rim of a floor pool, and water lilies on its surface.
//!
//! In: a scene's look and the surface. Out: shapes at the water surface. Fish swim under them.

use glam::{Mat3, Vec2, Vec3};

use super::look::SceneLook;
use super::noise::unit_hash;
use super::static_shape::{StaticForm, StaticShape};
use crate::geometry::{Surface, SurfaceKind};

/// Distance between stones of the rim if `look.rim` is 1, in meters.
const RIM_STEP_M: f32 = 0.16;
/// Number of groups of lily leaves if `look.lilies` is 1.
const LILY_GROUPS: f32 = 7.0;
/// Largest number of leaves in a group.
const LEAVES: u32 = 9;

/// Returns the stones of the rim and the lilies. Walls and ceilings have none.
pub(super) fn waterside(surface: &Surface, look: &SceneLook) -> Vec<StaticShape> {
    if surface.kind != SurfaceKind::Floor {
        return Vec::new();
    }
    let mut shapes = rim(surface, look);
    shapes.extend(lilies(surface, look));
    shapes
}

/// Returns the point of the edge of the picture at a distance along it, and the direction out of the picture.
fn edge_point(half_m: Vec2, along_m: f32) -> (Vec2, Vec2) {
    let sides = [
        (Vec2::new(-half_m.x, -half_m.y), Vec2::X, 2.0 * half_m.x),
        (Vec2::new(half_m.x, -half_m.y), Vec2::Y, 2.0 * half_m.y),
        (Vec2::new(half_m.x, half_m.y), Vec2::NEG_X, 2.0 * half_m.x),
        (Vec2::new(-half_m.x, half_m.y), Vec2::NEG_Y, 2.0 * half_m.y),
    ];
    let mut left_m = along_m;
    for (corner, direction, length_m) in sides {
        if left_m <= length_m {
            return (
                corner + direction * left_m,
                Vec2::new(direction.y, -direction.x),
            );
        }
        left_m -= length_m;
    }
    (sides[0].0, Vec2::NEG_Y)
}

/// Returns two rows of stones: large ones that lie mostly outside of the picture, and smaller ones in front of them.
fn rim(surface: &Surface, look: &SceneLook) -> Vec<StaticShape> {
    let half_m = surface.half_extent_m();
    let around_m = 4.0 * (half_m.x + half_m.y);
    let count = (around_m / RIM_STEP_M) as u32;
    let stone = |i: u32, is_front: bool| {
        let number = i
            .wrapping_mul(2)
            .wrapping_add(u32::from(is_front))
            .wrapping_add(look.ground_seed.wrapping_mul(307));
        let draw = |purpose| unit_hash(number, purpose);
        let share = if is_front {
            0.75 * look.rim * look.rim
        } else {
            look.rim
        };
        if draw(101) > share {
            return None;
        }
        let along_m = (i as f32 + 0.8 * (draw(102) - 0.5)) * RIM_STEP_M;
        let (at, outwards) = edge_point(half_m, along_m.rem_euclid(around_m));
        let radius_m = if is_front {
            0.04 + 0.09 * draw(103) * draw(104)
        } else {
            0.10 + 0.22 * draw(103) * draw(104)
        };
        let out_m = if is_front {
            0.02 - 0.06 * draw(105)
        } else {
            0.45 * radius_m + 0.05 * draw(105)
        };
        let at = at + outwards * out_m;
        let half = Vec3::new(1.0, 0.45 + 0.25 * draw(106), 0.70 + 0.30 * draw(107)) * radius_m;
        let turn = std::f32::consts::TAU * draw(108);
        Some(StaticShape {
            form: StaticForm::Stone,
            center_m: Vec3::new(at.x, -0.30 * half.y, at.y),
            half_axes_m: Mat3::from_rotation_y(turn) * Mat3::from_diagonal(half),
        })
    };
    (0..count)
        .flat_map(|i| [stone(i, false), stone(i, true)])
        .flatten()
        .collect()
}

/// Returns groups of lily leaves near the rim; some groups have a flower.
fn lilies(surface: &Surface, look: &SceneLook) -> Vec<StaticShape> {
    let half_m = surface.half_extent_m();
    let groups = (look.lilies * LILY_GROUPS).round() as u32;
    let mut shapes = Vec::new();
    for group in 0..groups {
        let number = group.wrapping_add(look.ground_seed.wrapping_mul(499));
        let draw = |purpose| unit_hash(number, purpose);
        // The groups are spread around the rim.
        let along = (group as f32 + 0.7 * draw(111)) / groups as f32;
        let (edge, outwards) = edge_point(half_m, along * 4.0 * (half_m.x + half_m.y));
        let middle = edge - outwards * (0.22 + 0.25 * draw(112));
        let mut leaves: Vec<(Vec2, f32)> = Vec::new();
        for leaf in 0..LEAVES {
            let draw = |purpose| unit_hash(number.wrapping_mul(31).wrapping_add(leaf), purpose);
            let radius_m = 0.06 + 0.11 * draw(113) * draw(114).sqrt();
            let away = Vec2::from_angle(std::f32::consts::TAU * draw(115));
            let at = middle + away * (0.36 * draw(116).sqrt());
            // Leaves overlap a little, but do not cover each other.
            let is_free =
                |(other, other_m): &(Vec2, f32)| other.distance(at) > 0.85 * (radius_m + other_m);
            if !leaves.iter().all(is_free) {
                continue;
            }
            leaves.push((at, radius_m));
            // The model is seen from below, so the leaf is turned over.
            let turn = Mat3::from_rotation_y(std::f32::consts::TAU * draw(117))
                * Mat3::from_rotation_x(std::f32::consts::PI);
            shapes.push(StaticShape {
                form: StaticForm::Leaf,
                center_m: Vec3::new(at.x, 0.004 + 0.002 * leaf as f32, at.y),
                half_axes_m: turn * radius_m,
            });
        }
        if let (true, Some(&(at, _))) = (draw(118) < 0.6, leaves.first()) {
            let beside = Vec2::from_angle(std::f32::consts::TAU * draw(119)) * 0.10;
            shapes.push(StaticShape {
                form: StaticForm::Flower,
                center_m: Vec3::new(at.x + beside.x, 0.02, at.y + beside.y),
                half_axes_m: Mat3::from_rotation_y(6.0 * draw(120)) * 0.075,
            });
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(rim: f32, lilies: f32) -> SceneLook {
        SceneLook {
            rim,
            lilies,
            ..SceneLook::default()
        }
    }

    #[test]
    fn the_rim_surrounds_the_picture_and_leaves_its_middle_free() {
        let surface = Surface::default();
        let half_m = surface.half_extent_m();
        let shapes = waterside(&surface, &look(1.0, 1.0));
        let places = || shapes.iter().map(|shape| shape.center_m);
        for corner in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let corner = Vec3::new(corner.0 * half_m.x, 0.0, corner.1 * half_m.y);
            let near = places().map(|at| at.distance(corner)).fold(9.0, f32::min);
            assert!(near < 0.5, "no stone near {corner}");
        }
        let inside = |at: Vec3| at.x.abs() < 0.6 * half_m.x && at.z.abs() < 0.6 * half_m.y;
        assert!(!places().any(inside));
        assert_eq!(waterside(&surface, &look(0.0, 0.0)).len(), 0);
    }

    #[test]
    fn only_floors_have_a_waterside() {
        let wall = Surface {
            kind: SurfaceKind::Wall,
            ..Surface::default()
        };
        assert!(waterside(&wall, &look(1.0, 1.0)).is_empty());
    }
}
