//! The window: a projector's whole picture, on the monitor that it is meant for. Lives on the main thread, which does
//! nothing but pass on what the display says; the picture itself is the render thread's.
//!
//! Out: the window, its size and the display's rate in a [`WindowLink`], and the stop flag when somebody closes it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, OwnedDisplayHandle};
use winit::keyboard::{Key, NamedKey};
use winit::monitor::MonitorHandle;
use winit::window::{Fullscreen, Window, WindowId};

use crate::render::WindowTarget;

use super::super::tell;
use super::supervise::{Crew, Trouble};

/// How often the main thread looks after the crew and the stop flag.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often it looks whether monitors came or went.
const MONITORS_EVERY: Duration = Duration::from_secs(1);
/// Where a monitor does not say its rate.
const DEFAULT_HZ: f64 = 60.0;
/// The limiter is a little faster than the display: a display that keeps time does so, one that does not is limited.
const LIMITER_LEAD: f64 = 1.03;

/// What a window shall be.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowWish {
    /// Name of the monitor; empty for the primary one.
    pub monitor: String,
    /// Over the whole monitor, without border and cursor.
    pub fullscreen: bool,
    /// Size of its inside where it is not.
    pub size_px: [u32; 2],
}

/// What the render thread knows of the window.
#[derive(Default)]
pub struct WindowLink {
    open: Mutex<Option<Open>>,
    /// Width in the upper half, height in the lower.
    size_px: AtomicU64,
    /// Refresh rate of its monitor in thousandths of a hertz; 0 when unknown.
    refresh_mhz: AtomicU32,
}

#[derive(Clone)]
struct Open {
    window: Arc<Window>,
    display: OwnedDisplayHandle,
}

impl WindowLink {
    /// What to draw on, if there is a window.
    pub fn target(self: &Arc<Self>) -> Option<WindowTarget> {
        let open = self.lock().clone()?;
        let (link, window) = (Arc::clone(self), Arc::clone(&open.window));
        Some(WindowTarget {
            window: open.window.into(),
            display: Box::new(open.display),
            size_px: Box::new(move || link.size_px()),
            before_first: Box::new(move || window.set_visible(true)),
        })
    }

    /// Shortest time between two pictures on the window's monitor.
    pub fn interval(&self) -> Duration {
        let hz = match self.refresh_mhz.load(Ordering::Relaxed) {
            0 => DEFAULT_HZ,
            mhz => f64::from(mhz) / 1000.0,
        };
        Duration::from_secs_f64(1.0 / (hz.clamp(10.0, 1000.0) * LIMITER_LEAD))
    }

    fn size_px(&self) -> [u32; 2] {
        let packed = self.size_px.load(Ordering::Relaxed);
        [(packed >> 32) as u32, packed as u32]
    }

    fn resize(&self, size: PhysicalSize<u32>) {
        let packed = u64::from(size.width) << 32 | u64::from(size.height);
        self.size_px.store(packed, Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the window and passes on what happens to it, until the program ends. To be called on the main thread, once, and
/// only where a display answers. `on_key` is told every key, and says whether it has a meaning; Escape without one ends the
/// program.
///
/// # Errors
/// When the display refuses the window, or goes away.
pub fn run(
    wish: WindowWish,
    link: &Arc<WindowLink>,
    crew: &Crew,
    on_key: &mut dyn FnMut(&Key) -> bool,
) -> anyhow::Result<()> {
    let events = EventLoop::new()?;
    let mut keeper = Keeper {
        wish,
        link,
        crew,
        on_key,
        display: events.owned_display_handle(),
        window: None,
        placed: None,
        misplaced: Trouble::new("monitor"),
        failed: None,
        looked: Instant::now(),
    };
    let ended = events.run_app(&mut keeper);
    *link.lock() = None;
    if let Some(error) = keeper.failed {
        return Err(error);
    }
    Ok(ended?)
}

/// The window's side of the display's events.
struct Keeper<'a> {
    wish: WindowWish,
    link: &'a Arc<WindowLink>,
    crew: &'a Crew,
    on_key: &'a mut dyn FnMut(&Key) -> bool,
    display: OwnedDisplayHandle,
    window: Option<Arc<Window>>,
    /// Where the window was put.
    placed: Option<Place>,
    misplaced: Trouble,
    failed: Option<anyhow::Error>,
    looked: Instant,
}

/// A monitor as far as the window's place depends on it.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    name: String,
    position: PhysicalPosition<i32>,
    size: PhysicalSize<u32>,
    refresh_mhz: Option<u32>,
}

impl Place {
    fn of(monitor: &MonitorHandle) -> Self {
        Self {
            name: monitor.name().unwrap_or_default(),
            position: monitor.position(),
            size: monitor.size(),
            refresh_mhz: monitor.refresh_rate_millihertz(),
        }
    }

    fn describe(&self) -> String {
        let PhysicalSize { width, height } = self.size;
        let PhysicalPosition { x, y } = self.position;
        let rate = match self.refresh_mhz {
            Some(mhz) => format!("{:.1} Hz", f64::from(mhz) / 1000.0),
            None => format!("unknown rate, {DEFAULT_HZ} Hz taken"),
        };
        format!("'{}' ({width}x{height} px at {x},{y}, {rate})", self.name)
    }
}

/// The monitor of this name, else the primary one, else the first.
fn choose<'m, M>(
    monitors: &'m [M],
    wanted: &str,
    primary: Option<&M>,
    name: impl Fn(&M) -> String,
) -> Option<&'m M>
where
    M: PartialEq,
{
    let named = monitors
        .iter()
        .find(|m| !wanted.is_empty() && name(m) == wanted);
    named
        .or_else(|| monitors.iter().find(|m| Some(*m) == primary))
        .or(monitors.first())
}

