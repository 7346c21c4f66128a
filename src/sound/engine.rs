//! Makes the samples, block by block: bed, events, levels, limiter.
//!
//! A block has always the same number of frames, and orders apply between two blocks. So the samples do not depend on how many of them a
//! device asks for at once.

use std::f32::consts::{PI, TAU};

use super::bed::Bed;
use super::block::BLOCK_FRAMES;
use super::event::{SoundEvent, Waters};
use super::gesture;
use super::level::Levels;
use super::limiter::{AHEAD_FRAMES, Limiter};
use super::noise::Random;
use super::params::SPEAKERS_MAX;
use super::speakers::Speakers;
use super::voices::Voices;

/// Time in which the pool fades to silence, or back.
const FADE_SECS: f32 = 4.0;
/// Time in which sound is switched off or on by hand.
const MUTE_SECS: f32 = 0.05;
/// Share of a change of volume that is heard in the next block: about 70 ms at 48 kHz.
const VOLUME_SHARE: f32 = 0.02;
/// Duration of a test tone.
const TONE_SECS: f32 = 1.5;
/// Time in which a test tone begins and ends.
const TONE_EDGE_SECS: f32 = 0.03;
/// Frequency of a test tone.
const TONE_HZ: f32 = 440.0;
/// Level of a test tone at full volume.
const TONE_LEVEL: f32 = 0.25;

/// A tone on one loudspeaker.
#[derive(Clone, Copy, Debug)]
struct Tone {
    channel: usize,
    frame: u32,
}

/// Makes samples for the loudspeakers.
#[derive(Clone, Debug)]
pub struct Engine {
    rate_hz: f32,
    random: Random,
    speakers: Speakers,
    bed: Bed,
    voices: Voices,
    levels: Levels,
    volume: f32,
    /// How far the pool is faded in, and sound is switched on, from 0 to 1.
    heard: f32,
    on: f32,
    tone: Option<Tone>,
    limiter: Limiter,
    planes: Box<[[f32; BLOCK_FRAMES]; SPEAKERS_MAX]>,
    /// Samples of the current block, channels side by side, and how many were taken.
    block: Vec<f32>,
    taken: usize,
    /// Frames since the last one that was not zero.
    silent_frames: usize,
}

impl Engine {
    /// Creates an engine with one channel for each place of a loudspeaker, at least one and at most eight.
    #[must_use]
    pub fn new(rate_hz: u32, speakers_m: &[[f32; 2]], seed: u32) -> Self {
        let rate_hz = rate_hz.clamp(8_000, 192_000) as f32;
        let mut random = Random::new(seed);
        let speakers = Speakers::new(speakers_m);
        let channels = speakers.count();
        Self {
            rate_hz,
            bed: Bed::new(rate_hz, &mut random),
            random,
            speakers,
            voices: Voices::new(rate_hz),
            levels: Levels::default(),
            volume: 0.0,
            heard: 0.0,
            on: 0.0,
            tone: None,
            limiter: Limiter::new(channels),
            planes: Box::new([[0.0; BLOCK_FRAMES]; SPEAKERS_MAX]),
            block: vec![0.0; BLOCK_FRAMES * channels],
            taken: BLOCK_FRAMES * channels,
            silent_frames: 0,
        }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.speakers.count()
    }

    /// Replaces the places of the loudspeakers. Their number stays.
    pub fn place(&mut self, speakers_m: &[[f32; 2]]) {
        let speakers = Speakers::new(speakers_m);
        if speakers.count() == self.channels() {
            self.speakers = speakers;
        }
    }

    /// Sets what is to be heard.
    pub fn set_levels(&mut self, levels: Levels) {
        self.levels = levels.valid();
    }

    /// Begins to change to other waters.
    pub fn set_waters(&mut self, waters: Waters) {
        self.bed.set(waters);
    }

    /// Begins an event. Nothing happens while the pool is not heard.
    pub fn begin(&mut self, event: SoundEvent) {
        let Some(event) = event.valid() else { return };
        if self.is_heard() {
            gesture::begin(&event, &self.speakers, &mut self.voices, &mut self.random);
        }
    }

    /// Begins a test tone on one loudspeaker, also while the pool is not heard.
    pub fn test(&mut self, channel: usize) {
        if channel < self.channels() {
            self.tone = Some(Tone { channel, frame: 0 });
        }
    }

