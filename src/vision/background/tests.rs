//! Tests of the background model over sequences of frames.

use super::*;
use shoal_testing::assert_near;

const SIZE: usize = 40;

struct Floor {
    model: Background,
    occupied: BitMask,
    foreground: BitMask,
    params: VisionParams,
}

impl Floor {
    fn new() -> Self {
        Self {
            model: Background::new(SIZE, SIZE, &[0.01; SIZE * SIZE]),
            occupied: BitMask::new(SIZE, SIZE),
            foreground: BitMask::new(SIZE, SIZE),
            params: VisionParams::default(),
        }
    }

    /// Processes a frame for which no pixel is marked as occupied. Returns the number of foreground pixels.
    fn show(&mut self, levels: &[u8]) -> u32 {
        self.model
            .find_foreground(levels, &self.occupied, &self.params, &mut self.foreground);
        self.model.learn(levels, &self.occupied, &self.params, 0.04);
        self.foreground.count()
    }
}

fn lit(level: u8) -> Vec<u8> {
    (0..SIZE * SIZE).map(|i| level - (i % 3) as u8).collect()
}

#[test]
fn an_exposure_change_creates_no_foreground() {
    let mut floor = Floor::new();
    for _ in 0..20 {
        assert_eq!(floor.show(&lit(120)), 0);
    }
    for level in [90, 160, 60, 120] {
        assert_eq!(floor.show(&lit(level)), 0, "{level}");
    }
}

#[test]
fn a_shadow_on_dim_floor_is_detected_despite_noise() {
    let mut floor = Floor::new();
    let mut state = 7_u64;
    let mut noisy = |is_covered: bool| -> Vec<u8> {
        let mut noise = || {
            let sum: f32 = (0..4)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
                })
                .sum();
            // The sum of four uniform numbers has a standard deviation of 0.577.
            sum / 0.577 * 2.5
        };
        (0..SIZE * SIZE)
            .map(|i| if is_covered && i < 400 { 5.0 } else { 18.0 } + noise())
            .map(|level: f32| level.round().clamp(0.0, 255.0) as u8)
            .collect()
    };
    for _ in 0..200 {
        assert_eq!(floor.show(&noisy(false)), 0);
    }
    for _ in 0..100 {
        let count = floor.show(&noisy(true));
        assert!((360..=440).contains(&count), "{count} of 400");
    }
}

#[test]
fn dark_floor_is_never_foreground() {
    let mut floor = Floor::new();
    floor.show(&lit(10));
    assert_eq!(floor.show(&lit(2)), 0);
}

#[test]
fn foreground_never_becomes_background() {
    let mut floor = Floor::new();
    let mut covered = lit(120);
    covered[..400].fill(20);
    for _ in 0..10 {
        floor.show(&lit(120));
    }
    for _ in 0..3000 {
        assert_eq!(floor.show(&covered), 400);
    }
}

/// The age was a 32-bit number, which stopped to grow after twelve days.
#[test]
fn a_model_of_a_year_still_ages_and_learns_as_on_the_first_day() {
    const YEAR_SECS: f64 = 365.25 * 86_400.0;
    let frames_until_learned = |age_secs: f64| {
        let mut floor = Floor::new();
        for _ in 0..200 {
            floor.show(&lit(120));
        }
        floor.model.age_secs += age_secs;
        floor.model.frames += (age_secs / 0.04) as u64 / 64 * 64;
        let before_secs = floor.model.age_secs;
        let mut covered = lit(120);
        covered[..400].fill(20);
        for _ in 0..500 {
            assert_eq!(floor.show(&covered), 400, "a still visitor is no floor");
        }
        let grown_secs = floor.model.age_secs - before_secs;
        assert!((grown_secs - 20.0).abs() < 1e-3, "{grown_secs}");
        let mut brighter = lit(120);
        brighter[1200..].fill(200);
        let is_learned = |floor: &mut Floor| {
            floor.show(&brighter);
            floor.model.levels()[SIZE * SIZE - 1] > 190.0
        };
        (0..2000).find(|_| is_learned(&mut floor))
    };
    let on_the_first_day = frames_until_learned(0.0);
    assert!(on_the_first_day.is_some());
    assert_eq!(frames_until_learned(YEAR_SECS), on_the_first_day);
}

#[test]
fn uncovered_floor_is_learned_quickly() {
    let mut floor = Floor::new();
    let mut covered = lit(120);
    covered[..400].fill(15);
    for _ in 0..200 {
        // The dark area was there from the first frame.
        assert_eq!(floor.show(&covered), 0);
    }
    for _ in 0..60 {
        assert_eq!(floor.show(&lit(120)), 0);
    }
    assert_eq!(floor.show(&covered), 400);
}

#[test]
fn a_patch_of_sunlight_leaves_no_false_shadow() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(120));
    }
    let mut sunny = lit(120);
    sunny[..400].fill(210);
    for _ in 0..50 {
        floor.show(&sunny);
    }
    assert_eq!(floor.show(&lit(120)), 0);
}

