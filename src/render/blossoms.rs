//! Blossoms that open on the water where a visitor stands, and float off when the visitor has left.
//!
//! In: time, the traces of visitors, visitors' shadows, agents. Out: the open blossoms, which are drawn like floating leaves. Each has
//! a place where it grows; closed blossoms are invisible. A picture allocates no memory.

use glam::Vec2;

use super::drift::drifting_secs;
use super::floating::{Leaf, keep_out, pull, push};
use super::look::SceneLook;
use super::noise::{smoothstep, unit_hash};
use super::traces::{Trace, Traces};
use crate::geometry::{Surface, SurfaceKind, Visitor};
use crate::world::AgentPose;

/// Distance between two places where a blossom grows if `look.blossoms` is 1.
const SPACING_M: f32 = 0.085;
/// Largest number of blossoms.
const MOST: usize = 3000;
/// Time in which a blossom opens. Tuned by eye.
const OPEN_SECS: f32 = 2.6;
/// Share of a place where a visitor stood from which on the first and the last blossom opens there.
const OPENS_FROM: [f32; 2] = [0.08, 0.40];
/// Time constant with which a moved blossom slows down. Tuned by eye.
const REST_SECS: f32 = 2.6;
/// Speed with which blossoms float off. Tuned by eye.
const DRIFT_MPS: f32 = 0.022;

/// Kind of [`Leaf`] from which on it is a blossom; the fraction is how far it is open.
const BLOSSOM: f32 = 2.0;
/// Largest fraction, so that an open blossom is no other kind.
const OPEN: f32 = 0.999;

/// One blossom.
#[derive(Clone, Copy, Debug)]
struct Blossom {
    home_m: Vec2,
    at_m: Vec2,
    velocity_mps: Vec2,
    /// From the middle to the rim when it is open.
    half_length_m: Vec2,
    tone: f32,
    /// How far it is open, 0..1.
    open: f32,
    /// Share of a place where a visitor stood from which on it opens.
    opens_from: f32,
}

/// The blossoms of a scene.
#[derive(Debug, Default)]
pub(super) struct Blossoms {
    all: Vec<Blossom>,
    /// Those that are open, as the GPU reads them.
    pub(super) open: Vec<Leaf>,
    /// Time in which a blossom closes.
    close_secs: f32,
    /// Middle and radius of everything that blossoms cannot cross, in meters.
    obstacles: Vec<(Vec2, f32)>,
    /// Whether one is open.
    is_any_open: bool,
}

impl Blossoms {
    /// Distributes the places where blossoms grow. `obstacles` are middles and radii of everything that they cannot cross.
    pub(super) fn new(look: &SceneLook, surface: &Surface, obstacles: &[(Vec2, f32)]) -> Self {
        if surface.kind == SurfaceKind::Wall || look.blossoms <= 0.0 {
            return Self::default();
        }
        let half_m = surface.half_extent_m();
        // Farther apart on a large surface, so that there are some everywhere. A last row and column are larger than the surface.
        let widest_m = 1.03 * (4.0 * half_m.x * half_m.y / MOST as f32).sqrt();
        let spacing_m = (SPACING_M / look.blossoms.sqrt()).max(widest_m);
        let counts = (2.0 * half_m / spacing_m).ceil();
        let columns = counts.x as u32;
        let blossom = |i: u32| {
            let draw = |purpose| unit_hash(i.wrapping_add(look.ground_seed << 12), purpose);
            let cell = Vec2::new((i % columns) as f32, (i / columns) as f32);
            let aside = Vec2::new(draw(231), draw(232));
            let home_m = (cell + 0.1 + 0.8 * aside) * spacing_m - half_m;
            let length_m = 0.026 + 0.038 * draw(233) * draw(234);
            let [first, last] = OPENS_FROM;
            Blossom {
                home_m,
                at_m: home_m,
                velocity_mps: Vec2::ZERO,
                half_length_m: Vec2::from_angle(std::f32::consts::TAU * draw(235)) * length_m,
                tone: draw(236),
                open: 0.0,
                opens_from: first + (last - first) * draw(237),
            }
        };
        let is_free = |blossom: &Blossom| {
            let blocks = |&(middle, radius_m): &(Vec2, f32)| {
                blossom.home_m.distance(middle) < radius_m + blossom.half_length_m.length()
            };
            !obstacles.iter().any(blocks)
        };
        let count = ((counts.x * counts.y) as usize).min(MOST);
        Self {
            all: (0..count as u32).map(blossom).filter(is_free).collect(),
            open: Vec::with_capacity(count),
            obstacles: obstacles.to_vec(),
            close_secs: look.trace_secs,
            is_any_open: false,
        }
    }

