//! The living agents as a structure of arrays, and the compiled numbers of their species.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::geometry::Hull;

use super::body::{BodyParams, FlockParams, MotionParams, PerceptionParams};
use super::random::{Random, RandomStream};
use super::relations::Relations;
use super::temperament::Temperament;

/// All living agents, as arrays of equal length. Every array has one element per agent, at the agent's index. The index can
/// change when agents are removed; the id never changes. Agents are added with [`Self::push`] and removed with
/// [`Self::retain`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agents {
    /// Id of each agent, in ascending order.
    pub ids: Vec<u32>,
    /// Species of each agent, as an index into [`super::World::species`].
    pub species: Vec<u16>,
    /// Bit set of each agent's names: species, groups and individual name (see [`super::NameTable`]). Not saved, because it
    /// follows from the species.
    #[serde(skip)]
    pub name_bits: Vec<u64>,
    /// Size of each agent as a factor on its species' length and radius. Not saved, because it follows from species and id.
    #[serde(skip)]
    pub size_factors: Vec<f32>,
    /// Radius of the sphere that represents each agent's body in distances and contacts. Not saved, because it follows from
    /// species and id.
    #[serde(skip)]
    pub radii_m: Vec<f32>,
    /// Half of the width of each agent's body; its radius if it is not wider. Not saved, because it follows from species and id.
    #[serde(skip)]
    pub half_widths_m: Vec<f32>,
    /// Motion state of each agent.
    pub bodies: Vec<Body>,
}

impl Agents {
    /// Number of agents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether the pool has no agents.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the index of the agent with this id; `None` if there is no such agent.
    pub fn index_of(&self, id: u32) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }

    /// Adds an agent. `id` must be larger than all other ids. Must be followed by [`Self::derive`].
    pub fn push(&mut self, id: u32, species_index: u16, body: Body) {
        self.ids.push(id);
        self.species.push(species_index);
        self.bodies.push(body);
        self.name_bits.push(0);
        self.size_factors.push(0.0);
        self.radii_m.push(0.0);
        self.half_widths_m.push(0.0);
    }

    /// Removes all agents except those whose element in `keeps` is true.
    pub fn retain(&mut self, keeps: &[bool]) {
        retain(&mut self.ids, keeps);
        retain(&mut self.species, keeps);
        retain(&mut self.name_bits, keeps);
        retain(&mut self.size_factors, keeps);
        retain(&mut self.radii_m, keeps);
        retain(&mut self.half_widths_m, keeps);
        retain(&mut self.bodies, keeps);
    }

    /// Computes names, size factor and radius of the agent at `index` from its species and id.
    pub fn derive(&mut self, index: usize, species: &Species, seed: u64) {
        let size_factor = species.size_factor(seed, self.ids[index]);
        self.name_bits[index] = species.name_bits;
        self.size_factors[index] = size_factor;
        self.radii_m[index] = species.body.radius_m * size_factor;
        self.half_widths_m[index] = species.body.half_width_m() * size_factor;
    }

    /// Returns the room that the agent at `index` takes.
    #[inline]
    pub fn hull(&self, index: usize) -> Hull {
        let (radius_m, half_width_m) = (self.radii_m[index], self.half_widths_m[index]);
        if half_width_m <= radius_m {
            return Hull::from(radius_m);
        }
        Hull::across(radius_m, self.bodies[index].side(), half_width_m)
    }
}

/// Removes all elements of a list except those whose element in `keeps` is true.
pub(crate) fn retain<T>(list: &mut Vec<T>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    list.retain(|_| keeps.next().is_some_and(|&keep| keep));
}

/// The motion state of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Center of the body in world space.
    pub position_m: Vec3,
    /// Velocity in world space.
    pub velocity_mps: Vec3,
    /// Unit vector towards the nose.
    pub forward: Vec3,
    /// Unit vector towards the dorsal fin, perpendicular to `forward`.
    pub up: Vec3,
    /// Turn rate about `up` in rad/s; positive is a turn to the left.
    pub turn_rate_rps: f32,
    /// Acceleration along `forward`.
    pub acceleration_mps2: f32,
    /// Direction and goal that the agent intends to swim to. Other agents can read the intent.
    pub intent: Intent,
    /// Whether the body drives itself or glides, and whether it turns.
    pub stroke: Stroke,
    /// The fast start of the last flight.
    pub start: FastStart,
    /// Steering force that acts on the body, smoothed over `MotionParams::response_secs`.
    pub force_n: Vec3,
    /// Change of the velocity by obstacles and edges of the water in the last tick. Zero if nothing was in the way. It points
    /// away from what was in the way.
    pub pushed_mps: Vec3,
    /// State of the current boost, with the speed limit that follows from it.
    pub boost: BoostState,
    /// Whether the body was moved to a new position in the last tick instead of swimming there.
    pub teleported: bool,
    /// Number of ticks in which the new body had a value that is not finite and was discarded.
    pub quarantine_count: u32,
}

