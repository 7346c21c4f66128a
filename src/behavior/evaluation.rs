//! Evaluation of a mind's actions in one tick. Each action is evaluated at most once, even if several needs use it.
//!
//! **Source**: Jockel 2005, §3.3 and appendix A.

use glam::Vec3;

use super::action::Capabilities;
use super::actions::{ActionParams, Memory};
use super::context::ActionContext;
use super::proposal::Proposal;
use crate::steering::FlockRules;
use crate::world::RandomStream;

/// One action of a compiled mind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MindAction {
    pub(super) name: String,
    pub(super) params: ActionParams,
    pub(super) capabilities: Capabilities,
    /// Weight from the parameters.
    pub(super) weight: f32,
    /// Whether the director can raise the weight.
    pub(super) follows_director: bool,
    /// Whether the species has agents in the relation that the action always acts on, if there is such a relation.
    pub(super) has_target: bool,
    /// Mask of the names in the action's relations.
    pub(super) related: u64,
    /// Rules that say which neighbors count for flocking while this action proposes.
    pub(super) flock: FlockRules,
    /// Indices of the parts of a combined action.
    pub(super) parts: Vec<usize>,
}

/// Evaluates the actions of one agent in one tick, and stores their proposals.
pub(super) struct Evaluation<'a> {
    pub(super) actions: &'a [MindAction],
    pub(super) context: ActionContext<'a>,
    /// Memories of the actions, in the order of the actions.
    pub(super) memories: &'a mut Vec<Memory>,
    /// Proposals of the actions, in the order of the actions. An entry is valid only if its bit in `executable` is
    /// set; other entries are left from another agent. Most actions of a tick propose nothing, and then nothing is copied.
    pub(super) proposals: &'a mut Vec<Proposal>,
    /// One bit for each action that is already evaluated.
    pub(super) evaluated: u64,
    /// One bit for each action that can be executed.
    pub(super) executable: u64,
    /// Index and force of each executed action, if forces are recorded.
    pub(super) forces: Option<&'a mut Vec<(u8, Vec3)>>,
}

impl Evaluation<'_> {
    /// Returns the proposal of an action, before the weight is applied. `None` if the action cannot be executed.
    pub(super) fn proposal(&mut self, action: usize) -> Option<Proposal> {
        self.is_executable(action).then(|| self.proposals[action])
    }

    /// Whether an action can be executed.
    pub(super) fn is_executable(&mut self, action: usize) -> bool {
        self.evaluate(action);
        self.executable >> action & 1 == 1
    }

    fn evaluate(&mut self, index: usize) {
        if self.evaluated >> index & 1 == 0 {
            self.evaluated |= 1 << index;
            let actions = self.actions;
            let action = &actions[index];
            // A combined action that contains itself, which `check` rejects, finds itself not executable.
            let proposal = if self.weight(index) <= 0.0 {
                None
            } else if action.capabilities.is_combined {
                let parts = action.parts.iter().map(|&part| {
                    let proposal = self.proposal(part)?;
                    Some((proposal, self.weight(part)))
                });
                action.params.combine(parts)
            } else {
                self.context.related = action.related;
                self.context.flock = &action.flock;
                action
                    .params
                    .propose(&self.context, &mut self.memories[index])
            };
            if let Some(proposal) = proposal {
                self.proposals[index] = proposal;
                self.executable |= 1 << index;
            }
        }
    }

    /// Returns the current weight of an action: the weight in its parameters, or the minimum that the director sets,
    /// if that is higher.
    pub(super) fn weight(&self, index: usize) -> f32 {
        let action = &self.actions[index];
        if action.follows_director {
            action.weight.max(action.params.min_weight(&self.context))
        } else {
            action.weight
        }
    }

    /// Records the force of an executed action, if forces are recorded.
    pub(super) fn record(&mut self, action: usize, force: Vec3) {
        if let Some(forces) = &mut self.forces {
            forces.push((action as u8, force));
        }
    }

    /// Scales the recorded forces of the first `count` executed actions, because the agent has only this share of their force left.
    pub(super) fn scale_recorded(&mut self, count: usize, share: f32) {
        let forces = self.forces.iter_mut().flat_map(|forces| forces.iter_mut());
        for (_, force) in forces.take(count) {
            *force *= share;
        }
    }

    /// Returns the number of recorded forces.
    pub(super) fn recorded(&self) -> usize {
        self.forces.as_ref().map_or(0, |forces| forces.len())
    }

    /// Returns a random number from 0 to 1. It depends on the agent, the stream, the draw and the tick.
    pub(super) fn random(&self, stream: RandomStream, draw: usize) -> f32 {
        let id = self.context.world.agents.ids[self.context.index];
        self.context.world.random.unit(id, stream, draw as u32 + 1)
    }
}
