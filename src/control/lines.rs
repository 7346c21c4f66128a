//! The JSON lines that `shoal track` writes, and that `shoal simulate` reads and writes.
//!
//! Other tools may rely on these formats: fields can be added, but are never renamed or removed. All lengths are meters on
//! the projected surface (origin in its middle, x along the width, z along the height), all times seconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The tracked shadows in one frame of the camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrackLine {
    /// Number of the frame in the source, counted from 0. Every frame has a line.
    pub frame: u64,
    /// Time stamp of the frame, from the clock of the source.
    pub time_secs: f64,
    /// The tracked shadows, by ascending id.
    pub shadows: Vec<ShadowLine>,
}

/// One tracked shadow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShadowLine {
    /// Id of the visitor; an id is never used again.
    pub id: u32,
    /// x of the centroid of the shadow.
    pub x_m: f64,
    /// z of the centroid of the shadow.
    pub z_m: f64,
    /// Foot point of the visitor, `[x, z]`; the centroid of the shadow if the position of lamp or camera is unknown.
    pub foot_m: [f64; 2],
    /// Radius of a circle with the area of the shadow.
    pub radius_m: f64,
    /// Velocity along x.
    pub vx_mps: f64,
    /// Velocity along z.
    pub vz_mps: f64,
    /// Area of the shadow, in m².
    pub area_m2: f64,
    /// Time since the shadow was first detected.
    pub age_secs: f64,
    /// Time since the visitor last moved.
    pub still_secs: f64,
    /// Outline of the shadow, at most 64 points `[x, z]`; the first point is not repeated at the end.
    pub contour_m: Vec<[f64; 2]>,
    /// Whether the shadow is on the surface. Fish ignore a shadow beside it. Written only if false.
    #[serde(default = "default_true", skip_serializing_if = "is_true")]
    pub on_surface: bool,
}

/// The state of the pool after one tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentsLine {
    /// Number of ticks since the start.
    pub tick: u64,
    /// Simulated time: `tick` times the duration of a tick.
    pub time_secs: f64,
    /// All agents except visitors, by ascending id.
    pub agents: Vec<AgentLine>,
    /// The shadows to which the agents reacted.
    pub shadows: Vec<ShadowLine>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentLine {
    /// Id of the individual; an id is never used again.
    pub id: u32,
    /// Name of its species.
    pub species: String,
    /// Position in world space.
    pub position_m: [f32; 3],
    /// Velocity in world space.
    pub velocity_mps: [f32; 3],
    /// Radius of the sphere that represents the body.
    pub radius_m: f32,
    /// Name of the active need; empty if only the standard need acts.
    pub need: String,
    /// Names of the actions executed in this tick.
    pub actions: Vec<String>,
    /// Share of the boost speed that is allowed: 0 at cruise speed, 1 at full boost speed.
    pub boost: f32,
    /// Steering force of each executed action by its name, in newtons in world space. This is the force after its
    /// weight is applied, but before the forces of the standard need and the active need are combined. If both needs
    /// execute the action, it has one entry with the sum of both forces. Written only with `--why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forces: Option<BTreeMap<String, [f32; 3]>>,
}

fn default_true() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}
