//! Proposals: the force, boost and side effects that an action wants. Several proposals combine into one.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::perception_memory::KnownAgent;
use crate::world::Intent;

/// Result of an action; also the combined result of the actions of a need or of a whole mind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Proposal {
    /// Steering force in newtons. Zero is a valid force.
    pub force: Vec3,
    /// Requested boost.
    pub boost: Option<BoostRequest>,
    /// Whether the agent flees from a visitor or an enemy.
    pub flees: bool,
    /// Strength of a fright, 0 to 1: 1 if a visitor or an enemy frightens the agent, less if a mate does that has been frightened.
    /// A fright begins with a fast start.
    pub fright: f32,
    /// Whether the agent turns in place: the limit of its turn rate does not apply in this tick.
    pub turns_in_place: bool,
    /// Index of the agent that was caught.
    pub catch: Option<u32>,
    /// Whether the agent leaves the pool at the outlet. It enters again at the spring.
    pub leaves: bool,
    /// Position that the action steers to, if there is one. Obstacles beyond this position are ignored.
    pub goal_m: Option<Vec3>,
    /// Whether the agent wants to stay where it is.
    pub rests: bool,
    /// Whether the agent lies down, so nothing holds it above the ground.
    pub lies: bool,
    /// Whether the agent follows a planned route. The route keeps clear of the edges of the water, or crosses them in a leap,
    /// so no other force may turn the agent away from them.
    pub follows_route: bool,
    /// Intent that other agents can read.
    pub intent: Option<Intent>,
    /// Event for the agent's own needs. If `catch` is set, the event applies only if the catch succeeds; otherwise it
    /// applies at once.
    pub event: Option<NeedEvent>,
    /// Agent or shadow that is in the relation `known` from now on.
    pub learn: Option<KnownAgent>,
    /// Key of the agent or shadow that attracts the agent.
    pub attends: Option<u32>,
}

impl Proposal {
    /// Makes a proposal that contains only a force.
    pub fn force(force: Vec3) -> Self {
        Self {
            force,
            ..Self::default()
        }
    }

    /// Makes a proposal of a force that leads to the position `goal_m`.
    pub fn to(goal_m: Vec3, force: Vec3) -> Self {
        Self {
            goal_m: Some(goal_m),
            ..Self::force(force)
        }
    }

    /// Returns the same proposal with another force.
    #[must_use]
    pub fn with_force(self, force: Vec3) -> Self {
        Self { force, ..self }
    }

    /// Combines two proposals: the forces are added, the stronger boost applies, and the agent flees or turns in place if
    /// one proposal says so. Each other value comes from this proposal if it has one, else from `other`.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut combined = *self;
        combined.add(other, other.force);
        combined
    }

    /// Adds another proposal as [`Self::with`] does, but with another force. A proposal is large, and most of its values are
    /// rarely set, so this is faster than a copy.
    #[inline]
    pub(super) fn add(&mut self, other: &Self, force: Vec3) {
        self.force += force;
        self.boost = stronger(self.boost, other.boost);
        self.flees |= other.flees;
        self.fright = self.fright.max(other.fright);
        self.turns_in_place |= other.turns_in_place;
        self.leaves |= other.leaves;
        self.rests |= other.rests;
        self.lies |= other.lies;
        self.follows_route |= other.follows_route;
        fill(&mut self.catch, other.catch.as_ref());
        fill(&mut self.goal_m, other.goal_m.as_ref());
        fill(&mut self.intent, other.intent.as_ref());
        fill(&mut self.event, other.event.as_ref());
        fill(&mut self.learn, other.learn.as_ref());
        fill(&mut self.attends, other.attends.as_ref());
    }

    /// Returns only what happens to the agent whether or not it can steer: a catch, an event, what it learns, and whether it leaves.
    #[must_use]
    pub fn outcome(&self) -> Self {
        Self {
            catch: self.catch,
            leaves: self.leaves,
            event: self.event,
            learn: self.learn,
            ..Self::default()
        }
    }
}

/// Sets a value that is not set.
#[inline]
fn fill<T: Copy>(value: &mut Option<T>, other: Option<&T>) {
    if value.is_none()
        && let Some(other) = other
    {
        *value = Some(*other);
    }
}

fn stronger(a: Option<BoostRequest>, b: Option<BoostRequest>) -> Option<BoostRequest> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.stronger(b)),
        (a, b) => a.or(b),
    }
}

/// Request for a higher allowed speed. **Source**: Jockel 2005, §4.2.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostRequest {
    /// Requested share of the range from cruise to boost speed, 0 to 1.
    pub scale: f32,
    /// Time for which the boost continues after the last request.
    pub hold_secs: f32,
    /// Time in which the agent slows down from the full boost speed to the cruise speed; 0: at once.
    pub calm_secs: f32,
}

impl BoostRequest {
    /// Full boost while it is requested; the agent then slows down within half a second.
    pub const FULL: Self = Self {
        scale: 1.0,
        hold_secs: 0.0,
        calm_secs: 0.5,
    };

    /// Returns the stronger of two requests in one tick: the request with the larger scale or, at equal scales, with
    /// the longer hold time.
    pub fn stronger(self, other: Self) -> Self {
        let is_less = self.scale < other.scale
            || (self.scale == other.scale && self.hold_secs < other.hold_secs);
        if is_less { other } else { self }
    }
}

/// Event that resets the variables of needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NeedEvent {
    /// No event.
    Nothing,
    /// The agent caught prey.
    #[default]
    Catch,
    /// The agent ate food, or caught prey.
    Meal,
    /// The agent has investigated or courted another agent long enough to know it.
    Courted,
}
