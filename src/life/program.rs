//! Visitors that follow a program, so that the life in a pool can be judged without a camera. Their shadows have the size and
//! the speed of real ones. The same program, surface, duration and seed give the same visitors.

use glam::Vec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{Surface, Visitor, outline_distance_m};
use crate::world::{Observation, Random, RandomStream};

/// What the visitors of a run do.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VisitorProgram {
    /// There are no visitors.
    None,
    /// One visitor enters after half a minute, stands in one place for 8 minutes, and leaves.
    Still,
    /// Three visitors walk, stop for some seconds, leave and return.
    Walkers,
    /// Twelve children run.
    Children,
    /// Two visitors walk, stand, and stamp on the spot in between.
    Stampers,
    /// Two visitors walk, stand, and wave an arm in between.
    Wavers,
}

impl VisitorProgram {
    /// All programs.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Still,
        Self::Walkers,
        Self::Children,
        Self::Stampers,
        Self::Wavers,
    ];

    /// Name of the program on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Still => "still",
            Self::Walkers => "walkers",
            Self::Children => "children",
            Self::Stampers => "stampers",
            Self::Wavers => "wavers",
        }
    }

    /// Whether the visitors do the same during the whole run, so that its halves can be compared.
    pub fn is_steady(self) -> bool {
        self != Self::Still
    }

    fn visitors(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Still => 1,
            Self::Walkers => 3,
            Self::Children => 12,
            Self::Stampers | Self::Wavers => 2,
        }
    }
}

/// Lower and upper bound of a random value.
type Range = (f32, f32);

/// How the visitors of a program move.
struct Style {
    speed_mps: Range,
    pause_secs: Range,
    /// Probability that a visitor leaves the surface after a pause.
    leaves: f32,
    /// Time for which a visitor that has left stays away.
    away_secs: Range,
    /// Size of the shadow as a share of an adult's shadow.
    size: f32,
}

/// Adults who walk. Speeds of visitors in an exhibition: 0.5 to 1.3 m/s.
const WALKING: Style = Style {
    speed_mps: (0.5, 1.3),
    pause_secs: (1.0, 12.0),
    leaves: 0.15,
    away_secs: (5.0, 40.0),
    size: 1.0,
};

/// Children who run and rarely stop.
const RUNNING: Style = Style {
    speed_mps: (1.2, 3.0),
    pause_secs: (0.0, 1.5),
    leaves: 0.1,
    away_secs: (1.0, 8.0),
    size: 0.65,
};

/// Adults who stay long enough to stamp or wave several times.
const ACTING: Style = Style {
    pause_secs: (15.0, 40.0),
    ..WALKING
};

/// Period in which a visitor who acts first stands and then stamps or waves.
const ACT_PERIOD_SECS: f32 = 12.0;
/// Time of each period for which the visitor stamps or waves.
const ACT_SECS: f32 = 4.0;
/// Steps per second of a visitor who stamps, both feet together.
const STAMP_HZ: f32 = 2.5;
/// How far a lifted foot moves the edge of the shadow.
const STAMP_M: f32 = 0.12;
/// How far the body of a visitor who stamps moves to each side.
const STAMP_SWAY_M: f32 = 0.03;
/// Movements per second of a waving arm, there and back.
const WAVE_HZ: f32 = 1.0;
/// How far a raised arm moves the edge of the shadow.
const WAVE_M: f32 = 0.35;
/// Age of the outline with which the current one is compared for the agitation, as in `vision`.
const AGITATION_SECS: f32 = 0.2;

/// Time after which the still visitor enters, in a run that is long enough.
const ENTERS_AFTER_SECS: f64 = 30.0;
/// Time for which the still visitor stands, in a run that is long enough.
const STANDS_SECS: f64 = 480.0;
/// Half of the length of an adult's shadow: a lamp about 4 m high throws it.
const HALF_LENGTH_M: f32 = 0.42;
/// Half of the width of an adult's shadow.
const HALF_WIDTH_M: f32 = 0.2;
/// Number of corners of a shadow's outline.
const CORNERS: usize = 16;
/// Distance outside the surface at which a visitor that leaves stops.
const OUTSIDE_M: f32 = 0.8;
/// Floor point below the lamp. Shadows point away from it.
const LAMP_M: Vec2 = Vec2::new(0.15, -0.2);
/// Makes the random numbers of the visitors independent of those of the fish in a run with the same seed.
const SEED_OFFSET: u64 = 0x5ee_d0f5_4ad0;

