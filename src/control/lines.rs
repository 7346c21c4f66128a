//! The JSON lines that `shoal track` writes, and that `shoal simulate` reads and writes.
//!
//! Other tools may rely on these formats: fields can be added, but are never renamed or removed. All lengths are meters on
//! the projected surface (origin in its middle, x along the width, z along the height), all times seconds.

use std::collections::BTreeMap;

use glam::Vec2;
use serde::{Deserialize, Serialize};

use crate::geometry::Visitor;

/// The tracked shadows in one frame of the camera.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrackLine {
    /// Number of the frame in the source, counted from 0. Every frame has a line.
    pub frame: u64,
    /// Time stamp of the frame, from the clock of the source.
    pub time_secs: f64,
    /// The tracked shadows, by ascending id.
    pub shadows: Vec<VisitorLine>,
    /// What the tracker decided in this frame, in this order. Written only with `--why`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<TrackEventLine>,
}

/// One decision of the tracker about one track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackEventLine {
    /// Name of the decision.
    pub event: String,
    /// Number of the followed body. It stays with the body if ids are exchanged.
    pub body: u32,
    /// Id of the track after the decision. A track that is not published has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// Id of the other track in the decision, after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_id: Option<u32>,
    /// Foot point of the track, `[x, z]`.
    pub foot_m: [f64; 2],
    /// What was measured for the decision.
    pub reason: String,
    /// The measured value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// The limit with which the value was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Unit of both; empty for numbers and shares.
    pub unit: String,
    /// Number of the blob in this frame in which the track was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<usize>,
    /// Whether that blob belongs to another track.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Cost at which the blob was assigned to the track; of a candidate that began, at which it would have been assigned to the other
    /// track. More than `tracking.gate_m` is too much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_m: Option<f64>,
    /// Area that the track alone explains in its group in this frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained_m2: Option<f64>,
    /// Distance between the position that the group fit found in this frame and the predicted one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_m: Option<f64>,
    /// Of a relocated track: its old place, `[x, z]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_m: Option<[f64; 2]>,
    /// Of a relocated track: the area that it alone explained at its old place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_explained_m2: Option<f64>,
    /// Of a relocated track: the area that the other track alone explains, which explains the next least in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_explained_m2: Option<f64>,
}

/// One tracked visitor with its shadow. Values are rounded to 0.1 mm and 0.1 ms; further digits are noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitorLine {
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
    /// Agitation: mean speed at which the outline moves, in m/s. Written only if it is not 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub agitation_mps: f64,
    /// Outline of the shadow, at most 64 points `[x, z]`; the first point is not repeated at the end.
    pub contour_m: Vec<[f64; 2]>,
    /// Whether the shadow is on the surface. Fish ignore a shadow beside it. Written only if false.
    #[serde(default = "default_true", skip_serializing_if = "is_true")]
    pub on_surface: bool,
}

impl From<&Visitor> for VisitorLine {
    fn from(visitor: &Visitor) -> Self {
        let pair = |p: Vec2| [rounded(f64::from(p.x)), rounded(f64::from(p.y))];
        let [x_m, z_m] = pair(visitor.centroid_m);
        let [vx_mps, vz_mps] = pair(visitor.velocity_mps);
        Self {
            id: visitor.id,
            x_m,
            z_m,
            foot_m: pair(visitor.foot_m),
            radius_m: rounded(f64::from(visitor.radius_m)),
            vx_mps,
            vz_mps,
            area_m2: rounded(f64::from(visitor.area_m2)),
            age_secs: rounded(visitor.age_secs),
            still_secs: rounded(visitor.still_secs),
            agitation_mps: rounded(f64::from(visitor.agitation_mps)),
            contour_m: visitor.outline_m.iter().copied().map(pair).collect(),
            on_surface: visitor.on_surface,
        }
    }
}

impl From<&VisitorLine> for Visitor {
    fn from(line: &VisitorLine) -> Self {
        let point = |[x, z]: [f64; 2]| Vec2::new(x as f32, z as f32);
        Self {
            id: line.id,
            centroid_m: point([line.x_m, line.z_m]),
            foot_m: point(line.foot_m),
            radius_m: line.radius_m as f32,
            velocity_mps: point([line.vx_mps, line.vz_mps]),
            area_m2: line.area_m2 as f32,
            age_secs: line.age_secs,
            still_secs: line.still_secs,
            agitation_mps: line.agitation_mps as f32,
            outline_m: line.contour_m.iter().copied().map(point).collect(),
            on_surface: line.on_surface,
        }
    }
}

impl TrackLine {
    /// Returns the line of a frame.
    pub fn new(frame: u64, time_secs: f64, visitors: &[Visitor]) -> Self {
        Self {
            frame,
            time_secs: (time_secs * 1e6).round() / 1e6,
            shadows: visitors.iter().map(VisitorLine::from).collect(),
            events: Vec::new(),
        }
    }
}

/// Rounds to four decimals. Never returns −0, which JSON would show with its sign.
pub fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
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
    pub shadows: Vec<VisitorLine>,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentLine {
    /// Id of the individual; an id is never used again.
    pub id: u32,
    /// Name of its species.
    pub species: String,
    /// Name of the individual, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The groups that it belongs to: those of its species and its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
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
    /// Whether it has another mind for a time, by `override_mind`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_other_mind: bool,
    /// Steering force of each executed action by its name, in newtons in world space. This is the force after its
    /// weight is applied, but before the forces of the standard need and the active need are combined. If both needs
    /// execute the action, it has one entry with the sum of both forces. Written only with `--why`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forces: Option<BTreeMap<String, [f32; 3]>>,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

fn default_true() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_rounded_mark_visitors_beside_the_surface_and_are_read_back() {
        let visitor = |id, on_surface| Visitor {
            id,
            centroid_m: Vec2::new(0.123_456, -0.000_01),
            foot_m: Vec2::new(1.0, 2.0),
            outline_m: vec![Vec2::ZERO, Vec2::X, Vec2::Y],
            on_surface,
            ..Visitor::default()
        };
        let line = TrackLine::new(3, 0.1, &[visitor(1, true), visitor(2, false)]);
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.contains(r#""frame":3,"time_secs":0.1"#), "{text}");
        assert!(text.contains(r#""x_m":0.1235,"z_m":0.0,"#), "{text}");
        assert_eq!(text.matches("on_surface").count(), 1);
        let read = Visitor::from(&line.shadows[1]);
        let rounded = Visitor {
            centroid_m: Vec2::new(0.1235, 0.0),
            ..visitor(2, false)
        };
        assert_eq!(read, rounded);
    }
}
