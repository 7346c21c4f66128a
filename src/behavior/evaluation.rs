//! How a need asks its actions, each at most once in a step, and puts together what they want.
//!
//! **Source**: 2-behavior.md section 1; main source 3.3 and appendix A. In: the view and the memories of one individual. Out:
//! a decision. Must not: choose among needs, which is the mind's.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::action::{BoostRequest, Proposal, stronger};
use super::actions::{ActionParams, Memory};
use super::context::ActionContext;
use super::need::{Combine, LimitSide, NeedEvent, NeedKind, NeedParams};
use crate::world::{Intent, Purpose};

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

/// One action of a mind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MindAction {
    pub(super) name: String,
    pub(super) params: ActionParams,
    /// The factor among the parameters.
    pub(super) weight: f32,
    pub(super) related: u64,
    /// Places of the parts of a combined action.
    pub(super) parts: Vec<usize>,
}

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

impl Decision {
    fn take(&mut self, place: usize, proposal: &Proposal, force: Vec3) {
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

/// Asks actions, each at most once in a step.
pub(super) struct Evaluation<'a> {
    pub(super) slots: &'a [MindAction],
    pub(super) context: ActionContext<'a>,
    pub(super) memories: &'a mut Vec<Memory>,
    pub(super) proposals: &'a mut Vec<Option<Proposal>>,
    pub(super) asked: u64,
    pub(super) forces: Option<&'a mut Vec<(u8, Vec3)>>,
    /// Whom it has come to know in this step, by an action that was executed.
    pub(super) learned: Option<(u32, f32)>,
}

impl Evaluation<'_> {
    pub(super) fn ask(&mut self, place: usize) -> Option<Proposal> {
        self.consider(place);
        self.proposals[place]
    }

    /// Whether an action can be executed.
    pub(super) fn can(&mut self, place: usize) -> bool {
        self.consider(place);
        self.proposals[place].is_some()
    }

    fn consider(&mut self, place: usize) {
        if self.asked >> place & 1 == 0 {
            self.asked |= 1 << place;
            let slots = self.slots;
            let slot = &slots[place];
            self.proposals[place] = if self.weight(place) <= 0.0 {
                None
            } else if let ActionParams::Combined(combined) = &slot.params {
                // Parts are no combined actions themselves, so this goes one step down and no further.
                let parts = slot.parts.iter().map(|&part| {
                    let proposal = self.ask(part)?;
                    Some((proposal, self.weight(part)))
                });
                combined.join(parts)
            } else {
                self.context.related = slot.related;
                slot.params
                    .propose(&self.context, &mut self.memories[place])
            };
        }
    }

    fn weight(&self, place: usize) -> f32 {
        let slot = &self.slots[place];
        slot.weight.max(slot.params.least_weight(&self.context))
    }

    /// Notes a force down for whoever wants to know why.
    fn note(&mut self, place: usize, force: Vec3) {
        if let Some(forces) = &mut self.forces {
            forces.push((place as u8, force));
        }
    }

    fn chance(&self, purpose: Purpose, draw: usize) -> f32 {
        let id = self.context.world.agents.ids[self.context.index];
        self.context.world.chance.unit(id, purpose, draw as u32 + 1)
    }
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