/// The visitors of one run.
#[derive(Clone, Debug)]
pub struct VisitorScript {
    program: VisitorProgram,
    half_m: Vec2,
    seed: u64,
    stand_secs: f32,
    visitors: Vec<Walker>,
    next_id: u32,
    observation: Observation,
}

#[derive(Clone, Debug)]
struct Walker {
    /// Id of the shadow. A visitor that returns gets a new one, as from `vision`.
    id: u32,
    /// Number of walks so far. Each walk has its own random numbers.
    walk: u64,
    at_m: Vec2,
    goal_m: Vec2,
    speed_mps: f32,
    velocity_mps: Vec2,
    /// Time left until the next walk begins.
    pause_secs: f32,
    age_secs: f32,
    /// Time since the visitor arrived at the goal.
    stood_secs: f32,
    /// Time since the visitor walked, stamped or waved.
    still_secs: f32,
}

impl VisitorScript {
    /// Creates the visitors of a run of this duration, all outside the surface.
    pub fn new(program: VisitorProgram, surface: &Surface, seed: u64, run_secs: f64) -> Self {
        let mut script = Self {
            program,
            half_m: surface.half_extent_m(),
            seed: seed ^ SEED_OFFSET,
            stand_secs: STANDS_SECS.min(run_secs * 0.6) as f32,
            visitors: Vec::new(),
            next_id: 1,
            observation: Observation::default(),
        };
        for number in 0..program.visitors() {
            let outside = script.outside(number, 0);
            let first_pause = match program {
                VisitorProgram::Still => ENTERS_AFTER_SECS.min(run_secs * 0.1) as f32,
                _ => script.draw(number, 0, 9, (0.5, 6.0)),
            };
            script.visitors.push(Walker {
                id: script.next_id,
                walk: 0,
                at_m: outside,
                goal_m: outside,
                speed_mps: 1.0,
                velocity_mps: Vec2::ZERO,
                pause_secs: first_pause,
                age_secs: 0.0,
                stood_secs: 0.0,
                still_secs: 0.0,
            });
            script.next_id += 1;
        }
        script
    }

    /// Returns the observation at a time. The time must not be earlier than in the previous call.
    pub fn at(&mut self, time_secs: f64) -> &Observation {
        let dt = (time_secs - self.observation.time_secs).max(0.0) as f32;
        self.observation.time_secs = time_secs;
        for number in 0..self.visitors.len() {
            self.advance(number, dt);
        }
        let mut count = 0;
        for visitor in &self.visitors {
            if visitor.at_m.abs().cmple(self.half_m).all() {
                if self.observation.shadows.len() == count {
                    self.observation.shadows.push(Visitor::default());
                }
                let outline = Outline {
                    program: self.program,
                    size: self.style().size,
                };
                visitor.cast(&outline, &mut self.observation.shadows[count]);
                count += 1;
            }
        }
        self.observation.shadows.truncate(count);
        self.observation.shadows.sort_by_key(|shadow| shadow.id);
        &self.observation
    }

