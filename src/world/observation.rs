//! The visitors as the simulation receives them. The world does not know the camera: `app` converts tracks to observations.

use glam::Vec2;

/// All shadows on the projected surface at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Time of the observation, on the clock of the camera or recording that it comes from.
    pub time_secs: f64,
    /// The shadows by ascending id. Shadows outside the projected surface are not included.
    pub shadows: Vec<Shadow>,
}

/// One visitor's shadow on the projected surface, in floor space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shadow {
    /// Id of the visitor; constant as long as vision follows the visitor.
    pub id: u32,
    /// Centroid of the shadow.
    pub centroid_m: Vec2,
    /// Foot point of the visitor; equals the centroid if unknown.
    pub foot_m: Vec2,
    /// Radius of the circle with the same area.
    pub radius_m: f32,
    /// Velocity on the surface.
    pub velocity_mps: Vec2,
    /// Area of the shadow.
    pub area_m2: f32,
    /// Time since the shadow was first seen.
    pub age_secs: f32,
    /// Time since the shadow last moved.
    pub still_secs: f32,
    /// Corners of the outline in order, at most 64, first not repeated. If empty, the outline is unknown and the circle of
    /// `radius_m` is used instead.
    pub outline_m: Vec<Vec2>,
}
