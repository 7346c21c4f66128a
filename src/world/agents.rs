//! The living agents as a structure of arrays, and the compiled numbers of their species.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::avoidance::Avoidance;
use super::body::{BodyParams, FlockParams, MotionParams, PerceptionParams};
use super::relations::Relations;

/// All living agents. Arrays of equal length; the place in them is the agent's index, its id stays with it for ever.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agents {
    /// Ids, ascending.
    pub ids: Vec<u32>,
    /// Index into the list of species.
    pub species: Vec<u16>,
    /// Bits of the names it bears.
    pub name_bits: Vec<u64>,
    /// Size against its species' body.
    pub size_factors: Vec<f32>,
    /// Radius of the sphere that stands for its body.
    pub radii_m: Vec<f32>,
    /// How it moves.
    pub bodies: Vec<Body>,
}

impl Agents {
    /// Number of agents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// The moving state of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Center in world space.
    pub position_m: Vec3,
    /// Velocity.
    pub velocity_mps: Vec3,
    /// Unit vector towards the nose.
    pub forward: Vec3,
    /// Unit vector towards the dorsal fin, perpendicular to `forward`.
    pub up: Vec3,
    /// Signed rate of turning about `up`; positive to the left.
    pub turn_rate_rps: f32,
    /// Change of speed along `forward`.
    pub acceleration_mps2: f32,
    /// What it is about, for others that go by that.
    pub intent: Intent,
    /// Steering force that acts, smoothed over the body's response time.
    pub force_n: Vec3,
    /// Speed that is allowed.
    pub boost: BoostState,
    /// Whether it was put to another place in the last tick.
    pub teleported: bool,
    /// Number of times its state became non-finite and was put back.
    pub quarantine_count: u32,
}

impl Body {
    /// A body at a place, swimming ahead at a speed, level.
    pub fn new(position_m: Vec3, forward: Vec3, speed_mps: f32) -> Self {
        Self {
            position_m,
            velocity_mps: forward * speed_mps,
            forward,
            up: Vec3::Y,
            turn_rate_rps: 0.0,
            acceleration_mps2: 0.0,
            intent: Intent {
                heading: forward,
                goal_m: None,
            },
            force_n: Vec3::ZERO,
            boost: BoostState {
                allowed_mps: speed_mps,
                ..BoostState::default()
            },
            teleported: true,
            quarantine_count: 0,
        }
    }

    /// Unit vector to the right.
    pub fn side(&self) -> Vec3 {
        self.forward.cross(self.up)
    }

    /// Whether every number of it is finite.
    pub fn is_finite(&self) -> bool {
        self.position_m.is_finite()
            && self.velocity_mps.is_finite()
            && self.forward.is_finite()
            && self.up.is_finite()
            && self.force_n.is_finite()
            && self.boost.allowed_mps.is_finite()
    }
}

/// What an agent is about, as others can tell by looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Unit vector to where it wants to go; along its nose where no action says.
    pub heading: Vec3,
    /// The place that it is going to, where it has one.
    pub goal_m: Option<Vec3>,
}

/// Where an agent stands between cruising and boosting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoostState {
    /// Speed that is allowed now.
    pub allowed_mps: f32,
    /// Scale that holds on while `hold_secs` lasts.
    pub scale: f32,
    /// How long the last boost still holds.
    pub hold_secs: f32,
    /// Time from the full boost speed back to cruising.
    pub calm_secs: f32,
}

/// The numbers of one species, or of one individual that differs from its species, ready for the step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Species {
    /// Its name.
    pub name: String,
    /// The individual's own name, where it has one.
    pub individual: Option<String>,
    /// Place of the species in the list; its own place, except for an individual.
    pub base_species: u16,
    /// Bit of its own name.
    pub species_bit: u64,
    /// Bits of its name and groups.
    pub name_bits: u64,
    /// Body.
    pub body: BodyParams,
    /// Motion.
    pub motion: MotionParams,
    /// Perception.
    pub perception: PerceptionParams,
    /// Schooling.
    pub flock: FlockParams,
    /// Relations.
    pub relations: Relations,
    /// How it keeps clear of others.
    pub avoidance: Avoidance,
}
