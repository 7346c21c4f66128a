//! The CPU's share of the water in the quality `high`: the size of the height field, the waves of the swell, the calm places,
//! and what visitors, fish and splashes do to the water. The GPU computes the rest (`gpu/fine_water.rs`).
//!
//! In: scenery, static shapes, pressure of shadows, agents, a time. Out: plain data for the GPU. A picture allocates no memory.

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec2, Vec3};

use super::noise::{smoothstep, unit_hash};
use super::static_shape::{StaticForm, StaticShape};
use super::water::{WaterGrid, drifting_secs};
use crate::world::AgentPose;

/// Number of waves in the swell; same number as in `shaders/water.wgsl`.
pub(super) const SWELL_WAVES: usize = 40;
/// Smallest number of cells along a side of the field.
const LEAST_CELLS: u32 = 64;
/// Largest number of cells along a side of the field. A row of cells must fit into the memory of a workgroup.
const MOST_CELLS: u32 = 1024;
/// Pixels of the picture per cell of the field. Finer waves are not visible.
const PIXELS_PER_CELL: f32 = 6.0;
/// Texels of sunlight per cell of the field.
const TEXELS_PER_CELL: u32 = 2;
/// Longest time step. If a picture takes longer, the water becomes slower.
const MOST_STEP_SECS: f32 = 0.1;

/// Height by which an arriving shadow pushes the water up. Tuned by eye.
const PUSH_M: f32 = 0.017;
/// Decay rate of waves inside of a stone, per second. It is so high that a stone reflects waves.
const STONE_CALM_PER_S: f32 = 400.0;
/// Decay rate of waves under a lily leaf, per second.
const LEAF_CALM_PER_S: f32 = 4.0;
/// Decay rate of waves at the edge of the field, per second. So the edge reflects no wave.
const EDGE_CALM_PER_S: f32 = 14.0;
/// Width of the edge, as a share of the field.
const EDGE_SHARE: f32 = 0.05;

/// Ratio of a swell wave's speed to its natural speed. The natural speed makes restless light. Tuned by eye.
const SWELL_SPEED: f32 = 0.5;
/// Length of the longest wave of the swell. Tuned by eye.
const LONGEST_M: f32 = 1.6;
/// Length of the shortest wave of the swell. Tuned by eye.
const SHORTEST_M: f32 = 0.07;
/// Slope of each wave of a swell of strength 1. Tuned by eye.
const SWELL_SLOPE: f32 = 0.0150;
/// Standard deviation of the directions of the swell around the direction of the wind, in radians. Tuned by eye: it makes the
/// cells of light about twice as long as wide.
const SPREAD_RAD: f32 = 0.55;
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
pub(super) struct FieldUniforms {
    pub(super) half_m: Vec2,
    pub(super) region: [u32; 2],
    pub(super) cells: u32,
    pub(super) log2_cells: u32,
    pub(super) cell_m: f32,
    pub(super) step_secs: f32,
    pub(super) time_secs: f32,
    pub(super) focus_m: f32,
    pub(super) mesh_step: u32,
    pub(super) spread_texels: f32,
    pub(super) target_px: Vec2,
    pub(super) padding_2: Vec2,
    pub(super) swell: [[f32; 4]; SWELL_WAVES],
}

/// Size of the square field, and of its visible region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FieldSize {
    /// Cells along each side, a power of two.
    pub(super) cells: u32,
    /// Side of a cell.
    pub(super) cell_m: f32,
    /// Cells of the visible region along x and z.
    pub(super) region: [u32; 2],
    /// Half extent of the visible region: that of the water grid.
    pub(super) half_m: Vec2,
}

