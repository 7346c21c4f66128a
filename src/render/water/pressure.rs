//! The pressure of visitors' shadows and splashes on the water, on a grid that covers the visible water.
//!
//! In: shadows, splashes, a time step. Out: the pressure of each cell, from which `pushes` computes how the water moves.

use glam::Vec2;

use crate::geometry::{Surface, Visitor, polygon_edges};
use crate::render::noise::unit_hash;
use crate::world::Splash;

/// Columns of the grid.
const GRID_COLUMNS: u32 = 256;
/// Size of the grid relative to the visible ground. The grid is larger, so that waves leave the picture before they reach its
/// edge.
const MARGIN: f32 = 1.08;
/// Time constant with which the pressure follows a shadow. It smooths the jumps of a tracked shadow between camera frames.
const FOLLOW_SECS: f32 = 0.07;

/// Corners of the outline of a shadow that is a disc.
const DISC_CORNERS: u8 = 24;

/// Time between two rings of a visitor who stands, and how much longer it is for some. Tuned by eye.
const LAP_SECS: f32 = 1.5;
const LAP_MORE_SECS: f32 = 0.8;
/// Time in which the water rises and falls for a ring. It sets the length of the waves: about 0.3 m. Tuned by eye.
const LAP_PULSE_SECS: f32 = 0.42;
/// Speed from which a visitor makes a wake, and no rings.
const LAP_BELOW_MPS: f32 = 0.3;
/// Largest number of visitors around whom the water laps.
const MOST_LAPS: usize = 64;

/// Time for which a splash presses on the water. Tuned by eye.
const SPLASH_SECS: f32 = 0.12;

/// The grid of the visible water.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaterGrid {
    /// Columns along x and rows along z; both multiples of 8.
    pub size: [u32; 2],
    /// Side of a square cell.
    pub cell_m: f32,
    /// Half extent of the grid.
    pub half_m: Vec2,
}

impl WaterGrid {
    /// Creates the grid for a surface above ground at `depth_m`. `sun_shift` is the horizontal shift of sunlight per meter of
    /// depth; the grid reaches beyond the ground by this shift. The grid has [`GRID_COLUMNS`] columns and at most four times
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

/// A visitor who stands, around whom the water laps: nobody stands quite still, so there is a ring from time to time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lap {
    /// Middle of the shadow.
    pub(super) center_m: Vec2,
    /// Radius of a circle with the area of the shadow.
    pub(super) radius_m: f32,
    /// Change of the height of the water at the edge of the shadow since the previous picture, as a share of the largest height of a ring;
    /// negative while the water falls.
    pub(super) rise: f32,
}

/// Pressure of shadows and splashes on the grid.
#[derive(Debug)]
pub struct WaterPressure {
    grid: WaterGrid,
    /// Pressure on each cell, 0..1, in rows along x.
    pub pressure: Vec<f32>,
    /// Value that the pressure of each cell approaches: 1 inside a shadow, otherwise 0.
    target: Vec<u8>,
    /// Whether neither shadows nor their remaining pressure are present.
    is_calm: bool,
    /// Splashes and falling drops of this picture, as round shadows.
    splashes: Vec<Visitor>,
    /// Corners of a shadow. Scratch memory.
    corners: Vec<Vec2>,
    /// The visitors of this picture around whom the water laps.
    pub(super) laps: Vec<Lap>,
    /// Time of the rings.
    secs: f64,
}

impl WaterPressure {
    /// Creates calm water without shadows.
    pub fn new(grid: WaterGrid) -> Self {
        Self {
            grid,
            pressure: vec![0.0; grid.cells()],
            target: vec![0; grid.cells()],
            is_calm: true,
            splashes: Vec::new(),
            corners: Vec::new(),
            laps: Vec::with_capacity(MOST_LAPS),
            secs: 0.0,
        }
    }

