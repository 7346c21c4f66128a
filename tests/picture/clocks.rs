//! Tests of the clocks of the picture: nothing jumps when a clock restarts, and the picture moves after months as it does at the
//! start.

use shoal::geometry::SurfaceKind;
use shoal::render::{PictureQuality, RenderSetup, Renderer};
use shoal::world::{Light, Snapshot};

use crate::stage;

const SIZE: (u32, u32) = (320, 180);
/// Time between two frames.
const STEP_SECS: f64 = 1.0 / 30.0;
/// Frames before the restart of the clock, and after it. The first ones are not compared: the water and the limit on flashes
/// begin with them.
const FRAMES: i32 = 5;
const WARM: i32 = 3;

/// Time after which the clock of the shaders restarts.
fn period_secs() -> f64 {
    let shader = std::fs::read_to_string("shaders/scene.wgsl").unwrap();
    let (_, value) = shader
        .split_once("const DRIFT_PERIOD_SECS: f32 = ")
        .unwrap();
    let written: f64 = value.split(';').next().unwrap().parse().unwrap();
    // The shader has the value with the digits of an f32.
    let exact = 1000.0 * std::f64::consts::PI;
    assert!((written - exact).abs() < 1e-4, "{written}");
    exact
}

/// Everything that a clock moves: waterfalls, foam, glints, plants, glowing specks, gusts, shafts of light.
fn setups() -> Vec<(&'static str, RenderSetup)> {
    [
        ("cascade", Light::Day, PictureQuality::Low),
        ("cascade", Light::Day, PictureQuality::High),
        ("pool", Light::Dusk, PictureQuality::High),
        ("plankton", Light::Night, PictureQuality::Low),
        ("aquarium", Light::Day, PictureQuality::Low),
    ]
    .into_iter()
    .map(|(scene, light, quality)| {
        let mut site = shoal::site::load(None, Some(scene)).unwrap();
        site.file.surface.height_m = site.file.surface.width_m * 9.0 / 16.0;
        if scene == "aquarium" {
            site.file.surface.kind = SurfaceKind::Wall;
        }
        let mut setup = shoal::app::first_output_setup(site, SIZE);
        setup.look.light = light;
        setup.quality = quality;
        (scene, setup)
    })
    .collect()
}

/// Returns the mean differences between successive frames around a time, in levels of 255; the middle one crosses this time.
fn differences(renderer: &mut Renderer, around_secs: f64) -> Vec<f64> {
    let (mut before, mut rgba, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for frame in -FRAMES - WARM..FRAMES {
        let snapshot = Snapshot {
            time_secs: around_secs + (f64::from(frame) + 0.5) * STEP_SECS,
            ..Snapshot::default()
        };
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        if frame > -FRAMES {
            let sum: u64 = (before.iter().zip(&rgba))
                .map(|(a, b): (&u8, &u8)| u64::from(a.abs_diff(*b)))
                .sum();
            found.push(sum as f64 / rgba.len() as f64);
        }
        before.clone_from(&rgba);
    }
    found
}

/// A fixed bug: waterfalls and their foam jumped every 52 minutes, and the stripes of falling water became noise within minutes,
/// because the speed at a place was multiplied by the time.
#[test]
fn nothing_jumps_when_a_clock_restarts_after_an_hour_or_three_years() {
    let Some(gpu) = stage::gpu() else { return };
    let mut wrong = Vec::new();
    for (scene, setup) in setups() {
        let quality = setup.quality;
        let mut usual = 0.0;
        // After 20 minutes no clock restarts; after 52 minutes and after 3 years it does.
        for (periods, is_restart) in [(0.4, false), (1.0, true), (30_116.0, true)] {
            let mut renderer = Renderer::new(gpu.clone(), setup.clone()).unwrap();
            let found = differences(&mut renderer, periods * period_secs());
            let at = found.len() / 2;
            let others = || found.iter().enumerate().filter(|(i, _)| *i != at);
            let most = others().map(|(_, one)| *one).fold(0.0, f64::max);
            let mean = others().map(|(_, one)| one).sum::<f64>() / (found.len() - 1) as f64;
            println!(
                "{scene} {quality:?}, {periods} periods: mean {mean:.3}, largest {most:.3}, at the restart {:.3}",
                found[at]
            );
            if !is_restart {
                usual = mean;
            } else if found[at] > 1.3 * most || !(0.5..2.0).contains(&(mean / usual)) {
                wrong.push(format!(
                    "{scene} {quality:?} after {periods} periods: {:.3} instead of at most {most:.3}; mean {mean:.3}, usually \
                     {usual:.3}",
                    found[at]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