#[test]
fn a_flash_in_the_first_frame_leaves_no_false_shadow() {
    let mut floor = Floor::new();
    let mut flash = lit(120);
    flash[..800].fill(230);
    floor.show(&flash);
    for _ in 0..10 {
        floor.show(&lit(120));
    }
    assert_eq!(floor.show(&lit(120)), 0);
}

#[test]
fn light_that_comes_and_goes_never_raises_the_model() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(120));
    }
    let mut sunny = lit(120);
    sunny[..400].fill(190);
    // Two minutes of light for 2 s and none for 1 s.
    for i in 0..3000 {
        let levels = if i % 75 < 50 { &sunny } else { &lit(120) };
        assert_eq!(floor.show(levels), 0, "frame {i}");
    }
    assert!(
        floor.model.levels()[..400]
            .iter()
            .all(|level| *level < 125.0)
    );
    assert!(floor.model.unreliable().contains(0));
}

#[test]
fn light_that_stays_is_learned_after_a_while() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(120));
    }
    let mut sunny = lit(120);
    sunny[..400].fill(190);
    for _ in 0..25 * 24 {
        floor.show(&sunny);
    }
    assert!(
        floor.model.levels()[..400]
            .iter()
            .all(|level| *level > 180.0)
    );
}

#[test]
fn added_light_on_most_of_the_floor_is_no_gain_and_makes_the_rest_no_shadow() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(120));
    }
    let mut sunny = lit(120);
    sunny[..SIZE * SIZE * 2 / 3].fill(200);
    for _ in 0..100 {
        assert_eq!(floor.show(&sunny), 0);
    }
    assert_near(floor.model.gain(), 1.0, 0.02);
}

#[test]
fn saturated_pixels_are_never_foreground() {
    let mut floor = Floor::new();
    let mut bright = lit(120);
    bright[..400].fill(200);
    for _ in 0..100 {
        floor.show(&bright);
    }
    // The exposure doubles, so the bright part would have 400 levels.
    let mut exposed = lit(240);
    exposed[..400].fill(255);
    assert_eq!(floor.show(&exposed), 0);
}

/// A fixed bug: a patch of sunlight that came slowly was learned as drift, and became a visitor when it went.
#[test]
fn light_that_comes_slowly_and_goes_leaves_no_false_shadow() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(120));
    }
    let sunny = |added: f32| {
        let mut levels = lit(120);
        levels[..400]
            .iter_mut()
            .for_each(|level| *level += added as u8);
        levels
    };
    for step in 0..800 {
        assert_eq!(floor.show(&sunny(0.1 * step as f32)), 0, "{step}");
    }
    for _ in 0..200 {
        floor.show(&sunny(80.0));
    }
    let levels = &floor.model.levels()[..400];
    assert!(levels.iter().all(|level| *level > 180.0), "it was learned");
    assert_eq!(floor.show(&lit(120)), 0);
    let mut covered = lit(120);
    covered[..400].fill(20);
    assert_eq!(floor.show(&covered), 400);
}

/// A fixed bug: at four times the light, the gain ended at 3.99, and every visitor was lost.
#[test]
fn a_gain_of_the_whole_floor_becomes_part_of_the_model() {
    for (before, after, wanted) in [(50, 220, true), (220, 50, true), (220, 2, false)] {
        let mut floor = Floor::new();
        for _ in 0..60 {
            floor.show(&lit(before));
        }
        let params = floor.params.clone();
        (floor.model).measure_gain(&lit(after), &floor.occupied, &params);
        assert_eq!(floor.model.fold_gain(&params), wanted, "{before} {after}");
        if !wanted {
            continue;
        }
        assert_eq!(floor.show(&lit(after)), 0);
        assert_near(floor.model.gain(), 1.0, 0.03);
        let mut covered = lit(after);
        covered[..400].fill(after / 4);
        assert_eq!(floor.show(&covered), 400);
    }
}

#[test]
fn much_more_light_on_a_part_of_the_floor_is_no_gain() {
    let mut floor = Floor::new();
    for _ in 0..60 {
        floor.show(&lit(50));
    }
    let mut bright = lit(220);
    bright[..SIZE * SIZE * 2 / 5].copy_from_slice(&lit(50)[..SIZE * SIZE * 2 / 5]);
    let params = floor.params.clone();
    (floor.model).measure_gain(&bright, &floor.occupied, &params);
    assert!(floor.model.gain() < 1.1);
    assert_eq!(floor.show(&bright), 0);
}

/// A fixed bug: hard light of a door on floor far away from the lamp counted as floor that a visitor uncovers, and became a visitor
/// when the door closed.
#[test]
fn much_light_on_dim_floor_leaves_no_false_shadow() {
    let mut floor = Floor::new();
    for _ in 0..150 {
        floor.show(&lit(40));
    }
    let mut bright = lit(40);
    bright[..400].fill(170);
    for _ in 0..25 * 24 {
        assert_eq!(floor.show(&bright), 0);
    }
    let levels = &floor.model.levels()[..400];
    assert!(levels.iter().all(|level| *level > 160.0), "it was learned");
    assert_eq!(floor.show(&lit(40)), 0);
}
