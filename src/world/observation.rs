//! The input of the simulation: the visitors on the surface. The world does not depend on the camera; `app` passes the tracked
//! visitors on.

use serde::{Deserialize, Serialize};

use crate::geometry::Visitor;

/// All visitors on the projected surface at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Time of the observation, on the clock of its camera or recording.
    pub time_secs: f64,
    /// The visitors, in ascending order of ids. Visitors beside the projected surface are not included.
    pub shadows: Vec<Visitor>,
}

impl Observation {
    /// Replaces the visitors by those of a frame that are on the surface, and reuses the memory.
    pub fn update(&mut self, time_secs: f64, visitors: &[Visitor]) {
        self.time_secs = time_secs;
        Visitor::copy_all(&mut self.shadows, visitors.iter().filter(|v| v.on_surface));
    }

    /// Moves each visitor to the position that it will reach in `ahead_secs` at its current velocity. This compensates for the
    /// latency from camera to projector.
    pub fn extrapolate(&mut self, ahead_secs: f32) {
        for visitor in &mut self.shadows {
            let way_m = visitor.velocity_mps * ahead_secs;
            visitor.foot_m += way_m;
            visitor.centroid_m += way_m;
            for corner_m in &mut visitor.outline_m {
                *corner_m += way_m;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    fn visitor(id: u32, on_surface: bool) -> Visitor {
        Visitor {
            id,
            outline_m: vec![Vec2::ZERO, Vec2::X, Vec2::Y],
            on_surface,
            ..Visitor::default()
        }
    }

    #[test]
    fn walking_visitors_are_extrapolated() {
        let walking = Visitor {
            velocity_mps: Vec2::new(1.0, -0.5),
            ..visitor(1, true)
        };
        let now = Observation {
            time_secs: 0.0,
            shadows: vec![walking, visitor(2, true)],
        };
        let mut then = now.clone();
        then.extrapolate(0.1);
        let way_m = Vec2::new(0.1, -0.05);
        let (before, after) = (&now.shadows[0], &then.shadows[0]);
        assert!(after.foot_m.distance(before.foot_m + way_m) < 1e-6);
        assert!(after.centroid_m.distance(before.centroid_m + way_m) < 1e-6);
        assert!(after.outline_m[2].distance(before.outline_m[2] + way_m) < 1e-6);
        // A standing visitor does not move.
        assert_eq!(then.shadows[1], now.shadows[1]);
    }

    #[test]
    fn visitors_beside_the_surface_are_left_out() {
        let mut observed = Observation::default();
        observed.update(
            0.1,
            &[visitor(1, true), visitor(2, false), visitor(5, true)],
        );
        let ids: Vec<_> = observed.shadows.iter().map(|s| s.id).collect();
        assert_eq!(ids, [1, 5]);
    }
}
