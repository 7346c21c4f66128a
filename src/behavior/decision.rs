//! Decisions: the combined proposal of a need or a whole mind in one tick, and the actions that contributed to it.

use super::proposal::Proposal;

/// Combined proposal of an agent's actions in one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Combined proposal of the executed actions. Its force is not yet limited to the largest force of the species.
    pub proposal: Proposal,
    /// Index of the active need; `None` if only the standard need acts.
    pub need: Option<u8>,
    /// One bit for each executed action, by its index in the mind.
    pub actions: u64,
    /// Whether one of the executed actions hunts.
    pub hunts: bool,
}

impl Decision {
    /// Adds the proposal of an executed action, with this force.
    pub(super) fn add(&mut self, action: usize, proposal: &Proposal, force: glam::Vec3) {
        self.proposal.add(proposal, force);
        self.actions |= 1 << action;
    }

    /// Adds only the outcome of another decision: a catch, an event and what the agent learns.
    pub(super) fn with_outcome_of(mut self, other: &Self) -> Self {
        self.proposal = self.proposal.with(&other.proposal.outcome());
        self
    }

    /// Adds only the outcome of an action whose force does not act.
    pub(super) fn add_outcome(&mut self, proposal: &Proposal) {
        self.proposal = self.proposal.with(&proposal.outcome());
    }

    /// Combines the decision of the standard need with that of the active need.
    ///
    /// For the goal, the intent and the agent to learn, the values of the active need take precedence.
    pub(super) fn with_active(&self, active: &Self) -> Self {
        let (standard, wanted) = (&self.proposal, &active.proposal);
        Self {
            proposal: Proposal {
                goal_m: wanted.goal_m.or(standard.goal_m),
                intent: wanted.intent.or(standard.intent),
                learn: wanted.learn.or(standard.learn),
                attends: wanted.attends.or(standard.attends),
                ..standard.with(wanted)
            },
            actions: self.actions | active.actions,
            ..Self::default()
        }
    }

    /// Returns the decision of an agent that escapes instead of doing what this decision wants. Catches, events and the
    /// executed actions stay.
    pub(super) fn escaping(self, force: glam::Vec3) -> Self {
        Self {
            proposal: Proposal {
                goal_m: None,
                follows_route: false,
                ..self.proposal.with_force(force)
            },
            ..self
        }
    }

    /// Returns the same decision with another force.
    pub(super) fn with_force(self, force: glam::Vec3) -> Self {
        Self {
            proposal: self.proposal.with_force(force),
            ..self
        }
    }
}
