//! A visitor as another program reports it.

use glam::Vec2;

/// A visitor at one time, as a tracker outside of Shoal sees it, in floor space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sighting {
    /// Number of the visitor, unique among all sightings of one time. The tracker can use it again for another visitor.
    pub key: u64,
    /// Where the visitor is.
    pub position_m: Vec2,
    /// Width and depth of the body along its own axes; zero if they are unknown.
    pub size_m: Vec2,
    /// Angle from the x axis of the floor to the width, towards z, in radians.
    pub angle: f32,
}
