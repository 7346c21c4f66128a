//! `shoal track`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use super::arguments::{CAMERA_HELP, SiteArguments, seconds};
use super::{camera_file, keep_inputs};
use crate::app::site_setup::{camera_source, load_site, tracker_config};
use crate::app::track::{self, TrackOptions};
use crate::calibration::Calibration;
use crate::config::read_text;
use crate::runtime::stop_on_signals;

/// `shoal track`.
#[derive(Debug, Args)]
pub(in crate::app) struct TrackArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; default: the source of the site")]
    camera: Option<String>,
    /// Read a recording as fast as possible instead of at its own frame rate
    #[arg(long)]
    fast: bool,
    /// Calibration from `shoal calibrate`; default: the calibration of the site, or else the whole picture is the surface
    #[arg(long, value_name = "C.toml")]
    calibration: Option<PathBuf>,
    /// Frame rate of a folder of pictures
    #[arg(long, value_name = "F")]
    fps: Option<f64>,
    /// Stop after this many seconds of the source (required for sources without an end)
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    seconds: Option<f64>,
    /// Output file for the tracks, one JSON object per frame; - for standard output
    #[arg(long, value_name = "T.jsonl")]
    out: PathBuf,
    /// Write a picture of each processing step (raw, background, ratio, mask, validity, blobs, tracks) to DIR once per
    /// second
    #[arg(long, value_name = "DIR")]
    debug: Option<PathBuf>,
}

pub(in crate::app) fn track(arguments: TrackArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(arguments.site.site.as_deref(), None)?;
    let named = arguments
        .calibration
        .as_deref()
        .map(read_calibration)
        .transpose()?;
    let (source, folder) = camera_source(&site, arguments.camera);
    let recording = camera_file(&source, &folder);
    keep_inputs(
        [Some(&arguments.out)],
        [
            recording.as_deref(),
            arguments.calibration.as_deref(),
            arguments.site.site.as_deref(),
        ],
    )?;
    let mut tracker = tracker_config(&site);
    tracker.calibration = named.or(tracker.calibration);
    let options = TrackOptions {
        source,
        folder,
        fast: arguments.fast || site.file.camera.fast,
        fps: arguments.fps.or(site.file.camera.fps),
        camera: site.file.camera.clone(),
        seconds: arguments.seconds,
        program: None,
        tracker,
        drift_max_m: site.file.calibration.drift_max_m,
        out: arguments.out,
        debug: arguments.debug,
    };
    track::track(&options, &*stop_on_signals()?)?;
    Ok(ExitCode::SUCCESS)
}

fn read_calibration(path: &Path) -> anyhow::Result<Calibration> {
    let text = read_text(path).map_err(|problem| anyhow!("{problem}"))?;
    Calibration::parse(&text, &path.display().to_string()).map_err(|problems| anyhow!("{problems}"))
}
