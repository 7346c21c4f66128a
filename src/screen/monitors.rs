//! Finds the monitors of the display, for `shoal monitors` and for the windows of the running pool.
//!
//! In: the display. Out: monitors with their positions. On X11 the windowing library reads the list of monitors only once per
//! process. To detect monitors that are connected or disconnected, the running pool therefore starts `shoal monitors` every two
//! seconds. Must not: depend on outputs or windows.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::ActiveEventLoop;
use winit::monitor::MonitorHandle;
use winit::window::WindowId;

use super::display;
use crate::runtime::{Heartbeat, kill, wait_for_exit};

/// Time between two searches for monitors while the pool runs.
const SEARCH_INTERVAL: Duration = Duration::from_secs(2);
/// Longest time that `shoal monitors` may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A monitor, and the position and size of its part of the display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    /// Name of the monitor, as written in `outputs.monitor`.
    pub name: String,
    /// Upper left corner, in pixels of the display.
    pub position_px: [i32; 2],
    /// Width and height in pixels.
    pub size_px: [u32; 2],
    /// Refresh rate in Hz; `None` if the monitor does not report it.
    pub refresh_hz: Option<f64>,
    /// Whether this is the primary monitor. An output that does not name a monitor uses it.
    pub is_primary: bool,
}

impl Monitor {
    /// Whether `handle` is this monitor, at the same position and with the same size.
    pub fn matches(&self, handle: &MonitorHandle) -> bool {
        handle.name().is_some_and(|name| name == self.name)
            && <[i32; 2]>::from(handle.position()) == self.position_px
            && <[u32; 2]>::from(handle.size()) == self.size_px
    }

    /// Returns the name, size, position and refresh rate as text for the user.
    pub fn describe(&self) -> String {
        let ([width, height], [x, y]) = (self.size_px, self.position_px);
        let rate = match self.refresh_hz {
            Some(hz) => format!("{hz:.1} Hz"),
            None => "unknown refresh rate".to_owned(),
        };
        format!("'{}' ({width}x{height} px at {x},{y}, {rate})", self.name)
    }
}

/// Returns the monitors that the windowing library knows.
pub(super) fn known_monitors(events: &ActiveEventLoop) -> Vec<Monitor> {
    let primary = events.primary_monitor();
    let of = |handle: MonitorHandle| Monitor {
        name: handle.name().unwrap_or_default(),
        position_px: handle.position().into(),
        size_px: handle.size().into(),
        refresh_hz: handle
            .refresh_rate_millihertz()
            .map(|mhz| f64::from(mhz) / 1000.0),
        is_primary: Some(&handle) == primary.as_ref(),
    };
    events.available_monitors().map(of).collect()
}

/// Lists the monitors of the display. May be called only once per process, on the main thread, and only if the process opens no
/// windows.
///
/// # Errors
/// When there is no display, or it does not answer.
pub fn list_monitors() -> anyhow::Result<Vec<Monitor>> {
    struct Lister(Vec<Monitor>);
    impl ApplicationHandler for Lister {
        fn resumed(&mut self, events: &ActiveEventLoop) {
            self.0 = known_monitors(events);
            events.exit();
        }

        fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
    }
    display::check_reachable().map_err(|reason| {
        anyhow!(
            "{reason}; run this command in a terminal on the desktop, or set its display: DISPLAY=:0 shoal monitors"
        )
    })?;
    let mut lister = Lister(Vec::new());
    display::event_loop()?.run_app(&mut lister)?;
    Ok(lister.0)
}

/// Searches for monitors until the program ends, and stores the latest list in `found`.
///
/// # Errors
/// When the path of the running program is unknown.
pub fn watch_monitors(
    found: &Mutex<Option<Vec<Monitor>>>,
    heartbeat: &Heartbeat,
) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    while heartbeat.sleep(SEARCH_INTERVAL) {
        match search(&program, &|| heartbeat.keep_running()) {
            Ok(monitors) => *found.lock() = Some(monitors),
            Err(error) => tracing::debug!("the monitors cannot be listed: {error:#}"),
        }
    }
    Ok(())
}

/// Asks the display for its monitors, in a process of its own. May be called at any time and on any thread.
///
/// # Errors
/// When there is no display, or it does not answer.
pub fn ask_for_monitors() -> anyhow::Result<Vec<Monitor>> {
    display::check_reachable().map_err(|reason| anyhow!("{reason}"))?;
    search(&std::env::current_exe()?, &|| true)
}

/// Runs `shoal monitors` and returns its list. Gives up when `keep_running` returns false.
fn search(program: &Path, keep_running: &dyn Fn() -> bool) -> anyhow::Result<Vec<Monitor>> {
    let mut child = Command::new(program)
        .arg("monitors")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let Some(status) = wait_for_exit(&mut child, ANSWER_TIMEOUT, keep_running)? else {
        kill(&mut child);
        anyhow::bail!("it did not answer");
    };
    anyhow::ensure!(status.success(), "{status}");
    let mut text = String::new();
    let mut stdout = child.stdout.take().context("the output is not piped")?;
    stdout.read_to_string(&mut text)?;
    parse(&text)
}

fn parse(text: &str) -> anyhow::Result<Vec<Monitor>> {
    let line = |line| {
        serde_json::from_str(line).with_context(|| format!("this line is no monitor: {line}"))
    };
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_list_can_be_read() {
        let monitor = Monitor {
            name: "DP-1".to_owned(),
            position_px: [-1920, 0],
            size_px: [1920, 1080],
            refresh_hz: None,
            is_primary: true,
        };
        let other = Monitor {
            refresh_hz: Some(59.94),
            ..monitor.clone()
        };
        let line = |m: &Monitor| serde_json::to_string(m).unwrap() + "\n";
        let text = line(&monitor) + &line(&other);
        assert_eq!(parse(&text).unwrap(), [monitor, other]);
        assert_eq!(parse("").unwrap(), []);
        let error = parse("HDMI-1").unwrap_err().to_string();
        assert!(error.contains("HDMI-1"), "{error}");
    }
}
