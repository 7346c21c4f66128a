//! What sounds for a moment: bubbles, bursts and showers, in a memory of fixed size. If it is full, further ones are left out.

use super::block::BLOCK_FRAMES;
use super::bubble::{Bubble, BubbleSpec};
use super::burst::{Burst, BurstSpec};
use super::noise::Random;
use super::params::SPEAKERS_MAX;
use super::shower::{Shower, ShowerSpec};
use super::speakers::{Gains, Speakers};

/// Largest number of bubbles at once. A pool with falls and a splash has about 60.
const BUBBLES_MAX: usize = 160;
/// Largest number of bursts at once.
const BURSTS_MAX: usize = 32;
/// Largest number of showers at once.
const SHOWERS_MAX: usize = 24;

/// All that sounds for a moment.
#[derive(Clone, Debug)]
pub(super) struct Voices {
    rate_hz: f32,
    bubbles: Vec<Bubble>,
    bursts: Vec<Burst>,
    showers: Vec<Shower>,
}

impl Voices {
    pub(super) fn new(rate_hz: f32) -> Self {
        Self {
            rate_hz,
            bubbles: Vec::with_capacity(BUBBLES_MAX),
            bursts: Vec::with_capacity(BURSTS_MAX),
            showers: Vec::with_capacity(SHOWERS_MAX),
        }
    }

    pub(super) fn clear(&mut self) {
        self.bubbles.clear();
        self.bursts.clear();
        self.showers.clear();
    }

    pub(super) fn bubble(&mut self, spec: &BubbleSpec) {
        if self.bubbles.len() < BUBBLES_MAX {
            self.bubbles.push(Bubble::new(spec, self.rate_hz));
        }
    }

    pub(super) fn burst(&mut self, spec: &BurstSpec, random: &mut Random) {
        if self.bursts.len() < BURSTS_MAX {
            let seed = (random.unit() * 16_777_216.0) as u32;
            self.bursts.push(Burst::new(spec, seed, self.rate_hz));
        }
    }

    pub(super) fn shower(&mut self, spec: &ShowerSpec) {
        if self.showers.len() < SHOWERS_MAX {
            self.showers.push(Shower::new(spec));
        }
    }

    /// Adds the next block to each loudspeaker.
    pub(super) fn sound(
        &mut self,
        speakers: &Speakers,
        planes: &mut [[f32; BLOCK_FRAMES]; SPEAKERS_MAX],
        random: &mut Random,
    ) {
        let (rate_hz, bubbles) = (self.rate_hz, &mut self.bubbles);
        self.showers.retain_mut(|shower| {
            shower.fall(rate_hz, random, &mut |mut spec, at_m| {
                if bubbles.len() < BUBBLES_MAX {
                    spec.gains = speakers.gains(at_m);
                    bubbles.push(Bubble::new(&spec, rate_hz));
                }
            })
        });
        bubbles.retain_mut(|bubble| {
            let mut mono = [0.0; BLOCK_FRAMES];
            let (is_heard, gains) = (!bubble.is_waiting(), *bubble.gains());
            let goes_on = bubble.add(&mut mono);
            if is_heard {
                mix(&mono, &gains, speakers.count(), planes);
            }
            goes_on
        });
        self.bursts.retain_mut(|burst| {
            let mut mono = [0.0; BLOCK_FRAMES];
            let (is_heard, gains) = (!burst.is_waiting(), *burst.gains());
            let goes_on = burst.add(&mut mono, rate_hz);
            if is_heard {
                mix(&mono, &gains, speakers.count(), planes);
            }
            goes_on
        });
    }
}

/// Adds a sound to each loudspeaker.
fn mix(
    mono: &[f32; BLOCK_FRAMES],
    gains: &Gains,
    count: usize,
    planes: &mut [[f32; BLOCK_FRAMES]; SPEAKERS_MAX],
) {
    for (plane, gain) in planes.iter_mut().zip(gains).take(count) {
        for (sample, sound) in plane.iter_mut().zip(mono) {
            *sample += gain * sound;
        }
    }
}
