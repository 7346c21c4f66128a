//! `shoal demo`: shows the demo in a window, or renders it into a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::arguments::{SiteArguments, seconds, size_px};
use crate::app::demo_video::{self, DemoOptions, render_demo};
use crate::app::run_pool::{DisplayOptions, Documents, RunOptions, StateAccess, run_pool};
use crate::app::site_setup::{
    first_output_setup, live_config, load_site, load_watched_documents, render_setup, simulation,
    single_camera, window_settings,
};
use crate::camera::AtEnd;
use crate::control::OverlayChoice;
use crate::runtime::{print_message, stop_on_signals};
use crate::screen::check_reachable;
use crate::site::Site;

/// `shoal demo`.
#[derive(Debug, Args)]
pub(in crate::app) struct DemoArguments {
    #[command(flatten)]
    site: SiteArguments,
    /// Camera source; default: synthetic visitors (see `shoal track --help`)
    #[arg(long, value_name = "SRC")]
    camera: Option<String>,
    /// Duration; default: until Escape and Q in a window, 10 s in a folder
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    seconds: Option<f64>,
    /// Size of the picture in a window (default: the size in the site) or in a folder (default: 720 pixels high, in the
    /// proportions of the surface); a fullscreen picture has the size of its monitor
    #[arg(long, value_name = "WxH", value_parser = size_px)]
    size: Option<(u32, u32)>,
    /// Render pictures and a video into this folder even if there is a display; default without a display: demo-output
    #[arg(long, value_name = "DIR", conflicts_with = "windowed")]
    out: Option<PathBuf>,
    /// Show the picture in a window instead of fullscreen
    #[arg(long)]
    windowed: bool,
}

/// Duration of a demo that is rendered into a folder, in seconds, if `--seconds` is not given.
const VIDEO_SECS: f64 = 10.0;
/// Output folder of a demo without a display, if `--out` is not given.
const VIDEO_FOLDER: &str = "demo-output";

pub(in crate::app) fn demo(arguments: DemoArguments) -> anyhow::Result<ExitCode> {
    let folder = match &arguments.out {
        Some(out) => Some(out.clone()),
        None => check_reachable().err().map(|reason| {
            print_message(&format!("{reason}; the demo is rendered into a folder"));
            PathBuf::from(VIDEO_FOLDER)
        }),
    };
    match folder {
        Some(folder) => demo_in_folder(&arguments, folder)?,
        None => demo_in_window(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn demo_in_window(arguments: DemoArguments) -> anyhow::Result<()> {
    let watched = load_watched_documents(arguments.site.site, None)?;
    let site = Site::clone(watched.editor.site());
    let options = RunOptions {
        state: StateAccess::None,
        config: live_config(&site, arguments.camera.as_deref(), AtEnd::Repeat, None)?,
        display: Some(DisplayOptions {
            windows: window_settings(&site, arguments.size, !arguments.windowed),
            test_picture: None,
            overlay: OverlayChoice::default(),
            lose_device_after: None,
            setup: render_setup(site),
        }),
        seconds: arguments.seconds,
        documents: Documents {
            editor: watched.editor,
            site: watched.path,
            watcher: watched.watcher,
            build_setup: Box::new(render_setup),
            window_settings: Box::new(move |site| {
                window_settings(site, arguments.size, !arguments.windowed)
            }),
        },
        log_session: None,
        keep_incidents: None,
        #[cfg(unix)]
        control_socket: None,
        panel: None,
        restarts: None,
    };
    run_pool(options, stop_on_signals()?)?;
    Ok(())
}

fn demo_in_folder(arguments: &DemoArguments, out: PathBuf) -> anyhow::Result<()> {
    let site = load_site(arguments.site.site.as_deref(), None)?;
    let camera = single_camera(&site, arguments.camera.as_deref())?;
    let params = &site.file.simulation;
    let size_px = arguments
        .size
        .unwrap_or_else(|| demo_video::size_px(&site.file.surface));
    let options = DemoOptions {
        source: camera.source,
        folder: camera.folder,
        tracker: camera.tracker,
        simulation: simulation(&site, params.seed, params.threads)?,
        setup: first_output_setup(site, size_px),
        seconds: arguments.seconds.unwrap_or(VIDEO_SECS),
        out,
    };
    render_demo(options, &*stop_on_signals()?)
}
