//! The slow change between light and black.

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

#[cfg(test)]
mod tests {
    use super::*;

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
