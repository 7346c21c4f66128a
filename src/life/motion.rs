//! Measures how agents swim: speed, turns, bursts, schools. Lengths are in body lengths, so that the figures can be compared with
//! paths of real fish, which are measured in the same way: paths in the plane of the picture, at 15 positions a second, each the
//! mean of 0.2 s.

use std::collections::VecDeque;

use glam::DVec2;
use serde::Serialize;

use super::histogram::Histogram;

/// Positions per second.
pub(super) const RATE_HZ: f64 = 15.0;
/// Number of positions over which the mean is taken: 0.2 s.
const SMOOTHED: usize = 3;
/// Duration over which the way is compared with the straight line: 2 s.
const STRAIGHT_STEPS: usize = 30;
/// The way and the school are measured at each third position.
const SPARSE: u64 = 3;
/// Shortest way that can be straight, in body lengths.
const WAY_BL: f64 = 0.3;
/// A way is straight if the distance between its ends is this share of it.
const STRAIGHT_SHARE: f64 = 0.95;
/// Speed from which the turn rate is measured, in body lengths per second: the heading of a slower fish is noise.
const MOVING_BL: f64 = 0.15;
/// Turn rate from which a change of side counts, in degrees per second.
const FLIP_DPS: f64 = 20.0;
/// A burst ends when the speed falls to this share of its peak.
const BURST_END: f64 = 0.85;
/// A burst begins when the speed rises to this multiple of its lowest value, plus `BURST_RISE_BL`.
const BURST_BEGIN: f64 = 1.2;
/// Smallest rise of a burst, in body lengths per second.
const BURST_RISE_BL: f64 = 0.02;
/// Number of mates whose mean heading is compared with that of an agent.
const MATES: usize = 3;
/// Largest number of agents of a species whose mates are searched at one time.
const SCHOOL_AGENTS: usize = 200;

/// How the agents of a species swim. A value is `None` if there was nothing to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Motion {
    /// Median speed, in body lengths per second.
    pub speed_bl: Option<f64>,
    /// Median turn rate, in degrees per second.
    pub turn_50_dps: Option<f64>,
    /// Turn rate that is exceeded in a tenth of the time, in degrees per second.
    pub turn_90_dps: Option<f64>,
    /// Share of the ways of 2 s that are straight.
    pub straight_share: Option<f64>,
    /// Bursts per second.
    pub bursts_per_sec: Option<f64>,
    /// Share of the time in which an agent becomes slower.
    pub slowing_share: Option<f64>,
    /// Changes of the turning side per second.
    pub flips_per_sec: Option<f64>,
    /// Median distance to the nearest mate, in body lengths.
    pub mate_bl: Option<f64>,
    /// Median angle between the heading of an agent and the mean heading of its three nearest mates.
    pub local_heading_deg: Option<f64>,
    /// Median polarization: 1 if all agents have the same heading.
    pub polarization: Option<f64>,
}

/// Sums over the agents of a species.
#[derive(Clone, Debug, Default)]
pub(super) struct MotionSums {
    speed: Histogram,
    turn: Histogram,
    mate: Histogram,
    local: Histogram,
    polarization: Histogram,
    /// Number of speeds, of changes of speed, of those that are slower, of ways, and of straight ways.
    speeds: u64,
    changes: u64,
    slower: u64,
    ways: u64,
    straight: u64,
    bursts: u64,
    flips: u64,
}

impl MotionSums {
    /// Returns the measured values.
    pub(super) fn summary(&self) -> Motion {
        let per = |sum: u64, of: u64| (of > 0).then(|| sum as f64 / of as f64);
        let per_sec = |sum: u64| per(sum, self.speeds).map(|share| share * RATE_HZ);
        Motion {
            speed_bl: self.speed.quantile(0.5),
            turn_50_dps: self.turn.quantile(0.5),
            turn_90_dps: self.turn.quantile(0.9),
            straight_share: per(self.straight, self.ways),
            bursts_per_sec: per_sec(self.bursts),
            slowing_share: per(self.slower, self.changes),
            flips_per_sec: per_sec(self.flips),
            mate_bl: self.mate.quantile(0.5),
            local_heading_deg: self.local.quantile(0.5),
            polarization: self.polarization.quantile(0.5),
        }
    }

