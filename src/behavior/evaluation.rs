//! How a need asks its actions, each at most once in a step, and puts together what they want.
//!
//! **Source**: 2-behavior.md section 1; main source 3.3 and appendix A. In: the view and the memories of one individual. Out:
//! a decision. Must not: choose among needs, which is the mind's.

use glam::Vec3;

use super::actions::{ActionParams, Memory};
use super::context::ActionContext;
use super::perception_memory::KnownAgent;
use super::proposal::Proposal;
use crate::world::Purpose;

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

/// Asks actions, each at most once in a step.
pub(super) struct Evaluation<'a> {
    pub(super) slots: &'a [MindAction],
    pub(super) context: ActionContext<'a>,
    pub(super) memories: &'a mut Vec<Memory>,
    pub(super) proposals: &'a mut Vec<Option<Proposal>>,
    pub(super) asked: u64,
    pub(super) forces: Option<&'a mut Vec<(u8, Vec3)>>,
    /// Whom it has come to know in this step, by an action that was executed.
    pub(super) learned: Option<KnownAgent>,
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

    pub(super) fn weight(&self, place: usize) -> f32 {
        let slot = &self.slots[place];
        slot.weight.max(slot.params.min_weight(&self.context))
    }

    /// Notes a force down for whoever wants to know why.
    pub(super) fn note(&mut self, place: usize, force: Vec3) {
        if let Some(forces) = &mut self.forces {
            forces.push((place as u8, force));
        }
    }

    pub(super) fn chance(&self, purpose: Purpose, draw: usize) -> f32 {
        let id = self.context.world.agents.ids[self.context.index];
        self.context.world.chance.unit(id, purpose, draw as u32 + 1)
    }
}