    /// Continues from the pressure on other water, so that its shadows do not arrive again.
    pub(in crate::render) fn continue_from(&mut self, old: &Self) {
        if self.grid == old.grid {
            self.is_calm = old.is_calm;
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

    /// Advances the pressure by `dt_secs`.
    pub fn advance(&mut self, dt_secs: f32, shadows: &[Visitor]) {
        self.lap(dt_secs, shadows);
        let splashes = std::mem::take(&mut self.splashes);
        let is_still = shadows.is_empty() && splashes.is_empty();
        if is_still && self.is_calm {
            self.splashes = splashes;
            return;
        }
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
    }

    /// Lists the visitors around whom the water laps in this picture.
    fn lap(&mut self, dt_secs: f32, shadows: &[Visitor]) {
        let before = self.secs;
        self.secs += f64::from(dt_secs.clamp(0.0, 1.0));
        self.laps.clear();
        for shadow in shadows.iter().take(MOST_LAPS) {
            let stands = 1.0 - shadow.velocity_mps.length() / LAP_BELOW_MPS;
            let period_secs = LAP_SECS + LAP_MORE_SECS * unit_hash(shadow.id, 171);
            let height = |secs: f64| {
                let turns = secs / f64::from(period_secs) + f64::from(unit_hash(shadow.id, 172));
                let share = turns.fract() as f32 * period_secs / LAP_PULSE_SECS;
                (std::f32::consts::PI * share.min(1.0)).sin().powi(2)
            };
            let rise = stands.max(0.0) * (height(self.secs) - height(before));
            if rise.abs() > 1e-4 && shadow.centroid_m.is_finite() {
                self.laps.push(Lap {
                    center_m: shadow.centroid_m,
                    radius_m: shadow.radius_m.clamp(0.0, 1.0),
                    rise,
                });
            }
        }
    }

    /// Marks the cells whose centers are inside a shadow (even-odd rule along each row). A shadow without an outline is a disc.
    fn fill(&mut self, shadow: &Visitor) {
        let (grid, corners) = (self.grid, &mut self.corners);
        corners.clear();
        if shadow.outline_m.len() >= 3 {
            corners.extend_from_slice(&shadow.outline_m);
        } else {
            let angle = |i: u8| f32::from(i) * std::f32::consts::TAU / f32::from(DISC_CORNERS);
            let corner = |i| shadow.centroid_m + shadow.radius_m * Vec2::from_angle(angle(i));
            corners.extend((0..DISC_CORNERS).map(corner));
        }
        // In cells, whose centers are whole numbers.
        for corner in corners.iter_mut() {
            *corner = (*corner + grid.half_m) / grid.cell_m - 0.5;
        }
        if !corners.iter().all(|corner| corner.is_finite()) {
            return;
        }
        let columns = grid.size[0] as usize;
        let low = corners.iter().fold(f32::INFINITY, |low, c| low.min(c.y));
        let high = corners
            .iter()
            .fold(f32::NEG_INFINITY, |high, c| high.max(c.y));
        let first = low.ceil().max(0.0) as usize;
        let last = (high.floor().min(grid.size[1] as f32 - 1.0) + 1.0).max(0.0) as usize;
        let mut crossings = [0.0f32; 64];
        for row in first..last {
            let y = row as f32;
            let mut found = 0;
            for (a, b) in polygon_edges(corners) {
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
    use shoal_testing::assert_near;

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
        assert_near(covered_m2(&pressure), 0.785, 0.04);
        let square = [
            Vec2::new(-0.2, -0.2),
            Vec2::new(0.2, -0.2),
            Vec2::new(0.2, 0.2),
            Vec2::new(-0.2, 0.2),
        ];
        for _ in 0..60 {
            pressure.advance(0.05, &[shadow(square.to_vec())]);
        }
        assert_near(covered_m2(&pressure), 0.16, 0.03);
        for _ in 0..60 {
            pressure.advance(0.05, &[]);
        }
        assert_eq!(covered_m2(&pressure), 0.0);
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
}
