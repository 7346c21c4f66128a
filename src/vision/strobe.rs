//! Lamps that strobe: the camera's own lamp is off in every second or third picture, as cameras for face recognition do it.
//! Such dark pictures are skipped.

/// A picture is dark if its mean level is below this share of that of the bright pictures.
const DARK_SHARE: f32 = 0.4;
/// Number of times the light must come back for a strobe.
const TURNS: usize = 4;
/// Time within which it must, in seconds. A lamp that is switched off and on again is slower.
const TURNS_SECS: f64 = 1.5;
/// Time without a dark picture after which the strobe has ended, in seconds.
const QUIET_SECS: f64 = 1.0;
/// Learning rate of the level of bright pictures.
const BRIGHT_RATE: f32 = 0.2;
/// Rows and columns of which every one is used for the mean.
const STEP_PX: usize = 16;

/// What [`Strobe::observe`] says about a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrobePhase {
    /// The picture can be used.
    Lit,
    /// The same, and the strobe has just been detected: what was learned before may be wrong.
    Detected,
    /// The lamp was off.
    Dark,
}

/// Detects a strobe from the mean levels of pictures.
#[derive(Debug)]
pub(super) struct Strobe {
    bright: f32,
    is_dark: bool,
    /// Times at which the light came back last.
    turns_secs: [f64; TURNS],
    is_present: bool,
    /// Share of dark pictures while the strobe is present.
    dark_share: f32,
}

impl Default for Strobe {
    fn default() -> Self {
        Self {
            bright: 0.0,
            is_dark: false,
            turns_secs: [f64::NEG_INFINITY; TURNS],
            is_present: false,
            dark_share: 0.5,
        }
    }
}

impl Strobe {
    /// Observes a picture of this width.
    pub(super) fn observe(&mut self, levels: &[u8], width: usize, time_secs: f64) -> StrobePhase {
        let rows = levels
            .chunks_exact(width)
            .skip(STEP_PX / 2)
            .step_by(STEP_PX);
        let sampled = rows.flat_map(|row| row.iter().step_by(STEP_PX));
        let (sum, count) = sampled.fold((0_u32, 0_u32), |(sum, count), &level| {
            (sum + u32::from(level), count + 1)
        });
        self.observe_mean(sum as f32 / count.max(1) as f32, time_secs)
    }

    fn observe_mean(&mut self, mean: f32, time_secs: f64) -> StrobePhase {
        let was_dark = self.is_dark;
        let last_secs = self.turns_secs[TURNS - 1];
        self.is_dark = mean < DARK_SHARE * self.bright;
        if self.is_present && time_secs - last_secs > QUIET_SECS {
            self.is_present = false;
        }
        if self.is_dark && !self.is_present && was_dark {
            // Two dark pictures are no strobe, but less light.
            self.bright = mean;
            self.is_dark = false;
        }
        let mut phase = StrobePhase::Lit;
        if !self.is_dark {
            self.bright = mean.max(self.bright + BRIGHT_RATE * (mean - self.bright));
            if was_dark {
                self.turns_secs.rotate_left(1);
                self.turns_secs[TURNS - 1] = time_secs;
                let is_strobe = time_secs - self.turns_secs[0] <= TURNS_SECS;
                if is_strobe && !self.is_present {
                    phase = StrobePhase::Detected;
                }
                self.is_present |= is_strobe;
            }
        }
        self.dark_share += 0.05 * (f32::from(u8::from(self.is_dark)) - self.dark_share);
        if self.is_dark && self.is_present {
            StrobePhase::Dark
        } else {
            phase
        }
    }

    /// Returns the share of dark pictures, or `None` without a strobe.
    pub(super) fn dark_share(&self) -> Option<f32> {
        self.is_present.then_some(self.dark_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(mean: impl Fn(usize) -> f32) -> Vec<StrobePhase> {
        let mut strobe = Strobe::default();
        (0..90)
            .map(|i| strobe.observe_mean(mean(i), i as f64 / 30.0))
            .collect()
    }

    #[test]
    fn every_second_dark_picture_is_skipped_after_a_moment() {
        for every in [2, 3] {
            let found = phases(|i| if i % every == every - 1 { 3.0 } else { 90.0 });
            let detected = found.iter().position(|&p| p == StrobePhase::Detected);
            assert!(detected.is_some_and(|i| i < 20), "{detected:?}");
            for (i, phase) in found.iter().enumerate().skip(20) {
                let is_dark = i % every == every - 1;
                assert_eq!(*phase == StrobePhase::Dark, is_dark, "{i}");
            }
        }
    }

    #[test]
    fn a_lamp_that_fails_or_is_switched_is_no_strobe() {
        let failed = phases(|i| if i > 40 { 3.0 } else { 90.0 });
        let switched = phases(|i| if i / 15 % 2 == 1 { 3.0 } else { 90.0 });
        for found in [failed, switched] {
            assert!(found.iter().all(|&phase| phase == StrobePhase::Lit));
        }
    }
}
