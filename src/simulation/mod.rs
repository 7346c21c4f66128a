//! Tick order and integration: all agents decide from the state before the step, then all move. No clock.

pub mod change;
mod collision;
pub mod description;
mod directing;
pub mod params;
pub mod plan;
pub mod saved;
mod terraces;
pub mod tick;
mod vehicle;
mod way_marks;
mod ways;
mod why;

pub use change::{Change, Replan};
pub use description::{
    IndividualDescription, SceneDescription, SimulationError, SpeciesDescription,
};
pub use params::SimulationParams;
pub use plan::Plan;
pub use saved::LoadError;
pub use tick::Simulation;
