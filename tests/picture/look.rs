//! Tests of palettes, specks, edge smoothing and reduced quality.

use shoal::render::{PictureQuality, Quality, Renderer};
use shoal::world::Light;
use shoal::world::Snapshot;

use crate::{cells, stage};

/// Every shipped scene has a palette of five colors, and docs/rendering.md has the same one.
#[test]
fn every_shipped_scene_has_its_own_palette() {
    let table = std::fs::read_to_string("docs/rendering.md").unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for file in std::fs::read_dir("config/scenes").unwrap() {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let palette = text
            .lines()
            .find(|line| line.starts_with("# Palette:"))
            .unwrap_or_else(|| panic!("{name} has no palette"));
        let colors: Vec<&str> = palette[2..]
            .split('#')
            .skip(1)
            .map(|part| &part[..6])
            .collect();
        assert_eq!(colors.len(), 5, "{name}: {palette}");
        let row = table
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")))
            .unwrap_or_else(|| panic!("docs/rendering.md has no row for {name}"));
        for color in &colors {
            assert!(row.contains(&format!("`#{color}`")), "{name}: #{color}");
        }
        assert!(seen.insert(colors.join(" ")), "{name}: not its own palette");
    }
}

/// A fixed bug: glowing specks were invisible, because their triangles faced away from the eye and were not drawn.
#[test]
fn glowing_specks_are_visible() {
    let mut bright = [0, 0];
    for (bright, dust) in bright.iter_mut().zip([0.0, 1.0]) {
        let Some(gpu) = stage::gpu() else { return };
        let mut setup = stage::setup([640, 360]);
        (setup.look.light, setup.look.dust) = (Light::Night, dust);
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let mut rgba = Vec::new();
        let calm = Snapshot::default();
        renderer.draw(&calm, &calm, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        *bright = rgba.chunks_exact(4).filter(|rgb| rgb[1] > 140).count();
    }
    assert!(
        bright[1] > bright[0] + 300,
        "bright pixels without and with specks: {bright:?}"
    );
}

/// Several samples per pixel reduce the jagged edges.
#[test]
fn several_samples_smooth_the_edges() {
    let snapshot = stage::snapshot(100, 60, false);
    let counts = [PictureQuality::Low, PictureQuality::High].map(|quality| {
        let gpu = stage::gpu()?;
        let mut setup = stage::setup([480, 270]);
        setup.quality = quality;
        // Neither thin lines of light nor glints count as edges.
        (setup.look.caustics, setup.look.reflection) = (Some(0.0), Some(0.0));
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let mut rgba = Vec::new();
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        let greens: Vec<u8> = rgba.chunks_exact(4).map(|p| p[1]).collect();
        let pairs = greens.windows(2);
        Some(pairs.filter(|pair| pair[0].abs_diff(pair[1]) > 60).count())
    });
    let [Some(low), Some(high)] = counts else {
        return;
    };
    println!("jagged edges with one sample per pixel {low}, with four {high}");
    assert!(10 * high < 9 * low, "{low} {high}");
}

/// Resolution and samples change the pattern of light, but not its amount.
#[test]
fn both_qualities_are_equally_bright() {
    let snapshot = stage::snapshot(100, 0, false);
    let [low, high] = [PictureQuality::Low, PictureQuality::High].map(|quality| {
        let gpu = stage::gpu()?;
        let mut setup = stage::setup([480, 270]);
        setup.quality = quality;
        let mut renderer = Renderer::new(gpu, setup).unwrap();
        let mut rgba = Vec::new();
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        renderer.read(0, &mut rgba).unwrap();
        let cells = cells(&rgba, 480);
        Some(cells.iter().sum::<f64>() / cells.len() as f64)
    });
    let (Some(low), Some(high)) = (low, high) else {
        return;
    };
    assert!(
        (high / low - 1.0).abs() < 0.15,
        "mean light {low} and {high}"
    );
}

/// Images with reduced quality differ only slightly from images with full quality.
#[test]
fn reduced_quality_shows_the_same_pool() {
    let Some(gpu) = stage::gpu() else { return };
    let mut renderer = Renderer::new(gpu, stage::setup([640, 360])).unwrap();
    let snapshot = stage::snapshot(100, 30, false);
    let mut means = Vec::new();
    for (scale, is_reduced) in [(1.0, false), (0.65, false), (0.5, true)] {
        renderer.set_quality(Quality { scale, is_reduced });
        renderer.draw(&snapshot, &snapshot, 1.0).unwrap();
        let mut rgba = Vec::new();
        renderer.read(0, &mut rgba).unwrap();
        means.push(cells(&rgba, 640));
    }
    for coarse in &means[1..] {
        let apart = coarse.iter().zip(&means[0]).map(|(a, b)| (a - b).abs());
        let far = apart.clone().fold(0.0, f64::max);
        let mean = apart.sum::<f64>() / coarse.len() as f64;
        assert!(
            mean < 0.008 && far < 0.15,
            "difference of cells: mean {mean}, largest {far}"
        );
        assert_ne!(coarse, &means[0]);
    }
}
