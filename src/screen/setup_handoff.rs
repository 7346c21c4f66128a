//! Passes the newest render setup from the desk stage to the render stage.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::render::RenderSetup;

/// The newest render setup. Setups are numbered. A snapshot can only be drawn with the setup of its own version, because its
/// agents contain the number of their species in that setup.
#[derive(Debug)]
pub struct SetupHandoff {
    latest: Mutex<NumberedSetup>,
    /// Version of the setup that the screen draws.
    shown_version: AtomicU64,
}

/// A render setup with its numbers.
#[derive(Clone, Debug)]
pub struct NumberedSetup {
    /// Number of the setup.
    version: u64,
    /// Number of the last setup in which more than the outputs changed.
    pub scene_version: u64,
    /// The setup.
    pub setup: RenderSetup,
}

impl SetupHandoff {
    /// Creates a handoff that contains `setup` as version 0.
    pub fn new(setup: RenderSetup) -> Self {
        Self {
            latest: Mutex::new(NumberedSetup {
                version: 0,
                scene_version: 0,
                setup,
            }),
            shown_version: AtomicU64::new(0),
        }
    }

    /// Returns the newest setup, and marks its version as shown.
    pub fn take(&self) -> RenderSetup {
        self.take_numbered().setup
    }

    /// Does the same as [`Self::take`], and returns the numbers too.
    pub fn take_numbered(&self) -> NumberedSetup {
        let latest = self.latest.lock();
        self.shown_version.store(latest.version, Ordering::Release);
        latest.clone()
    }

    /// Returns the version that the screen draws.
    pub fn shown_version(&self) -> u64 {
        self.shown_version.load(Ordering::Acquire)
    }

    /// Replaces the setup. `is_same_scene` says that only the outputs differ from the setup before.
    pub fn replace(&self, version: u64, setup: RenderSetup, is_same_scene: bool) {
        let mut latest = self.latest.lock();
        let scene_version = if is_same_scene {
            latest.scene_version
        } else {
            version
        };
        *latest = NumberedSetup {
            version,
            scene_version,
            setup,
        };
    }
}
