//! The mind: a strictly ordered list of needs and one standard need, which decide once in a step what an individual wants.
//!
//! **Source**: 2-behavior.md section 1 (the pseudo code); main source 3.3 and appendix A. In: a view of the state before
//! the step. Out: a decision. Changes nothing but the individual's own memory.

use glam::Vec3;

use crate::navigation::fields::Fields;
use serde::{Deserialize, Serialize};

use crate::navigation::Trip;
use crate::steering::{FlockRules, Motion};
use crate::world::{Chance, Purpose, Species, World};

use super::actions::ClimbMemory;
use super::actions::{ActionParams, Memory};
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

/// A species' mind, ready for the step. The same for all its individuals; what differs is in their [`MindState`].
#[derive(Clone, Debug, PartialEq)]
pub struct Mind {
    pub(super) slots: Vec<MindAction>,
    pub(super) standard: Need,
    pub(super) needs: Vec<Need>,
    combine: Combine,
    drives: DrivesParams,
    flock: FlockRules,
    sight: FieldOfView,
    needs_paths: bool,
}

/// What one individual's mind carries from step to step: plain numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindState {
    pub(super) memories: Vec<Memory>,
    pub(super) needs: Vec<NeedState>,
    pub(super) standard: NeedState,
    pub(super) remembered: PerceptionMemory,
    pub(super) drives: Drives,
    /// Place of the need that was active, plus one; 0 for none.
    pub(super) intention: usize,
    /// How long it has been.
    pub(super) intended_secs: f32,
    /// Forces of the last step by the place of their action; empty unless somebody wants to know why.
    #[serde(skip)]
    forces: Vec<(u8, Vec3)>,
}

impl MindState {
    /// Hunger, fear and libido.
    pub fn drives(&self) -> &Drives {
        &self.drives
    }

    /// The ways that its actions have called for or follow.
    pub fn trips_mut(&mut self) -> impl Iterator<Item = &mut Trip> {
        self.memories.iter_mut().filter_map(|memory| match memory {
            Memory::Navigate(trip) => Some(trip),
            _ => None,
        })
    }

    /// The ways over terraces that its actions have called for.
    pub fn climbs_mut(&mut self) -> impl Iterator<Item = &mut ClimbMemory> {
        self.memories.iter_mut().filter_map(|memory| match memory {
            Memory::Leap(climbing) => Some(climbing),
            _ => None,
        })
    }

    /// What it remembers of others.
    pub fn remembered(&self) -> &PerceptionMemory {
        &self.remembered
    }

    /// Lets go of the forces of the last step.
    pub fn clear_forces(&mut self) {
        self.forces = Vec::new();
    }
}

/// Room for one individual's thinking, used again for the next.
#[derive(Clone, Debug, Default)]
pub struct MindWorkspace {
    perception: Perception,
    proposals: Vec<Option<Proposal>>,
}

impl MindWorkspace {
    /// Makes room enough that thinking in a pool of so many agents and solids seldom has to make more.
    pub fn reserve_for(&mut self, agents: usize, solids: usize) {
        let neighbors = agents.min(4096) + 64;
        self.perception.reserve_for(neighbors, solids);
        self.proposals.clear();
        self.proposals.reserve(MAX_ACTIONS);
    }
}

