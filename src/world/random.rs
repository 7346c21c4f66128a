//! Chance without state: a number follows from (seed, agent, purpose, tick) alone, so neither the order of agents nor
//! the number of threads matters, and what is drawn for one purpose never shifts what is drawn for another.

/// What a random number is for. Each has its own stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum RandomStream {
    /// An individual's size.
    Size = 1,
    /// Where an individual starts or comes back in: coordinates and heading.
    Place = 2,
    /// The course of wandering.
    Wander = 3,
    /// Whether a pause begins.
    Idle = 4,
    /// Which action a stochastic need takes.
    Choice = 5,
    /// Whether an action is taken by dithering.
    Dither = 6,
    /// Where a need's variable starts.
    Need = 7,
    /// Whether a rule of the director begins.
    Director = 8,
    /// Where a child's place beside its mother is.
    Companion = 9,
    /// Where drives start.
    Drive = 10,
}

/// The source of all chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// The run's seed.
    pub seed: u64,
    /// The tick that is drawn for.
    pub tick: u64,
}

impl Random {
    /// An evenly distributed number in 0..1 for this agent and purpose; `draw` tells several in one tick apart.
    pub fn unit(&self, agent: u32, purpose: RandomStream, draw: u32) -> f32 {
        let key = mix(self.seed ^ mix(self.tick.wrapping_add(0x9e37_79b9_7f4a_7c15)));
        let key = mix(key ^ (u64::from(agent) << 32 | u64::from(draw)));
        let bits = mix(key ^ (purpose as u64).wrapping_mul(0xd6e8_feb8_6659_fd93)) >> 40;
        bits as f32 / (1u64 << 24) as f32
    }

    /// An evenly distributed number in −1..1.
    pub fn signed(&self, agent: u32, purpose: RandomStream, draw: u32) -> f32 {
        self.unit(agent, purpose, draw) * 2.0 - 1.0
    }
}

/// The finalizer of `SplitMix64`. **Source**: Steele, Lea & Flood 2014, 'Fast splittable pseudorandom number generators'.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_the_unit_interval_and_streams_differ() {
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
