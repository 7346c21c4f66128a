//! The command `shoal track`: its options, and what it runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use super::arguments::{CAMERA_HELP, SiteArguments, seconds};
use super::{camera_file, keep_inputs};
use crate::app::frame_tracker::TrackerConfig;
use crate::app::site_setup::{CameraInput, camera_inputs, load_site};
use crate::app::track::{self, TrackOptions};
use crate::app::track_cameras::track_cameras;
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
    /// Write to each line what the tracker decided in this frame, with what it measured and the limit (one camera only)
    #[arg(long)]
    why: bool,
    /// Write a picture of each processing step (raw, background, ratio, mask, validity, blobs, tracks) to DIR once per
    /// second
    #[arg(long, value_name = "DIR")]
    debug: Option<PathBuf>,
}

pub(in crate::app) fn track(arguments: &TrackArguments) -> anyhow::Result<ExitCode> {
    let site = load_site(arguments.site.site.as_deref(), None)?;
    let named = arguments
        .calibration
        .as_deref()
        .map(read_calibration)
        .transpose()?;
    let cameras = camera_inputs(&site, arguments.camera.as_deref())?;
    anyhow::ensure!(
        cameras.len() == 1 || (named.is_none() && arguments.debug.is_none() && !arguments.why),
        "--calibration, --why and --debug are for one camera, but the site has {} cameras",
        cameras.len()
    );
    for camera in &cameras {
        let recording = camera_file(&camera.source, &camera.folder);
        keep_inputs(
            [Some(&arguments.out)],
            [
                recording.as_deref(),
                arguments.calibration.as_deref(),
                arguments.site.site.as_deref(),
            ],
        )?;
    }
    let options = |camera: CameraInput| {
        let calibration = named.clone().or(camera.tracker.calibration);
        let options = TrackOptions {
            source: camera.source,
            folder: camera.folder,
            fast: arguments.fast || camera.params.fast,
            fps: arguments.fps.or(camera.params.fps),
            camera: camera.params,
            seconds: arguments.seconds,
            program: None,
            tracker: TrackerConfig {
                calibration,
                ..camera.tracker
            },
            drift_max_m: site.file.calibration.drift_max_m,
            out: arguments.out.clone(),
            why: arguments.why,
            debug: arguments.debug.clone(),
        };
        (camera.name, options)
    };
    let options: Vec<(String, TrackOptions)> = cameras.into_iter().map(options).collect();
    let stop = stop_on_signals()?;
    match options.as_slice() {
        [(_, single)] => track::track(single, &stop)?,
        cameras => track_cameras(cameras, &stop)?,
    };
    Ok(ExitCode::SUCCESS)
}

fn read_calibration(path: &Path) -> anyhow::Result<Calibration> {
    let text = read_text(path).map_err(|problem| anyhow!("{problem}"))?;
    Calibration::parse(&text, &path.display().to_string()).map_err(|problems| anyhow!("{problems}"))
}
