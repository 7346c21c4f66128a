//! Runs the live pool with one window per output: `shoal run`, and `shoal demo` if there is a display.
//!
//! The main thread opens the windows and handles their events. All other work runs on other threads (see [`super::live`]).
//! Without a display the pool runs without a picture until a display answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

#[cfg(unix)]
use super::ctl::{CtlServer, new_socket_path};
use super::disk_watch::watch_files;
use super::live::{LiveConfig, LivePool, Meters, SetupBuilder};
use super::panel_stage::{start_panel, visitor_counts};
use crate::control::{OverlayChoice, PictureStatus, Source, SourceKind, TestPicture};
use crate::panel::PanelOptions;
use crate::records::{SessionConfig, SessionStart, StateLock};
use crate::render::RenderSetup;
use crate::runtime::{Backoff, DurationMeter, HangPolicy, StopFlag, Supervisor, print_message};
use crate::screen::{
    SetupHandoff, SharedWindows, WindowSettings, command_for_key, is_x11, run_windows,
    screen_opener, wait_for_display, watch_monitors,
};
use crate::site::{Editor, FileWatcher, Site};

/// Time between two checks of the other threads while there is no window.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// First pause before a process without a window ends, so that the next one tries again; each further process waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Time between two log entries with the measured latencies.
const STATISTICS_INTERVAL: Duration = Duration::from_secs(600);
/// Longest time without a window. After that the process is restarted to try again. Long enough for a message about this fault.
const LONGEST_WITHOUT_WINDOW: Duration = Duration::from_secs(120);

/// Options of [`run_pool`].
pub(super) struct RunOptions {
    /// Camera, vision and pool.
    pub(super) config: LiveConfig,
    /// The windows and their content; `None` runs without a picture.
    pub(super) display: Option<DisplayOptions>,
    /// Duration in seconds after which the program ends; `None` for no limit.
    pub(super) seconds: Option<f64>,
    /// The documents that can be edited while the pool runs.
    pub(super) documents: Documents,
    /// New folder for the log of the session; `None` if it is not logged.
    pub(super) log_session: Option<PathBuf>,
    /// Folder for the minutes before faults; `None` if they are not kept.
    pub(super) keep_incidents: Option<PathBuf>,
    /// Path of the control socket; `None` for the default path.
    #[cfg(unix)]
    pub(super) control_socket: Option<PathBuf>,
    /// The operator's panel; `None` does not serve it.
    pub(super) panel: Option<PanelOptions>,
    /// The folder of what Shoal keeps itself.
    pub(super) state: StateAccess,
    /// Number of times that a parent process has restarted this process; `None` without a parent process.
    pub(super) restarts: Option<u64>,
}

/// Whether this instance may write into the state folder.
#[derive(Debug)]
pub(super) enum StateAccess {
    /// There is none: the built-in site.
    None,
    /// It may, for as long as this value exists.
    Held(#[expect(dead_code, reason = "dropping it unlocks the folder")] StateLock),
    /// Another instance does. This one keeps nothing.
    HeldByOther,
}

/// The documents of a site. Changed files are applied while the pool runs.
pub(super) struct Documents {
    /// Current content of the documents.
    pub(super) editor: Editor,
    /// The site file; `None` for the built-in site, which has no files.
    pub(super) site: Option<PathBuf>,
    /// Watcher of the site's files, created before they were loaded; `None` for the built-in site.
    pub(super) watcher: Option<FileWatcher>,
    /// Builds the render setup of a changed site.
    pub(super) build_setup: SetupBuilder,
    /// Returns the settings of the windows of a changed site.
    pub(super) window_settings: WindowSettingsOfSite,
}

/// Returns the settings of the windows of a site, in the order of the outputs.
type WindowSettingsOfSite = Box<dyn Fn(&Site) -> Vec<WindowSettings> + Send>;

/// The windows and their content.
pub(super) struct DisplayOptions {
    /// The render setup.
    pub(super) setup: RenderSetup,
    /// Settings of the windows, in the order of the outputs.
    pub(super) windows: Vec<WindowSettings>,
    /// Picture for adjusting the projectors that is shown from the start.
    pub(super) test_picture: Option<TestPicture>,
    /// What is drawn over the pool from the start.
    pub(super) overlay: OverlayChoice,
    /// Number of pictures after which the graphics device is lost once, for tests; `None`: it is not lost.
    pub(super) lose_device_after: Option<u64>,
}

/// The way in which a run ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    /// The user or the system ended the program, or its time is over.
    Finished,
    /// No window could be opened. A new process can try again.
    NoWindow,
    /// An operator starts the program again.
    Restart,
}

