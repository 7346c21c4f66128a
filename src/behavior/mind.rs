//! Minds: a strictly ordered list of needs and one standard need, which decide once per tick what an agent wants.
//!
//! In: the world before the tick. Out: a decision. Changes nothing but the agent's own state of mind.
//! **Source**: Jockel 2005, §3.3 and appendix A.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use crate::navigation::Trip;
use crate::navigation::fields::Fields;
use crate::steering::{FlockRules, Motion};
use crate::world::{Chance, Purpose, Species, World};

use super::actions::{ActionParams, ClimbMemory, Memory};
use super::context::ActionContext;
use super::decision::Decision;
use super::drives::{Drives, DrivesParams};
use super::evaluation::{Evaluation, MindAction};
use super::need::{Need, NeedState};
use super::params::{Combine, LimitOf, MAX_ACTIONS, MindParams, NeedParams};
use super::perception::{FieldOfView, Perception};
use super::perception_memory::PerceptionMemory;
use super::proposal::{NeedEvent, Proposal};
use super::schooling::flock_rules;

/// A compiled mind. All agents of a species share it; what differs between them is in their [`MindState`].
#[derive(Clone, Debug, PartialEq)]
pub struct Mind {
    pub(super) actions: Vec<MindAction>,
    pub(super) standard: Need,
    /// Needs, most important first.
    pub(super) needs: Vec<Need>,
    combine: Combine,
    drives: DrivesParams,
    flock: FlockRules,
    field_of_view: FieldOfView,
    needs_paths: bool,
}

/// State of one agent's mind from tick to tick.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindState {
    /// Memories of the actions, by action.
    pub(super) memories: Vec<Memory>,
    /// States of the needs, by need.
    pub(super) needs: Vec<NeedState>,
    pub(super) standard: NeedState,
    pub(super) remembered: PerceptionMemory,
    pub(super) drives: Drives,
    /// Index of the need that was active in the last tick, plus one; 0 for none.
    pub(super) active_need: usize,
    /// Time for which it has been active.
    pub(super) active_secs: f32,
    /// Force of each action executed in the last tick, by action. Empty unless forces are recorded.
    #[serde(skip)]
    forces: Vec<(u8, Vec3)>,
}

impl MindState {
    /// Hunger, fear and libido.
    pub fn drives(&self) -> &Drives {
        &self.drives
    }

    /// Trips of the actions that need a path.
    pub fn trips_mut(&mut self) -> impl Iterator<Item = &mut Trip> {
        self.memories.iter_mut().filter_map(|memory| match memory {
            Memory::Navigate(trip) => Some(trip),
            _ => None,
        })
    }

    /// Requests and answers of the actions that travel between terraces.
    pub fn climbs_mut(&mut self) -> impl Iterator<Item = &mut ClimbMemory> {
        self.memories.iter_mut().filter_map(|memory| match memory {
            Memory::Leap(climbing) => Some(climbing),
            _ => None,
        })
    }

    /// Clears the recorded forces of the last tick and frees their memory.
    pub fn clear_forces(&mut self) {
        self.forces = Vec::new();
    }
}

/// Scratch memory for deciding, reused for each agent.
#[derive(Clone, Debug, Default)]
pub struct MindWorkspace {
    perception: Perception,
    proposals: Vec<Option<Proposal>>,
}

/// Most neighbors for which memory is reserved beforehand. An agent with more neighbors makes its workspace grow once.
const RESERVED_NEIGHBORS_MAX: usize = 4096;

/// Neighbors for which memory is reserved in addition to the agents of the pool, for visitors' shadows.
const RESERVED_SHADOWS: usize = 64;

impl MindWorkspace {
    /// Reserves memory, so that deciding in a pool with this many agents and obstacles rarely has to allocate.
    pub fn reserve_for(&mut self, agents: usize, solids: usize) {
        let neighbors = agents.min(RESERVED_NEIGHBORS_MAX) + RESERVED_SHADOWS;
        self.perception.reserve_for(neighbors, solids);
        self.proposals.clear();
        self.proposals.reserve(MAX_ACTIONS);
    }
}

impl Mind {
    /// Compiles a mind. Names of unknown actions are ignored; [`MindParams::problems`] reports them.
    pub fn compile(params: &MindParams, species: &Species) -> Self {
        let names: Vec<&String> = params.actions.keys().take(MAX_ACTIONS).collect();
        let parts = |action: &ActionParams| match action {
            ActionParams::Combined(combined) => {
                let is_simple = |name: &&String| {
                    !matches!(params.actions.get(*name), Some(ActionParams::Combined(_)))
                };
                let parts = combined.actions.iter().filter(is_simple);
                parts
                    .filter_map(|name| names.iter().position(|n| *n == name))
                    .collect()
            }
            _ => Vec::new(),
        };
        let actions: Vec<MindAction> = params
            .actions
            .iter()
            .take(MAX_ACTIONS)
            .map(|(name, action)| MindAction {
                name: name.clone(),
                related: species.relations.mask(action.relations()),
                params: action.clone(),
                weight: action.weight(),
                parts: parts(action),
            })
            .collect();
        let need = |need: &NeedParams| Need {
            actions: need
                .actions
                .iter()
                .take(MAX_ACTIONS)
                .filter_map(|name| actions.iter().position(|action| action.name == *name))
                .collect(),
            params: need.clone(),
        };
        Self {
            standard: need(&params.standard),
            needs: params.needs.iter().take(MAX_ACTIONS).map(need).collect(),
            combine: params.combine,
            drives: params.drives.clone(),
            flock: flock_rules(species),
            field_of_view: FieldOfView::new(species.perception.field_of_view_deg),
            needs_paths: actions
                .iter()
                .any(|action| matches!(action.params, ActionParams::Navigate(_))),
            actions,
        }
    }

