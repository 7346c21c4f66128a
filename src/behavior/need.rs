//! Needs: an ordered list of actions, the rule that says when the need is satisfied, and how its actions combine.
//!
//! In: the evaluation of the actions. Out: a decision. Must not: choose among needs; the mind does that.
//! **Source**: Jockel 2005, §3.3 and appendix A; Reynolds 1999, "Combining behaviors"; Karpowicz 2011, §3.3.4.

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::evaluation::Evaluation;
use super::params::{Combine, LimitOf, LimitSide, NeedKind, NeedParams};
use crate::world::RandomStream;

/// Force below which the force budget of a need counts as used up, in newtons.
const BUDGET_EMPTY_N: f32 = 1e-6;

/// One need of a compiled mind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Need {
    pub(super) params: NeedParams,
    /// Indices of the need's actions in the mind's list of actions, most important first.
    pub(super) actions: Vec<usize>,
}

/// State of one need of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NeedState {
    /// Variable of a `limit_based` need.
    pub(super) variable: f32,
    /// Index of the chosen action of a need that is not additive in the need's list of actions, plus one; 0 for none.
    pub(super) choice: usize,
    /// Time since the choice.
    pub(super) held_secs: f32,
    /// Time for which the need has been active since the variable was last within its limit.
    pub(super) tried_secs: f32,
}

impl Need {
    /// Whether the need is satisfied in this tick, so that it does not act.
    pub(super) fn is_satisfied(&self, state: &NeedState, evaluation: &mut Evaluation<'_>) -> bool {
        evaluation.context.least_secs = self.params.minimum_secs;
        match (self.params.kind, &self.params.limit) {
            (NeedKind::ActionBased, _) => self
                .actions
                .iter()
                .all(|&action| !evaluation.is_executable(action)),
            (NeedKind::LimitBased, Some(limit)) => match limit.side {
                LimitSide::Upper => state.variable <= limit.value,
                LimitSide::Lower => state.variable >= limit.value,
            },
            _ => false,
        }
    }

    /// Counts the time for which the need has been active, and lets the agent give up when the time is over. Must be called
    /// once per tick.
    pub(super) fn try_for(&self, state: &mut NeedState, is_active: bool, dt_secs: f32) {
        if !is_active && !self.params.stochastic {
            state.choice = 0;
        }
        let Some(limit) = &self.params.limit else {
            return;
        };
        let is_within = match limit.side {
            LimitSide::Upper => state.variable <= limit.value,
            LimitSide::Lower => state.variable >= limit.value,
        };
        if is_within || limit.of != LimitOf::Own || limit.give_up_secs <= 0.0 {
            state.tried_secs = 0.0;
            return;
        }
        state.tried_secs += if is_active { dt_secs } else { 0.0 };
        if state.tried_secs >= limit.give_up_secs {
            state.variable = limit.reset_to;
            state.tried_secs = 0.0;
        }
    }

    /// Combines the proposals of the need's actions.
    pub(super) fn decide(
        &self,
        state: &mut NeedState,
        evaluation: &mut Evaluation<'_>,
    ) -> Decision {
        let mut decision = Decision::default();
        evaluation.context.least_secs = self.params.minimum_secs;
        if !self.params.additive {
            let action = if self.params.stochastic {
                self.choose_random(state, evaluation)
            } else {
                self.choose_first(state, evaluation)
            };
            execute(action, evaluation, &mut decision);
            return decision;
        }
        match self.params.combine {
            Combine::Sum => {
                for &action in &self.actions {
                    execute(Some(action), evaluation, &mut decision);
                }
            }
            Combine::First => {
                let action = self.first_executable(evaluation);
                execute(action, evaluation, &mut decision);
            }
            Combine::Budget => {
                let mut left_n = evaluation.context.species.motion.max_force_n;
                for &action in &self.actions {
                    if !evaluation.is_executable(action) {
                        continue;
                    }
                    let proposal = &evaluation.proposals[action];
                    if left_n <= BUDGET_EMPTY_N {
                        // Prey that is touched is caught, and a neighbor that was watched long enough is known, also
                        // if no force is left to steer for it.
                        decision.add_outcome(proposal);
                        continue;
                    }
                    let force =
                        (proposal.force * evaluation.weight(action)).clamp_length_max(left_n);
                    decision.add(action, proposal, force);
                    evaluation.record(action, force);
                    left_n -= force.length();
                }
            }
        }
        decision
    }

    fn first_executable(&self, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        self.actions
            .iter()
            .copied()
            .find(|&action| evaluation.is_executable(action))
    }

    /// Chooses the first executable action, unless the last choice is kept for its minimum time: then the agent does not change
    /// between two actions in turn.
    fn choose_first(
        &self,
        state: &mut NeedState,
        evaluation: &mut Evaluation<'_>,
    ) -> Option<usize> {
        if let Some(action) = self.held_choice(state, evaluation) {
            return Some(action);
        }
        let first = (self.actions.iter()).position(|&action| evaluation.is_executable(action));
        if first.map_or(0, |position| position + 1) == state.choice {
            return first.map(|position| self.actions[position]);
        }
        self.hold(state, first)
    }

    /// Returns the last chosen action if it can still be executed and its minimum time has not passed;
    /// otherwise `None`.
    fn held_choice(&self, state: &mut NeedState, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        let position = state.choice.checked_sub(1)?;
        let action = *self.actions.get(position)?;
        state.held_secs += evaluation.context.world.dt_secs;
        (state.held_secs < self.params.minimum_secs && evaluation.is_executable(action))
            .then_some(action)
    }

    /// Chooses one of the executable actions with equal probability. The choice is kept for the minimum time. `None`
    /// if no action can be executed.
    fn choose_random(
        &self,
        state: &mut NeedState,
        evaluation: &mut Evaluation<'_>,
    ) -> Option<usize> {
        if let Some(action) = self.held_choice(state, evaluation) {
            return Some(action);
        }
        let mut executable = 0u64;
        for (position, &action) in self.actions.iter().enumerate() {
            executable |= u64::from(evaluation.is_executable(action)) << position;
        }
        let count = executable.count_ones();
        let mut skip = (evaluation.random(RandomStream::Choice, 0) * count as f32) as u32;
        let chosen = (0..self.actions.len()).find(|&position| {
            let is_executable = executable >> position & 1 == 1;
            let is_chosen = is_executable && skip == 0;
            skip = skip.saturating_sub(u32::from(is_executable));
            is_chosen
        });
        self.hold(state, chosen)
    }

    /// Stores a choice, and returns the chosen action. `position` is its index in the need's list of actions.
    fn hold(&self, state: &mut NeedState, position: Option<usize>) -> Option<usize> {
        state.choice = position.map_or(0, |position| position + 1);
        state.held_secs = 0.0;
        position.map(|position| self.actions[position])
    }
}

/// Adds an action's weighted proposal to the decision, if the action can be executed.
fn execute(action: Option<usize>, evaluation: &mut Evaluation<'_>, decision: &mut Decision) {
    if let Some(action) = action
        && evaluation.is_executable(action)
    {
        let proposal = &evaluation.proposals[action];
        let force = proposal.force * evaluation.weight(action);
        decision.add(action, proposal, force);
        evaluation.record(action, force);
    }
}
