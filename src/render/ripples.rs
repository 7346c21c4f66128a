//! The height field: rings and wakes on the water, computed with the wave equation on a grid.
//!
//! In: the pressure of shadows on the water. Out: height and pressure of every cell. The CPU computes it: with slopes and
//! caustics this takes about 1 ms of one core, a sixth of the time that shaders take on a machine without a graphics card.

use std::sync::LazyLock;

use pulp::Arch;

use super::water::{GRID_COLUMNS, STEP_SECS, WaterGrid};

/// The widest vector instructions that this machine supports. The results do not depend on them.
pub(super) static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Cells per row.
pub(super) const CELLS: usize = GRID_COLUMNS as usize;
/// Number of cells per row, with one additional cell beyond each end.
pub(super) const PADDED: usize = CELLS + 2;

/// One row of cells.
pub(super) type Row = [f32; CELLS];
/// One row of cells, with one additional cell beyond each end.
pub(super) type PaddedRow = [f32; PADDED];

/// Speed of the waves. Tuned by eye.
const SPEED_MPS: f32 = 0.72;
/// Damping rate of the vertical velocity. Tuned by eye.
const DAMPING_PER_S: f32 = 1.15;
/// Damping rate of the height. Tuned by eye.
const SINKING_PER_S: f32 = 0.35;
/// Additional damping rate of the vertical velocity inside a shadow. Tuned by eye.
const STANDING_PER_S: f32 = 1.6;
/// Height by which an arriving shadow pushes the water up. Tuned by eye.
const PUSH_M: f32 = 0.011;
/// Largest height of the water above and below its level at rest. It keeps the simulation bounded.
const MOST_M: f32 = 0.08;
/// Width, in cells, of the border in which waves are damped, so that the edge of the field reflects no wave.
const RIM_CELLS: f32 = 14.0;

/// Heights of the water and their vertical velocities.
#[derive(Clone, Debug)]
pub struct Ripples {
    /// Heights in meters, with one additional row and column beyond each edge.
    heights: Vec<PaddedRow>,
    /// Pressure of shadows, 0..1, with one additional row and column beyond each edge.
    pressure: Vec<PaddedRow>,
    /// Vertical velocities in m/s.
    velocities: Vec<Row>,
    /// Share of its velocity that each cell keeps in a step.
    keeps: Vec<Row>,
    /// Square of the Courant number, divided by the time step.
    gain: f32,
}

impl Ripples {
    /// Creates flat water at rest.
    pub fn new(grid: WaterGrid) -> Self {
        let rows = grid.size[1] as usize;
        let to_end = |i: usize, count: usize| i.min(count - 1 - i) as f32 / RIM_CELLS;
        let keep = |x, z| {
            let calm = 1.0 - to_end(x, CELLS).min(to_end(z, rows)).min(1.0);
            (-(DAMPING_PER_S + 9.0 * calm * calm) * STEP_SECS as f32).exp()
        };
        // The explicit scheme is stable for a Courant number below 1/√2.
        let courant = (SPEED_MPS * STEP_SECS as f32 / grid.cell_m).min(0.6);
        Self {
            heights: vec![[0.0; PADDED]; rows + 2],
            pressure: vec![[0.0; PADDED]; rows + 2],
            velocities: vec![[0.0; CELLS]; rows],
            keeps: (0..rows)
                .map(|z| std::array::from_fn(|x| keep(x, z)))
                .collect(),
            gain: courant * courant / STEP_SECS as f32,
        }
    }

    /// Continues from other water: every point of the surface gets its height and velocity, also on another grid.
    pub(super) fn continue_from(&mut self, old: &Self, from: WaterGrid, to: WaterGrid) {
        if from == to {
            self.heights.clone_from(&old.heights);
            self.velocities.clone_from(&old.velocities);
            self.pressure.clone_from(&old.pressure);
            return;
        }
        let place = |index: usize, from_half: f32, to_half: f32| {
            let at_m = (index as f32 + 0.5) * to.cell_m - to_half;
            let cell = (at_m + from_half) / from.cell_m - 0.5;
            (cell.round() >= 0.0).then_some(cell.round() as usize)
        };
        for (z, velocities) in self.velocities.iter_mut().enumerate() {
            let Some(old_z) = place(z, from.half_m.y, to.half_m.y) else {
                continue;
            };
            let rows = (old.velocities.get(old_z), old.heights.get(old_z + 1));
            let ((Some(old_velocities), Some(old_heights)), Some(heights)) =
                (rows, self.heights.get_mut(z + 1))
            else {
                continue;
            };
            for (x, velocity) in velocities.iter_mut().enumerate() {
                let old_x = place(x, from.half_m.x, to.half_m.x).filter(|x| *x < CELLS);
                let Some(old_x) = old_x else { continue };
                *velocity = old_velocities[old_x];
                heights[x + 1] = old_heights[old_x + 1];
            }
        }
        self.extend();
    }

