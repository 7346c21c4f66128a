//! The traces that visitors leave: a map of the floor with where a visitor moved a moment ago, where silt hangs in the water, where
//! a visitor stood, and where a foot stepped.
//!
//! In: the pressure of the visitors' shadows, their feet, a time step. Out: four shares per cell, from which the GPU draws glow, silt,
//! wet stones and footprints, and from which `blossoms` opens its flowers. The map advances in steps of fixed length, so that it
//! does not depend on the rate of pictures. A picture allocates no memory.

use glam::Vec2;

use super::drift::drifting_secs;
use super::look::SceneLook;
use super::water::WaterGrid;
use crate::geometry::{SurfaceKind, Visitor};

/// Duration of a step of the map.
const STEP_SECS: f32 = 1.0 / 30.0;
/// Most steps for one picture. After a longer pause, the traces are older than they should be.
const MOST_STEPS: u32 = 8;
/// Change of the pressure of a cell per step below which nothing moves there. The outline of a visitor who stands trembles.
const TREMBLE: f32 = 0.03;
/// Share of the full trace that a change of the pressure by 1 leaves. A visitor who walks by changes it twice.
const MOVED_GAIN: f32 = 1.2;
/// Share of the full cloud that a change of the pressure by 1 stirs up, as by a visitor who shuffles on the spot.
const SILT_GAIN: f32 = 0.12;
/// Radius of the cloud that a step stirs up. Tuned by eye.
const PUFF_M: f32 = 0.17;
/// Time after which the place of a standing visitor is full.
const STAND_SECS: f32 = 5.0;
/// Speed of the current that carries silt. Tuned by eye.
const CURRENT_MPS: f32 = 0.018;
/// Diffusion of traces of movement, of silt, and of places where a visitor stood, in m²/s. Tuned by eye.
const DIFFUSION_M2_PER_S: [f32; 3] = [0.0012, 0.0010, 0.0040];
/// Largest share of a cell that one step moves to each neighbor. More would be unstable.
const MOST_MOVED: f32 = 0.2;
/// Distance between two footprints. Tuned by eye.
const STRIDE_M: f32 = 0.34;
/// Half of the distance between the left and the right row of footprints.
const ASIDE_M: f32 = 0.075;
/// Largest number of visitors who leave footprints.
const MOST_WALKERS: usize = 64;
/// Share below which the rest of a trace is invisible.
const INVISIBLE: f32 = 1.0 / 512.0;

/// What a plane of the map holds. The number is the channel of the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// 1 where a shadow just arrived or left; falls evenly to 0.
    Moved = 0,
    /// Amount of silt in the water.
    Silt = 1,
    /// 1 where a visitor stood for [`STAND_SECS`], less around it.
    Stood = 2,
    /// 1 in a new footprint.
    Print = 3,
}

/// Planes of the map.
const PLANES: [Trace; 4] = [Trace::Moved, Trace::Silt, Trace::Stood, Trace::Print];

/// The last footprint of a visitor.
#[derive(Clone, Copy, Debug)]
struct Walker {
    id: u32,
    at_m: Vec2,
    is_left: bool,
}

/// The traces of a scene.
#[derive(Debug)]
pub(super) struct Traces {
    grid: WaterGrid,
    fade_secs: f32,
    /// Shares 0..1 of each plane, in rows along x; empty if the scene has no such trace.
    planes: [Vec<f32>; 4],
    /// Pressure at the last step.
    pressed: Vec<f32>,
    /// Next state of a plane. Scratch memory.
    next: Vec<f32>,
    walkers: Vec<Walker>,
    /// Time that the next step owes.
    owed_secs: f32,
    /// Whether neither traces nor shadows are present.
    pub(super) is_blank: bool,
    /// Square roots of the shares, as the GPU reads them.
    pub(super) texels: Vec<[u8; 4]>,
    /// Whether the texels have changed since the last picture.
    pub(super) is_changed: bool,
}

impl Traces {
    /// Creates a map without traces.
    pub(super) fn new(look: &SceneLook, kind: SurfaceKind, grid: WaterGrid) -> Self {
        let is_floor = kind == SurfaceKind::Floor;
        let wanted = |trace: &Trace| match trace {
            Trace::Moved => look.wake_glow > 0.0 || (is_floor && look.prints > 0.0),
            Trace::Silt => is_floor && look.silt > 0.0,
            Trace::Stood => look.blossoms > 0.0 || look.wake_glow > 0.0,
            Trace::Print => is_floor && look.prints > 0.0,
        };
        let cells = |is_wanted| if is_wanted { grid.cells() } else { 0 };
        let planes = PLANES.each_ref().map(|trace| cells(wanted(trace)));
        let any = cells(planes.iter().any(|&count| count > 0));
        Self {
            grid,
            fade_secs: look.trace_secs,
            planes: planes.map(|count| vec![0.0; count]),
            pressed: vec![0.0; any],
            next: vec![0.0; any],
            walkers: Vec::with_capacity(MOST_WALKERS),
            owed_secs: 0.0,
            is_blank: true,
            texels: vec![[0; 4]; any],
            is_changed: true,
        }
    }

