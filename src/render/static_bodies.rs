//! What never moves from its place: stones and trunks that fish avoid, and plants that only sway.
//!
//! In: what stands in a scene, its look. Out: instances and matrices by model, and their shadows on the ground.

use glam::{Affine3A, Mat3, Quat, Vec3};

use super::draw_list::{Batch, BodyInstance};
use super::ground_contact::{self, GroundContact};
use super::ground_shadow::{self, GroundShadowVertex};
use super::look::SceneLook;
use super::model::STATIC_MODEL_COUNT;
use super::noise::unit_hash;
use super::pose::AffineRows;
use super::scenery::Scenery;
use super::static_shape::{StaticForm, StaticShape};
use super::vegetation::{corals, plants};
use crate::geometry::{Surface, SurfaceKind};

/// How many stones.
const STONES: usize = 4;
const LOG: usize = STONES;
/// The first of two corals.
const CORAL: usize = LOG + 1;
/// The first model that sways.
pub(super) const PLANT: usize = CORAL + 2;
/// A leaf that floats, seen from below.
const PAD: usize = PLANT + 1;
/// White water, drawn over everything that swims.
pub(super) const WATERFALL: usize = PAD + 1;
/// Stones of a smaller reach in the picture are drawn with their light mesh.
const LOW_DETAIL_BELOW_PX: f32 = 34.0;
/// How far below the water's surface leaves float.
const AFLOAT_M: f32 = 0.02;

/// Material of a static body: the shaders choose its color and pattern by it. The numbers are those of the constants in
/// `shaders/bodies.wgsl`.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum Substance {
    /// Stone, and the falling water of waterfalls.
    Stone = 0,
    /// Trunks.
    Wood = 1,
    /// Corals and plants.
    Grown = 2,
    /// Foam below waterfalls.
    Foam = 3,
}

/// Everything still, ready for the GPU.
#[derive(Debug, Default)]
pub(super) struct StaticBodies {
    /// Instances by model.
    pub instances: Vec<BodyInstance>,
    /// A matrix an instance.
    pub joints: Vec<AffineRows>,
    /// Two batches a model, [`STATIC_MODEL_COUNT`] times: the full meshes, then the light ones.
    pub batches: Vec<Batch>,
    /// Their shadows on the ground.
    pub ground_shadows: Vec<GroundShadowVertex>,
    /// Where they stand on it.
    pub contacts: Vec<GroundContact>,
}

