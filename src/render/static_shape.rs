//! The visible shapes of obstacles: groups, heaps and rows of stones, and trunks.
//!
//! In: the solids that fish avoid. Out: shapes inside of these solids.

use glam::{Mat3, Quat, Vec2, Vec3};

use super::noise::unit_hash;
use crate::geometry::{Prism, Solid, SurfaceKind, polygon_edges};

/// Smallest half thickness of a boulder in a row. A boulder may be thicker than its wall, because fish keep a larger distance
/// from the wall.
const LEAST_HALF_M: f32 = 0.08;
/// Ratio of length to thickness from which a box is drawn as a row of boulders.
const ROW_FROM: f32 = 2.4;

/// The kind of a static body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticForm {
    /// A weathered stone.
    Stone,
    /// A sunken trunk.
    Log,
    /// A lily leaf on the water.
    Leaf,
    /// A lily flower on the water.
    Flower,
}

/// A static body: its form, and the position and axes of the box or ellipsoid that it fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StaticShape {
    /// Form of the body.
    pub form: StaticForm,
    /// Center, in world space.
    pub center_m: Vec3,
    /// Half axes, as columns.
    pub half_axes_m: Mat3,
}

impl StaticShape {
    /// Returns the shapes for a solid: a group of stones for a sphere, a trunk for a capsule, a heap of stones for a prism or
    /// box, and a row of boulders for a long box. The shapes depend only on the solid and the kind of the surface. A picture on
    /// a wall shows the pool from the side, so there the smaller stones of a group are lower.
    pub fn all_of(solid: &Solid, kind: SurfaceKind) -> Vec<Self> {
        match *solid {
            Solid::Sphere { center_m, radius_m } => group(center_m, radius_m, kind),
            Solid::Capsule {
                from_m,
                to_m,
                radius_m,
            } => vec![trunk(from_m, to_m, radius_m)],
            Solid::Box {
                center_m,
                half_m,
                axis,
            } => {
                let long = Vec3::new(axis.x, 0.0, axis.y) * half_m.x;
                let thick = Vec3::new(-axis.y, 0.0, axis.x) * half_m.z;
                if half_m.x.max(half_m.z) > ROW_FROM * half_m.x.min(half_m.z) {
                    let up = Vec3::Y * half_m.y;
                    return row(center_m, Mat3::from_cols(long, up, thick));
                }
                let outline = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| {
                    let corner = center_m + long * x + thick * z;
                    Vec2::new(corner.x, corner.z)
                });
                let (low, high) = (center_m.y - half_m.y, center_m.y + half_m.y);
                Prism::new(&outline, low, high).map_or_else(Vec::new, |prism| heap(&prism))
            }
            Solid::Prism(ref prism) => heap(prism),
        }
    }

    /// Largest half axis.
    pub fn reach_m(&self) -> f32 {
        let Mat3 {
            x_axis,
            y_axis,
            z_axis,
        } = self.half_axes_m;
        x_axis.length().max(y_axis.length()).max(z_axis.length())
    }

    /// Half extent of the ellipsoid in a direction.
    pub(super) fn half_towards_m(&self, direction: Vec3) -> f32 {
        (self.half_axes_m.transpose() * direction).length()
    }
}