    /// Columns and rows of the map.
    pub(super) fn size(&self) -> [u32; 2] {
        self.grid.size
    }

    /// Continues from the traces of another scene.
    pub(super) fn continue_from(&mut self, old: &Self) {
        if self.grid != old.grid {
            return;
        }
        for (plane, from) in self.planes.iter_mut().zip(&old.planes) {
            if plane.len() == from.len() {
                plane.clone_from(from);
            }
        }
        if self.pressed.len() == old.pressed.len() {
            self.pressed.clone_from(&old.pressed);
            self.is_blank = old.is_blank;
        }
    }

    /// Returns the share of a trace at a place, 0 if the scene has no such trace.
    pub(super) fn at(&self, trace: Trace, place_m: Vec2) -> f32 {
        let cell = (place_m + self.grid.half_m) / self.grid.cell_m;
        let [columns, rows] = self.grid.size;
        // Written so that a place that is not finite ends here too.
        if !(cell.cmpge(Vec2::ZERO).all() && cell.x < columns as f32 && cell.y < rows as f32) {
            return 0.0;
        }
        let index = cell.y as usize * columns as usize + cell.x as usize;
        let plane = self.planes.get(trace as usize);
        plane
            .and_then(|plane| plane.get(index))
            .copied()
            .unwrap_or(0.0)
    }

    /// Advances the traces to the time of a picture. `pressure` is that of the visitors' shadows on the same grid.
    pub(super) fn advance(
        &mut self,
        since_secs: f32,
        time_secs: f64,
        pressure: &[f32],
        shadows: &[Visitor],
    ) {
        self.is_changed = false;
        if self.pressed.is_empty() || (self.is_blank && shadows.is_empty()) {
            return;
        }
        self.owed_secs += since_secs.max(0.0);
        let steps = ((self.owed_secs / STEP_SECS) as u32).min(MOST_STEPS);
        if steps == 0 {
            return;
        }
        self.owed_secs = (self.owed_secs - steps as f32 * STEP_SECS).min(STEP_SECS);
        self.step_feet(shadows);
        for _ in 0..steps {
            self.step(pressure, drifting_secs(time_secs));
        }
        let most = self.write_texels();
        self.is_blank = shadows.is_empty() && most < INVISIBLE;
        if self.is_blank {
            self.planes.iter_mut().for_each(|plane| plane.fill(0.0));
            self.pressed.fill(0.0);
            self.texels.fill([0; 4]);
        }
        self.is_changed = true;
    }

    /// Advances all planes by [`STEP_SECS`].
    fn step(&mut self, pressure: &[f32], time_secs: f32) {
        let [moved, silt, stood, print] = &mut self.planes;
        let changes = self.pressed.iter().zip(pressure);
        let changes = || changes.clone().map(|(before, now)| (now - before).abs());
        for (moved, change) in moved.iter_mut().zip(changes()) {
            *moved = (*moved + (change - TREMBLE).max(0.0) * MOVED_GAIN).min(1.0);
        }
        for (silt, change) in silt.iter_mut().zip(changes()) {
            *silt = (*silt + (change - TREMBLE).max(0.0) * SILT_GAIN).min(1.0);
        }
        let loss = STEP_SECS / self.fade_secs.max(STEP_SECS);
        for (stood, pressed) in stood.iter_mut().zip(pressure) {
            *stood = (*stood + pressed * (STEP_SECS / STAND_SECS + loss)).min(1.0);
        }
        for print in print {
            *print = (*print - loss).max(0.0);
        }
        for (before, now) in self.pressed.iter_mut().zip(pressure) {
            *before = if now.is_finite() { *now } else { 0.0 };
        }
        // The current turns slowly.
        let heading = 2.0 * (0.05 * time_secs).sin() + 0.5 * (0.014 * time_secs).cos();
        let carried = Vec2::from_angle(heading) * (CURRENT_MPS * STEP_SECS / self.grid.cell_m);
        let carried = carried.clamp(Vec2::splat(-MOST_MOVED), Vec2::splat(MOST_MOVED));
        let spread = DIFFUSION_M2_PER_S.map(|rate| {
            let share = rate * STEP_SECS / (self.grid.cell_m * self.grid.cell_m);
            share.min(0.5 * MOST_MOVED)
        });
        let columns = self.grid.size[0] as usize;
        let flows = [Vec2::ZERO, carried, Vec2::ZERO];
        for ((plane, spread), flow) in self.planes.iter_mut().zip(spread).zip(flows) {
            if !plane.is_empty() {
                flow_on(
                    plane,
                    &mut self.next,
                    columns,
                    Flow::new(spread, flow, loss),
                );
            }
        }
    }

