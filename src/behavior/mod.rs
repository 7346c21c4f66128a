//! Needs, actions and minds: from what an agent perceives to the force it wants. Draws nothing, moves nobody.

pub mod action;
pub mod actions;
mod adopt;
mod asking;
pub mod director;
pub mod drives;
pub mod mind;
pub mod need;
pub mod recall;
pub mod schooling;
pub mod view;

pub use action::BoostRequest;
pub use actions::ActionParams;
pub use asking::Decision;
pub use director::{Condition, Effect, RuleParams, RuleState};
pub use drives::{Drives, DrivesParams};
pub use mind::{Mind, MindState, Thoughts};
pub use need::{
    Combine, LimitOf, LimitParams, LimitSide, MindParams, NeedEvent, NeedKind, NeedParams,
};
