//! The water surface of one picture: its slopes as seen from above, and the caustics (light that the waves focus) on the
//! ground.
//!
//! In: the height field, the swell, a time. Out: two textures, one with 4 bytes per cell and one with 1 byte per cell. Every
//! cell sends one ray of sunlight down; the brightness of a cell of the ground is the number of rays that arrive there.

use glam::Vec2;

use super::ripples::{ARCH, CELLS, PaddedRow, Ripples, Row};
use super::water::{self, WAVES, WaterGrid, Wave};

/// Horizontal distance by which a surface slope of 1 moves a ray on the ground. Refraction alone would move the ray by a
/// quarter of the depth. The value here is larger, because the swell is low (to be calm to look at) and must still form
/// caustics. Tuned by eye.
const FOCUS_M: f32 = 0.95;
/// Distance, in cells, between two coarse points. Gusts and clouds are computed at these points and interpolated between them.
const COARSE: usize = 8;
/// Number of coarse points per row.
const COARSE_CELLS: usize = CELLS / COARSE + 1;
/// Number of cells beyond each edge of the field. These cells collect the rays that miss the field.
const BEYOND: usize = 2;
/// Number of cells of a row, including the cells beyond both ends.
const PADDED_CELLS: usize = CELLS + 2 * BEYOND;

/// Phase of a wave along x: a row of cosines and a row of sines, each with one value per cell.
type Table = [Row; 2];

/// Strength of gusts and brightness of the sky, both 0..1, at the coarse points of one row.
type CoarseRow = [[f32; 2]; COARSE_CELLS];

/// Computes slopes and caustics, and holds the last result.
#[derive(Clone, Debug)]
pub struct Caustics {
    grid: WaterGrid,
    waves: [Wave; WAVES],
    tables: Vec<Table>,
    coarse: Vec<CoarseRow>,
    /// Number of rays that arrived in each cell; one ray per cell is even light, as under flat water.
    arrived: Vec<[f32; PADDED_CELLS]>,
    /// Rows of cells. The four bytes of a cell are: slope along x, slope along z (both decoded by `slope_of` in
    /// `shaders/output.wgsl`), brightness of the sky, closeness to the edge of a visitor's shadow.
    pub slopes: Vec<[[u8; 4]; CELLS]>,
    /// Sunlight on the ground, in rows of cells. Light of `r` times even light is stored as the byte `255 · sqrt(r / 4)`.
    pub brightness: Vec<[u8; CELLS]>,
}

impl Caustics {
    /// Creates the tables and buffers for a grid.
    pub fn new(grid: WaterGrid) -> Self {
        let rows = grid.size[1] as usize;
        let mut waves = [Wave::default(); WAVES];
        water::swell(0.0, 1.0, &mut waves);
        let table = |wave: &Wave| {
            let along = |x: usize| (wave.number.x * cell_center(grid, x, 0).x).sin_cos();
            let table: [(f32, f32); CELLS] = std::array::from_fn(along);
            [table.map(|(_, cos)| cos), table.map(|(sin, _)| sin)]
        };
        Self {
            tables: waves.iter().map(table).collect(),
            waves,
            coarse: vec![[[0.0; 2]; COARSE_CELLS]; rows / COARSE + 1],
            arrived: vec![[0.0; PADDED_CELLS]; rows + 2 * BEYOND],
            slopes: vec![[[0; 4]; CELLS]; rows],
            brightness: vec![[0; CELLS]; rows],
            grid,
        }
    }

    /// Computes slopes and caustics at `time_secs`. `swell` is the strength of the swell; 1 is normal.
    pub fn update(&mut self, ripples: &Ripples, time_secs: f64, swell: f32) {
        water::swell(time_secs, swell, &mut self.waves);
        self.weather(water::drifting_secs(time_secs));
        ARCH.dispatch(|| {
            self.send_rays(ripples);
            self.smooth_arrived();
        });
    }

