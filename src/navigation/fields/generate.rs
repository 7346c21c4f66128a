//! Generated vector grids: uniform current, vortex, noise.
//!
//! **Source**: Karpowicz 2011, §2.4.4 (noise: small random vectors against local minima) and §3.3.3 (`FieldGenerator`).
//! The vortex is a Rankine vortex with a smooth core.

use glam::{UVec3, Vec3};

use super::grid::VectorGrid;
use super::params::{NoiseParams, UniformParams, VortexParams};
use super::radial::left_of;

/// Returns the number of nodes along each axis of a grid with this size and with cells of at most `cell_m`. A height of
/// 0 gives one layer. Returns `None` if a number is out of range.
pub(super) fn dims(size_m: [f32; 3], cell_m: f32) -> Option<UVec3> {
    let nodes = |size: f32| {
        let cells = (size / cell_m).ceil();
        (0.0..1e6).contains(&cells).then(|| cells as u32 + 1)
    };
    let [x, y, z] = size_m;
    Some(UVec3::new(
        nodes(x)?.max(2),
        if y > 0.0 { nodes(y)?.max(2) } else { 1 },
        nodes(z)?.max(2),
    ))
}

/// Returns a uniform current, or `None` if the parameters describe no grid.
pub(super) fn uniform(params: &UniformParams) -> Option<VectorGrid> {
    let direction = Vec3::from(params.direction).try_normalize()?;
    VectorGrid::filled(
        dims(params.size_m, params.cell_m)?,
        params.size_m.into(),
        |_| direction,
    )
}

/// Returns a vortex around the vertical axis. Its strength is 1 at its core radius and less at every other radius.
/// Returns `None` if the parameters describe no grid.
pub(super) fn vortex(params: &VortexParams) -> Option<VectorGrid> {
    let turn = if params.clockwise { -1.0 } else { 1.0 };
    VectorGrid::filled(
        dims(params.size_m, params.cell_m)?,
        params.size_m.into(),
        |at| {
            let level = at.with_y(0.0);
            let share = level.length() / params.core_m.max(1e-6);
            let away = level.normalize_or_zero();
            let strength = 2.0 * share / (1.0 + share * share);
            (left_of(away) * turn - away * params.inward) * strength
        },
    )
}

/// Returns random vectors of length up to 1, which are horizontal on a plane grid. Returns `None` if the parameters
/// describe no grid.
pub(super) fn noise(params: &NoiseParams) -> Option<VectorGrid> {
    let dims = dims(params.size_m, params.cell_m)?;
    let mut state = u64::from(params.seed);
    let mut draw = || {
        // Random number by SplitMix64 (Steele, Lea & Flood 2014), mapped to the range −1 to 1.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    };
    VectorGrid::filled(dims, params.size_m.into(), |_| {
        let (x, y, z) = (draw(), draw(), draw());
        let y = if dims.y == 1 { 0.0 } else { y };
        Vec3::new(x, y, z) / 3.0f32.sqrt()
    })
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
    fn noise_is_small_horizontal_and_reproducible() {
        let noise = |seed| {
            let params = NoiseParams {
                seed,
                ..NoiseParams::default()
            };
            super::noise(&params).unwrap()
        };
        assert_eq!(noise(1), noise(1));
        assert_ne!(noise(1), noise(2));
        let grid = noise(3);
        let mut sum = Vec3::ZERO;
        for step in 0..500 {
            let t = step as f32;
            let force =
                grid.vector_at(Vec3::new((t * 0.7).sin() * 2.0, 0.0, (t * 0.3).cos() * 1.5));
            assert!(force.length() <= 1.0 && force.y == 0.0);
            sum += force;
        }
        assert!((sum / 500.0).length() < 0.2, "{sum}");
    }

    #[test]
    fn a_size_out_of_range_gives_no_grid() {
        assert_eq!(dims([f32::MAX, 0.0, 1.0], 0.01), None);
        assert_eq!(dims([f32::NAN, 0.0, 1.0], 0.01), None);
        assert_eq!(dims([1.0, 0.0, 0.2], 0.5), Some(UVec3::new(3, 1, 2)));
    }
}
