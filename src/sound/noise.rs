//! Random numbers and filters.

use std::f32::consts::{PI, TAU};

/// A stream of random numbers (xorshift, Marsaglia 2003). It needs no memory and is the same for the same seed.
#[derive(Clone, Debug)]
pub(super) struct Random(u32);

impl Random {
    pub(super) fn new(seed: u32) -> Self {
        // A state of 0 would stay 0.
        Self(seed.wrapping_mul(0x9E37_79B9) | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Returns a number from −1 to 1.
    pub(super) fn signed(&mut self) -> f32 {
        self.next() as i32 as f32 / 2_147_483_648.0
    }

    /// Returns a number from 0 to 1.
    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 8) as f32 / 16_777_216.0
    }

    /// Returns a number between two numbers.
    pub(super) fn between(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }

    /// Returns how many events of a mean number happen: the number rounded up or down at random.
    pub(super) fn count(&mut self, mean: f32) -> u32 {
        let whole = mean.max(0.0).floor();
        whole as u32 + u32::from(self.unit() < mean - whole)
    }
}

/// A low pass of first order: 6 dB per octave above its frequency.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LowPass {
    share: f32,
    value: f32,
}

impl LowPass {
    pub(super) fn new(hz: f32, rate_hz: f32) -> Self {
        Self {
            share: 1.0 - (-TAU * hz / rate_hz).exp(),
            value: 0.0,
        }
    }

    pub(super) fn next(&mut self, input: f32) -> f32 {
        self.value += self.share * (input - self.value);
        self.value
    }
}

/// A band pass of second order with a movable frequency and a gain of 1 in its middle.
/// **Source**: Simper 2013, the state variable filter solved with trapezoidal integration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BandPass {
    width: f32,
    a1: f32,
    a2: f32,
    a3: f32,
    first: f32,
    second: f32,
}

impl BandPass {
    /// Sets the middle, and the width as a share of it.
    pub(super) fn tune(&mut self, hz: f32, width: f32, rate_hz: f32) {
        let g = (PI * hz.clamp(20.0, 0.45 * rate_hz) / rate_hz).tan();
        self.width = width;
        self.a1 = 1.0 / (1.0 + g * (g + width));
        self.a2 = g * self.a1;
        self.a3 = g * self.a2;
    }

    pub(super) fn next(&mut self, input: f32) -> f32 {
        let rest = input - self.second;
        let band = self.a1 * self.first + self.a2 * rest;
        let low = self.second + self.a2 * self.first + self.a3 * rest;
        self.first = 2.0 * band - self.first;
        self.second = 2.0 * low - self.second;
        band * self.width
    }
}

/// A number that wanders slowly around 1: gusts of wind, surges of a fall.
#[derive(Clone, Debug)]
pub(super) struct Gust {
    slow: LowPass,
    slower: LowPass,
    /// Factor that gives the filtered noise a standard deviation of 1.
    scale: f32,
    depth: f32,
    value: f32,
}

impl Gust {
    /// A gust of `hz` changes per second with a standard deviation of `depth`, asked for `step_hz` times per second.
    pub(super) fn new(hz: f32, depth: f32, step_hz: f32) -> Self {
        let slow = LowPass::new(hz, step_hz);
        // Variance of uniform noise (1/3) after two equal low passes of share s: the sum of the squares of their impulse response.
        let s = slow.share;
        let variance = s * (2.0 - 2.0 * s + s * s) / (2.0 - s).powi(3) / 3.0;
        Self {
            slow,
            slower: slow,
            scale: 1.0 / variance.max(1e-12).sqrt(),
            depth,
            value: 1.0,
        }
    }

    /// Returns the next value, from 0.1 to 2.5.
    pub(super) fn next(&mut self, random: &mut Random) -> f32 {
        let wander = self.slower.next(self.slow.next(random.signed())) * self.scale;
        self.value = (1.0 + self.depth * wander).clamp(0.1, 2.5);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_are_even_and_repeat_for_a_seed() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..20_000).map(|_| random.signed()).collect::<Vec<_>>()
        };
        let numbers = draw(3);
        assert_eq!(numbers, draw(3));
        let mean = numbers.iter().sum::<f32>() / 20_000.0;
        let power = numbers.iter().map(|n| n * n).sum::<f32>() / 20_000.0;
        assert!(
            mean.abs() < 0.02 && (power - 1.0 / 3.0).abs() < 0.01,
            "{mean} {power}"
        );
        let mut random = Random::new(0);
        let count: u32 = (0..10_000).map(|_| random.count(1.3)).sum();
        assert!((12_700..13_300).contains(&count), "{count}");
    }

    #[test]
    fn a_gust_has_its_depth() {
        let mut random = Random::new(5);
        let mut gust = Gust::new(2.0, 0.3, 750.0);
        let values: Vec<f32> = (0..200_000).map(|_| gust.next(&mut random)).collect();
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / values.len() as f32;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!((spread.sqrt() - 0.3).abs() < 0.05, "{}", spread.sqrt());
    }

    #[test]
    fn a_band_pass_lets_its_middle_through() {
        let gain = |hz: f32| {
            let mut band = BandPass::default();
            band.tune(1000.0, 0.7, 48_000.0);
            let wave = (0..48_000).map(|n| (TAU * hz * n as f32 / 48_000.0).sin());
            wave.map(|x| band.next(x))
                .skip(24_000)
                .fold(0.0_f32, |most, y| most.max(y.abs()))
        };
        assert!((gain(1000.0) - 1.0).abs() < 0.01);
        assert!(gain(100.0) < 0.1 && gain(10_000.0) < 0.1);
    }
}
