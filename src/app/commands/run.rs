//! The command `shoal run`: its options, and what it runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::arguments::{CAMERA_HELP, OverlayArguments, SiteArguments, seconds};
use crate::app::live::{HallConfig, LiveConfig};
use crate::app::panel_stage::panel_options;
use crate::app::run_pool::{DisplayOptions, Documents, RunEnd, RunOptions, StateAccess, run_pool};
use crate::app::site_setup::{live_config, load_watched_documents, render_setup, window_settings};
use crate::camera::{AtEnd, MAX_RECORDING_SECS};
use crate::cluster::{ClusterParams, IS_BUILT, KeyFolder, LinkError, Role};
use crate::files::remove_leftovers;
use crate::panel::Listen;
use crate::records::{RecordConfig, StateLock, finish_restore, lock_state, state_folder};
use crate::runtime::{
    EXIT_NO_WINDOW, end_with_parent, print_message, queue_messages, replace_process, run_child,
    stop_on_signals,
};
use crate::site::Site;

/// `shoal run`.
#[derive(Debug, Args)]
pub(in crate::app) struct RunArguments {
    #[command(flatten)]
    site: SiteArguments,
    #[arg(long, value_name = "SRC", long_help = CAMERA_HELP, help = "Camera source; default: the source of the site")]
    camera: Option<String>,
    /// Scene; default: the scene of the site
    #[arg(long, value_name = "NAME")]
    scene: Option<String>,
    /// Run without a picture
    #[arg(long, conflicts_with = "windowed")]
    headless: bool,
    /// Show the picture in a window instead of fullscreen
    #[arg(long)]
    windowed: bool,
    /// Record the frames of the camera to this file
    #[arg(long, value_name = "FILE.y4m")]
    record: Option<PathBuf>,
    /// Duration of the recording in seconds, at most 3600; the recording ends earlier if the file reaches 8 GiB
    #[arg(long, value_name = "N", default_value_t = 60.0, value_parser = record_secs, requires = "record")]
    record_secs: f64,
    /// Log commands and observations into this new folder, so that `shoal simulate --session` gives the same run again
    #[arg(long, value_name = "DIR")]
    log_session: Option<PathBuf>,
    /// Keep the last five to ten minutes in memory, and write them into a folder in this one when a fault begins or after
    /// `shoal ctl keep`; `shoal simulate --session` repeats them
    #[arg(long, value_name = "DIR", conflicts_with = "log_session")]
    keep_incidents: Option<PathBuf>,
    #[command(flatten)]
    overlay: OverlayArguments,
    /// What this node of a hall does, instead of what the site says: track, simulate, render; several are separated by commas
    #[arg(long = "role", value_name = "ROLE", value_delimiter = ',', value_parser = role)]
    roles: Vec<Role>,
    /// End after this time
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    seconds: Option<f64>,
    /// Path of the control socket for `shoal ctl`; default: shoal-NUMBER.sock in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/shoal or
    /// /tmp/shoal-USER
    #[cfg(unix)]
    #[arg(long, value_name = "PATH")]
    control_socket: Option<PathBuf>,
    /// Where the operator's panel can be opened: local, lan, ADDRESS:PORT or off; default: `panel.listen` of the site
    #[arg(long, value_name = "WHERE", value_parser = listen)]
    panel: Option<String>,
    /// Open the panel for every device in the local network, for the first installation with a phone; the same as --panel lan
    #[arg(long, conflicts_with = "panel")]
    setup: bool,

    /// Lose the graphics device once after this number of pictures, to test that it is opened again
    #[arg(long, value_name = "PICTURES", hide = true)]
    lose_device_after: Option<u64>,
    /// Run as the child process that is restarted after a crash; the number of restarts so far
    #[arg(long, value_name = "RESTARTS", hide = true)]
    pub(in crate::app) child_restarts: Option<u64>,
    /// Number of the parent process of a child process
    #[arg(long, value_name = "NUMBER", hide = true)]
    parent_process: Option<u32>,
}

fn role(text: &str) -> Result<Role, String> {
    match text {
        "track" => Ok(Role::Track),
        "simulate" => Ok(Role::Simulate),
        "render" => Ok(Role::Render),
        _ => Err("expected track, simulate or render".to_owned()),
    }
}

/// Returns the node of the hall that this program is; `None` if the site describes no hall.
fn hall_config(
    params: &ClusterParams,
    site: Option<&Path>,
    roles: Vec<Role>,
) -> anyhow::Result<Option<HallConfig>> {
    let Some(site) = site.filter(|_| params.is_hall()) else {
        anyhow::ensure!(
            roles.is_empty(),
            "--role: the site describes no hall; add the table [cluster] to the site file"
        );
        return Ok(None);
    };
    anyhow::ensure!(IS_BUILT, LinkError::NotBuilt);
    let state = state_folder(site.parent().unwrap_or(Path::new("")));
    let keyring = KeyFolder::new(&state).open()?;
    anyhow::ensure!(
        keyring.hall() == params.hall,
        "cluster.hall: the site describes the hall \"{}\", and the keys of this machine are of the hall \"{}\"",
        params.hall,
        keyring.hall()
    );
    let node = (params.nodes.iter()).position(|node| node.name == keyring.node());
    let node = node.ok_or_else(|| {
        anyhow::anyhow!(
            "cluster.nodes: the list does not contain this machine, whose keys are of the node \"{}\"",
            keyring.node()
        )
    })?;
    let all = [Role::Track, Role::Simulate, Role::Render];
    let of_site = all.into_iter().filter(|role| params.nodes[node].has(*role));
    let roles = if roles.is_empty() {
        of_site.collect()
    } else {
        roles
    };
    anyhow::ensure!(
        roles != [Role::Track],
        "cluster.nodes[{node}].roles: this node only tracks, but the visitors of a hall are those of the cameras of the leader; add \
         simulate or render"
    );
    Ok(Some(HallConfig {
        params: params.clone(),
        node,
        roles,
        state,
    }))
}

