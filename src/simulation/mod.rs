//! Tick order and integration: all agents decide from the state before the step, then all move. No clock.

mod change;
mod collision;
mod description;
mod directing;
mod explain;
mod overlay_paths;
mod params;
mod path_search;
mod plan;
mod saved;
mod terraces;
mod tick;
mod vehicle;

pub use change::{Change, PlanChange};
pub use description::{
    IndividualDescription, MAX_AGENTS, SceneDescription, SimulationError, SpeciesDescription,
};
pub use params::SimulationParams;
pub use plan::PoolPlan;
pub use saved::LoadError;
pub use tick::Simulation;
