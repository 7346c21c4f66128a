//! The height field: rings and wakes on the water, by the wave equation on a grid.
//!
//! In: where shadows press on the water. Out: heights and presence, a cell a number. Worked out by the processor: with
//! slopes and caustics that takes about a millisecond of one core, a sixth of what the same numbers took as shaders where
//! there is no graphics card.

use std::sync::LazyLock;

use pulp::Arch;

use super::water::{COLUMNS, Grid, STEP_SECS};

/// The widest vector instructions of this machine. They give the same numbers as any others.
pub(super) static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Cells of a row.
pub(super) const CELLS: usize = COLUMNS as usize;
/// Those, and one beyond each end.
pub(super) const PADDED: usize = CELLS + 2;

/// One row of cells.
pub(super) type Row = [f32; CELLS];
/// One row of cells and what lies beyond its ends.
pub(super) type PaddedRow = [f32; PADDED];

/// How fast rings run.
const SPEED_MPS: f32 = 0.72;
/// Share of a velocity that is lost in a second, and of a height; more where somebody stands. Tuned by eye.
const DAMPING_PER_S: f32 = 1.15;
const SINKING_PER_S: f32 = 0.35;
const STANDING_PER_S: f32 = 1.6;
/// How high a shadow that arrives pushes the water.
const PUSH_M: f32 = 0.011;
/// Highest wave.
const MOST_M: f32 = 0.08;
/// Cells along the field's rim in which waves come to rest, so that none comes back.
const RIM_CELLS: f32 = 14.0;

/// Heights of the water and their velocities.
#[derive(Clone, Debug)]
pub struct Ripples {
    /// With a row and a column beyond each end.
    heights: Vec<PaddedRow>,
    presence: Vec<PaddedRow>,
    velocities: Vec<Row>,
    /// Share of its velocity that a cell keeps in a step.
    keeps: Vec<Row>,
    /// Square of the cells that a ring crosses in a step, over the step.
    gain: f32,
}

impl Ripples {
    /// Calm water.
    pub fn new(grid: Grid) -> Self {
        let rows = grid.size[1] as usize;
        let to_end = |i: usize, count: usize| i.min(count - 1 - i) as f32 / RIM_CELLS;
        let keep = |x, z| {
            let calm = 1.0 - to_end(x, CELLS).min(to_end(z, rows)).min(1.0);
            (-(DAMPING_PER_S + 9.0 * calm * calm) * STEP_SECS as f32).exp()
        };
        // Stable below 1/√2.
        let courant = (SPEED_MPS * STEP_SECS as f32 / grid.cell_m).min(0.6);
        Self {
            heights: vec![[0.0; PADDED]; rows + 2],
            presence: vec![[0.0; PADDED]; rows + 2],
            velocities: vec![[0.0; CELLS]; rows],
            keeps: (0..rows)
                .map(|z| std::array::from_fn(|x| keep(x, z)))
                .collect(),
            gain: courant * courant / STEP_SECS as f32,
        }
    }

    /// Takes steps of [`STEP_SECS`] in which shadows come to press on the water as `pressed` says (0..1, a row of
    /// cells after another), with a force of `stir`.
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

    /// Heights in meters, with a row and a column beyond each end, which are as high as the last within.
    pub(super) fn heights(&self) -> &[PaddedRow] {
        &self.heights
    }

    /// How much shadows press on the cells, 0..1, with a row and a column of nothing beyond each end.
    pub(super) fn presence(&self) -> &[PaddedRow] {
        &self.presence
    }

    /// **Source**: h'' = c² ∇²h − damping, explicit in time; a Laplacian of nine points keeps rings round.
    #[inline(always)]
    fn accelerate(&mut self, pressed: &[Row], share: f32) {
        let rows = self.velocities.iter_mut().zip(&self.keeps);
        let around = self.heights.windows(3).zip(self.presence.iter().skip(1));
        for (((velocities, keeps), (heights, presence)), pressed) in rows.zip(around).zip(pressed) {
            let [above, here, below] = heights else {
                continue;
            };
            for x in 0..CELLS {
                let sides = here[x] + here[x + 2] + above[x + 1] + below[x + 1];
                let corners = above[x] + above[x + 2] + below[x] + below[x + 2];
                let laplacian = (4.0 * sides + corners - 20.0 * here[x + 1]) * (1.0 / 6.0);
                let before = presence[x + 1];
                let calmed =
                    (before + (pressed[x] - before) * share) * (STANDING_PER_S * STEP_SECS as f32);
                // The first terms of its exponential.
                let keep = keeps[x] * (1.0 - calmed + 0.5 * calmed * calmed);
                velocities[x] = ((velocities[x] + self.gain * laplacian) * keep).clamp(-2.0, 2.0);
            }
        }
    }

    /// A shadow that arrives pushes water up, one that leaves draws it down.
    #[inline(always)]
    fn rise(&mut self, pressed: &[Row], share: f32, push: f32) {
        let stays = 1.0 - SINKING_PER_S * STEP_SECS as f32;
        let rows = self.heights.iter_mut().skip(1).zip(&self.velocities);
        let presence = self.presence.iter_mut().skip(1);
        for (((heights, velocities), presence), pressed) in rows.zip(presence).zip(pressed) {
            for x in 0..CELLS {
                let before = presence[x + 1];
                let arrived = (pressed[x] - before) * share;
                presence[x + 1] = before + arrived;
                let height = heights[x + 1] + velocities[x] * STEP_SECS as f32 + push * arrived;
                heights[x + 1] = (height * stays).clamp(-MOST_M, MOST_M);
            }
        }
    }

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

    fn grid() -> Grid {
        Grid::new(&Surface::default(), 0.8, Vec2::ZERO)
    }

    /// After something round of 0.2 m came: how high the water is at distances from it, on three ways.
    fn rings(after_secs: f32) -> (Grid, Vec<[f32; 3]>) {
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
    fn a_ring_runs_as_fast_as_it_should_and_stays_round() {
        for secs in [0.8, 1.2] {
            let (grid, heights) = rings(secs);
            let crest = |way: usize| {
                let highest = |a: &usize, b: &usize| heights[*a][way].total_cmp(&heights[*b][way]);
                let cells = (0..heights.len()).max_by(highest).unwrap();
                cells as f32 * grid.cell_m
            };
            for way in 0..3 {
                // The crest began at the rim of what came.
                let reached = SPEED_MPS * secs + 0.1;
                assert!(
                    (crest(way) - reached).abs() < 0.12,
                    "way {way} after {secs} s: {} of {reached} m",
                    crest(way)
                );
            }
        }
    }

    #[test]
    fn rings_die_within_seconds_and_do_not_come_back_from_the_rim() {
        let highest = |secs| {
            let (_, heights) = rings(secs);
            heights
                .into_iter()
                .flatten()
                .fold(0.0f32, |most, height| most.max(height.abs()))
        };
        let (early, late) = (highest(0.5), highest(3.0));
        assert!(early > 5e-4 && late < 0.1 * early, "{early} then {late}");
    }

    #[test]
    fn nothing_makes_the_water_run_away() {
        let grid = Grid::new(
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
