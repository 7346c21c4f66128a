//! What moves the water: the swell's waves, where visitors' shadows lie on the height field's grid, and how many fixed
//! steps a frame owes. The height field is in `ripples`, what light makes of it in `caustics`.

use glam::{Vec2, Vec4};

use super::pose::chance;
use crate::geometry::Surface;
use crate::world::{Shadow, Splash};

/// Columns of the height field.
pub const COLUMNS: u32 = 256;
/// Fixed time step of the wave equation.
pub const STEP_SECS: f64 = 1.0 / 120.0;
/// Most steps a frame makes up for; beyond that the water lags behind rather than the picture.
pub const MAX_STEPS: u32 = 12;
/// Number of waves in the swell.
pub const WAVES: usize = 14;
/// How much larger the field is than the ground that is seen, so that waves leave the picture before they meet its edge.
const MARGIN: f32 = 1.08;
/// Time in which the water takes notice of a shadow; softens the steps of tracking.
const NOTICE_SECS: f32 = 0.07;

/// Rings die within seconds; when nobody has stirred the water for so long, none of them can be seen any more and the
/// field rests. Only the swell goes on.
const STILL_AFTER_SECS: f32 = 12.0;

/// How long a splash pushes the water. Tuned by eye, 2026-11-21.
const SPLASH_SECS: f32 = 0.12;

/// The grid that carries the height field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Columns along x and rows along z; both multiples of 8.
    pub size: [u32; 2],
    /// Side of a cell.
    pub cell_m: f32,
    /// Half of the field's extent.
    pub half_m: Vec2,
}

impl Grid {
    /// The grid for a surface over ground at a depth, lit aslant by a sun that shifts by `sun_shift` per meter: square
    /// cells, [`COLUMNS`] wide, at most four times as high.
    pub fn new(surface: &Surface, depth_m: f32, sun_shift: Vec2) -> Self {
        let seen =
            surface.half_extent_m() * surface.scale_at_depth(depth_m) + sun_shift.abs() * depth_m;
        let extent = 2.0 * MARGIN * seen;
        let cell_m = extent.x / COLUMNS as f32;
        let rows = ((extent.y / cell_m / 8.0).ceil() as u32 * 8).clamp(16, 4 * COLUMNS);
        Self {
            size: [COLUMNS, rows],
            cell_m,
            half_m: Vec2::new(COLUMNS as f32, rows as f32) * cell_m / 2.0,
        }
    }

    /// Cells.
    pub fn cells(&self) -> usize {
        (self.size[0] * self.size[1]) as usize
    }
}

/// One wave of the swell: wave vector, phase at the frame's time, and height (slope is height times wave number).
pub type Wave = Vec4;

/// The swell's waves at a time. Their lengths and directions share no common period: the net of light never repeats.
///
/// **Source**: deep-water dispersion ω² = g·k, slowed; lengths and slopes tuned by eye, 2026-11.
pub fn swell(time_secs: f64, strength: f32, waves: &mut [Wave; WAVES]) {
    for (i, wave) in waves.iter_mut().enumerate() {
        let n = i as u32;
        let share = (i as f32 + 0.5) / WAVES as f32;
        let length_m = 0.13 * (0.60f32 / 0.13).powf(share) * (0.9 + 0.2 * chance(n, 11));
        // Mostly from one side, as wind would, but from all around: standing patterns twinkle rather than march.
        let heading = (n as f32) * 2.399_963 + 0.7 * (chance(n, 12) - 0.5);
        let number = std::f32::consts::TAU / length_m;
        let frequency = 0.42 * (9.81 * number).sqrt();
        let phase = (f64::from(frequency) * time_secs
            + f64::from(chance(n, 13)) * std::f64::consts::TAU)
            .rem_euclid(std::f64::consts::TAU);
        let slope = strength * 0.0145 * (0.55 + 0.9 * (share * std::f32::consts::PI).sin());
        let direction = Vec2::from_angle(heading) * number;
        *wave = Vec4::new(direction.x, direction.y, phase as f32, slope / number);
    }
}

