//! Opens one window per output, on the monitor that the output names, and handles the events of the display. This runs on the
//! main thread. The render stage draws the pictures.
//!
//! In: the window settings, and the monitors. Out: windows, their sizes and the monitors' refresh rates in
//! [`SharedWindows`], and the stop flag when a window is closed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, OwnedDisplayHandle};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Fullscreen, Window, WindowId};

use super::display::event_loop;
use super::monitors::{self, Monitor};
use super::notice::NoticeBoard;
use super::shared_windows::{OpenWindow, SharedWindows, WindowSettings};
use crate::control::Journal;
use crate::runtime::{Fault, Supervisor, print_message};

/// Longest time between two checks of the other threads and the stop flag.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks for monitors that were connected or disconnected.
const MONITOR_INTERVAL: Duration = Duration::from_secs(1);

/// Opens the windows and handles their events until the program ends. May be called only once per process, on the main thread,
/// and only if a display answers. `journal` receives faults. `on_key` is called for every key that is pressed, and returns whether
/// it handled the key. Escape and then Q end the program unless `on_key` handled them.
///
/// # Errors
/// When a window cannot be opened, or the display closes the connection.
pub fn run_windows(
    settings: Vec<WindowSettings>,
    windows: &Arc<SharedWindows>,
    supervisor: &Supervisor,
    on_key: &mut dyn FnMut(&Key) -> bool,
    boards: (&Journal, &NoticeBoard),
) -> anyhow::Result<()> {
    let events = event_loop()?;
    let mut handler = WindowEventHandler {
        outputs: Vec::new(),
        windows,
        journal: boards.0,
        notices: boards.1,
        supervisor,
        on_key,
        display: events.owned_display_handle(),
        failure: None,
        monitors_checked: Instant::now(),
    };
    handler.apply_settings(settings);
    let ended = events.run_app(&mut handler);
    for window in &handler.outputs {
        windows.set(window.output, None);
    }
    if let Some(error) = handler.failure {
        return Err(error);
    }
    Ok(ended?)
}

/// Handles the events of the display.
struct WindowEventHandler<'a> {
    outputs: Vec<OutputWindow>,
    windows: &'a Arc<SharedWindows>,
    journal: &'a Journal,
    notices: &'a NoticeBoard,
    supervisor: &'a Supervisor,
    on_key: &'a mut dyn FnMut(&Key) -> bool,
    display: OwnedDisplayHandle,
    failure: Option<anyhow::Error>,
    monitors_checked: Instant,
}

/// The window of one output.
struct OutputWindow {
    output: usize,
    settings: WindowSettings,
    window: Option<Arc<Window>>,
    /// Monitor on which the window was placed last; `None` before that.
    placed: Option<Monitor>,
    wrong_monitor: Fault,
}

/// Assigns a monitor to each output; no two outputs share a monitor. `wanted` contains the monitor name of each output. Outputs
/// whose named monitor is connected are assigned first, then outputs that name no monitor, then outputs whose monitor is
/// missing. Outputs of the last two kinds get the primary monitor, or the first free one.
fn assign_monitors(wanted: &[&str], connected: &[Monitor]) -> Vec<Option<usize>> {
    let primary = connected.iter().position(|monitor| monitor.is_primary);
    let mut free: Vec<usize> = primary.into_iter().collect();
    free.extend((0..connected.len()).filter(|&i| primary != Some(i)));
    let mut assigned = vec![None; wanted.len()];
    let mut take = |fits: &dyn Fn(&str) -> bool, on: &dyn Fn(&str, &str) -> bool| {
        for (place, name) in assigned.iter_mut().zip(wanted) {
            let at = |&monitor: &usize| {
                connected
                    .get(monitor)
                    .is_some_and(|monitor| on(name, &monitor.name))
            };
            if place.is_none() && fits(name) {
                *place = free.iter().position(at).map(|at| free.remove(at));
            }
        }
    };
    take(&|name| !name.is_empty(), &|name, monitor| name == monitor);
    take(&str::is_empty, &|_, _| true);
    take(&|_| true, &|_, _| true);
    assigned
}

