//! The interface of an action: a steering behavior with parameters, a precondition and, if it needs one, a memory.
//!
//! Precondition and steering are one function that is evaluated at most once per tick, because both need the same search
//! (for the nearest enemy, for the nearest shadow).

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::climb::Climb;
use super::context::ActionContext;
use super::proposal::Proposal;
use crate::navigation::PathMemory;

/// One kind of action. The implementing type holds the parameters and has its own file in `actions`.
///
/// Needs, minds and the simulation know no particular action: they only use what an action declares here.
pub trait Action {
    /// What an agent remembers of this action from tick to tick.
    type Memory: Copy + std::fmt::Debug + Default + PartialEq + Serialize + DeserializeOwned;

    /// Properties of the action that needs and minds depend on.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// Relation types that the action refers to. Their names are in [`ActionContext::related`] while it proposes.
    fn relations(&self) -> &[String] {
        &[]
    }

    /// Lowest weight that the action has now, whatever its parameter says. The director can raise it.
    fn min_weight(&self, _context: &ActionContext<'_>) -> f32 {
        0.0
    }

    /// What the action wants now, before its weight. `None` if it cannot be executed.
    fn propose(&self, context: &ActionContext<'_>, memory: &mut Self::Memory) -> Option<Proposal>;

    /// Names of the actions that this action combines.
    fn parts(&self) -> &[String] {
        &[]
    }

    /// Combines the weighted proposals of its parts, in their order. `None` stands for a part that cannot be executed.
    fn combine(&self, _parts: impl Iterator<Item = Option<(Proposal, f32)>>) -> Option<Proposal> {
        None
    }

    /// Distance below which the action always reacts to a visible enemy, so that later actions of an exclusive need do not
    /// act. `None` if it does not react to enemies that way.
    fn flee_distance_m(&self, _sight_radius_m: f32) -> Option<f32> {
        None
    }

    /// Parameters that are allowed but have no useful effect, for an action of this name.
    fn warnings(&self, _name: &str) -> Option<ParamFinding> {
        None
    }

    /// Parameters without a useful effect after an earlier action of the same exclusive need that flees.
    fn warnings_after(&self, _name: &str, _earlier: &FleeingAction<'_>) -> Option<ParamFinding> {
        None
    }

    /// The trip in a memory of this action, for actions that need a path.
    fn path_memory_mut(_memory: &mut Self::Memory) -> Option<&mut PathMemory> {
        None
    }

    /// The climb in a memory of this action, for actions that travel between terraces.
    fn climb_mut(_memory: &mut Self::Memory) -> Option<&mut Climb> {
        None
    }
}

/// Properties of an action that needs and minds depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// It hunts: the director's switch for hunting applies to limit-based needs that use it.
    pub hunts: bool,
    /// It needs paths: the simulation searches them for agents with such an action.
    pub needs_paths: bool,
    /// It is never skipped by chance: a need with `combine = dither` tries it before the random choice of an action.
    pub is_never_skipped: bool,
    /// It combines other actions. Such an action cannot be a part of another one.
    pub is_combined: bool,
}

impl Capabilities {
    /// An action that only steers.
    pub const NONE: Self = Self {
        hunts: false,
        needs_paths: false,
        is_never_skipped: false,
        is_combined: false,
    };
}

/// An action that flees from enemies, as later actions of the same need see it.
#[derive(Clone, Copy, Debug)]
pub struct FleeingAction<'a> {
    /// Its name.
    pub name: &'a str,
    /// Distance below which it always flees from a visible enemy.
    pub flee_distance_m: f32,
}

/// A message about a parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamFinding {
    /// Key of the parameter.
    pub key: &'static str,
    /// The problem and its fix.
    pub message: String,
}
