//! A path query on a grid: the request of an action, together with the body and the water of the agent.

use glam::{Vec2, Vec3};

use super::local::FloorRect;
use crate::geometry::Solid;
use crate::navigation::footprint::Footprints;
use crate::navigation::request::PathRequest;

/// Time after which the path to a fixed goal is searched again, so that no agent stays stuck.
pub(super) const FIXED_REPLAN_SECS: f32 = 20.0;
/// Shortest and longest time after which the path to a moving goal is searched again. The time is shorter for a nearer
/// goal.
const MOVING_REPLAN_SECS: (f32, f32) = (0.25, 5.0);
/// Longest time for which the motion of a goal is predicted. Tuned by eye, 2026-11-21.
const LEAD_SECS: f32 = 1.0;

/// The path query of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridQuery {
    /// Number of the path; no other path has the same one.
    pub id: u64,
    /// Species of the agent. It selects the cost layer.
    pub species: u16,
    /// Factor on the costs of dangerous water: above 1 for a shy agent, below 1 for a bold one.
    pub caution: f32,
    /// Position of the agent.
    pub at_m: Vec3,
    /// Radius of the agent.
    pub radius_m: f32,
    /// Area in which the agent may be, (x, z).
    pub bounds: FloorRect,
    /// The request of the action.
    pub request: PathRequest,
}

impl GridQuery {
    /// Side length of a grid cell: half of the agent's diameter.
    pub(super) fn cell_m(&self) -> f32 {
        self.radius_m.max(0.01)
    }

    /// Returns the lowest and the highest y that the agent's body covers on its path.
    pub(super) fn height_band(&self) -> (f32, f32) {
        let (a, b) = (self.at_m.y, self.request.goal.position_m.y);
        // The band is rounded outwards, so that small changes in height do not require a new grid.
        let step = self.radius_m.max(0.01);
        let low = ((a.min(b) - self.radius_m) / step).floor() * step;
        let high = ((a.max(b) + self.radius_m) / step).ceil() * step;
        (low, high)
    }

    /// Writes to `out` the footprints of the obstacles within the height band.
    pub(super) fn footprints(&self, solids: &[Solid], out: &mut Footprints) {
        let (low, high) = self.height_band();
        out.clear();
        out.push_solids(solids, low, high);
    }

    /// Returns the predicted position of the goal at the time when the agent arrives.
    pub(super) fn predicted_goal(&self) -> Vec2 {
        let goal = &self.request.goal;
        if !goal.is_moving {
            return flat(goal.position_m);
        }
        let distance_m = goal.position_m.distance(self.at_m);
        let secs = (distance_m / self.request.speed_mps.max(0.05)).min(LEAD_SECS);
        flat(goal.position_m + goal.velocity_mps * secs)
            .clamp(self.bounds.low_m, self.bounds.high_m)
    }

    /// Returns the time after which the path is searched again even if the goal has not moved.
    pub(super) fn replan_secs(&self) -> f32 {
        let goal = &self.request.goal;
        if !goal.is_moving {
            return FIXED_REPLAN_SECS;
        }
        let distance_m = goal.position_m.distance(self.at_m);
        (0.5 * distance_m / self.request.speed_mps.max(0.05))
            .clamp(MOVING_REPLAN_SECS.0, MOVING_REPLAN_SECS.1)
    }
}

/// Projection of a position onto the floor, (x, z).
pub(super) fn flat(at: Vec3) -> Vec2 {
    Vec2::new(at.x, at.z)
}
