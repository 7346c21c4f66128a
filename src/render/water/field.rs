//! The height field of the water: its size, its calm places, and its values of one picture. The GPU computes the field itself
//! (`gpu/water/field.rs`).
//!
//! In: the grid of the visible water, static shapes, a time. Out: plain data for the GPU.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec2, Vec3};

use super::pressure::WaterGrid;
use super::swell::{SWELL_WAVES, Swell};
use crate::render::detail::Detail;
use crate::render::drift::drifting_secs;
use crate::render::noise::smoothstep;
use crate::render::static_shape::{StaticForm, StaticShape};

/// Smallest number of cells along a side of the field.
const LEAST_CELLS: u32 = 64;
/// Largest number of cells along a side of the field. A row of cells must fit into the memory of a workgroup.
const MOST_CELLS: u32 = 1024;
/// Texels of sunlight per cell of the field.
const TEXELS_PER_CELL: u32 = 2;
/// Longest time step. If a picture takes longer, the water becomes slower.
const MOST_STEP_SECS: f32 = 0.1;

/// Decay rate of waves inside of a stone, per second. It is so high that a stone reflects waves.
const STONE_CALM_PER_S: f32 = 400.0;
/// Decay rate of waves under a lily leaf, per second.
const LEAF_CALM_PER_S: f32 = 4.0;
/// Decay rate of waves at the edge of the field, per second. So the edge reflects no wave.
const EDGE_CALM_PER_S: f32 = 14.0;
/// Width of the edge, as a share of the field.
const EDGE_SHARE: f32 = 0.05;

/// Share of the depth by which a slope of 1 moves a ray of sunlight. Refraction alone gives 0.25; the swell is lower than
/// natural waves, so that the view stays calm, and the larger value restores the contrast of the light. Tuned by eye.
const FOCUS_SHARE: f32 = 0.85;
/// Standard deviation of the directions of the sun's rays in water, in radians. The disc of the sun alone gives 0.002, the
/// capillary waves that the swell leaves out and the scattering of clear water give the rest. So the lines of light are softer
/// the deeper the ground is, and equally soft at every resolution. Tuned on the contrast of a bed with and without caustics.
const RAY_SPREAD_RAD: f32 = 0.007;
/// Smallest blur of the sunlight, in texels. It hides the texels.
const LEAST_SPREAD_TEXELS: f32 = 0.6;
/// Largest blur of the sunlight, in texels; the blur of `shaders/caustics.wgsl` reads twice as many to each side.
const MOST_SPREAD_TEXELS: f32 = 5.0;

/// Values of one picture; same layout as `FieldUniforms` in `shaders/water.wgsl`, which documents the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(in crate::render) struct FieldUniforms {
    pub(in crate::render) half_m: Vec2,
    pub(in crate::render) region: [u32; 2],
    pub(in crate::render) cells: u32,
    pub(in crate::render) log2_cells: u32,
    pub(in crate::render) cell_m: f32,
    pub(in crate::render) step_secs: f32,
    pub(in crate::render) time_secs: f32,
    pub(in crate::render) focus_m: f32,
    pub(in crate::render) mesh_step: u32,
    pub(in crate::render) spread_texels: f32,
    pub(in crate::render) target_px: Vec2,
    pub(in crate::render) padding_2: Vec2,
    pub(in crate::render) swell: [[f32; 4]; SWELL_WAVES],
}

/// Size of the square field, and of its visible region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::render) struct FieldSize {
    /// Cells along each side, a power of two.
    pub(in crate::render) cells: u32,
    /// Side of a cell.
    pub(in crate::render) cell_m: f32,
    /// Cells of the visible region along x and z.
    pub(in crate::render) region: [u32; 2],
    /// Half extent of the visible region: that of the water grid.
    pub(in crate::render) half_m: Vec2,
}

impl FieldSize {
    /// Chooses a size for the extents of `grid` in a picture with `pixels_per_m`.
    pub(in crate::render) fn new(grid: &WaterGrid, pixels_per_m: f32, detail: Detail) -> Self {
        let longest_m = 2.0 * grid.half_m.max_element();
        let wanted = (longest_m * pixels_per_m / detail.pixels_per_cell) as u32;
        let most = detail.most_cells.min(MOST_CELLS);
        let cells = wanted.next_power_of_two().clamp(LEAST_CELLS, most);
        let cell_m = longest_m / cells as f32;
        let side = |half_m: f32| ((half_m / cell_m).round() as u32 * 2).clamp(16, cells);
        Self {
            cells,
            cell_m,
            region: [side(grid.half_m.x), side(grid.half_m.y)],
            half_m: grid.half_m,
        }
    }

    /// Size of the texture of sunlight.
    pub(in crate::render) fn sunlight_px(&self) -> [u32; 2] {
        self.region.map(|side| side * TEXELS_PER_CELL)
    }

    /// Number of cells of the square field.
    pub(in crate::render) fn count(&self) -> usize {
        (self.cells * self.cells) as usize
    }

    /// Center of a cell, in floor meters.
    fn center(&self, index: usize) -> Vec2 {
        let cells = self.cells as usize;
        let at = Vec2::new((index % cells) as f32, (index / cells) as f32);
        (at + 0.5 - 0.5 * self.cells as f32) * self.cell_m
    }
}