    /// Computes gusts and clouds at the coarse points. A gust covers a few meters and drifts over the pool. Inside a gust,
    /// short waves form fine caustics; between gusts, long waves form wide and faint caustics. The clouds are those of the sky
    /// that the water reflects. The lengths of the patterns share no common period, so that the patterns do not repeat visibly.
    fn weather(&mut self, t: f32) {
        for (row, values) in self.coarse.iter_mut().enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let place = cell_center(self.grid, column * COARSE, row * COARSE);
                let warp = Vec2::new(
                    (1.9 * place.y + 0.11 * t).sin(),
                    (1.6 * place.x - 0.09 * t + 2.0).sin(),
                );
                let p = place + 0.35 * warp;
                let gust = 0.5
                    + 0.30 * (1.45 * p.x + 1.1 * p.y - 0.13 * t).sin()
                    + 0.30 * (1.7 * p.y - 0.8 * p.x + 0.10 * t + 1.0).sin();
                let sky = place * 1.3 + Vec2::new(0.02 * t, 3.0);
                let clouds =
                    0.5 + 0.25 * ((sky.x + 0.7 * sky.y).sin() + (1.31 * sky.y - 0.4 * sky.x).sin());
                *value = [gust.clamp(0.0, 1.0), clouds];
            }
        }
    }

    /// Computes the slopes of all cells and sends one ray per cell to the ground.
    #[inline(always)]
    fn send_rays(&mut self, ripples: &Ripples) {
        for row in &mut self.arrived {
            row.fill(0.0);
        }
        let around = ripples
            .heights()
            .windows(3)
            .zip(ripples.pressure().windows(3));
        for ((z, slopes), (heights, pressure)) in self.slopes.iter_mut().enumerate().zip(around) {
            let weather = weather_of(&self.coarse, z);
            let z_m = cell_center(self.grid, 0, z).y;
            let mut swell = [[0.0; CELLS]; 2];
            add_waves(&mut swell, &self.waves[..WAVES / 2], &self.tables, z_m);
            for axis in &mut swell {
                for (slope, gust) in axis.iter_mut().zip(&weather[0]) {
                    *slope *= 0.50 + 0.85 * gust;
                }
            }
            let (_, long) = self.tables.split_at(WAVES / 2);
            add_waves(&mut swell, &self.waves[WAVES / 2..], long, z_m);
            for axis in &mut swell {
                for (slope, gust) in axis.iter_mut().zip(&weather[0]) {
                    *slope *= 0.72 + 0.5 * gust;
                }
            }
            let steep = slopes_of(self.grid, swell, (heights, pressure), &weather[1], slopes);
            add_rays(
                &mut self.arrived,
                z,
                &steep.map(|axis| axis.map(|s| s * FOCUS_M / self.grid.cell_m)),
            );
        }
    }

    /// Computes a smooth brightness from the rays that arrived.
    #[inline(always)]
    fn smooth_arrived(&mut self) {
        let rows = self.brightness.len();
        for ((z, brightness), light) in self
            .brightness
            .iter_mut()
            .enumerate()
            .zip(self.arrived.windows(3).skip(BEYOND - 1))
        {
            let [above, here, below] = light else {
                continue;
            };
            let mut column = [0.0; PADDED_CELLS];
            for x in 0..PADDED_CELLS {
                column[x] = above[x] + 2.0 * here[x] + below[x];
            }
            let to_end = z.min(rows - 1 - z) as f32;
            for x in 0..CELLS {
                // A binomial blur hides the grid of rays.
                let even =
                    (column[x + BEYOND - 1] + 2.0 * column[x + BEYOND] + column[x + BEYOND + 1])
                        / 16.0;
                // The contrast is higher than that of the blurred rays: bright lines and dim areas, as on a finer grid. Tuned
                // by eye.
                let drawn = even * (0.45 + 0.55 * even);
                // Rays are missing near the edge of the field; there the brightness fades to even light.
                let rim = to_end.min((x as f32).min((CELLS - 1 - x) as f32)) / 12.0;
                let lit = 1.0 + (drawn - 1.0) * (rim - 0.3).clamp(0.0, 1.0);
                brightness[x] = byte((0.25 * lit).sqrt());
            }
        }
    }
}

/// Center of a cell, in floor meters.
fn cell_center(grid: WaterGrid, x: usize, z: usize) -> Vec2 {
    (Vec2::new(x as f32, z as f32) + 0.5) * grid.cell_m - grid.half_m
}

/// Converts a value in 0..1 to a byte.
fn byte(value: f32) -> u8 {
    (value * 255.0 + 0.5) as u8
}

