//! What is heard: short events at places on the floor, and the water that sounds all the time.

/// Largest number of falls that sound.
pub(super) const FALLS_MAX: usize = 8;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoundKind {
    /// A body breaks through the water surface: a slap, a cavity that closes, drops that fall back. Strength: its speed.
    Splash,
    /// A body is swallowed under water: a gulp of two bubbles.
    Gulp,
    /// Bodies start at once: water rushes. Strength: how many.
    Swish,
    /// A foot touches the water: a soft, deep ring.
    Step,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoundEvent {
    /// What happened.
    pub kind: SoundKind,
    /// Place in floor meters, `[x, z]`: x to the right, z towards the lower edge of the picture.
    pub at_m: [f32; 2],
    /// Strength from 0 (not heard) to 1.
    pub strength: f32,
    /// Radius of the body in meters. Larger bodies sound deeper.
    pub size_m: f32,
}

impl SoundEvent {
    /// Returns the event with its numbers in their ranges; `None` if a number is not finite or nothing would be heard.
    pub(super) fn valid(self) -> Option<Self> {
        let [x, z] = self.at_m;
        let numbers = [x, z, self.strength, self.size_m];
        if !numbers.iter().all(|number| number.is_finite()) || self.strength <= 0.0 {
            return None;
        }
        Some(Self {
            at_m: self.at_m.map(|meters| meters.clamp(-100.0, 100.0)),
            strength: self.strength.min(1.0),
            size_m: self.size_m.clamp(0.005, 1.0),
            ..self
        })
    }
}

/// A fall of water.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fall {
    /// Place in floor meters.
    pub at_m: [f32; 2],
    /// Height in meters.
    pub height_m: f32,
    /// Width in meters.
    pub width_m: f32,
}

impl Fall {
    /// Returns how much water falls how deep, relative to a fall of 1 m by 1 m.
    pub(super) fn power(&self) -> f32 {
        let power = self.height_m.max(0.0) * self.width_m.max(0.0);
        if power.is_finite() { power } else { 0.0 }
    }
}

/// The water that sounds all the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waters {
    /// Strength of the wind on the water: 0 is calm, 1 as usual.
    pub wind: f32,
    /// Half of the width and of the height of the surface in meters.
    pub half_m: [f32; 2],
    /// The falls with the most power.
    falls: [Fall; FALLS_MAX],
}

impl Waters {
    /// Keeps the falls with the most power.
    #[must_use]
    pub fn new(wind: f32, half_m: [f32; 2], falls: impl IntoIterator<Item = Fall>) -> Self {
        let mut all: Vec<Fall> = falls
            .into_iter()
            .filter(|fall| fall.power() > 0.0)
            .collect();
        all.sort_by(|a, b| b.power().total_cmp(&a.power()));
        let mut kept = [Fall::default(); FALLS_MAX];
        for (place, fall) in kept.iter_mut().zip(all) {
            *place = fall;
        }
        let bounded = |value: f32, most: f32| {
            if value.is_finite() {
                value.clamp(0.0, most)
            } else {
                0.0
            }
        };
        Self {
            wind: bounded(wind, 4.0),
            half_m: half_m.map(|meters| bounded(meters, 50.0)),
            falls: kept,
        }
    }

    pub(super) fn falls(&self) -> &[Fall; FALLS_MAX] {
        &self.falls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_falls_are_kept_and_nonsense_is_not() {
        let fall = |height_m| Fall {
            height_m,
            width_m: 1.0,
            ..Fall::default()
        };
        let falls = (0..20)
            .map(|n| fall(n as f32))
            .chain([fall(f32::NAN), fall(-1.0)]);
        let waters = Waters::new(f32::NAN, [1.0, f32::INFINITY], falls);
        assert_eq!((waters.wind, waters.half_m), (0.0, [1.0, 0.0]));
        let heights: Vec<f32> = waters.falls().iter().map(|fall| fall.height_m).collect();
        assert_eq!(heights, [19.0, 18.0, 17.0, 16.0, 15.0, 14.0, 13.0, 12.0]);
    }

    #[test]
    fn an_event_with_a_number_that_is_none_is_not_heard() {
        let event = SoundEvent {
            kind: SoundKind::Step,
            at_m: [0.0, 1e9],
            strength: 7.0,
            size_m: 0.0,
        };
        let valid = event.valid().unwrap();
        assert_eq!(
            (valid.at_m, valid.strength, valid.size_m),
            ([0.0, 100.0], 1.0, 0.005)
        );
        for strength in [0.0, -1.0, f32::NAN] {
            assert_eq!(SoundEvent { strength, ..event }.valid(), None);
        }
    }
}
