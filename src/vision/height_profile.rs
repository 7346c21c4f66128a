//! What tells one visitor from another when they part: how tall they are.
//!
//! In go heights of somebody who stands apart from others, out comes a [`HeightProfile`]. Nothing that would tell a person again on another
//! day: one number, kept only while the visitor is followed. How bright clothes are in infrared was tried too; it depends
//! more on where somebody stands than on who it is.

/// Spread of what is measured of one and the same visitor in different places. The median of three measurements was less
/// than 7.4 cm off that of all in 99 of 100 cases, which is just less than contradicts a name.
const HEIGHT_SPREAD_M: f32 = 0.04;
/// No difference counts more than this.
const MAX_DIFFERENCE: f32 = 9.0;
/// Forgotten is what is older than so many measurements.
const MEMORY_MEASUREMENTS: f32 = 40.0;
/// Fewer measurements are not compared.
const MIN_MEASUREMENTS: f32 = 2.0;
/// So many tell what somebody looks like.
pub(super) const KNOWN_MEASUREMENTS: f32 = 3.0;
/// Heights in steps of half the spread, up to more than `tracking.tallest_m` may be.
const BINS_PER_M: f32 = 50.0;
const BINS: usize = 160;

/// What a visitor looks like: a running median of heights, from a histogram that forgets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeightProfile {
    bins: [f32; BINS],
    measurements: f32,
}

impl Default for HeightProfile {
    fn default() -> Self {
        Self {
            bins: [0.0; BINS],
            measurements: 0.0,
        }
    }
}

impl HeightProfile {
    /// Takes in how tall somebody was seen to be.
    pub(super) fn add(&mut self, height_m: f32) {
        let bin = height_m * BINS_PER_M;
        self.bins[(bin.max(0.0) as usize).min(BINS - 1)] += 1.0;
        self.measurements += 1.0;
        self.forget();
    }

    /// Takes over what another one of the same visitor knows.
    pub(super) fn merge(&mut self, other: &Self) {
        for (own, its) in self.bins.iter_mut().zip(&other.bins) {
            *own += its;
        }
        self.measurements += other.measurements;
        self.forget();
    }

    fn forget(&mut self) {
        let kept = MEMORY_MEASUREMENTS / self.measurements.max(MEMORY_MEASUREMENTS);
        self.measurements *= kept;
        for bin in &mut self.bins {
            *bin *= kept;
        }
    }

    /// How tall the visitor is, when that could be seen.
    pub(super) fn height_m(&self) -> Option<f32> {
        (self.measurements >= MIN_MEASUREMENTS).then(|| self.median_m())
    }

    /// Whether it was measured often enough to tell somebody from others.
    pub(super) fn is_known(&self) -> bool {
        self.measurements >= KNOWN_MEASUREMENTS
    }

    /// In how many frames it was measured.
    pub(super) fn measurements(&self) -> f32 {
        self.measurements
    }

    /// How unlike two profiles are: 0 alike or unknown, 1 where they differ by the spread.
    pub(super) fn difference(&self, other: &Self) -> f32 {
        match (self.height_m(), other.height_m()) {
            (Some(own_m), Some(its_m)) => {
                let off = (own_m - its_m) / HEIGHT_SPREAD_M;
                (off * off).min(MAX_DIFFERENCE)
            }
            _ => 0.0,
        }
    }

    fn median_m(&self) -> f32 {
        let mut below = 0.0;
        for (bin, &count) in self.bins.iter().enumerate() {
            if 2.0 * (below + count) >= self.measurements && count > 0.0 {
                let within = (0.5 * self.measurements - below) / count;
                return (bin as f32 + within) / BINS_PER_M;
            }
            below += count;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(heights_m: &[f32]) -> HeightProfile {
        let mut profile = HeightProfile::default();
        for &height_m in heights_m {
            profile.add(height_m);
        }
        profile
    }

    #[test]
    fn a_height_is_the_middle_of_those_seen_whatever_lies_far_off() {
        assert_eq!(seen(&[1.71]).height_m(), None);
        let off_m = seen(&[1.71, 1.72, 0.9, 1.73]).height_m().unwrap() - 1.72;
        assert!(off_m.abs() < 0.01, "{off_m}");
        let mut grown = seen(&[1.2; 60]);
        for _ in 0..3 {
            grown.merge(&seen(&[1.62; 30]));
        }
        assert!((grown.height_m().unwrap() - 1.62).abs() < 0.015);
    }

    #[test]
    fn profiles_differ_by_their_heights_as_far_as_those_are_known() {
        let tall = seen(&[1.82; 3]);
        assert_eq!(tall.difference(&tall), 0.0);
        assert_eq!(tall.difference(&seen(&[1.2])), 0.0);
        assert_eq!(tall.difference(&seen(&[1.2; 3])), MAX_DIFFERENCE);
        let near = tall.difference(&seen(&[1.77; 3]));
        assert!((0.8..2.4).contains(&near), "{near}");
    }

    #[test]
    fn small_and_tall_heights_are_kept_as_they_are() {
        for wanted_m in [0.3, 0.61, 2.6, 3.0] {
            let off_m = seen(&[wanted_m; 3]).height_m().unwrap() - wanted_m;
            assert!(off_m.abs() < 0.015, "{wanted_m}: {off_m}");
        }
    }
}
