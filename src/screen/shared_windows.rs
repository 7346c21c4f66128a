//! The state of the windows that main thread and render stage share: settings, sizes, refresh rates, monitors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use winit::dpi::PhysicalSize;
use winit::event_loop::OwnedDisplayHandle;
use winit::window::Window;

use super::board::ScreenBoard;
use super::monitors::Monitor;
use crate::control::OutputStatus;
use crate::render::{WindowTarget, WindowTargets};

/// Refresh rate in Hz that is assumed for a monitor that does not report one.
const DEFAULT_HZ: f64 = 60.0;
/// Frame rate limit as a multiple of the refresh rate. It is slightly above 1: a display with vertical sync is slower than the
/// limit and sets the pace, so the limit only affects a display without vertical sync.
const LIMIT_FACTOR: f64 = 1.03;

/// Settings of the window of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowSettings {
    /// Name of the monitor; empty for the primary monitor.
    pub monitor: String,
    /// Whether the window covers the whole monitor, without border and cursor.
    pub fullscreen: bool,
    /// Inner size in pixels if the window is not fullscreen.
    pub size_px: [u32; 2],
}

/// The state of the windows that the render stage can access.
pub struct SharedWindows {
    outputs: RwLock<Vec<Arc<SharedWindow>>>,
    /// Settings that the main thread has not applied yet.
    wanted: Mutex<Option<Vec<WindowSettings>>>,
    /// Monitors and sizes, for the status.
    screen: Arc<ScreenBoard>,
    /// Number of times a window was opened or closed.
    changes: AtomicU64,
    /// Monitors found by [`super::watch_monitors`]; `None` on systems where the windowing library itself finds new monitors.
    pub monitors: Mutex<Option<Vec<Monitor>>>,
}

/// The state of one output's window that the render stage can access.
#[derive(Default)]
pub(super) struct SharedWindow {
    open: Mutex<Option<OpenWindow>>,
    /// Inner size in pixels: width in the upper 32 bits, height in the lower 32 bits.
    size_px: AtomicU64,
    /// Refresh rate of the monitor in millihertz; 0 if unknown.
    refresh_mhz: AtomicU32,
}

#[derive(Clone)]
pub(super) struct OpenWindow {
    pub(super) window: Arc<Window>,
    pub(super) display: OwnedDisplayHandle,
}

impl SharedWindows {
    /// Creates the shared state for `outputs` outputs, without open windows.
    pub fn new(outputs: usize, screen: Arc<ScreenBoard>) -> Arc<Self> {
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
    pub fn targets(self: &Arc<Self>) -> Option<WindowTargets> {
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

    /// Describes the open screen for the status: outputs, graphics adapter and driver in one line.
    pub(super) fn describe_screen(&self, description: String, is_by_processor: bool) {
        *self.screen.description.lock() = description;
        (self.screen.is_by_processor).store(is_by_processor, Ordering::Relaxed);
        self.screen.set_missing("");
    }

    /// Returns the shortest time between two pictures. It follows from the refresh rate of the slowest monitor with a window.
    pub fn min_interval(&self) -> Duration {
        let outputs = self.outputs.read();
        let open = outputs.iter().filter(|shared| shared.open.lock().is_some());
        let hz = open
            .map(|shared| shared.refresh_hz())
            .min_by(f64::total_cmp);
        let hz = hz.unwrap_or(DEFAULT_HZ).clamp(10.0, 1000.0);
        (self.screen.wanted_mhz).store((hz * 1000.0) as u32, Ordering::Relaxed);
        Duration::from_secs_f64(1.0 / (hz * LIMIT_FACTOR))
    }

    pub(super) fn shared(&self, output: usize) -> Option<Arc<SharedWindow>> {
        self.outputs.read().get(output).map(Arc::clone)
    }

    /// Requests other windows. The main thread opens, closes and moves them.
    pub fn want(&self, settings: Vec<WindowSettings>) {
        *self.wanted.lock() = Some(settings);
    }

    /// Returns the requested windows once; `None` if none were requested since.
    pub(super) fn take_wanted(&self) -> Option<Vec<WindowSettings>> {
        self.wanted.lock().take()
    }

    /// Changes the number of outputs.
    pub(super) fn resize(&self, outputs: usize) {
        self.outputs.write().resize_with(outputs, Arc::default);
        self.screen
            .outputs
            .lock()
            .resize_with(outputs, OutputStatus::default);
    }

    /// Updates the status of an output: the monitor and the size of its window.
    pub(super) fn report(&self, output: usize, monitor: Option<&Monitor>) {
        let size_px = self.shared(output).map(|shared| shared.size_px());
        if let Some(status) = self.screen.outputs.lock().get_mut(output) {
            status.monitor = monitor.map_or(String::new(), |monitor| monitor.name.clone());
            status.size_px = size_px.filter(|_| monitor.is_some()).unwrap_or_default();
        }
    }

    pub(super) fn set(&self, output: usize, open: Option<OpenWindow>) {
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

    pub(super) fn set_refresh_rate(&self, hz: Option<f64>) {
        let refresh_mhz = hz.map_or(0, |hz| (1000.0 * hz) as u32);
        self.refresh_mhz.store(refresh_mhz, Ordering::Relaxed);
    }

    pub(super) fn resize(&self, size: PhysicalSize<u32>) {
        let packed = u64::from(size.width) << 32 | u64::from(size.height);
        self.size_px.store(packed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_rate_limit_follows_the_monitor() {
        let windows = SharedWindows::new(1, Arc::default());
        let hz = 1.0 / windows.min_interval().as_secs_f64();
        assert!((hz - 61.8).abs() < 0.01, "without a window: {hz}");
        let shared = SharedWindow::default();
        // A monitor that reports no rate.
        assert!((shared.refresh_hz() - 60.0).abs() < 1e-9);
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
