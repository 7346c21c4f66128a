//! The input of the simulation: the visitors' shadows. The world does not depend on the camera; `app` converts tracks to
//! observations.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// All shadows on the projected surface at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Time of the observation, on the clock of its camera or recording.
    pub time_secs: f64,
    /// The shadows, in ascending order of ids. Shadows outside the projected surface are not included.
    pub shadows: Vec<Shadow>,
}

/// One visitor's shadow on the projected surface, in floor space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shadow {
    /// Id of the visitor; constant as long as `vision` follows the visitor.
    pub id: u32,
    /// Centroid of the shadow.
    pub centroid_m: Vec2,
    /// Foot point of the visitor; equals the centroid if unknown.
    pub foot_m: Vec2,
    /// Radius of the circle with the same area as the shadow.
    pub radius_m: f32,
    /// Velocity on the surface.
    pub velocity_mps: Vec2,
    /// Area of the shadow.
    pub area_m2: f32,
    /// Time since the shadow was first seen.
    pub age_secs: f32,
    /// Time since the shadow last moved.
    pub still_secs: f32,
    /// Corners of the outline in order, at most 64. The first corner is not repeated at the end. If empty, the outline is
    /// unknown and the circle with `radius_m` is used instead.
    pub outline_m: Vec<Vec2>,
}
