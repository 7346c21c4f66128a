//! What the render stage draws: the snapshots before and after a tick.

use std::time::{Duration, Instant};

use crate::world::Snapshot;

/// The snapshots before and after the newest tick, with the timing of the tick. This is the input of the render stage.
#[derive(Clone, Debug)]
pub struct SnapshotPair {
    /// Snapshot before the tick.
    pub before: Snapshot,
    /// Snapshot after the tick.
    pub after: Snapshot,
    /// Scheduled time of the tick; `after` is the state at this time.
    pub due: Instant,
    /// Duration of one tick.
    pub tick: Duration,
    /// Time of arrival of the camera frame whose observation this tick used; `None` if there was none.
    pub frame_at: Option<Instant>,
    /// Version of the render setup that can draw these snapshots (see [`super::SetupHandoff`]).
    pub setup_version: u64,
}

impl Default for SnapshotPair {
    fn default() -> Self {
        Self {
            before: Snapshot::default(),
            after: Snapshot::default(),
            due: Instant::now(),
            tick: Duration::ZERO,
            frame_at: None,
            setup_version: 0,
        }
    }
}

impl SnapshotPair {
    /// Returns the position of the picture at `now` between the two snapshots, from 0 (before) to 1 (after). The picture is one
    /// tick late, so that both snapshots are known.
    pub fn alpha(&self, now: Instant) -> f32 {
        let since_secs = now.saturating_duration_since(self.due).as_secs_f32();
        let tick_secs = self.tick.as_secs_f32();
        if tick_secs > 0.0 {
            (since_secs / tick_secs).min(1.0)
        } else {
            1.0
        }
    }
}
