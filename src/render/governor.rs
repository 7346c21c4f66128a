//! Chooses the quality of pictures so that no picture is late. It first lowers the resolution of everything below the water
//! surface, then the detail. It raises the quality again after the load was low for at least `SPARE_SECS`.
//!
//! In: the duration of each picture and the time available for it. Out: a [`Quality`]. Uses neither the GPU nor a clock.

/// The quality of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Resolution of bodies, of their shadows and of sunlight, as a share of the full resolution along each side. The water surface
    /// and the overlay keep the full resolution.
    pub scale: f32,
    /// Whether specks are left out and all fish are drawn with their low-detail meshes.
    pub is_reduced: bool,
}

impl Quality {
    /// The highest quality.
    pub const FULL: Self = step(1.0, false);
}

const fn step(scale: f32, is_reduced: bool) -> Quality {
    Quality { scale, is_reduced }
}

/// All qualities from the highest to the lowest.
const STEPS: [Quality; 5] = [
    Quality::FULL,
    step(0.8, false),
    step(0.65, false),
    step(0.5, false),
    step(0.5, true),
];
/// Load above which the quality is lowered. The load is the time that a picture takes, as a share of the available time.
const BUSY: f64 = 0.85;
/// Load below which the quality may be raised. One step of quality changes the load by less than the difference between
/// [`BUSY`] and this value.
const IDLE: f64 = 0.55;
/// Time constant with which the load is averaged.
const MEAN_SECS: f64 = 0.4;
/// Time after a change of quality in which the load settles and the quality is not changed again.
const SETTLE_SECS: f64 = 1.0;
/// Time for which the load must be low before the quality is raised. It doubles after each failed attempt to raise the quality.
const SPARE_SECS: f64 = 4.0;
/// Upper limit of the time for which the load must be low before the quality is raised.
const LONGEST_SPARE_SECS: f64 = 256.0;
/// An attempt to raise the quality has failed if the quality is lowered again within this time.
const TRY_SECS: f64 = 10.0;

/// Measures the load and chooses the quality.
#[derive(Clone, Debug)]
pub struct Governor {
    /// Index of the current quality in [`STEPS`].
    step: usize,
    /// Averaged load.
    load: f64,
    since_change_secs: f64,
    /// Time for which the load has been low.
    spare_secs: f64,
    /// Time for which the load must be low before the quality is raised.
    wanted_spare_secs: f64,
    /// Whether the last change raised the quality.
    was_raised: bool,
}

impl Default for Governor {
    fn default() -> Self {
        Self {
            step: 0,
            load: 0.0,
            since_change_secs: 0.0,
            spare_secs: 0.0,
            wanted_spare_secs: SPARE_SECS,
            was_raised: false,
        }
    }
}

impl Governor {
    /// Quality of the next picture.
    pub fn quality(&self) -> Quality {
        STEPS.get(self.step).copied().unwrap_or(Quality::FULL)
    }

    /// Records the duration of a picture and the time that was available for it. Returns `true` if the quality has changed.
    pub fn record(&mut self, took_secs: f64, interval_secs: f64) -> bool {
        if !(took_secs >= 0.0 && interval_secs > 0.0 && took_secs.is_finite()) {
            return false;
        }
        // A picture that took many seconds (because the machine was suspended) must not count more than an ordinary late
        // picture.
        let load = (took_secs / interval_secs).min(4.0);
        let dt_secs = interval_secs.max(took_secs).min(MEAN_SECS);
        self.since_change_secs += dt_secs;
        self.load += (load - self.load) * (1.0 - (-dt_secs / MEAN_SECS).exp());
        self.spare_secs = if self.load < IDLE {
            self.spare_secs + dt_secs
        } else {
            0.0
        };
        if self.since_change_secs < SETTLE_SECS {
            return false;
        }
        if self.load > BUSY && self.step + 1 < STEPS.len() {
            let has_failed = self.was_raised && self.since_change_secs < TRY_SECS;
            if has_failed {
                self.wanted_spare_secs = (2.0 * self.wanted_spare_secs).min(LONGEST_SPARE_SECS);
            }
            self.change(self.step + 1, false);
            return true;
        }
        if self.step > 0 && self.spare_secs >= self.wanted_spare_secs {
            self.change(self.step - 1, true);
            return true;
        }
        if self.since_change_secs > TRY_SECS && self.was_raised {
            self.wanted_spare_secs = SPARE_SECS;
        }
        false
    }

