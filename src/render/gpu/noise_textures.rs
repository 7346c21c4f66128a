//! Textures of tileable noise: the wavelets and bubbles of the water, and the pattern of weathered stone.

use std::sync::LazyLock;

use wgpu::{TextureFormat, TextureUsages, TextureView};

use super::device::Gpu;
use super::textures::{texture_2d, view, write};
use crate::render::noise::unit_hash;

/// Side of the noise textures in pixels.
const NOISE_PX: u32 = 256;

/// Returns the value of tileable smooth noise at a pixel, 0..1. The noise has `cells` cells along each side and is different in
/// each layer.
fn noise(x: u32, y: u32, cells: u32, layer: u32) -> f32 {
    let lattice = |x: u32, y: u32| unit_hash((x % cells) + (y % cells) * cells, 70 + layer);
    let step = NOISE_PX / cells;
    let (column, row) = (x / step, y / step);
    let ease = |v: u32| {
        let t = (v % step) as f32 / step as f32;
        t * t * (3.0 - 2.0 * t)
    };
    let (u, v) = (ease(x), ease(y));
    let along = |row: u32| {
        let (a, b) = (lattice(column, row), lattice(column + 1, row));
        a + (b - a) * u
    };
    let (top, bottom) = (along(row), along(row + 1));
    top + (bottom - top) * v
}

/// Creates a noise texture from four bytes per pixel.
fn texture(gpu: &Gpu, label: &str, bytes: &[u8]) -> TextureView {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
    let (size, format) = ([NOISE_PX; 2], TextureFormat::Rgba8Unorm);
    let texture = texture_2d(&gpu.device, label, size, format, usage, 1);
    write(&gpu.queue, &texture, (0, 0), size, bytes);
    view(&texture)
}

/// Tileable pattern of weathered stone. The four channels are tone, slope of the bumps along x, slope along z, and strength of
/// lichen.
static WEATHERED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let places = || (0..NOISE_PX * NOISE_PX).map(|i| (i % NOISE_PX, i / NOISE_PX));
    let rough =
        |(x, y)| 0.45 * noise(x, y, 16, 4) + 0.33 * noise(x, y, 32, 5) + 0.22 * noise(x, y, 64, 6);
    let heights: Vec<f32> = places().map(rough).collect();
    let height = |x: u32, y: u32| {
        let at = y % NOISE_PX * NOISE_PX + x % NOISE_PX;
        heights.get(at as usize).copied().unwrap_or_default()
    };
    let weathered = |(x, y)| {
        let here = height(x, y);
        let broad = 0.6 * noise(x, y, 4, 7) + 0.4 * noise(x, y, 8, 8);
        let tone = 0.45 * broad + 0.35 * here + 0.20 * noise(x, y, 128, 9);
        let slope = [height(x + 1, y) - here, height(x, y + 1) - here];
        let patches = 0.55 * noise(x, y, 8, 10) + 0.25 * noise(x, y, 32, 11);
        let lichen = patches + 0.20 * noise(x, y, 64, 12);
        let values = [tone, 0.5 + 4.0 * slope[0], 0.5 + 4.0 * slope[1], lichen];
        values.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8)
    };
    places().flat_map(weathered).collect()
});

/// Creates the texture that contains the pattern [`WEATHERED`].
pub(super) fn weathering(gpu: &Gpu) -> TextureView {
    texture(gpu, "weathering", &WEATHERED)
}

/// Creates a texture of tileable noise: two channels with cells of two texels for wavelets, and one channel with larger cells for
/// bubbles.
pub(super) fn ripple_noise(gpu: &Gpu) -> TextureView {
    let mut bytes = Vec::with_capacity((NOISE_PX * NOISE_PX * 4) as usize);
    for y in 0..NOISE_PX {
        for x in 0..NOISE_PX {
            let bubbles = 0.5 * noise(x, y, 64, 2) + 0.5 * noise(x, y, 128, 3);
            let values = [noise(x, y, 128, 0), noise(x, y, 128, 1), bubbles, 1.0];
            bytes.extend(values.map(|v| (v * 255.0).round() as u8));
        }
    }
    texture(gpu, "ripple noise", &bytes)
}
