//! Tests of changes while pictures are drawn: what moves goes on, on the same device.

use std::time::{Duration, Instant};

use shoal::render::{Corner, PictureQuality, RenderError, RenderSetup, Renderer};

use crate::stage;

const SIZE: [u32; 2] = [160, 90];
/// Frame before which the change happens. A visitor has crossed half of the pool by then, and rings run.
const CHANGE: u64 = 150;

fn setup() -> RenderSetup {
    stage::setup(SIZE)
}

/// Draws the frames and returns the last picture.
fn play(renderer: &mut Renderer, frames: std::ops::Range<u64>) -> Vec<u8> {
    let mut rgba = Vec::new();
    for frame in frames {
        let snapshot = stage::snapshot(frame, 20, true);
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
    }
    rgba
}

/// Returns the mean difference of two pictures, in levels of 255.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    let sum: u64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    sum as f64 / a.len() as f64
}

/// A fixed bug: a changed color opened the graphics device again, so rings, specks and the phases of the bodies started again.
#[test]
fn rings_specks_and_phases_survive_a_change_of_the_scene() {
    let Some(gpu) = stage::gpu() else { return };
    let mut unchanged = Renderer::new(gpu.clone(), setup()).unwrap();
    play(&mut unchanged, 0..CHANGE);
    let expected = play(&mut unchanged, CHANGE..CHANGE + 3);
    let mut changed = Renderer::new(gpu.clone(), setup()).unwrap();
    play(&mut changed, 0..CHANGE);
    let other = RenderSetup {
        look: shoal::render::SceneLook {
            exposure: Some(1.3),
            ..setup().look
        },
        ..setup()
    };
    let begun = Instant::now();
    changed.change_scene(other).unwrap();
    println!(
        "another look: {:.1} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    changed.change_scene(setup()).unwrap();
    let picture = play(&mut changed, CHANGE..CHANGE + 3);
    let mut opened_again = Renderer::new(gpu, setup()).unwrap();
    let without_rings = play(&mut opened_again, CHANGE..CHANGE + 3);
    let (kept, lost) = (
        difference(&picture, &expected),
        difference(&without_rings, &expected),
    );
    println!(
        "difference to an unchanged run: {kept:.3} levels; if the renderer starts again: {lost:.3} levels"
    );
    assert!(kept < 0.05 && lost > 10.0 * kept.max(0.01), "{kept} {lost}");
}

/// Without a graphics card, painting the ground of a large picture takes seconds.
#[test]
fn a_live_picture_begins_with_a_coarse_ground_and_ends_with_the_same_as_any_other() {
    let Some(gpu) = stage::gpu() else { return };
    if !gpu.is_software() {
        eprintln!("SKIPPED: a graphics card paints the ground at once");
        return;
    }
    let mut whole = Renderer::new(gpu.clone(), setup()).unwrap();
    let mut live = Renderer::live(gpu, setup()).unwrap();
    let first = difference(&play(&mut live, 0..1), &play(&mut whole, 0..1));
    let middle = difference(&play(&mut live, 1..32), &play(&mut whole, 1..32));
    let last = difference(&play(&mut live, 32..70), &play(&mut whole, 32..70));
    println!("difference to a finished ground: {first:.3}, {middle:.3}, then {last:.3} levels");
    assert!(
        first > 0.05 && first < 12.0 && middle > 0.05,
        "{first} {middle}"
    );
    assert!(last == 0.0, "{last}");
    live.change_scene(setup()).unwrap();
    whole.change_scene(setup()).unwrap();
    let changed = difference(&play(&mut live, 70..71), &play(&mut whole, 70..71));
    assert!(changed > 0.05, "{changed}");
}

#[test]
fn changes_of_the_scene_leave_nothing_on_the_graphics_device() {
    let Some(gpu) = stage::gpu() else { return };
    let mut renderer = Renderer::new(gpu.clone(), setup()).unwrap();
    // Another number of samples needs other pipelines and textures.
    let other = || RenderSetup {
        quality: PictureQuality::High,
        ..setup()
    };
    let mut used = Vec::new();
    for round in 0..4 {
        renderer.change_scene(other()).unwrap();
        play(&mut renderer, round..round + 1);
        renderer.change_scene(setup()).unwrap();
        play(&mut renderer, round..round + 1);
        used.extend(gpu.allocated_bytes());
    }
    println!("bytes on the device: {used:?}");
    let (Some(first), Some(last)) = (used.get(1), used.last()) else {
        eprintln!("SKIPPED: the backend does not count the memory of the device");
        return;
    };
    // A texture of one scene that stays would be more than 1 %; sizes of small buffers differ by some bytes.
    assert!(
        *first > 100_000 && last - first.min(last) < first / 100,
        "{used:?}"
    );
}

#[test]
fn a_dragged_corner_changes_only_the_output() {
    let Some(gpu) = stage::gpu() else { return };
    let mut renderer = Renderer::new(gpu, setup()).unwrap();
    let before = play(&mut renderer, 0..3);
    let mut outputs = setup().outputs;
    outputs[0].corners.top_left = Corner { x: 0.1, y: 0.15 };
    let begun = Instant::now();
    assert!(renderer.change_outputs(&outputs).unwrap());
    println!(
        "another corner: {:.1} ms",
        begun.elapsed().as_secs_f64() * 1e3
    );
    let after = play(&mut renderer, 3..4);
    let black = |rgba: &[u8]| rgba[..3].iter().all(|level| *level < 3);
    // The corner has moved inwards.
    assert!(!black(&before) && black(&after));
    // An impossible warp changes nothing.
    outputs[0].corners.top_left = Corner { x: 1.0, y: 1.0 };
    let error = renderer.change_outputs(&outputs).unwrap_err();
    assert!(matches!(error, RenderError::Output(_)), "{error}");
    assert!(black(&play(&mut renderer, 4..5)));
    // Another size needs another pass, so the whole scene is changed.
    outputs[0].corners = setup().outputs[0].corners.clone();
    outputs[0].width_px = 200;
    assert!(!renderer.change_outputs(&outputs).unwrap());
    let wide = RenderSetup { outputs, ..setup() };
    renderer.change_scene(wide).unwrap();
    let mut rgba = Vec::new();
    renderer
        .draw(
            &stage::snapshot(5, 20, true),
            &stage::snapshot(5, 20, true),
            1.0,
        )
        .unwrap();
    renderer.read(0, &mut rgba).unwrap();
    assert_eq!(rgba.len(), 200 * 90 * 4);
}

#[test]
fn a_device_with_timestamps_measures_the_passes_of_a_picture() {
    let Some(gpu) = stage::gpu() else { return };
    let mut renderer = Renderer::new(gpu, setup()).unwrap();
    assert_eq!(renderer.take_pass_times(), None, "no picture was drawn");
    play(&mut renderer, 0..3);
    let Some(times) = renderer.take_pass_times() else {
        eprintln!("SKIPPED: this device has no timestamps");
        return;
    };
    assert!(times.groups.iter().sum::<Duration>() <= times.picture);
    assert!(times.groups.iter().all(|time| !time.is_zero()), "{times:?}");
    assert_eq!(renderer.take_pass_times(), None, "the times were taken");
}

/// Number of frames of half of a change to another scene.
const HALF: u64 = 120;

/// Returns the mean of two pictures in equal parts of light.
fn blended(a: &[u8], b: &[u8]) -> Vec<u8> {
    let light = |level: u8| match f64::from(level) / 255.0 {
        dark @ ..=0.04045 => dark / 12.92,
        bright => ((bright + 0.055) / 1.055).powf(2.4),
    };
    let level = |light: f64| match light {
        ..=0.0031308 => light * 12.92,
        _ => 1.055 * light.powf(1.0 / 2.4) - 0.055,
    };
    let mean = |(a, b): (&u8, &u8)| level((light(*a) + light(*b)) / 2.0) * 255.0;
    a.iter()
        .zip(b)
        .map(|pair| mean(pair).round() as u8)
        .collect()
}

/// The old picture, a blend, the new picture. There is no second renderer, and no picture is black. A fixed bug: the next scene was drawn
/// with the exposure of the old one.
#[test]
fn the_last_picture_of_a_scene_goes_over_into_the_next_scene() {
    let Some(gpu) = stage::gpu() else { return };
    let old = || RenderSetup {
        scene: "old".to_owned(),
        ..setup()
    };
    let new = |fade_secs: f32| RenderSetup {
        scene: "new".to_owned(),
        fade_secs,
        look: shoal::render::SceneLook {
            exposure: Some(0.2),
            ..setup().look
        },
        ..setup()
    };
    // A renderer of the new scene only. Its flash limiter has nothing to slow down.
    let mut only_new = Renderer::new(gpu.clone(), new(0.0)).unwrap();
    play(&mut only_new, 0..CHANGE);
    let mut fading = Renderer::new(gpu, old()).unwrap();
    let before = play(&mut fading, 0..CHANGE);
    fading.change_scene(new(4.0)).unwrap();
    let mut seen = Vec::new();
    // A change of four seconds, which is too slow for the flash limiter, and what remains after it.
    for part in 0..3u64 {
        let (mut picture, mut after) = (Vec::new(), Vec::new());
        let frames = if part == 0 {
            0..1
        } else {
            (part - 1) * HALF + 1..part * HALF + 1
        };
        for frame in frames {
            let share = 1.0 - frame as f32 / (2 * HALF) as f32;
            fading.set_old_share(share);
            picture = play(&mut fading, CHANGE + frame..CHANGE + frame + 1);
            after = play(&mut only_new, CHANGE + frame..CHANGE + frame + 1);
        }
        let expected = match part {
            0 => before.clone(),
            1 => blended(&before, &after),
            _ => after.clone(),
        };
        seen.push([
            difference(&picture, &expected),
            difference(&picture, &before),
            difference(&picture, &after),
        ]);
    }
    println!("differences to the expected, the old and the new picture: {seen:.2?}");
    let [[same, ..], [middle, to_old, to_new], [end, ..]] = seen[..] else {
        panic!("{seen:?}");
    };
    assert!(same < 0.01 && middle < 1.5 && end < 1.0, "{seen:?}");
    assert!(to_old > 3.0 && to_new > 3.0, "{seen:?}");
}
