//! Static bodies: stones and trunks that fish avoid, plants and corals, waterfalls.
//!
//! In: the static shapes, the waterfalls and the look of a scene. Out: instances and matrices by model, their shadows on the ground and their
//! contacts with it.

use glam::{Affine3A, Mat3, Quat, Vec3};

use super::draw_list::{Batch, BodyInstance};
use super::ground_contact::{self, GroundContact};
use super::ground_shadow::{self, GroundShadowVertex};
use super::look::SceneLook;
use super::model::{LEVELS, STATIC_MODEL_COUNT};
use super::noise::unit_hash;
use super::pose::AffineRows;
use super::scenery::Scenery;
use super::static_shape::{StaticForm, StaticShape};
use super::vegetation::{corals, plants};
use super::waterfalls::FallPiece;
use super::waterside::waterside;
use crate::geometry::{Surface, SurfaceKind};

/// Number of stone models. Stone models have the lowest indices.
const STONES: usize = 4;
/// Index of the model of a trunk.
const LOG: usize = STONES;
/// Index of the first of two coral models.
const CORAL: usize = LOG + 1;
/// Index of the model of a plant.
pub(super) const PLANT: usize = CORAL + 2;
/// Index of the model of a lily leaf.
const LEAF: usize = PLANT + 1;
/// Index of the model of a lily flower.
const FLOWER: usize = LEAF + 1;
/// Index of the model of waterfalls, which are drawn over everything that swims.
pub(super) const WATERFALL: usize = FLOWER + 1;
/// Largest half axis in the picture below which a stone is drawn with its low-detail mesh.
const LOW_DETAIL_BELOW_PX: f32 = 34.0;
/// Depth of the floating leaves below the water surface.
const FLOAT_DEPTH_M: f32 = 0.02;

/// Material of a static body. The shaders choose color and pattern by the material. The numbers are equal to the constants in
/// `shaders/bodies.wgsl`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum Substance {
    /// Stone.
    Stone = 0,
    /// Trunks.
    Wood = 1,
    /// Corals and plants.
    Grown = 2,
    /// Lily leaves.
    Leaf = 3,
    /// Lily flowers.
    Flower = 4,
}

/// All static bodies of a scene, as draw data.
#[derive(Debug, Default)]
pub(super) struct StaticBodies {
    /// Instances by model.
    pub instances: Vec<BodyInstance>,
    /// One matrix per instance, two for a piece of a waterfall.
    pub joints: Vec<AffineRows>,
    /// [`LEVELS`] batches per model; [`STATIC_MODEL_COUNT`] models.
    pub batches: Vec<Batch>,
    /// Shadows of the static bodies on the ground.
    pub ground_shadows: Vec<GroundShadowVertex>,
    /// Contacts of the static bodies with the ground.
    pub contacts: Vec<GroundContact>,
}

impl StaticBodies {
    /// Places the shapes, and as many plants and corals as the look requires. Shapes with non-finite or mirrored axes are left
    /// out.
    pub(super) fn new(
        shapes: &[StaticShape],
        surface: &Surface,
        look: &SceneLook,
        scenery: &Scenery,
    ) -> Self {
        let is_sound = |shape: &&StaticShape| {
            shape.center_m.is_finite()
                && shape.half_axes_m.is_finite()
                && shape.half_axes_m.determinant() > 0.0
        };
        let corals = {
            let sound: Vec<StaticShape> = shapes.iter().filter(is_sound).copied().collect();
            corals(&sound, surface, look, scenery)
        };
        let waterside = waterside(surface, look);
        let all = shapes.iter().chain(&waterside);
        let sound: Vec<StaticShape> = all.filter(is_sound).copied().collect();
        let plants = plants(surface, look, scenery);
        let mut bodies = Self::default();
        for batch in 0..LEVELS * STATIC_MODEL_COUNT {
            let (model, level) = (batch / LEVELS, batch % LEVELS);
            let first = bodies.instances.len() as u32;
            if model == PLANT && level == 0 {
                for (i, map) in plants.iter().enumerate() {
                    bodies.add(i as u32, map, Substance::Grown, 1.0);
                }
            }
            if (CORAL..PLANT).contains(&model) && level == 0 {
                // Two of three corals branch; the third is a brain coral.
                let kind = |(i, _): &(usize, &Affine3A)| usize::from(i % 3 == 0) == model - CORAL;
                for (i, map) in corals.iter().enumerate().filter(kind) {
                    bodies.add(i as u32, map, Substance::Grown, map.matrix3.y_axis.length());
                }
            }
            for (i, shape) in sound.iter().enumerate() {
                let is_small =
                    model < STONES && shape.reach_m() * scenery.pixels_per_m < LOW_DETAIL_BELOW_PX;
                if model_of(i, shape, surface.kind) == model
                    && level == if is_small { LEVELS - 1 } else { 0 }
                {
                    let map = if model == LEAF && shape.form == StaticForm::Stone {
                        floating(i as u32, shape, scenery)
                    } else {
                        placed(i as u32, shape)
                    };
                    bodies.add(i as u32, &map, substance(shape.form), shape.reach_m());
                }
            }
            bodies.batches.push(Batch {
                first,
                count: bodies.instances.len() as u32 - first,
            });
        }
        if surface.kind != SurfaceKind::Ceiling {
            ground_shadow::shape_shadows(&sound, scenery, &mut bodies.ground_shadows);
            ground_shadow::plant_shadows(&plants, scenery, &mut bodies.ground_shadows);
            ground_shadow::plant_shadows(&corals, scenery, &mut bodies.ground_shadows);
            let grown: Vec<_> = plants.into_iter().chain(corals).collect();
            bodies.contacts = ground_contact::contacts(&sound, &grown, scenery);
        }
        bodies
    }

