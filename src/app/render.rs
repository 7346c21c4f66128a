//! `shoal render`: snapshots in, pictures out, off screen.
//!
//! In goes whatever makes one snapshot after another, and what the pool looks like; out come PNG frames or a y4m video.
//! Frames stand at whole multiples of the frame's time, between the two snapshots around them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::render::{Gpu, PictureWriter, RenderSetup, Renderer};
use crate::world::Snapshot;

use super::tell;

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// What `shoal render` is asked for. Size and corners are the setup's.
#[derive(Clone, Debug)]
pub struct RenderOptions {
    /// Frames a second.
    pub fps: f64,
    /// How long.
    pub seconds: f64,
    /// Where the pictures go.
    pub pictures: Vec<Picture>,
}

/// One place that pictures go to.
#[derive(Clone, Debug)]
pub struct Picture {
    /// A folder for PNG frames, or a `.y4m` file.
    pub path: PathBuf,
    /// One picture in so many goes there.
    pub every: u64,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// Frames written.
    pub frames: u64,
    /// Adapter, driver and backend.
    pub adapter: String,
}

/// Renders until the time asked for is over or `stop` is set. `advance` turns a snapshot into the next one; it is
/// called first with an empty one.
///
/// # Errors
/// When there is no graphics adapter (the error says what to install), the device fails, or a frame cannot be written.
pub fn render(
    options: &RenderOptions,
    setup: RenderSetup,
    mut advance: impl FnMut(&mut Snapshot) -> anyhow::Result<()>,
    stop: &AtomicBool,
) -> anyhow::Result<Rendered> {
    let size_px = setup
        .outputs
        .first()
        .map_or([0; 2], |o| [o.width_px, o.height_px]);
    let gpu = Gpu::headless()?;
    let adapter = gpu.name();
    tracing::info!(adapter, "rendering off screen");
    let mut renderer = Renderer::new(gpu, setup)?;
    let mut writers = Vec::new();
    for picture in &options.pictures {
        let fps = options.fps / picture.every.max(1) as f64;
        let writer = PictureWriter::create(&picture.path, size_px, fps)?;
        writers.push((picture.every.max(1), writer));
    }
    let mut next = Snapshot::default();
    advance(&mut next)?;
    let mut previous = next.clone();
    let started_secs = next.time_secs;
    let count = (options.seconds * options.fps).round().max(0.0) as u64;
    let mut rgba = Vec::new();
    let (mut frames, mut told) = (0, Instant::now());
    for frame in 0..count {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let time_secs = started_secs + frame as f64 / options.fps;
        while next.time_secs < time_secs - 1e-9 {
            let before = next.time_secs;
            previous.clone_from(&next);
            advance(&mut next)?;
            anyhow::ensure!(
                next.time_secs > before,
                "the simulation's clock stands still at {before} s"
            );
        }
        let between_secs = next.time_secs - previous.time_secs;
        let alpha = if between_secs > 0.0 {
            (time_secs - previous.time_secs) / between_secs
        } else {
            1.0
        };
        renderer.draw(&previous, &next, alpha.clamp(0.0, 1.0) as f32)?;
        renderer.read(0, &mut rgba)?;
        for (every, writer) in &mut writers {
            if frame.is_multiple_of(*every) {
                writer.write(&rgba)?;
            }
        }
        frames += 1;
        if told.elapsed() >= PROGRESS_EVERY {
            told = Instant::now();
            tell(&format!("{frames} of {count} frames"));
        }
    }
    for (_, writer) in writers {
        writer.finish()?;
    }
    Ok(Rendered { frames, adapter })
}
