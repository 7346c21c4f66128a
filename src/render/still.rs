//! What never moves from its place: stones and trunks that fish avoid, and plants that only sway.
//!
//! In: what stands in a scene, its look. Out: instances and matrices by model, and their shadows on the ground.

use glam::{Affine3A, Mat3, Quat, Vec3};

use super::draw::{Batch, Instance};
use super::footing::{self, Foot};
use super::frame::Scenery;
use super::growth::{corals, plants};
use super::params::SceneLook;
use super::pose::{Rows, chance, rows};
use super::rock::{Form, RockShape};
use super::shade::{self, ShadeCorner};
use crate::geometry::{Surface, SurfaceKind};

/// How many models of still things there are, in this order: stones, a trunk, two corals, a plant, a leaf that floats, a
/// fall.
pub const STILL_MODELS: usize = 10;
/// How many stones.
const STONES: usize = 4;
const LOG: usize = STONES;
/// The first of two corals.
const CORAL: usize = LOG + 1;
/// The first model that sways.
pub const PLANT: usize = CORAL + 2;
/// A leaf that floats, seen from below.
const PAD: usize = PLANT + 1;
/// White water, drawn over everything that swims.
pub const FALL: usize = PAD + 1;
/// Stones of a smaller reach in the picture are drawn with their light mesh.
const LIGHT_BELOW_PX: f32 = 34.0;
/// How far below the water's surface leaves float.
const AFLOAT_M: f32 = 0.02;

/// What an instance is made of; the shaders tell substances apart by it.
const STONE: f32 = 1.0;
const WOOD: f32 = 2.0;
const GROWN: f32 = 3.0;
const FOAM: f32 = 4.0;

/// Everything still, ready for the GPU.
#[derive(Debug, Default)]
pub struct StillLife {
    /// Instances by model.
    pub instances: Vec<Instance>,
    /// A matrix an instance.
    pub joints: Vec<Rows>,
    /// Two batches a model, [`STILL_MODELS`] times: the full meshes, then the light ones.
    pub batches: Vec<Batch>,
    /// Their shadows on the ground.
    pub shade: Vec<ShadeCorner>,
    /// Where they stand on it.
    pub feet: Vec<Foot>,
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
        for batch in 0..2 * STILL_MODELS {
            let (model, is_light) = (batch / 2, batch % 2 == 1);
            let first = still.instances.len() as u32;
            if model == PLANT && !is_light {
                for (i, map) in plants.iter().enumerate() {
                    still.add(i as u32, map, GROWN, 1.0);
                }
            }
            if (CORAL..PLANT).contains(&model) && !is_light {
                // Two of three branch.
                let kind = |(i, _): &(usize, &Affine3A)| usize::from(i % 3 == 0) == model - CORAL;
                for (i, map) in corals.iter().enumerate().filter(kind) {
                    still.add(i as u32, map, GROWN, map.matrix3.y_axis.length());
                }
            }
            for (i, rock) in sound.iter().enumerate() {
                let is_small =
                    model < STONES && rock.reach_m() * scenery.pixels_per_m < LIGHT_BELOW_PX;
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
            shade::stone_shade(&sound, scenery, &mut still.shade);
            shade::plant_shade(&plants, scenery, &mut still.shade);
            shade::plant_shade(&corals, scenery, &mut still.shade);
            let grown: Vec<_> = plants.into_iter().chain(corals).collect();
            still.feet = footing::feet(&sound, &grown, scenery);
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

fn substance(form: Form) -> f32 {
    match form {
        Form::Ball | Form::Fall => STONE,
        Form::Log => WOOD,
        Form::Foam => FOAM,
    }
}

fn model_of(number: usize, rock: &RockShape, kind: SurfaceKind) -> usize {
    match rock.form {
        // From below nobody sees the ground: what fish avoid are leaves that float.
        Form::Ball if kind == SurfaceKind::Ceiling => PAD,
        Form::Ball => (chance(number as u32, 24) * STONES as f32) as usize % STONES,
        Form::Log => LOG,
        Form::Fall | Form::Foam => FALL,
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
        Form::Fall | Form::Foam => Quat::IDENTITY,
    };
    Affine3A::from_mat3_translation(rock.half_axes_m * Mat3::from_quat(spin), rock.center_m)
}

/// A leaf as wide as a stone, at the water's surface above it.
fn afloat(number: u32, rock: &RockShape, scenery: &Scenery) -> Affine3A {
    let half_m = rock
        .half_towards_m(Vec3::X)
        .min(rock.half_towards_m(Vec3::Z));
    // They overlap, so each floats a little lower than the one before.
    let y = AFLOAT_M * (1.0 + chance(number, 25)) - scenery.depth_m;
    Affine3A::from_scale_rotation_translation(
        Vec3::splat(half_m),
        Quat::from_rotation_y(std::f32::consts::TAU * chance(number, 21)),
        rock.center_m.with_y(y),
    )
}

#[cfg(test)]
mod tests {
    use glam::Vec2;

    use super::*;
    use crate::geometry::Solid;
    use crate::render::growth::MOST_PLANTS;
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
        let all = |solid| RockShape::all_of(solid, SurfaceKind::Floor);
        let rocks: Vec<_> = solids.iter().flat_map(all).collect();
        let broken = rocks
            .iter()
            .filter(|rock| !rock.center_m.is_finite())
            .count();
        let stones = rocks.iter().filter(|rock| rock.form == Form::Ball).count() - broken;
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
        assert_eq!((count(0.0), count(1.0)), (0, MOST_PLANTS as usize));
    }
}
