//! Whether an agent that follows a path makes progress.
//!
//! In: positions and the current corner. Out: whether it is stuck. **Source**: Dahlberg & Viktorsson 2002, §5.2.1.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// If an agent comes no nearer to its corner for this time, it is stuck. Tuned by eye, 2026-11-21.
const STUCK_SECS: f32 = 1.5;
/// An agent within this distance of its corner, in body radii, is never stuck.
const THERE_RADII: f32 = 1.5;

/// Progress of an agent towards the current corner of its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Progress {
    corner: Vec2,
    least_m: f32,
    stuck_secs: f32,
}

impl Progress {
    /// Measures the progress of one tick. Returns true if the agent has come no nearer to the corner for [`STUCK_SECS`]; the
    /// measurement then begins again.
    pub(super) fn is_stuck(&mut self, at: Vec2, corner: Vec2, radius_m: f32, dt_secs: f32) -> bool {
        let distance_m = at.distance(corner);
        if self.corner != corner || distance_m < self.least_m - 0.1 * radius_m {
            *self = Self {
                corner,
                least_m: distance_m,
                stuck_secs: 0.0,
            };
        } else if distance_m > THERE_RADII * radius_m {
            self.stuck_secs += dt_secs;
        }
        let is_stuck = self.stuck_secs > STUCK_SECS;
        if is_stuck {
            *self = Self::default();
        }
        is_stuck
    }

    /// Whether the numbers are valid. They may come from a damaged file.
    pub(super) fn is_sound(&self) -> bool {
        self.corner.is_finite() && self.least_m.is_finite() && self.stuck_secs.is_finite()
    }
}
