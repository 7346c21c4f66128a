//! A shower of drops or of small bubbles: many bubbles of random sizes, at first many and then fewer.

use super::block::BLOCK_FRAMES;
use super::bubble::BubbleSpec;
use super::noise::Random;

/// What makes a shower.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShowerSpec {
    /// Place, and the largest distance of a drop from it.
    pub(super) at_m: [f32; 2],
    pub(super) reach_m: f32,
    /// Drops per second at the start, and the time in which this falls to a third.
    pub(super) per_sec: f32,
    pub(super) decay_secs: f32,
    /// Radius of the smallest and the largest bubble.
    pub(super) radius_m: [f32; 2],
    /// Level of the largest bubble.
    pub(super) level: f32,
    /// Time until it begins.
    pub(super) wait_secs: f32,
}

/// A shower that falls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shower {
    spec: ShowerSpec,
    age_secs: f32,
}

/// Number of decay times after which a shower is over.
const OVER_DECAYS: f32 = 4.0;

impl Shower {
    pub(super) fn new(spec: &ShowerSpec) -> Self {
        Self {
            spec: *spec,
            age_secs: -spec.wait_secs,
        }
    }

    /// Passes the drops of the next block, with their places, to `add`. Returns whether more can come.
    pub(super) fn fall(
        &mut self,
        rate_hz: f32,
        random: &mut Random,
        add: &mut dyn FnMut(BubbleSpec, [f32; 2]),
    ) -> bool {
        let block_secs = BLOCK_FRAMES as f32 / rate_hz;
        if self.age_secs >= 0.0 {
            let now = (-self.age_secs / self.spec.decay_secs).exp();
            for _ in 0..random.count(self.spec.per_sec * now * block_secs) {
                let spread = [random.signed(), random.signed()];
                let at_m =
                    [0, 1].map(|axis| self.spec.at_m[axis] + self.spec.reach_m * spread[axis]);
                let level = self.spec.level * (0.4 + 0.6 * now);
                add(drop(self.spec.radius_m, level, block_secs, random), at_m);
            }
        }
        self.age_secs += block_secs;
        self.age_secs < OVER_DECAYS * self.spec.decay_secs
    }
}

/// Returns a bubble of a random size: small ones are frequent, as in a crowd of bubbles. Larger ones are louder.
pub(super) fn drop(
    [smallest_m, largest_m]: [f32; 2],
    level: f32,
    within_secs: f32,
    random: &mut Random,
) -> BubbleSpec {
    // The density falls with the square of the radius.
    let share = random.unit();
    let radius_m = 1.0 / (1.0 / smallest_m + share * (1.0 / largest_m - 1.0 / smallest_m));
    // Deep bubbles are quiet and hold their pitch; those at the surface are loud, and it rises.
    let at_surface = random.unit();
    BubbleSpec {
        radius_m,
        level: level * (radius_m / largest_m).powf(0.35) * (0.15 + 0.85 * at_surface * at_surface),
        rise: 0.05 + 0.3 * at_surface,
        attack_secs: 0.0015 + 0.4 * radius_m,
        wait_secs: within_secs * random.unit(),
        gains: [0.0; super::params::SPEAKERS_MAX],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shower_thins_out_and_ends() {
        let spec = ShowerSpec {
            at_m: [1.0, 0.0],
            reach_m: 0.2,
            per_sec: 200.0,
            decay_secs: 0.3,
            radius_m: [0.001, 0.004],
            level: 0.1,
            wait_secs: 0.1,
        };
        let (mut shower, mut random) = (Shower::new(&spec), Random::new(1));
        let (mut early, mut late, mut blocks) = (0, 0, 0);
        loop {
            let secs = blocks as f32 * BLOCK_FRAMES as f32 / 48_000.0;
            let goes_on = shower.fall(48_000.0, &mut random, &mut |bubble, at_m| {
                assert!((0.001..0.0041).contains(&bubble.radius_m) && bubble.level <= 0.1);
                assert!((0.8..=1.2).contains(&at_m[0]) && secs >= 0.1);
                *(if secs < 0.4 { &mut early } else { &mut late }) += 1;
            });
            blocks += 1;
            if !goes_on {
                break;
            }
        }
        assert!(
            (25..55).contains(&early) && (10..35).contains(&late),
            "{early} {late}"
        );
    }
}
