//! What every action is: a steering with parameters, a precondition and, where it has one, a memory.
//!
//! Precondition and steering are one function, which is called at most once in a step: whatever it finds out to say
//! whether it applies (the nearest enemy, the shadow overhead) is what it steers by.

use glam::Vec3;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::context::ActionContext;
use super::need::NeedEvent;
use crate::world::Intent;

/// One kind of action. The implementor holds the parameters; each has its file in `actions`.
pub trait Action {
    /// What an individual remembers of this action from step to step.
    type Memory: Copy + std::fmt::Debug + Default + PartialEq + Serialize + DeserializeOwned;

    /// The relation types that the action names; their resolved names come back as `ActionContext::related`.
    fn relations(&self) -> &[String] {
        &[]
    }

    /// The least weight that the action has now, whatever its parameter says: the director may want it.
    fn least_weight(&self, _context: &ActionContext<'_>) -> f32 {
        0.0
    }

    /// What the action wants now, before its weight; `None` when its precondition does not hold.
    fn propose(&self, context: &ActionContext<'_>, memory: &mut Self::Memory) -> Option<Proposal>;
}

/// What an executed action wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Proposal {
    /// Steering force; zero is a valid force.
    pub force: Vec3,
    /// A boost that it asks for.
    pub boost: Option<BoostRequest>,
    /// Whether it lifts the limit of turning for this step.
    pub turns_in_place: bool,
    /// Index of the agent that it has caught.
    pub catch: Option<u32>,
    /// The place that it steers to, where it steers to one: obstacles beyond it are none of its concern.
    pub goal_m: Option<Vec3>,
    /// What others may know of where it wants to go.
    pub intent: Option<Intent>,
    /// What happens to its own needs: with a catch when that succeeds, else at once.
    pub event: Option<NeedEvent>,
    /// Key of one that it knows from now on, and for how long.
    pub learn: Option<(u32, f32)>,
}

impl Proposal {
    /// Two proposals as one: forces add up, of two boosts the stronger counts, of the rest the first.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self {
            force: self.force + other.force,
            boost: stronger(self.boost, other.boost),
            turns_in_place: self.turns_in_place || other.turns_in_place,
            catch: self.catch.or(other.catch),
            goal_m: self.goal_m.or(other.goal_m),
            intent: self.intent.or(other.intent),
            event: self.event.or(other.event),
            learn: self.learn.or(other.learn),
        }
    }

    /// A force to a place.
    pub fn to(goal_m: Vec3, force: Vec3) -> Self {
        Self {
            goal_m: Some(goal_m),
            ..Self::force(force)
        }
    }

    /// A force alone.
    pub fn force(force: Vec3) -> Self {
        Self {
            force,
            ..Self::default()
        }
    }
}

/// The stronger of two requests, where there are two.
pub(super) fn stronger(a: Option<BoostRequest>, b: Option<BoostRequest>) -> Option<BoostRequest> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.stronger(b)),
        (a, b) => a.or(b),
    }
}

/// `boost(scale, boost_secs, calm_secs)` of 2-behavior.md section 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostRequest {
    /// How much of the way from cruise to boost speed is allowed, 0 to 1.
    pub scale: f32,
    /// How much longer than it is asked for it holds.
    pub hold_secs: f32,
    /// Time from the full boost speed back to cruising; 0: at once.
    pub calm_secs: f32,
}

impl BoostRequest {
    /// Of two requests in one step the larger counts, with the longer hold of equals.
    pub fn stronger(self, other: Self) -> Self {
        let is_less = self.scale < other.scale
            || (self.scale == other.scale && self.hold_secs < other.hold_secs);
        if is_less { other } else { self }
    }
}
