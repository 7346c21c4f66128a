//! The public state of the pool after a tick, as plain data. A snapshot is overwritten in place, so that a tick allocates no
//! memory.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::director::{LightShares, SeasonShares, SoundEffect};
use super::overlay::OverlayItem;
use crate::geometry::Visitor;

/// The public state after one tick.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Number of ticks since the pool was created.
    pub tick: u64,
    /// Simulated time: `tick` times the fixed time step.
    pub time_secs: f64,
    /// Number of plan changes since the pool was created. [`AgentPose::species`] refers to the looks of this revision.
    pub revision: u64,
    /// All agents except the visitors, in ascending order of ids.
    pub agents: Vec<AgentPose>,
    /// Splashes of the last second.
    pub splashes: Vec<Splash>,
    /// Catches of the last seconds.
    pub catches: Vec<Catch>,
    /// The shadows that the agents reacted to.
    pub shadows: Vec<Visitor>,
    /// Light of other times of day, which a rule of the director asks for.
    pub light: LightShares,
    /// Other seasons, which a rule of the director asks for.
    pub season: SeasonShares,
    /// Sounds of rules that began in the last tick.
    pub sounds: Vec<SoundEffect>,
    /// Drawing of the requested layers of the overlay; empty if none is requested.
    pub overlay: Vec<OverlayItem>,
    /// Whether the overlay shows the visitors' shadows.
    pub marks_shadows: bool,
}

/// A splash where a fish broke through the water surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splash {
    /// Position in world space.
    pub at_m: Vec3,
    /// Vertical speed of the fish at the surface; never negative.
    pub speed_mps: f32,
    /// Time since the splash.
    pub age_secs: f32,
}

/// A catch: the place and the time at which a hunter has swallowed its prey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catch {
    /// Position in world space.
    pub at_m: Vec3,
    /// Length of the prey.
    pub prey_length_m: f32,
    /// Time since the prey was swallowed.
    pub age_secs: f32,
}

/// The data of one agent that the renderer needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgentPose {
    /// Id of the individual. Constant and never reused; the renderer derives the individual's appearance from it.
    pub id: u32,
    /// Index into the looks of the scene: those of its species, followed by those of named individuals with a look of their own.
    pub species: u16,
    /// Center of the body in world space.
    pub position_m: Vec3,
    /// Unit vector towards the nose.
    pub forward: Vec3,
    /// Unit vector towards the dorsal fin, perpendicular to `forward`.
    pub up: Vec3,
    /// Velocity in world space.
    pub velocity_mps: Vec3,
    /// Turn rate about `up` in rad/s; positive is a turn to the left.
    pub turn_rate_rps: f32,
    /// Acceleration along `forward`.
    pub acceleration_mps2: f32,
    /// Current speed limit on a scale from 0 (cruise speed) to 1 (full boost speed).
    pub boost: f32,
    /// Phase of the fast start, see [`super::FastStart`].
    pub start_phase: f32,
    /// Angle by which the bend of the fast start turns the body; positive to the left.
    pub start_bend_rad: f32,
    /// Radius of the sphere that represents the body.
    pub radius_m: f32,
    /// Whether the agent was moved to a new position in this tick instead of swimming there. If so, the renderer must not
    /// interpolate between the positions before and after this tick.
    pub teleported: bool,
    /// Share of the body that a hunter has swallowed: 0 for a free agent, rising to 1 while it is swallowed, and 1 until it
    /// returns to the pool.
    pub swallowed: f32,
}
