//! The windows: each the whole picture of a projector, on the monitor that it is meant for. Lives on the main thread,
//! which does nothing but pass on what the display says; the pictures themselves are the render thread's.
//!
//! Out: the windows, their sizes and the monitors' rates in [`Windows`], and the stop flag when somebody closes one.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, OwnedDisplayHandle};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Fullscreen, Window, WindowId};

use crate::render::{WindowTarget, WindowTargets};

use super::super::tell;
use super::editing::lock;
use super::monitors::{self, Monitor};
use super::supervise::{Crew, Trouble};

/// How often the main thread looks after the crew and the stop flag.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often it looks whether monitors came or went.
const MONITORS_EVERY: Duration = Duration::from_secs(1);
/// Where a monitor does not say its rate.
const DEFAULT_HZ: f64 = 60.0;
/// The limiter is a little faster than the display: a display that keeps time does so, one that does not is limited.
const LIMITER_LEAD: f64 = 1.03;

/// What an output's window shall be.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowWish {
    /// Name of the monitor; empty for the primary one.
    pub monitor: String,
    /// Over the whole monitor, without border and cursor.
    pub fullscreen: bool,
    /// Size of its inside where it is not.
    pub size_px: [u32; 2],
}

/// What the render thread knows of the windows.
pub struct Windows {
    links: Vec<Arc<Link>>,
    /// How often a window was opened or closed.
    changes: AtomicU64,
    /// The monitors, where somebody looks for them beside the windowing library.
    pub monitors: Mutex<Option<Vec<Monitor>>>,
}

/// What the render thread knows of one output's window.
#[derive(Default)]
struct Link {
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

impl Windows {
    /// None open yet, for so many outputs.
    pub fn new(outputs: usize) -> Arc<Self> {
        Arc::new(Self {
            links: (0..outputs).map(|_| Arc::default()).collect(),
            changes: AtomicU64::new(0),
            monitors: Mutex::default(),
        })
    }

