//! The causes of water movement: the waves of the swell, the pressure of visitors' shadows and splashes on the grid, and
//! the number of fixed steps that are due. `ripples` computes the height field from them, `caustics` its slopes and light.

use glam::Vec2;

use super::noise::unit_hash;
use crate::geometry::{Surface, Visitor};
use crate::world::Splash;

/// Columns of the height field.
pub(super) const GRID_COLUMNS: u32 = 256;
/// Fixed time step of the wave equation.
pub(super) const STEP_SECS: f64 = 1.0 / 120.0;
/// Largest number of steps per picture. If more steps are due, the water becomes slower, but the picture rate does not.
pub(super) const MAX_STEPS: u32 = 12;
/// Number of waves in the swell.
pub(super) const WAVES: usize = 14;
/// Size of the field relative to the visible ground. The field is larger, so that waves leave the picture before they reach the
/// edge of the field.
const MARGIN: f32 = 1.08;
/// Time constant with which the pressure follows a shadow. It smooths the jumps of a tracked shadow between camera frames.
const FOLLOW_SECS: f32 = 0.07;

/// Time after the last shadow or splash after which rings are too low to be seen. The height field is then no longer computed;
/// the swell continues.
const STILL_AFTER_SECS: f32 = 12.0;

/// Time for which a splash presses on the water. Tuned by eye.
const SPLASH_SECS: f32 = 0.12;

/// The grid of the height field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterGrid {
    /// Columns along x and rows along z; both multiples of 8.
    pub size: [u32; 2],
    /// Side of a square cell.
    pub cell_m: f32,
    /// Half extent of the field.
    pub half_m: Vec2,
}

impl WaterGrid {
    /// Creates the grid for a surface above ground at `depth_m`. `sun_shift` is the horizontal shift of sunlight per meter of
    /// depth; the field reaches beyond the ground by this shift. The grid has [`GRID_COLUMNS`] columns and at most four times
    /// as many rows.
    pub fn new(surface: &Surface, depth_m: f32, sun_shift: Vec2) -> Self {
        let seen =
            surface.half_extent_m() * surface.scale_at_depth(depth_m) + sun_shift.abs() * depth_m;
        let extent = 2.0 * MARGIN * seen;
        let cell_m = extent.x / GRID_COLUMNS as f32;
        let rows = ((extent.y / cell_m / 8.0).ceil() as u32 * 8).clamp(16, 4 * GRID_COLUMNS);
        Self {
            size: [GRID_COLUMNS, rows],
            cell_m,
            half_m: Vec2::new(GRID_COLUMNS as f32, rows as f32) * cell_m / 2.0,
        }
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        (self.size[0] * self.size[1]) as usize
    }
}

/// One wave of the swell at one point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wave {
    /// Wave vector: its length is the wave number in radians per meter.
    pub(super) number: Vec2,
    /// Phase at the origin of floor space.
    pub(super) phase_rad: f32,
    /// Amplitude of the height. The amplitude of the slope is the height times the wave number.
    pub(super) height_m: f32,
}

/// Computes the waves of the swell at `time_secs`. Their lengths and directions are irregular, so that the caustics do not
/// repeat.
///
/// The waves have 0.42 of the speed of deep-water waves (dispersion ω² = g·k). Lengths and slopes are tuned by eye.
pub(super) fn swell(time_secs: f64, strength: f32, waves: &mut [Wave; WAVES]) {
    for (i, wave) in waves.iter_mut().enumerate() {
        let n = i as u32;
        let share = (i as f32 + 0.5) / WAVES as f32;
        let length_m = 0.13 * (0.60f32 / 0.13).powf(share) * (0.9 + 0.2 * unit_hash(n, 11));
        // The golden angle spreads the headings over all directions, so that the pattern sparkles in place and does not move in
        // one direction.
        let heading = (n as f32) * 2.399_963 + 0.7 * (unit_hash(n, 12) - 0.5);
        let number = std::f32::consts::TAU / length_m;
        let frequency = 0.42 * (9.81 * number).sqrt();
        let phase = (f64::from(frequency) * time_secs
            + f64::from(unit_hash(n, 13)) * std::f64::consts::TAU)
            .rem_euclid(std::f64::consts::TAU);
        let slope = strength * 0.0145 * (0.55 + 0.9 * (share * std::f32::consts::PI).sin());
        let direction = Vec2::from_angle(heading) * number;
        *wave = Wave {
            number: direction,
            phase_rad: phase as f32,
            height_m: slope / number,
        };
    }
}

