//! What the pool is told of its visitors. The world never meets the camera: `app` turns tracks into observations.

use glam::Vec2;

/// All shadows on the surface at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Time of the observation on the clock of whoever made it.
    pub time_secs: f64,
    /// The shadows, by ascending id. Those beside the surface are left out before they come here.
    pub shadows: Vec<Shadow>,
}

/// One visitor's shadow on the projected surface, in floor space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shadow {
    /// Stays with a visitor.
    pub id: u32,
    /// Middle of the shadow.
    pub centroid_m: Vec2,
    /// Where the visitor stands; the centroid when unknown.
    pub foot_m: Vec2,
    /// Radius of the circle of the same area.
    pub radius_m: f32,
    /// Velocity over the floor.
    pub velocity_mps: Vec2,
    /// Area.
    pub area_m2: f32,
    /// Time since it was first seen.
    pub age_secs: f32,
    /// Time since it last moved.
    pub still_secs: f32,
    /// Outline in order, at most 64 corners, not closed; empty when unknown (then the circle counts).
    pub outline_m: Vec<Vec2>,
}