/// Returns a group of stones inside of a sphere: a large stone, and one to three smaller stones beside it.
fn group(center_m: Vec3, radius_m: f32, kind: SurfaceKind) -> Vec<StaticShape> {
    let (up, low) = match kind {
        SurfaceKind::Wall => (Vec3::NEG_Z, 1.1),
        SurfaceKind::Floor | SurfaceKind::Ceiling => (Vec3::Y, 0.38),
    };
    let id = center_m.x.to_bits() ^ center_m.z.to_bits().rotate_left(13);
    let upright = Mat3::from_quat(Quat::from_rotation_arc(Vec3::Y, up));
    let stone = |offset: Vec3, half: Vec3, turn: f32| StaticShape {
        form: StaticForm::Stone,
        center_m: center_m + upright * offset * radius_m,
        half_axes_m: upright * Mat3::from_rotation_y(turn) * Mat3::from_diagonal(half * radius_m),
    };
    let draw = |purpose| unit_hash(id, purpose);
    let away = std::f32::consts::TAU * draw(81);
    let long = 0.82 + 0.12 * draw(82);
    // The stone is as high as its offset from the center of the sphere allows.
    let half = Vec3::new(long, 0.99 * long.sqrt(), long * (0.74 + 0.22 * draw(83)));
    let aside = Vec3::new(away.cos(), 0.0, away.sin());
    let mut stones = vec![stone(aside * (1.0 - long), half, away + 1.3 * draw(85))];
    let count = 1 + (2.6 * draw(86)) as u32;
    for i in 0..count {
        let draw = |purpose| unit_hash(id.wrapping_add(i + 1), purpose);
        let size = 0.30 + 0.17 * draw(87) - 0.03 * i as f32;
        // The smaller stones are on the other side of the large stone, and lower.
        let turn = away
            + std::f32::consts::PI
            + (i as f32 - 0.5 * (count - 1) as f32) * 1.25
            + 0.5 * (draw(88) - 0.5);
        let towards = Vec3::new(turn.cos(), -low, turn.sin()).normalize_or(Vec3::X);
        let half = size * Vec3::new(1.0, 0.85 + 0.15 * draw(89), 0.7 + 0.3 * draw(90));
        stones.push(stone(towards * (1.0 - size), half, 6.0 * draw(91)));
    }
    stones
}

/// Largest overlap of two stones of a heap, as a share of the radius of the larger one.
const OVERLAP: f32 = 0.30;
/// Largest number of stones in a heap.
const MAX_HEAP_STONES: usize = 12;
/// Number of candidate positions along each side of the bounding box of a heap.
const CANDIDATES: u32 = 40;

/// Returns stones that fill a prism as seen from above. The stones are placed one after another, each as large as possible.
fn heap(prism: &Prism) -> Vec<StaticShape> {
    let corners = prism.corners();
    let (low, high) = corners
        .iter()
        .fold((Vec2::MAX, Vec2::MIN), |(low, high), &corner| {
            (low.min(corner), high.max(corner))
        });
    // Distance from a point to the nearest side of the prism.
    let room = |at: Vec2| {
        polygon_edges(corners)
            .map(|(from, to)| (to - from).normalize_or_zero().perp().dot(at - from))
            .fold(f32::INFINITY, f32::min)
    };
    let place = |i: u32| {
        let share =
            Vec2::new((i % CANDIDATES) as f32, (i / CANDIDATES) as f32) / (CANDIDATES - 1) as f32;
        low + (high - low) * share
    };
    let (bottom, top) = prism.heights_m();
    let id = low.x.to_bits() ^ low.y.to_bits().rotate_left(13);
    let mut found: Vec<(Vec2, f32)> = Vec::new();
    let mut stones = Vec::new();
    while stones.len() < MAX_HEAP_STONES {
        let is_free = |at: Vec2| {
            let far =
                |&(middle, radius): &(Vec2, f32)| at.distance(middle) > radius * (1.0 - OVERLAP);
            found.iter().all(far)
        };
        let fits = (0..CANDIDATES * CANDIDATES)
            .map(place)
            .filter(|&at| is_free(at));
        let best = fits
            .map(|at| (at, room(at)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, radius)) = best else { break };
        let largest = found.first().map_or(radius, |first| first.1);
        if !stones.is_empty() && radius < (0.16 * largest).max(0.03) {
            break;
        }
        let draw = |purpose| unit_hash(id.wrapping_add(stones.len() as u32), purpose);
        found.push((at, radius));
        // The largest stone has the full height of the prism; all stones stand on its bottom.
        let share = if stones.is_empty() {
            1.0
        } else {
            0.45 + 0.5 * draw(92) * (radius / largest).sqrt()
        };
        let half_high = (top - bottom) / 2.0 * share;
        let half = Vec3::new(radius, half_high, radius * (0.84 + 0.16 * draw(93)));
        stones.push(StaticShape {
            form: StaticForm::Stone,
            center_m: Vec3::new(at.x, bottom + half_high, at.y),
            half_axes_m: Mat3::from_rotation_y(6.0 * draw(94)) * Mat3::from_diagonal(half),
        });
    }
    stones
}

