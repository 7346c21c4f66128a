//! One bubble of air in water: a damped sine whose pitch rises while the bubble rises to the surface.
//!
//! **Source**: van den Doel 2005, §2: a bubble of radius r rings at 3/r Hz (Minnaert 1933), loses 0.13/r + 0.0072 r^−1.5 nepers per
//! second, and its pitch rises by a share of that per second.

use std::f32::consts::TAU;

use super::block::BLOCK_FRAMES;
use super::speakers::Gains;

/// Frequency of a bubble times its radius, in Hz m.
const MINNAERT_HZ_M: f32 = 3.0;
/// A bubble is removed when it has lost this many nepers: 80 dB.
const OVER_NEPERS: f32 = 9.2;
/// Longest time for which a bubble rings. Only bubbles of more than 15 mm would ring longer.
const LONGEST_SECS: f32 = 1.2;
/// Longest wait of a bubble, so that no number of a site lets it stay.
const WAIT_MAX_SECS: f32 = 4.0;

/// What makes a bubble.
#[derive(Clone, Copy, Debug)]
pub(super) struct BubbleSpec {
    /// Radius in meters.
    pub(super) radius_m: f32,
    /// Largest sample.
    pub(super) level: f32,
    /// Rise of the pitch as a share of the damping: 0.1 for a bubble that stays, 0.4 for one that breaks through the surface.
    pub(super) rise: f32,
    /// Time in which it begins to ring. Longer: softer.
    pub(super) attack_secs: f32,
    /// Time until it begins.
    pub(super) wait_secs: f32,
    pub(super) gains: Gains,
}

/// A bubble that rings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bubble {
    wait: u32,
    left: u32,
    /// The oscillation: a vector that turns, and shrinks by the damping.
    cos: f32,
    sin: f32,
    /// Turn per sample in radians, and its growth per block.
    turn: f32,
    turn_growth: f32,
    /// Share that is left after a sample.
    keep: f32,
    /// Share of the attack that is still missing, and the share of it that is left after a sample.
    missing: f32,
    missing_keep: f32,
    gains: Gains,
}

impl Bubble {
    pub(super) fn new(spec: &BubbleSpec, rate_hz: f32) -> Self {
        let radius_m = spec.radius_m.clamp(0.0004, 0.03);
        let damping = 0.13 / radius_m + 0.0072 * radius_m.powf(-1.5);
        let hz = (MINNAERT_HZ_M / radius_m).min(0.4 * rate_hz);
        let secs = (OVER_NEPERS / damping).min(LONGEST_SECS);
        let turn = TAU * hz / rate_hz;
        Self {
            wait: (spec.wait_secs.clamp(0.0, WAIT_MAX_SECS) * rate_hz) as u32,
            left: (secs * rate_hz) as u32,
            cos: spec.level,
            sin: 0.0,
            turn,
            turn_growth: turn * spec.rise * damping * BLOCK_FRAMES as f32 / rate_hz,
            keep: (-damping / rate_hz).exp(),
            missing: 1.0,
            missing_keep: (-1.0 / (spec.attack_secs.max(1e-4) * rate_hz)).exp(),
            gains: spec.gains,
        }
    }

    pub(super) fn gains(&self) -> &Gains {
        &self.gains
    }

    /// Adds the next block. Returns whether the bubble still waits or rings.
    pub(super) fn add(&mut self, mono: &mut [f32; BLOCK_FRAMES]) -> bool {
        let first = (self.wait as usize).min(BLOCK_FRAMES);
        self.wait -= first as u32;
        // Half of the rate of samples cannot be exceeded.
        let turn = self.turn.min(0.45 * TAU);
        let (sin, cos) = turn.sin_cos();
        let (sin, cos) = (sin * self.keep, cos * self.keep);
        let count = (BLOCK_FRAMES - first).min(self.left as usize);
        for sample in mono.iter_mut().skip(first).take(count) {
            (self.cos, self.sin) = (
                self.cos * cos - self.sin * sin,
                self.cos * sin + self.sin * cos,
            );
            self.missing *= self.missing_keep;
            *sample += self.sin * (1.0 - self.missing);
        }
        self.left -= count as u32;
        if count > 0 {
            self.turn += self.turn_growth;
        }
        self.left > 0
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.wait >= BLOCK_FRAMES as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE_HZ: f32 = 48_000.0;

    fn ring(radius_m: f32, rise: f32) -> Vec<f32> {
        let spec = BubbleSpec {
            radius_m,
            level: 1.0,
            rise,
            attack_secs: 0.0005,
            wait_secs: 0.01,
            gains: [1.0; 8],
        };
        let mut bubble = Bubble::new(&spec, RATE_HZ);
        let mut samples = Vec::new();
        loop {
            let mut block = [0.0; BLOCK_FRAMES];
            let goes_on = bubble.add(&mut block);
            samples.extend(block);
            if !goes_on {
                return samples;
            }
        }
    }

    /// Frequency from the times at which the wave rises through zero, between two times.
    fn pitch_hz(samples: &[f32], from_secs: f32, to_secs: f32) -> f32 {
        let [from, to] = [from_secs, to_secs].map(|secs| (secs * RATE_HZ) as usize);
        let rises: Vec<usize> = (from..to)
            .filter(|&n| samples[n] < 0.0 && samples[n + 1] >= 0.0)
            .collect();
        (rises.len() - 1) as f32 * RATE_HZ / (rises[rises.len() - 1] - rises[0]) as f32
    }

    #[test]
    fn a_bubble_of_three_millimeters_rings_at_a_kilohertz_and_rises() {
        let samples = ring(0.003, 0.1);
        assert!(
            samples[..480].iter().all(|sample| *sample == 0.0),
            "it waits"
        );
        let first = pitch_hz(&samples, 0.011, 0.02);
        let last = pitch_hz(&samples, 0.05, 0.06);
        assert!((first - 1000.0).abs() < 80.0, "{first}");
        assert!(last > 1.2 * first && last < 1.8 * first, "{first} {last}");
    }

    #[test]
    fn a_bubble_begins_and_ends_without_a_click() {
        for radius_m in [0.0005, 0.003, 0.02] {
            let samples = ring(radius_m, 0.3);
            let most = samples.iter().fold(0.0_f32, |most, s| most.max(s.abs()));
            assert!((0.3..1.0).contains(&most), "{radius_m} {most}");
            assert!(samples[samples.len() - 65..].iter().all(|s| s.abs() < 2e-3));
            let begin = &samples[480..484];
            assert!(
                begin.iter().all(|s| s.abs() < 0.35),
                "{radius_m}: {begin:?}"
            );
        }
    }
}
