//! Renders without a window. Input: snapshots. Output: PNG frames or a y4m video. This is `shoal render`.
//!
//! The times of the pictures are whole multiples of the frame time. Each picture is interpolated between the snapshots before
//! and after it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::render::{Gpu, PictureWriter, RenderSetup, Renderer};
use crate::world::Snapshot;

use crate::runtime::print_message;

/// Time between two progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);
/// Times that differ by less than this, in seconds, count as equal. Larger than the rounding errors of the frame times.
const SAME_TIME_SECS: f64 = 1e-9;

/// Options of [`render_offscreen`]. The picture size is part of the render setup.
#[derive(Clone, Debug)]
pub(super) struct RenderOptions {
    /// Frames per second.
    pub(super) fps: f64,
    /// Duration in seconds.
    pub(super) seconds: f64,
    /// Destinations of the pictures.
    pub(super) outputs: Vec<PictureOutput>,
}

impl RenderOptions {
    /// Number of pictures.
    pub(super) fn count(&self) -> u64 {
        (self.seconds * self.fps).round().max(0.0) as u64
    }
}

/// The snapshots before and after the time of a picture.
pub(super) struct Between {
    pub(super) previous: Snapshot,
    pub(super) next: Snapshot,
    started_secs: f64,
}

impl Between {
    /// Begins with the first snapshot.
    pub(super) fn begin(
        advance: &mut impl FnMut(&mut Snapshot) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let mut next = Snapshot::default();
        advance(&mut next)?;
        Ok(Self {
            previous: next.clone(),
            started_secs: next.time_secs,
            next,
        })
    }

    /// Advances to a time after the first snapshot. Returns where this time lies between the snapshots, from 0 to 1.
    pub(super) fn advance_to(
        &mut self,
        secs: f64,
        advance: &mut impl FnMut(&mut Snapshot) -> anyhow::Result<()>,
    ) -> anyhow::Result<f32> {
        let Self { previous, next, .. } = self;
        let time_secs = self.started_secs + secs;
        while next.time_secs < time_secs - SAME_TIME_SECS {
            let before = next.time_secs;
            previous.clone_from(next);
            advance(next)?;
            anyhow::ensure!(
                next.time_secs > before,
                "the simulation does not advance beyond {before} s"
            );
        }
        let between_secs = next.time_secs - previous.time_secs;
        let alpha = if between_secs > 0.0 {
            (time_secs - previous.time_secs) / between_secs
        } else {
            1.0
        };
        Ok(alpha.clamp(0.0, 1.0) as f32)
    }
}

/// One destination of the pictures.
#[derive(Clone, Debug)]
pub(super) struct PictureOutput {
    /// A folder for PNG frames, or a `.y4m` file.
    pub(super) path: PathBuf,
    /// Every n-th picture is written; 0 is the same as 1.
    pub(super) every: u64,
}

/// Result of [`render_offscreen`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rendered {
    /// Number of frames.
    pub(super) frames: u64,
    /// Graphics adapter, driver and backend.
    pub(super) adapter: String,
}

/// Renders until the requested duration is complete or `stop` is set. `advance` replaces a snapshot by the next one; the first
/// call receives an empty snapshot.
///
/// # Errors
/// When there is no graphics adapter (the error says what to install), the device fails, or a frame cannot be written.
pub(super) fn render_offscreen(
    options: &RenderOptions,
    setup: RenderSetup,
    mut advance: impl FnMut(&mut Snapshot) -> anyhow::Result<()>,
    stop: &AtomicBool,
) -> anyhow::Result<Rendered> {
    let size_px = setup
        .outputs
        .first()
        .map_or([0; 2], |o| [o.width_px, o.height_px]);
    for output in &options.outputs {
        PictureWriter::check(&output.path)?;
    }
    let gpu = Gpu::headless()?;
    let adapter = gpu.name();
    tracing::info!(adapter, "rendering without a window");
    let mut renderer = Renderer::new(gpu, setup)?;
    let mut writers = Vec::new();
    for output in &options.outputs {
        let every = output.every.max(1);
        let writer = PictureWriter::create(&output.path, size_px, options.fps / every as f64)?;
        writers.push((every, writer));
    }
    let mut between = Between::begin(&mut advance)?;
    let count = options.count();
    let mut rgba = Vec::new();
    let (mut frames, mut reported) = (0, Instant::now());
    for frame in 0..count {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let alpha = between.advance_to(frame as f64 / options.fps, &mut advance)?;
        renderer.draw(&between.previous, &between.next, alpha)?;
        renderer.read(0, &mut rgba)?;
        for (every, writer) in &mut writers {
            if frame.is_multiple_of(*every) {
                writer.write(&rgba)?;
            }
        }
        frames += 1;
        if reported.elapsed() >= PROGRESS_INTERVAL {
            reported = Instant::now();
            print_message(&format!("{frames} of {count} frames"));
        }
    }
    for (_, writer) in writers {
        writer.finish()?;
    }
    Ok(Rendered { frames, adapter })
}