/// Period after which the time of drifting patterns restarts. The angular rates of their sines, here and in `shaders/`, are
/// multiples of 0.002 rad/s. Every sine therefore has the same value before and after the restart, and the patterns do not
/// jump. Noise repeats and drifts by whole repetitions in this period.
pub(super) const DRIFT_PERIOD_SECS: f64 = 1000.0 * std::f64::consts::PI;

/// Returns the time for drifting patterns. It restarts after [`DRIFT_PERIOD_SECS`], so that an `f32` stays precise over months.
pub(super) fn drifting_secs(time_secs: f64) -> f32 {
    time_secs.rem_euclid(DRIFT_PERIOD_SECS) as f32
}

/// Pressure of shadows and splashes on the grid, and the number of steps that are due.
#[derive(Debug)]
pub struct WaterPressure {
    grid: WaterGrid,
    /// Pressure on each cell, 0..1, in rows along x.
    pub pressure: Vec<f32>,
    /// Value that the pressure of each cell approaches: 1 inside a shadow, otherwise 0.
    target: Vec<u8>,
    /// Time by which the height field is behind the picture.
    debt_secs: f64,
    /// Whether neither shadows nor their remaining pressure are present.
    is_calm: bool,
    /// Time since the water became calm.
    calm_secs: f32,
    /// Splashes and falling drops of this picture, as round shadows.
    splashes: Vec<Visitor>,
}

impl WaterPressure {
    /// Creates calm water without shadows.
    pub fn new(grid: WaterGrid) -> Self {
        Self {
            grid,
            pressure: vec![0.0; grid.cells()],
            target: vec![0; grid.cells()],
            debt_secs: 0.0,
            is_calm: true,
            calm_secs: 0.0,
            splashes: Vec::new(),
        }
    }

    /// Continues from the state of other water, so that its rings go on.
    pub(super) fn continue_from(&mut self, old: &Self) {
        self.debt_secs = old.debt_secs;
        self.calm_secs = old.calm_secs;
        self.is_calm = old.is_calm;
        if self.grid == old.grid {
            self.pressure.clone_from(&old.pressure);
        }
    }

    /// Sets the splashes and drops that press on the water in the next call of [`Self::advance`]. A splash presses on the water
    /// for `SPLASH_SECS` after it happened.
    pub fn set_splashes(
        &mut self,
        splashes: &[Splash],
        drops: impl Iterator<Item = Visitor>,
        surface: &Surface,
    ) {
        self.splashes.clear();
        self.splashes.extend(drops);
        let fresh = splashes.iter().filter(|s| s.age_secs < SPLASH_SECS);
        self.splashes.extend(fresh.map(|splash| Visitor {
            centroid_m: surface.floor_from_world(splash.at_m),
            // A faster splash is wider. Tuned by eye.
            radius_m: (0.03 * splash.speed_mps).clamp(0.04, 0.15),
            ..Visitor::default()
        }));
    }