    /// Adds the agents of one moment, each with its position in body lengths and its heading in radians.
    pub(super) fn add_school(&mut self, agents: &[(DVec2, f64)]) {
        if agents.len() <= MATES {
            return;
        }
        let step = agents.len().div_ceil(SCHOOL_AGENTS);
        for (index, &(at, heading)) in agents.iter().enumerate().step_by(step) {
            let mut near = [(f64::INFINITY, 0.0); MATES];
            for (other, &(mate, its_heading)) in agents.iter().enumerate() {
                let distance = at.distance_squared(mate);
                if other == index || distance >= near[MATES - 1].0 {
                    continue;
                }
                let place = near.partition_point(|(nearer, _)| *nearer <= distance);
                near[place..].rotate_right(1);
                near[place] = (distance, its_heading);
            }
            let mean: DVec2 = near.iter().map(|(_, a)| DVec2::from_angle(*a)).sum();
            let own = DVec2::from_angle(heading);
            self.mate.add(near[0].0.sqrt());
            self.local.add(own.angle_to(mean).abs().to_degrees());
        }
        let sum: DVec2 = agents.iter().map(|(_, a)| DVec2::from_angle(*a)).sum();
        self.polarization.add(sum.length() / agents.len() as f64);
    }
}

/// The last positions of one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    raw: VecDeque<DVec2>,
    /// Smoothed positions, the newest last.
    smooth: VecDeque<DVec2>,
    /// Speeds at the smoothed positions except the first and the last, in body lengths per second.
    speeds: VecDeque<f64>,
    /// Heading at the last speed, in radians.
    heading: f64,
    /// Turning side of the last clear turn: 1 or −1, or 0 before the first.
    side: f64,
    burst: Burst,
}

/// Search for bursts in the speed of an agent.
#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    is_begun: bool,
    is_falling: bool,
    /// Highest speed while it rises, lowest while it falls.
    extreme: f64,
}

impl Path {
    /// Adds a position in body lengths. `step` counts the positions of the run. Returns position and heading for the school, if they
    /// are known and due.
    pub(super) fn add(
        &mut self,
        at: DVec2,
        step: u64,
        sums: &mut MotionSums,
    ) -> Option<(DVec2, f64)> {
        self.raw.push_back(at);
        if self.raw.len() < SMOOTHED {
            return None;
        }
        let mean = self.raw.iter().sum::<DVec2>() / SMOOTHED as f64;
        self.raw.pop_front();
        self.smooth.push_back(mean);
        let count = self.smooth.len();
        if count < 3 {
            return None;
        }
        let velocity = (self.smooth[count - 1] - self.smooth[count - 3]) * (RATE_HZ / 2.0);
        self.add_velocity(velocity, sums);
        let is_due = step.is_multiple_of(SPARSE);
        // The position of the oldest speed is the second of the ring.
        if self.speeds.len() > STRAIGHT_STEPS {
            if is_due {
                let way: f64 = self.speeds.iter().take(STRAIGHT_STEPS).sum::<f64>() / RATE_HZ;
                let line = self.smooth[1].distance(self.smooth[1 + STRAIGHT_STEPS]);
                sums.ways += 1;
                sums.straight += u64::from(way > WAY_BL && line > way * STRAIGHT_SHARE);
            }
            self.speeds.pop_front();
            self.smooth.pop_front();
        }
        is_due.then(|| (self.smooth[self.smooth.len() - 2], self.heading))
    }

    fn add_velocity(&mut self, velocity: DVec2, sums: &mut MotionSums) {
        let (speed, heading) = (velocity.length(), velocity.to_angle());
        if let Some(&last) = self.speeds.back() {
            sums.changes += 1;
            sums.slower += u64::from(speed < last);
            if speed > MOVING_BL && last > MOVING_BL {
                let angle = DVec2::from_angle(self.heading).angle_to(DVec2::from_angle(heading));
                let turn_dps = angle.to_degrees() * RATE_HZ;
                sums.turn.add(turn_dps.abs());
                if turn_dps.abs() > FLIP_DPS {
                    sums.flips += u64::from(self.side * turn_dps < 0.0);
                    self.side = turn_dps.signum();
                }
            }
        }
        sums.speed.add(speed);
        sums.speeds += 1;
        sums.bursts += u64::from(self.burst.begins(speed));
        self.heading = heading;
        self.speeds.push_back(speed);
    }