/// Returns the decay rate of waves in every cell, per second. Waves decay toward the edge of the field and inside of everything
/// that breaks the surface.
pub(in crate::render) fn calm_places(size: &FieldSize, shapes: &[StaticShape]) -> Vec<f32> {
    let half_m = 0.5 * size.cells as f32 * size.cell_m;
    let edge_m = EDGE_SHARE * half_m * 2.0;
    let mut calm: Vec<f32> = (0..size.count())
        .map(|index| {
            // Beyond the visible region there is only edge.
            let inside = (size.half_m - size.center(index).abs()).min_element();
            let near = (1.0 - inside / edge_m).clamp(0.0, 1.0);
            EDGE_CALM_PER_S * near * near
        })
        .collect();
    for shape in shapes {
        let rate = match shape.form {
            StaticForm::Stone | StaticForm::Log => STONE_CALM_PER_S,
            StaticForm::Leaf => LEAF_CALM_PER_S,
            StaticForm::Flower => continue,
        };
        calm_inside(size, shape, rate, &mut calm);
    }
    calm
}

/// Raises the decay rate where the surface of the water cuts the ellipsoid of a shape.
fn calm_inside(size: &FieldSize, shape: &StaticShape, rate: f32, calm: &mut [f32]) {
    let axes = shape.half_axes_m;
    let squared: Mat3 = axes * axes.transpose();
    if squared.determinant().abs() < 1e-12 {
        return;
    }
    let to_unit = squared.inverse();
    let at = Vec2::new(shape.center_m.x, shape.center_m.z);
    let reach_m = shape.reach_m();
    let cell = |from_m: f32| {
        ((from_m / size.cell_m + 0.5 * size.cells as f32).floor()).clamp(0.0, size.cells as f32)
            as usize
    };
    let rows = cell(at.y - reach_m)..cell(at.y + reach_m + size.cell_m);
    let columns = cell(at.x - reach_m)..cell(at.x + reach_m + size.cell_m);
    for row in rows {
        for column in columns.clone() {
            let index = row * size.cells as usize + column;
            let place = size.center(index);
            let offset = Vec3::new(place.x, 0.0, place.y) - shape.center_m;
            let out = offset.dot(to_unit * offset).max(0.0).sqrt();
            if let Some(calm) = calm.get_mut(index) {
                *calm = calm.max(rate * smoothstep(1.05, 0.85, out));
            }
        }
    }
}

/// Returns the time by which the field advances for a picture that is `since_secs` after the last one.
pub(in crate::render) fn step_secs(since_secs: f32) -> f32 {
    since_secs.clamp(0.0, MOST_STEP_SECS)
}

impl FieldUniforms {
    /// Returns the values that do not change; the ground is at `depth_m`.
    pub(in crate::render) fn new(size: &FieldSize, depth_m: f32) -> Self {
        let texel_m = size.cell_m / TEXELS_PER_CELL as f32;
        let spread_texels = (depth_m * RAY_SPREAD_RAD / texel_m).hypot(LEAST_SPREAD_TEXELS);
        Self {
            half_m: size.half_m,
            spread_texels: spread_texels.min(MOST_SPREAD_TEXELS),
            region: size.region,
            cells: size.cells,
            log2_cells: size.cells.ilog2(),
            cell_m: size.cell_m,
            focus_m: FOCUS_SHARE * depth_m.min(1.5),
            mesh_step: 1,
            target_px: Vec2::from(size.sunlight_px().map(|side| side as f32)),
            ..Self::zeroed()
        }
    }

    /// Sets the values of a picture.
    pub(in crate::render) fn set_time(&mut self, time_secs: f64, step_secs: f32, swell: &Swell) {
        self.time_secs = drifting_secs(time_secs);
        self.step_secs = step_secs;
        swell.write(time_secs, &mut self.swell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;

    fn grid() -> WaterGrid {
        WaterGrid::new(&Surface::default(), 0.9, Vec2::ZERO)
    }

    #[test]
    fn the_field_covers_the_visible_region_in_every_proportion() {
        for (width_m, height_m) in [(4.0, 3.0), (16.0, 3.0), (2.0, 6.0), (0.5, 0.5)] {
            let surface = Surface {
                width_m,
                height_m,
                ..Surface::default()
            };
            let grid = WaterGrid::new(&surface, 0.9, Vec2::new(0.2, 0.1));
            for picture_px in [32.0, 480.0, 1920.0, 3840.0, 16384.0] {
                let size = FieldSize::new(&grid, picture_px / width_m, Detail::HIGH);
                assert!(size.cells.is_power_of_two() && (64..=1024).contains(&size.cells));
                let covered = Vec2::from(size.region.map(|side| side as f32)) * size.cell_m;
                let apart = (covered - 2.0 * grid.half_m).abs().max_element();
                assert!(
                    apart <= 16.0 * size.cell_m && size.region.iter().all(|&s| s <= size.cells),
                    "{width_m} x {height_m} m, {picture_px} px: {size:?}"
                );
            }
        }
    }

    #[test]
    fn waves_decay_inside_of_a_stone_that_breaks_the_surface() {
        let size = FieldSize::new(&grid(), 120.0, Detail::HIGH);
        let stone = |y: f32| StaticShape {
            form: StaticForm::Stone,
            center_m: Vec3::new(0.0, y, 0.0),
            half_axes_m: Mat3::from_diagonal(Vec3::new(0.3, 0.2, 0.3)),
        };
        let middle = size.count() / 2 + size.cells as usize / 2;
        let calm = |shapes: &[StaticShape]| calm_places(&size, shapes)[middle];
        assert_eq!(calm(&[stone(-0.05)]), STONE_CALM_PER_S);
        assert_eq!((calm(&[stone(-0.5)]), calm(&[])), (0.0, 0.0));
    }
}
