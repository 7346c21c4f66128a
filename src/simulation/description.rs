//! What a pool is made from: plain numbers, put together by `site` from a scene file and its species files.

use thiserror::Error;

use crate::behavior::{MindParams, RuleParams};
use crate::geometry::Surface;
use crate::navigation::{FieldGrids, FieldParams};
use crate::world::{
    Avoidance, BodyParams, FlockParams, MotionParams, NameTable, ObstacleParams, PerceptionParams,
    PoolParams, RelationParams,
};

/// A whole pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneDescription {
    /// The surface that the picture lies on.
    pub surface: Surface,
    /// The water.
    pub pool: PoolParams,
    /// What lies in it.
    pub obstacles: Vec<ObstacleParams>,
    /// Its flow fields.
    pub fields: Vec<FieldParams>,
    /// The grids of those that were read from files.
    pub field_grids: FieldGrids,
    /// The species that live in it, in the order that `AgentPose::species` counts.
    pub species: Vec<SpeciesDescription>,
    /// The director's rules, most important last: where two want different things of a species, the one that began last.
    pub director: Vec<RuleParams>,
}

/// One species and how many of it there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpeciesDescription {
    /// Its name.
    pub name: String,
    /// How many individuals there are, those with names included.
    pub count: u32,
    /// Further names that all its individuals bear.
    pub groups: Vec<String>,
    /// Body.
    pub body: BodyParams,
    /// Motion.
    pub motion: MotionParams,
    /// Perception.
    pub perception: PerceptionParams,
    /// Schooling.
    pub flock: FlockParams,
    /// Relations.
    pub relations: RelationParams,
    /// How it keeps clear of others.
    pub avoidance: Avoidance,
    /// Actions and needs.
    pub mind: MindParams,
    /// Those that have a name of their own and differ from the others.
    pub individuals: Vec<IndividualDescription>,
}

/// One individual that has a name of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndividualDescription {
    /// Its name.
    pub name: String,
    /// Further names that it bears.
    pub groups: Vec<String>,
    /// All its relations.
    pub relations: RelationParams,
    /// Its whole mind.
    pub mind: MindParams,
    /// Where it starts, world space; by chance when absent.
    pub position_m: Option<[f32; 3]>,
}

/// Why a pool cannot be made.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The names do not fit the masks.
    #[error(
        "the species '{species}' brings more than {} names of species, groups and individuals into one pool; \
         use fewer groups or relations",
        NameTable::MAX
    )]
    TooManyNames {
        /// The species whose names no longer fit.
        species: String,
    },
    /// There are more agents than are allowed.
    #[error(
        "{count} agents are more than the {MAX_AGENTS} that one pool may hold; lower the population"
    )]
    TooManyAgents {
        /// How many there would be.
        count: u64,
    },
    /// The numbers of an obstacle describe no solid.
    #[error(
        "obstacle {index} (counted from 0) is no solid: a number is not finite or its outline is not convex; mend the scene file"
    )]
    BrokenObstacle {
        /// Its place in the scene.
        index: usize,
    },
    /// The terraces make no mesh.
    #[error("the terraces make no mesh to find ways on: {reason}; mend their outlines")]
    BrokenTerraces {
        /// What is wrong.
        reason: String,
    },
    /// The tick rate is no positive number.
    #[error("tick_hz = {tick_hz} is no rate; give a number above 0, such as 60")]
    BrokenTick {
        /// What was given.
        tick_hz: f32,
    },
    /// The threads could not be started.
    #[error(
        "the {threads} threads of the simulation could not be started: {reason}; give fewer threads"
    )]
    Threads {
        /// How many were asked for.
        threads: u16,
        /// What the system said.
        reason: String,
    },
}

/// Most agents in one pool.
pub const MAX_AGENTS: u64 = 200_000;
