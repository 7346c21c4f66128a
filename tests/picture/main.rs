//! Tests of rendered images: comparison with reference images, positions of objects, brightness, flashing, and models.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test prints what it measures and skips, and fails by panicking"
)]

#[path = "../../models/generator"]
mod generator {
    mod clips;
    mod coral;
    mod crab;
    mod drifter;
    mod fish;
    mod glb;
    mod mesh;
    mod paint;
    mod ray;
    mod rock;
    mod skeleton;
    pub(super) mod species;
    mod still;
}

mod clocks;
mod draw_data;
mod exported_models;
mod flash;
mod golden;
mod live_changes;
mod look;
mod model_file;
mod model_peer;
mod model_textures;
mod models;
mod places;
mod scenes;
mod stage;
mod traces;

/// Returns the linear light (0 to 1) of an sRGB byte.
fn linear(byte: u8) -> f64 {
    let v = f64::from(byte) / 255.0;
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Returns the mean luminance (0 to 1) of each cell of 10 × 10 pixels.
pub(crate) fn cells(rgba: &[u8], width: usize) -> Vec<f64> {
    let columns = width / 10;
    let rows = rgba.len() / 4 / width / 10;
    let mut sums = vec![0.0; columns * rows];
    for (i, p) in rgba.chunks_exact(4).enumerate() {
        let at = i / width / 10 * columns + i % width / 10;
        sums[at] += (0.2126 * linear(p[0]) + 0.7152 * linear(p[1]) + 0.0722 * linear(p[2])) / 100.0;
    }
    sums
}