    fn style(&self) -> &'static Style {
        match self.program {
            VisitorProgram::Children => &RUNNING,
            VisitorProgram::Stampers | VisitorProgram::Wavers => &ACTING,
            _ => &WALKING,
        }
    }

    /// Moves a visitor, and begins its next walk when its pause is over.
    fn advance(&mut self, number: usize, dt: f32) {
        let visitor = &mut self.visitors[number];
        visitor.age_secs += dt;
        let way = visitor.goal_m - visitor.at_m;
        let step_m = visitor.speed_mps * dt;
        if way.length() > step_m {
            visitor.velocity_mps = way.normalize_or_zero() * visitor.speed_mps;
            visitor.at_m += visitor.velocity_mps * dt;
            (visitor.stood_secs, visitor.still_secs) = (0.0, 0.0);
            return;
        }
        visitor.velocity_mps = Vec2::ZERO;
        visitor.stood_secs += dt;
        let acts = Outline::acting_secs(self.program, visitor.stood_secs).is_some();
        visitor.still_secs = if acts { 0.0 } else { visitor.still_secs + dt };
        visitor.pause_secs -= dt;
        if visitor.pause_secs <= 0.0 {
            self.begin_walk(number);
        }
    }

    fn begin_walk(&mut self, index: usize) {
        let number = index as u32;
        let visitor = &self.visitors[index];
        let walk = visitor.walk + 1;
        let was_outside = visitor.at_m.abs().cmpgt(self.half_m).any();
        let style = self.style();
        let is_still = self.program == VisitorProgram::Still;
        let leaves = match self.program {
            VisitorProgram::Still => walk > 1,
            _ => !was_outside && self.draw(number, walk, 0, (0.0, 1.0)) < style.leaves,
        };
        let goal_m = if leaves {
            self.outside(number, walk)
        } else {
            // The still visitor stands in the middle of the surface, so that fish can come from all sides.
            let share = if is_still { 0.5 } else { 0.92 };
            let x = self.draw(number, walk, 1, (-share, share));
            let z = self.draw(number, walk, 2, (-share, share));
            Vec2::new(x, z) * self.half_m
        };
        let speed_mps = self.draw(number, walk, 3, style.speed_mps);
        let pause_secs = match (is_still, leaves) {
            (true, false) => self.stand_secs,
            (true, true) => f32::INFINITY,
            (false, false) => self.draw(number, walk, 4, style.pause_secs),
            (false, true) => self.draw(number, walk, 4, style.away_secs),
        };
        let id = if was_outside {
            self.next_id
        } else {
            self.visitors[index].id
        };
        self.next_id += u32::from(was_outside);
        let visitor = &mut self.visitors[index];
        if was_outside {
            visitor.age_secs = 0.0;
        }
        visitor.id = id;
        visitor.walk = walk;
        visitor.goal_m = goal_m;
        visitor.speed_mps = speed_mps;
        visitor.pause_secs = pause_secs;
        (visitor.stood_secs, visitor.still_secs) = (0.0, 0.0);
    }

    /// Returns a random point outside the surface, beside a random edge.
    fn outside(&self, number: u32, walk: u64) -> Vec2 {
        let along = self.draw(number, walk, 5, (-1.0, 1.0));
        let side = if self.draw(number, walk, 6, (0.0, 1.0)) < 0.5 {
            -1.0
        } else {
            1.0
        };
        if self.draw(number, walk, 7, (0.0, 1.0)) < 0.5 {
            Vec2::new(side * (self.half_m.x + OUTSIDE_M), along * self.half_m.y)
        } else {
            Vec2::new(along * self.half_m.x, side * (self.half_m.y + OUTSIDE_M))
        }
    }

    fn draw(&self, number: u32, walk: u64, purpose: u32, (low, high): Range) -> f32 {
        let random = Random {
            seed: self.seed,
            tick: walk,
        };
        low + (high - low) * random.unit(number, RandomStream::Place, purpose)
    }
}

/// What gives the outline of a visitor its shape.
struct Outline {
    program: VisitorProgram,
    size: f32,
}

impl Outline {
    /// Returns for how long a visitor who has stood for `stood_secs` has been stamping or waving; `None` while the visitor does not.
    fn acting_secs(program: VisitorProgram, stood_secs: f32) -> Option<f32> {
        let acts = matches!(program, VisitorProgram::Stampers | VisitorProgram::Wavers);
        let secs = stood_secs % ACT_PERIOD_SECS - (ACT_PERIOD_SECS - ACT_SECS);
        (acts && secs > 0.0).then_some(secs)
    }

    /// Returns the corners of an ellipse from the feet of a visitor away from the lamp, as it was `before_secs` ago.
    fn corners_m(&self, visitor: &Walker, before_secs: f32) -> [Vec2; CORNERS] {
        let (long_m, wide_m) = (HALF_LENGTH_M * self.size, HALF_WIDTH_M * self.size);
        let away = visitor.away();
        let side = away.perp();
        let act = Self::acting_secs(self.program, visitor.stood_secs - before_secs);
        let is_waving = self.program == VisitorProgram::Wavers;
        let hz = if is_waving { WAVE_HZ } else { STAMP_HZ / 2.0 };
        let swing = act.map_or(0.0, |secs| (std::f32::consts::TAU * hz * secs).sin());
        let sway_m = if is_waving { 0.0 } else { STAMP_SWAY_M * swing };
        let middle_m =
            visitor.middle_m(self.size) - visitor.velocity_mps * before_secs + side * sway_m;
        std::array::from_fn(|corner| {
            let angle = std::f32::consts::TAU * corner as f32 / CORNERS as f32;
            let (sin, cos) = angle.sin_cos();
            // Feet are at the near end of the shadow, and the arm that waves is in the middle of one side.
            let out_m = if is_waving {
                WAVE_M * (0.5 + 0.5 * swing) * f32::from(act.is_some() && sin > 0.9)
            } else {
                STAMP_M * (swing * sin.signum()).max(0.0) * (-cos).max(0.0)
            };
            let out = away * cos + side * sin;
            middle_m + away * (cos * long_m) + side * (sin * wide_m) + out * (out_m * self.size)
        })
    }
}