impl StaticBodies {
    /// Lays out stones where they are and plants where the look wants them.
    pub(super) fn new(
        rocks: &[StaticShape],
        surface: &Surface,
        look: &SceneLook,
        scenery: &Scenery,
    ) -> Self {
        let is_sound = |rock: &&StaticShape| {
            rock.center_m.is_finite()
                && rock.half_axes_m.is_finite()
                && rock.half_axes_m.determinant() > 0.0
        };
        let sound: Vec<StaticShape> = rocks.iter().filter(is_sound).copied().collect();
        let plants = plants(surface, look, scenery);
        let corals = corals(&sound, surface, look, scenery);
        let mut still = Self::default();
        for batch in 0..2 * STATIC_MODEL_COUNT {
            let (model, is_light) = (batch / 2, batch % 2 == 1);
            let first = still.instances.len() as u32;
            if model == PLANT && !is_light {
                for (i, map) in plants.iter().enumerate() {
                    still.add(i as u32, map, Substance::Grown, 1.0);
                }
            }
            if (CORAL..PLANT).contains(&model) && !is_light {
                // Two of three branch.
                let kind = |(i, _): &(usize, &Affine3A)| usize::from(i % 3 == 0) == model - CORAL;
                for (i, map) in corals.iter().enumerate().filter(kind) {
                    still.add(i as u32, map, Substance::Grown, map.matrix3.y_axis.length());
                }
            }
            for (i, rock) in sound.iter().enumerate() {
                let is_small =
                    model < STONES && rock.reach_m() * scenery.pixels_per_m < LOW_DETAIL_BELOW_PX;
                if model_of(i, rock, surface.kind) == model && is_small == is_light {
                    let map = if model == PAD {
                        afloat(i as u32, rock, scenery)
                    } else {
                        placed(i as u32, rock)
                    };
                    still.add(i as u32, &map, substance(rock.form), rock.reach_m());
                }
            }
            still.batches.push(Batch {
                first,
                count: still.instances.len() as u32 - first,
            });
        }
        if surface.kind != SurfaceKind::Ceiling {
            ground_shadow::shape_shadows(&sound, scenery, &mut still.ground_shadows);
            ground_shadow::plant_shadows(&plants, scenery, &mut still.ground_shadows);
            ground_shadow::plant_shadows(&corals, scenery, &mut still.ground_shadows);
            let grown: Vec<_> = plants.into_iter().chain(corals).collect();
            still.contacts = ground_contact::contacts(&sound, &grown, scenery);
        }
        still
    }

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

fn substance(form: StaticForm) -> Substance {
    match form {
        StaticForm::Stone | StaticForm::Waterfall => Substance::Stone,
        StaticForm::Log => Substance::Wood,
        StaticForm::Foam => Substance::Foam,
    }
}

fn model_of(number: usize, rock: &StaticShape, kind: SurfaceKind) -> usize {
    match rock.form {
        // From below nobody sees the ground: what fish avoid are leaves that float.
        StaticForm::Stone if kind == SurfaceKind::Ceiling => PAD,
        StaticForm::Stone => (unit_hash(number as u32, 24) * STONES as f32) as usize % STONES,
        StaticForm::Log => LOG,
        StaticForm::Waterfall | StaticForm::Foam => WATERFALL,
    }
}

fn placed(number: u32, rock: &StaticShape) -> Affine3A {
    // A stone is turned within its own ellipsoid, so that no two show the same face.
    let spin = match rock.form {
        StaticForm::Stone => {
            Quat::from_rotation_y(std::f32::consts::TAU * unit_hash(number, 21))
                * Quat::from_rotation_x(unit_hash(number, 22) - 0.5)
        }
        StaticForm::Log => Quat::from_rotation_x(std::f32::consts::TAU * unit_hash(number, 21)),
        StaticForm::Waterfall | StaticForm::Foam => Quat::IDENTITY,
    };
    Affine3A::from_mat3_translation(rock.half_axes_m * Mat3::from_quat(spin), rock.center_m)
}

/// A leaf as wide as a stone, at the water's surface above it.
fn afloat(number: u32, rock: &StaticShape, scenery: &Scenery) -> Affine3A {
    let half_m = rock
        .half_towards_m(Vec3::X)
        .min(rock.half_towards_m(Vec3::Z));
    // They overlap, so each floats a little lower than the one before.
    let y = AFLOAT_M * (1.0 + unit_hash(number, 25)) - scenery.depth_m;
    Affine3A::from_scale_rotation_translation(
        Vec3::splat(half_m),
        Quat::from_rotation_y(std::f32::consts::TAU * unit_hash(number, 21)),
        rock.center_m.with_y(y),
    )
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::geometry::Solid;
    use crate::render::look::SceneLook;
    use crate::render::vegetation::MAX_PLANTS;

    fn still(rocks: &[StaticShape], look: &SceneLook) -> StaticBodies {
        let surface = Surface::default();
        let scenery = Scenery::new(look, &surface, [640, 480], 1.2);
        StaticBodies::new(rocks, &surface, look, &scenery)
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
        let all = |solid| StaticShape::all_of(solid, SurfaceKind::Floor);
        let rocks: Vec<_> = solids.iter().flat_map(all).collect();
        let broken = rocks
            .iter()
            .filter(|rock| !rock.center_m.is_finite())
            .count();
        let stones = rocks
            .iter()
            .filter(|rock| rock.form == StaticForm::Stone)
            .count()
            - broken;
        let look = SceneLook {
            plants: 0.0,
            ..SceneLook::default()
        };
        let counts: Vec<_> = still(&rocks, &look)
            .batches
            .chunks_exact(2)
            .map(|both| both.iter().map(|batch| batch.count).sum())
            .collect();
        assert!(broken > 0 && stones > 2);
        assert_eq!(counts[..STONES].iter().sum::<u32>(), stones as u32);
        assert_eq!(counts[STONES..], [1, 0, 0, 0, 0, 0]);
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
        assert_eq!((count(0.0), count(1.0)), (0, MAX_PLANTS as usize));
    }
}