/// Returns the gusts and clouds of every cell of row `z`, interpolated between the coarse points.
#[inline(always)]
fn weather_of(coarse: &[CoarseRow], z: usize) -> [Row; 2] {
    let mut weather = [[0.0; CELLS]; 2];
    let (Some(above), Some(below)) = (coarse.get(z / COARSE), coarse.get(z / COARSE + 1)) else {
        return weather;
    };
    let down = (z % COARSE) as f32 / COARSE as f32;
    for (axis, row) in weather.iter_mut().enumerate() {
        let at = |i: usize| above[i][axis] + (below[i][axis] - above[i][axis]) * down;
        for (i, cells) in row.as_chunks_mut::<COARSE>().0.iter_mut().enumerate() {
            let (from, to) = (at(i), at(i + 1));
            for (x, cell) in cells.iter_mut().enumerate() {
                *cell = from + (to - from) * (x as f32 / COARSE as f32);
            }
        }
    }
    weather
}

/// Adds the slopes of the waves to the cells of a row. The cosine of each phase is computed from the tables with the angle
/// addition formula, so that no trigonometric function is evaluated per cell.
#[inline(always)]
fn add_waves(swell: &mut [Row; 2], waves: &[Wave], tables: &[Table], z_m: f32) {
    let [along, across] = swell;
    for (wave, [cosines, sines]) in waves.iter().zip(tables) {
        let (sin, cos) = (wave.number.y * z_m + wave.phase_rad).sin_cos();
        let (steep_x, steep_z) = (wave.number.x * wave.height_m, wave.number.y * wave.height_m);
        for x in 0..CELLS {
            let cosine = cosines[x] * cos - sines[x] * sin;
            along[x] += steep_x * cosine;
            across[x] += steep_z * cosine;
        }
    }
}

/// Writes the visible slopes of a row to `seen`, and returns the slopes that refract the sunlight.
#[inline(always)]
fn slopes_of(
    grid: WaterGrid,
    swell: [Row; 2],
    around: (&[PaddedRow], &[PaddedRow]),
    clouds: &Row,
    seen: &mut [[u8; 4]; CELLS],
) -> [Row; 2] {
    let mut steep = swell;
    let ([above, here, below], [pressure_above, pressure_here, pressure_below]) = around else {
        return steep;
    };
    let per_m = 0.5 / grid.cell_m;
    for x in 0..CELLS {
        let rings = [
            (here[x + 2] - here[x]) * per_m,
            (below[x + 1] - above[x + 1]) * per_m,
        ];
        let softer = 1.0 / (1.0 + 4.0 * (rings[0] * rings[0] + rings[1] * rings[1]).sqrt());
        steep[0][x] += rings[0] * softer;
        steep[1][x] += rings[1] * softer;
        // Inside a visitor's shadow the swell is half as high.
        let calm = 1.0 - 0.5 * pressure_here[x + 1];
        let slope = [swell[0][x] * calm + rings[0], swell[1][x] * calm + rings[1]];
        // Steep slopes are flattened, because small wavelets would break them up. The result is below 0.5, so it fits into a
        // byte.
        let broken = 2.0 / (1.0 + 4.0 * (slope[0] * slope[0] + slope[1] * slope[1]).sqrt());
        // Gradient of the pressure. It is large only at the edge of a shadow, for any size and speed of the shadow.
        let rim = [
            pressure_here[x + 2] - pressure_here[x],
            pressure_below[x + 1] - pressure_above[x + 1],
        ];
        let rim = (2.0 * (rim[0] * rim[0] + rim[1] * rim[1]).sqrt()).min(1.0);
        let level = 128.0 / 255.0;
        seen[x] = [
            slope[0] * broken + level,
            slope[1] * broken + level,
            clouds[x],
            rim,
        ]
        .map(byte);
    }
    steep
}

