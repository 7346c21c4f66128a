//! The state of the pool: agents, species, relations, obstacles, the neighbor index, the visitors' shadows and the director.
//! Makes no decision for an agent, and does not draw.

mod agents;
mod barriers;
mod body;
mod director;
mod grid;
mod guests;
mod observation;
mod overlay;
mod paths;
mod pool;
mod random;
mod relations;
mod shadow_edges;
mod snapshot;
mod solids;
mod stature;
mod temperament;
mod terrace;
mod visitors;
mod water;

pub(crate) use agents::retain;
pub use agents::{Agents, Body, BoostState, FastStart, Intent, Species, Stroke};
pub use barriers::{
    BarrierBox, BarrierCapsule, BarrierParams, BarrierPlane, BarrierRectangle, BarrierShape,
    BarrierSide, BarrierSphere,
};
pub use body::{
    BodyParams, CollisionResponse, FlockParams, FlockPart, FlockPartChange, MotionParams,
    PerceptionParams, StartParams, WalkParams, WantedMotion,
};
pub use director::{
    CalmEffect, CommandedDirection, Condition, CrossEdgeEffect, Director, EarlierRule, Effect,
    Entrance, GatherAtShadowEffect, GatherEffect, Gathering, GatheringRequest, GatheringVisitor,
    HuntingEffect, Light, LightEffect, LightShares, MindEffect, PictureLight, PictureSeason,
    PictureSide, Presence, RelationEffect, RuleParams, RuleSet, RuleState, RuleTransition, Season,
    SeasonEffect, SeasonShares, SendAcrossEffect, SetNeedEffect, SoundEffect, SpeedEffect,
    WaterSound, rule_problems,
};
pub use grid::{CellNeighbors, GridHits, NeighborGrid};
pub use guests::{Guests, agent_key, is_shadow_key, shadow_key};
pub use observation::Observation;
pub use overlay::{
    OverlayAgents, OverlayItem, OverlayLayer, OverlayLayers, OverlayRequest, OverlayShape,
};
pub use paths::{PathParams, ScenePath};
pub use pool::{
    AreaParams, BoxParams, CapsuleParams, ClimateParams, EdgeMode, ObstacleParams, PolygonParams,
    PoolParams, SphereParams,
};
pub use random::{Random, RandomStream};
pub(crate) use relations::KNOWN_BIT;
pub use relations::{NameTable, Relations, VISITOR_SPECIES};
pub use shadow_edges::ShadowEdges;
pub use snapshot::{AgentPose, Catch, Snapshot, Splash};
pub use solids::SolidIndex;
pub use stature::FishParams;
pub use temperament::Temperament;
pub use terrace::{LeapParams, TerraceParams, far_edge};
pub use visitors::{ShadowAtDepth, Visitors, circle_at_depth, outline_at_depth};
pub use water::{HIDDEN_LENGTHS, Water};

use serde::{Deserialize, Serialize};

use crate::geometry::Solid;

/// The `[relations]` table: relation type (enemy, prey, friend, mother, child, known or any further name) → names of
/// species, groups or individuals.
pub type RelationParams = std::collections::BTreeMap<String, Vec<String>>;

/// The compiled part of the world. Changes only when the plan of the pool changes.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldPlan {
    /// The extent of the pool.
    pub water: Water,
    /// The obstacles.
    pub solids: Vec<Solid>,
    /// Index of the solids that a body may touch within one tick.
    pub contact_solids: SolidIndex,
    /// Index of the solids within the sight radius of an agent. They may hide other agents, and the agent has to avoid them.
    pub sight_solids: SolidIndex,
    /// The paths that agents follow or stay on.
    pub paths: Vec<ScenePath>,
    /// The invisible barriers that agents turn away from.
    pub barriers: Vec<BarrierParams>,
    /// The species in the scene's order, followed by the named individuals. [`AgentPose::species`] is an index into the
    /// species.
    pub species: Vec<Species>,
    /// Bit set of the names that every visitor has.
    pub visitor_name_bits: u64,
}

/// The saved part of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldState {
    /// The living agents.
    pub agents: Agents,
    /// What the director currently asks of the fish.
    pub director: Director,
    /// The visitors on the surface.
    #[serde(default, skip_serializing_if = "Presence::is_empty")]
    pub presence: Presence,
    /// Random numbers of the current tick; holds the tick counter.
    pub random: Random,
}

/// Index of a terrace that means: the agent flies from one terrace to another.
pub const IN_THE_AIR: u16 = u16::MAX;