    /// What to draw on, if there is a window.
    pub fn targets(self: &Arc<Self>) -> Option<WindowTargets> {
        let seen = self.changes.load(Ordering::Acquire);
        let (mut windows, mut display) = (Vec::new(), None);
        for (output, link) in self.links.iter().enumerate() {
            let Some(open) = link.lock().clone() else {
                continue;
            };
            let (sized, shown) = (Arc::clone(link), Arc::clone(&open.window));
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

    /// Shortest time between two pictures on all windows: that of the slowest monitor.
    pub fn interval(&self) -> Duration {
        let known = self.links.iter().filter(|link| link.lock().is_some());
        let hz = known.map(|link| link.hz()).min_by(f64::total_cmp);
        let hz = hz.unwrap_or(DEFAULT_HZ).clamp(10.0, 1000.0);
        Duration::from_secs_f64(1.0 / (hz * LIMITER_LEAD))
    }

    fn set(&self, output: usize, open: Option<Open>) {
        if let Some(link) = self.links.get(output) {
            *link.lock() = open;
            self.changes.fetch_add(1, Ordering::Release);
        }
    }
}

impl Link {
    fn hz(&self) -> f64 {
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a window for each wish and passes on what happens to them, until the program ends. To be called on the main
/// thread, once, and only where a display answers. `on_key` is told every key, and says whether it has a meaning; Escape
/// without one ends the program.
///
/// # Errors
/// When the display refuses a window, or goes away.
pub fn run(
    wishes: Vec<WindowWish>,
    windows: &Arc<Windows>,
    crew: &Crew,
    on_key: &mut dyn FnMut(&Key) -> bool,
) -> anyhow::Result<()> {
    let events = EventLoop::new()?;
    let pane = |(output, wish)| Pane {
        output,
        wish,
        window: None,
        placed: None,
        misplaced: Trouble::new("monitor"),
    };
    let mut keeper = Keeper {
        panes: wishes.into_iter().enumerate().map(pane).collect(),
        windows,
        crew,
        on_key,
        display: events.owned_display_handle(),
        failed: None,
        looked: Instant::now(),
    };
    let ended = events.run_app(&mut keeper);
    for pane in &keeper.panes {
        windows.set(pane.output, None);
    }
    if let Some(error) = keeper.failed {
        return Err(error);
    }
    Ok(ended?)
}

/// The windows' side of the display's events.
struct Keeper<'a> {
    panes: Vec<Pane>,
    windows: &'a Arc<Windows>,
    crew: &'a Crew,
    on_key: &'a mut dyn FnMut(&Key) -> bool,
    display: OwnedDisplayHandle,
    failed: Option<anyhow::Error>,
    looked: Instant,
}

/// One output's window.
struct Pane {
    output: usize,
    wish: WindowWish,
    window: Option<Arc<Window>>,
    /// Where the window was put.
    placed: Option<Monitor>,
    misplaced: Trouble,
}

/// Which of the monitors `there` each output is shown on, by the names `wanted`; no two share one. Whoever names a monitor
/// that is there has it; then the primary one and the first ones in order go to those that name none, and at last to those
/// whose monitor is missing.
fn assign(wanted: &[&str], there: &[Monitor]) -> Vec<Option<usize>> {
    let primary = there.iter().position(|monitor| monitor.is_primary);
    let mut free: Vec<usize> = primary.into_iter().collect();
    free.extend((0..there.len()).filter(|&i| primary != Some(i)));
    let mut assigned = vec![None; wanted.len()];
    let mut take = |fits: &dyn Fn(&str) -> bool, on: &dyn Fn(&str, &str) -> bool| {
        for (place, name) in assigned.iter_mut().zip(wanted) {
            let at = |&monitor: &usize| {
                there
                    .get(monitor)
                    .is_some_and(|there| on(name, &there.name))
            };
            if place.is_none() && fits(name) {
                *place = free.iter().position(at).map(|at| free.remove(at));
            }
        }
    };
    take(&|name| !name.is_empty(), &|name, there| name == there);
    take(&str::is_empty, &|_, _| true);
    take(&|_| true, &|_, _| true);
    assigned
}

impl Keeper<'_> {
    /// Opens, closes and moves windows as the monitors that are there want it.
    fn arrange(&mut self, events: &ActiveEventLoop) -> Result<(), winit::error::OsError> {
        let looked_up = lock(&self.windows.monitors).clone();
        let monitors = looked_up.unwrap_or_else(|| monitors::known(events));
        let wanted: Vec<&str> = self
            .panes
            .iter()
            .map(|pane| pane.wish.monitor.as_str())
            .collect();
        let assigned = assign(&wanted, &monitors);
        for (pane, monitor) in self.panes.iter_mut().zip(assigned) {
            let place = monitor.and_then(|i| monitors.get(i));
            pane.tell_misplaced(place, &monitors);
            match place {
                Some(place) => pane.open(events, self.windows, place, &self.display)?,
                None => pane.close(self.windows),
            }
        }
        Ok(())
    }

    fn arrange_or_end(&mut self, events: &ActiveEventLoop) {
        if let Err(error) = self.arrange(events) {
            self.failed = Some(error.into());
            events.exit();
        }
    }
}

impl Pane {
    fn tell_misplaced(&mut self, place: Option<&Monitor>, there: &[Monitor]) {
        let Self { output, wish, .. } = self;
        if place.is_some_and(|p| wish.monitor.is_empty() || p.name == wish.monitor) {
            self.misplaced.over();
            return;
        }
        let lacks = if wish.monitor.is_empty() {
            format!("outputs[{output}]: no monitor is left for it")
        } else {
            let name = &wish.monitor;
            format!("outputs[{output}].monitor = '{name}' is not there")
        };
        let instead = match place {
            Some(place) => format!("'{}' is taken", place.name),
            None => "it is shown as soon as there is one".to_owned(),
        };
        let there: Vec<String> = there.iter().map(Monitor::describe).collect();
        let there = if there.is_empty() {
            "no monitor".to_owned()
        } else {
            there.join(", ")
        };
        self.misplaced
            .happened(&format!("{lacks}; {instead}; connected: {there}"));
    }

    /// Opens the window where there is none, and puts it onto its monitor if it is not there or the monitor has changed.
    fn open(
        &mut self,
        events: &ActiveEventLoop,
        windows: &Windows,
        place: &Monitor,
        display: &OwnedDisplayHandle,
    ) -> Result<(), winit::error::OsError> {
        let Some(link) = windows.links.get(self.output) else {
            return Ok(());
        };
        let fullscreen = self.wish.fullscreen;
        let is_new = self.window.is_none();
        let window = match &self.window {
            Some(window) => Arc::clone(window),
            None => {
                let size_px = if fullscreen {
                    place.size_px
                } else {
                    self.wish.size_px
                };
                let attributes = Window::default_attributes()
                    .with_title("Shoal")
                    // It is shown when its first picture is ready.
                    .with_visible(false)
                    .with_decorations(!fullscreen)
                    .with_inner_size(PhysicalSize::<u32>::from(size_px));
                let window = Arc::new(events.create_window(attributes)?);
                window.set_cursor_visible(!fullscreen);
                link.resize(window.inner_size());
                self.window = Some(Arc::clone(&window));
                window
            }
        };
        if self.placed.as_ref() != Some(place) {
            tell(&format!(
                "monitor: outputs[{}] is shown on {}",
                self.output,
                place.describe()
            ));
            let refresh_mhz = place.refresh_hz.map_or(0, |hz| (1000.0 * hz) as u32);
            link.refresh_mhz.store(refresh_mhz, Ordering::Relaxed);
            if fullscreen {
                // A monitor that the windowing library does not know is covered without its help.
                let known = events.available_monitors().find(|m| place.is(m));
                window.set_fullscreen(known.map(|m| Fullscreen::Borderless(Some(m))));
                // Where no window manager listens, size and position are all that counts.
                window.set_outer_position(PhysicalPosition::<i32>::from(place.position_px));
                if let Some(size) =
                    window.request_inner_size(PhysicalSize::<u32>::from(place.size_px))
                {
                    link.resize(size);
                }
            }
            self.placed = Some(place.clone());
        }
        if is_new {
            let display = display.clone();
            windows.set(self.output, Some(Open { window, display }));
        }
        Ok(())
    }

    /// Gives the window up; it is gone when the render thread has let go of it, too.
    fn close(&mut self, windows: &Windows) {
        if self.window.take().is_some() {
            windows.set(self.output, None);
        }
        self.placed = None;
    }
}

impl ApplicationHandler for Keeper<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        self.arrange_or_end(events);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        let is_it = |pane: &&mut Pane| pane.window.as_ref().is_some_and(|w| w.id() == id);
        let pane = self.panes.iter_mut().find(is_it);
        match event {
            WindowEvent::Resized(size) => {
                if let Some(link) = pane.and_then(|pane| self.windows.links.get(pane.output)) {
                    link.resize(size);
                }
            }
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
                if let Some(pane) = pane {
                    pane.close(self.windows);
                }
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
            self.arrange_or_end(events);
        }
        events.set_control_flow(ControlFlow::wait_duration(LOOK_EVERY));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_monitor_then_the_primary_one_then_the_first() {
        let names = |wanted: &[&str], there: &[&str], primary: &str| -> Vec<String> {
            let monitor = |name: &&str| Monitor {
                name: (*name).to_owned(),
                position_px: [0, 0],
                size_px: [640, 480],
                refresh_hz: None,
                is_primary: *name == primary,
            };
            let there: Vec<Monitor> = there.iter().map(monitor).collect();
            let name = |i: Option<usize>| i.map_or("none".to_owned(), |i| there[i].name.clone());
            assign(wanted, &there).into_iter().map(name).collect()
        };
        let there = ["HDMI-1", "DP-1", "DP-2"];
        assert_eq!(names(&["DP-2"], &there, "DP-1"), ["DP-2"]);
        assert_eq!(names(&[""], &there, "DP-1"), ["DP-1"]);
        assert_eq!(names(&["VGA-1"], &there, "DP-1"), ["DP-1"]);
        assert_eq!(names(&[""], &there, ""), ["HDMI-1"]);
        assert_eq!(names(&["x"], &[], ""), ["none"]);
        // Each on its own, whoever comes first in the file.
        let two = names(&["", "DP-1"], &there, "DP-1");
        assert_eq!(two, ["HDMI-1", "DP-1"]);
        let four = names(&["VGA-1", "", "DP-2", "VGA-2"], &there, "HDMI-1");
        assert_eq!(four, ["DP-1", "HDMI-1", "DP-2", "none"]);
    }

    #[test]
    fn the_limiter_follows_the_monitor() {
        let windows = Windows::new(1);
        let hz = 1.0 / windows.interval().as_secs_f64();
        assert!((hz - 61.8).abs() < 0.01, "without a window: {hz}");
        let link = Link::default();
        assert!(
            (link.hz() - 60.0).abs() < 1e-9,
            "a monitor that says nothing"
        );
        link.refresh_mhz.store(50_000, Ordering::Relaxed);
        assert!((link.hz() - 50.0).abs() < 1e-9);
    }

    #[test]
    fn sizes_survive_their_packing() {
        let link = Link::default();
        link.resize(PhysicalSize::new(7680, 4320));
        assert_eq!(link.size_px(), [7680, 4320]);
    }
}