impl FieldSize {
    /// Chooses a size for the extents of `grid` in a picture with `pixels_per_m`.
    pub(super) fn new(grid: &WaterGrid, pixels_per_m: f32) -> Self {
        let longest_m = 2.0 * grid.half_m.max_element();
        let wanted = (longest_m * pixels_per_m / PIXELS_PER_CELL) as u32;
        let cells = wanted.next_power_of_two().clamp(LEAST_CELLS, MOST_CELLS);
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
    pub(super) fn sunlight_px(&self) -> [u32; 2] {
        self.region.map(|side| side * TEXELS_PER_CELL)
    }

    /// Number of cells of the square field.
    pub(super) fn count(&self) -> usize {
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
pub(super) fn calm_places(size: &FieldSize, shapes: &[StaticShape]) -> Vec<f32> {
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
            StaticForm::Flower | StaticForm::Waterfall | StaticForm::Foam => continue,
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

/// What moves the water in one picture: the heights by which visitors, splashes and fish raise it.
#[derive(Debug)]
pub(super) struct Pushes {
    grid: WaterGrid,
    /// Length of each species.
    lengths_m: Vec<f32>,
    /// Pressure of the last picture.
    pressed: Vec<f32>,
    /// Height by which each cell is raised, in meters, in rows along x.
    pub(super) raised_m: Vec<f32>,
}

impl Pushes {
    pub(super) fn new(grid: WaterGrid, lengths_m: Vec<f32>) -> Self {
        Self {
            grid,
            lengths_m,
            pressed: vec![0.0; grid.cells()],
            raised_m: vec![0.0; grid.cells()],
        }
    }

    /// Continues from the pressure of other water, so that its shadows do not arrive again.
    pub(super) fn continue_from(&mut self, old: &Self) {
        if self.grid == old.grid {
            self.pressed.clone_from(&old.pressed);
        }
    }

    /// Computes the pushes of a picture. An arriving shadow pushes the water up and a leaving one draws it down, so a walking
    /// visitor makes a wake like the hull of a ship. `stir` scales these pushes.
    pub(super) fn update(
        &mut self,
        pressure: &[f32],
        stir: f32,
        agents: &[AgentPose],
        step_secs: f32,
    ) {
        let cells = self.raised_m.iter_mut().zip(&mut self.pressed);
        for ((raised, before), now) in cells.zip(pressure) {
            *raised = (now - *before) * PUSH_M * stir;
            *before = *now;
        }
        for agent in agents {
            self.push_by(agent, step_secs);
        }
    }

    /// Adds the push of a fish near the surface: it raises the water ahead of its middle and lowers it behind, like the hull of a
    /// ship. A deeper fish moves the surface less; only waves that are longer than its depth reach the surface.
    fn push_by(&mut self, agent: &AgentPose, step_secs: f32) {
        let Some(&length_m) = self.lengths_m.get(usize::from(agent.species)) else {
            return;
        };
        let depth_m = (-agent.position_m.y).max(0.0);
        let near = (-depth_m / (DEPTH_SHARE * length_m)).exp();
        let ahead = Vec2::new(agent.forward.x, agent.forward.z).normalize_or(Vec2::X);
        let speed_mps = Vec2::new(agent.velocity_mps.x, agent.velocity_mps.z).dot(ahead);
        let (long_m, wide_m) = (0.24 * length_m, 0.11 * length_m);
        let strength = HULL_SHARE * length_m * near * speed_mps * step_secs / long_m;
        // Written so that a value that is not finite ends here too.
        if !(strength.abs() > LEAST_PUSH_M && agent.position_m.is_finite()) {
            return;
        }
        let WaterGrid { cell_m, half_m, .. } = self.grid;
        let at = Vec2::new(agent.position_m.x, agent.position_m.z);
        let columns = self.grid.size[0] as usize;
        let range = |middle_m: f32, half_m: f32, count: u32| {
            let cell = |m: f32| ((m + half_m) / cell_m).clamp(0.0, count as f32) as usize;
            cell(middle_m - 3.5 * long_m)..cell(middle_m + 3.5 * long_m)
        };
        for row in range(at.y, half_m.y, self.grid.size[1]) {
            for column in range(at.x, half_m.x, self.grid.size[0]) {
                let place = (Vec2::new(column as f32, row as f32) + 0.5) * cell_m - half_m;
                let along = (place - at).dot(ahead) / long_m;
                let aside = (place - at).perp_dot(ahead) / wide_m;
                let height = strength * along * (-0.5 * (along * along + aside * aside)).exp();
                if let Some(raised) = self.raised_m.get_mut(row * columns + column) {
                    *raised += height;
                }
            }
        }
    }
}

/// Depth at which a fish moves the surface 1/e times as much, as a share of its length.
const DEPTH_SHARE: f32 = 0.45;
/// Height of the water that a fish displaces, as a share of its length. Tuned by eye.
const HULL_SHARE: f32 = 0.03;
/// Smallest push of a fish that is computed, in meters per picture.
const LEAST_PUSH_M: f32 = 2e-6;

/// Returns the time by which the field advances for a picture that is `since_secs` after the last one.
pub(super) fn step_secs(since_secs: f32) -> f32 {
    since_secs.clamp(0.0, MOST_STEP_SECS)
}

/// Waves of the swell: constant except for their phases.
#[derive(Clone, Copy, Debug)]
struct SwellWave {
    number: Vec2,
    rate_rps: f64,
    phase_rad: f64,
    height_m: f32,
}

/// The swell: wind waves of all lengths that run mainly downwind.
#[derive(Clone, Debug)]
pub(super) struct Swell {
    waves: [SwellWave; SWELL_WAVES],
}

impl Swell {
    /// Creates a swell of a strength; 1 is normal.
    pub(super) fn new(strength: f32) -> Self {
        let wave = |i: usize| {
            let n = i as u32;
            let share = (i as f32 + 0.5) / SWELL_WAVES as f32;
            // Lengths are spread evenly over the octaves, with some irregularity, so that the light does not repeat.
            let length_m = LONGEST_M
                * (SHORTEST_M / LONGEST_M)
                    .powf(share + 0.6 * (unit_hash(n, 202) - 0.5) / SWELL_WAVES as f32);
            // The sum of three random numbers is nearly normal, with a standard deviation of 0.5.
            let normal = unit_hash(n, 203) + unit_hash(n, 204) + unit_hash(n, 205) - 1.5;
            // Short waves run in all directions.
            let heading = WIND_RAD + 2.0 * normal * SPREAD_RAD * (0.7 + 0.9 * share);
            let k = std::f32::consts::TAU / length_m;
            let natural = (9.81 * k + 7.3e-5 * k * k * k).sqrt();
            // Long waves bend the view, short ones sharpen the light; the slope of medium waves is the largest.
            let slope = strength * SWELL_SLOPE * slope_of(length_m);
            SwellWave {
                number: Vec2::from_angle(heading) * k,
                rate_rps: f64::from(SWELL_SPEED * natural),
                phase_rad: f64::from(unit_hash(n, 206)) * std::f64::consts::TAU,
                height_m: slope / k,
            }
        };
        Self {
            waves: std::array::from_fn(wave),
        }
    }

    /// Writes the waves at a time. Phases are computed with 64 bits and wrapped, so they stay exact over months.
    pub(super) fn write(&self, time_secs: f64, out: &mut [[f32; 4]; SWELL_WAVES]) {
        for (wave, out) in self.waves.iter().zip(out) {
            let phase =
                (wave.phase_rad - wave.rate_rps * time_secs).rem_euclid(std::f64::consts::TAU);
            *out = [wave.number.x, wave.number.y, phase as f32, wave.height_m];
        }
    }
}

/// Direction of the wind on the water. Tuned by eye: the cells of light are oblique in the picture.
const WIND_RAD: f32 = 1.15;

/// Returns the relative slope of the swell's waves of a length.
fn slope_of(length_m: f32) -> f32 {
    let octaves = (length_m / 0.42).log2();
    (-0.5 * (octaves / 1.3).powi(2)).exp() + 0.18
}

impl FieldUniforms {
    /// Returns the values that do not change; the ground is at `depth_m`.
    pub(super) fn new(size: &FieldSize, depth_m: f32) -> Self {
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
    pub(super) fn set_time(&mut self, time_secs: f64, step_secs: f32, swell: &Swell) {
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
                let size = FieldSize::new(&grid, picture_px / width_m);
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

    /// The phases are wrapped with 64 bits, so the swell moves the same way after months.
    #[test]
    fn the_swell_is_smooth_after_months() {
        let swell = Swell::new(1.0);
        let moved = |from_secs: f64| {
            let mut waves = [[[0.0; 4]; SWELL_WAVES]; 2];
            swell.write(from_secs, &mut waves[0]);
            swell.write(from_secs + 1.0 / 60.0, &mut waves[1]);
            let turn =
                |i: usize| (waves[0][i][2] - waves[1][i][2]).rem_euclid(std::f32::consts::TAU);
            std::array::from_fn::<f32, SWELL_WAVES, _>(turn)
        };
        let (new, old) = (moved(10.0), moved(180.0 * 86_400.0));
        for (new, old) in new.iter().zip(&old) {
            assert!((new - old).abs() < 1e-4, "{new} and {old} rad");
        }
    }

    #[test]
    fn a_shadow_pushes_only_while_it_arrives_or_leaves() {
        let mut pushes = Pushes::new(grid(), Vec::new());
        let mut pressure = vec![0.0; grid().cells()];
        pressure[40] = 1.0;
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], PUSH_M);
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], 0.0);
        pressure[40] = 0.0;
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], -PUSH_M);
    }