    /// Prints a foot, and stirs up silt there, for every visitor who has walked a stride since the last one.
    fn step_feet(&mut self, shadows: &[Visitor]) {
        let is_here = |walker: &Walker| shadows.iter().any(|shadow| shadow.id == walker.id);
        self.walkers.retain(is_here);
        for shadow in shadows.iter().filter(|shadow| shadow.foot_m.is_finite()) {
            let at_m = shadow.foot_m;
            let known = self
                .walkers
                .iter_mut()
                .find(|walker| walker.id == shadow.id);
            let Some(walker) = known else {
                if self.walkers.len() < MOST_WALKERS {
                    let (id, is_left) = (shadow.id, shadow.id.is_multiple_of(2));
                    self.walkers.push(Walker { id, at_m, is_left });
                }
                continue;
            };
            let way = at_m - walker.at_m;
            if way.length() < STRIDE_M {
                continue;
            }
            let ahead = way.normalize_or(Vec2::X);
            let side = if walker.is_left { -1.0 } else { 1.0 };
            (walker.at_m, walker.is_left) = (at_m, !walker.is_left);
            let foot_m = at_m + ahead.perp() * (side * ASIDE_M);
            self.mark(Trace::Print, foot_m, 0.2, |from| {
                sole(from.dot(ahead), from.dot(ahead.perp()) * side)
            });
            self.mark(Trace::Silt, foot_m, 2.5 * PUFF_M, |from| {
                (-from.length_squared() / (PUFF_M * PUFF_M)).exp()
            });
        }
    }

    /// Raises the cells of a plane around a place to what `share` returns for their offsets in meters. A scene without such a trace
    /// has no cells.
    fn mark(&mut self, trace: Trace, at_m: Vec2, reach_m: f32, share: impl Fn(Vec2) -> f32) {
        let WaterGrid {
            cell_m,
            half_m,
            size,
        } = self.grid;
        let range = |middle_m: f32, half_m: f32, count: u32| {
            let cell = |m: f32| ((m + half_m) / cell_m).clamp(0.0, count as f32) as usize;
            cell(middle_m - reach_m)..cell(middle_m + reach_m)
        };
        let columns = size[0] as usize;
        let Some(plane) = self.planes.get_mut(trace as usize) else {
            return;
        };
        for row in range(at_m.y, half_m.y, size[1]) {
            for column in range(at_m.x, half_m.x, size[0]) {
                let place = (Vec2::new(column as f32, row as f32) + 0.5) * cell_m - half_m;
                if let Some(cell) = plane.get_mut(row * columns + column) {
                    *cell = cell.max(share(place - at_m));
                }
            }
        }
    }

    /// Writes the texels of all planes. Returns the largest share.
    fn write_texels(&mut self) -> f32 {
        let mut most = 0.0f32;
        for (channel, plane) in self.planes.iter().enumerate() {
            for (texel, share) in self.texels.iter_mut().zip(plane) {
                most = most.max(*share);
                if let Some(byte) = texel.get_mut(channel) {
                    *byte = (share.sqrt() * 255.0 + 0.5) as u8;
                }
            }
        }
        most
    }
}

/// Returns the depth of a footprint, 0..1: a ball and a heel, narrower at the arch. `along` is towards the toes and `across` away
/// from the other foot, both in meters from its middle.
fn sole(along: f32, across: f32) -> f32 {
    let oval = |middle: f32, aside: f32, long: f32, wide: f32| {
        let off = Vec2::new((along - middle) / long, (across - aside) / wide);
        (1.5 - off.length()).clamp(0.0, 1.0)
    };
    let ball = oval(0.055, 0.004, 0.075, 0.046);
    let heel = oval(-0.075, -0.004, 0.050, 0.036);
    ball.max(heel).max(0.7 * oval(-0.01, 0.010, 0.070, 0.026))
}

/// How one step spreads and carries a plane.
#[derive(Clone, Copy)]
struct Flow {
    /// Share of a cell that comes from its left, right, upper and lower neighbor.
    from: [f32; 4],
    /// Share of a cell that stays.
    stays: f32,
    /// What a cell loses.
    loss: f32,
}

