//! Opens one window per output, on the monitor that the output names, and handles the events of the display. This runs on the
//! main thread. The render stage draws the pictures.
//!
//! In: the window settings, and the monitors. Out: windows, their sizes and the monitors' refresh rates in
//! [`SharedWindows`], and the stop flag when a window is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, OwnedDisplayHandle};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Fullscreen, Window, WindowId};

use crate::control::{FaultReporter, Journal, OutputStatus};
use crate::render::{WindowTarget, WindowTargets};

use super::monitors::{self, Monitor};
use super::notice::NoticeBoard;
use super::status_builder::ScreenBoard;
use crate::runtime::{Supervisor, print_message};

/// Longest time between two checks of the other threads and the stop flag.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Time between two checks for monitors that were connected or disconnected.
const MONITOR_INTERVAL: Duration = Duration::from_secs(1);
/// Refresh rate in Hz that is assumed for a monitor that does not report one.
const DEFAULT_HZ: f64 = 60.0;
/// Frame rate limit as a multiple of the refresh rate. It is slightly above 1: a display with vertical sync is slower than the
/// limit and sets the pace, so the limit only affects a display without vertical sync.
const LIMIT_FACTOR: f64 = 1.03;

/// Settings of the window of one output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowSettings {
    /// Name of the monitor; empty for the primary monitor.
    pub(crate) monitor: String,
    /// Whether the window covers the whole monitor, without border and cursor.
    pub(crate) fullscreen: bool,
    /// Inner size in pixels if the window is not fullscreen.
    pub(crate) size_px: [u32; 2],
}

/// The state of the windows that the render stage can access.
pub(crate) struct SharedWindows {
    outputs: RwLock<Vec<Arc<SharedWindow>>>,
    /// Settings that the main thread has not applied yet.
    wanted: Mutex<Option<Vec<WindowSettings>>>,
    /// Monitors and sizes, for the status.
    screen: Arc<ScreenBoard>,
    /// Number of times a window was opened or closed.
    changes: AtomicU64,
    /// Monitors found by [`monitors::watch_monitors`]; `None` on systems where the windowing library itself finds new monitors.
    pub(crate) monitors: Mutex<Option<Vec<Monitor>>>,
}

/// The state of one output's window that the render stage can access.
#[derive(Default)]
struct SharedWindow {
    open: Mutex<Option<OpenWindow>>,
    /// Inner size in pixels: width in the upper 32 bits, height in the lower 32 bits.
    size_px: AtomicU64,
    /// Refresh rate of the monitor in millihertz; 0 if unknown.
    refresh_mhz: AtomicU32,
}

#[derive(Clone)]
struct OpenWindow {
    window: Arc<Window>,
    display: OwnedDisplayHandle,
}

impl SharedWindows {
    /// Creates the shared state for `outputs` outputs, without open windows.
    pub(crate) fn new(outputs: usize, screen: Arc<ScreenBoard>) -> Arc<Self> {
        screen
            .outputs
            .lock()
            .resize_with(outputs, OutputStatus::default);
        Arc::new(Self {
            screen,
            outputs: RwLock::new((0..outputs).map(|_| Arc::default()).collect()),
            wanted: Mutex::default(),
            changes: AtomicU64::new(0),
            monitors: Mutex::default(),
        })
    }

    /// Returns the open windows as targets for drawing; `None` if no window is open.
    pub(crate) fn targets(self: &Arc<Self>) -> Option<WindowTargets> {
        let seen = self.changes.load(Ordering::Acquire);
        let (mut windows, mut display) = (Vec::new(), None);
        for (output, shared) in self.outputs.read().iter().enumerate() {
            let Some(open) = shared.open.lock().clone() else {
                continue;
            };
            let (sized, shown) = (Arc::clone(shared), Arc::clone(&open.window));
            let target = WindowTarget {
                output,
                size_px: Box::new(move || sized.size_px()),
                before_first: Box::new(move || shown.set_visible(true)),
            };
            windows.push((open.window.into(), target));
            display = Some(open.display);
        }
        let all = Arc::clone(self);
        Some(WindowTargets {
            windows,
            display: Box::new(display?),
            have_changed: Box::new(move || all.changes.load(Ordering::Acquire) != seen),
        })
    }

