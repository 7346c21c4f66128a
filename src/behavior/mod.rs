//! Needs, actions and minds: from what an agent perceives to the force it wants. Draws nothing, moves nobody.

mod action;
pub mod actions;
mod checks;
mod context;
mod decision;
mod director;
mod drives;
mod evaluation;
mod migration;
mod mind;
mod need;
mod params;
mod perception;
mod perception_memory;
mod proposal;
mod schooling;

pub use action::Action;
pub use actions::{ActionParams, ClimbAnswer, ClimbMemory, ClimbRequest};
pub use context::ActionContext;
pub use decision::Decision;
pub use director::{Condition, Effect, RuleParams, RuleState, RuleTransition, rule_problems};
pub use drives::{Drives, DrivesParams};
pub use mind::{Mind, MindState, MindWorkspace};
pub use params::{Combine, LimitOf, LimitParams, LimitSide, MindParams, NeedKind, NeedParams};
pub use perception::{Neighbor, SOLID_SEARCH_RADIUS_MIN_M, query_radius_m};
pub use perception_memory::{KnownAgent, PerceptionMemory, SeenAgent};
pub use proposal::{BoostRequest, NeedEvent, Proposal};