impl Mind {
    /// Compiles a mind. Names of actions that do not exist are left out; `MindParams::problems` tells them before.
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
        let slots: Vec<MindAction> = params
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
            slots: need
                .actions
                .iter()
                .take(MAX_ACTIONS)
                .filter_map(|name| slots.iter().position(|slot| slot.name == *name))
                .collect(),
            params: need.clone(),
        };
        Self {
            standard: need(&params.standard),
            needs: params.needs.iter().take(MAX_ACTIONS).map(need).collect(),
            combine: params.combine,
            drives: params.drives.clone(),
            flock: flock_rules(species),
            sight: FieldOfView::new(species.perception.field_of_view_deg),
            needs_paths: slots
                .iter()
                .any(|slot| matches!(slot.params, ActionParams::Navigate(_))),
            slots,
        }
    }

    /// A fresh state for one individual.
    pub fn state(&self, chance: Chance, id: u32) -> MindState {
        let start = |(place, need): (usize, &Need)| {
            let variable = need.params.limit.as_ref().map_or(0.0, |limit| {
                let draw = chance.unit(id, Purpose::Need, place as u32);
                limit.start + (limit.value - limit.start) * limit.start_spread * draw
            });
            NeedState {
                variable,
                ..NeedState::default()
            }
        };
        MindState {
            memories: self.slots.iter().map(|slot| slot.params.memory()).collect(),
            needs: self.needs.iter().enumerate().map(start).collect(),
            drives: self.drives.start(chance.unit(id, Purpose::Drive, 0)),
            ..MindState::default()
        }
    }

    /// The forces of an individual's last step by the names of their actions.
    pub fn forces(&self, state: &MindState) -> impl Iterator<Item = (&str, Vec3)> {
        state.forces.iter().filter_map(|(place, force)| {
            Some((self.slots.get(usize::from(*place))?.name.as_str(), *force))
        })
    }

    /// Name of the need at a place.
    pub fn need_name(&self, place: u8) -> &str {
        self.needs
            .get(usize::from(place))
            .map_or("", |need| &need.params.name)
    }

    /// Names of all needs, most important first.
    pub fn need_names(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(|need| need.params.name.as_str())
    }

    /// Whether a state is one of this mind: as many memories of the same kinds, as many needs, and only finite numbers.
    pub fn fits(&self, state: &MindState) -> bool {
        let mut each = self.slots.iter().zip(&state.memories);
        let kinds = each.all(|(slot, memory)| {
            std::mem::discriminant(&slot.params.memory()) == std::mem::discriminant(memory)
        });
        let drives = &state.drives;
        let numbers = [drives.hunger, drives.fear, drives.libido, drives.readiness];
        kinds
            && state.memories.len() == self.slots.len()
            && state.needs.len() == self.needs.len()
            && state.needs.iter().all(|need| need.variable.is_finite())
            && numbers.iter().all(|number| (0.0..=1.0).contains(number))
    }

    /// Names of the actions of a decision, by name.
    pub fn action_names(&self, actions: u64) -> impl Iterator<Item = &str> {
        self.slots
            .iter()
            .enumerate()
            .filter(move |(place, _)| actions >> place & 1 == 1)
            .map(|(_, slot)| slot.name.as_str())
    }

    /// Tells all needs of an individual of an event.
    pub fn apply_event(&self, state: &mut MindState, event: NeedEvent) {
        match event {
            NeedEvent::Catch | NeedEvent::Meal => state.drives.fed(),
            NeedEvent::Courted => state.drives.courted(),
            NeedEvent::Nothing => return,
        }
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            if let Some(limit) = &need.params.limit
                && (limit.reset_by == event
                    // What was caught is eaten.
                    || limit.reset_by == NeedEvent::Meal && event == NeedEvent::Catch)
            {
                state.variable = limit.reset_to;
            }
        }
    }

    /// Sets the variable of an individual's need; false where there is no such need with a limit.
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

    /// Whether an action of it looks for ways.
    pub fn needs_paths(&self) -> bool {
        self.needs_paths
    }

    /// Looks around and decides for the agent at `index`.
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
            intention,
            intended_secs,
            forces,
        } = state;
        forces.clear();
        remembered.fade(world.dt_secs);
        workspace
            .perception
            .look(world, index, self.sight, remembered);
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
            drives.step(&self.drives, enemy_m, has_partner, world.dt_secs);
        }
        workspace.proposals.resize(self.slots.len(), None);
        let mut evaluation = Evaluation {
            slots: &self.slots,
            context,
            memories,
            proposals: &mut workspace.proposals,
            asked: 0,
            forces: world.explains.then_some(forces),
            learned: None,
        };
        for (need, state) in self.needs.iter().zip(needs.iter_mut()) {
            if let Some(limit) = &need.params.limit {
                let grown = state.variable + limit.rate_per_sec * world.dt_secs;
                state.variable = match limit.of {
                    LimitOf::Own => grown.clamp(-1e6, 1e6),
                    LimitOf::Hunger => drives.hunger,
                    LimitOf::Fear => drives.fear,
                    LimitOf::Libido => drives.libido,
                };
            }
        }
        // The active need is asked first although the standard need stands first in the sum: obstacle avoidance may then
        // help where it steers. No action's answer depends on the order otherwise.
        let unsatisfied = (0..self.needs.len())
            .find(|&place| !self.needs[place].is_satisfied(&needs[place], &mut evaluation));
        let active = self.intended(unsatisfied, (intention, intended_secs), &mut evaluation);
        let wanted = active
            .map(|place| self.needs[place].steer(&mut needs[place], &mut evaluation))
            .unwrap_or_default();
        evaluation.context.need_force_n = wanted.force;
        evaluation.context.need_goal_m = wanted.goal_m;
        let always = self.standard.steer(standard, &mut evaluation);
        let mut decision = self.join(&always, &wanted, &evaluation.context, &self.standard.params);
        decision.need = active.map(|place| place as u8);
        if let Some(learned) = evaluation.learned {
            remembered.learn(learned);
        }
        decision
    }

    /// The need that acts: the first that is not satisfied, or one above it that was active until now and is kept to.
    fn intended(
        &self,
        unsatisfied: Option<usize>,
        (intention, intended_secs): (&mut usize, &mut f32),
        evaluation: &mut Evaluation<'_>,
    ) -> Option<usize> {
        let kept = intention.checked_sub(1).filter(|&place| {
            let need = self.needs.get(place);
            need.is_some_and(|need| {
                unsatisfied.is_none_or(|first| place < first)
                    && *intended_secs < need.params.keep_secs
                    && need.slots.iter().any(|&slot| evaluation.can(slot))
            })
        });
        let active = kept.or(unsatisfied);
        let now = active.map_or(0, |place| place + 1);
        *intended_secs = if now == *intention {
            *intended_secs + evaluation.context.world.dt_secs
        } else {
            0.0
        };
        *intention = now;
        active
    }

    /// Puts the standard need and the active need together.
    fn join(
        &self,
        always: &Decision,
        wanted: &Decision,
        context: &ActionContext<'_>,
        params: &NeedParams,
    ) -> Decision {
        let (first, second) = (always, wanted);
        let has_first = first.actions != 0;
        match self.combine {
            Combine::Sum => first.with(second, second.force),
            Combine::First if has_first => *first,
            Combine::First => *second,
            Combine::Budget => {
                let left = (context.species.motion.max_force_n - first.force.length()).max(0.0);
                first.with(second, second.force.clamp_length_max(left))
            }
            // The standard need, which keeps clear of obstacles, is never left to the draw.
            Combine::Dither
                if has_first && context.chance(Purpose::Dither) < params.dither_chance =>
            {
                *first
            }
            Combine::Dither => first.with(second, second.force),
        }
    }
}
