//! For how long a visitor has not moved.

use glam::Vec2;

use super::params::TrackingParams;

/// The place of a visitor, and since when it has been there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stillness {
    /// Center of the circle within which the visitor counts as standing still.
    anchor_m: Vec2,
    /// Time at which the visitor came into this circle.
    since_secs: f64,
    /// Last time at which the visitor moved on the spot.
    agitated_secs: f64,
}

impl Stillness {
    pub(super) fn new(position_m: Vec2, now_secs: f64) -> Self {
        Self {
            anchor_m: position_m,
            since_secs: now_secs,
            agitated_secs: now_secs,
        }
    }

    pub(super) fn update(
        &mut self,
        position_m: Vec2,
        agitation_mps: f32,
        now_secs: f64,
        params: &TrackingParams,
    ) {
        if position_m.distance(self.anchor_m) > params.still_radius_m {
            (self.anchor_m, self.since_secs) = (position_m, now_secs);
        }
        if agitation_mps > params.still_agitation_mps {
            self.agitated_secs = now_secs;
        }
    }

    /// Returns for how long the visitor has been at the same place, in seconds.
    pub(super) fn in_place_secs(&self, now_secs: f64) -> f64 {
        now_secs - self.since_secs
    }

    /// Returns the time since the visitor last moved, in seconds: left the place, or moved on the spot.
    pub(super) fn secs(&self, now_secs: f64) -> f64 {
        now_secs - self.since_secs.max(self.agitated_secs)
    }
}
