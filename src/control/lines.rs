//! One JSON object a line: what `shoal track` writes and what `shoal simulate` reads and writes.
//!
//! The formats are fixed so that other tools can rely on them; a field is only ever added. All lengths are meters on
//! the projected surface (origin in its middle, x along the width, z along the height), all times seconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Everything seen in one frame of the camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrackLine {
    /// Frame of the source, counted from 0. Every frame that was read has its line.
    pub frame: u64,
    /// Time stamp of that frame, from the source's own clock.
    pub time_secs: f64,
    /// The shadows in it, by ascending id; empty when nobody is there.
    pub shadows: Vec<ShadowLine>,
}

/// One tracked shadow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShadowLine {
    /// Stays with a visitor; never given twice.
    pub id: u32,
    /// Centroid of the shadow along the surface's width.
    pub x_m: f64,
    /// Centroid of the shadow along the surface's height.
    pub z_m: f64,
    /// Where the visitor stands, `[x, z]`; the centroid where lamp and camera positions are unknown.
    pub foot_m: [f64; 2],
    /// Radius of the circle of the same area.
    pub radius_m: f64,
    /// Velocity along the width.
    pub vx_mps: f64,
    /// Velocity along the height.
    pub vz_mps: f64,
    /// Area of the shadow.
    pub area_m2: f64,
    /// Time since the shadow was first seen.
    pub age_secs: f64,
    /// Time since it last moved.
    pub still_secs: f64,
    /// Outline, at most 64 points `[x, z]`, not closed.
    pub contour_m: Vec<[f64; 2]>,
    /// False for a shadow beside the surface, which is nobody for the fish. Written only when false.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub on_surface: bool,
}

/// The state of the pool after one tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentsLine {
    /// Ticks since the start.
    pub tick: u64,
    /// `tick` times the fixed time step.
    pub time_secs: f64,
    /// All agents but the shadows, by ascending id.
    pub agents: Vec<AgentLine>,
    /// The shadows that the agents reacted to.
    pub shadows: Vec<ShadowLine>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentLine {
    /// Stays with an individual; never given twice.
    pub id: u32,
    /// Name of its species.
    pub species: String,
    /// Position in world space.
    pub position_m: [f32; 3],
    /// Velocity in world space.
    pub velocity_mps: [f32; 3],
    /// Radius of the sphere that stands for its body.
    pub radius_m: f32,
    /// Name of the active need; empty when only the standard need acts.
    pub need: String,
    /// Names of the actions that were executed in this tick.
    pub actions: Vec<String>,
    /// 0 at cruise speed, 1 when the full boost speed is allowed.
    pub boost: f32,
    /// Why, where that was asked for (`--why`): the steering force of each executed action by its name, in newtons in
    /// world space, after its weight and before standard and active need were put together. An action of both needs
    /// counts once. Written only when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forces: Option<BTreeMap<String, [f32; 3]>>,
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}