    /// Returns the initial state of one agent.
    pub fn state(&self, chance: Chance, id: u32) -> MindState {
        let start = |(index, need): (usize, &Need)| {
            let variable = need.params.limit.as_ref().map_or(0.0, |limit| {
                let draw = chance.unit(id, Purpose::Need, index as u32);
                limit.start + (limit.value - limit.start) * limit.start_spread * draw
            });
            NeedState {
                variable,
                ..NeedState::default()
            }
        };
        MindState {
            memories: self
                .actions
                .iter()
                .map(|action| action.params.memory())
                .collect(),
            needs: self.needs.iter().enumerate().map(start).collect(),
            drives: self.drives.start(chance.unit(id, Purpose::Drive, 0)),
            ..MindState::default()
        }
    }

    /// Recorded forces of an agent's last tick, with the names of their actions.
    pub fn forces(&self, state: &MindState) -> impl Iterator<Item = (&str, Vec3)> {
        state.forces.iter().filter_map(|(action, force)| {
            let action = self.actions.get(usize::from(*action))?;
            Some((action.name.as_str(), *force))
        })
    }

    /// Name of the need with this index; empty if there is none.
    pub fn need_name(&self, index: u8) -> &str {
        self.needs
            .get(usize::from(index))
            .map_or("", |need| &need.params.name)
    }

    /// Names of all needs, most important first.
    pub fn need_names(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(|need| need.params.name.as_str())
    }

    /// Names of the actions in a decision, in alphabetical order.
    pub fn action_names(&self, actions: u64) -> impl Iterator<Item = &str> {
        self.actions
            .iter()
            .enumerate()
            .filter(move |(index, _)| actions >> index & 1 == 1)
            .map(|(_, action)| action.name.as_str())
    }

    /// Whether a state belongs to this mind: it has the same kinds of memories, the same number of needs, and finite
    /// numbers.
    pub fn fits(&self, state: &MindState) -> bool {
        let mut each = self.actions.iter().zip(&state.memories);
        let kinds = each.all(|(action, memory)| {
            std::mem::discriminant(&action.params.memory()) == std::mem::discriminant(memory)
        });
        let drives = &state.drives;
        let numbers = [drives.hunger, drives.fear, drives.libido, drives.readiness];
        kinds
            && state.memories.len() == self.actions.len()
            && state.needs.len() == self.needs.len()
            && state.needs.iter().all(|need| need.variable.is_finite())
            && numbers.iter().all(|number| (0.0..=1.0).contains(number))
    }

