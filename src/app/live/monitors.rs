//! Which monitors there are: what `shoal monitors` lists, and what tells the windows of monitors that come and go.
//!
//! In: the display. Out: monitors with their places. On X11 the windowing library reads its list once in the life of a
//! process; so a process of its own is asked again and again. Must not: know outputs or windows.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::monitor::MonitorHandle;
use winit::window::WindowId;

use super::display;
use super::editing::lock;
use super::supervise::Pulse;

/// How often monitors are looked for while the pool runs.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How long the process that looks may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is asked whether it is done.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A monitor, and where its picture lies on the display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    /// What `outputs.monitor` calls it.
    pub name: String,
    /// Its left upper corner, in pixels of the display.
    pub position_px: [i32; 2],
    /// Width and height.
    pub size_px: [u32; 2],
    /// Pictures a second; `None` where it does not say.
    pub refresh_hz: Option<f64>,
    /// The one that is taken where none is named.
    pub is_primary: bool,
}

impl Monitor {
    /// Whether the windowing library means this monitor, as it is now.
    pub fn is(&self, handle: &MonitorHandle) -> bool {
        handle.name().is_some_and(|name| name == self.name)
            && <[i32; 2]>::from(handle.position()) == self.position_px
            && <[u32; 2]>::from(handle.size()) == self.size_px
    }

    /// Name, size, place and rate, for people.
    pub fn describe(&self) -> String {
        let ([width, height], [x, y]) = (self.size_px, self.position_px);
        let rate = match self.refresh_hz {
            Some(hz) => format!("{hz:.1} Hz"),
            None => "unknown rate".to_owned(),
        };
        format!("'{}' ({width}x{height} px at {x},{y}, {rate})", self.name)
    }
}

/// The monitors as the windowing library knows them.
pub fn known(events: &ActiveEventLoop) -> Vec<Monitor> {
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

/// The monitors of the display. To be called on the main thread, once, and by nobody who opens windows.
///
/// # Errors
/// When there is no display, or it does not answer.
pub fn list() -> anyhow::Result<Vec<Monitor>> {
    struct Lister(Vec<Monitor>);
    impl ApplicationHandler for Lister {
        fn resumed(&mut self, events: &ActiveEventLoop) {
            self.0 = known(events);
            events.exit();
        }

        fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
    }
    display::reachable().map_err(|reason| {
        anyhow!(
            "{reason}; monitors are listed where they are: in the desktop's own terminal, or with the name of its display, \
             DISPLAY=:0 shoal monitors"
        )
    })?;
    let mut lister = Lister(Vec::new());
    EventLoop::new()?.run_app(&mut lister)?;
    Ok(lister.0)
}

/// Asks a process of its own again and again, and leaves in `seen` what it answered last.
///
/// # Errors
/// When the program does not know its own path.
pub fn watch(seen: &Mutex<Option<Vec<Monitor>>>, pulse: &Pulse) -> anyhow::Result<()> {
    let program = std::env::current_exe()?;
    while pulse.sleep(LOOK_EVERY) {
        match answered(&program, pulse) {
            Ok(monitors) => *lock(seen) = Some(monitors),
            Err(error) => tracing::debug!("monitors are not known: {error:#}"),
        }
    }
    Ok(())
}

/// What `shoal monitors` says now.
fn answered(program: &Path, pulse: &Pulse) -> anyhow::Result<Vec<Monitor>> {
    let mut child = Command::new(program)
        .arg("monitors")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > PATIENCE || !pulse.goes_on() {
            child.kill()?;
            child.wait()?;
            anyhow::bail!("no answer within {} s", begun.elapsed().as_secs());
        }
        std::thread::sleep(ASK_EVERY);
    };
    anyhow::ensure!(status.success(), "{status}");
    let mut text = String::new();
    let mut stdout = child.stdout.take().context("its output is piped")?;
    stdout.read_to_string(&mut text)?;
    parse(&text)
}

fn parse(text: &str) -> anyhow::Result<Vec<Monitor>> {
    let line = |line| serde_json::from_str(line).with_context(|| format!("not a monitor: {line}"));
    text.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_read_again() {
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
