//! The clock of the leader, as this node sees it: offset and rate, estimated from pings. No node needs the time of day.
//!
//! **Source**: Mills 1991, "Internet Time Synchronization" (the sample with the shortest way is the best one).

use std::collections::VecDeque;

/// Time in seconds for which samples are used: long enough for the rate, short enough for a clock that warms up.
const WINDOW_SECS: f64 = 60.0;
/// Time in seconds within which only the sample with the shortest way is used.
const BUCKET_SECS: f64 = 1.0;
/// Time in seconds that the samples must span before a rate is estimated. Until then both clocks count as equally fast.
const RATE_SPAN_SECS: f64 = 8.0;
/// Largest difference of the rates of two clocks. Quartz stays below 200 ppm.
const RATE_MAX: f64 = 500e-6;
/// Number of samples in a row that contradict the estimate, after which the clock of the leader was set or another machine leads.
const STEP_SAMPLES: u32 = 3;

/// A ping: all times in seconds, each on the clock of the node that measured it.
#[derive(Clone, Copy, Debug)]
pub struct Ping {
    /// Local time at which the request was sent.
    pub sent_secs: f64,
    /// Time of the leader at which it answered.
    pub leader_secs: f64,
    /// Local time at which the reply arrived.
    pub received_secs: f64,
}

/// Difference of the clocks at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockOffset {
    /// Time of the leader minus local time, in seconds.
    pub offset_secs: f64,
    /// Bound of the error in seconds, also if the two ways of a ping take unequal times.
    pub error_secs: f64,
    /// By how much the clock of the leader is faster, in parts per million.
    pub rate_ppm: f64,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Begin of its bucket.
    bucket_secs: f64,
    at_secs: f64,
    offset_secs: f64,
    /// Half of the time that the ping took: the offset cannot be further away.
    half_secs: f64,
}

/// Estimate of the leader's clock.
#[derive(Clone, Debug, Default)]
pub struct LeaderClock {
    /// The best sample of each bucket, oldest first.
    samples: VecDeque<Sample>,
    line: Option<Line>,
    contradictions: u32,
}

/// Offset as a line over local time.
#[derive(Clone, Copy, Debug)]
struct Line {
    at_secs: f64,
    offset_secs: f64,
    rate: f64,
    /// Bound of the error of the rate.
    rate_error: f64,
    error_secs: f64,
}

impl Line {
    fn offset_at(&self, local_secs: f64) -> f64 {
        self.offset_secs + self.rate * (local_secs - self.at_secs)
    }
}

impl LeaderClock {
    /// Forgets everything: another node leads.
    pub fn restart(&mut self) {
        *self = Self::default();
    }

    /// Adds a ping. Returns whether the clock of the leader made a step.
    pub fn add(&mut self, ping: &Ping) -> bool {
        let way = ping.received_secs - ping.sent_secs;
        if !(way >= 0.0 && way.is_finite() && ping.leader_secs.is_finite()) {
            return false;
        }
        let at_secs = 0.5 * (ping.sent_secs + ping.received_secs);
        let sample = Sample {
            bucket_secs: at_secs,
            at_secs,
            offset_secs: ping.leader_secs - at_secs,
            half_secs: 0.5 * way,
        };
        let contradicts = self.line.is_some_and(|line| {
            let apart = (sample.offset_secs - line.offset_at(at_secs)).abs();
            apart > sample.half_secs + line.error_secs + RATE_MAX
        });
        self.contradictions = if contradicts {
            self.contradictions + 1
        } else {
            0
        };
        let is_step = self.contradictions >= STEP_SAMPLES;
        if is_step {
            self.restart();
        } else if contradicts {
            return false;
        }
        match self.samples.back_mut() {
            Some(last) if at_secs - last.bucket_secs < BUCKET_SECS => {
                if sample.half_secs < last.half_secs {
                    let bucket_secs = last.bucket_secs;
                    *last = Sample {
                        bucket_secs,
                        ..sample
                    };
                }
            }
            _ => self.samples.push_back(sample),
        }
        while (self.samples.front()).is_some_and(|first| at_secs - first.at_secs > WINDOW_SECS) {
            self.samples.pop_front();
        }
        self.line = self.fit();
        is_step
    }

    /// Fits a line: each sample weighs as much as its way was short.
    fn fit(&self) -> Option<Line> {
        let best = self
            .samples
            .iter()
            .map(|sample| sample.half_secs)
            .fold(f64::INFINITY, f64::min);
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        // Ways much longer than the shortest one say little; the floor keeps a perfect network from dividing by zero.
        let weight = |sample: &Sample| {
            let excess = sample.half_secs - best + 20e-6;
            1.0 / (excess * excess)
        };
        let sum: f64 = self.samples.iter().map(weight).sum();
        let mean = |value: &dyn Fn(&Sample) -> f64| {
            let weighted = self.samples.iter().map(|s| weight(s) * value(s));
            weighted.sum::<f64>() / sum
        };
        let at_secs = mean(&|sample| sample.at_secs);
        let offset_secs = mean(&|sample| sample.offset_secs);
        let spread = mean(&|sample| (sample.at_secs - at_secs).powi(2));
        let span_secs = last.at_secs - first.at_secs;
        let (rate, rate_error) = if span_secs < RATE_SPAN_SECS || spread <= f64::EPSILON {
            (0.0, RATE_MAX)
        } else {
            let joint =
                mean(&|sample| (sample.at_secs - at_secs) * (sample.offset_secs - offset_secs));
            let rate = (joint / spread).clamp(-RATE_MAX, RATE_MAX);
            (rate, (best / span_secs).min(RATE_MAX))
        };
        Some(Line {
            at_secs,
            offset_secs,
            rate,
            rate_error,
            error_secs: best,
        })
    }