    /// Forgets the positions: the agent has been moved.
    pub(super) fn clear(&mut self) {
        self.raw.clear();
        self.smooth.clear();
        self.speeds.clear();
    }
}

impl Burst {
    /// Adds a speed, and returns whether a burst begins.
    fn begins(&mut self, speed: f64) -> bool {
        if !self.is_begun {
            *self = Self {
                is_begun: true,
                is_falling: false,
                extreme: speed,
            };
        }
        if self.is_falling {
            self.extreme = self.extreme.min(speed);
        } else {
            self.extreme = self.extreme.max(speed);
        }
        let turns = if self.is_falling {
            speed > self.extreme * BURST_BEGIN + BURST_RISE_BL
        } else {
            speed < self.extreme * BURST_END
        };
        if turns {
            self.is_falling = !self.is_falling;
            self.extreme = speed;
        }
        turns && !self.is_falling
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the motion of one agent whose position at a time is known.
    fn motion(secs: f64, at: impl Fn(f64) -> DVec2) -> Motion {
        let (mut path, mut sums) = (Path::default(), MotionSums::default());
        for step in 0..(secs * RATE_HZ) as u64 {
            path.add(at(step as f64 / RATE_HZ), step, &mut sums);
        }
        sums.summary()
    }

    fn is(value: Option<f64>, wanted: f64, within: f64) {
        let value = value.unwrap();
        assert!((value - wanted).abs() <= within, "{value} is not {wanted}");
    }

    #[test]
    fn a_straight_way_a_circle_and_a_wave_have_their_speed_turns_and_flips() {
        let straight = motion(60.0, |t| DVec2::new(t * 1.5, 0.0));
        is(straight.speed_bl, 1.5, 0.01);
        is(straight.straight_share, 1.0, 0.0);
        is(straight.flips_per_sec, 0.0, 0.0);
        is(straight.bursts_per_sec, 0.0, 0.0);
        // A circle with a radius of 2 body lengths, at 60 degrees/s.
        let circle = motion(60.0, |t| DVec2::from_angle(t.to_radians() * 60.0) * 2.0);
        is(circle.turn_50_dps, 60.0, 0.6);
        is(circle.turn_90_dps, 60.0, 0.6);
        is(circle.straight_share, 0.0, 0.0);
        // A course that swings to and fro once in 2 s changes its side once a second.
        let wave = motion(60.0, |t| {
            DVec2::new(t * 2.0, (t * std::f64::consts::PI).sin())
        });
        is(wave.flips_per_sec, 1.0, 0.05);
    }

    #[test]
    fn bursts_and_glides_are_counted() {
        // Once a second the speed doubles within 0.2 s and decreases to its old value in 0.8 s, so it decreases for 80 % of the time.
        let way = |t: f64| {
            let (whole, part) = (t.floor(), t.fract());
            let rise = 0.2;
            let speed = |x: f64| {
                if x < rise {
                    1.0 + x / rise
                } else {
                    2.0 - (x - rise) / 0.8
                }
            };
            let steps = 200;
            let sum: f64 = (0..steps)
                .map(|n| speed(part * (f64::from(n) + 0.5) / f64::from(steps)))
                .sum();
            DVec2::new(whole * 1.5 + sum * part / f64::from(steps), 0.0)
        };
        // In slow motion: the mean over 0.2 s makes short rises longer.
        let found = motion(240.0, |t| way(t / 4.0) * 4.0);
        is(found.bursts_per_sec, 0.25, 0.02);
        is(found.slowing_share, 0.8, 0.05);
    }

    #[test]
    fn the_headings_of_a_school_and_of_its_neighborhoods_are_compared() {
        let mut sums = MotionSums::default();
        // Two schools far from each other swim in opposite directions.
        let school = |x: f64, heading: f64| {
            (0..5).map(move |n| (DVec2::new(x + f64::from(n) * 0.5, 0.0), heading))
        };
        let all: Vec<_> = school(0.0, 0.0)
            .chain(school(50.0, std::f64::consts::PI))
            .collect();
        sums.add_school(&all);
        let found = sums.summary();
        is(found.polarization, 0.0, 0.001);
        is(found.local_heading_deg, 0.0, 0.001);
        is(found.mate_bl, 0.5, 0.01);
        sums.add_school(&all[..3]);
        assert_eq!(sums.summary(), found, "three agents are no school");
    }
}