    /// Applies an event to the drives of an agent and to the variables of its needs.
    pub fn apply_event(&self, state: &mut MindState, event: NeedEvent) {
        match event {
            NeedEvent::Catch | NeedEvent::Meal => state.drives.fed(),
            NeedEvent::Courted => state.drives.courted(),
            NeedEvent::Nothing => return,
        }
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            if let Some(limit) = &need.params.limit
                && (limit.reset_by == event
                    // A catch is also a meal.
                    || limit.reset_by == NeedEvent::Meal && event == NeedEvent::Catch)
            {
                state.variable = limit.reset_to;
            }
        }
    }

    /// Sets the variable of an agent's need, or the drive that the need reads. Returns false if the mind has no need with
    /// this name and a limit.
    pub fn set_variable(&self, state: &mut MindState, need: &str, value: f32) -> bool {
        let mut found = false;
        let drives = &mut state.drives;
        for (own, state) in self.needs.iter().zip(&mut state.needs) {
            if let Some(limit) = &own.params.limit
                && own.params.name == need
            {
                match limit.of {
                    LimitOf::Own => state.variable = value,
                    LimitOf::Hunger => drives.hunger = value.clamp(0.0, 1.0),
                    LimitOf::Fear => drives.fear = value.clamp(0.0, 1.0),
                    LimitOf::Libido => drives.readiness = value.clamp(0.0, 1.0),
                }
                found = true;
            }
        }
        found
    }

    /// Whether one of its actions needs a path.
    pub fn needs_paths(&self) -> bool {
        self.needs_paths
    }

    /// Updates the perception of the agent at `index`, and decides for it.
    pub fn decide(
        &self,
        world: &World,
        fields: &Fields,
        index: usize,
        state: &mut MindState,
        workspace: &mut MindWorkspace,
    ) -> Decision {
        let MindState {
            memories,
            needs,
            standard,
            remembered,
            drives,
            active_need,
            active_secs,
            forces,
        } = state;
        forces.clear();
        remembered.fade(world.dt_secs);
        workspace
            .perception
            .update(world, index, self.field_of_view, remembered);
        let body = &world.agents.bodies[index];
        let context = ActionContext {
            world,
            fields,
            index,
            motion: Motion {
                position_m: body.position_m,
                velocity_mps: body.velocity_mps,
                forward: body.forward,
                up: body.up,
            },
            species: &world.species[usize::from(world.agents.species[index])],
            flock: &self.flock,
            radius_m: world.agents.radii_m[index],
            neighbors: &workspace.perception.neighbors,
            near_solids: &workspace.perception.near_solids,
            remembered,
            need_force_n: Vec3::ZERO,
            need_goal_m: None,
            related: 0,
        };
        if self.drives.any() {
            let enemy = context.remembered.enemy.visible();
            let enemy_m = enemy.map(|enemy| enemy.position_m.distance(context.motion.position_m));
            let partner = context.species.relations.partner;
            let has_partner = partner != 0 && context.nearest_visible(partner).is_some();
            drives.advance(&self.drives, enemy_m, has_partner, world.dt_secs);
        }
        workspace.proposals.resize(self.actions.len(), None);
        let mut evaluation = Evaluation {
            actions: &self.actions,
            context,
            memories,
            proposals: &mut workspace.proposals,
            evaluated: 0,
            forces: world.explains.then_some(forces),
        };
        for (need, state) in self.needs.iter().zip(needs.iter_mut()) {
            if let Some(limit) = &need.params.limit {
                let grown = state.variable + limit.rate_per_sec * world.dt_secs;
                state.variable = match limit.of {
                    LimitOf::Own => grown.clamp(-VARIABLE_MAX, VARIABLE_MAX),
                    LimitOf::Hunger => drives.hunger,
                    LimitOf::Fear => drives.fear,
                    LimitOf::Libido => drives.libido,
                };
            }
        }
        // The active need decides before the standard need, so that obstacle avoidance can turn to the side to which
        // the active need steers. The proposals of other actions do not depend on this order.
        let unsatisfied = (0..self.needs.len())
            .find(|&index| !self.needs[index].is_satisfied(&needs[index], &mut evaluation));
        let active = self.choose_active(unsatisfied, (active_need, active_secs), &mut evaluation);
        let wanted = active
            .map(|index| self.needs[index].decide(&mut needs[index], &mut evaluation))
            .unwrap_or_default();
        evaluation.context.need_force_n = wanted.proposal.force;
        evaluation.context.need_goal_m = wanted.proposal.goal_m;
        let always = self.standard.decide(standard, &mut evaluation);
        let mut decision = self.combine(&always, &wanted, &evaluation.context);
        decision.need = active.map(|index| index as u8);
        if let Some(learned) = decision.proposal.learn {
            remembered.learn(learned);
        }
        decision
    }

    /// Returns the active need: the first unsatisfied one, or a more important one that was active in the last tick and is
    /// kept active by its `keep_secs`.
    fn choose_active(
        &self,
        unsatisfied: Option<usize>,
        (active_need, active_secs): (&mut usize, &mut f32),
        evaluation: &mut Evaluation<'_>,
    ) -> Option<usize> {
        let kept = active_need.checked_sub(1).filter(|&index| {
            let need = self.needs.get(index);
            need.is_some_and(|need| {
                unsatisfied.is_none_or(|first| index < first)
                    && *active_secs < need.params.keep_secs
                    && need
                        .actions
                        .iter()
                        .any(|&action| evaluation.is_executable(action))
            })
        });
        let active = kept.or(unsatisfied);
        let now = active.map_or(0, |index| index + 1);
        *active_secs = if now == *active_need {
            *active_secs + evaluation.context.world.dt_secs
        } else {
            0.0
        };
        *active_need = now;
        active
    }

    /// Combines the decisions of the standard need and of the active need.
    fn combine(
        &self,
        standard: &Decision,
        active: &Decision,
        context: &ActionContext<'_>,
    ) -> Decision {
        let standard_acts = standard.actions != 0;
        match self.combine {
            Combine::Sum => standard.with_active(active),
            Combine::First if standard_acts => *standard,
            Combine::First => *active,
            Combine::Budget => {
                let max_force_n = context.species.motion.max_force_n;
                let left_n = (max_force_n - standard.proposal.force.length()).max(0.0);
                let force = active.proposal.force.clamp_length_max(left_n);
                standard.with_active(&active.with_force(force))
            }
            // Chance only decides about the active need: the standard need, which avoids obstacles, always acts.
            Combine::Dither
                if standard_acts
                    && context.chance(Purpose::Dither) < self.standard.params.dither_chance =>
            {
                *standard
            }
            Combine::Dither => standard.with_active(active),
        }
    }
}

/// Largest absolute value of a need's variable.
const VARIABLE_MAX: f32 = 1e6;
