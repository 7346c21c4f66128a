//! The interface of an action: a steering behavior with parameters, a precondition and, if it needs one, a memory.
//!
//! Precondition and steering are one function that is evaluated at most once per tick, because both need the same search
//! (for the nearest enemy, for the nearest shadow).

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::ActionContext;
use super::proposal::Proposal;
use crate::geometry::Visitor;
use crate::navigation::{PathMemory, Repulsion};
use crate::world::FlockPartChange;

/// One kind of action. The implementing type holds the parameters and has its own file in `actions`.
///
/// Needs, minds and the simulation know no particular action: they only use what an action declares here.
pub trait Action {
    /// State of this action that an agent keeps from tick to tick.
    type Memory: Clone + std::fmt::Debug + Default + PartialEq + Serialize + DeserializeOwned;

    /// Properties of this kind of action that needs and minds depend on.
    const CAPABILITIES: Capabilities = Capabilities::NONE;

    /// Returns the properties of the action, for kinds of actions whose properties depend on their parameters.
    fn capabilities(&self) -> Capabilities {
        Self::CAPABILITIES
    }

    /// Returns the values that replace those of the species' `[flock]` table while the action proposes: separation,
    /// alignment and cohesion. `None` if the action does not flock.
    fn flock_changes(&self) -> Option<[&FlockPartChange; 3]> {
        None
    }

    /// Returns a mask of the names of flock mates. `species_bit` is the name of the agent's species, `related` a mask of the names
    /// in the action's relations. 0 if the action does not flock.
    fn flocks_with(&self, _species_bit: u64, _related: u64) -> u64 {
        0
    }

    /// Relation types that the action refers to. While the action proposes, [`ActionContext::related`] holds a mask
    /// of the names in these relations.
    fn relations(&self) -> &[String] {
        &[]
    }

    /// Returns further relation types that the action refers to.
    fn other_relations(&self) -> &[String] {
        &[]
    }

    /// Whether the action is never executed without an agent in one of its [`Self::relations`] and, if it has any, in one of
    /// its [`Self::other_relations`].
    fn needs_related(&self) -> bool {
        false
    }

    /// Returns the name of the scene's path that the action needs; `None` if it needs none.
    fn path(&self) -> Option<&str> {
        None
    }

    /// Returns the relation that the action always acts on, in addition to [`Self::relations`]: without an agent in this
    /// relation it is never executed. `None` if there is no such relation.
    fn built_in_relation(&self) -> Option<&'static str> {
        None
    }

    /// Whether the action can always be executed. Later actions of an exclusive need then never are.
    fn is_always_executable(&self) -> bool {
        false
    }

    /// Returns the lowest weight of the action in this tick. It applies if it is higher than the weight parameter.
    /// The director can raise it.
    fn min_weight(&self, _context: &ActionContext<'_>) -> f32 {
        0.0
    }

    /// Whether the action steers to the points where the director lets species gather.
    fn follows_director(&self) -> bool {
        false
    }

    /// Returns the proposal of the action in this tick, before its weight is applied. `None` if the action cannot be
    /// executed.
    fn propose(&self, context: &ActionContext<'_>, memory: &mut Self::Memory) -> Option<Proposal>;

    /// Returns the field around another agent that keeps this one away from it, and the force where both hulls touch. `touch_m` is
    /// the distance of the centers at which they touch. `None` if the action follows no such field.
    fn field_around(&self, _touch_m: f32) -> Option<(Repulsion, f32)> {
        None
    }

    /// Returns the names of the actions that this action combines.
    fn parts(&self) -> &[String] {
        &[]
    }

    /// Combines the proposals of the action's parts, in their order, each with the weight of its part. An item is
    /// `None` if that part cannot be executed.
    fn combine(&self, _parts: impl Iterator<Item = Option<(Proposal, f32)>>) -> Option<Proposal> {
        None
    }

    /// Returns the distance below which the action always reacts to a visible enemy. Later actions of a need that is
    /// not additive do not act then. `None` if the action has no such distance.
    fn flee_distance_m(&self, _sight_radius_m: f32) -> Option<f32> {
        None
    }

    /// Returns the distance from the shadow of a visitor below which the agent leaves its way now: plans keep it as well. Negative: only
    /// deep under the shadow. `None` if the action does not flee from shadows.
    fn keeps_from_m(&self, _visitor: &Visitor) -> Option<f32> {
        None
    }

    /// Returns a finding about a parameter value that is allowed but has no useful effect. `name` is the name of the
    /// action.
    fn warnings(&self, _name: &str) -> Option<ParamFinding> {
        None
    }

    /// Returns a finding about a parameter value that has no useful effect because an earlier action of the same need
    /// flees. The need is not additive.
    fn warnings_after(&self, _name: &str, _earlier: &FleeingAction<'_>) -> Option<ParamFinding> {
        None
    }

    /// Returns the path memory inside a memory of this action. `None` if the action needs no path.
    fn path_memory_mut(_memory: &mut Self::Memory) -> Option<&mut PathMemory> {
        None
    }
}

/// Properties of an action that needs and minds depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The action hunts: the director's switch for hunting applies to limit-based needs that use this action.
    pub hunts: bool,
    /// The action needs paths: the simulation searches paths for agents with such an action.
    pub needs_paths: bool,
    /// The action only keeps clear of something: alone it moves no agent.
    pub only_avoids: bool,
    /// The action combines other actions.
    pub is_combined: bool,
    /// The action follows the flow fields of the scene, and the fields around other agents.
    pub follows_fields: bool,
    /// The action turns away from the barriers of the scene.
    pub avoids_barriers: bool,
    /// The agent may stay in one place while it executes the action.
    pub rests: bool,
    /// The action stops the agent, so the species must be able to stand still.
    pub stops: bool,
    /// The action leads the agent to a visitor who stands still.
    pub approaches_visitors: bool,
}

impl Capabilities {
    /// An action that only steers.
    pub const NONE: Self = Self {
        hunts: false,
        needs_paths: false,
        only_avoids: false,
        is_combined: false,
        follows_fields: false,
        avoids_barriers: false,
        rests: false,
        stops: false,
        approaches_visitors: false,
    };
}

/// An action that flees from enemies, as later actions of the same need see it.
#[derive(Clone, Copy, Debug)]
pub struct FleeingAction<'a> {
    /// Name of the action.
    pub name: &'a str,
    /// Distance below which the action always flees from a visible enemy.
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