    /// Adds the falling water. It is drawn with the last model.
    pub(super) fn with_falls(mut self, falls: &[FallPiece]) -> Self {
        for piece in falls {
            let [left, right] = piece.ends;
            let aside = (right.lip_m - left.lip_m).normalize_or(Vec3::X);
            self.instances.push(BodyInstance {
                first_joint: self.joints.len() as u32,
                skin_layer: -1,
                size_m: left.along_m,
                shine: left.flow,
                glow: right.flow,
                ..BodyInstance::default()
            });
            let frames = piece.ends.map(|end| AffineRows::new(&end.frame(aside)));
            self.joints.extend(frames);
        }
        if let Some(batch) = self.batches.get_mut(LEVELS * WATERFALL) {
            batch.count = falls.len() as u32;
        }
        self
    }

    /// Appends one instance. `number` selects the random tone of the instance.
    fn add(&mut self, number: u32, map: &Affine3A, substance: Substance, size_m: f32) {
        let tone = unit_hash(number, 23);
        self.instances.push(BodyInstance {
            first_joint: self.joints.len() as u32,
            skin_layer: -1,
            size_m,
            tone,
            substance: substance as u32,
            ..BodyInstance::default()
        });
        self.joints.push(AffineRows::new(map));
    }
}

/// Returns the material of a form.
fn substance(form: StaticForm) -> Substance {
    match form {
        StaticForm::Stone => Substance::Stone,
        StaticForm::Log => Substance::Wood,
        StaticForm::Leaf => Substance::Leaf,
        StaticForm::Flower => Substance::Flower,
    }
}

/// Returns the index of the model of a shape.
fn model_of(number: usize, shape: &StaticShape, kind: SurfaceKind) -> usize {
    match shape.form {
        // A picture on a ceiling shows no ground, so the stones that fish avoid are drawn as floating leaves.
        StaticForm::Stone if kind == SurfaceKind::Ceiling => LEAF,
        StaticForm::Stone => (unit_hash(number as u32, 24) * STONES as f32) as usize % STONES,
        StaticForm::Log => LOG,
        StaticForm::Leaf => LEAF,
        StaticForm::Flower => FLOWER,
    }
}

/// Returns the transform of a shape.
fn placed(number: u32, shape: &StaticShape) -> Affine3A {
    // A random rotation inside the ellipsoid, so that no two stones look the same.
    let spin = match shape.form {
        StaticForm::Stone => {
            Quat::from_rotation_y(std::f32::consts::TAU * unit_hash(number, 21))
                * Quat::from_rotation_x(unit_hash(number, 22) - 0.5)
        }
        StaticForm::Log => Quat::from_rotation_x(std::f32::consts::TAU * unit_hash(number, 21)),
        StaticForm::Leaf | StaticForm::Flower => Quat::IDENTITY,
    };
    Affine3A::from_mat3_translation(shape.half_axes_m * Mat3::from_quat(spin), shape.center_m)
}

/// Returns the transform of a floating leaf. The leaf is as wide as a stone, and at the water surface above the stone.
fn floating(number: u32, shape: &StaticShape, scenery: &Scenery) -> Affine3A {
    let half_m = shape
        .half_towards_m(Vec3::X)
        .min(shape.half_towards_m(Vec3::Z));
    // Leaves may overlap, so each leaf has a slightly different depth.
    let y = FLOAT_DEPTH_M * (1.0 + unit_hash(number, 25)) - scenery.depth_m;
    Affine3A::from_scale_rotation_translation(
        Vec3::splat(half_m),
        Quat::from_rotation_y(std::f32::consts::TAU * unit_hash(number, 21)),
        shape.center_m.with_y(y),
    )
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::geometry::Solid;
    use crate::render::look::SceneLook;
    use crate::render::vegetation::MAX_PLANTS;

    fn bodies(shapes: &[StaticShape], look: &SceneLook) -> StaticBodies {
        let surface = Surface::default();
        let scenery = Scenery::new(look, &surface, [640, 480], 1.2);
        StaticBodies::new(shapes, &surface, look, &scenery)
    }

    #[test]
    fn every_form_has_its_model_and_non_finite_shapes_are_left_out() {
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
        let all = |solid| StaticShape::all_of(solid, SurfaceKind::Floor);
        let shapes: Vec<_> = solids.iter().flat_map(all).collect();
        let broken = shapes
            .iter()
            .filter(|shape| !shape.center_m.is_finite())
            .count();
        let stones = shapes
            .iter()
            .filter(|shape| shape.form == StaticForm::Stone)
            .count()
            - broken;
        let look = SceneLook {
            plants: 0.0,
            ..SceneLook::default()
        };
        let counts: Vec<_> = bodies(&shapes, &look)
            .batches
            .chunks_exact(LEVELS)
            .map(|both| both.iter().map(|batch| batch.count).sum())
            .collect();
        assert!(broken > 0 && stones > 2);
        assert_eq!(counts[..STONES].iter().sum::<u32>(), stones as u32);
        assert_eq!(counts[STONES..], [1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_look_sets_the_number_of_plants() {
        let count = |plants| {
            bodies(
                &[],
                &SceneLook {
                    plants,
                    ..SceneLook::default()
                },
            )
            .instances
            .len()
        };
        assert_eq!((count(0.0), count(1.0)), (0, MAX_PLANTS as usize));
    }
}