    /// Runs `steps` steps of `STEP_SECS`. During these steps the pressure changes linearly to `pressed` (0..1, rows of cells).
    /// `stir` scales the push of arriving shadows.
    pub fn advance(&mut self, steps: u32, pressed: &[f32], stir: f32) {
        let (pressed, _) = pressed.as_chunks::<CELLS>();
        for _ in 0..steps {
            ARCH.dispatch(|| {
                self.accelerate(pressed, 1.0 / steps as f32);
                self.rise(pressed, 1.0 / steps as f32, stir * PUSH_M);
                self.extend();
            });
        }
    }

    /// Heights in meters, with one additional row and column beyond each edge that repeat the cells at the edge.
    pub(super) fn heights(&self) -> &[PaddedRow] {
        &self.heights
    }

    /// Pressure of shadows, 0..1, with one additional row and column of zeros beyond each edge.
    pub(super) fn pressure(&self) -> &[PaddedRow] {
        &self.pressure
    }

    /// Updates the velocities: h'' = c² ∇²h − damping, explicit in time. The nine-point Laplacian keeps rings round.
    #[inline(always)]
    fn accelerate(&mut self, pressed: &[Row], share: f32) {
        let rows = self.velocities.iter_mut().zip(&self.keeps);
        let around = self.heights.windows(3).zip(self.pressure.iter().skip(1));
        for (((velocities, keeps), (heights, pressure)), pressed) in rows.zip(around).zip(pressed) {
            let [above, here, below] = heights else {
                continue;
            };
            for x in 0..CELLS {
                let sides = here[x] + here[x + 2] + above[x + 1] + below[x + 1];
                let corners = above[x] + above[x + 2] + below[x] + below[x + 2];
                let laplacian = (4.0 * sides + corners - 20.0 * here[x + 1]) * (1.0 / 6.0);
                let before = pressure[x + 1];
                let calmed =
                    (before + (pressed[x] - before) * share) * (STANDING_PER_S * STEP_SECS as f32);
                // Second-order approximation of exp(-calmed).
                let keep = keeps[x] * (1.0 - calmed + 0.5 * calmed * calmed);
                velocities[x] = ((velocities[x] + self.gain * laplacian) * keep).clamp(-2.0, 2.0);
            }
        }
    }

    /// Updates heights and pressure. A shadow that arrives pushes the water up; a shadow that leaves draws the water down.
    #[inline(always)]
    fn rise(&mut self, pressed: &[Row], share: f32, push: f32) {
        let stays = 1.0 - SINKING_PER_S * STEP_SECS as f32;
        let rows = self.heights.iter_mut().skip(1).zip(&self.velocities);
        let pressure = self.pressure.iter_mut().skip(1);
        for (((heights, velocities), pressure), pressed) in rows.zip(pressure).zip(pressed) {
            for x in 0..CELLS {
                let before = pressure[x + 1];
                let arrived = (pressed[x] - before) * share;
                pressure[x + 1] = before + arrived;
                let height = heights[x + 1] + velocities[x] * STEP_SECS as f32 + push * arrived;
                heights[x + 1] = (height * stays).clamp(-MOST_M, MOST_M);
            }
        }
    }