    /// Continues with the open blossoms of another scene.
    pub(super) fn continue_from(&mut self, old: &Self) {
        for (blossom, from) in self.all.iter_mut().zip(&old.all) {
            if blossom.home_m == from.home_m {
                *blossom = *from;
            }
        }
        self.is_any_open = old.is_any_open;
    }

    /// Opens, moves and closes the blossoms for a time step of `dt_secs`.
    pub(super) fn advance(
        &mut self,
        dt_secs: f32,
        time_secs: f64,
        traces: &Traces,
        (shadows, agents): (&[Visitor], &[AgentPose]),
    ) {
        if self.all.is_empty() || (shadows.is_empty() && !self.is_any_open && self.open.is_empty())
        {
            return;
        }
        let t = drifting_secs(time_secs);
        let calm = (-dt_secs / REST_SECS).exp();
        self.open.clear();
        for blossom in &mut self.all {
            // A visitor who only walks by is there for a moment.
            let stood = traces.at(Trace::Stood, blossom.home_m);
            let change = if stood >= blossom.opens_from {
                1.0 / OPEN_SECS
            } else {
                -1.0 / self.close_secs
            };
            blossom.open = (blossom.open + change * dt_secs).clamp(0.0, 1.0);
            if blossom.open <= 0.0 {
                (blossom.at_m, blossom.velocity_mps) = (blossom.home_m, Vec2::ZERO);
                continue;
            }
            blossom.float((dt_secs, calm, t), (shadows, agents), &self.obstacles);
            let unfolded = smoothstep(0.0, 1.0, blossom.open);
            self.open.push(Leaf {
                position_m: blossom.at_m,
                half_length_m: blossom.half_length_m * (0.25 + 0.75 * unfolded),
                kind: BLOSSOM + OPEN * unfolded,
                tone: blossom.tone,
            });
        }
        self.is_any_open = !self.open.is_empty();
    }
}