impl Body {
    /// Returns a body at `position_m` that swims horizontally in the direction of `forward` at `speed_mps`.
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
                attends: None,
                hunts: false,
            },
            stroke: Stroke::default(),
            start: FastStart::default(),
            force_n: Vec3::ZERO,
            pushed_mps: Vec3::ZERO,
            boost: BoostState {
                allowed_mps: speed_mps,
                ..BoostState::default()
            },
            teleported: true,
            quarantine_count: 0,
        }
    }

    /// Unit vector to the right side of the body.
    pub fn side(&self) -> Vec3 {
        self.forward.cross(self.up)
    }

    /// Whether all numbers that affect the motion are finite.
    pub fn is_finite(&self) -> bool {
        self.position_m.is_finite()
            && self.velocity_mps.is_finite()
            && self.forward.is_finite()
            && self.up.is_finite()
            && self.stroke.resume_share.is_finite()
            && self.start.is_finite()
            && self.force_n.is_finite()
            && self.pushed_mps.is_finite()
            && self.boost.allowed_mps.is_finite()
    }
}

/// What a cruising body does with its tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stroke {
    /// Whether the body glides, without thrust.
    pub glides: bool,
    /// A glide ends at this share of the wanted speed.
    pub resume_share: f32,
    /// Whether the body turns to another course.
    pub turns: bool,
}

/// The fast start of a flight: the body bends to a C towards its new heading, strikes back with its tail, and sprints.
/// **Source**: Domenici & Blake 1997.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FastStart {
    /// Progress of the start: 0 in the tick in which it begins, 1 after the bend, and [`Self::OVER`] after the stroke.
    pub phase: f32,
    /// Angle by which the bend turns the body; positive to the left.
    pub bend_rad: f32,
    /// Strength of the fright, as in the proposal of the agent.
    pub fright: f32,
    /// Time without a fright until the body can start again.
    pub rest_secs: f32,
}

impl FastStart {
    /// Phase in which a start is over.
    pub const OVER: f32 = 2.0;

    /// Whether the start has begun in the last tick.
    pub fn is_new(&self) -> bool {
        self.phase == 0.0
    }

    /// Whether the body bends towards its new heading.
    pub fn bends(&self) -> bool {
        self.phase < 1.0
    }

    /// Whether the body strikes back after the bend.
    pub fn strikes(&self) -> bool {
        (1.0..Self::OVER).contains(&self.phase)
    }

    fn is_finite(&self) -> bool {
        self.phase.is_finite() && self.bend_rad.is_finite() && self.rest_secs.is_finite()
    }
}

impl Default for FastStart {
    fn default() -> Self {
        Self {
            phase: Self::OVER,
            bend_rad: 0.0,
            fright: 0.0,
            rest_secs: 0.0,
        }
    }
}

/// Direction and goal that an agent intends to swim to. Other agents can observe them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Unit vector of the direction in which the agent wants to swim; equals `forward` if no action sets a direction.
    pub heading: Vec3,
    /// The goal in world space; `None` if the agent has no goal.
    pub goal_m: Option<Vec3>,
    /// Key of the agent or shadow that attracts the agent; `None` if it attends nothing.
    pub attends: Option<u32>,
    /// Whether the agent hunts: it executes an action that hunts. Its prey can see that.
    pub hunts: bool,
}

/// State of an agent's boost: the temporary speed limit above cruise speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoostState {
    /// Current speed limit.
    pub allowed_mps: f32,
    /// Strength of the active boost, 0 (cruise speed) to 1 (full boost speed); valid while `hold_secs` is positive.
    pub scale: f32,
    /// Remaining time of the active boost.
    pub hold_secs: f32,
    /// Time that the speed limit needs to fall from full boost speed to cruise speed.
    pub calm_secs: f32,
    /// Whether the agent has fled from a visitor or an enemy since its speed limit was last at cruise speed. A hunt does not count,
    /// nor does an agent that catches up with its school.
    pub flees: bool,
}

/// The compiled parameters of one species, or of one named individual that differs from its species.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Species {
    /// Name of the species.
    pub name: String,
    /// Name of the individual; `None` for a whole species.
    pub individual: Option<String>,
    /// Index of the species in the scene's list of species. For a named individual: the index of its species in this list.
    pub base_species: u16,
    /// Bit of the species' name.
    pub species_bit: u64,
    /// Bit set of all names: species, groups and individual name.
    pub name_bits: u64,
    /// Names of the groups.
    pub groups: Vec<String>,
    /// Courage of a named individual that has its own; `None` if chance decides.
    pub boldness: Option<f32>,
    /// Index into the looks of the scene: that of the species, or that of a named individual with a look of its own.
    pub look: u16,
    /// Distance from the edge of the picture outwards up to which the species swims.
    pub margin_m: f32,
    /// Size and mass.
    pub body: BodyParams,
    /// Abilities and limits of the motion.
    pub motion: MotionParams,
    /// Range and angle of sight.
    pub perception: PerceptionParams,
    /// Flocking parameters.
    pub flock: FlockParams,
    /// Relations to other species, groups and individuals.
    pub relations: Relations,
}

impl Species {
    /// Returns the factor on the distance at which the agents flee from visitors: 1, except for a named individual with a boldness of its
    /// own: from 1/2 for the boldest to 2 for the shyest.
    pub fn flight_factor(&self) -> f32 {
        let factor = |boldness: f32| Temperament::factor(1.0 - boldness, 1.0);
        self.boldness.map_or(1.0, factor)
    }

    /// Returns the size of the individual with this id as a factor on the species' length and radius. Depends only on seed, id
    /// and `size_spread`, so an individual keeps its size when other parameters change.
    pub fn size_factor(&self, seed: u64, id: u32) -> f32 {
        let random = Random { seed, tick: 0 };
        1.0 + self.body.size_spread * random.signed(id, RandomStream::Size, 0)
    }
}