impl Keeper<'_> {
    fn open(&mut self, events: &ActiveEventLoop) -> Result<(), winit::error::OsError> {
        let [width, height] = self.wish.size_px;
        let attributes = Window::default_attributes()
            .with_title("Shoal")
            // It is shown when its first picture is ready.
            .with_visible(false)
            .with_decorations(!self.wish.fullscreen)
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes)?);
        window.set_cursor_visible(!self.wish.fullscreen);
        self.link.resize(window.inner_size());
        self.window = Some(Arc::clone(&window));
        self.place(events);
        *self.link.lock() = Some(Open {
            window,
            display: self.display.clone(),
        });
        Ok(())
    }

    /// Puts the window onto its monitor, if it is not there or the monitor has changed.
    fn place(&mut self, events: &ActiveEventLoop) {
        let Some(window) = &self.window else { return };
        let monitors: Vec<MonitorHandle> = events.available_monitors().collect();
        let primary = events.primary_monitor();
        let name = |monitor: &MonitorHandle| monitor.name().unwrap_or_default();
        let Some(monitor) = choose(&monitors, &self.wish.monitor, primary.as_ref(), name) else {
            self.misplaced.happened(&"the display has no monitor");
            return;
        };
        let place = Place::of(monitor);
        if !self.wish.monitor.is_empty() && place.name != self.wish.monitor {
            let there: Vec<String> = monitors.iter().map(|m| Place::of(m).describe()).collect();
            self.misplaced.happened(&format!(
                "outputs.monitor = '{}' is not there; '{}' is taken; there are {}",
                self.wish.monitor,
                place.name,
                there.join(", ")
            ));
        } else {
            self.misplaced.over();
        }
        if self.placed.as_ref() == Some(&place) {
            return;
        }
        tell(&format!("monitor: {}", place.describe()));
        let refresh_mhz = place.refresh_mhz.unwrap_or(0);
        self.link.refresh_mhz.store(refresh_mhz, Ordering::Relaxed);
        if self.wish.fullscreen {
            // Where no window manager listens, size and position are all that counts.
            window.set_outer_position(place.position);
            if let Some(size) = window.request_inner_size(place.size) {
                self.link.resize(size);
            }
            window.set_fullscreen(Some(Fullscreen::Borderless(Some(monitor.clone()))));
        }
        self.placed = Some(place);
    }
}

impl ApplicationHandler for Keeper<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.window.is_none()
            && let Err(error) = self.open(events)
        {
            self.failed = Some(error.into());
            events.exit();
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::Resized(size) => self.link.resize(size),
            WindowEvent::CloseRequested => self.crew.stop().store(true, Ordering::Relaxed),
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed && !event.repeat =>
            {
                let has_meaning = (self.on_key)(&event.logical_key);
                if !has_meaning && event.logical_key == Key::Named(NamedKey::Escape) {
                    self.crew.stop().store(true, Ordering::Relaxed);
                }
            }
            // Somebody took the window away behind our back; it is opened again.
            WindowEvent::Destroyed => {
                *self.link.lock() = None;
                self.window = None;
                self.placed = None;
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        if !self.crew.watch() {
            events.exit();
            return;
        }
        if self.looked.elapsed() > MONITORS_EVERY {
            self.looked = Instant::now();
            if self.window.is_none() {
                self.resumed(events);
            }
            self.place(events);
        }
        events.set_control_flow(ControlFlow::wait_duration(LOOK_EVERY));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_monitor_then_the_primary_one_then_the_first() {
        let monitors = ["HDMI-1", "DP-1", "DP-2"];
        let chosen = |wanted, primary: Option<&'static str>| {
            choose(&monitors, wanted, primary.as_ref(), |m| (*m).to_owned()).copied()
        };
        assert_eq!(chosen("DP-2", Some("DP-1")), Some("DP-2"));
        assert_eq!(chosen("", Some("DP-1")), Some("DP-1"));
        assert_eq!(chosen("VGA-1", Some("DP-1")), Some("DP-1"));
        assert_eq!(chosen("VGA-1", Some("unplugged")), Some("HDMI-1"));
        assert_eq!(chosen("", None), Some("HDMI-1"));
        assert_eq!(choose(&[] as &[&str], "x", None, |m| (*m).to_owned()), None);
    }

    #[test]
    fn the_limiter_follows_the_monitor() {
        let link = WindowLink::default();
        let hz = |link: &WindowLink| 1.0 / link.interval().as_secs_f64();
        assert!((hz(&link) - 61.8).abs() < 0.01);
        link.refresh_mhz.store(50_000, Ordering::Relaxed);
        assert!((hz(&link) - 51.5).abs() < 0.01);
        link.refresh_mhz.store(1, Ordering::Relaxed);
        assert!(hz(&link) > 9.0, "a monitor that says nonsense");
    }

    #[test]
    fn sizes_survive_their_packing() {
        let link = WindowLink::default();
        link.resize(PhysicalSize::new(7680, 4320));
        assert_eq!(link.size_px(), [7680, 4320]);
    }
}
