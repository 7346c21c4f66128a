//! Chooses how finely pictures are drawn, so that none is late: first coarser below the water, then with less detail;
//! finer again when there has been time to spare for a while.
//!
//! In: what each picture took, and the time there is for one. Out: a [`Quality`]. Knows no GPU and asks no clock.

/// How finely a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Side of what lies below the water, fish and light, as a share of its full size. The water and the marks above it
    /// stay sharp.
    pub scale: f32,
    /// Without drifting specks, and all fish with their light meshes.
    pub is_plain: bool,
}

impl Quality {
    /// The finest.
    pub const FULL: Self = step(1.0, false);
}

const fn step(scale: f32, is_plain: bool) -> Quality {
    Quality { scale, is_plain }
}

/// From the finest to the coarsest.
const STEPS: [Quality; 5] = [
    Quality::FULL,
    step(0.8, false),
    step(0.65, false),
    step(0.5, false),
    step(0.5, true),
];
/// Share of the time there is from which on a picture may soon be late.
const BUSY: f64 = 0.85;
/// Share below which there is time to spare. One step changes the load by less than the way from here to [`BUSY`].
const IDLE: f64 = 0.55;
/// Time constant of the load's mean.
const MEAN_SECS: f64 = 0.4;
/// After a change the load is given so long to settle.
const SETTLE_SECS: f64 = 1.0;
/// How long there must be time to spare before a finer picture is tried; twice that after each try that failed, ...
const SPARE_SECS: f64 = 4.0;
/// ... up to this.
const LONGEST_SPARE_SECS: f64 = 256.0;
/// A try has failed if it is taken back within this time.
const TRY_SECS: f64 = 10.0;

/// Watches what pictures take.
#[derive(Clone, Debug)]
pub struct Governor {
    step: usize,
    /// Mean of the share of its time that a picture took.
    load: f64,
    since_change_secs: f64,
    spare_secs: f64,
    wanted_spare_secs: f64,
    /// The last change was to a finer picture.
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
    /// How finely to draw the next picture.
    pub fn quality(&self) -> Quality {
        STEPS.get(self.step).copied().unwrap_or(Quality::FULL)
    }

    /// Takes what a picture took and the time there was for it; `true` when the next one is to be drawn otherwise.
    pub fn note(&mut self, took_secs: f64, interval_secs: f64) -> bool {
        if !(took_secs >= 0.0 && interval_secs > 0.0 && took_secs.is_finite()) {
            return false;
        }
        // One picture that took seconds (a machine that slept) says no more than one that was late.
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

    const INTERVAL: f64 = 1.0 / 60.0;

    /// Draws for a while on a machine where a picture takes `took(quality)`; returns the times of all changes.
    fn played(governor: &mut Governor, secs: f64, took: impl Fn(Quality) -> f64) -> Vec<f64> {
        let mut changes = Vec::new();
        let mut now = 0.0;
        while now < secs {
            let took = took(governor.quality());
            now += took.max(INTERVAL);
            if governor.note(took, INTERVAL) {
                changes.push(now);
            }
        }
        changes
    }

    /// Half of it goes with the picture's area.
    fn cost(full_secs: f64) -> impl Fn(Quality) -> f64 {
        move |quality: Quality| {
            let area = f64::from(quality.scale * quality.scale);
            full_secs * (0.5 + 0.5 * area) * if quality.is_plain { 0.9 } else { 1.0 }
        }
    }

    #[test]
    fn a_fast_machine_always_draws_the_finest() {
        let mut governor = Governor::default();
        assert!(played(&mut governor, 60.0, cost(0.5 * INTERVAL)).is_empty());
        assert_eq!(governor.quality(), Quality::FULL);
    }

    #[test]
    fn a_picture_gets_coarser_before_it_is_late() {
        let mut governor = Governor::default();
        let cost = cost(0.95 * INTERVAL);
        played(&mut governor, 5.0, &cost);
        assert!(governor.quality().scale < 1.0);
        assert!(cost(governor.quality()) < BUSY * INTERVAL);
    }

    #[test]
    fn a_hopeless_machine_ends_at_the_coarsest_and_stays() {
        let mut governor = Governor::default();
        let changes = played(&mut governor, 120.0, |_| 5.0 * INTERVAL);
        assert_eq!(changes.len(), STEPS.len() - 1);
        assert!(governor.quality().is_plain);
    }

    #[test]
    fn it_is_fine_again_when_the_crowd_has_gone() {
        let mut governor = Governor::default();
        played(&mut governor, 20.0, cost(3.0 * INTERVAL));
        assert!(governor.quality().is_plain);
        played(&mut governor, 30.0, cost(0.3 * INTERVAL));
        assert_eq!(governor.quality(), Quality::FULL);
    }

    #[test]
    fn a_machine_between_two_steps_does_not_swing() {
        for percent in 80..140 {
            let mut governor = Governor::default();
            let changes = played(
                &mut governor,
                900.0,
                cost(f64::from(percent) / 100.0 * INTERVAL),
            );
            let late = changes.iter().filter(|&&at| at > 60.0).count();
            assert!(late == 0, "{percent} %: {late} changes after a minute");
        }
        // Where a step makes all the difference, tries become rare.
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
        assert!(late <= 8, "{late} changes in a quarter of an hour");
    }

    #[test]
    fn one_slow_picture_and_nonsense_change_nothing() {
        let mut governor = Governor::default();
        played(&mut governor, 5.0, cost(0.4 * INTERVAL));
        assert!(!governor.note(30.0, INTERVAL) || governor.quality().scale > 0.7);
        for (took, interval) in [(f64::NAN, INTERVAL), (-1.0, INTERVAL), (1.0, 0.0)] {
            assert!(!governor.note(took, interval));
        }
    }
}