fn listen(text: &str) -> Result<String, String> {
    Listen::parse(text)?;
    Ok(text.to_owned())
}

fn record_secs(text: &str) -> Result<f64, String> {
    match seconds(text) {
        Ok(secs) if secs > 0.0 && secs <= MAX_RECORDING_SECS => Ok(secs),
        _ => Err("expected seconds, more than 0 and at most 3600".to_owned()),
    }
}

/// Locks the state folder of a site, finishes what an earlier run left there, and removes its temporary files. `None` if another
/// instance uses the folder.
fn prepare_folders(site: &Path) -> Option<StateLock> {
    let folder = site.parent().unwrap_or(Path::new(""));
    let state = state_folder(folder);
    let lock = lock_state(&state)?;
    finish_restore(site, &state);
    for name in ["", "scenes", "species", "models"] {
        let part = folder.join(name);
        remove_leftovers(&part.join(".generations"));
        remove_leftovers(&part.join("."));
    }
    remove_leftovers(&state);
    Some(lock)
}

pub(in crate::app) fn run(arguments: RunArguments, words: &[OsString]) -> anyhow::Result<ExitCode> {
    let stop = stop_on_signals()?;
    queue_messages()?;
    match arguments.child_restarts {
        Some(_) => {
            let parent = arguments.parent_process;
            let has_parent = parent.map_or(Ok(true), end_with_parent);
            let has_parent = has_parent.unwrap_or_else(|error| {
                tracing::debug!(%error, "the child process would outlive its parent");
                true
            });
            anyhow::ensure!(has_parent, "the parent process has ended");
        }
        None if arguments.headless => {}
        None => return run_child(&std::env::current_exe()?, words, &stop),
    }
    let state = (arguments.site.site.as_deref()).map(prepare_folders);
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
    let hall = hall_config(&site.file.cluster, watched.path.as_deref(), arguments.roles)?;
    let draws = (hall.as_ref()).is_none_or(|hall| hall.roles.contains(&Role::Render));
    // The pool of a node can be replaced by that of the leader, which a replay does not know.
    let keeps_sessions = hall.is_none();
    if !keeps_sessions && (arguments.log_session.is_some() || arguments.keep_incidents.is_some()) {
        print_message("warning: a node of a hall keeps no sessions and no incidents");
    }
    let config = LiveConfig {
        hall,
        ..live_config(&site, arguments.camera.as_deref(), AtEnd::Stay, record)?
    };
    let listen = arguments
        .setup
        .then(|| "lan".to_owned())
        .or(arguments.panel);
    let panel = panel_options(&site.file.panel, listen, watched.path.as_deref());
    let display = (draws && !arguments.headless).then(|| DisplayOptions {
        windows: window_settings(&site, None, !arguments.windowed),
        test_picture: arguments.overlay.test_picture(),
        lose_device_after: arguments.lose_device_after,
        overlay: arguments.overlay.choice(),
        setup: render_setup(site),
    });
    let options = RunOptions {
        config,
        display,
        seconds: arguments.seconds,
        documents: Documents {
            editor: watched.editor,
            site: watched.path,
            watcher: watched.watcher,
            build_setup: Box::new(render_setup),
            window_settings: Box::new(move |site| window_settings(site, None, !arguments.windowed)),
        },
        log_session: arguments.log_session.filter(|_| is_first && keeps_sessions),
        keep_incidents: arguments.keep_incidents.filter(|_| keeps_sessions),
        #[cfg(unix)]
        control_socket: arguments.control_socket,
        panel: Some(panel),
        state: state.map_or(StateAccess::None, |state| {
            state.map_or(StateAccess::HeldByOther, StateAccess::Held)
        }),
        restarts: arguments.child_restarts,
    };
    Ok(match run_pool(options, stop)? {
        RunEnd::Finished => ExitCode::SUCCESS,
        RunEnd::NoWindow => ExitCode::from(EXIT_NO_WINDOW),
        RunEnd::Restart => return Err(replace_process(&words_of_restart(words))),
    })
}

/// Returns the arguments of this program for its start in the same process: the number of restarts is one more, so that what is
/// done only at the first start is not done again.
fn words_of_restart(words: &[OsString]) -> Vec<OsString> {
    let option = std::ffi::OsStr::new("--child-restarts");
    let mut next = words.to_vec();
    let mut restarts = 0;
    if let Some(at) = next.iter().position(|word| word == option) {
        let value = next.drain(at..(at + 2).min(next.len())).nth(1);
        restarts = value
            .and_then(|text| text.to_str()?.parse().ok())
            .unwrap_or(0);
    }
    next.extend([option.to_owned(), (restarts + 1_u64).to_string().into()]);
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_counts_itself() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let first = words_of_restart(&words("run my/site.toml --headless"));
        assert_eq!(
            first,
            words("run my/site.toml --headless --child-restarts 1")
        );
        let child = words("run --child-restarts 3 --parent-process 77");
        let again = words("run --parent-process 77 --child-restarts 4");
        assert_eq!(words_of_restart(&child), again);
    }
}
