//! Places where bodies meet the ground, with heaped sand and shade around them, and the outlines of terraces. The ground shader
//! paints both into the ground texture once per scene.
//!
//! In: static shapes, plants, corals, the scenery. Out: ellipses and outlines on the ground texture.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec2, Vec3};

use super::scenery::Scenery;
use super::static_shape::{StaticForm, StaticShape};

/// Largest number of ellipses. Each ellipse adds a cost per pixel when the ground is painted.
const MAX_CONTACTS: usize = 160;
/// Size of a stone model relative to its ellipsoid.
const STONE_FILL: f32 = 0.8;
/// Half width of a root, as a share of the height of its plant.
const ROOT: f32 = 0.10;

/// An ellipse in which a body meets the ground; same layout as `GroundContact` in `shaders/ground.wgsl`, which documents the
/// fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(super) struct GroundContact {
    pub(super) center_m: Vec2,
    pub(super) half_m: Vec2,
    pub(super) axis: Vec2,
    pub(super) reach_m: f32,
    pub(super) is_root: f32,
}

/// Returns the contacts with the ground: those of stones and trunks that reach it, and those of the roots of plants and corals.
pub(super) fn contacts(
    shapes: &[StaticShape],
    grown: &[Affine3A],
    scenery: &Scenery,
) -> Vec<GroundContact> {
    let stands = |shape: &&StaticShape| matches!(shape.form, StaticForm::Stone | StaticForm::Log);
    let stones = shapes
        .iter()
        .filter(stands)
        .filter_map(|shape| stone_contact(shape, scenery));
    let root = |plant: &Affine3A| {
        let (height_m, place) = scenery.over_ground(plant.translation.into());
        let half_m = ROOT * plant.matrix3.y_axis.length();
        (height_m.abs() < 0.05).then(|| GroundContact {
            center_m: place,
            half_m: Vec2::splat(half_m),
            axis: Vec2::X,
            reach_m: half_m,
            is_root: 1.0,
        })
    };
    stones
        .chain(grown.iter().filter_map(root))
        .take(MAX_CONTACTS)
        .collect()
}

/// Returns the approximate ellipse in which a stone or trunk intersects the ground; `None` if the body does not reach the
/// ground, or only just touches it.
fn stone_contact(shape: &StaticShape, scenery: &Scenery) -> Option<GroundContact> {
    let [second, up] = scenery.ground_axes();
    let (height_m, place) = scenery.over_ground(shape.center_m);
    let share = height_m / shape.half_towards_m(up);
    let cut = (1.0 - share.max(0.0) * share).max(0.0).sqrt();
    if cut < 0.15 || share < -1.0 {
        return None;
    }
    let on_ground = |axis: Vec3| Vec2::new(axis.x, axis.dot(second));
    let long = shape.half_axes_m.x_axis;
    let axis = on_ground(long).normalize_or(Vec2::X);
    let fill = if shape.form == StaticForm::Stone {
        STONE_FILL
    } else {
        1.0
    };
    let half_towards =
        |axis: Vec2| fill * cut * shape.half_towards_m(Vec3::X * axis.x + second * axis.y);
    let half = Vec2::new(half_towards(axis), half_towards(axis.perp()));
    Some(GroundContact {
        center_m: place,
        half_m: half,
        axis,
        reach_m: (0.45 * half.x.min(half.y)).clamp(0.02, 0.14),
        is_root: 0.0,
    })
}

/// The ground of a terrace; same layout as `TerraceGround` in `shaders/ground.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub(super) struct TerraceGround {
    pub(super) first_corner: u32,
    pub(super) corner_count: u32,
    pub(super) height: f32,
}

/// Returns the grounds of the terraces, and the corners of all terraces as positions on the ground texture.
pub(super) fn terrace_grounds(scenery: &Scenery) -> (Vec<TerraceGround>, Vec<Vec2>) {
    let levels = scenery.levels();
    let depths = || levels.iter().map(|level| level.depth_m);
    let (least, most) = (
        depths().fold(f32::MAX, f32::min),
        depths().fold(f32::MIN, f32::max),
    );
    let (mut grounds, mut corners) = (Vec::new(), Vec::new());
    for level in levels {
        grounds.push(TerraceGround {
            first_corner: corners.len() as u32,
            corner_count: level.outline.len() as u32,
            height: (most - level.depth_m) / (most - least).max(1e-3),
        });
        corners.extend(level.outline.iter().map(|&corner| corner * level.scale));
    }
    (grounds, corners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Solid, Surface, SurfaceKind};
    use crate::render::SceneLook;
    use glam::Mat3;

    #[test]
    fn only_stones_that_reach_the_ground_have_a_contact() {
        let surface = Surface::default();
        let scenery = Scenery::new(&SceneLook::default(), &surface, [640, 480], 1.2);
        let ball = |y: f32| StaticShape {
            form: StaticForm::Stone,
            center_m: Vec3::new(0.5, y, -0.3),
            half_axes_m: Mat3::from_diagonal(Vec3::splat(0.5)),
        };
        // The center of a sphere with a radius of 0.5 m is 0.3 m above the ground, so it cuts the ground in a circle of 0.4 m.
        let [contact] = contacts(&[ball(-0.9)], &[], &scenery)[..] else {
            panic!("one contact")
        };
        assert_eq!(contact.center_m, Vec2::new(0.5, -0.3));
        assert!(
            (contact.half_m - 0.4 * STONE_FILL).length() < 1e-3,
            "{contact:?}"
        );
        assert_eq!(contacts(&[ball(-0.6)], &[], &scenery), []);
        let trunk = Solid::Capsule {
            from_m: Vec3::new(-0.5, -1.15, 0.0),
            to_m: Vec3::new(0.5, -1.15, 0.0),
            radius_m: 0.1,
        };
        let [contact] = contacts(
            &StaticShape::all_of(&trunk, SurfaceKind::Floor),
            &[],
            &scenery,
        )[..] else {
            panic!("one contact")
        };
        assert!(
            contact.half_m.x > 0.4 && contact.half_m.y < 0.1,
            "{contact:?}"
        );
    }
}
