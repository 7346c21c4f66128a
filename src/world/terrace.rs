//! Parameters of terraces (basins at different heights in one pool) and of leaps between them.

use glam::Vec2;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{nearest_on_segment, signed_area};

/// One of several basins at different heights. A fish that cannot leap stays in its terrace or drops to a lower one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TerraceParams {
    /// Corners of the outline in order, `[x, z]` each.
    #[schemars(inner(inner(range(min = -100.0, max = 100.0))))]
    pub outline_m: Vec<[f32; 2]>,
    /// Depth of the terrace's water surface below the picture plane. The highest terrace has the smallest depth. Higher: a low
    /// terrace; fish need a high leap to leave it upwards. Lower: a high terrace, from which water falls.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub surface_depth_m: f32,
    /// Depth of the terrace's ground below the picture plane. Higher: more room for fish to swim at different depths. Lower: a flat
    /// basin, in which all swim in one layer.
    #[schemars(range(min = 0.05, max = 50.0))]
    pub ground_depth_m: f32,
}

impl Default for TerraceParams {
    fn default() -> Self {
        Self {
            outline_m: vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
            surface_depth_m: 0.3,
            ground_depth_m: 1.0,
        }
    }
}

/// Returns the edge of the terrace at `index` that is farthest from all other terraces, as its two ends in floor meters. There, the
/// water enters the highest terrace and leaves the lowest one. `None` if there is no such terrace.
pub fn far_edge(terraces: &[TerraceParams], index: usize) -> Option<(Vec2, Vec2)> {
    let way_m = |&(a, b): &(Vec2, Vec2)| {
        let middle = (a + b) / 2.0;
        let others = terraces.iter().enumerate().filter(|(at, _)| *at != index);
        others
            .flat_map(|(_, other)| other.edges())
            .map(|(from, to)| {
                let at = middle.extend(0.0);
                nearest_on_segment(from.extend(0.0), to.extend(0.0), at).distance(at)
            })
            .fold(f32::INFINITY, f32::min)
    };
    let edges = terraces.get(index)?.edges();
    edges.max_by(|a, b| way_m(a).total_cmp(&way_m(b)))
}

impl TerraceParams {
    /// Returns the corners of the outline, in floor meters.
    pub fn corners(&self) -> Vec<Vec2> {
        self.outline_m.iter().map(|&at| at.into()).collect()
    }

    /// Returns the edges of the outline, each as its two ends in floor meters.
    pub fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> + Clone + '_ {
        let corners = &self.outline_m;
        let next = |index: usize| corners[(index + 1) % corners.len()];
        (0..corners.len()).map(move |index| (corners[index].into(), next(index).into()))
    }

    /// Returns the mean position of the corners.
    pub fn middle_m(&self) -> Vec2 {
        let sum: Vec2 = self.outline_m.iter().map(|&at| Vec2::from(at)).sum();
        sum / self.outline_m.len().max(1) as f32
    }

    /// Returns the lowest and the highest y for the center of a body of this radius. If the terrace is shallower than the body,
    /// both are the middle height of the terrace.
    pub fn y_range_m(&self, radius_m: f32) -> (f32, f32) {
        let low = -self.ground_depth_m + radius_m;
        let high = -self.surface_depth_m - radius_m;
        if low <= high {
            return (low, high);
        }
        let middle = -(self.ground_depth_m + self.surface_depth_m) / 2.0;
        (middle, middle)
    }

    /// Returns the violated rules, each as (path inside this table, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let area = signed_area(&self.corners()).abs();
        if self.outline_m.len() < 3 || area.is_nan() || area < 1e-3 {
            found.push((
                "outline_m".into(),
                "outline_m has no area; give at least three corners that are not in one line"
                    .into(),
            ));
        }
        if self.ground_depth_m <= self.surface_depth_m {
            found.push((
                "ground_depth_m".into(),
                format!(
                    "ground_depth_m = {} must be greater than surface_depth_m = {}; make the terrace deeper",
                    self.ground_depth_m, self.surface_depth_m
                ),
            ));
        }
        found
    }
}

/// A species' ability to leap to a higher terrace. Every species can drop to a lower one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LeapParams {
    /// Maximum height difference between two water surfaces for a leap. Higher: leaps up high falls. Lower: only over low steps; 0:
    /// the species cannot leap.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub height_m: f32,
    /// Maximum speed at take-off from the water. Higher: leaps high and far. Lower: only over low and near edges, the others stay
    /// closed.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub take_off_mps: f32,
    /// Minimum swimming speed before take-off. Higher: sprints before each leap; above its boost speed it never leaps. Lower: leaps
    /// almost from rest.
    #[schemars(range(min = 0.0, max = 50.0))]
    pub run_up_mps: f32,
    /// Minimum time between a landing and the next leap. Higher: rests on each terrace. Lower: leaps up several falls in a row.
    #[schemars(range(min = 0.0, max = 3600.0))]
    pub cooldown_secs: f32,
}

impl Default for LeapParams {
    fn default() -> Self {
        Self {
            height_m: 0.0,
            take_off_mps: 6.0,
            run_up_mps: 0.5,
            cooldown_secs: 5.0,
        }
    }
}
