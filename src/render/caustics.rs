//! The water's surface for one frame: what the eye sees of its slopes, and the net of light that they bend to the ground.
//!
//! In: the height field, the swell, a time. Out: two pictures of a byte or four a cell, as shaders read them. Every cell
//! sends one bundle of sunlight down; where bundles meet, the ground is bright (caustics by area ratio).

use glam::Vec2;

use super::ripples::{ARCH, CELLS, PaddedRow, Ripples, Row};
use super::water::{self, Grid, WAVES, Wave};

/// How far a slope of one moves a bundle on the ground. More than refraction would (a quarter of the depth): the swell
/// is kept low for the eye's sake, and the net must still form. Tuned by eye.
const FOCUS_M: f32 = 0.95;
/// Gusts and clouds are worked out at so many cells apart.
const COARSE: usize = 8;
const COARSE_CELLS: usize = CELLS / COARSE + 1;
/// What is beyond each end of the field, where bundles that miss it fall.
const BEYOND: usize = 2;
const CAUGHT: usize = CELLS + 2 * BEYOND;

/// Cosine and sine of a wave's phase along x, from cell to cell.
type Table = [Row; 2];

/// Two numbers at each of a row's coarse places: how lively the water is, and how bright the sky over it.
type CoarseRow = [[f32; 2]; COARSE_CELLS];

/// The surface and the light below it.
#[derive(Clone, Debug)]
pub struct Caustics {
    grid: Grid,
    waves: [Wave; WAVES],
    tables: Vec<Table>,
    coarse: Vec<CoarseRow>,
    /// Bundles that arrived in a cell.
    light: Vec<[f32; CAUGHT]>,
    /// Slopes along x and z as `slope_of` in `shaders/show.wgsl` reads them, clouds in the sky, rims of shadows; a row of cells
    /// after another.
    pub slopes: Vec<[[u8; 4]; CELLS]>,
    /// Sunlight on the ground against even light, as roots of up to four times that.
    pub net: Vec<[u8; CELLS]>,
}

impl Caustics {
    /// Room for a grid's pictures.
    pub fn new(grid: Grid) -> Self {
        let rows = grid.size[1] as usize;
        let mut waves = [Wave::ZERO; WAVES];
        water::swell(0.0, 1.0, &mut waves);
        let table = |wave: &Wave| {
            let along = |x: usize| (wave.x * place(grid, x, 0).x).sin_cos();
            let table: [(f32, f32); CELLS] = std::array::from_fn(along);
            [table.map(|(_, cos)| cos), table.map(|(sin, _)| sin)]
        };
        Self {
            tables: waves.iter().map(table).collect(),
            waves,
            coarse: vec![[[0.0; 2]; COARSE_CELLS]; rows / COARSE + 1],
            light: vec![[0.0; CAUGHT]; rows + 2 * BEYOND],
            slopes: vec![[[0; 4]; CELLS]; rows],
            net: vec![[0; CELLS]; rows],
            grid,
        }
    }

    /// Works out both pictures for a time, under a swell of a strength.
    pub fn bend(&mut self, ripples: &Ripples, time_secs: f64, swell: f32) {
        water::swell(time_secs, swell, &mut self.waves);
        self.weather(water::drifting_secs(time_secs));
        ARCH.dispatch(|| {
            self.spread(ripples);
            self.gather();
        });
    }

    /// Gusts and calm drift over the pool, over meters: where it is lively short waves draw a fine net, where it is calm
    /// long ones draw a wide and faint one. Clouds drift in the sky that the water mirrors. Lengths and speeds have no
    /// common period.
    fn weather(&mut self, t: f32) {
        for (row, values) in self.coarse.iter_mut().enumerate() {
            for (column, value) in values.iter_mut().enumerate() {
                let place = place(self.grid, column * COARSE, row * COARSE);
                let warp = Vec2::new(
                    (1.9 * place.y + 0.11 * t).sin(),
                    (1.6 * place.x - 0.09 * t + 2.0).sin(),
                );
                let p = place + 0.35 * warp;
                let lively = 0.5
                    + 0.30 * (1.45 * p.x + 1.1 * p.y - 0.13 * t).sin()
                    + 0.30 * (1.7 * p.y - 0.8 * p.x + 0.10 * t + 1.0).sin();
                let sky = place * 1.3 + Vec2::new(0.02 * t, 3.0);
                let clouds =
                    0.5 + 0.25 * ((sky.x + 0.7 * sky.y).sin() + (1.31 * sky.y - 0.4 * sky.x).sin());
                *value = [lively.clamp(0.0, 1.0), clouds];
            }
        }
    }

