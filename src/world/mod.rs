//! The state of the pool: agents, species, relations, obstacles, the neighbor index, and what is seen of visitors.
//! Decides nothing and draws nothing.

mod agents;
mod avoidance;
mod body;
mod director;
mod grid;
mod observation;
mod overlay;
mod pool;
mod random;
mod relations;
mod snapshot;
mod solids;
mod terrace;
mod visitors;
mod water;

pub use agents::{Agents, Body, BoostState, Intent, Species};
pub use avoidance::Avoidance;
pub use body::{
    BodyParams, CollisionResponse, FlockParams, FlockPart, MotionParams, PerceptionParams,
};
pub use director::{Director, Gathering};
pub use grid::{CellNeighbors, GridHits, NeighborGrid};
pub use observation::{Observation, Shadow};
pub use overlay::{OverlayItem, OverlayLayer, OverlayLayers, OverlayShape};
pub use pool::{
    BoxParams, CapsuleParams, ClimateParams, EdgeMode, ObstacleParams, PolygonParams, PoolParams,
    SphereParams,
};
pub use random::{Random, RandomStream};
pub(crate) use relations::KNOWN_BIT;
pub use relations::{NameTable, Relations, VISITOR_SPECIES};
pub use snapshot::{AgentPose, Snapshot, Splash};
pub use solids::SolidIndex;
pub use terrace::{LeapParams, TerraceParams};
pub use visitors::{ShadowAtDepth, Visitors, circle_at_depth, copy_shadow, outline_at_depth};
pub use water::Water;

use crate::geometry::Solid;

/// The `[relations]` table: relation type (enemy, prey, friend, mother, child, known or any further name) → names of
/// species, groups or individuals.
pub type RelationParams = std::collections::BTreeMap<String, Vec<String>>;

/// The whole state of the pool but the minds in it.
#[derive(Clone, Debug)]
pub struct World {
    /// The pool's extent.
    pub water: Water,
    /// What lies in it.
    pub solids: Vec<Solid>,
    /// The solids so near that a body may touch them in this step.
    pub contact_solids: SolidIndex,
    /// The solids so near that they may hide somebody, or have to be avoided.
    pub sight_solids: SolidIndex,
    /// The species, in the order that `AgentPose::species` counts.
    pub species: Vec<Species>,
    /// The living agents.
    pub agents: Agents,
    /// The visitors' shadows.
    pub visitors: Visitors,
    /// Bits of the names that every shadow bears.
    pub visitor_name_bits: u64,
    /// Where everybody was at the end of the last step.
    pub grid: NeighborGrid,
    /// Seed and tick of all chance.
    pub random: Random,
    /// The fixed time step.
    pub dt_secs: f32,
    /// What the director wants.
    pub director: Director,
    /// Whether minds note down their forces, for whoever wants to know why.
    pub records_forces: bool,
}