    /// Returns the shortest time between two pictures. It follows from the refresh rate of the slowest monitor with a window.
    pub(crate) fn min_interval(&self) -> Duration {
        let outputs = self.outputs.read();
        let open = outputs.iter().filter(|shared| shared.open.lock().is_some());
        let hz = open
            .map(|shared| shared.refresh_hz())
            .min_by(f64::total_cmp);
        let hz = hz.unwrap_or(DEFAULT_HZ).clamp(10.0, 1000.0);
        Duration::from_secs_f64(1.0 / (hz * LIMIT_FACTOR))
    }

    fn shared(&self, output: usize) -> Option<Arc<SharedWindow>> {
        self.outputs.read().get(output).map(Arc::clone)
    }

    /// Requests other windows. The main thread opens, closes and moves them.
    pub(crate) fn want(&self, settings: Vec<WindowSettings>) {
        *self.wanted.lock() = Some(settings);
    }

    /// Changes the number of outputs.
    fn resize(&self, outputs: usize) {
        self.outputs.write().resize_with(outputs, Arc::default);
        self.screen
            .outputs
            .lock()
            .resize_with(outputs, OutputStatus::default);
    }

    /// Updates the status of an output: the monitor and the size of its window.
    fn report(&self, output: usize, monitor: Option<&Monitor>) {
        let size_px = self.shared(output).map(|shared| shared.size_px());
        if let Some(status) = self.screen.outputs.lock().get_mut(output) {
            status.monitor = monitor.map_or(String::new(), |monitor| monitor.name.clone());
            status.size_px = size_px.filter(|_| monitor.is_some()).unwrap_or_default();
        }
    }

    fn set(&self, output: usize, open: Option<OpenWindow>) {
        if let Some(shared) = self.shared(output) {
            *shared.open.lock() = open;
            self.changes.fetch_add(1, Ordering::Release);
        }
    }
}

impl SharedWindow {
    fn refresh_hz(&self) -> f64 {
        match self.refresh_mhz.load(Ordering::Relaxed) {
            0 => DEFAULT_HZ,
            mhz => f64::from(mhz) / 1000.0,
        }
    }

    fn size_px(&self) -> [u32; 2] {
        let packed = self.size_px.load(Ordering::Relaxed);
        [(packed >> 32) as u32, packed as u32]
    }

    fn resize(&self, size: PhysicalSize<u32>) {
        let packed = u64::from(size.width) << 32 | u64::from(size.height);
        self.size_px.store(packed, Ordering::Relaxed);
    }
}

/// Opens the windows and handles their events until the program ends. May be called only once per process, on the main thread,
/// and only if a display answers. `journal` receives faults. `on_key` is called for every key that is pressed, and returns whether it handled the key.
/// Escape and then Q end the program unless `on_key` handled them.
///
/// # Errors
/// When a window cannot be opened, or the display closes the connection.
pub(crate) fn run_windows(
    settings: Vec<WindowSettings>,
    windows: &Arc<SharedWindows>,
    supervisor: &Supervisor,
    on_key: &mut dyn FnMut(&Key) -> bool,
    boards: (&Journal, &NoticeBoard),
) -> anyhow::Result<()> {
    let events = EventLoop::new()?;
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
    wrong_monitor: FaultReporter,
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
                    wrong_monitor: FaultReporter::new("monitor", self.journal),
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
            let refresh_mhz = monitor.refresh_hz.map_or(0, |hz| (1000.0 * hz) as u32);
            shared.refresh_mhz.store(refresh_mhz, Ordering::Relaxed);
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
        let wanted = self.windows.wanted.lock().take();
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

    #[test]
    fn the_frame_rate_limit_follows_the_monitor() {
        let windows = SharedWindows::new(1, Arc::default());
        let hz = 1.0 / windows.min_interval().as_secs_f64();
        assert!((hz - 61.8).abs() < 0.01, "without a window: {hz}");
        let shared = SharedWindow::default();
        assert!(
            (shared.refresh_hz() - 60.0).abs() < 1e-9,
            "a monitor that reports no rate"
        );
        shared.refresh_mhz.store(50_000, Ordering::Relaxed);
        assert!((shared.refresh_hz() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn sizes_can_be_packed_and_unpacked() {
        let shared = SharedWindow::default();
        shared.resize(PhysicalSize::new(7680, 4320));
        assert_eq!(shared.size_px(), [7680, 4320]);
    }
}