    /// Returns the difference of the clocks at a local time; `None` before the first ping.
    pub fn offset_at(&self, local_secs: f64) -> Option<ClockOffset> {
        let line = self.line?;
        // Away from the samples, the unknown part of the rate adds to the error.
        let away_secs = (local_secs - line.at_secs).abs();
        Some(ClockOffset {
            offset_secs: line.offset_at(local_secs),
            error_secs: line.error_secs + away_secs * line.rate_error,
            rate_ppm: line.rate * 1e6,
        })
    }

    /// Converts a time of the leader to local time; `None` before the first ping.
    pub fn local_from_leader(&self, leader_secs: f64) -> Option<f64> {
        let line = self.line?;
        let since = leader_secs - line.offset_secs - line.at_secs;
        Some(line.at_secs + since / (1.0 + line.rate))
    }

    /// Converts a local time to the time of the leader; `None` before the first ping.
    pub fn leader_from_local(&self, local_secs: f64) -> Option<f64> {
        Some(local_secs + self.line?.offset_at(local_secs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic numbers from 0 to 1.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self) -> f64 {
            self.0 = (self.0)
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f64 / f64::from(1 << 24)
        }
    }

    /// A leader whose clock differs, and the network to it.
    struct Hall {
        offset_secs: f64,
        rate: f64,
        ways_secs: [f64; 2],
        jitter_secs: f64,
        dice: Dice,
    }

    impl Hall {
        fn leader(&self, local_secs: f64) -> f64 {
            local_secs + self.offset_secs + self.rate * local_secs
        }

        fn ping(&mut self, at_secs: f64) -> Ping {
            let mut way = |fixed: f64| {
                let roll = self.dice.roll();
                // Mostly short, sometimes long, as in a network that others use.
                fixed + self.jitter_secs * roll * roll * roll
            };
            let [there, back] = self.ways_secs.map(&mut way);
            Ping {
                sent_secs: at_secs,
                leader_secs: self.leader(at_secs + there),
                received_secs: at_secs + there + back,
            }
        }

        /// Pings four times a second; returns the largest error after the first `from` seconds, and whether the bound held.
        fn follow(&mut self, clock: &mut LeaderClock, secs: (f64, f64), from: f64) -> (f64, bool) {
            let (mut worst, mut is_bounded) = (0.0_f64, true);
            let mut at = secs.0;
            while at < secs.1 {
                let ping = self.ping(at);
                clock.add(&ping);
                let true_offset = self.leader(at) - at;
                let found = clock.offset_at(at).unwrap();
                let error = (found.offset_secs - true_offset).abs();
                if at - secs.0 >= from {
                    worst = worst.max(error);
                }
                is_bounded &= error <= found.error_secs + 0.2e-3;
                at += 0.25;
            }
            (worst, is_bounded)
        }
    }

    fn hall(rate: f64, ways_secs: [f64; 2], jitter_secs: f64) -> Hall {
        Hall {
            offset_secs: 1234.5,
            rate,
            ways_secs,
            jitter_secs,
            dice: Dice(7),
        }
    }

    #[test]
    fn a_skewed_clock_behind_a_network_with_jitter_is_known_within_a_millisecond() {
        for rate in [-200e-6, 0.0, 200e-6] {
            let mut clock = LeaderClock::default();
            let mut hall = hall(rate, [0.5e-3, 0.5e-3], 20e-3);
            let (worst, is_bounded) = hall.follow(&mut clock, (0.0, 180.0), 20.0);
            assert!(worst < 1e-3, "{rate}: {worst}");
            assert!(is_bounded, "{rate}");
            let found = clock.offset_at(180.0).unwrap();
            assert!((found.rate_ppm - rate * 1e6).abs() < 30.0, "{found:?}");
        }
    }

    #[test]
    fn unequal_ways_stay_within_the_bound() {
        let mut clock = LeaderClock::default();
        let mut hall = hall(50e-6, [1e-3, 9e-3], 5e-3);
        let (worst, is_bounded) = hall.follow(&mut clock, (0.0, 60.0), 10.0);
        assert!(is_bounded);
        assert!(worst < 6e-3, "{worst}");
    }

    #[test]
    fn a_step_of_the_clock_is_followed_after_three_pings() {
        let mut clock = LeaderClock::default();
        let mut hall = hall(0.0, [1e-3, 1e-3], 1e-3);
        hall.follow(&mut clock, (0.0, 30.0), 5.0);
        hall.offset_secs += 2.0;
        let steps = (0..4).map(|i| clock.add(&hall.ping(30.0 + 0.25 * f64::from(i))));
        assert_eq!(
            steps.collect::<Vec<_>>(),
            [false, false, true, false],
            "one ping that contradicts is no step"
        );
        let (worst, _) = hall.follow(&mut clock, (31.0, 40.0), 0.0);
        assert!(worst < 1e-3, "{worst}");
    }

    #[test]
    fn the_conversions_are_inverse() {
        let mut clock = LeaderClock::default();
        assert_eq!(clock.local_from_leader(1.0), None);
        hall(200e-6, [1e-3, 1e-3], 0.0).follow(&mut clock, (0.0, 60.0), 0.0);
        for local in [0.0, 61.0, 70.0] {
            let leader = clock.leader_from_local(local).unwrap();
            let back = clock.local_from_leader(leader).unwrap();
            assert!((back - local).abs() < 1e-6, "{local}: {back}");
        }
    }
}