    fn change(&mut self, step: usize, is_raised: bool) {
        self.step = step;
        self.was_raised = is_raised;
        self.since_change_secs = 0.0;
        self.spare_secs = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time available for a picture.
    const INTERVAL: f64 = 1.0 / 60.0;

    /// Simulates `secs` seconds on a machine where a picture takes `took(quality)` seconds. Returns the times of all changes of
    /// quality.
    fn played(governor: &mut Governor, secs: f64, took: impl Fn(Quality) -> f64) -> Vec<f64> {
        let mut changes = Vec::new();
        let mut now = 0.0;
        while now < secs {
            let took = took(governor.quality());
            now += took.max(INTERVAL);
            if governor.record(took, INTERVAL) {
                changes.push(now);
            }
        }
        changes
    }

    /// Returns a function for the duration of a picture. Half of the duration is proportional to the drawn area.
    fn cost(full_secs: f64) -> impl Fn(Quality) -> f64 {
        move |quality: Quality| {
            let area = f64::from(quality.scale * quality.scale);
            full_secs * (0.5 + 0.5 * area) * if quality.is_reduced { 0.9 } else { 1.0 }
        }
    }

    #[test]
    fn a_fast_machine_keeps_the_highest_quality() {
        let mut governor = Governor::default();
        assert!(played(&mut governor, 60.0, cost(0.5 * INTERVAL)).is_empty());
        assert_eq!(governor.quality(), Quality::FULL);
    }

    #[test]
    fn the_quality_is_lowered_before_a_picture_is_late() {
        let mut governor = Governor::default();
        let cost = cost(0.95 * INTERVAL);
        played(&mut governor, 5.0, &cost);
        assert!(governor.quality().scale < 1.0);
        assert!(cost(governor.quality()) < BUSY * INTERVAL);
    }

    #[test]
    fn a_machine_that_is_too_slow_stays_at_the_lowest_quality() {
        let mut governor = Governor::default();
        let changes = played(&mut governor, 120.0, |_| 5.0 * INTERVAL);
        assert_eq!(changes.len(), STEPS.len() - 1);
        assert!(governor.quality().is_reduced);
    }

    #[test]
    fn the_quality_is_raised_after_the_load_has_fallen() {
        let mut governor = Governor::default();
        played(&mut governor, 20.0, cost(3.0 * INTERVAL));
        assert!(governor.quality().is_reduced);
        played(&mut governor, 30.0, cost(0.3 * INTERVAL));
        assert_eq!(governor.quality(), Quality::FULL);
    }

    #[test]
    fn the_quality_does_not_oscillate() {
        for percent in 80..140 {
            let mut governor = Governor::default();
            let changes = played(
                &mut governor,
                900.0,
                cost(f64::from(percent) / 100.0 * INTERVAL),
            );
            let late = changes.iter().filter(|&&at| at > 60.0).count();
            assert!(
                late == 0,
                "load {percent} %: {late} changes after the first minute"
            );
        }
        // If one step changes the load from too high to very low, attempts to raise the quality become rare.
        let mut governor = Governor::default();
        let cliff = |quality: Quality| {
            if quality.scale < 1.0 {
                0.3 * INTERVAL
            } else {
                1.5 * INTERVAL
            }
        };
        let changes = played(&mut governor, 1800.0, cliff);
        let late = changes.iter().filter(|&&at| at > 900.0).count();
        assert!(late <= 8, "{late} changes in 15 minutes");
    }

    #[test]
    fn one_slow_picture_and_invalid_durations_change_little_or_nothing() {
        let mut governor = Governor::default();
        played(&mut governor, 5.0, cost(0.4 * INTERVAL));
        assert!(!governor.record(30.0, INTERVAL) || governor.quality().scale > 0.7);
        for (took, interval) in [(f64::NAN, INTERVAL), (-1.0, INTERVAL), (1.0, 0.0)] {
            assert!(!governor.record(took, interval));
        }
    }
}
