//! The command `shoal render`: its options, and what it runs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::arguments::{
    OverlayArguments, PoolArguments, SiteArguments, frame_rate, seconds, size_px,
};
use super::keep_inputs;
use crate::app::offscreen::{PictureOutput, RenderOptions, render_offscreen};
use crate::app::overlay::overlay_request;
use crate::app::picture_times::measure_pictures;
use crate::app::site_setup::{first_output_setup, load_site, simulation};
use crate::app::visitor_source::VisitorSource;
use crate::runtime::{print_message, stop_on_signals, text_output};
use crate::screen::overlay_options;
use crate::world::{OverlayLayers, Snapshot};

/// `shoal render`.
#[derive(Debug, Args)]
pub(in crate::app) struct RenderArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[command(flatten)]
    pool: PoolArguments,
    /// Simulated time in seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: f64,
    /// Frames per second
    #[arg(long, value_name = "F", default_value_t = 30.0, value_parser = frame_rate)]
    fps: f64,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size_px)]
    size: (u32, u32),
    #[command(flatten)]
    overlay: OverlayArguments,
    /// Measure the pictures and print how long each part takes on the graphics device; only the last picture is written
    #[arg(long)]
    times: bool,
    /// Output: a folder for 00000.png and so on, a FILE.png with the last picture, or a FILE.y4m
    #[arg(long, value_name = "DIR|FILE.png|FILE.y4m")]
    out: PathBuf,
}

pub(in crate::app) fn render(arguments: &RenderArguments) -> anyhow::Result<ExitCode> {
    let pool = &arguments.pool;
    let site = load_site(arguments.site.site.as_deref(), pool.scene.as_deref())?;
    keep_inputs(
        [Some(&arguments.out)],
        [pool.shadows.as_deref(), arguments.site.site.as_deref()],
    )?;
    let stop = stop_on_signals()?;
    let mut visitors = VisitorSource::open(
        pool.shadows.as_deref(),
        pool.visitors(),
        &site.file.surface,
        (pool.seed, arguments.seconds),
        &stop,
    )?;
    let mut simulation = simulation(&site, pool.seed, pool.threads)?;
    let mut setup = first_output_setup(site, arguments.size);
    setup.overlay_options = overlay_options(arguments.overlay.test_picture());
    let overlay = overlay_request(&arguments.overlay.choice());
    simulation.record_forces(overlay.layers != OverlayLayers::NONE);
    let advance = |snapshot: &mut Snapshot| {
        let reached_secs = simulation.time_secs() + simulation.dt_secs();
        simulation.run_tick(visitors.at(reached_secs)?);
        simulation.snapshot(snapshot);
        simulation.fill_overlay(&overlay, snapshot);
        Ok(())
    };
    let options = RenderOptions {
        fps: arguments.fps,
        seconds: arguments.seconds,
        outputs: vec![PictureOutput {
            path: arguments.out.clone(),
            every: 1,
        }],
    };
    if arguments.times {
        let table = measure_pictures(&options, setup, advance, &stop)?;
        let mut out = text_output();
        write!(out, "{table}")?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let rendered = render_offscreen(&options, setup, advance, &stop)?;
    print_message(&format!(
        "{} frames rendered on {}: {}",
        rendered.frames,
        rendered.adapter,
        arguments.out.display()
    ));
    Ok(ExitCode::SUCCESS)
}