    /// Fills `out` with the next samples, channels side by side.
    pub fn render(&mut self, out: &mut [f32]) {
        for sample in out {
            if self.taken == self.block.len() {
                self.make_block();
                self.taken = 0;
            }
            *sample = self.block[self.taken];
            self.taken += 1;
        }
    }

    fn is_heard(&self) -> bool {
        let is_wanted = self.levels.is_heard && !self.levels.is_muted;
        is_wanted || (self.heard > 0.0 && self.on > 0.0)
    }

    fn make_block(&mut self) {
        if !self.is_heard() && !self.levels.is_heard {
            // Also if the pool became dark while sound was switched off.
            self.heard = 0.0;
        }
        if !self.is_heard() && self.tone.is_none() {
            if self.silent_frames > AHEAD_FRAMES {
                self.block.fill(0.0);
                return;
            }
            self.silent_frames += BLOCK_FRAMES;
            self.voices.clear();
        } else {
            self.silent_frames = 0;
        }
        for plane in self.planes.iter_mut() {
            plane.fill(0.0);
        }
        if self.is_heard() {
            let voices = &mut self.voices;
            let speakers = &self.speakers;
            self.bed.sound(
                self.levels.bed,
                speakers,
                &mut self.planes,
                &mut self.random,
                &mut |mut spec, at_m| {
                    spec.gains = speakers.gains(at_m);
                    voices.bubble(&spec);
                },
            );
            voices.sound(speakers, &mut self.planes, &mut self.random);
        }
        self.level_planes();
        self.limit_planes();
    }

    /// Applies fade, switch and volume, each without a step, and adds the test tone.
    fn level_planes(&mut self) {
        let block_secs = BLOCK_FRAMES as f32 / self.rate_hz;
        let towards = |value: f32, wanted: bool, secs: f32| {
            let step = block_secs / secs;
            if wanted {
                (value + step).min(1.0)
            } else {
                (value - step).max(0.0)
            }
        };
        let (heard, on, volume) = (self.heard, self.on, self.volume);
        self.heard = towards(heard, self.levels.is_heard, FADE_SECS);
        self.on = towards(on, !self.levels.is_muted, MUTE_SECS);
        self.volume += VOLUME_SHARE * (self.levels.volume - volume);
        // Squares sound more even than lines.
        let [from, to] = [[heard, on, volume], [self.heard, self.on, self.volume]];
        let gain = |[heard, on, volume]: [f32; 3]| heard * heard * on * on * volume;
        let loud = |[_, on, volume]: [f32; 3]| on * on * volume;
        let (gains, louds) = ([gain(from), gain(to)], [loud(from), loud(to)]);
        let at =
            |[from, to]: [f32; 2], n: usize| from + (to - from) * n as f32 / BLOCK_FRAMES as f32;
        for plane in self.planes.iter_mut().take(self.speakers.count()) {
            for (n, sample) in plane.iter_mut().enumerate() {
                *sample *= at(gains, n);
            }
        }
        let Some(tone) = &mut self.tone else { return };
        let last = (TONE_SECS * self.rate_hz) as u32;
        for n in 0..BLOCK_FRAMES {
            let secs = tone.frame as f32 / self.rate_hz;
            let edge_secs = secs.min(TONE_SECS - secs).clamp(0.0, TONE_EDGE_SECS);
            let edge = 0.5 - 0.5 * (PI * edge_secs / TONE_EDGE_SECS).cos();
            self.planes[tone.channel][n] +=
                TONE_LEVEL * at(louds, n) * edge * (TAU * (TONE_HZ * secs).fract()).sin();
            tone.frame += 1;
        }
        if tone.frame >= last {
            self.tone = None;
        }
    }

    fn limit_planes(&mut self) {
        let channels = self.speakers.count();
        for (n, out) in self.block.chunks_exact_mut(channels).enumerate() {
            let mut frame = [0.0; SPEAKERS_MAX];
            for (sample, plane) in frame.iter_mut().zip(self.planes.iter()).take(channels) {
                *sample = plane[n];
            }
            self.limiter.pass(&mut frame, self.levels.limit);
            for (out, sample) in out.iter_mut().zip(frame) {
                *out = sample;
            }
        }
    }
}

#[cfg(test)]
mod tests;
