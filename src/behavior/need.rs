//! Needs

use serde::{Deserialize, Serialize};

use super::actions::ActionParams;
use super::decision::Decision;
use super::evaluation::Evaluation;
use super::params::{Combine, LimitSide, NeedKind, NeedParams};
use crate::world::Purpose;

/// One need with its actions as places in the mind's list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Need {
    pub(super) params: NeedParams,
    pub(super) slots: Vec<usize>,
}

/// One individual's state of one need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NeedState {
    /// The variable of a `limit_based` need.
    pub(super) variable: f32,
    /// Place of the action that chance chose, plus one; 0 for none.
    pub(super) choice: usize,
    /// How long it has been kept.
    pub(super) held_secs: f32,
}

impl Need {
    pub(super) fn is_satisfied(&self, state: &NeedState, evaluation: &mut Evaluation<'_>) -> bool {
        match (self.params.kind, &self.params.limit) {
            (NeedKind::ActionBased, _) => self.slots.iter().all(|&slot| !evaluation.can(slot)),
            (NeedKind::LimitBased, Some(limit)) => match limit.side {
                LimitSide::Upper => state.variable <= limit.value,
                LimitSide::Lower => state.variable >= limit.value,
            },
            _ => false,
        }
    }

    pub(super) fn steer(&self, state: &mut NeedState, evaluation: &mut Evaluation<'_>) -> Decision {
        let mut decision = Decision::default();
        if !self.params.additive {
            let slot = if self.params.stochastic {
                self.draw(state, evaluation)
            } else {
                self.first(evaluation)
            };
            self.execute(slot, evaluation, &mut decision);
            return decision;
        }
        match self.params.combine {
            Combine::Sum => {
                for &slot in &self.slots {
                    self.execute(Some(slot), evaluation, &mut decision);
                }
            }
            Combine::First => self.execute(self.first(evaluation), evaluation, &mut decision),
            Combine::Budget => {
                let mut left = evaluation.context.species.motion.max_force_n;
                for &slot in &self.slots {
                    let Some(proposal) = evaluation.ask(slot) else {
                        continue;
                    };
                    let force = (proposal.force * evaluation.weight(slot)).clamp_length_max(left);
                    decision.take(slot, &proposal, force);
                    evaluation.note(slot, force);
                    left -= force.length();
                    if left <= 1e-6 {
                        break;
                    }
                }
            }
            Combine::Dither => {
                let slot = self.dither(state, evaluation);
                self.execute(slot, evaluation, &mut decision);
            }
        }
        decision
    }

    fn execute(
        &self,
        slot: Option<usize>,
        evaluation: &mut Evaluation<'_>,
        decision: &mut Decision,
    ) {
        if let Some(slot) = slot
            && let Some(proposal) = evaluation.ask(slot)
        {
            let force = proposal.force * evaluation.weight(slot);
            decision.take(slot, &proposal, force);
            evaluation.learned = evaluation.learned.or(proposal.learn);
            evaluation.note(slot, force);
        }
    }

    fn first(&self, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        self.slots
            .iter()
            .copied()
            .find(|&slot| evaluation.can(slot))
    }

    /// The choice of before while it can be executed and its time is not over.
    fn held(&self, state: &mut NeedState, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        let held = state.choice.checked_sub(1)?;
        let slot = *self.slots.get(held)?;
        state.held_secs += evaluation.context.world.dt_secs;
        (state.held_secs < self.params.minimum_secs && evaluation.can(slot)).then_some(slot)
    }

    /// Any of the executable actions, evenly.
    fn draw(&self, state: &mut NeedState, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        if let Some(slot) = self.held(state, evaluation) {
            return Some(slot);
        }
        let mut executable = 0u64;
        for (place, &slot) in self.slots.iter().enumerate() {
            executable |= u64::from(evaluation.can(slot)) << place;
        }
        let count = executable.count_ones();
        let mut nth = (evaluation.chance(Purpose::Choice, 0) * count as f32) as u32;
        let place = (0..self.slots.len()).find(|&place| {
            let is_executable = executable >> place & 1 == 1;
            let found = is_executable && nth == 0;
            nth = nth.saturating_sub(u32::from(is_executable));
            found
        });
        self.hold(state, place)
    }

    /// In order, each with its chance; obstacle avoidance always.
    fn dither(&self, state: &mut NeedState, evaluation: &mut Evaluation<'_>) -> Option<usize> {
        let is_avoidance = |evaluation: &Evaluation<'_>, slot: usize| {
            matches!(
                evaluation.slots[slot].params,
                ActionParams::AvoidObstacles(_)
            )
        };
        for &slot in &self.slots {
            if is_avoidance(evaluation, slot) && evaluation.can(slot) {
                return Some(slot);
            }
        }
        if let Some(slot) = self.held(state, evaluation) {
            return Some(slot);
        }
        let place = (0..self.slots.len()).find(|&place| {
            evaluation.can(self.slots[place])
                && evaluation.chance(Purpose::Dither, place) < self.params.dither_chance
        });
        self.hold(state, place)
    }

    fn hold(&self, state: &mut NeedState, place: Option<usize>) -> Option<usize> {
        state.choice = place.map_or(0, |place| place + 1);
        state.held_secs = 0.0;
        place.map(|place| self.slots[place])
    }
}