/// After so long what drifts begins anew. Rates of its sines are multiples of 0.002 rad/s, here and in `shaders/`, so that
/// each is then where it was at the beginning, and does not jump. Foam and glints, which are noise, and the glow of specks,
/// which has a rate for each, do.
pub(super) const ANEW_SECS: f64 = 1000.0 * std::f64::consts::PI;

/// A time for what drifts, that stays precise over months.
pub fn drifting_secs(time_secs: f64) -> f32 {
    time_secs.rem_euclid(ANEW_SECS) as f32
}

/// Shadows on the grid, and the time the field is behind.
#[derive(Debug)]
pub struct Stir {
    grid: Grid,
    /// How much shadows press on each cell, 0..1: rows along x.
    pub presence: Vec<f32>,
    target: Vec<u8>,
    debt_secs: f64,
    calm: bool,
    /// Time since the last shadow was gone.
    calm_secs: f32,
    /// What broke through the surface, as round shadows.
    splashes: Vec<Shadow>,
}

impl Stir {
    /// Calm water.
    pub fn new(grid: Grid) -> Self {
        Self {
            grid,
            presence: vec![0.0; grid.cells()],
            target: vec![0; grid.cells()],
            debt_secs: 0.0,
            calm: true,
            calm_secs: 0.0,
            splashes: Vec::new(),
        }
    }

    /// What broke through the surface pushes the water for a moment, from the next advance on; so do these drops.
    pub fn splash(
        &mut self,
        splashes: &[Splash],
        drops: impl Iterator<Item = Shadow>,
        surface: &Surface,
    ) {
        self.splashes.clear();
        self.splashes.extend(drops);
        let fresh = splashes.iter().filter(|s| s.age_secs < SPLASH_SECS);
        self.splashes.extend(fresh.map(|splash| Shadow {
            centroid_m: surface.floor_from_world(splash.at_m),
            // Harder is wider. Tuned by eye, 2026-11-21.
            radius_m: (0.03 * splash.speed_mps).clamp(0.04, 0.15),
            ..Shadow::default()
        }));
    }

