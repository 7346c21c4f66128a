//! The state of the pool: agents, species, relations, obstacles, the neighbor index, and what is seen of visitors.
//! Decides nothing and draws nothing.

pub mod agents;
pub mod annotation;
pub mod avoidance;
pub mod body;
pub mod chance;
pub mod director;
pub mod grid;
pub mod observation;
pub mod pool;
pub mod relations;
pub mod snapshot;
pub mod solids;
pub mod terrace;
pub mod visitors;
pub mod water;

pub use agents::{Agents, Body, BoostState, Intent, Species};
pub use avoidance::Avoidance;
pub use body::{BodyParams, Collision, FlockParams, FlockPart, MotionParams, PerceptionParams};
pub use chance::{Chance, Purpose};
pub use director::{Director, Gathering};
pub use grid::{NeighborGrid, Slots, Surroundings};
pub use observation::{Observation, Shadow};
pub use pool::{
    BoxParams, CapsuleParams, ClimateParams, Edge, ObstacleParams, PolygonParams, PoolParams,
    SphereParams,
};
pub use relations::{Names, Relations};
pub use snapshot::{AgentPose, FloorStripes, FloorTarget, Snapshot, Splash, StripeAxis};
pub use solids::SolidIndex;
pub use terrace::{LeapParams, TerraceParams};
pub use visitors::Visitors;
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
    pub touched_solids: SolidIndex,
    /// The solids so near that they may hide somebody, or have to be avoided.
    pub seen_solids: SolidIndex,
    /// The species, in the order that `AgentPose::species` counts.
    pub species: Vec<Species>,
    /// The living agents.
    pub agents: Agents,
    /// The visitors' shadows.
    pub visitors: Visitors,
    /// Bits of the names that every shadow bears.
    pub visitor_bits: u64,
    /// Where everybody was at the end of the last step.
    pub grid: NeighborGrid,
    /// Seed and tick of all chance.
    pub chance: Chance,
    /// The fixed time step.
    pub dt_secs: f32,
    /// What the director wants.
    pub director: Director,
    /// Whether minds note down their forces, for whoever wants to know why.
    pub explains: bool,
}
