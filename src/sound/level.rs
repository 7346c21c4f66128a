//! Levels: decibels, and what the site and the opening hours want to be heard.

/// Returns the factor on samples for a level in decibels.
pub fn gain_from_db(db: f32) -> f32 {
    10.0_f32.powf(db / 20.0)
}

/// Returns the level in decibels of a sample, at least −120.
pub fn db_from_gain(gain: f32) -> f32 {
    20.0 * gain.abs().max(1e-6).log10()
}

/// What is to be heard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Levels {
    /// Factor on all samples.
    pub volume: f32,
    /// Factor on the bed of wind and falls.
    pub bed: f32,
    /// Largest sample.
    pub limit: f32,
    /// Whether the pool is heard. If not, it fades to silence.
    pub is_heard: bool,
    /// Whether sound is switched off. Then nothing is heard at once, also no test tone.
    pub is_muted: bool,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            volume: 1.0,
            bed: 1.0,
            limit: gain_from_db(-6.0),
            is_heard: true,
            is_muted: false,
        }
    }
}

impl Levels {
    /// Returns the levels with numbers in their ranges. A number that is not finite gives silence.
    pub(super) fn valid(self) -> Self {
        let bounded = |gain: f32, most: f32| {
            if gain.is_finite() {
                gain.clamp(0.0, most)
            } else {
                0.0
            }
        };
        Self {
            volume: bounded(self.volume, 1.0),
            bed: bounded(self.bed, 8.0),
            limit: bounded(self.limit, 1.0),
            ..self
        }
    }
}