impl Walker {
    /// Returns the direction of the shadow, away from the lamp.
    fn away(&self) -> Vec2 {
        (self.at_m - LAMP_M).try_normalize().unwrap_or(Vec2::X)
    }

    fn middle_m(&self, size: f32) -> Vec2 {
        self.at_m + self.away() * (HALF_LENGTH_M * size * 0.8)
    }

    /// Writes the shadow of this visitor.
    fn cast(&self, outline: &Outline, shadow: &mut Visitor) {
        let size = outline.size;
        let (long_m, wide_m) = (HALF_LENGTH_M * size, HALF_WIDTH_M * size);
        shadow.id = self.id;
        shadow.foot_m = self.at_m;
        shadow.centroid_m = self.middle_m(size);
        shadow.radius_m = (long_m * wide_m).sqrt();
        shadow.area_m2 = std::f32::consts::PI * long_m * wide_m;
        shadow.velocity_mps = self.velocity_mps;
        shadow.age_secs = f64::from(self.age_secs);
        shadow.still_secs = f64::from(self.still_secs);
        let corners_m = outline.corners_m(self, 0.0);
        let before_m = outline.corners_m(self, AGITATION_SECS);
        let moved_m = outline_distance_m(&corners_m, &before_m, 0.0, |_| true);
        shadow.agitation_mps = moved_m.unwrap_or(0.0) / AGITATION_SECS;
        shadow.outline_m.clear();
        shadow.outline_m.extend(corners_m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(program: VisitorProgram, seed: u64) -> VisitorScript {
        VisitorScript::new(program, &Surface::default(), seed, 1200.0)
    }

    #[test]
    fn the_same_seed_gives_the_same_visitors() {
        let run = |seed| {
            let mut script = script(VisitorProgram::Children, seed);
            let mut last = Observation::default();
            for tick in 1..=1200 {
                last = script.at(f64::from(tick) / 60.0).clone();
            }
            last
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn the_still_visitor_stands_for_eight_minutes_and_leaves() {
        let mut script = script(VisitorProgram::Still, 1);
        let (mut present, mut longest) = (0, 0.0_f64);
        for tick in 1..=12_000 {
            let shadows = &script.at(f64::from(tick) / 10.0).shadows;
            present += shadows.len();
            longest = shadows.iter().map(|s| s.still_secs).fold(longest, f64::max);
        }
        assert!((478.0..481.0).contains(&longest), "stood for {longest} s");
        assert!(
            (4800..5000).contains(&present),
            "present in {present} of 12000 observations"
        );
    }

    #[test]
    fn visitors_who_stamp_or_wave_are_agitated_on_the_spot_and_stand_in_between() {
        for program in [VisitorProgram::Stampers, VisitorProgram::Wavers] {
            let mut script = script(program, 4);
            let (mut acting, mut least, mut still) = (0, f32::INFINITY, 0.0_f32);
            for tick in 1..=36_000 {
                for shadow in &script.at(f64::from(tick) / 60.0).shadows {
                    let stands = shadow.velocity_mps == Vec2::ZERO;
                    if stands && shadow.still_secs == 0.0 {
                        acting += 1;
                    } else if shadow.still_secs > 0.5 {
                        still = still.max(shadow.agitation_mps);
                    } else if !stands {
                        least = least.min(shadow.agitation_mps / shadow.velocity_mps.length());
                    }
                }
            }
            assert!(acting > 5000, "{program:?}: acting in {acting} ticks");
            assert!(still < 1e-3, "{program:?}: {still} m/s while standing");
            assert!(
                least > 0.3,
                "{program:?}: {least} of the speed while walking"
            );
        }
    }

    #[test]
    fn walkers_and_children_are_present_most_of_the_time_and_move_at_their_speed() {
        for (program, at_least) in [
            (VisitorProgram::Walkers, 1.5),
            (VisitorProgram::Children, 7.0),
        ] {
            let mut script = script(program, 2);
            let (mut present, mut fastest) = (0, 0.0_f32);
            for tick in 1..=12_000 {
                let shadows = &script.at(f64::from(tick) / 10.0).shadows;
                present += shadows.len();
                fastest = shadows
                    .iter()
                    .map(|s| s.velocity_mps.length())
                    .fold(fastest, f32::max);
            }
            let mean = present as f32 / 12_000.0;
            assert!(mean > at_least, "{program:?}: {mean} visitors on average");
            let limit = script.style().speed_mps.1;
            assert!(
                (limit * 0.9..=limit).contains(&fastest),
                "{program:?}: {fastest} m/s"
            );
        }
    }
}