impl Blossom {
    /// Moves the blossom with the water: with the drift, visitors and fish. `calm` is the share of its velocity that is left.
    fn float(
        &mut self,
        (dt_secs, calm, t): (f32, f32, f32),
        (shadows, agents): (&[Visitor], &[AgentPose]),
        obstacles: &[(Vec2, f32)],
    ) {
        let at = self.at_m;
        let drift = DRIFT_MPS
            * Vec2::new(
                (0.9 * at.y + 0.10 * t).sin() + 0.5 * (2.1 * at.y - 0.18 * t + at.x).sin(),
                (1.1 * at.x - 0.08 * t).cos() + 0.5 * (2.7 * at.x + 0.14 * t - at.y).cos(),
            );
        for shadow in shadows {
            pull(at, shadow, dt_secs, &mut self.velocity_mps);
        }
        for agent in agents {
            push(at, agent, dt_secs, &mut self.velocity_mps);
        }
        self.velocity_mps *= calm;
        let mut moved = at + (self.velocity_mps + drift) * dt_secs;
        keep_out(obstacles, dt_secs, &mut moved, &mut self.velocity_mps);
        let turned =
            Vec2::from_angle(0.15 * (self.tone - 0.5) * dt_secs).rotate(self.half_length_m);
        if moved.is_finite() && self.velocity_mps.is_finite() && turned.is_finite() {
            (self.at_m, self.half_length_m) = (moved, turned);
        } else {
            self.velocity_mps = Vec2::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::water::{WaterGrid, WaterPressure};

    struct Pool {
        pressure: WaterPressure,
        traces: Traces,
        blossoms: Blossoms,
        time_secs: f64,
    }

    impl Pool {
        fn new(kind: SurfaceKind) -> Self {
            let look = SceneLook {
                blossoms: 1.0,
                trace_secs: 10.0,
                ..SceneLook::default()
            };
            let surface = Surface {
                kind,
                ..Surface::default()
            };
            let grid = WaterGrid::new(&surface, 0.9, Vec2::ZERO);
            Self {
                pressure: WaterPressure::new(grid),
                traces: Traces::new(&look, kind, grid),
                blossoms: Blossoms::new(&look, &surface, &[]),
                time_secs: 0.0,
            }
        }

        fn run(&mut self, secs: f32, shadows: &[Visitor]) {
            for _ in 0..(secs * 20.0) as u32 {
                self.time_secs += 0.05;
                self.pressure.advance(0.05, shadows);
                let pressure = &self.pressure.pressure;
                self.traces.advance(0.05, self.time_secs, pressure, shadows);
                self.blossoms
                    .advance(0.05, self.time_secs, &self.traces, (shadows, &[]));
            }
        }
    }

    fn visitor(at: Vec2) -> Visitor {
        Visitor {
            id: 1,
            centroid_m: at,
            foot_m: at,
            radius_m: 0.25,
            ..Visitor::default()
        }
    }

    #[test]
    fn blossoms_open_around_a_visitor_who_stands_and_float_off_and_close_after() {
        let mut pool = Pool::new(SurfaceKind::Floor);
        pool.run(0.3, &[visitor(Vec2::ZERO)]);
        assert!(pool.blossoms.open.is_empty());
        pool.run(11.7, &[visitor(Vec2::ZERO)]);
        let opened = pool.blossoms.open.clone();
        assert!(opened.len() > 15, "{}", opened.len());
        let visible = |leaf: &&Leaf| leaf.position_m.length() > 0.2;
        assert!(opened.iter().filter(visible).count() > 10);
        assert!(opened.iter().all(|leaf| leaf.position_m.length() < 0.9));
        pool.run(6.0, &[]);
        assert!(pool.blossoms.open.len() > 10, "they close too early");
        pool.run(14.0, &[]);
        assert_eq!(pool.blossoms.open, []);
    }

    #[test]
    fn blossoms_grow_everywhere_also_on_a_large_surface() {
        let look = SceneLook {
            blossoms: 1.0,
            ..SceneLook::default()
        };
        for (width_m, height_m) in [(4.0, 3.0), (12.0, 6.0), (30.0, 6.0)] {
            let surface = Surface {
                width_m,
                height_m,
                ..Surface::default()
            };
            let all = Blossoms::new(&look, &surface, &[]).all;
            let last = all
                .iter()
                .map(|blossom| blossom.home_m.y)
                .fold(0.0, f32::max);
            assert!(last > 0.5 * height_m - 0.4, "{width_m}: {last}");
            assert!((500..=MOST).contains(&all.len()), "{}", all.len());
        }
    }

    #[test]
    fn no_blossom_opens_on_a_wall_or_for_a_visitor_who_walks() {
        let mut wall = Pool::new(SurfaceKind::Wall);
        wall.run(8.0, &[visitor(Vec2::ZERO)]);
        assert_eq!(wall.blossoms.open, []);
        let mut pool = Pool::new(SurfaceKind::Ceiling);
        for step in 0..40 {
            pool.run(0.1, &[visitor(Vec2::new(0.08 * step as f32 - 1.6, 0.0))]);
        }
        assert!(pool.blossoms.open.len() < 5, "{}", pool.blossoms.open.len());
    }
}