    /// Slopes as the eye sees them, and the bundles of light that they send down.
    #[inline(always)]
    fn spread(&mut self, ripples: &Ripples) {
        for row in &mut self.light {
            row.fill(0.0);
        }
        let around = ripples
            .heights()
            .windows(3)
            .zip(ripples.presence().windows(3));
        for ((z, slopes), (heights, presence)) in self.slopes.iter_mut().enumerate().zip(around) {
            let weather = weather_of(&self.coarse, z);
            let z_m = place(self.grid, 0, z).y;
            let mut swell = [[0.0; CELLS]; 2];
            add_waves(&mut swell, &self.waves[..WAVES / 2], &self.tables, z_m);
            for axis in &mut swell {
                for (slope, lively) in axis.iter_mut().zip(&weather[0]) {
                    *slope *= 0.50 + 0.85 * lively;
                }
            }
            let (_, long) = self.tables.split_at(WAVES / 2);
            add_waves(&mut swell, &self.waves[WAVES / 2..], long, z_m);
            for axis in &mut swell {
                for (slope, lively) in axis.iter_mut().zip(&weather[0]) {
                    *slope *= 0.72 + 0.5 * lively;
                }
            }
            let steep = slopes_of(self.grid, swell, (heights, presence), &weather[1], slopes);
            catch(
                &mut self.light,
                z,
                &steep.map(|axis| axis.map(|s| s * FOCUS_M / self.grid.cell_m)),
            );
        }
    }

    /// A smooth picture of the bundles that arrived.
    #[inline(always)]
    fn gather(&mut self) {
        let rows = self.net.len();
        for ((z, net), light) in self
            .net
            .iter_mut()
            .enumerate()
            .zip(self.light.windows(3).skip(BEYOND - 1))
        {
            let [above, here, below] = light else {
                continue;
            };
            let mut column = [0.0; CAUGHT];
            for x in 0..CAUGHT {
                column[x] = above[x] + 2.0 * here[x] + below[x];
            }
            let to_end = z.min(rows - 1 - z) as f32;
            for x in 0..CELLS {
                // A binomial blur hides the grid of bundles.
                let even =
                    (column[x + BEYOND - 1] + 2.0 * column[x + BEYOND] + column[x + BEYOND + 1])
                        / 16.0;
                // Threads of light, dim between them: what a finer grid of bundles would show. Tuned by eye, 2026-11-22.
                let drawn = even * (0.45 + 0.55 * even);
                // Near the field's rim some light is missing; there it fades to even light.
                let rim = to_end.min((x as f32).min((CELLS - 1 - x) as f32)) / 12.0;
                let lit = 1.0 + (drawn - 1.0) * (rim - 0.3).clamp(0.0, 1.0);
                net[x] = byte((0.25 * lit).sqrt());
            }
        }
    }
}

/// Middle of a cell.
fn place(grid: Grid, x: usize, z: usize) -> Vec2 {
    (Vec2::new(x as f32, z as f32) + 0.5) * grid.cell_m - grid.half_m
}

fn byte(value: f32) -> u8 {
    (value * 255.0 + 0.5) as u8
}

/// Gusts and clouds along a row.
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

/// Adds the slopes of waves along a row. Cosines of sums from those of their parts: none is worked out for a cell.
#[inline(always)]
fn add_waves(swell: &mut [Row; 2], waves: &[Wave], tables: &[Table], z_m: f32) {
    let [along, across] = swell;
    for (wave, [cosines, sines]) in waves.iter().zip(tables) {
        let (sin, cos) = (wave.y * z_m + wave.z).sin_cos();
        let (steep_x, steep_z) = (wave.x * wave.w, wave.y * wave.w);
        for x in 0..CELLS {
            let cosine = cosines[x] * cos - sines[x] * sin;
            along[x] += steep_x * cosine;
            across[x] += steep_z * cosine;
        }
    }
}