    fn fish(depth_m: f32, speed_mps: f32) -> AgentPose {
        AgentPose {
            id: 1,
            species: 0,
            position_m: Vec3::new(0.0, -depth_m, 0.0),
            forward: Vec3::X,
            up: Vec3::Y,
            velocity_mps: Vec3::X * speed_mps,
            turn_rate_rps: 0.0,
            acceleration_mps2: 0.0,
            boost: 0.0,
            radius_m: 0.1,
            teleported: false,
            swallowed: 0.0,
        }
    }

    #[test]
    fn a_fish_raises_the_water_ahead_and_adds_no_water() {
        let highest = |depth_m, speed_mps| {
            let mut pushes = Pushes::new(grid(), vec![0.6]);
            let calm = vec![0.0; grid().cells()];
            pushes.update(&calm, 1.0, &[fish(depth_m, speed_mps)], 0.016);
            let sum: f32 = pushes.raised_m.iter().sum();
            let moved: f32 = pushes.raised_m.iter().map(|h| h.abs()).sum();
            let most = pushes.raised_m.iter().copied().fold(0.0, f32::max);
            assert!(sum.abs() <= 0.01 * moved, "sum {sum} of {moved}");
            let at = pushes.raised_m.iter().position(|&h| h == most);
            let column = at.unwrap_or_default() % grid().size[0] as usize;
            assert!(most == 0.0 || column > grid().size[0] as usize / 2);
            most
        };
        let near = highest(0.12, 0.5);
        assert!(near > 0.0 && highest(0.5, 0.5) < 0.4 * near && highest(0.12, 0.0) == 0.0);
        assert_eq!(highest(f32::NAN, 0.5), 0.0);
    }

    #[test]
    fn a_picture_allocates_nothing() {
        let mut pushes = Pushes::new(grid(), vec![0.6]);
        let pressure = vec![0.5; grid().cells()];
        let swell = Swell::new(1.0);
        let mut uniforms = FieldUniforms::new(&FieldSize::new(&grid(), 120.0), 0.9);
        let allocated = allocation_counter::measure(|| {
            pushes.update(&pressure, 1.0, &[fish(0.12, 0.5)], 0.016);
            uniforms.set_time(3.0, 0.016, &swell);
        });
        assert_eq!(allocated.count_total, 0, "number of allocations");
    }

    #[test]
    fn waves_decay_inside_of_a_stone_that_breaks_the_surface() {
        let size = FieldSize::new(&grid(), 120.0);
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
