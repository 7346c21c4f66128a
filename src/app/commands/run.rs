//! `shoal run`.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::app::cli::RunArguments;
use crate::app::panel_stage::panel_options;
use crate::app::run_pool::{DisplayOptions, Documents, RunEnd, RunOptions, run_pool};
use crate::app::site_setup::{live_config, load_watched_documents, render_setup, window_settings};
use crate::camera::AtEnd;
use crate::records::RecordConfig;
use crate::render::RenderSetup;
use crate::runtime::{EXIT_NO_WINDOW, end_with_parent, run_child, stop_on_signals};
use crate::site::Site;

pub(super) fn run(arguments: RunArguments, words: &[OsString]) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals()?;
    match arguments.child_restarts {
        Some(_) => {
            let has_parent = end_with_parent(arguments.parent_process);
            anyhow::ensure!(has_parent, "the parent process has ended");
        }
        None if arguments.headless => {}
        None => return run_child(&std::env::current_exe()?, words, &stop),
    }
    let watched = load_watched_documents(arguments.site.site, arguments.scene.as_deref())?;
    let site = Site::clone(watched.editor.site());
    // After a crash there is no new recording, so the recording from before the crash is not overwritten.
    let is_first = arguments.child_restarts.unwrap_or(0) == 0;
    let record = arguments
        .record
        .filter(|_| is_first)
        .map(|path| RecordConfig {
            path,
            secs: arguments.record_secs,
        });
    if let Some(record) = &record {
        anyhow::ensure!(
            !record.path.is_file(),
            "{}: this file exists already, and a recording replaces no file; give another name, or remove it",
            record.path.display()
        );
    }
    let layers = arguments.overlay.layers();
    let config = live_config(&site, arguments.camera, AtEnd::Stay, record, layers)?;
    let listen = arguments
        .setup
        .then(|| "lan".to_owned())
        .or(arguments.panel);
    let panel = panel_options(&site.file.panel, listen, watched.path.as_deref());
    let overlay_options = arguments.overlay.options();
    let build_setup = move |site| RenderSetup {
        overlay_options,
        ..render_setup(site)
    };
    let display = (!arguments.headless).then(|| DisplayOptions {
        windows: window_settings(&site, None, !arguments.windowed),
        lose_device_after: arguments.lose_device_after,
        setup: build_setup(site),
    });
    let options = RunOptions {
        config,
        display,
        seconds: arguments.seconds,
        documents: Documents {
            editor: watched.editor,
            site: watched.path,
            watcher: watched.watcher,
            build_setup: Box::new(build_setup),
            window_settings: Box::new(move |site| window_settings(site, None, !arguments.windowed)),
        },
        log_session: arguments.log_session.filter(|_| is_first),
        keep_incidents: arguments.keep_incidents,
        #[cfg(unix)]
        control_socket: arguments.control_socket,
        panel: Some(panel),
        restarts: arguments.child_restarts,
    };
    Ok(match run_pool(options, stop)? {
        RunEnd::Finished => ExitCode::SUCCESS,
        RunEnd::NoWindow => ExitCode::from(EXIT_NO_WINDOW),
    })
}
