//! Keeps every sample within a limit, without a click: it knows the next milliseconds and is quieter before a loud moment comes.
//!
//! For each frame the limiter takes the smallest factor that any frame of the next [`AHEAD_FRAMES`] needs, and averages that over the same
//! time. Each factor of the average covers the frame that is played now, so the average does too: no sample exceeds the limit. The last
//! step, which cuts samples at the limit, only removes errors of rounding.

use super::params::SPEAKERS_MAX;

/// Frames that the limiter knows ahead: 4 ms at 48 kHz.
pub(super) const AHEAD_FRAMES: usize = 192;
/// Time in which the factor returns to 1, as the share of the missing rest per frame: 0.2 s at 48 kHz.
const RELEASE_SHARE: f32 = 1e-4;

/// The limiter for all channels. All get the same factor, so that a place stays where it is.
#[derive(Clone, Debug)]
pub(super) struct Limiter {
    channels: usize,
    /// The frames that are not played yet, a ring.
    frames: Box<[[f32; SPEAKERS_MAX]; AHEAD_FRAMES]>,
    /// The smallest factors of the last frames, over which is averaged, and their sum.
    smallest: Box<[f32; AHEAD_FRAMES]>,
    sum: f64,
    at: usize,
    /// Candidates for the smallest factor of the next frames: their numbers and factors, the smallest first.
    queue: Box<[(u64, f32); AHEAD_FRAMES]>,
    queue_first: usize,
    queue_count: usize,
    number: u64,
    held: f32,
}

impl Limiter {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            channels: channels.clamp(1, SPEAKERS_MAX),
            frames: Box::new([[0.0; SPEAKERS_MAX]; AHEAD_FRAMES]),
            smallest: Box::new([1.0; AHEAD_FRAMES]),
            sum: AHEAD_FRAMES as f64,
            at: 0,
            queue: Box::new([(0, 1.0); AHEAD_FRAMES]),
            queue_first: 0,
            queue_count: 0,
            number: 0,
            held: 1.0,
        }
    }

    /// Takes a frame, and replaces it by the frame that was taken [`AHEAD_FRAMES`] − 1 frames ago, limited.
    pub(super) fn pass(&mut self, frame: &mut [f32; SPEAKERS_MAX], limit: f32) {
        let mut peak = 0.0_f32;
        for sample in frame.iter_mut().take(self.channels) {
            if !sample.is_finite() {
                *sample = 0.0;
            }
            peak = peak.max(sample.abs());
        }
        let needed = if peak > limit { limit / peak } else { 1.0 };
        let smallest = self.smallest_of_ahead(needed);
        // A fall is followed at once, a rise slowly.
        self.held = smallest.min(self.held + (1.0 - self.held) * RELEASE_SHARE);
        let at = self.at;
        self.sum += f64::from(self.held) - f64::from(self.smallest[at]);
        self.smallest[at] = self.held;
        self.frames[at] = *frame;
        self.at = (at + 1) % AHEAD_FRAMES;
        let gain = (self.sum / AHEAD_FRAMES as f64) as f32;
        let played = &self.frames[self.at];
        for (sample, played) in frame.iter_mut().zip(played).take(self.channels) {
            *sample = (played * gain).clamp(-limit, limit);
        }
    }

    /// Returns the smallest of the last [`AHEAD_FRAMES`] needed factors, with a queue of candidates that grow.
    fn smallest_of_ahead(&mut self, needed: f32) -> f32 {
        let number = self.number;
        self.number += 1;
        let slot = |first: usize, index: usize| (first + index) % AHEAD_FRAMES;
        if self.queue_count > 0 && self.queue[self.queue_first].0 + (AHEAD_FRAMES as u64) <= number
        {
            self.queue_first = slot(self.queue_first, 1);
            self.queue_count -= 1;
        }
        while self.queue_count > 0
            && self.queue[slot(self.queue_first, self.queue_count - 1)].1 >= needed
        {
            self.queue_count -= 1;
        }
        self.queue[slot(self.queue_first, self.queue_count)] = (number, needed);
        self.queue_count += 1;
        self.queue[self.queue_first].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_sample_exceeds_the_limit(
            samples in prop::collection::vec(prop_oneof![-1.0_f32..1.0, -100.0_f32..100.0, Just(f32::NAN), Just(1e30)], 1..3000),
            limit in 0.01_f32..1.0,
        ) {
            let mut limiter = Limiter::new(2);
            for sample in samples {
                let mut frame = [sample; SPEAKERS_MAX];
                limiter.pass(&mut frame, limit);
                prop_assert!(frame[0].abs() <= limit && frame[1].abs() <= limit);
            }
        }
    }

    /// The cut at the end removes errors of rounding only: the factor alone already holds the limit.
    #[test]
    fn the_factor_holds_the_limit_without_the_cut() {
        let mut limiter = Limiter::new(1);
        let mut state = 1_u32;
        let mut played = std::collections::VecDeque::from(vec![0.0_f32; AHEAD_FRAMES - 1]);
        for n in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let loud = if n % 1777 < 3 { 30.0 } else { 0.2 };
            let sample = loud * (state as f32 / u32::MAX as f32 - 0.5);
            played.push_back(sample);
            limiter.pass(&mut [sample; SPEAKERS_MAX], 0.5);
            let gain = (limiter.sum / AHEAD_FRAMES as f64) as f32;
            let wanted = played.pop_front().unwrap() * gain;
            assert!(wanted.abs() <= 0.5001, "{n} {wanted}");
        }
    }

    #[test]
    fn quiet_samples_pass_unchanged_and_late() {
        let mut limiter = Limiter::new(1);
        for n in 0..1000 {
            let mut frame = [0.001 * n as f32 / 10.0; SPEAKERS_MAX];
            limiter.pass(&mut frame, 0.5);
            let late = (n - AHEAD_FRAMES as i32 + 1).max(0);
            assert!((frame[0] - 0.0001 * late as f32).abs() < 1e-6);
        }
    }
}