/// Runs until `stop` is set, a window is closed or the time is over.
///
/// # Errors
/// When a recording cannot be created, or the program has to be restarted: too many panics, a thread that hangs, a graphics
/// device that is lost again and again. A missing camera or display is no error.
pub(super) fn run_pool(options: RunOptions, stop: StopFlag) -> anyhow::Result<RunEnd> {
    if let Some(record) = &options.config.record {
        print_message(&format!(
            "recording: {}, at most {} s{}",
            record.path.display(),
            record.secs,
            match options.config.cameras.as_slice() {
                [first, _, ..] => format!(", only the camera {}", first.name),
                _ => String::new(),
            }
        ));
    }
    let is_incidents = options.keep_incidents.is_some();
    let folder = options.keep_incidents.or(options.log_session);
    let session = folder.map(|folder| SessionConfig {
        folder,
        is_incidents,
        start: SessionStart::new(
            options.documents.site.as_deref(),
            &options.config.simulation,
            &options.documents.editor,
        ),
    });
    let mut live = LivePool::start_logged(options.config, session.as_ref(), stop)?;
    let mut second = live.journal.fault("second_instance");
    let is_second = matches!(options.state, StateAccess::HeldByOther);
    if is_second {
        live.keep_nothing();
        second.raise(
            &"another instance of Shoal uses the same state folder, so this one runs without panel, counts and recordings; end one",
        );
    }
    let statistics = Statistics {
        meters: live.meters.clone(),
        picture: Arc::clone(&live.picture_status),
    };
    let logged = statistics.clone();
    live.supervisor
        .start("statistics", HangPolicy::EndProgram, move |heartbeat| {
            while heartbeat.sleep(STATISTICS_INTERVAL) {
                logged.log();
            }
            Ok(())
        })?;
    if let Some(seconds) = options.seconds {
        let seconds = Duration::from_secs_f64(seconds);
        live.supervisor
            .start("timer", HangPolicy::EndProgram, move |heartbeat| {
                heartbeat.sleep(seconds);
                heartbeat.stop_flag().store(true, Ordering::Relaxed);
                Ok(())
            })?;
    }
    let (mut test_picture, mut overlay) = (None, OverlayChoice::default());
    let (handoff, windows, lose_device_after) = match options.display {
        Some(display) => {
            let handoff = SetupHandoff::new(display.setup);
            let handoff = Arc::new(handoff);
            (test_picture, overlay) = (display.test_picture, display.overlay);
            (Some(handoff), display.windows, display.lose_device_after)
        }
        None => (None, Vec::new(), None),
    };
    let shared = SharedWindows::new(windows.len(), Arc::clone(&live.screen));
    let counts = visitor_counts(options.documents.editor.site());
    let panel = options.panel.filter(|_| !is_second);
    start_editing(&mut live, options.documents, handoff.clone(), &shared)?;
    live.start_with(test_picture, overlay);
    #[cfg(unix)]
    start_control_socket(&mut live, options.control_socket)?;
    if let Some(panel) = panel {
        start_panel(&mut live, &panel, counts)?;
    }
    live.start_service()?;
    let mut end = RunEnd::Finished;
    if let Some(handoff) = handoff {
        start_render(&mut live, handoff, &shared, lose_device_after)?;
        end = show_windows(&mut live, windows, &shared)?;
        if end == RunEnd::NoWindow {
            run_without_window(&live.supervisor, options.restarts);
        }
    } else {
        print_message("picture: none (--headless)");
        while live.supervisor.check() {
            std::thread::sleep(CHECK_INTERVAL);
        }
    }
    let is_stopped = live.supervisor.stop_flag().load(Ordering::Relaxed);
    let is_restart = live.is_restart();
    live.supervisor.shut_down()?;
    statistics.log();
    Ok(match (is_restart, is_stopped) {
        (true, _) => RunEnd::Restart,
        (false, true) => RunEnd::Finished,
        (false, false) => end,
    })
}

/// Serves the control socket. The pool also runs without it, so a missing folder or a used path is only a warning.
#[cfg(unix)]
fn start_control_socket(live: &mut LivePool, path: Option<PathBuf>) -> anyhow::Result<()> {
    let path = path.map_or_else(new_socket_path, Ok);
    let stop = Arc::clone(live.supervisor.stop_flag());
    let server = path
        .map_err(anyhow::Error::from)
        .and_then(|path| Ok((CtlServer::bind(&path, live.client.clone(), stop)?, path)));
    let (mut server, path) = match server {
        Ok(server) => server,
        Err(error) => {
            print_message(&format!(
                "warning: {error:#}; `shoal ctl` cannot reach this instance"
            ));
            return Ok(());
        }
    };
    print_message(&format!("control: {}", path.display()));
    live.supervisor
        .start("control", HangPolicy::WaitAtEnd, move |heartbeat| {
            server.run(heartbeat);
        })
}

