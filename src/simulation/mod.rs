//! The simulation: order of a tick, motion, collisions, path searches, and changes between ticks. In a tick, all agents first
//! decide from the state before the tick, then all agents move. Does not read a clock.
//!
//! A [`Simulation`] has three parts: the plan (compiled from configuration), the state (saved) and the workspace
//! (scratch memory).

mod catches;
mod change;
mod collision;
mod description;
mod directing;
mod explain;
mod inspect;
mod overlay_minds;
mod overlay_paths;
mod overrides;
mod params;
mod path_costs;
mod path_search;
mod plan;
mod population;
mod saved;
mod starting;
mod state;
mod terraces;
mod tick;
mod vehicle;
mod workspace;

pub use change::{Change, PlanChange};
pub use description::{
    IndividualDescription, MAX_AGENTS, SceneDescription, SimulationError, SpeciesDescription,
};
pub use params::SimulationParams;
pub use plan::PoolPlan;
pub use saved::{LoadError, SaveError};

use state::PoolState;
use workspace::Workspace;

/// A running pool.
#[derive(Debug)]
pub struct Simulation {
    /// Data that is compiled from the scene description.
    plan: PoolPlan,
    /// State that changes from tick to tick. It is saved as a whole.
    state: PoolState,
    /// Scratch memory.
    workspace: Workspace,
    tick_hz: f32,
    /// Maximum number of cells and polygons that all path searches together expand in one tick.
    search_budget: u32,
}
