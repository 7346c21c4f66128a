//! `shoal track`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;

use super::{camera_file, keep_inputs};
use crate::app::cli::TrackArguments;
use crate::app::site_setup::{camera_source, load_site, tracker_config};
use crate::app::track::{self, TrackOptions};
use crate::calibration::Calibration;
use crate::config::read_text;
use crate::runtime::stop_on_signals;

pub(super) fn track(arguments: TrackArguments) -> anyhow::Result<ExitCode> {
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
