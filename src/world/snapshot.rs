//! The public state of the pool after a tick: plain data, filled in place so that a steady tick allocates nothing.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Shadow;
use super::overlay::OverlayItem;

/// The public state after one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Ticks since the start.
    pub tick: u64,
    /// `tick` times the fixed time step.
    pub time_secs: f64,
    /// Number of plan changes since the start. [`AgentPose::species`] refers to the species list of this revision.
    pub revision: u64,
    /// All agents except the visitors, by ascending id.
    pub agents: Vec<AgentPose>,
    /// Splashes of the last second.
    pub splashes: Vec<Splash>,
    /// The shadows that the agents reacted to.
    pub shadows: Vec<Shadow>,
    /// Debug drawing of the requested layers; empty if none is requested.
    pub overlay: Vec<OverlayItem>,
}

/// A fish that broke through the water surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splash {
    /// Position in world space.
    pub at_m: Vec3,
    /// Vertical speed of the fish at the surface, without sign.
    pub speed_mps: f32,
    /// Time since the splash.
    pub age_secs: f32,
}

/// One agent as the renderer needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentPose {
    /// Id of the individual. Constant and never reused; the renderer derives the individual's appearance from it.
    pub id: u32,
    /// Index into the scene's list of species.
    pub species: u16,
    /// Center of the body in world space.
    pub position_m: Vec3,
    /// Unit vector towards the nose.
    pub forward: Vec3,
    /// Unit vector towards the dorsal fin, perpendicular to `forward`.
    pub up: Vec3,
    /// Velocity in world space.
    pub velocity_mps: Vec3,
    /// Signed turn rate about `up`; positive is a turn to the left.
    pub turn_rate_rps: f32,
    /// Acceleration along `forward`.
    pub acceleration_mps2: f32,
    /// Current speed limit: 0 is cruise speed, 1 is full boost speed.
    pub boost: f32,
    /// Radius of the sphere that represents the body.
    pub radius_m: f32,
    /// Whether the agent was moved to a new position in this tick (reinserted or wrapped). If so, do not interpolate between
    /// the positions before and after.
    pub teleported: bool,
}
