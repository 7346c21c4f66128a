//! Generated vector grids: uniform current, vortex.
//!
//! **Source**: Karpowicz 2011, §3.3.3 (`FieldGenerator`). The vortex is a Rankine vortex with a smooth core.

use glam::{UVec2, Vec3};

use super::grid::VectorGrid;
use super::params::{UniformParams, VortexParams};
use super::radial::left_of;

/// Distance between the vectors of a uniform current. Outside its edge the current fades to zero within this distance.
pub(super) const UNIFORM_CELL_M: f32 = 0.25;
/// Distance between the vectors of a vortex: fine enough for a core of 0.2 m.
pub(super) const VORTEX_CELL_M: f32 = 0.125;

/// Returns the number of nodes along x and z of a grid with this size and with cells of at most `cell_m`. Returns `None`
/// if a number is out of range.
pub(super) fn dims(size_m: [f32; 2], cell_m: f32) -> Option<UVec2> {
    let nodes = |size: f32| {
        let cells = (size / cell_m).ceil();
        (0.0..1e6).contains(&cells).then(|| cells as u32 + 1)
    };
    let [x, z] = size_m;
    Some(UVec2::new(nodes(x)?.max(2), nodes(z)?.max(2)))
}

/// Returns a uniform current, or `None` if the parameters describe no grid.
pub(super) fn uniform(params: &UniformParams) -> Option<VectorGrid> {
    let direction = Vec3::from(params.direction).try_normalize()?;
    VectorGrid::filled(
        dims(params.size_m, UNIFORM_CELL_M)?,
        params.size_m.into(),
        |_| direction,
    )
}

/// Returns a vortex around the vertical axis. Its strength is 1 at its core radius and less at every other radius.
/// Returns `None` if the parameters describe no grid.
pub(super) fn vortex(params: &VortexParams) -> Option<VectorGrid> {
    let turn = if params.clockwise { -1.0 } else { 1.0 };
    VectorGrid::filled(
        dims(params.size_m, VORTEX_CELL_M)?,
        params.size_m.into(),
        |at| {
            let share = at.length() / params.core_m.max(1e-6);
            let away = at.normalize_or_zero();
            let strength = 2.0 * share / (1.0 + share * share);
            (left_of(away) * turn - away * params.inward) * strength
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_current_is_the_same_everywhere() {
        let grid = uniform(&UniformParams {
            direction: [3.0, 0.0, 4.0],
            ..UniformParams::default()
        });
        let grid = grid.unwrap();
        let expected = Vec3::new(0.6, 0.0, 0.8);
        for at in [Vec3::ZERO, Vec3::new(1.9, 5.0, -1.4)] {
            assert!(grid.vector_at(at).distance(expected) < 1e-6);
        }
    }

    #[test]
    fn a_vortex_rotates_and_is_strongest_at_its_core_radius() {
        let vortex = |clockwise| {
            let params = VortexParams {
                clockwise,
                ..VortexParams::default()
            };
            super::vortex(&params).unwrap()
        };
        let (left, right) = (vortex(false), vortex(true));
        assert!(left.vector_at(Vec3::X * 0.5).distance(Vec3::NEG_Z) < 1e-5);
        assert!(right.vector_at(Vec3::X * 0.5).distance(Vec3::Z) < 1e-5);
        assert!(left.vector_at(Vec3::X * 1.0).length() < 0.9);
        assert!(left.vector_at(Vec3::ZERO).length() < 1e-6);
    }

    #[test]
    fn a_size_out_of_range_gives_no_grid() {
        assert_eq!(dims([f32::MAX, 1.0], 0.01), None);
        assert_eq!(dims([f32::NAN, 1.0], 0.01), None);
        assert_eq!(dims([1.0, 0.2], 0.5), Some(UVec2::new(3, 2)));
    }
}