    /// Advances the pressure by `dt_secs`. Returns the number of steps by which the height field must be advanced.
    pub fn advance(&mut self, dt_secs: f32, shadows: &[Visitor]) -> u32 {
        self.debt_secs =
            (self.debt_secs + f64::from(dt_secs)).min(STEP_SECS * f64::from(MAX_STEPS));
        let steps = (self.debt_secs / STEP_SECS + 1e-6) as u32;
        self.debt_secs -= f64::from(steps) * STEP_SECS;
        let splashes = std::mem::take(&mut self.splashes);
        let is_still = shadows.is_empty() && splashes.is_empty();
        if is_still && self.is_calm {
            self.splashes = splashes;
            self.calm_secs += dt_secs;
            let rests = self.calm_secs > STILL_AFTER_SECS;
            return if rests { 0 } else { steps };
        }
        self.calm_secs = 0.0;
        self.target.fill(0);
        for shadow in shadows.iter().chain(&splashes) {
            self.fill(shadow);
        }
        self.splashes = splashes;
        let follow = 1.0 - (-dt_secs / FOLLOW_SECS).exp();
        let mut most = 0.0f32;
        for (pressure, &target) in self.pressure.iter_mut().zip(&self.target) {
            *pressure += (f32::from(target) - *pressure) * follow;
            most = most.max(*pressure);
        }
        self.is_calm = is_still && most < 1.0 / 512.0;
        if self.is_calm {
            self.pressure.fill(0.0);
        }
        steps
    }

