//! Paths of a scene, which agents follow or stay on.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::spline;

/// Number of straight pieces of a smooth path between two of its points.
const PIECES: usize = 8;

/// A path: a tube around a line through several points. The actions `follow_path` and `stay_on_path` name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathParams {
    /// Name of the path.
    pub name: String,
    /// Points in world space, `[x, y, z]` each: at least two.
    #[schemars(inner(inner(range(min = -100.0, max = 100.0))))]
    pub points_m: Vec<[f32; 3]>,
    /// Radius of the tube. An agent within this distance of the line is on the path. Higher: agents spread over a wide road. Lower:
    /// they swim one behind the other on a line.
    #[schemars(range(min = 0.01, max = 50.0))]
    pub radius_m: f32,
    /// Whether the last point is connected to the first.
    pub is_closed: bool,
    /// Whether the line is a smooth curve through the points instead of straight pieces.
    pub is_smooth: bool,
}

impl Default for PathParams {
    fn default() -> Self {
        Self {
            name: String::new(),
            points_m: vec![[-1.0, -0.7, 0.0], [1.0, -0.7, 0.0]],
            radius_m: 0.15,
            is_closed: false,
            is_smooth: true,
        }
    }
}

/// Most points of a path.
const POINTS_MAX: usize = 64;

impl PathParams {
    /// Returns the violated rules, each as (path inside the table of this path, message).
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.name.is_empty() {
            found.push(("name".into(), "the path has no name; add one".into()));
        }
        let count = self.points_m.len();
        if !(2..=POINTS_MAX).contains(&count) {
            found.push((
                "points_m".into(),
                format!("a path has 2 to {POINTS_MAX} points, not {count}"),
            ));
        }
        found
    }
}

/// A compiled path.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenePath {
    /// Name of the path.
    pub name: String,
    /// Corners of the line, in world space.
    pub points_m: Vec<Vec3>,
    /// Radius of the tube.
    pub radius_m: f32,
    /// Whether the last corner is connected to the first.
    pub is_closed: bool,
}

impl ScenePath {
    /// Compiles a path.
    pub fn new(params: &PathParams) -> Self {
        let points: Vec<Vec3> = params.points_m.iter().map(|&point| point.into()).collect();
        let points_m = if params.is_smooth {
            spline(&points, PIECES, params.is_closed)
        } else {
            points
        };
        Self {
            name: params.name.clone(),
            points_m,
            radius_m: params.radius_m,
            is_closed: params.is_closed,
        }
    }
}
