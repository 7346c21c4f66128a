//! The description of a pool: plain data that `site` collects from a scene file and its species files.

use thiserror::Error;

use crate::behavior::MindParams;
use crate::geometry::Surface;
use crate::navigation::FieldParams;
use crate::world::{
    BarrierParams, BodyParams, FlockParams, MotionParams, NameTable, ObstacleParams, PathParams,
    PerceptionParams, PoolParams, RelationParams, RuleParams,
};

/// Description of a pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneDescription {
    /// The projected surface.
    pub surface: Surface,
    /// The water.
    pub pool: PoolParams,
    /// The obstacles.
    pub obstacles: Vec<ObstacleParams>,
    /// The paths that agents follow or stay on.
    pub paths: Vec<PathParams>,
    /// The invisible barriers that agents turn away from.
    pub barriers: Vec<BarrierParams>,
    /// The flow fields.
    pub fields: Vec<FieldParams>,
    /// The species. [`crate::world::AgentPose::species`] is an index into this list.
    pub species: Vec<SpeciesDescription>,
    /// The rules of the director. If two active rules set a gathering point for the same species, the rule that started last
    /// applies.
    pub director: Vec<RuleParams>,
}

/// Description of one species with its number of individuals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpeciesDescription {
    /// Name of the species.
    pub name: String,
    /// Number of individuals, including named ones.
    pub count: u32,
    /// Groups that all individuals belong to.
    pub groups: Vec<String>,
    /// Size and mass.
    pub body: BodyParams,
    /// Abilities and limits of the motion.
    pub motion: MotionParams,
    /// Range and angle of sight.
    pub perception: PerceptionParams,
    /// Flocking parameters.
    pub flock: FlockParams,
    /// Relations to other species, groups and individuals.
    pub relations: RelationParams,
    /// Actions and needs.
    pub mind: MindParams,
    /// The individuals that have a name and can differ from the other individuals of the species.
    pub individuals: Vec<IndividualDescription>,
}

/// Description of a named individual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndividualDescription {
    /// Name of the individual.
    pub name: String,
    /// Groups that the individual belongs to, in addition to those of its species.
    pub groups: Vec<String>,
    /// All relations of the individual: its own, and those relation types of its species that it does not replace.
    pub relations: RelationParams,
    /// The individual's whole mind.
    pub mind: MindParams,
    /// Factor on the size of the species; `None` if chance decides.
    pub size: Option<f32>,
    /// Courage, 0 to 1; `None` if chance decides.
    pub boldness: Option<f32>,
    /// Index of its look in the looks of the scene; `None` for that of its species.
    pub look: Option<u16>,
    /// Start position in world space, in m; `None` for a random position.
    pub position_m: Option<[f32; 3]>,
}

/// Reason why a pool cannot be created.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// There are more different names than bits in a name mask.
    #[error(
        "species '{species}': the pool has more than {} different names of species, groups, individuals and relations; \
         use fewer groups or relations",
        NameTable::MAX
    )]
    TooManyNames {
        /// The species whose names do not fit.
        species: String,
    },
    /// There are more agents than allowed.
    #[error("{count} agents are more than the limit of {MAX_AGENTS}; lower the population")]
    TooManyAgents {
        /// Number of agents.
        count: u64,
    },
    /// The parameters of an obstacle describe no solid.
    #[error(
        "obstacles[{index}]: a number is not finite or the outline is not convex; correct the scene file"
    )]
    InvalidObstacle {
        /// Index of the obstacle in the scene.
        index: usize,
    },
    /// No mesh can be built from the terraces.
    #[error("cannot build a navigation mesh from the terraces: {reason}; correct their outlines")]
    InvalidTerraces {
        /// Message of the mesh builder.
        reason: String,
    },
    /// The tick rate is not a positive number.
    #[error("tick_hz = {tick_hz} is not a tick rate; give a number above 0, such as 60")]
    InvalidTickRate {
        /// The given value.
        tick_hz: f32,
    },
    /// The threads could not be started.
    #[error("cannot start the {threads} threads of the simulation: {reason}; configure fewer")]
    Threads {
        /// Number of threads.
        threads: u16,
        /// Error message of the operating system.
        reason: String,
    },
}

/// Maximum number of agents in one pool. A population of billions by mistake would block the program for too long.
pub const MAX_AGENTS: u64 = 200_000;
