//! What never moves from its place: stones and trunks that fish avoid, and plants that only sway.
//!
//! In: the solids of a scene, its look. Out: instances and matrices by model, and their shadows on the ground.

use glam::{Affine3A, Mat3, Quat, Vec2, Vec3};

use super::draw::{Batch, Instance};
use super::frame::Scenery;
use super::params::SceneLook;
use super::pose::{Rows, chance, rows};
use super::shade::{self, ShadeCorner};
use crate::geometry::{Prism, Solid, Surface, SurfaceKind};

/// How many models of still things there are, in this order: two stones, a trunk, a block, two corals, a plant, a fall.
pub const STILL_MODELS: usize = 8;
/// The first of two corals.
const CORAL: usize = 4;
/// The model that sways.
pub const PLANT: usize = 6;
/// White water, drawn over everything that swims.
pub const FALL: usize = 7;
/// Plants where a look wants a thicket.
const MOST_PLANTS: f32 = 60.0;
/// Corals where a look wants a living reef.
const MOST_CORALS: f32 = 70.0;
/// No boulder of a row is thinner: who swims keeps farther than that from a thin wall.
const LEAST_HALF_M: f32 = 0.08;
/// A box this many times as long as thick is drawn as a row of boulders.
const ROW_FROM: f32 = 2.4;

/// What a solid looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A weathered stone.
    Ball,
    /// A sunken trunk.
    Log,
    /// A worn block.
    Slab,
    /// Water that falls from one terrace to the next: the model's x along the lip, z down the stream.
    Fall,
}

/// A stone as the simulation knows it: the solid that fish avoid. What is drawn stays inside: the ellipsoid that
/// touches a ball's sides, a block in a box, a trunk in a capsule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RockShape {
    /// What it looks like.
    pub form: Form,
    /// Middle, in world space.
    pub center_m: Vec3,
    /// Half axes of the model, as columns.
    pub half_axes_m: Mat3,
}

impl RockShape {
    /// The things that stand for a solid: one, or a row of boulders where it is a long box.
    pub fn all_of(solid: &Solid) -> Vec<Self> {
        let one = Self::of(solid);
        let Solid::Box { half_m, .. } = *solid else {
            return vec![one];
        };
        if half_m.x.max(half_m.z) > ROW_FROM * half_m.x.min(half_m.z) {
            one.boulders()
        } else {
            vec![one]
        }
    }

