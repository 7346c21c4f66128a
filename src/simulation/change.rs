//! Changes of a running pool between two ticks: a new plan, another mind for one agent, an effect of the director.
//!
//! In: validated and compiled changes. Out: the same agents in the changed pool, with their memories. Must
//! not: fail. A change that names an agent, species, need or rule that does not exist has no effect. Applying a change
//! allocates memory, unlike a tick.

use glam::Vec3;

use super::Simulation;
use super::plan::PoolPlan;
use crate::behavior::MindParams;
use crate::world::{Effect, Gathering, SetNeedEffect};

/// One change of a running pool, applied between two ticks.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Replaces the plan. Agents keep their ids. If a species has more agents than the new plan allows, its newest agents
    /// are removed; missing agents are added out of sight.
    Pool(Box<PlanChange>),
    /// Applies an effect of the director once. Effects that last, such as gathering, are started by rules or by
    /// [`Change::Gather`].
    Effect(Effect),
    /// Starts a rule of the director.
    StartRule {
        /// Name of the rule.
        name: String,
    },
    /// Ends a rule of the director and all rules that belong to it.
    StopRule {
        /// Name of the rule.
        name: String,
    },
    /// Sets the factor on the frequency at which rules of the director begin.
    Pace(f32),
    /// Sets a gathering point for all fish; `None` removes it.
    Gather(Option<Gathering>),
    /// Gives one agent another mind for `secs`. Replaces an earlier override of this agent.
    OverrideMind {
        /// Id of the agent.
        id: u32,
        /// The other mind.
        mind: Box<MindParams>,
        /// Duration of the override, in seconds.
        secs: f32,
    },
    /// Gives one agent its own mind back.
    EndOverride {
        /// Id of the agent.
        id: u32,
    },
}

/// A new plan, with the agents that the user adds or removes one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    /// The new plan.
    pub plan: PoolPlan,
    /// Species name and position of each agent that is added at this position instead of out of sight.
    pub added: Vec<(String, Vec3)>,
    /// Ids of the agents to remove. If a species has surplus agents, these are removed before any other.
    pub removed_ids: Vec<u32>,
}

impl Simulation {
    /// Applies a change. Call it between ticks.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Pool(change) => self.change_plan(*change),
            Change::Effect(effect) => {
                self.apply_effect(&effect);
            }
            Change::StartRule { name } => {
                self.start_rule(&name);
            }
            Change::StopRule { name } => {
                self.stop_rule(&name);
            }
            Change::Pace(factor) => self.state.world.director.pace = factor,
            Change::Gather(gathering) => self.state.world.director.by_hand = gathering,
            Change::OverrideMind { id, mind, secs } => self.override_mind(id, *mind, secs),
            Change::EndOverride { id } => self.end_override_of(id),
        }
    }

    /// Replaces the plan and adapts the state to it.
    fn change_plan(&mut self, change: PlanChange) {
        let suspended = self.suspend_overrides();
        let old = std::mem::replace(&mut self.plan, change.plan);
        if old.terraces != self.plan.terraces {
            self.state.terraces.reset(&self.plan.terraces);
        }
        self.change_population(
            &old.world.species,
            &old.minds,
            &change.added,
            &change.removed_ids,
        );
        self.hide_caught();
        self.change_rules(&old.rules);
        self.resume_overrides(suspended);
        self.state.reserve_catches();
        self.workspace.prepare(&self.plan, &self.state);
        self.state.revision += 1;
    }

    /// Sets the variable of a `limit_based` need for all individuals of a species. Returns `false` if the species has no
    /// agents or no such need.
    pub fn set_need(&mut self, species: &str, need: &str, value: f32) -> bool {
        self.apply_effect(&Effect::SetNeed(SetNeedEffect {
            species: vec![species.into()],
            need: need.into(),
            value,
        }))
    }
}
