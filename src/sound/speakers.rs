//! Where the loudspeakers are, and how much each plays of a sound at a place.
//!
//! Each loudspeaker plays every sound, the louder the nearer it is, and all together always with the same power.
//! **Source**: Lossius, Baltazar & de la Hogue 2009, "DBAP".

use super::params::SPEAKERS_MAX;

/// Gains of all loudspeakers.
pub(super) type Gains = [f32; SPEAKERS_MAX];

/// A sound is never nearer to a loudspeaker than this share of the mean distance of the loudspeakers from their middle. Smaller: a sound
/// comes from one loudspeaker alone. Larger: from all.
const BLUR_SHARE: f32 = 0.2;
/// Smallest such distance, in meters.
const BLUR_MIN_M: f32 = 0.1;

/// Places of the loudspeakers in floor meters, one per channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Speakers {
    at_m: [[f32; 2]; SPEAKERS_MAX],
    count: usize,
    blur_m: f32,
}

impl Speakers {
    pub(super) fn new(places_m: &[[f32; 2]]) -> Self {
        let mut at_m = [[0.0; 2]; SPEAKERS_MAX];
        let count = places_m.len().clamp(1, SPEAKERS_MAX);
        for (place, found) in at_m.iter_mut().zip(places_m) {
            *place = found.map(|meters| {
                if meters.is_finite() {
                    meters.clamp(-100.0, 100.0)
                } else {
                    0.0
                }
            });
        }
        let used = &at_m[..count];
        let middle = [0, 1].map(|axis| used.iter().map(|at| at[axis]).sum::<f32>() / count as f32);
        let spread = used.iter().map(|at| distance(*at, middle)).sum::<f32>() / count as f32;
        Self {
            at_m,
            count,
            blur_m: (BLUR_SHARE * spread).max(BLUR_MIN_M),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the gain of each loudspeaker for a sound at a place. The sum of their squares is 1.
    pub(super) fn gains(&self, at_m: [f32; 2]) -> Gains {
        let mut gains = [0.0; SPEAKERS_MAX];
        let used = self.at_m.iter().take(self.count);
        for (gain, speaker) in gains.iter_mut().zip(used) {
            *gain = 1.0 / distance(*speaker, at_m).hypot(self.blur_m);
        }
        let power = gains.iter().map(|gain| gain * gain).sum::<f32>();
        gains.map(|gain| gain / power.sqrt())
    }
}

fn distance(a: [f32; 2], b: [f32; 2]) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_is_the_same_at_every_place() {
        let speakers = Speakers::new(&[[-2.0, 0.0], [2.0, 0.0], [0.0, 1.5], [0.0, -1.5]]);
        for at in [[0.0, 0.0], [-2.0, 0.0], [1.9, 0.1], [50.0, 50.0]] {
            let power: f32 = speakers.gains(at).iter().map(|gain| gain * gain).sum();
            assert!((power - 1.0).abs() < 1e-4, "{at:?} {power}");
        }
        let [left, right, front, back, ..] = speakers.gains([-1.8, 0.0]);
        assert!(left > 4.0 * right && left > 3.0 * front && (front - back).abs() < 1e-4);
        let [.., front, back, _, _, _, _] = speakers.gains([0.0, 1.4]);
        assert!(front > 4.0 * back);
    }

    #[test]
    fn loudspeakers_at_one_place_play_the_same() {
        for places in [
            &[[0.0, 0.0], [0.0, 0.0]][..],
            &[[f32::NAN, 0.0], [0.0, f32::INFINITY]],
        ] {
            let [left, right, ..] = Speakers::new(places).gains([1.0, 1.0]);
            assert!(left > 0.7 && right > 0.7, "{left} {right}");
        }
        assert_eq!(Speakers::new(&[]).count(), 1);
    }
}
