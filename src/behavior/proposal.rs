//! Proposals: the force, boost and effects that an action wants, and how several proposals are combined.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::perception_memory::KnownAgent;
use crate::world::Intent;

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
    pub learn: Option<KnownAgent>,
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

/// What sets a need's variable back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedEvent {
    /// Nothing.
    Nothing,
    /// A catch of the hunt.
    #[default]
    Catch,
    /// A meal: food that was eaten, or a catch.
    Meal,
    /// One that was investigated or courted is known now.
    Courted,
}
