//! Measured properties of the pictures of all shipped scenes: light, contrast, how well the fish stand out, and flashes.

use std::collections::BTreeSet;

use shoal::geometry::SurfaceKind;
use shoal::render::{PictureQuality, RenderSetup, Renderer};
use shoal::simulation::Simulation;
use shoal::world::{Observation, Snapshot};

use crate::{linear, stage};

/// Width of the pictures in pixels.
const WIDTH: u32 = 192;
/// Pictures over which flashes are counted. With [`STEP_TICKS`] they cover 4 s.
const PICTURES: u32 = 60;
/// Ticks between two pictures.
const STEP_TICKS: u32 = 4;
/// Change of the linear light of a pixel by a fish from which the fish is seen there.
const SEEN: f64 = 0.02;
/// Largest deviation from a measured value, as a share of it.
const TOLERANCE: f64 = 0.25;

/// Properties of a picture.
#[derive(Debug)]
struct Properties {
    /// Mean linear light; 1 is white.
    mean: f64,
    /// Light of the darkest thousandth of the pixels.
    darkest: f64,
    /// The 99th percentile of the light divided by the median.
    contrast: f64,
    /// Share of the pixels at which a fish is seen.
    fish_share: f64,
    /// Mean change of the light by the fish at these pixels, relative to the ground without fish.
    fish_contrast: f64,
}

/// Measured contrast, share of fish and contrast of fish of every scene.
const MEASURED: [(&str, [f64; 3]); 11] = [
    ("aquarium", [6.96, 0.042, 1.87]),
    ("cascade", [10.0, 0.009, 1.0]),
    ("koi", [9.4, 0.097, 4.46]),
    ("lagoon", [3.63, 0.065, 1.33]),
    ("molecules", [34.3, 0.116, 20.2]),
    ("nursery", [9.01, 0.025, 1.34]),
    ("plankton", [5.91, 0.007, 5.78]),
    ("pool", [4.93, 0.054, 1.8]),
    ("reef", [5.49, 0.061, 1.28]),
    ("simple_school", [3.44, 0.023, 1.87]),
    ("sky", [4.14, 0.06, 0.576]),
];

/// Returns a scene and its render setup, with the resolution of a machine without a graphics card. The aquarium is shown on a wall,
/// the sky on a ceiling, the other scenes on a floor.
fn scene(name: &str) -> (Simulation, RenderSetup) {
    let mut site = shoal::site::load(None, Some(name)).unwrap();
    match name {
        "aquarium" => {
            (site.file.surface.kind, site.file.surface.height_m) = (SurfaceKind::Wall, 2.25);
        }
        "sky" => site.file.surface.kind = SurfaceKind::Ceiling,
        _ => {}
    }
    let aspect = site.file.surface.height_m / site.file.surface.width_m;
    let pool = Simulation::new(&site.description(), &site.file.simulation).unwrap();
    let size = (WIDTH, (WIDTH as f32 * aspect) as u32);
    let mut setup = shoal::app::first_output_setup(site, size);
    setup.quality = PictureQuality::Low;
    (pool, setup)
}

/// Returns the linear light of every pixel of the picture of a snapshot.
fn light(renderer: &mut Renderer, snapshot: &Snapshot) -> Vec<f64> {
    let mut rgba = Vec::new();
    renderer.draw(snapshot, snapshot, 1.0).unwrap();
    renderer.read(0, &mut rgba).unwrap();
    let luma = |p: &[u8]| 0.2126 * linear(p[0]) + 0.7152 * linear(p[1]) + 0.0722 * linear(p[2]);
    rgba.chunks_exact(4).map(luma).collect()
}

/// Measures a picture with fish against the same picture without them.
fn properties(with_fish: &[f64], without: &[f64]) -> Properties {
    let mut sorted = with_fish.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let pairs = with_fish.iter().zip(without);
    let changes = pairs.map(|(with, without)| ((with - without).abs(), without));
    let seen: Vec<f64> = changes
        .filter(|(change, _)| *change > SEEN)
        .map(|(change, ground)| change / ground.max(SEEN))
        .collect();
    Properties {
        mean: with_fish.iter().sum::<f64>() / with_fish.len() as f64,
        darkest: at(0.001),
        contrast: at(0.99) / at(0.5),
        fish_share: seen.len() as f64 / with_fish.len() as f64,
        fish_contrast: seen.iter().sum::<f64>() / seen.len().max(1) as f64,
    }
}

/// Projectors have a bright black level, so the darkest pixels must be bright enough. The mean must be low, because a bright floor
/// lights the room and leaves no contrast for fish and light.
#[test]
fn every_scene_is_dark_but_above_the_black_level_and_shows_its_fish() {
    let mut wrong = Vec::new();
    for (name, measured) in MEASURED {
        let Some(gpu) = stage::gpu() else { return };
        let (mut pool, setup) = scene(name);
        let mut snapshot = Snapshot::default();
        pool.run_tick(&Observation::default());
        pool.snapshot(&mut snapshot);
        let empty = Snapshot {
            agents: Vec::new(),
            ..snapshot.clone()
        };
        let [with_fish, without] = [&snapshot, &empty].map(|snapshot| {
            let mut renderer = Renderer::new(gpu.clone(), setup.clone()).unwrap();
            light(&mut renderer, snapshot)
        });
        let found = properties(&with_fish, &without);
        println!("{name}: {found:.3?}");
        let values = [found.contrast, found.fish_share, found.fish_contrast];
        let mut pairs = values.into_iter().zip(measured);
        let is_usual = pairs.all(|(now, usual)| (now / usual - 1.0).abs() <= TOLERANCE);
        if !(0.03..0.25).contains(&found.mean) || found.darkest < 0.012 || !is_usual {
            wrong.push(format!("{name}: {found:.3?}, expected about {measured:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// No scene flashes on its own: the flash limiter has nothing to do.
#[test]
fn no_scene_flashes() {
    for (name, _) in MEASURED {
        let Some(gpu) = stage::gpu() else { return };
        let (mut pool, setup) = scene(name);
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let mut snapshot = Snapshot::default();
        for _ in 0..PICTURES {
            (0..STEP_TICKS).for_each(|_| pool.run_tick(&Observation::default()));
            pool.snapshot(&mut snapshot);
            renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        }
        assert_eq!(renderer.flash_limit_count(), 0, "{name}");
    }
}

#[test]
fn every_shipped_scene_is_measured() {
    let file_name = |file: std::io::Result<std::fs::DirEntry>| {
        let path = file.unwrap().path();
        path.file_stem().unwrap().to_str().unwrap().to_owned()
    };
    let files = std::fs::read_dir("config/scenes").unwrap();
    let shipped: BTreeSet<String> = files.map(file_name).collect();
    let measured = MEASURED.map(|(name, _)| name.to_owned());
    assert_eq!(shipped, BTreeSet::from(measured));
}
