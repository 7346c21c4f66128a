//! Decision

use glam::Vec3;

use super::proposal::{BoostRequest, NeedEvent, Proposal, stronger};
use crate::world::Intent;

/// What an individual wants in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Steering force, not yet clipped.
    pub force: Vec3,
    /// The strongest boost asked for.
    pub boost: Option<BoostRequest>,
    /// Whether the limit of turning is lifted.
    pub turns_in_place: bool,
    /// Index of the agent that it has caught.
    pub catch: Option<u32>,
    /// The place that it steers to, where it steers to one.
    pub goal_m: Option<Vec3>,
    /// What others may know of where it wants to go.
    pub intent: Option<Intent>,
    /// What happens to its own needs: with a catch when that succeeds, else at once.
    pub event: Option<NeedEvent>,
    /// Place of the active need; `None` when only the standard need acts.
    pub need: Option<u8>,
    /// One bit for each executed action.
    pub actions: u64,
}

impl Decision {
    pub(super) fn take(&mut self, place: usize, proposal: &Proposal, force: Vec3) {
        self.force += force;
        self.boost = stronger(self.boost, proposal.boost);
        self.turns_in_place |= proposal.turns_in_place;
        self.catch = self.catch.or(proposal.catch);
        self.goal_m = self.goal_m.or(proposal.goal_m);
        self.intent = self.intent.or(proposal.intent);
        self.event = self.event.or(proposal.event);
        self.actions |= 1 << place;
    }

    /// Both, with another force of the second's.
    pub(super) fn with(&self, other: &Self, force: Vec3) -> Self {
        let mut both = *self;
        both.force += force;
        both.boost = stronger(self.boost, other.boost);
        both.turns_in_place |= other.turns_in_place;
        both.catch = self.catch.or(other.catch);
        both.goal_m = other.goal_m.or(self.goal_m);
        both.intent = other.intent.or(self.intent);
        both.event = self.event.or(other.event);
        both.actions |= other.actions;
        both
    }
}