    /// A block as boulders in layers, wider at the top where it is high: each lies within the block
    /// (a thin one is drawn [`LEAST_HALF_M`] thick to either side), and they overlap.
    fn boulders(&self) -> Vec<Self> {
        let Mat3 {
            x_axis,
            y_axis,
            z_axis,
        } = self.half_axes_m;
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
            // Waves wear out the foot, so the top overhangs.
            let worn = 0.80 + 0.20 * (up * 0.5 + 0.5);
            for i in 0..count {
                let draw = |purpose| chance(layer * 64 + i, purpose);
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
                boulders.push(Self {
                    form: Form::Ball,
                    center_m: self.center_m
                        + axes[0] * shifted.x
                        + axes[1] * shifted.y
                        + axes[2] * shifted.z,
                    half_axes_m: Mat3::from_cols(
                        axes[0] * half.x,
                        axes[1] * half.y,
                        axes[2] * half.z,
                    ),
                });
            }
        }
        boulders
    }

    /// The thing that stands for a solid as a whole.
    pub fn of(solid: &Solid) -> Self {
        match *solid {
            Solid::Sphere { center_m, radius_m } => Self {
                form: Form::Ball,
                center_m,
                half_axes_m: Mat3::from_diagonal(Vec3::splat(radius_m)),
            },
            Solid::Box {
                center_m,
                half_m,
                axis,
            } => Self {
                form: Form::Slab,
                center_m,
                half_axes_m: Mat3::from_cols(
                    Vec3::new(axis.x, 0.0, axis.y) * half_m.x,
                    Vec3::Y * half_m.y,
                    Vec3::new(-axis.y, 0.0, axis.x) * half_m.z,
                ),
            },
            Solid::Capsule {
                from_m,
                to_m,
                radius_m,
            } => {
                let along = (to_m - from_m).normalize_or(Vec3::X);
                let (aside, up) = along.any_orthonormal_pair();
                // Its ends are flat, so they stay where the capsule's ends begin to round.
                let half_length_m = (from_m.distance(to_m) / 2.0).max(0.3 * radius_m);
                Self {
                    form: Form::Log,
                    center_m: (from_m + to_m) / 2.0,
                    half_axes_m: Mat3::from_cols(
                        along * half_length_m,
                        aside * radius_m,
                        up * radius_m,
                    ),
                }
            }
            Solid::Prism(ref prism) => Self::inside(prism),
        }
    }

    /// A block or a stone within a prism, whichever fills more of it, along the main axes of its outline.
    ///
    /// **Source**: the ellipse of a body's second moments; in a triangle it is the largest that there is (Steiner's).
    fn inside(prism: &Prism) -> Self {
        let corners = prism.corners();
        let apex = corners[0];
        let (mut area, mut first) = (0.0, Vec2::ZERO);
        for pair in corners[1..].windows(2) {
            let part = (pair[0] - apex).perp_dot(pair[1] - apex) / 2.0;
            area += part;
            first += (apex + pair[0] + pair[1]) * (part / 3.0);
        }
        let middle = first / area;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for pair in corners[1..].windows(2) {
            let part = (pair[0] - apex).perp_dot(pair[1] - apex) / 2.0;
            let spokes = [apex - middle, pair[0] - middle, pair[1] - middle];
            for spoke in spokes.into_iter().chain([spokes.iter().sum()]) {
                xx += part * spoke.x * spoke.x;
                xy += part * spoke.x * spoke.y;
                yy += part * spoke.y * spoke.y;
            }
        }
        let axis = Vec2::from_angle((2.0 * xy).atan2(xx - yy) / 2.0);
        let spread = |axis: Vec2| {
            (axis.x * axis.x * xx + 2.0 * axis.x * axis.y * xy + axis.y * axis.y * yy)
                .max(0.0)
                .sqrt()
        };
        let half = Vec2::new(spread(axis), spread(axis.perp()));
        // How much of that shape fits between the middle and each side.
        let (mut round, mut square) = (f32::INFINITY, f32::INFINITY);
        for (i, &from) in corners.iter().enumerate() {
            let to = corners[(i + 1) % corners.len()];
            let normal = -(to - from).normalize_or_zero().perp();
            let room = (from - middle).dot(normal);
            let towards = Vec2::new(normal.dot(axis), normal.dot(axis.perp())) * half;
            round = round.min(room / towards.length());
            square = square.min(room / (towards.x.abs() + towards.y.abs()));
        }
        let is_block = 4.0 * square * square >= std::f32::consts::PI * round * round;
        let half = half * if is_block { square } else { round };
        let (low, high) = prism.heights_m();
        Self {
            form: if is_block { Form::Slab } else { Form::Ball },
            center_m: Vec3::new(middle.x, (low + high) / 2.0, middle.y),
            half_axes_m: Mat3::from_cols(
                Vec3::new(axis.x, 0.0, axis.y) * half.x,
                Vec3::Y * ((high - low) / 2.0),
                Vec3::new(-axis.y, 0.0, axis.x) * half.y,
            ),
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

    /// Half extent towards a direction in the plane of the ground.
    pub(super) fn half_towards_m(&self, direction: Vec2) -> f32 {
        (self.half_axes_m.transpose() * Vec3::new(direction.x, 0.0, direction.y)).length()
    }
}

/// Everything still, ready for the GPU.
#[derive(Debug, Default)]
pub struct StillLife {
    /// Instances by model.
    pub instances: Vec<Instance>,
    /// A matrix an instance.
    pub joints: Vec<Rows>,
    /// A batch a model, [`STILL_MODELS`] of them.
    pub batches: Vec<Batch>,
    /// Their shadows on the ground.
    pub shade: Vec<ShadeCorner>,
}

impl StillLife {
    /// Lays out stones where they are and plants where the look wants them.
    pub fn new(
        rocks: &[RockShape],
        surface: &Surface,
        look: &SceneLook,
        scenery: &Scenery,
    ) -> Self {
        let is_sound = |rock: &&RockShape| {
            rock.center_m.is_finite()
                && rock.half_axes_m.is_finite()
                && rock.half_axes_m.determinant() > 0.0
        };
        let sound: Vec<RockShape> = rocks.iter().filter(is_sound).copied().collect();
        let plants = plants(surface, look, scenery);
        let corals = corals(&sound, surface, look, scenery);
        let mut still = Self::default();
        for model in 0..STILL_MODELS {
            let first = still.instances.len() as u32;
            if model == PLANT {
                for (i, map) in plants.iter().enumerate() {
                    still.add(i as u32, map, 3.0, 1.0);
                }
            }
            if (CORAL..PLANT).contains(&model) {
                // Two of three branch.
                let kind = |(i, _): &(usize, &Affine3A)| usize::from(i % 3 == 0) == model - CORAL;
                for (i, map) in corals.iter().enumerate().filter(kind) {
                    still.add(i as u32, map, 3.0, map.matrix3.y_axis.length());
                }
            }
            for (i, rock) in sound
                .iter()
                .enumerate()
                .filter(|(i, rock)| model_of(*i, rock) == model)
            {
                let wood = if rock.form == Form::Log { 2.0 } else { 1.0 };
                still.add(i as u32, &placed(i as u32, rock), wood, rock.reach_m());
            }
            still.batches.push(Batch {
                first,
                count: still.instances.len() as u32 - first,
            });
        }
        shade::stone_shade(&sound, scenery, &mut still.shade);
        if surface.kind == SurfaceKind::Floor {
            shade::plant_shade(&plants, scenery, &mut still.shade);
            shade::plant_shade(&corals, scenery, &mut still.shade);
        }
        still
    }

    fn add(&mut self, number: u32, map: &Affine3A, substance: f32, reach_m: f32) {
        let tone = chance(number, 23);
        self.instances.push(Instance {
            tint: [tone, 1.0 - tone, substance, 0.0],
            kind: [self.joints.len() as f32, -1.0, reach_m, 0.0],
        });
        self.joints.push(rows(map));
    }
}

fn model_of(number: usize, rock: &RockShape) -> usize {
    match rock.form {
        Form::Ball => number % 2,
        Form::Log => 2,
        Form::Slab => 3,
        Form::Fall => FALL,
    }
}

fn placed(number: u32, rock: &RockShape) -> Affine3A {
    // A stone is turned within its own ellipsoid, so that no two show the same face.
    let spin = match rock.form {
        Form::Ball => {
            Quat::from_rotation_y(std::f32::consts::TAU * chance(number, 21))
                * Quat::from_rotation_x(chance(number, 22) - 0.5)
        }
        Form::Log => Quat::from_rotation_x(std::f32::consts::TAU * chance(number, 21)),
        Form::Slab | Form::Fall => Quat::IDENTITY,
    };
    Affine3A::from_mat3_translation(rock.half_axes_m * Mat3::from_quat(spin), rock.center_m)
}

/// Where corals sit: every other on the upper side of a stone, the others on the ground, in clumps.
fn corals(
    rocks: &[RockShape],
    surface: &Surface,
    look: &SceneLook,
    scenery: &Scenery,
) -> Vec<Affine3A> {
    let count = (look.corals * MOST_CORALS).round() as u32;
    if surface.kind != SurfaceKind::Floor {
        return Vec::new();
    }
    let ground = surface.half_extent_m() * surface.scale_at_depth(scenery.depth_m);
    let number = |i: u32| i.wrapping_add(look.ground_seed.wrapping_mul(211));
    let placed = |i: u32| {
        let draw = |purpose| chance(number(i), purpose);
        let turn = Quat::from_rotation_y(std::f32::consts::TAU * draw(71));
        let rock = (i % 4 < 2 && !rocks.is_empty())
            .then(|| rocks.get((draw(72) * rocks.len() as f32) as usize))
            .flatten()
            .filter(|rock| rock.form != Form::Fall);
        if let Some(rock) = rock {
            let aside =
                Vec2::from_angle(std::f32::consts::TAU * draw(73)) * (0.75 * draw(74).sqrt());
            let up = (1.0 - aside.length_squared()).sqrt();
            // A stone's skin lies some way inside of its ellipsoid.
            let at = rock.center_m + rock.half_axes_m * Vec3::new(aside.x, up, aside.y) * 0.86;
            let lean = Quat::from_rotation_z(-0.6 * aside.x) * Quat::from_rotation_x(0.6 * aside.y);
            return (at, lean * turn, 0.08 + 0.10 * draw(75));
        }
        let clump = |purpose| 2.0 * chance(number(i / 8), purpose) - 1.0;
        let beside = Vec2::new(draw(78) - 0.5, draw(79) - 0.5) * 0.8;
        let at = Vec2::new(clump(76), clump(77)) * ground * 0.95 + beside;
        let at = Vec3::new(at.x, -scenery.depth_m, at.y);
        (at, turn, 0.10 + 0.16 * draw(75) * draw(80))
    };
    (0..count)
        .map(placed)
        .map(|(at, turn, height_m)| {
            Affine3A::from_scale_rotation_translation(Vec3::splat(height_m), turn, at)
        })
        .collect()
}

/// Where plants stand: on a floor along the rim of what is seen of the ground, on a wall at both ends of its lower edge.
fn plants(surface: &Surface, look: &SceneLook, scenery: &Scenery) -> Vec<Affine3A> {
    let count = (look.plants * MOST_PLANTS).round() as u32;
    let half = surface.half_extent_m();
    let ground = half * surface.scale_at_depth(scenery.depth_m);
    let number = |i: u32| i.wrapping_add(look.ground_seed.wrapping_mul(101));
    let placed = |i: u32| {
        let draw = |purpose| chance(number(i), purpose);
        let turn = Quat::from_rotation_y(std::f32::consts::TAU * draw(44));
        match surface.kind {
            SurfaceKind::Floor => {
                // Tufts stand together: a place along the rim draws several.
                let tuft = |purpose| chance(number(i / 4), purpose);
                let angle = std::f32::consts::TAU * tuft(41);
                let (sin, cos) = angle.sin_cos();
                let rim =
                    (ground / Vec2::new(cos.abs(), sin.abs()).max(Vec2::splat(1e-3))).min_element();
                let beside = Vec2::new(draw(45) - 0.5, draw(46) - 0.5) * 0.35;
                let at = Vec2::new(cos, sin) * rim * (0.80 + 0.22 * tuft(42)) + beside;
                let height_m = (0.28 + 0.30 * draw(43)).min(0.6 * scenery.depth_m);
                Some((Vec3::new(at.x, -scenery.depth_m, at.y), turn, height_m))
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
                // A wall's up is −z.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::params::SceneLook;

    fn still(rocks: &[RockShape], look: &SceneLook) -> StillLife {
        let surface = Surface::default();
        let scenery = Scenery::new(look, &surface, [640, 480], 1.2);
        StillLife::new(rocks, &surface, look, &scenery)
    }

    #[test]
    fn every_form_has_its_model_and_broken_ones_are_left_out() {
        let solids = [
            Solid::Sphere {
                center_m: Vec3::NEG_Y,
                radius_m: 0.3,
            },
            Solid::Capsule {
                from_m: Vec3::NEG_Y,
                to_m: Vec3::new(1.0, -1.0, 0.0),
                radius_m: 0.1,
            },
            Solid::Box {
                center_m: Vec3::NEG_Y,
                half_m: Vec3::splat(0.2),
                axis: Vec2::X,
            },
            Solid::Sphere {
                center_m: Vec3::NAN,
                radius_m: 0.3,
            },
        ];
        let rocks: Vec<_> = solids.iter().map(RockShape::of).collect();
        let look = SceneLook {
            plants: 0.0,
            ..SceneLook::default()
        };
        let counts: Vec<_> = still(&rocks, &look)
            .batches
            .iter()
            .map(|b| b.count)
            .collect();
        assert_eq!(counts, [1, 0, 1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_trunk_stays_inside_its_capsule() {
        let (from_m, to_m) = (Vec3::new(-0.5, -1.0, 0.2), Vec3::new(0.4, -0.8, 0.1));
        let capsule = Solid::Capsule {
            from_m,
            to_m,
            radius_m: 0.1,
        };
        let map = placed(3, &RockShape::of(&capsule));
        for i in 0..64 {
            let (sin, cos) = (i as f32 * 0.7).sin_cos();
            let rim =
                map.transform_point3(Vec3::new(if i % 2 == 0 { 1.0 } else { -1.0 }, cos, sin));
            assert!(capsule.signed_distance_m(rim) < 1e-4);
        }
    }

    #[test]
    fn what_is_drawn_of_a_prism_stays_inside_and_touches_it() {
        let outlines: [&[(f32, f32)]; 3] = [
            &[(0.0, 0.0), (1.0, 0.1), (0.2, 0.8)],
            &[(0.3, -0.2), (0.9, 0.4), (0.7, 0.6), (0.1, 0.0)],
            &[
                (0.5, 0.0),
                (0.2, 0.4),
                (-0.3, 0.3),
                (-0.5, -0.1),
                (0.1, -0.5),
            ],
        ];
        let mut forms = Vec::new();
        for outline in outlines {
            let corners: Vec<Vec2> = outline.iter().map(|&at| at.into()).collect();
            let prism = Solid::Prism(Prism::new(&corners, -1.0, -0.5).unwrap());
            let shape = RockShape::of(&prism);
            forms.push(shape.form);
            let rim = |i: u32| {
                let (sin, cos) = (i as f32 * 0.01).sin_cos();
                let model = match shape.form {
                    Form::Slab => Vec3::new(cos.signum(), 0.0, sin.signum()),
                    _ => Vec3::new(cos, 0.0, sin),
                };
                shape.half_axes_m * model + shape.center_m
            };
            let nearest = (0..628)
                .map(|i| prism.signed_distance_m(rim(i)))
                .fold(f32::NEG_INFINITY, f32::max);
            assert!(nearest.abs() < 1e-3, "{outline:?}: {nearest}");
            assert!(shape.half_axes_m.determinant() > 0.0);
        }
        assert_eq!(forms, [Form::Ball, Form::Slab, Form::Ball]);
    }

    #[test]
    fn a_long_wall_is_a_row_of_boulders_inside_of_it() {
        for (half_m, least) in [
            (Vec3::new(0.7, 0.5, 0.1), 8),
            (Vec3::new(0.09, 1.0, 1.5), 20),
            (Vec3::new(0.2, 0.2, 0.3), 1),
        ] {
            let wall = Solid::Box {
                center_m: Vec3::new(0.3, -0.7, 0.1),
                half_m,
                axis: Vec2::from_angle(0.4),
            };
            let all = RockShape::all_of(&wall);
            assert!(all.len() >= least, "{half_m}: {}", all.len());
            let boulders = all.iter().filter(|rock| rock.form == Form::Ball);
            for (rock, i) in boulders.flat_map(|rock| (0..200).map(move |i| (rock, i))) {
                let (turn, up) = (i as f32 * 2.4, i as f32 / 100.0 - 1.0);
                let flat = (1.0 - up * up).max(0.0).sqrt();
                let p = rock.half_axes_m * Vec3::new(flat * turn.cos(), up, flat * turn.sin());
                let outside = wall.signed_distance_m(rock.center_m + p);
                assert!(outside < 1e-3, "{half_m}: {outside}");
                assert!(rock.half_axes_m.determinant() > 0.0);
            }
        }
    }

    #[test]
    fn a_thicket_has_more_plants_than_none() {
        let count = |plants| {
            still(
                &[],
                &SceneLook {
                    plants,
                    ..SceneLook::default()
                },
            )
            .instances
            .len()
        };
        assert_eq!((count(0.0), count(1.0)), (0, MOST_PLANTS as usize));
    }
}
