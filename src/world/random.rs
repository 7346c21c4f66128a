//! Random numbers without state: each number is a pure function of (seed, tick, agent, stream, draw). Therefore the numbers do
//! not depend on the order of agents or the number of threads, and a draw from one stream does not change another stream.

use serde::{Deserialize, Serialize};

/// Use of a random number. Each use has its own independent stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum RandomStream {
    /// An individual's size.
    Size = 1,
    /// Position and heading of an individual that starts or enters the pool again.
    Place = 2,
    /// Direction changes of wandering.
    Wander = 3,
    /// Whether a pause begins.
    Idle = 4,
    /// Choice of the action that a stochastic need executes.
    Choice = 5,
    /// Initial value of a need's variable.
    Need = 7,
    /// Whether a rule of the director starts.
    Director = 8,
    /// Position of a child beside its mother.
    Companion = 9,
    /// Initial values of the drives.
    Drive = 10,
    /// Traits of an individual.
    Temperament = 11,
    /// Whether an individual is attracted by a target now.
    Attraction = 12,
    /// The first goal of a member of a school.
    Goal = 13,
    /// Time until a caught individual enters the pool again.
    Absence = 14,
    /// Duration of a rest between two journeys.
    Rest = 15,
    /// Length of a glide.
    Glide = 16,
    /// Whether the start of a mate frightens an individual, and after which time.
    Startle = 17,
}

/// The random number generator of one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the tick in which the numbers are drawn.
    pub tick: u64,
}

impl Random {
    /// Returns a uniformly distributed number in [0, 1). Calls with different values of `draw` return different numbers for the
    /// same agent, stream and tick.
    pub fn unit(&self, agent: u32, stream: RandomStream, draw: u32) -> f32 {
        let key = mix(self.seed ^ mix(self.tick.wrapping_add(0x9e37_79b9_7f4a_7c15)));
        let key = mix(key ^ (u64::from(agent) << 32 | u64::from(draw)));
        let bits = mix(key ^ (stream as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)) >> 40;
        bits as f32 / (1u64 << 24) as f32
    }

    /// Returns a uniformly distributed number in [−1, 1).
    pub fn signed(&self, agent: u32, stream: RandomStream, draw: u32) -> f32 {
        self.unit(agent, stream, draw) * 2.0 - 1.0
    }
}

/// Returns the number with its bits mixed by the last step (finalizer) of `SplitMix64`. **Source**: Steele, Lea & Flood 2014.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_and_streams_are_independent() {
        let random = |tick| Random { seed: 1, tick };
        let mean = (0..10_000)
            .map(|t| random(t).unit(3, RandomStream::Wander, 0))
            .sum::<f32>()
            / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "mean {mean}");
        let agents = (0..10_000)
            .map(|a| random(0).unit(a, RandomStream::Wander, 0))
            .sum::<f32>()
            / 10_000.0;
        assert!((agents - 0.5).abs() < 0.02, "mean over agents {agents}");
        let base = random(5).unit(3, RandomStream::Wander, 0);
        assert!((0.0..1.0).contains(&base));
        assert_eq!(base, random(5).unit(3, RandomStream::Wander, 0));
        assert_ne!(base, random(5).unit(3, RandomStream::Idle, 0));
        assert_ne!(base, random(5).unit(3, RandomStream::Wander, 1));
        assert_ne!(base, random(6).unit(3, RandomStream::Wander, 0));
        assert_ne!(base, random(5).unit(4, RandomStream::Wander, 0));
    }
}
