//! Needs, actions and minds. In: the perception of an agent. Out: the force that the agent wants. Must not: move an
//! agent, or draw.

mod action;
pub mod actions;
mod alert;
mod attraction;
mod checks;
mod context;
mod dead_parameters;
mod decision;
mod drives;
mod escape;
mod evaluation;
mod insight;
mod migration;
mod mind;
mod mind_state;
mod need;
mod params;
mod perception;
mod perception_memory;
mod proposal;
mod schooling;
mod visiting;

pub use action::{Action, Capabilities, FleeingAction, ParamFinding};
pub use actions::ActionParams;
pub use attraction::{Attention, AttractionParams};
pub use context::ActionContext;
pub use decision::Decision;
pub use drives::{Drives, DrivesParams};
pub use insight::{ActionInsight, NeedInsight, Standing};
pub use mind::{Mind, MindActionInfo, MindWorkspace};
pub use mind_state::MindState;
pub use params::{Combine, LimitOf, LimitParams, LimitSide, MindParams, NeedKind, NeedParams};
pub use perception::{Neighbor, SOLID_SEARCH_RADIUS_MIN_M, query_radius_m, widest_overhang_m};
pub use perception_memory::{KnownAgent, PerceptionMemory, SeenAgent};
pub use proposal::{BoostRequest, NeedEvent, Proposal};