impl WindowEventHandler<'_> {
    /// Opens, closes and moves windows so that they match the connected monitors.
    fn arrange(&mut self, events: &ActiveEventLoop) -> Result<(), winit::error::OsError> {
        let found = self.windows.monitors.lock().clone();
        let monitors = found.unwrap_or_else(|| monitors::known_monitors(events));
        let wanted: Vec<&str> = self
            .outputs
            .iter()
            .map(|window| window.settings.monitor.as_str())
            .collect();
        let assigned = assign_monitors(&wanted, &monitors);
        for (window, monitor) in self.outputs.iter_mut().zip(assigned) {
            let monitor = monitor.and_then(|i| monitors.get(i));
            window.report_wrong_monitor(monitor, &monitors);
            match monitor {
                Some(monitor) => window.open(events, self.windows, monitor, &self.display)?,
                None => window.close(self.windows),
            }
            self.windows.report(window.output, monitor);
        }
        Ok(())
    }

    /// Uses other settings for the windows. [`Self::arrange`] then opens, closes and moves them.
    fn apply_settings(&mut self, settings: Vec<WindowSettings>) {
        for surplus in self.outputs.drain(settings.len().min(self.outputs.len())..) {
            self.windows.set(surplus.output, None);
        }
        self.windows.resize(settings.len());
        for (output, settings) in settings.into_iter().enumerate() {
            match self.outputs.get_mut(output) {
                Some(window) if window.settings == settings => {}
                Some(window) => {
                    window.settings = settings;
                    window.placed = None;
                }
                None => self.outputs.push(OutputWindow {
                    output,
                    settings,
                    window: None,
                    placed: None,
                    wrong_monitor: self.journal.fault("monitor"),
                }),
            }
        }
    }

    /// Escape asks on the floor whether the program ends; the key Q within three seconds ends it. A single key does not, because
    /// a technician who cancels a calibration easily presses Escape once more.
    fn ask_or_end(&self, key: &Key) {
        let now = Instant::now();
        match key {
            Key::Named(NamedKey::Escape) => self.notices.ask_for_end(now),
            Key::Character(letter)
                if letter.eq_ignore_ascii_case("q") && self.notices.is_end_asked(now) =>
            {
                self.supervisor.stop_flag().store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn arrange_or_end(&mut self, events: &ActiveEventLoop) {
        if let Err(error) = self.arrange(events) {
            self.failure = Some(error.into());
            events.exit();
        }
    }
}

impl OutputWindow {
    fn report_wrong_monitor(&mut self, monitor: Option<&Monitor>, connected: &[Monitor]) {
        let Self {
            output, settings, ..
        } = self;
        if monitor.is_some_and(|m| settings.monitor.is_empty() || m.name == settings.monitor) {
            self.wrong_monitor.clear();
            return;
        }
        let problem = if settings.monitor.is_empty() {
            format!("outputs[{output}]: no monitor is free")
        } else {
            let name = &settings.monitor;
            format!("outputs[{output}].monitor = '{name}' is not connected")
        };
        let remedy = match monitor {
            Some(monitor) => format!("'{}' is used instead", monitor.name),
            None => "the output is shown as soon as a monitor is connected".to_owned(),
        };
        let connected: Vec<String> = connected.iter().map(Monitor::describe).collect();
        let connected = if connected.is_empty() {
            "no monitor".to_owned()
        } else {
            connected.join(", ")
        };
        self.wrong_monitor
            .raise(&format!("{problem}; {remedy}; connected: {connected}"));
    }

    /// Opens the window if it is not open. Places it on its monitor if it is elsewhere or the monitor has changed.
    fn open(
        &mut self,
        events: &ActiveEventLoop,
        windows: &SharedWindows,
        monitor: &Monitor,
        display: &OwnedDisplayHandle,
    ) -> Result<(), winit::error::OsError> {
        let Some(shared) = windows.shared(self.output) else {
            return Ok(());
        };
        let fullscreen = self.settings.fullscreen;
        let is_new = self.window.is_none();
        let window = match &self.window {
            Some(window) => Arc::clone(window),
            None => {
                let size_px = if fullscreen {
                    monitor.size_px
                } else {
                    self.settings.size_px
                };
                let attributes = Window::default_attributes()
                    .with_title("Shoal")
                    // The window becomes visible when its first picture is ready.
                    .with_visible(false)
                    .with_decorations(!fullscreen)
                    .with_inner_size(PhysicalSize::<u32>::from(size_px));
                let window = Arc::new(events.create_window(attributes)?);
                window.set_cursor_visible(!fullscreen);
                shared.resize(window.inner_size());
                self.window = Some(Arc::clone(&window));
                window
            }
        };
        if self.placed.as_ref() != Some(monitor) {
            print_message(&format!(
                "monitor: outputs[{}] is shown on {}",
                self.output,
                monitor.describe()
            ));
            shared.set_refresh_rate(monitor.refresh_hz);
            if fullscreen {
                // `None` if the windowing library does not know this monitor yet. Then the size and position that are set below
                // are sufficient.
                let known = events.available_monitors().find(|m| monitor.matches(m));
                window.set_fullscreen(known.map(|m| Fullscreen::Borderless(Some(m))));
                // Without a window manager, only size and position have an effect.
                window.set_outer_position(PhysicalPosition::<i32>::from(monitor.position_px));
                if let Some(size) =
                    window.request_inner_size(PhysicalSize::<u32>::from(monitor.size_px))
                {
                    shared.resize(size);
                }
            }
            self.placed = Some(monitor.clone());
        }
        if is_new {
            let display = display.clone();
            windows.set(self.output, Some(OpenWindow { window, display }));
        }
        Ok(())
    }

    /// Drops this thread's reference to the window. The window closes when the render stage has dropped its reference too.
    fn close(&mut self, windows: &SharedWindows) {
        if self.window.take().is_some() {
            windows.set(self.output, None);
        }
        self.placed = None;
    }
}

impl ApplicationHandler for WindowEventHandler<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        self.arrange_or_end(events);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        let has_id =
            |output: &&mut OutputWindow| output.window.as_ref().is_some_and(|w| w.id() == id);
        let output = self.outputs.iter_mut().find(has_id);
        match event {
            WindowEvent::Resized(size) => {
                let shared = output.and_then(|output| self.windows.shared(output.output));
                if let Some(shared) = shared {
                    shared.resize(size);
                }
            }
            WindowEvent::CloseRequested => {
                self.supervisor.stop_flag().store(true, Ordering::Relaxed);
            }
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed && !event.repeat =>
            {
                let is_handled = (self.on_key)(&event.logical_key);
                if !is_handled {
                    self.ask_or_end(&event.logical_key);
                }
            }
            // The window was closed from outside Shoal. It is opened again at the next check of the monitors.
            WindowEvent::Destroyed => {
                if let Some(output) = output {
                    output.close(self.windows);
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        if !self.supervisor.check() {
            events.exit();
            return;
        }
        let wanted = self.windows.take_wanted();
        let has_new_settings = wanted.is_some();
        if let Some(settings) = wanted {
            self.apply_settings(settings);
        }
        if has_new_settings || self.monitors_checked.elapsed() > MONITOR_INTERVAL {
            self.monitors_checked = Instant::now();
            self.arrange_or_end(events);
        }
        events.set_control_flow(ControlFlow::wait_duration(CHECK_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_monitor_comes_first_then_the_primary_then_the_first_free_one() {
        let names = |wanted: &[&str], connected: &[&str], primary: &str| -> Vec<String> {
            let monitor = |name: &&str| Monitor {
                name: (*name).to_owned(),
                position_px: [0, 0],
                size_px: [640, 480],
                refresh_hz: None,
                is_primary: *name == primary,
            };
            let connected: Vec<Monitor> = connected.iter().map(monitor).collect();
            let name =
                |i: Option<usize>| i.map_or("none".to_owned(), |i| connected[i].name.clone());
            assign_monitors(wanted, &connected)
                .into_iter()
                .map(name)
                .collect()
        };
        let connected = ["HDMI-1", "DP-1", "DP-2"];
        assert_eq!(names(&["DP-2"], &connected, "DP-1"), ["DP-2"]);
        assert_eq!(names(&[""], &connected, "DP-1"), ["DP-1"]);
        assert_eq!(names(&["VGA-1"], &connected, "DP-1"), ["DP-1"]);
        assert_eq!(names(&[""], &connected, ""), ["HDMI-1"]);
        assert_eq!(names(&["x"], &[], ""), ["none"]);
        // The order of the outputs in the file does not matter.
        let two = names(&["", "DP-1"], &connected, "DP-1");
        assert_eq!(two, ["HDMI-1", "DP-1"]);
        let four = names(&["VGA-1", "", "DP-2", "VGA-2"], &connected, "HDMI-1");
        assert_eq!(four, ["DP-1", "HDMI-1", "DP-2", "none"]);
    }
}