    /// Takes notice of the shadows and returns how many steps the field owes.
    pub fn advance(&mut self, dt_secs: f32, shadows: &[Shadow]) -> u32 {
        self.debt_secs =
            (self.debt_secs + f64::from(dt_secs)).min(STEP_SECS * f64::from(MAX_STEPS));
        let steps = (self.debt_secs / STEP_SECS + 1e-6) as u32;
        self.debt_secs -= f64::from(steps) * STEP_SECS;
        let splashes = std::mem::take(&mut self.splashes);
        let is_still = shadows.is_empty() && splashes.is_empty();
        if is_still && self.calm {
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
        let follow = 1.0 - (-dt_secs / NOTICE_SECS).exp();
        let mut most = 0.0f32;
        for (presence, &target) in self.presence.iter_mut().zip(&self.target) {
            *presence += (f32::from(target) - *presence) * follow;
            most = most.max(*presence);
        }
        self.calm = is_still && most < 1.0 / 512.0;
        if self.calm {
            self.presence.fill(0.0);
        }
        steps
    }

    /// Marks the cells whose middle lies in a shadow (even-odd rule along each row).
    fn fill(&mut self, shadow: &Shadow) {
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

    fn shadow(outline_m: Vec<Vec2>) -> Shadow {
        Shadow {
            id: 1,
            centroid_m: Vec2::ZERO,
            foot_m: Vec2::ZERO,
            radius_m: 0.5,
            velocity_mps: Vec2::ZERO,
            area_m2: 0.785,
            age_secs: 1.0,
            still_secs: 0.0,
            outline_m,
        }
    }

    fn covered_m2(stir: &Stir) -> f32 {
        stir.presence.iter().filter(|&&p| p >= 0.5).count() as f32 * stir.grid.cell_m.powi(2)
    }

    #[test]
    fn a_splash_stirs_the_water_for_a_moment() {
        let surface = Surface::default();
        let mut stir = Stir::new(Grid::new(&surface, 0.8, Vec2::ZERO));
        let mut splash = Splash {
            at_m: glam::Vec3::new(0.5, -0.4, 0.2),
            speed_mps: 3.0,
            age_secs: 0.0,
        };
        stir.splash(&[splash], std::iter::empty(), &surface);
        stir.advance(0.1, &[]);
        assert!(stir.presence.iter().any(|&pressed| pressed > 0.5));
        splash.age_secs = 0.5;
        stir.splash(&[splash], std::iter::empty(), &surface);
        for _ in 0..60 {
            stir.advance(0.05, &[]);
        }
        assert!(stir.presence.iter().all(|&pressed| pressed == 0.0));
    }

    #[test]
    fn a_shadow_covers_its_own_area_and_leaves_calm_water_behind() {
        let mut stir = Stir::new(Grid::new(&Surface::default(), 0.8, Vec2::ZERO));
        for _ in 0..60 {
            stir.advance(0.05, &[shadow(Vec::new())]);
        }
        assert!(
            (covered_m2(&stir) - 0.785).abs() < 0.04,
            "{}",
            covered_m2(&stir)
        );
        let square = [
            Vec2::new(-0.2, -0.2),
            Vec2::new(0.2, -0.2),
            Vec2::new(0.2, 0.2),
            Vec2::new(-0.2, 0.2),
        ];
        for _ in 0..60 {
            stir.advance(0.05, &[shadow(square.to_vec())]);
        }
        assert!(
            (covered_m2(&stir) - 0.16).abs() < 0.03,
            "{}",
            covered_m2(&stir)
        );
        for _ in 0..60 {
            stir.advance(0.05, &[]);
        }
        assert_eq!(covered_m2(&stir), 0.0);
        assert_eq!(stir.advance(0.05, &[]), 6);
    }

    #[test]
    fn shadows_that_reach_far_out_or_are_broken_do_no_harm() {
        let mut stir = Stir::new(Grid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let far = [
            Vec2::new(-900.0, -900.0),
            Vec2::new(900.0, -900.0),
            Vec2::new(0.0, 1e9),
        ];
        stir.advance(1.0, &[shadow(far.to_vec()), shadow(vec![Vec2::NAN; 3])]);
        assert!(covered_m2(&stir) > 10.0);
    }

    #[test]
    fn steps_follow_the_clock_whatever_the_frame_rate() {
        let mut stir = Stir::new(Grid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let steps: u32 = (0..600).map(|_| stir.advance(1.0 / 60.0, &[])).sum();
        assert!((1199..=1200).contains(&steps), "{steps}");
        assert_eq!(stir.advance(100.0, &[shadow(Vec::new())]), MAX_STEPS);
    }

    #[test]
    fn water_that_nobody_stirs_rests_until_somebody_does() {
        let mut stir = Stir::new(Grid::new(&Surface::default(), 0.8, Vec2::ZERO));
        let visitor = [shadow(Vec::new())];
        for _ in 0..2 {
            assert_eq!(stir.advance(0.1, &visitor), 12);
            let mut waits = (0..300).map(|_| stir.advance(0.05, &[]));
            let moves = waits.by_ref().take_while(|&steps| steps > 0).count();
            assert!((240..290).contains(&moves), "{moves}");
            assert_eq!(waits.max(), Some(0));
        }
    }

    #[test]
    fn the_swell_is_gentle() {
        let mut waves = [Wave::ZERO; WAVES];
        swell(12.3, 1.0, &mut waves);
        let steepness = waves
            .iter()
            .map(|w| (w.w * w.truncate().truncate().length()).powi(2) / 2.0)
            .sum::<f32>()
            .sqrt();
        assert!((0.02..0.06).contains(&steepness), "rms slope {steepness}");
    }
}