/// Input of a tick apart from plan and state. Not saved, because every tick fills it in again before the agents decide.
#[derive(Clone, Debug, Default)]
pub struct TickInput {
    /// The visitors' shadows.
    pub visitors: Visitors,
    /// The shadows as the agents near them see them.
    pub shadow_edges: ShadowEdges,
    /// Neighbor index of the agents' positions at the end of the last tick.
    pub grid: NeighborGrid,
    /// Numbers of guests at the end of the last tick.
    pub guests: Guests,
    /// Indices of the agents that began a fast start in the last tick.
    pub starters: Vec<u32>,
    /// Index of the terrace of each agent; [`IN_THE_AIR`] during a flight. Empty if the pool has no terraces.
    pub terraces: Vec<u16>,
    /// The fixed time step.
    pub dt_secs: f32,
    /// Whether minds record the force of each action, for the overlay and for logs.
    pub records_forces: bool,
}

/// Read access to the whole world at one time: plan, state and tick input together. It does not contain the minds.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The extent of the pool.
    pub water: &'a Water,
    /// The obstacles.
    pub solids: &'a [Solid],
    /// Index of the solids that a body may touch within one tick.
    pub contact_solids: &'a SolidIndex,
    /// Index of the solids within the sight radius of an agent.
    pub sight_solids: &'a SolidIndex,
    /// The paths that agents follow or stay on.
    pub paths: &'a [ScenePath],
    /// The invisible barriers that agents turn away from.
    pub barriers: &'a [BarrierParams],
    /// The species in the scene's order, followed by the named individuals.
    pub species: &'a [Species],
    /// Bit set of the names that every visitor has.
    pub visitor_name_bits: u64,
    /// The living agents.
    pub agents: &'a Agents,
    /// What the director currently asks of the fish.
    pub director: &'a Director,
    /// The visitors on the surface.
    pub presence: &'a Presence,
    /// Random numbers of the current tick.
    pub random: Random,
    /// The visitors' shadows.
    pub visitors: &'a Visitors,
    /// The shadows as the agents near them see them.
    pub shadow_edges: &'a ShadowEdges,
    /// Neighbor index of the agents' positions at the end of the last tick.
    pub grid: &'a NeighborGrid,
    /// Numbers of guests at the end of the last tick.
    pub guests: &'a Guests,
    /// Indices of the agents that began a fast start in the last tick.
    pub starters: &'a [u32],
    /// Index of the terrace of each agent; [`IN_THE_AIR`] during a flight. Empty if the pool has no terraces.
    pub terraces: &'a [u16],
    /// The fixed time step.
    pub dt_secs: f32,
    /// Whether minds record the force of each action.
    pub records_forces: bool,
}

impl<'a> World<'a> {
    /// Creates read access to the parts of a world.
    pub fn new(plan: &'a WorldPlan, state: &'a WorldState, input: &'a TickInput) -> Self {
        Self {
            water: &plan.water,
            solids: &plan.solids,
            contact_solids: &plan.contact_solids,
            sight_solids: &plan.sight_solids,
            paths: &plan.paths,
            barriers: &plan.barriers,
            species: &plan.species,
            visitor_name_bits: plan.visitor_name_bits,
            agents: &state.agents,
            director: &state.director,
            presence: &state.presence,
            random: state.random,
            visitors: &input.visitors,
            shadow_edges: &input.shadow_edges,
            grid: &input.grid,
            guests: &input.guests,
            starters: &input.starters,
            terraces: &input.terraces,
            dt_secs: input.dt_secs,
            records_forces: input.records_forces,
        }
    }

    /// Returns a shadow as an agent sees it. Both are indices; see [`outline_at_depth`].
    #[inline]
    pub fn shadow_at(&self, shadow: usize, agent: usize) -> ShadowAtDepth {
        self.shadow_edges.get(shadow, agent).unwrap_or_else(|| {
            let at = self.agents.bodies[agent].position_m;
            let (hull, scale) = (self.agents.hull(agent), self.water.scale(at.y));
            outline_at_depth(&self.visitors.shadows[shadow], at, hull, scale)
        })
    }

    /// Returns a shadow as an agent sees it if it may be nearer than `limit_m`, otherwise `None`.
    #[inline]
    pub fn shadow_within(
        &self,
        shadow: usize,
        agent: usize,
        limit_m: f32,
    ) -> Option<ShadowAtDepth> {
        self.shadow_edges.get(shadow, agent).or_else(|| {
            let at = self.agents.bodies[agent].position_m;
            let (hull, scale) = (self.agents.hull(agent), self.water.scale(at.y));
            let widest_m = hull.widest_m();
            let least_m = self.visitors.least_distance_m(shadow, at, widest_m, scale);
            (least_m <= limit_m).then(|| self.shadow_at(shadow, agent))
        })
    }

    /// Returns the terrace that an agent swims in; `None` in a pool without terraces and during a flight.
    pub fn terrace(&self, agent: usize) -> Option<&'a TerraceParams> {
        let terrace = usize::from(*self.terraces.get(agent)?);
        self.water.params.terraces.get(terrace)
    }
}
