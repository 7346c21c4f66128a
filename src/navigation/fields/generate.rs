//! Generated vector grids: uniform current, vortex.
//!
//! **Source**: Karpowicz 2011, §3.3.3 (`FieldGenerator`). The vortex is a Rankine vortex with a smooth core.

use glam::Vec3;

use super::grid::{UNIFORM_CELL_M, VORTEX_CELL_M, VectorGrid, dims};
use super::params::{UniformParams, VortexParams};
use super::radial::left_of;

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
}
