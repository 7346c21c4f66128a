//! The bed: what water sounds like while nothing happens. Wind laps at the rim, falls rush, now and then a bubble rises.
//!
//! Noise below a falling slope, different in each loudspeaker so that it has no place, and for each fall noise and many bubbles at its
//! place. All swell and fade at random, so that nothing repeats.

use super::block::BLOCK_FRAMES;
use super::bubble::BubbleSpec;
use super::event::{FALLS_MAX, Fall, Waters};
use super::noise::{Gust, LowPass, Random};
use super::params::SPEAKERS_MAX;
use super::shower::drop;
use super::speakers::{Gains, Speakers};

/// Blocks in which wind and falls of another scene replace those of the last one: 2 s at 48 kHz.
const CHANGE_SHARE: f32 = 1.0 / 500.0;
/// Level of the noise of the wind: root of the mean square of one loudspeaker, as it was measured for wind 1.
const WIND_LEVEL: f32 = 0.018;
/// Level of the noise of a waterfall 1 m high and 1 m wide.
const FALL_LEVEL: f32 = 0.24;
/// Single bubbles per second in water with wind 1.
const BUBBLES_PER_SEC: f32 = 5.0;
/// Level of the largest of these bubbles.
const BUBBLE_LEVEL: f32 = 0.11;
/// Radius of the smallest and the largest of these bubbles.
const BUBBLE_RADIUS_M: [f32; 2] = [0.0012, 0.006];
/// Bubbles per second of a fall of 1 m by 1 m.
const FALL_BUBBLES_PER_SEC: f32 = 190.0;
/// Level of the largest bubble of such a fall.
const FALL_BUBBLE_LEVEL: f32 = 0.17;
/// Radius of the smallest and the largest bubble of a fall.
const FALL_RADIUS_M: [f32; 2] = [0.0009, 0.007];

/// The noise of one loudspeaker.
#[derive(Clone, Debug)]
struct Wind {
    random: Random,
    low: [LowPass; 2],
    rumble: LowPass,
    gust: Gust,
}

/// The noise of one fall.
#[derive(Clone, Debug)]
struct Rush {
    random: Random,
    low: [LowPass; 2],
    rumble: LowPass,
    surge: Gust,
    gains: Gains,
    fall: Fall,
    /// Power that is heard now, on the way to that of the fall.
    power: f32,
}

/// The bed.
#[derive(Clone, Debug)]
pub(super) struct Bed {
    rate_hz: f32,
    waters: Waters,
    /// Wind that is heard now.
    wind: f32,
    winds: Vec<Wind>,
    rushes: Vec<Rush>,
    /// A gust over the whole water.
    gust: Gust,
}

impl Bed {
    pub(super) fn new(rate_hz: f32, random: &mut Random) -> Self {
        let step_hz = rate_hz / BLOCK_FRAMES as f32;
        let low = |hz| LowPass::new(hz, rate_hz);
        let mut stream = || Random::new((random.unit() * 16_777_216.0) as u32);
        let winds = (0..SPEAKERS_MAX).map(|_| Wind {
            random: stream(),
            low: [low(420.0), low(1500.0)],
            rumble: low(90.0),
            gust: Gust::new(0.7, 0.16, step_hz),
        });
        let winds = winds.collect();
        let rushes = (0..FALLS_MAX).map(|_| Rush {
            random: stream(),
            low: [low(900.0), low(4200.0)],
            rumble: low(130.0),
            surge: Gust::new(5.0, 0.22, step_hz),
            gains: [0.0; SPEAKERS_MAX],
            fall: Fall::default(),
            power: 0.0,
        });
        Self {
            rate_hz,
            waters: Waters::default(),
            wind: 0.0,
            winds,
            rushes: rushes.collect(),
            gust: Gust::new(0.15, 0.25, step_hz),
        }
    }

    /// Begins to change to other waters.
    pub(super) fn set(&mut self, waters: Waters) {
        self.waters = waters;
    }

    /// Adds the noise of a block to each loudspeaker, and passes bubbles with their places to `add`.
    pub(super) fn sound(
        &mut self,
        level: f32,
        speakers: &Speakers,
        planes: &mut [[f32; BLOCK_FRAMES]; SPEAKERS_MAX],
        random: &mut Random,
        add: &mut dyn FnMut(BubbleSpec, [f32; 2]),
    ) {
        self.wind += CHANGE_SHARE * (self.waters.wind - self.wind);
        let gust = self.gust.next(random);
        let block_secs = BLOCK_FRAMES as f32 / self.rate_hz;
        let wind_level = level * WIND_LEVEL * 7.5 * gust * self.wind.sqrt();
        for (wind, plane) in self
            .winds
            .iter_mut()
            .zip(planes.iter_mut())
            .take(speakers.count())
        {
            let level = wind_level * wind.gust.next(&mut wind.random);
            for sample in plane.iter_mut() {
                let noise = wind.low[0].next(wind.random.signed());
                let noise = wind.low[1].next(noise);
                *sample += level * (noise - wind.rumble.next(noise));
            }
        }
        for _ in 0..random.count(BUBBLES_PER_SEC * (0.3 + 0.7 * self.wind) * gust * block_secs) {
            let at_m = [0, 1].map(|axis| self.waters.half_m[axis] * random.signed());
            add(
                drop(BUBBLE_RADIUS_M, level * BUBBLE_LEVEL, block_secs, random),
                at_m,
            );
        }
        let falls = *self.waters.falls();
        for (rush, wanted) in self.rushes.iter_mut().zip(&falls) {
            rush.follow(wanted, speakers);
            rush.sound(level, planes, speakers.count());
            let mean = FALL_BUBBLES_PER_SEC * rush.power.sqrt() * block_secs;
            let level = level * FALL_BUBBLE_LEVEL * rush.power.sqrt().min(1.0);
            for _ in 0..random.count(mean) {
                let along = 0.5 * rush.fall.width_m;
                let at_m = rush.fall.at_m.map(|at| at + along * random.signed());
                add(drop(FALL_RADIUS_M, level, block_secs, random), at_m);
            }
        }
    }
}

impl Rush {
    /// Goes on towards the wanted fall. A fall at another place begins when the old one is over.
    fn follow(&mut self, wanted: &Fall, speakers: &Speakers) {
        let is_same = self.fall.at_m == wanted.at_m;
        if !is_same && self.power < 1e-3 {
            self.fall = *wanted;
        }
        let power = if self.fall.at_m == wanted.at_m {
            wanted.power()
        } else {
            0.0
        };
        self.power += CHANGE_SHARE * (power - self.power);
        self.gains = speakers.gains(self.fall.at_m);
    }

    fn sound(
        &mut self,
        level: f32,
        planes: &mut [[f32; BLOCK_FRAMES]; SPEAKERS_MAX],
        count: usize,
    ) {
        if self.power < 1e-4 {
            return;
        }
        let level = level * FALL_LEVEL * self.power.sqrt() * self.surge.next(&mut self.random);
        let mut mono = [0.0; BLOCK_FRAMES];
        for sample in &mut mono {
            let noise = self.random.signed();
            let noise = 0.55 * self.low[0].next(noise) + 0.12 * self.low[1].next(noise);
            *sample = level * (noise - self.rumble.next(noise));
        }
        for (plane, gain) in planes.iter_mut().zip(self.gains).take(count) {
            for (sample, noise) in plane.iter_mut().zip(mono) {
                *sample += gain * noise;
            }
        }
    }
}
