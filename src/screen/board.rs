//! What the stages know of the screen: outputs, graphics adapter, and why there is no display.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::control::OutputStatus;

/// The screen, as the stages with access to it describe it.
#[derive(Debug, Default)]
pub struct ScreenBoard {
    /// Monitor and size of each output.
    pub outputs: Mutex<Vec<OutputStatus>>,
    /// Outputs, graphics adapter and driver in one line; empty before the first picture.
    pub description: Mutex<String>,
    /// Why there is no display; empty if there is one, or if it is not known yet.
    missing: Mutex<String>,
    is_wanted: AtomicBool,
    /// Whether the processor draws the picture, because there is no graphics driver.
    pub(super) is_by_processor: AtomicBool,
    /// Refresh rate of the slowest monitor with a window in millihertz; 0 before the first picture.
    pub(super) wanted_mhz: AtomicU32,
}

impl ScreenBoard {
    /// Remembers that a picture is to be shown.
    pub fn want(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Whether a picture is to be shown.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
    }

    /// Remembers why there is no display; an empty text if there is one.
    pub fn set_missing(&self, reason: &str) {
        reason.clone_into(&mut self.missing.lock());
    }

    /// Returns why there is no display; empty if there is one, or if it is not known yet.
    pub fn missing(&self) -> String {
        self.missing.lock().clone()
    }

    /// Whether the processor draws the picture, because there is no graphics driver.
    pub fn is_by_processor(&self) -> bool {
        self.is_by_processor.load(Ordering::Relaxed)
    }

    /// Returns the pictures per second that the monitors can show; 0 before the first picture.
    pub fn wanted_fps(&self) -> f64 {
        f64::from(self.wanted_mhz.load(Ordering::Relaxed)) / 1000.0
    }
}
