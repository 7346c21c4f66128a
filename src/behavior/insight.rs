//! Insight: why a mind decided as it did in the last tick, and what its agent perceives, as values for people.
//!
//! In: a mind with its state and decision after a tick. Out: values. Must not: change what an agent does. What is known only while
//! the actions are asked, [`MindState`] keeps if forces are recorded.

use glam::Vec3;

use super::decision::Decision;
use super::drives::DrivesParams;
use super::evaluation::MindAction;
use super::mind::Mind;
use super::mind_state::MindState;
use super::need::Need;
use super::params::{LimitParams, LimitSide, NeedKind};
use super::perception::{Neighbor, perceived_agents};
use crate::steering::FlockRules;
use crate::world::World;

/// What became of a need in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not satisfied, and the most important of these: it acts.
    Active,
    /// It is satisfied and still acts, because it keeps the agent for its time.
    Kept,
    /// It is satisfied.
    Satisfied,
    /// A more important need acts, so this one was not asked.
    Waiting,
}

/// A need of a mind after a tick.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedInsight<'a> {
    /// Name of the need.
    pub name: &'a str,
    /// What became of it.
    pub standing: Standing,
    /// Its variable and its limit, if it has them.
    pub limit: Option<(f32, &'a LimitParams)>,
    /// Time for which it keeps acting.
    pub keep_secs: f32,
    /// Its actions, the most important first.
    pub actions: Vec<ActionInsight<'a>>,
}

/// An action of a need after a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionInsight<'a> {
    /// Name of the action.
    pub name: &'a str,
    /// Whether it could be executed; `None` if it was not asked, or if forces are not recorded.
    pub is_possible: Option<bool>,
    /// Whether it was executed for this need.
    pub acts: bool,
    /// Its force in newtons, after its weight; zero if forces are not recorded.
    pub force: Vec3,
}

impl Mind {
    /// Returns all needs after a tick, the most important first.
    pub fn need_insights(&self, state: &MindState, decision: &Decision) -> Vec<NeedInsight<'_>> {
        let active = decision.need.map_or(self.needs.len(), usize::from);
        let needs = self.needs.iter().enumerate();
        let insights = needs.map(|(index, need)| {
            let variable = state.needs.get(index).map_or(0.0, |own| own.variable);
            let limit = (need.params.limit.as_ref()).map(|limit| (variable, limit));
            let is_satisfied = match (need.params.kind, limit) {
                (NeedKind::ActionBased, _) => {
                    !(need.actions.iter()).any(|action| state.asked.executable >> action & 1 == 1)
                }
                (NeedKind::LimitBased, Some((variable, limit))) => match limit.side {
                    LimitSide::Upper => variable <= limit.value,
                    LimitSide::Lower => variable >= limit.value,
                },
                _ => false,
            };
            let standing = match index.cmp(&active) {
                std::cmp::Ordering::Less => Standing::Satisfied,
                std::cmp::Ordering::Equal if is_satisfied && limit.is_some() => Standing::Kept,
                std::cmp::Ordering::Equal => Standing::Active,
                std::cmp::Ordering::Greater => Standing::Waiting,
            };
            NeedInsight {
                name: &need.params.name,
                standing,
                limit,
                keep_secs: need.params.keep_secs,
                actions: self.action_insights(need, state, decision, index == active),
            }
        });
        insights.collect()
    }

    /// Returns the actions of the standard need after a tick.
    pub fn standard_insights(
        &self,
        state: &MindState,
        decision: &Decision,
    ) -> Vec<ActionInsight<'_>> {
        self.action_insights(&self.standard, state, decision, true)
    }

    fn action_insights<'a>(
        &'a self,
        need: &Need,
        state: &MindState,
        decision: &Decision,
        is_active: bool,
    ) -> Vec<ActionInsight<'a>> {
        let insight = |&index: &usize| {
            let has = |mask: u64| mask >> index & 1 == 1;
            let acts = is_active && has(decision.actions);
            let forces = state.forces.iter();
            let own = forces.filter(|(action, _)| acts && usize::from(*action) == index);
            ActionInsight {
                name: &self.actions[index].name,
                is_possible: has(state.asked.actions).then_some(has(state.asked.executable)),
                acts,
                force: own.map(|(_, force)| *force).sum(),
            }
        };
        need.actions.iter().map(insight).collect()
    }

    /// Returns the flocking rules and a mask of the names of flock mates of the action that flocks: one that acts, else the first
    /// one that is not off. `None` if the mind does not flock.
    pub fn flock_insight(
        &self,
        species_bit: u64,
        decision: &Decision,
    ) -> Option<(FlockRules, u64)> {
        let names = |action: &MindAction| action.params.flocks_with(species_bit, action.related);
        let flocks = |action: &&MindAction| action.weight > 0.0 && names(action) != 0;
        let acting = (self.actions.iter().enumerate())
            .filter(|(index, _)| decision.actions >> index & 1 == 1)
            .map(|(_, action)| action)
            .find(flocks);
        let action = acting.or_else(|| self.actions.iter().find(flocks))?;
        Some((action.flock, names(action)))
    }

    /// Returns the parameters of the drives.
    pub fn drives(&self) -> &DrivesParams {
        &self.drives
    }

    /// Returns the agents that an agent with this mind perceives now, the nearest first.
    pub fn perceived(&self, world: &World<'_>, index: usize) -> Vec<Neighbor> {
        perceived_agents(world, index, self.field_of_view)
    }
}