impl Flow {
    /// `carried` is the way of the water in cells; each component is at most [`MOST_MOVED`].
    fn new(spread: f32, carried: Vec2, loss: f32) -> Self {
        let from = [carried.x, -carried.x, carried.y, -carried.y].map(|way| spread + way.max(0.0));
        Self {
            from,
            stays: 1.0 - from.iter().sum::<f32>(),
            loss,
        }
    }
}

/// Advances a plane with rows of `columns` cells. The cells of the border stay empty.
fn flow_on(plane: &mut Vec<f32>, next: &mut Vec<f32>, columns: usize, flow: Flow) {
    let [left, right, upper, lower] = flow.from;
    let rows = plane.len() / columns.max(1);
    for row in 1..rows.saturating_sub(1) {
        let at = row * columns;
        let (Some(above), Some(here), Some(below), Some(out)) = (
            plane.get(at - columns..at),
            plane.get(at..at + columns),
            plane.get(at + columns..at + 2 * columns),
            next.get_mut(at + 1..at + columns - 1),
        ) else {
            return;
        };
        let across = here
            .windows(3)
            .zip(above.iter().skip(1).zip(below.iter().skip(1)));
        for (out, (near, (above, below))) in out.iter_mut().zip(across) {
            let &[before, this, after] = near else {
                continue;
            };
            let flowed =
                flow.stays * this + left * before + right * after + upper * above + lower * below;
            *out = (flowed - flow.loss).max(0.0);
        }
    }
    std::mem::swap(plane, next);
    let border = |cells: Option<&mut [f32]>| cells.into_iter().for_each(|cells| cells.fill(0.0));
    border(plane.get_mut(..columns));
    border(plane.get_mut((rows.max(1) - 1) * columns..));
    for row in plane.chunks_exact_mut(columns.max(1)) {
        for cell in [0, columns - 1] {
            if let Some(cell) = row.get_mut(cell) {
                *cell = 0.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Surface;
    use crate::render::water::WaterPressure;

    /// All traces, which fade in 10 s.
    fn look() -> SceneLook {
        SceneLook {
            wake_glow: 1.0,
            silt: 1.0,
            blossoms: 1.0,
            prints: 1.0,
            trace_secs: 10.0,
            ..SceneLook::default()
        }
    }

    /// Pressure and traces of a pool without visitors.
    struct Pool {
        pressure: WaterPressure,
        traces: Traces,
        time_secs: f64,
    }

    impl Pool {
        fn new(look: &SceneLook, kind: SurfaceKind) -> Self {
            let grid = WaterGrid::new(&Surface::default(), 0.9, Vec2::ZERO);
            Self {
                pressure: WaterPressure::new(grid),
                traces: Traces::new(look, kind, grid),
                time_secs: 0.0,
            }
        }

        fn advance(&mut self, dt_secs: f32, shadows: &[Visitor]) {
            self.time_secs += f64::from(dt_secs);
            self.pressure.advance(dt_secs, shadows);
            let pressure = &self.pressure.pressure;
            (self.traces).advance(dt_secs, self.time_secs, pressure, shadows);
        }

        /// A visitor walks along the x axis at 0.8 m/s, and then leaves.
        fn walk(&mut self, fps: f32) {
            let pictures = (4.0 * fps) as u32;
            for picture in 0..pictures {
                let x = 3.2 * picture as f32 / pictures as f32 - 1.6;
                self.advance(1.0 / fps, &[visitor(Vec2::new(x, 0.0))]);
            }
        }

        fn most(&self, trace: Trace) -> f32 {
            let plane = &self.traces.planes[trace as usize];
            plane.iter().copied().fold(0.0, f32::max)
        }
    }

    fn visitor(at: Vec2) -> Visitor {
        Visitor {
            id: 4,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.25,
            ..Visitor::default()
        }
    }

    #[test]
    fn a_visitor_who_walked_by_leaves_traces_that_fade_in_time() {
        let mut pool = Pool::new(&look(), SurfaceKind::Floor);
        pool.walk(30.0);
        let moved = |pool: &Pool, x| pool.traces.at(Trace::Moved, Vec2::new(x, 0.0));
        // The trace is older where the visitor began to walk.
        assert!(moved(&pool, 1.2) > moved(&pool, -1.2) + 0.1);
        assert!(moved(&pool, -1.2) > 0.3, "{}", moved(&pool, -1.2));
        assert_eq!(pool.traces.at(Trace::Moved, Vec2::new(0.0, 1.0)), 0.0);
        assert!(pool.most(Trace::Silt) > 0.5 && pool.most(Trace::Print) > 0.9);
        for _ in 0..(9.0 * 30.0) as u32 {
            pool.advance(1.0 / 30.0, &[]);
        }
        assert!(pool.most(Trace::Moved) > 0.01, "it fades too early");
        for _ in 0..(2.0 * 30.0) as u32 {
            pool.advance(1.0 / 30.0, &[]);
        }
        let left = PLANES.map(|trace| pool.most(trace));
        assert_eq!(left, [0.0; 4]);
        assert!(pool.traces.texels.iter().all(|texel| *texel == [0; 4]));
    }

    /// The picture reads no traces while there are none, see `has_traces` in `shaders/scene.wgsl`.
    #[test]
    fn a_map_is_blank_before_the_first_visitor_and_after_the_last_trace() {
        let mut pool = Pool::new(&look(), SurfaceKind::Floor);
        pool.advance(0.1, &[]);
        assert!(pool.traces.is_blank);
        pool.walk(30.0);
        assert!(!pool.traces.is_blank);
        (0..400).for_each(|_| pool.advance(0.1, &[]));
        assert!(pool.traces.is_blank);
        assert!(pool.traces.texels.iter().all(|texel| *texel == [0; 4]));
    }

    #[test]
    fn only_a_visitor_who_stays_leaves_a_place_where_somebody_stood() {
        let mut pool = Pool::new(&look(), SurfaceKind::Floor);
        pool.walk(30.0);
        assert!(
            pool.most(Trace::Stood) < 0.15,
            "{}",
            pool.most(Trace::Stood)
        );
        for _ in 0..10 * 30 {
            pool.advance(1.0 / 30.0, &[visitor(Vec2::ZERO)]);
        }
        assert!(pool.traces.at(Trace::Stood, Vec2::ZERO) > 0.6);
        assert!(pool.traces.at(Trace::Moved, Vec2::ZERO) < 0.2);
        assert!(pool.traces.at(Trace::Stood, Vec2::new(0.33, 0.0)) > 0.02);
    }

    #[test]
    fn traces_do_not_depend_on_the_rate_of_pictures() {
        let [slow, fast] = [30.0, 120.0].map(|fps| {
            let mut pool = Pool::new(&look(), SurfaceKind::Floor);
            pool.walk(fps);
            pool
        });
        for trace in [Trace::Moved, Trace::Silt, Trace::Stood] {
            let planes = [&slow, &fast].map(|pool| &pool.traces.planes[trace as usize]);
            let apart = planes[0].iter().zip(planes[1]).map(|(a, b)| (a - b).abs());
            let mean = apart.sum::<f32>() / planes[0].len() as f32;
            assert!(mean < 0.01, "{trace:?}: {mean}");
        }
    }

    #[test]
    fn a_scene_without_traces_has_no_map() {
        let plain = SceneLook {
            blossoms: 0.0,
            silt: 0.0,
            ..SceneLook::default()
        };
        let pool = Pool::new(&plain, SurfaceKind::Floor);
        assert!(pool.traces.texels.is_empty());
        assert_eq!(pool.traces.at(Trace::Stood, Vec2::ZERO), 0.0);
        // A wall has no ground for silt and feet.
        let wall = Pool::new(&look(), SurfaceKind::Wall);
        assert!(wall.traces.planes[Trace::Silt as usize].is_empty());
        assert!(!wall.traces.planes[Trace::Moved as usize].is_empty());
    }

    #[test]
    fn shadows_that_are_not_finite_leave_shares_between_0_and_1() {
        let mut pool = Pool::new(&look(), SurfaceKind::Floor);
        for dt_secs in [0.0, 0.25, 1e6, 0.02] {
            let shadows = [
                visitor(Vec2::NAN),
                visitor(Vec2::splat(1e30)),
                visitor(Vec2::ZERO),
            ];
            pool.advance(dt_secs, &shadows);
        }
        for plane in &pool.traces.planes {
            assert!(plane.iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }

    #[test]
    fn a_picture_allocates_nothing() {
        let mut pool = Pool::new(&look(), SurfaceKind::Floor);
        pool.advance(0.05, &[visitor(Vec2::ZERO)]);
        let shadows = [visitor(Vec2::ZERO), visitor(Vec2::X)];
        let (traces, pressure) = (&mut pool.traces, &pool.pressure.pressure);
        let allocated = allocation_counter::measure(|| {
            traces.advance(0.05, 1.0, pressure, &shadows);
        });
        assert_eq!(allocated.count_total, 0, "number of allocations");
    }
}
