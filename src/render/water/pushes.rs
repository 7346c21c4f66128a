//! What visitors, splashes and fish do to the water in one picture.
//!
//! In: the pressure of shadows and splashes, agents, a time step. Out: the height by which each cell of the grid is raised.

use glam::Vec2;

use super::pressure::{Lap, WaterGrid, WaterPressure};
use crate::world::AgentPose;

/// Height by which an arriving shadow pushes the water up. Tuned by eye.
const PUSH_M: f32 = 0.017;
/// Height to which the water rises at the edge of a standing visitor's shadow, when it laps. Tuned by eye: higher waves break and
/// make foam.
const LAP_M: f32 = 0.022;
/// Half width of the ring that rises there. It is wider than a cell of the water at every quality, so that the rings are the same.
const LAP_WIDE_M: f32 = 0.055;
/// Depth at which a fish moves the surface 1/e times as much, as a share of its length.
const DEPTH_SHARE: f32 = 0.45;
/// Height of the water that a fish displaces, as a share of its length. Tuned by eye.
const HULL_SHARE: f32 = 0.03;
/// Smallest push of a fish that is computed, in meters per picture.
const LEAST_PUSH_M: f32 = 2e-6;

/// Heights by which visitors, splashes and fish raise the water in one picture.
#[derive(Debug)]
pub(in crate::render) struct Pushes {
    grid: WaterGrid,
    /// Length of each species.
    lengths_m: Vec<f32>,
    /// Pressure of the last picture.
    pressed: Vec<f32>,
    /// Height by which each cell is raised, in meters, in rows along x.
    pub(in crate::render) raised_m: Vec<f32>,
}

impl Pushes {
    pub(in crate::render) fn new(grid: WaterGrid, lengths_m: Vec<f32>) -> Self {
        Self {
            grid,
            lengths_m,
            pressed: vec![0.0; grid.cells()],
            raised_m: vec![0.0; grid.cells()],
        }
    }

    /// Continues from the pressure of other water, so that its shadows do not arrive again.
    pub(in crate::render) fn continue_from(&mut self, old: &Self) {
        if self.grid == old.grid {
            self.pressed.clone_from(&old.pressed);
        }
    }

    /// Computes the pushes of a picture. An arriving shadow pushes the water up and a leaving one draws it down, so a walking
    /// visitor makes a wake like the hull of a ship. Around a visitor who stands, the water laps. `stir` scales these pushes.
    pub(in crate::render) fn update(
        &mut self,
        pressure: &WaterPressure,
        stir: f32,
        agents: &[AgentPose],
        step_secs: f32,
    ) {
        let cells = self.raised_m.iter_mut().zip(&mut self.pressed);
        for ((raised, before), now) in cells.zip(&pressure.pressure) {
            *raised = (now - *before) * PUSH_M * stir;
            *before = *now;
        }
        for lap in &pressure.laps {
            self.lap(lap, stir);
        }
        for agent in agents {
            self.push_by(agent, step_secs);
        }
    }

    /// Adds a soft ring around a visitor who stands.
    fn lap(&mut self, lap: &Lap, stir: f32) {
        let WaterGrid {
            cell_m,
            half_m,
            size,
        } = self.grid;
        let reach_m = lap.radius_m + 3.0 * LAP_WIDE_M;
        let range = |middle_m: f32, half_m: f32, count: u32| {
            let cell = |m: f32| ((m + half_m) / cell_m).clamp(0.0, count as f32) as usize;
            cell(middle_m - reach_m)..cell(middle_m + reach_m)
        };
        let height_m = lap.rise * LAP_M * stir;
        for row in range(lap.center_m.y, half_m.y, size[1]) {
            for column in range(lap.center_m.x, half_m.x, size[0]) {
                let place = (Vec2::new(column as f32, row as f32) + 0.5) * cell_m - half_m;
                let off = (place.distance(lap.center_m) - lap.radius_m) / LAP_WIDE_M;
                if let Some(raised) = self.raised_m.get_mut(row * size[0] as usize + column) {
                    *raised += height_m * (-off * off).exp();
                }
            }
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

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::geometry::{Surface, Visitor};

    fn grid() -> WaterGrid {
        WaterGrid::new(&Surface::default(), 0.9, Vec2::ZERO)
    }

    #[test]
    fn a_shadow_pushes_only_while_it_arrives_or_leaves() {
        let mut pushes = Pushes::new(grid(), Vec::new());
        let mut pressure = WaterPressure::new(grid());
        pressure.pressure[40] = 1.0;
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], PUSH_M);
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], 0.0);
        pressure.pressure[40] = 0.0;
        pushes.update(&pressure, 1.0, &[], 0.016);
        assert_eq!(pushes.raised_m[40], -PUSH_M);
    }

    /// A visitor who stood left nothing on the water.
    #[test]
    fn the_water_laps_around_a_visitor_who_stands_and_is_not_raised_by_it() {
        let visitor = |velocity_mps| Visitor {
            radius_m: 0.3,
            velocity_mps,
            ..Visitor::default()
        };
        let moved = |velocity_mps| {
            let mut pressure = WaterPressure::new(grid());
            let mut pushes = Pushes::new(grid(), Vec::new());
            let (mut highest, mut sum_m) = (0.0f32, 0.0f32);
            for picture in 0..600 {
                pressure.advance(1.0 / 60.0, &[visitor(velocity_mps)]);
                pushes.update(&pressure, 1.0, &[], 1.0 / 60.0);
                if picture > 120 {
                    sum_m += pushes.raised_m.iter().sum::<f32>();
                    highest = pushes.raised_m.iter().copied().fold(highest, f32::max);
                }
            }
            (highest, sum_m)
        };
        let (highest, sum_m) = moved(Vec2::ZERO);
        let covered = 6.3 * 0.3 * 1.8 * LAP_WIDE_M / grid().cell_m.powi(2);
        assert!(highest > 0.0005, "{highest}");
        // At most one ring is not over.
        assert!(sum_m.abs() < 1.1 * LAP_M * covered, "{sum_m}");
        assert!(moved(Vec2::X).0 < 1e-5);
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
            start_phase: crate::world::FastStart::OVER,
            start_bend_rad: 0.0,
            radius_m: 0.1,
            teleported: false,
            swallowed: 0.0,
        }
    }

    #[test]
    fn a_fish_raises_the_water_ahead_and_adds_no_water() {
        let highest = |depth_m, speed_mps| {
            let mut pushes = Pushes::new(grid(), vec![0.6]);
            let calm = WaterPressure::new(grid());
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
        let mut pressure = WaterPressure::new(grid());
        pressure.advance(
            0.2,
            &[Visitor {
                radius_m: 0.3,
                ..Visitor::default()
            }],
        );
        let allocated = allocation_counter::measure(|| {
            pushes.update(&pressure, 1.0, &[fish(0.12, 0.5)], 0.016);
        });
        assert_eq!(allocated.count_total, 0, "number of allocations");
    }
}