    /// Marks the cells whose centers are inside a shadow (even-odd rule along each row). A shadow without an outline is a disc.
    fn fill(&mut self, shadow: &Visitor) {
        let grid = self.grid;
        let to_cell = |p: Vec2| (p + grid.half_m) / grid.cell_m - 0.5;
        let columns = grid.size[0] as usize;
        let circle = |i: usize| {
            shadow.centroid_m
                + shadow.radius_m * Vec2::from_angle(i as f32 * std::f32::consts::TAU / 24.0)
        };
        let count = if shadow.outline_m.len() >= 3 {
            shadow.outline_m.len()
        } else {
            24
        };
        let corner = |i: usize| {
            let i = i % count;
            to_cell(
                shadow
                    .outline_m
                    .get(i)
                    .copied()
                    .filter(|_| shadow.outline_m.len() >= 3)
                    .unwrap_or_else(|| circle(i)),
            )
        };
        if (0..count).any(|i| !corner(i).is_finite()) {
            return;
        }
        let low = (0..count)
            .map(|i| corner(i).y)
            .fold(f32::INFINITY, f32::min);
        let high = (0..count)
            .map(|i| corner(i).y)
            .fold(f32::NEG_INFINITY, f32::max);
        let first = low.ceil().max(0.0) as usize;
        let last = (high.floor().min(grid.size[1] as f32 - 1.0) + 1.0).max(0.0) as usize;
        let mut crossings = [0.0f32; 64];
        for row in first..last {
            let y = row as f32;
            let mut found = 0;
            for i in 0..count {
                let (a, b) = (corner(i), corner(i + 1));
                if (a.y > y) != (b.y > y)
                    && let Some(slot) = crossings.get_mut(found)
                {
                    *slot = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
                    found += 1;
                }
            }
            let crossings = &mut crossings[..found];
            crossings.sort_unstable_by(f32::total_cmp);
            for pair in crossings.chunks_exact(2) {
                let from = pair[0].ceil().clamp(0.0, columns as f32) as usize;
                let to = (pair[1].floor() + 1.0).clamp(0.0, columns as f32) as usize;
                if from < to
                    && let Some(cells) = self
                        .target
                        .get_mut(row * columns + from..row * columns + to)
                {
                    cells.fill(1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shadow(outline_m: Vec<Vec2>) -> Visitor {
        Visitor {
            id: 1,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.5,
            velocity_mps: Vec2::ZERO,
            area_m2: 0.785,
            age_secs: 1.0,
            outline_m,
            ..Visitor::default()
        }
    }

    fn covered_m2(pressure: &WaterPressure) -> f32 {
        pressure.pressure.iter().filter(|&&p| p >= 0.5).count() as f32
            * pressure.grid.cell_m.powi(2)
    }

    #[test]
    fn a_splash_presses_only_while_it_is_new() {
        let surface = Surface::default();
        let mut pressure = WaterPressure::new(WaterGrid::new(&surface, 0.8, Vec2::ZERO));
        let mut splash = Splash {
            at_m: glam::Vec3::new(0.5, -0.4, 0.2),
            speed_mps: 3.0,
            age_secs: 0.0,
        };
        pressure.set_splashes(&[splash], std::iter::empty(), &surface);
        pressure.advance(0.1, &[]);
        assert!(pressure.pressure.iter().any(|&pressed| pressed > 0.5));
        splash.age_secs = 0.5;
        pressure.set_splashes(&[splash], std::iter::empty(), &surface);
        for _ in 0..60 {
            pressure.advance(0.05, &[]);
        }
        assert!(pressure.pressure.iter().all(|&pressed| pressed == 0.0));
    }

    #[test]
    fn a_shadow_presses_on_its_area_and_nothing_remains_after_it() {
        let mut pressure = WaterPressure::new(WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO));
        for _ in 0..60 {
            pressure.advance(0.05, &[shadow(Vec::new())]);
        }
        assert!(
            (covered_m2(&pressure) - 0.785).abs() < 0.04,
            "{}",
            covered_m2(&pressure)
        );
        let square = [
            Vec2::new(-0.2, -0.2),
            Vec2::new(0.2, -0.2),
            Vec2::new(0.2, 0.2),
            Vec2::new(-0.2, 0.2),
        ];
        for _ in 0..60 {
            pressure.advance(0.05, &[shadow(square.to_vec())]);
        }
        assert!(
            (covered_m2(&pressure) - 0.16).abs() < 0.03,
            "{}",
            covered_m2(&pressure)
        );
        for _ in 0..60 {
            pressure.advance(0.05, &[]);
        }
        assert_eq!(covered_m2(&pressure), 0.0);
        assert_eq!(pressure.advance(0.05, &[]), 6);
    }

    #[test]
    fn huge_and_non_finite_outlines_are_handled() {
        let mut pressure = WaterPressure::new(WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let far = [
            Vec2::new(-900.0, -900.0),
            Vec2::new(900.0, -900.0),
            Vec2::new(0.0, 1e9),
        ];
        pressure.advance(1.0, &[shadow(far.to_vec()), shadow(vec![Vec2::NAN; 3])]);
        assert!(covered_m2(&pressure) > 10.0);
    }

    #[test]
    fn the_number_of_steps_follows_the_clock_at_any_picture_rate() {
        let mut pressure = WaterPressure::new(WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let steps: u32 = (0..600).map(|_| pressure.advance(1.0 / 60.0, &[])).sum();
        assert!((1199..=1200).contains(&steps), "{steps} steps");
        assert_eq!(pressure.advance(100.0, &[shadow(Vec::new())]), MAX_STEPS);
    }

    #[test]
    fn steps_stop_when_the_water_is_calm_and_resume_with_a_shadow() {
        let mut pressure = WaterPressure::new(WaterGrid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let visitor = [shadow(Vec::new())];
        for _ in 0..2 {
            assert_eq!(pressure.advance(0.1, &visitor), 12);
            let mut waits = (0..300).map(|_| pressure.advance(0.05, &[]));
            let moves = waits.by_ref().take_while(|&steps| steps > 0).count();
            assert!((240..290).contains(&moves), "{moves} pictures with steps");
            assert_eq!(waits.max(), Some(0));
        }
    }

    #[test]
    fn the_swell_has_a_low_slope() {
        let mut waves = [Wave::default(); WAVES];
        swell(12.3, 1.0, &mut waves);
        let steepness = waves
            .iter()
            .map(|w| (w.height_m * w.number.length()).powi(2) / 2.0)
            .sum::<f32>()
            .sqrt();
        assert!((0.02..0.06).contains(&steepness), "rms slope {steepness}");
    }
}
