//! Measures how long pictures take: each group of passes on the graphics device, the first picture, a change of the scene, and a lost
//! device. This is `shoal render --times`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::offscreen::{Between, RenderOptions};
use crate::render::{Gpu, PictureWriter, RenderSetup, Renderer};
use crate::runtime::{DurationMeter, DurationStatus};
use crate::screen::PassMeters;
use crate::world::Snapshot;

/// Draws the pictures of a run, and returns the times as a table. Only the last picture is written.
///
/// # Errors
/// When there is no graphics adapter, the device fails, or the picture cannot be written.
pub(super) fn measure_pictures(
    options: &RenderOptions,
    setup: RenderSetup,
    mut advance: impl FnMut(&mut Snapshot) -> anyhow::Result<()>,
    stop: &AtomicBool,
) -> anyhow::Result<String> {
    for output in &options.outputs {
        PictureWriter::check(&output.path)?;
    }
    let mut between = Between::begin(&mut advance)?;
    let begun = Instant::now();
    let mut renderer = opened(setup.clone(), &between)?;
    let first = begun.elapsed();
    let (draw, whole, passes) = <(DurationMeter, DurationMeter, PassMeters)>::default();
    for frame in 1..options.count() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let alpha = between.advance_to(frame as f64 / options.fps, &mut advance)?;
        let begun = Instant::now();
        renderer.draw(&between.previous, &between.next, alpha)?;
        draw.record(begun.elapsed());
        renderer.gpu().wait()?;
        whole.record(begun.elapsed());
        // The times of a picture arrive with the next one. Those of the first picture count only as part of the start.
        if let Some(times) = renderer.take_pass_times().filter(|_| frame > 1) {
            passes.record(&times);
        }
    }
    for output in &options.outputs {
        write(&mut renderer, &setup, &output.path)?;
    }
    let begun = Instant::now();
    renderer.change_scene(setup.clone())?;
    show(&mut renderer, &between)?;
    let change = begun.elapsed();
    let begun = Instant::now();
    renderer.gpu().destroy();
    drop(renderer);
    let renderer = opened(setup, &between)?;
    let once = [
        ("first picture", first),
        ("change of the scene", change),
        ("lost device", begun.elapsed()),
    ];
    let mut table = format!("{}\n", renderer.gpu().name());
    for (name, time) in once {
        row(&mut table, name, &[time.as_secs_f64() * 1e3]);
    }
    let gpu = passes.summary();
    let each = gpu
        .passes
        .iter()
        .map(|pass| (pass.name.as_str(), pass.time));
    let all = [
        ("prepared by the processor", draw.summary()),
        ("prepared and drawn", whole.summary()),
        ("on the graphics device", gpu.picture),
    ];
    for (
        name,
        DurationStatus {
            count,
            p50_ms,
            p99_ms,
        },
    ) in all.into_iter().chain(each)
    {
        if count > 0 {
            row(&mut table, name, &[p50_ms, p99_ms]);
        }
    }
    Ok(table)
}

/// Opens a device, and draws the first picture.
fn opened(setup: RenderSetup, between: &Between) -> anyhow::Result<Renderer> {
    let mut renderer = Renderer::new(Gpu::headless()?, setup)?;
    show(&mut renderer, between)?;
    Ok(renderer)
}

fn show(renderer: &mut Renderer, between: &Between) -> anyhow::Result<()> {
    renderer.draw(&between.previous, &between.next, 1.0)?;
    Ok(renderer.gpu().wait()?)
}

fn write(renderer: &mut Renderer, setup: &RenderSetup, path: &Path) -> anyhow::Result<()> {
    let size_px = setup
        .outputs
        .first()
        .map_or([0; 2], |o| [o.width_px, o.height_px]);
    let mut rgba = Vec::new();
    renderer.read(0, &mut rgba)?;
    let mut writer = PictureWriter::create(path, size_px, 1.0)?;
    writer.write(&rgba)?;
    writer.finish()?;
    Ok(())
}

/// Adds a row of times in milliseconds.
fn row(table: &mut String, name: &str, times_ms: &[f64]) {
    let times: Vec<String> = times_ms.iter().map(|ms| format!("{ms:10.2}")).collect();
    *table += &format!("{name:26}{} ms\n", times.concat());
}