    /// Copies the edge cells to the row and column beyond them.
    fn extend(&mut self) {
        for row in &mut self.heights {
            row[0] = row[1];
            row[PADDED - 1] = row[PADDED - 2];
        }
        if let [first, second, .., before_last, last] = &mut self.heights[..] {
            *first = *second;
            *last = *before_last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;
    use glam::Vec2;

    fn grid() -> WaterGrid {
        WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO)
    }

    /// Returns the grid, and the heights after a disc with a diameter of 0.2 m has arrived. The index of a height is its
    /// distance from the disc's center, in cells; the three values are for the directions along x, along z and diagonal.
    fn rings(after_secs: f32) -> (WaterGrid, Vec<[f32; 3]>) {
        let grid = grid();
        let [columns, rows] = grid.size.map(|side| side as usize);
        let middle = [columns / 2, rows / 2];
        let round = |i: usize| {
            let [x, z] = [i % columns, i / columns];
            let far = Vec2::new(x as f32 - middle[0] as f32, z as f32 - middle[1] as f32);
            f32::from(far.length() * grid.cell_m < 0.1)
        };
        let pressed: Vec<f32> = (0..grid.cells()).map(round).collect();
        let mut ripples = Ripples::new(grid);
        for _ in 0..(after_secs / STEP_SECS as f32) as usize {
            ripples.advance(1, &pressed, 1.0);
        }
        let height = |x: usize, z: usize| ripples.heights()[z + 1][x + 1];
        let slant = |i: usize| (i as f32 * 0.5f32.sqrt()).round() as usize;
        let at = |i: usize| {
            let diagonal = height(middle[0] + slant(i), middle[1] + slant(i));
            [
                height(middle[0] + i, middle[1]),
                height(middle[0], middle[1] + i),
                diagonal,
            ]
        };
        (grid, (0..rows / 2 - 1).map(at).collect())
    }

    #[test]
    fn rings_stay_where_they_are_on_another_grid() {
        use crate::geometry::Surface;
        let grid = |depth_m| WaterGrid::new(&Surface::default(), depth_m, glam::Vec2::ZERO);
        let (from, to) = (grid(1.0), grid(1.4));
        assert_ne!(from, to);
        let mut old = Ripples::new(from);
        let mut pressed = vec![0.0; from.cells()];
        let (x, z) = (90, from.size[1] as usize / 2);
        pressed[z * CELLS + x] = 1.0;
        old.advance(12, &pressed, 1.0);
        let highest = |ripples: &Ripples, grid: WaterGrid| {
            let cells = ripples.heights.iter().enumerate().flat_map(|(z, row)| {
                row.iter()
                    .enumerate()
                    .map(move |(x, height)| (*height, x, z))
            });
            let (height, x, _) = cells.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            (height, (x as f32 - 0.5) * grid.cell_m - grid.half_m.x)
        };
        let (height, x_m) = highest(&old, from);
        assert!(height > 1e-4);
        let mut new = Ripples::new(to);
        new.continue_from(&old, from, to);
        let (new_height, new_x_m) = highest(&new, to);
        assert!(
            (new_height - height).abs() < 0.3 * height,
            "{new_height} {height}"
        );
        assert!((new_x_m - x_m).abs() < 2.0 * to.cell_m, "{new_x_m} {x_m}");
        new.continue_from(&old, from, from);
        assert_eq!(new.heights, old.heights);
    }

    #[test]
    fn a_ring_spreads_with_the_wave_speed_and_stays_round() {
        for secs in [0.8, 1.2] {
            let (grid, heights) = rings(secs);
            let crest = |way: usize| {
                let highest = |a: &usize, b: &usize| heights[*a][way].total_cmp(&heights[*b][way]);
                let cells = (0..heights.len()).max_by(highest).unwrap();
                cells as f32 * grid.cell_m
            };
            for way in 0..3 {
                // The crest starts at the edge of the disc.
                let reached = SPEED_MPS * secs + 0.1;
                assert!(
                    (crest(way) - reached).abs() < 0.12,
                    "direction {way} after {secs} s: crest at {} m, expected {reached} m",
                    crest(way)
                );
            }
        }
    }

    #[test]
    fn rings_fade_within_3_s_and_are_not_reflected() {
        let highest = |secs| {
            let (_, heights) = rings(secs);
            heights
                .into_iter()
                .flatten()
                .fold(0.0f32, |most, height| most.max(height.abs()))
        };
        let (early, late) = (highest(0.5), highest(3.0));
        assert!(
            early > 5e-4 && late < 0.1 * early,
            "largest height {early} m after 0.5 s, {late} m after 3 s"
        );
    }

    #[test]
    fn heights_stay_bounded_under_flickering_pressure() {
        let grid = WaterGrid::new(
            &Surface {
                width_m: 0.5,
                height_m: 0.4,
                ..Surface::default()
            },
            0.1,
            Vec2::ZERO,
        );
        let mut ripples = Ripples::new(grid);
        for step in 0..30 {
            let flicker = |i: usize| f32::from((i / 3 + step).is_multiple_of(2));
            let pressed: Vec<f32> = (0..grid.cells()).map(flicker).collect();
            ripples.advance(12, &pressed, 50.0);
        }
        let mut heights = ripples.heights().iter().flatten();
        assert!(heights.all(|height| height.abs() <= MOST_M));
    }
}
