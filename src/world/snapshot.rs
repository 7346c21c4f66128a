//! What others may see of the pool after a tick: plain data, filled in place so that a steady tick allocates nothing.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Shadow;
use super::overlay::OverlayItem;

/// The visible state after one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Ticks since the start.
    pub tick: u64,
    /// `tick` times the fixed time step.
    pub time_secs: f64,
    /// How many times the pool was changed while it lived: only what knows the species of this revision can read the
    /// agents' species.
    pub revision: u64,
    /// All agents but the shadows, by ascending id.
    pub agents: Vec<AgentPose>,
    /// What broke through the water's surface within the last second.
    pub splashes: Vec<Splash>,
    /// The shadows that the agents reacted to.
    pub shadows: Vec<Shadow>,
    /// Marks that somebody wants to see over the pool; empty unless wished for.
    pub overlay: Vec<OverlayItem>,
}

/// Something that broke through the water's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splash {
    /// Where, world space.
    pub at_m: Vec3,
    /// Speed upwards or downwards.
    pub speed_mps: f32,
    /// How long ago.
    pub age_secs: f32,
}

/// One agent as a picture needs it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentPose {
    /// Stays with an individual, never given twice; an individual's looks are derived from it.
    pub id: u32,
    /// Index into the list of species that the simulation was made with.
    pub species: u16,
    /// Center of the body in world space.
    pub position_m: Vec3,
    /// Unit vector towards the nose.
    pub forward: Vec3,
    /// Unit vector towards the dorsal fin, perpendicular to `forward`.
    pub up: Vec3,
    /// Velocity in world space.
    pub velocity_mps: Vec3,
    /// Signed rate of turning about `up`; positive to the left.
    pub turn_rate_rps: f32,
    /// Change of speed along `forward`.
    pub acceleration_mps2: f32,
    /// 0 at cruise speed, 1 when the full boost speed is allowed.
    pub boost: f32,
    /// Radius of the sphere that stands for the body.
    pub radius_m: f32,
    /// Where it was put back (reinserted, wrapped) in this tick, there is no way between: do not interpolate.
    pub teleported: bool,
}