/// Writes what the eye sees of a row's slopes, and returns what bends light.
#[inline(always)]
fn slopes_of(
    grid: Grid,
    swell: [Row; 2],
    around: (&[PaddedRow], &[PaddedRow]),
    clouds: &Row,
    seen: &mut [[u8; 4]; CELLS],
) -> [Row; 2] {
    let mut steep = swell;
    let ([above, here, below], [shade_above, shade, shade_below]) = around else {
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
        // Around somebody who stands still the swell lies down too.
        let lies = 1.0 - 0.5 * shade[x + 1];
        let slope = [swell[0][x] * lies + rings[0], swell[1][x] * lies + rings[1]];
        // What the eye sees of a slope: steep ones are broken by wavelets. Below a quarter, so it fits into 0..1.
        let broken = 2.0 / (1.0 + 4.0 * (slope[0] * slope[0] + slope[1] * slope[1]).sqrt());
        // Where a shadow begins: at its rim only, however small it is and however fast it moves.
        let rim = [
            shade[x + 2] - shade[x],
            shade_below[x + 1] - shade_above[x + 1],
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

/// Sends a row's bundles down, each moved by so many cells, into the four cells around where it arrives.
#[inline(always)]
fn catch(light: &mut [[f32; CAUGHT]], z: usize, [along, across]: &[Row; 2]) {
    let most = [(CAUGHT - 2) as f32, light.len().saturating_sub(2) as f32];
    for (x, (along, across)) in along.iter().zip(across).enumerate() {
        let to_x = ((x + BEYOND) as f32 - along).clamp(0.0, most[0]);
        let to_z = ((z + BEYOND) as f32 - across).clamp(0.0, most[1]);
        let (column, row) = (to_x as usize, to_z as usize);
        let (right, down) = (to_x - column as f32, to_z - row as f32);
        let Some([upper, lower]) = light.get_mut(row..row + 2) else {
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
        let grid = Grid::new(&Surface::default(), 0.8, Vec2::ZERO);
        let mut caustics = Caustics::new(grid);
        caustics.bend(&Ripples::new(grid), time_secs, swell);
        caustics
    }

    #[test]
    fn level_water_lights_the_ground_evenly_and_is_seen_as_level() {
        let caustics = bent(0.0, 0.0);
        // A root of a quarter is half.
        assert!(caustics.net.iter().flatten().all(|&net| net == 128));
        assert!(
            caustics
                .slopes
                .iter()
                .flatten()
                .all(|slope| slope[..2] == [128, 128] && slope[3] == 0)
        );
    }

    /// Once an hour the clock of all that drifts begins anew.
    #[test]
    fn gusts_and_clouds_do_not_jump_when_their_clock_begins_anew() {
        let [before, after] = [-0.01, 0.01].map(|secs| bent(water::ANEW_SECS + secs, 1.0).coarse);
        let pairs = || {
            let flat = |rows: &[CoarseRow]| rows.as_flattened().as_flattened().to_vec();
            flat(&before).into_iter().zip(flat(&after))
        };
        let most = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(most < 0.005, "{most}");
        let later = bent(water::ANEW_SECS + 600.0, 1.0).coarse;
        assert_ne!(later, after, "they drift");
    }

    /// A cell's slope is that of the swell, worked out the long way.
    #[test]
    fn slopes_are_those_of_the_waves() {
        let (time_secs, strength) = (7.3, 1.0);
        let caustics = bent(time_secs, strength);
        let mut waves = [Wave::ZERO; WAVES];
        water::swell(time_secs, strength, &mut waves);
        for (x, z) in [(3, 5), (100, 37), (250, 90)] {
            let place = place(caustics.grid, x, z);
            let weather = weather_of(&caustics.coarse, z);
            let lively = weather[0][x];
            let slope = |of: &[Wave]| -> Vec2 {
                of.iter()
                    .map(|w| {
                        Vec2::new(w.x, w.y) * w.w * (w.x * place.x + w.y * place.y + w.z).cos()
                    })
                    .sum()
            };
            let (short, long) = waves.split_at(WAVES / 2);
            let slope =
                (slope(short) * (0.50 + 0.85 * lively) + slope(long)) * (0.72 + 0.5 * lively);
            let seen = slope * 2.0 / (1.0 + 4.0 * slope.length());
            let shown = caustics.slopes[z][x];
            let shown = Vec2::new(f32::from(shown[0]), f32::from(shown[1])) - 128.0;
            assert!(
                (shown / 255.0 - seen).length() < 0.006,
                "{shown} for {seen}"
            );
        }
    }

    /// No bundle of light is lost or made: what threads have more, the ground between them has less.
    #[test]
    fn light_is_gathered_and_not_made() {
        let caustics = bent(3.0, 1.0);
        let all: f32 = caustics.light.iter().flatten().sum();
        let sent = caustics.grid.cells() as f32;
        assert!((all / sent - 1.0).abs() < 1e-4, "{all} of {sent}");
        let inside = || {
            caustics.net[30..]
                .iter()
                .take(60)
                .flat_map(|row| &row[30..CELLS - 30])
        };
        let brightest = inside().max().copied().unwrap_or_default();
        let darkest = inside().min().copied().unwrap_or_default();
        // Three times even light in the threads, two thirds and less between them.
        assert!(brightest > 220 && darkest < 105, "{darkest} to {brightest}");
    }
}
