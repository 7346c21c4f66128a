//! Needs, actions and minds: from what an agent perceives to the force it wants. Draws nothing, moves nobody.

pub mod action;
pub mod actions;
pub mod context;
pub mod director;
pub mod drives;
mod evaluation;
mod migration;
pub mod mind;
pub mod need;
pub mod perception_memory;
pub mod schooling;

pub use action::BoostRequest;
pub use actions::ActionParams;
pub use director::{Condition, Effect, RuleParams, RuleState};
pub use drives::{Drives, DrivesParams};
pub use evaluation::Decision;
pub use mind::{Mind, MindState, MindWorkspace};
pub use need::{
    Combine, LimitOf, LimitParams, LimitSide, MindParams, NeedEvent, NeedKind, NeedParams,
};