/// Runs the pool without a picture for a limited time. Then this process ends and the parent process restarts it, because the
/// windowing library can be started only once per process. Without a parent process the pool runs until it is stopped.
fn run_without_window(supervisor: &Supervisor, restarts: Option<u64>) {
    let pause = restarts.map(|restarts| {
        let restarts = u32::try_from(restarts).unwrap_or(u32::MAX);
        let backoff = Backoff::new(FIRST_PAUSE, LONGEST_WITHOUT_WINDOW);
        backoff.after_failures(restarts).next_pause()
    });
    let begun = Instant::now();
    while supervisor.check() && pause.is_none_or(|pause| begun.elapsed() < pause) {
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// Starts the desk, and a thread that watches the files of the site.
fn start_editing(
    live: &mut LivePool,
    documents: Documents,
    handoff: Option<Arc<SetupHandoff>>,
    windows: &Arc<SharedWindows>,
) -> anyhow::Result<()> {
    let Documents {
        build_setup,
        window_settings,
        ..
    } = documents;
    let windows = Arc::clone(windows);
    let build: SetupBuilder = Box::new(move |site: Site| {
        windows.want(window_settings(&site));
        build_setup(site)
    });
    let setups = handoff.map(|handoff| (handoff, build));
    live.start_desk(documents.editor, documents.site.as_deref(), setups)?;
    if let (Some(site), Some(mut watcher)) = (documents.site, documents.watcher) {
        print_message(&format!(
            "files: changes of {} and the files beside it are applied while the pool runs",
            site.display()
        ));
        let (client, journal) = (live.client.clone(), live.journal.clone());
        live.supervisor
            .start("disk-watch", HangPolicy::WaitAtEnd, move |heartbeat| {
                watch_files(&mut watcher, &client, &journal, heartbeat);
            })?;
    }
    Ok(())
}

/// Starts the render stage. It draws on the windows that the main thread opens later.
fn start_render(
    live: &mut LivePool,
    handoff: Arc<SetupHandoff>,
    shared: &Arc<SharedWindows>,
    lose_device_after: Option<u64>,
) -> anyhow::Result<()> {
    live.screen.want();
    let open_screen = screen_opener(shared, handoff);
    let paced = Arc::clone(shared);
    live.start_render(open_screen, move || paced.min_interval(), lose_device_after)
}

/// Waits for a display, then opens the windows and handles their events until the program ends.
fn show_windows(
    live: &mut LivePool,
    windows: Vec<WindowSettings>,
    shared: &Arc<SharedWindows>,
) -> anyhow::Result<RunEnd> {
    wait_for_display(&live.supervisor, &live.screen);
    if !live.supervisor.check() {
        return Ok(RunEnd::Finished);
    }
    if is_x11() {
        let found = Arc::clone(shared);
        live.supervisor
            .start("monitors", HangPolicy::WaitAtEnd, move |heartbeat| {
                watch_monitors(&found.monitors, heartbeat)
            })?;
    }
    let (status, overlay) = (live.calibration_status(), live.overlay());
    let sender = live.client.sender(Source::of(SourceKind::Keys));
    let mut on_key = |key: &_| {
        let command = command_for_key(key, &status(), overlay().as_deref());
        command.is_some_and(|command| {
            let sent = sender.send(command);
            sent.inspect_err(|error| tracing::warn!("{error}")).is_ok()
        })
    };
    let Err(error) = run_windows(
        windows,
        shared,
        &live.supervisor,
        &mut on_key,
        (&live.journal, &live.notices),
    ) else {
        return Ok(RunEnd::Finished);
    };
    let reason = format!("no window can be opened: {error:#}");
    print_message(&format!(
        "display: {reason}; the pool runs without a picture"
    ));
    live.screen.set_missing(&reason);
    Ok(RunEnd::NoWindow)
}

/// Measurements that are logged regularly and at the end.
#[derive(Clone)]
struct Statistics {
    meters: Meters,
    picture: Arc<Mutex<PictureStatus>>,
}

impl Statistics {
    fn log(&self) {
        let meters = &self.meters;
        log_durations(
            "latency from frame to observation",
            &meters.frame_to_observation,
        );
        log_durations("latency from frame to picture", &meters.frame_to_picture);
        log_durations("time to draw a picture", &meters.draw);
        let gpu = meters.gpu.summary();
        if !gpu.sentence.is_empty() {
            tracing::info!("time of the graphics device: {}", gpu.sentence);
        }
        let PictureStatus {
            scale,
            is_plain,
            dimmed,
            ..
        } = *self.picture.lock();
        if scale > 0.0 {
            tracing::info!(
                "picture quality: scale {scale:.2}, {} details, limited {dimmed} times to prevent a flash",
                if is_plain { "fewer" } else { "all" }
            );
        }
    }
}

fn log_durations(name: &str, meter: &DurationMeter) {
    let summary = meter.summary();
    if summary.count > 0 {
        tracing::info!(
            "{name}: median {:.1} ms, 99th percentile {:.1} ms, {} measured",
            summary.p50_ms,
            summary.p99_ms,
            summary.count
        );
    }
}
