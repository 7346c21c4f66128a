//! Tests that the projection cannot flash.

use shoal::render::Renderer;

use crate::{cells, stage};

/// Makes the scene flash with a change every 1, 3 and 8 images. Counts the opposing changes of at least 0.1 of relative
/// luminance over more than a quarter of the image within any second (60 images).
#[test]
fn a_flashing_scene_is_limited_to_3_changes_per_second() {
    let Some(gpu) = stage::gpu() else { return };
    let (width, height) = (160, 90);
    let mut renderer = Renderer::new(gpu, stage::setup([width, height])).unwrap();
    for period in [1u64, 3, 8] {
        let mut history: Vec<Vec<f64>> = Vec::new();
        let mut rgba = Vec::new();
        let start = 1000 * period;
        for frame in 0..120 {
            let snapshot = stage::snapshot(start + frame, 0, false);
            let is_bright = frame / period % 2 == 0;
            renderer.set_exposure(if is_bright { 3.0 } else { 0.1 });
            renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
            renderer.read(0, &mut rgba).unwrap();
            history.push(cells(&rgba, width as usize));
        }
        let worst = (0..history.len() - 60)
            .map(|from| changes_over_a_quarter(&history[from..from + 60]))
            .max()
            .unwrap();
        println!(
            "a change every {period} pictures: {worst} changes per second (3 are allowed), limited {} times",
            renderer.flash_limit_count()
        );
        assert!(worst <= 3, "{worst} changes per second");
    }
    assert!(renderer.flash_limit_count() > 0);
}

/// Each change between a bright and a dark look creates a new renderer. The flash limiter must continue with its state in the
/// new renderer.
#[test]
fn new_renderers_continue_to_limit_flashing() {
    let (width, height) = (160, 90);
    let (mut seen, mut rgba, mut history) = (Vec::new(), Vec::new(), Vec::new());
    for (save, exposure) in [3.0, 0.1, 3.0, 0.1, 3.0, 0.1].into_iter().enumerate() {
        let Some(gpu) = stage::gpu() else { return };
        let mut setup = stage::setup([width, height]);
        setup.look.exposure = Some(exposure);
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        renderer.resume_flash_states(&seen);
        for frame in 0..10 {
            let snapshot = stage::snapshot(1000 + 10 * save as u64 + frame, 0, false);
            renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
            renderer.read(0, &mut rgba).unwrap();
            history.push(cells(&rgba, width as usize));
        }
        seen = renderer.flash_states().cloned().collect();
    }
    let changes = changes_over_a_quarter(&history);
    assert!(changes <= 3, "{changes} changes per second");
    assert!(seen[0].limiter.limit_count() > 0);
}

/// The picture fades to black within 20 s, as at the end of the opening hours. The light follows the level, and the flash limiter has
/// nothing to do.
#[test]
fn a_slow_fade_ends_black_and_is_no_flash() {
    let Some(gpu) = stage::gpu() else { return };
    let (width, height) = (160, 90);
    let mut renderer = Renderer::new(gpu, stage::setup([width, height])).unwrap();
    let mut rgba = Vec::new();
    let mut light_at = |frame: u64| {
        let share = 1.0 - frame as f32 / 200.0;
        renderer.level = share * share;
        let snapshot = stage::snapshot(1000 + 6 * frame, 0, false);
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        let cells = cells(&rgba, width as usize);
        cells.iter().sum::<f64>() / cells.len() as f64
    };
    let light: Vec<f64> = (0..=200).map(&mut light_at).collect();
    let half = light[100] / light[0];
    assert!((half - 0.25).abs() < 0.05, "{half}");
    let colors = rgba.chunks(4).flat_map(|pixel| &pixel[..3]);
    assert_eq!(colors.max(), Some(&0), "the last picture is black");
    assert_eq!(renderer.flash_limit_count(), 0);
}

/// Returns the largest number of opposing changes that at least a quarter of the cells reach.
fn changes_over_a_quarter(history: &[Vec<f64>]) -> usize {
    let mut counts: Vec<usize> = (0..history[0].len())
        .map(|cell| {
            let (mut extreme, mut direction, mut count) = (history[0][cell], 0.0, 0);
            for picture in history {
                let value = picture[cell];
                if (value - extreme).abs() >= 0.1
                    && value.min(extreme) < 0.8
                    && (value - extreme).signum() != direction
                {
                    direction = (value - extreme).signum();
                    count += 1;
                    extreme = value;
                } else if (value - extreme) * direction > 0.0 {
                    extreme = value;
                }
            }
            count
        })
        .collect();
    counts.sort_unstable();
    counts[counts.len() * 3 / 4]
}