/// Sends the rays of a row down. `along` and `across` are the distances, in cells, by which each ray is moved along x and z.
/// Each ray is distributed to the four cells around the point where it arrives.
#[inline(always)]
fn add_rays(arrived: &mut [[f32; PADDED_CELLS]], z: usize, [along, across]: &[Row; 2]) {
    let most = [
        (PADDED_CELLS - 2) as f32,
        arrived.len().saturating_sub(2) as f32,
    ];
    for (x, (along, across)) in along.iter().zip(across).enumerate() {
        let to_x = ((x + BEYOND) as f32 - along).clamp(0.0, most[0]);
        let to_z = ((z + BEYOND) as f32 - across).clamp(0.0, most[1]);
        let (column, row) = (to_x as usize, to_z as usize);
        let (right, down) = (to_x - column as f32, to_z - row as f32);
        let Some([upper, lower]) = arrived.get_mut(row..row + 2) else {
            continue;
        };
        for (line, share) in [(upper, 1.0 - down), (lower, down)] {
            if let Some([a, b]) = line.get_mut(column..column + 2) {
                *a += share * (1.0 - right);
                *b += share * right;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;

    fn bent(time_secs: f64, swell: f32) -> Caustics {
        let grid = WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO);
        let mut caustics = Caustics::new(grid);
        caustics.update(&Ripples::new(grid), time_secs, swell);
        caustics
    }

    #[test]
    fn flat_water_has_no_slopes_and_gives_even_light() {
        let caustics = bent(0.0, 0.0);
        // Even light is stored as sqrt(1/4) = 0.5, which is byte 128.
        assert!(
            caustics
                .brightness
                .iter()
                .flatten()
                .all(|&brightness| brightness == 128)
        );
        assert!(
            caustics
                .slopes
                .iter()
                .flatten()
                .all(|slope| slope[..2] == [128, 128] && slope[3] == 0)
        );
    }

    /// The clock of drifting patterns restarts after [`water::DRIFT_PERIOD_SECS`].
    #[test]
    fn gusts_and_clouds_do_not_jump_when_their_clock_restarts() {
        let [before, after] =
            [-0.01, 0.01].map(|secs| bent(water::DRIFT_PERIOD_SECS + secs, 1.0).coarse);
        let pairs = || {
            let flat = |rows: &[CoarseRow]| rows.as_flattened().as_flattened().to_vec();
            flat(&before).into_iter().zip(flat(&after))
        };
        let most = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 0.005, "largest jump: {most}");
        let later = bent(water::DRIFT_PERIOD_SECS + 600.0, 1.0).coarse;
        assert_ne!(later, after, "gusts and clouds did not change within 600 s");
    }

    /// The slopes are equal to a direct sum of the waves.
    #[test]
    fn slopes_match_a_direct_computation() {
        let (time_secs, strength) = (7.3, 1.0);
        let caustics = bent(time_secs, strength);
        let mut waves = [Wave::default(); WAVES];
        water::swell(time_secs, strength, &mut waves);
        for (x, z) in [(3, 5), (100, 37), (250, 90)] {
            let place = cell_center(caustics.grid, x, z);
            let weather = weather_of(&caustics.coarse, z);
            let gust = weather[0][x];
            let slope = |of: &[Wave]| -> Vec2 {
                of.iter()
                    .map(|w| {
                        w.number
                            * w.height_m
                            * (w.number.x * place.x + w.number.y * place.y + w.phase_rad).cos()
                    })
                    .sum()
            };
            let (short, long) = waves.split_at(WAVES / 2);
            let slope = (slope(short) * (0.50 + 0.85 * gust) + slope(long)) * (0.72 + 0.5 * gust);
            let seen = slope * 2.0 / (1.0 + 4.0 * slope.length());
            let shown = caustics.slopes[z][x];
            let shown = Vec2::new(f32::from(shown[0]), f32::from(shown[1])) - 128.0;
            assert!(
                (shown / 255.0 - seen).length() < 0.006,
                "slope {shown}, expected {seen}"
            );
        }
    }

    /// The number of rays is preserved: if one place on the ground is brighter, another place is darker.
    #[test]
    fn caustics_preserve_the_amount_of_light() {
        let caustics = bent(3.0, 1.0);
        let all: f32 = caustics.arrived.iter().flatten().sum();
        let sent = caustics.grid.cells() as f32;
        assert!(
            (all / sent - 1.0).abs() < 1e-4,
            "{all} of {sent} rays arrived"
        );
        let inside = || {
            caustics.brightness[30..]
                .iter()
                .take(60)
                .flat_map(|row| &row[30..CELLS - 30])
        };
        let brightest = inside().max().copied().unwrap_or_default();
        let darkest = inside().min().copied().unwrap_or_default();
        // Bytes 220 and 105 are 3.0 and 0.68 times even light.
        assert!(
            brightest > 220 && darkest < 105,
            "brightness from {darkest} to {brightest}"
        );
    }
}
