//! What every action is: a steering with parameters, a precondition and, where it has one, a memory.
//!
//! Precondition and steering are one function, which is called at most once in a step: whatever it finds out to say
//! whether it applies (the nearest enemy, the shadow overhead) is what it steers by.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::ActionContext;
use super::proposal::Proposal;

/// One kind of action. The implementor holds the parameters; each has its file in `actions`.
pub trait Action {
    /// What an individual remembers of this action from step to step.
    type Memory: Copy + std::fmt::Debug + Default + PartialEq + Serialize + DeserializeOwned;

    /// The relation types that the action names; their resolved names come back as `ActionContext::related`.
    fn relations(&self) -> &[String] {
        &[]
    }

    /// The least weight that the action has now, whatever its parameter says: the director may want it.
    fn min_weight(&self, _context: &ActionContext<'_>) -> f32 {
        0.0
    }

    /// What the action wants now, before its weight; `None` when its precondition does not hold.
    fn propose(&self, context: &ActionContext<'_>, memory: &mut Self::Memory) -> Option<Proposal>;
}
