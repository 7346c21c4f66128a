//! A burst of rushing water: noise in a band whose middle moves while it swells and dies away.

use super::block::BLOCK_FRAMES;
use super::noise::{BandPass, Random};
use super::speakers::Gains;

/// A burst is removed when it has lost this many nepers: 80 dB.
const OVER_NEPERS: f32 = 9.2;
/// Mean of the absolute value of noise in a band relative to its width, so that `level` is about the largest sample.
const LEVEL_SCALE: f32 = 1.6;

/// What makes a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct BurstSpec {
    /// Middle of the band at the start and at the end.
    pub(super) from_hz: f32,
    pub(super) to_hz: f32,
    /// Width of the band as a share of its middle.
    pub(super) width: f32,
    /// Level of the largest samples.
    pub(super) level: f32,
    /// Time in which it swells, and in which it dies away.
    pub(super) attack_secs: f32,
    pub(super) decay_secs: f32,
    /// Time until it begins.
    pub(super) wait_secs: f32,
    pub(super) gains: Gains,
}

/// A burst that sounds.
#[derive(Clone, Debug)]
pub(super) struct Burst {
    spec: BurstSpec,
    random: Random,
    band: BandPass,
    wait: u32,
    left: u32,
    /// Share of the way of the middle that is left.
    way: f32,
    way_keep: f32,
    /// The envelope: the difference of a slow and a fast decay.
    slow: f32,
    fast: f32,
    slow_keep: f32,
    fast_keep: f32,
}

impl Burst {
    pub(super) fn new(spec: &BurstSpec, seed: u32, rate_hz: f32) -> Self {
        let decay_secs = spec.decay_secs.clamp(0.01, 2.0);
        let attack_secs = spec.attack_secs.clamp(0.001, decay_secs);
        let fast_secs = 1.0 / (1.0 / decay_secs + 1.0 / attack_secs);
        // The difference of both decays is largest at this time.
        let peak_secs = (decay_secs / fast_secs).ln() / (1.0 / fast_secs - 1.0 / decay_secs);
        let peak = (-peak_secs / decay_secs).exp() - (-peak_secs / fast_secs).exp();
        let level = spec.level * LEVEL_SCALE / (peak.max(1e-3) * spec.width.clamp(0.1, 2.0).sqrt());
        let keep = |secs: f32| (-1.0 / (secs * rate_hz)).exp();
        Self {
            spec: *spec,
            random: Random::new(seed),
            band: BandPass::default(),
            wait: (spec.wait_secs.clamp(0.0, 4.0) * rate_hz) as u32,
            left: (OVER_NEPERS * decay_secs * rate_hz) as u32,
            way: 1.0,
            way_keep: (-(BLOCK_FRAMES as f32) / (0.7 * decay_secs * rate_hz)).exp(),
            slow: level,
            fast: level,
            slow_keep: keep(decay_secs),
            fast_keep: keep(fast_secs),
        }
    }

    pub(super) fn gains(&self) -> &Gains {
        &self.spec.gains
    }

    /// Adds the next block. Returns whether the burst still waits or sounds.
    pub(super) fn add(&mut self, mono: &mut [f32; BLOCK_FRAMES], rate_hz: f32) -> bool {
        let first = (self.wait as usize).min(BLOCK_FRAMES);
        self.wait -= first as u32;
        let BurstSpec {
            from_hz,
            to_hz,
            width,
            ..
        } = self.spec;
        let hz = to_hz + (from_hz - to_hz) * self.way;
        self.band.tune(hz, width, rate_hz);
        let count = (BLOCK_FRAMES - first).min(self.left as usize);
        for sample in mono.iter_mut().skip(first).take(count) {
            *sample += self.band.next(self.random.signed()) * (self.slow - self.fast);
            self.slow *= self.slow_keep;
            self.fast *= self.fast_keep;
        }
        self.left -= count as u32;
        if count > 0 {
            self.way *= self.way_keep;
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

    #[test]
    fn a_burst_reaches_its_level_and_ends() {
        for (width, attack_secs, decay_secs) in
            [(0.7, 0.002, 0.06), (1.5, 0.07, 0.3), (0.4, 0.3, 0.3)]
        {
            let spec = BurstSpec {
                from_hz: 1800.0,
                to_hz: 500.0,
                width,
                level: 0.5,
                attack_secs,
                decay_secs,
                wait_secs: 0.0,
                gains: [1.0; 8],
            };
            let mut burst = Burst::new(&spec, 7, 48_000.0);
            let mut samples = Vec::new();
            loop {
                let mut block = [0.0; BLOCK_FRAMES];
                let goes_on = burst.add(&mut block, 48_000.0);
                samples.extend(block);
                if !goes_on {
                    break;
                }
            }
            let most = samples.iter().fold(0.0_f32, |most, s| most.max(s.abs()));
            assert!((0.2..1.0).contains(&most), "{width} {attack_secs} {most}");
            assert!(samples[0].abs() < 0.1 && samples[samples.len() - 1].abs() < 1e-3);
        }
    }
}