/// Returns a trunk inside of a capsule.
fn trunk(from_m: Vec3, to_m: Vec3, radius_m: f32) -> StaticShape {
    let along = (to_m - from_m).normalize_or(Vec3::X);
    let (aside, up) = along.any_orthonormal_pair();
    // The flat ends of the trunk are at the positions where the round ends of the capsule begin.
    let half_length_m = (from_m.distance(to_m) / 2.0).max(0.3 * radius_m);
    StaticShape {
        form: StaticForm::Log,
        center_m: (from_m + to_m) / 2.0,
        half_axes_m: Mat3::from_cols(along * half_length_m, aside * radius_m, up * radius_m),
    }
}

/// Returns overlapping boulders in layers that fill a block; upper layers are wider. A block thinner than twice
/// [`LEAST_HALF_M`] is drawn with that thickness.
fn row(center_m: Vec3, half_axes_m: Mat3) -> Vec<StaticShape> {
    let Mat3 {
        x_axis,
        y_axis,
        z_axis,
    } = half_axes_m;
    let (long, thick) = if x_axis.length() >= z_axis.length() {
        (x_axis, z_axis)
    } else {
        (-z_axis, x_axis)
    };
    let (half_long, half_thick) = (long.length(), thick.length().max(LEAST_HALF_M));
    let half_high = y_axis.length();
    let layers = (half_high / half_thick * 0.55).round().clamp(1.0, 3.0) as u32;
    let count = (half_long / half_thick * 0.85).round().clamp(2.0, 14.0) as u32;
    let mut boulders = Vec::new();
    for layer in 0..layers {
        let up = (layer as f32 + 0.5) / layers as f32 * 2.0 - 1.0;
        // The lower layers are thinner, as if worn by waves.
        let worn = 0.80 + 0.20 * (up * 0.5 + 0.5);
        for i in 0..count {
            let draw = |purpose| unit_hash(layer * 64 + i, purpose);
            let along = (i as f32 + 0.5) / count as f32 * 2.0 - 1.0;
            let part = half_long / count as f32;
            let half = Vec3::new(
                (part * (1.25 + 0.6 * draw(61))).min(half_long),
                half_high / layers as f32 * (1.1 + 0.3 * draw(62)),
                half_thick * worn * (0.86 + 0.14 * draw(63)),
            )
            .min(Vec3::new(half_long, half_high, half_thick));
            let room = Vec3::new(half_long, half_high, half_thick) - half;
            let shifted = Vec3::new(
                (along * half_long + part * 0.5 * (draw(64) - 0.5)).clamp(-room.x, room.x),
                (up * half_high - 0.35 * draw(65) * half.y).clamp(-room.y, room.y),
                room.z * (2.0 * draw(66) - 1.0),
            );
            let axes = [
                long.normalize_or(Vec3::X),
                y_axis.normalize_or(Vec3::Y),
                thick.normalize_or(Vec3::Z),
            ];
            boulders.push(StaticShape {
                form: StaticForm::Stone,
                center_m: center_m
                    + axes[0] * shifted.x
                    + axes[1] * shifted.y
                    + axes[2] * shifted.z,
                half_axes_m: Mat3::from_cols(axes[0] * half.x, axes[1] * half.y, axes[2] * half.z),
            });
        }
    }
    boulders
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(half_m: Vec3) -> Solid {
        Solid::Box {
            center_m: Vec3::new(0.3, -0.7, 0.1),
            half_m,
            axis: Vec2::from_angle(0.4),
        }
    }

    fn block(outline: &[(f32, f32)]) -> Solid {
        let corners: Vec<Vec2> = outline.iter().map(|&at| at.into()).collect();
        Solid::Prism(Prism::new(&corners, -1.0, -0.5).unwrap())
    }

    /// Fish avoid the solid, so the shapes must be inside of it and should fill it as seen from above.
    #[test]
    fn shapes_are_inside_of_their_solid_and_fill_it() {
        let balls = [0.2, 0.38, 0.61].map(|radius_m| Solid::Sphere {
            center_m: Vec3::new(3.1 * radius_m, -1.0, radius_m - 0.8),
            radius_m,
        });
        let blocks = [
            block(&[(0.0, 0.0), (1.0, 0.1), (0.2, 0.8)]),
            block(&[(0.3, -0.2), (0.9, 0.4), (0.7, 0.6), (0.1, 0.0)]),
            block(&[
                (0.5, 0.0),
                (0.2, 0.4),
                (-0.3, 0.3),
                (-0.5, -0.1),
                (0.1, -0.5),
            ]),
            wall(Vec3::new(0.45, 0.25, 0.25)),
        ];
        let walls = [Vec3::new(0.7, 0.5, 0.1), Vec3::new(0.09, 1.0, 1.5)].map(wall);
        for (solid, least) in balls
            .iter()
            .zip([0.55; 3])
            .chain(blocks.iter().zip([0.6, 0.6, 0.7, 0.7]))
            .chain(walls.iter().zip([0.7; 2]))
        {
            let drawn = StaticShape::all_of(solid, SurfaceKind::Floor);
            for (rock, i) in drawn
                .iter()
                .flat_map(|rock| (0..200).map(move |i| (rock, i)))
            {
                let (turn, up) = (i as f32 * 2.4, i as f32 / 100.0 - 1.0);
                let flat = (1.0 - up * up).max(0.0).sqrt();
                let p = rock.half_axes_m * Vec3::new(flat * turn.cos(), up, flat * turn.sin());
                let outside = solid.signed_distance_m(rock.center_m + p);
                assert!(outside < 1e-3, "{solid:?}: {rock:?} {outside}");
                assert!(rock.half_axes_m.determinant() > 0.0);
            }
            let (mut inside, mut hidden) = (0, 0);
            for i in 0..120 * 120 {
                let at = Vec2::new((i % 120) as f32, (i / 120) as f32) / 30.0 - 2.0;
                let center = solid.center_m();
                let at = Vec3::new(center.x + at.x, center.y, center.z + at.y);
                let covers = |rock: &StaticShape| {
                    let mut from = at - rock.center_m;
                    from.y = 0.0;
                    (rock.half_axes_m.inverse() * from).length() <= 1.0
                };
                if solid.signed_distance_m(at) < 0.0 {
                    inside += 1;
                    hidden += u32::from(drawn.iter().any(covers));
                }
            }
            let share = f64::from(hidden) / f64::from(inside);
            println!(
                "{} shapes cover {share:.2} of the solid from above",
                drawn.len()
            );
            assert!(share > least, "{share} of {solid:?} is covered");
        }
    }

    #[test]
    fn groups_of_stones_differ_and_are_deterministic() {
        let of = |x: f32| {
            StaticShape::all_of(
                &Solid::Sphere {
                    center_m: Vec3::new(x, -1.0, 0.2),
                    radius_m: 0.3,
                },
                SurfaceKind::Floor,
            )
        };
        let [one, other] = [of(0.0), of(0.8)];
        assert_eq!(one, of(0.0));
        let sizes = |stones: &[StaticShape]| -> Vec<f32> {
            stones.iter().map(StaticShape::reach_m).collect()
        };
        assert_ne!(sizes(&one), sizes(&other));
        assert!(one.len() > 1 && other.len() > 1);
    }

    #[test]
    fn a_long_wall_is_a_row_of_boulders() {
        for (half_m, least) in [
            (Vec3::new(0.7, 0.5, 0.1), 8),
            (Vec3::new(0.09, 1.0, 1.5), 20),
        ] {
            assert!(StaticShape::all_of(&wall(half_m), SurfaceKind::Floor).len() >= least);
        }
    }

    #[test]
    fn a_trunk_is_inside_of_its_capsule() {
        let (from_m, to_m) = (Vec3::new(-0.5, -1.0, 0.2), Vec3::new(0.4, -0.8, 0.1));
        let capsule = Solid::Capsule {
            from_m,
            to_m,
            radius_m: 0.1,
        };
        let [trunk] = StaticShape::all_of(&capsule, SurfaceKind::Floor)[..] else {
            panic!("one trunk")
        };
        for i in 0..64 {
            let (sin, cos) = (i as f32 * 0.7).sin_cos();
            let end = if i % 2 == 0 { 1.0 } else { -1.0 };
            let rim = trunk.center_m + trunk.half_axes_m * Vec3::new(end, cos, sin);
            assert!(capsule.signed_distance_m(rim) < 1e-4);
        }
    }
}
