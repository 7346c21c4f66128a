//! Slow changes of the picture: between light and black, and from one scene to the next.

use std::time::{Duration, Instant};

/// Time from full light to black and back. So slow that no jump is visible, and far below any limit for flashes.
const FADE_TIME: Duration = Duration::from_secs(20);

/// The light of the picture over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fade {
    /// 0: black, 1: full light.
    share: f32,
    last: Option<Instant>,
}

impl Fade {
    /// Returns the light of the picture at `now`, from 0 to 1. The first picture is not faded.
    pub(super) fn advance(&mut self, is_lit: bool, now: Instant) -> f32 {
        let target = if is_lit { 1.0 } else { 0.0 };
        match self.last.replace(now) {
            None => self.share = target,
            Some(last) => {
                let passed = now.saturating_duration_since(last).as_secs_f32();
                let step = passed / FADE_TIME.as_secs_f32();
                self.share += (target - self.share).clamp(-step, step);
            }
        }
        // Equal steps of the square root of the light look about equal.
        self.share * self.share
    }
}

/// The change from one scene to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct SceneFade {
    scene: String,
    begun: Option<(Instant, f32)>,
}

impl SceneFade {
    /// Notes which scene is drawn. Another one than before begins a change that lasts `fade_secs`.
    pub(super) fn show(&mut self, scene: &str, fade_secs: f32, now: Instant) {
        if self.scene != scene {
            self.begun = Some((now, fade_secs));
            scene.clone_into(&mut self.scene);
        }
    }

    /// Returns the weight of the last picture of the old scene at `now`, from 1 to 0.
    pub(super) fn old_share(&mut self, now: Instant) -> f32 {
        let Some((begun, fade_secs)) = self.begun else {
            return 0.0;
        };
        let passed = now.saturating_duration_since(begun).as_secs_f32();
        if passed >= fade_secs {
            self.begun = None;
            return 0.0;
        }
        let left = 1.0 - passed / fade_secs;
        // It begins and ends slowly.
        left * left * (3.0 - 2.0 * left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_scene_goes_over_into_the_next_one_and_an_edit_of_the_same_scene_does_not() {
        let begin = Instant::now();
        let at = |secs: f32| begin + Duration::from_secs_f32(secs);
        let mut fade = SceneFade::default();
        assert!(fade.old_share(at(0.0)).abs() < 1e-6);
        fade.show("koi", 4.0, at(1.0));
        let mut shares = Vec::new();
        for secs in [1.0, 3.0, 4.99, 5.0] {
            fade.show("koi", 4.0, at(secs));
            shares.push((fade.old_share(at(secs)) * 100.0).round() as u32);
        }
        assert_eq!(shares, [100, 50, 0, 0]);
        fade.show("reef", 0.0, at(6.0));
        assert!(fade.old_share(at(6.0)).abs() < 1e-6, "at once");
    }

    #[test]
    fn the_picture_fades_slowly_and_starts_in_its_state() {
        let begin = Instant::now();
        let at = |secs: f32| begin + Duration::from_secs_f32(secs);
        let mut fade = Fade::default();
        assert!((fade.advance(true, at(0.0)) - 1.0).abs() < 1e-6);
        let mut before = 1.0;
        for tenth in 1..=200 {
            let level = fade.advance(false, at(tenth as f32 / 10.0));
            assert!(
                (0.0..=0.011).contains(&(before - level)),
                "{tenth}: {before} to {level}"
            );
            before = level;
        }
        assert!(before < 1e-4, "{before}");
        assert!(fade.advance(true, at(30.0)) < 0.3);
        assert!(Fade::default().advance(false, at(0.0)).abs() < 1e-6);
    }
}
