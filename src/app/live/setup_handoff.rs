//! Passes the newest render setup from the desk stage to the render stage.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::render::RenderSetup;
use crate::site::Site;

/// The newest render setup. Setups are numbered. A snapshot can only be drawn with the setup of its own version, because its
/// agents contain the number of their species in that setup.
#[derive(Debug)]
pub struct SetupHandoff {
    latest: Mutex<(u64, RenderSetup)>,
    shown_version: Arc<AtomicU64>,
}

impl SetupHandoff {
    /// Creates a handoff that contains `setup` as version 0. `shown_version` receives the version that the screen draws.
    pub fn new(setup: RenderSetup, shown_version: Arc<AtomicU64>) -> Self {
        Self {
            latest: Mutex::new((0, setup)),
            shown_version,
        }
    }

    /// Returns the newest setup, and marks its version as shown.
    pub fn take(&self) -> RenderSetup {
        let latest = self.latest.lock();
        self.shown_version.store(latest.0, Ordering::Release);
        latest.1.clone()
    }

    pub(super) fn replace(&self, version: u64, setup: RenderSetup) {
        *self.latest.lock() = (version, setup);
    }
}

/// Builds the render setup of a site.
pub type SetupBuilder = Box<dyn Fn(Site) -> RenderSetup + Send>;
