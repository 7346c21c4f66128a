//! The mind: a strictly ordered list of needs and one standard need, which decide once in a step what an individual wants.
//!
//! **Source**: 2-behavior.md section 1 (the pseudo code); main source 3.3 and appendix A. In: a view of the state before
//! the step. Out: a decision. Changes nothing but the individual's own memory.

use glam::Vec3;

use crate::navigation::fields::Fields;
use serde::{Deserialize, Serialize};

use crate::navigation::Trip;
use crate::steering::{FlockRules, Motion};
use crate::world::{Chance, Intent, Purpose, Species, World};

use super::action::{BoostRequest, Proposal, stronger};
use super::actions::leap::Climbing;
use super::actions::{ActionParams, Memory};
use super::drives::{Drives, DrivesParams};
use super::need::{
    Combine, LimitOf, LimitSide, MAX_ACTIONS, MindParams, NeedEvent, NeedKind, NeedParams,
};
use super::schooling::flock_rules;
use super::view::{Recall, Senses, View};

/// A species' mind, ready for the step. The same for all its individuals; what differs is in their [`MindState`].
#[derive(Clone, Debug, PartialEq)]
pub struct Mind {
    pub(super) slots: Vec<Slot>,
    pub(super) standard: Need,
    pub(super) needs: Vec<Need>,
    combine: Combine,
    drives: DrivesParams,
    flock: FlockRules,
}

/// One action of a mind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) params: ActionParams,
    related: u64,
    /// Places of the parts of a combined action.
    parts: Vec<usize>,
}

/// One need with its actions as places in the mind's list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Need {
    pub(super) params: NeedParams,
    pub(super) slots: Vec<usize>,
}

/// What one individual's mind carries from step to step: plain numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MindState {
    pub(super) memories: Vec<Memory>,
    pub(super) needs: Vec<NeedState>,
    pub(super) standard: NeedState,
    pub(super) recall: Recall,
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
    pub fn climbs_mut(&mut self) -> impl Iterator<Item = &mut Climbing> {
        self.memories.iter_mut().filter_map(|memory| match memory {
            Memory::Leap(climbing) => Some(climbing),
            _ => None,
        })
    }

    /// What it remembers of others.
    pub fn recall(&self) -> &Recall {
        &self.recall
    }

    /// Lets go of the forces of the last step.
    pub fn forget_forces(&mut self) {
        self.forces = Vec::new();
    }
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

/// What an individual wants in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decision {
    /// Steering force, not yet clipped.
    pub force: Vec3,
    /// The strongest boost asked for.
    pub boost: Option<BoostRequest>,
    /// Whether the limit of turning is lifted.
    pub hulk: bool,
    /// Index of the agent that it has caught.
    pub catch: Option<u32>,
    /// What others may know of where it wants to go.
    pub intent: Option<Intent>,
    /// What happens to its own needs: with a catch when that succeeds, else at once.
    pub event: Option<NeedEvent>,
    /// Place of the active need; `None` when only the standard need acts.
    pub need: Option<u8>,
    /// One bit for each executed action.
    pub actions: u64,
}

/// Room for one individual's thinking, used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Thoughts {
    senses: Senses,
    proposals: Vec<Option<Proposal>>,
}

impl Thoughts {
    /// Makes room enough that thinking in a pool of so many agents and solids seldom has to make more.
    pub fn make_room_for(&mut self, agents: usize, solids: usize) {
        let neighbors = agents.min(4096) + 64;
        self.senses.neighbors.clear();
        self.senses.neighbors.reserve(neighbors);
        self.senses.nearby.clear();
        self.senses.nearby.reserve(solids);
        self.senses.make_room_for(neighbors);
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
        let slots: Vec<Slot> = params
            .actions
            .iter()
            .take(MAX_ACTIONS)
            .map(|(name, action)| Slot {
                name: name.clone(),
                related: species.relations.mask(action.relations()),
                params: action.clone(),
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
    pub fn tell(&self, state: &mut MindState, event: NeedEvent) {
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

    /// Looks around and decides for the agent at `index`.
    pub fn decide(
        &self,
        world: &World,
        fields: &Fields,
        index: usize,
        state: &mut MindState,
        thoughts: &mut Thoughts,
    ) -> Decision {
        let MindState {
            memories,
            needs,
            standard,
            recall,
            drives,
            intention,
            intended_secs,
            forces,
        } = state;
        forces.clear();
        recall.fade(world.dt_secs);
        thoughts.senses.look(world, index, recall);
        let body = &world.agents.bodies[index];
        let view = View {
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
            neighbors: &thoughts.senses.neighbors,
            nearby: &thoughts.senses.nearby,
            recall: *recall,
            wish: Vec3::ZERO,
            related: 0,
        };
        if self.drives.any() {
            let enemy = view.recall.enemy.visible();
            let enemy_m = enemy.map(|enemy| enemy.position_m.distance(view.motion.position_m));
            let partner = view.species.relations.partner;
            let has_partner = partner != 0 && view.nearest_visible(partner).is_some();
            drives.step(&self.drives, enemy_m, has_partner, world.dt_secs);
        }
        thoughts.proposals.resize(self.slots.len(), None);
        let mut asking = Asking {
            slots: &self.slots,
            view,
            memories,
            proposals: &mut thoughts.proposals,
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
            .find(|&place| !self.needs[place].is_satisfied(&needs[place], &mut asking));
        let active = self.intended(unsatisfied, (intention, intended_secs), &mut asking);
        let wanted = active
            .map(|place| self.needs[place].steer(&mut needs[place], &mut asking))
            .unwrap_or_default();
        asking.view.wish = wanted.force;
        let always = self.standard.steer(standard, &mut asking);
        let mut decision = self.join(&always, &wanted, &asking.view, &self.standard.params);
        decision.need = active.map(|place| place as u8);
        if let Some((key, secs)) = asking.learned {
            recall.learn(key, secs);
        }
        decision
    }

    /// The need that acts: the first that is not satisfied, or one above it that was active until now and is kept to.
    fn intended(
        &self,
        unsatisfied: Option<usize>,
        (intention, intended_secs): (&mut usize, &mut f32),
        asking: &mut Asking<'_>,
    ) -> Option<usize> {
        let kept = intention.checked_sub(1).filter(|&place| {
            let need = self.needs.get(place);
            need.is_some_and(|need| {
                unsatisfied.is_none_or(|first| place < first)
                    && *intended_secs < need.params.keep_secs
                    && need.slots.iter().any(|&slot| asking.ask(slot).is_some())
            })
        });
        let active = kept.or(unsatisfied);
        let now = active.map_or(0, |place| place + 1);
        *intended_secs = if now == *intention {
            *intended_secs + asking.view.world.dt_secs
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
        view: &View<'_>,
        params: &NeedParams,
    ) -> Decision {
        let (first, second) = (always, wanted);
        let has_first = first.actions != 0;
        match self.combine {
            Combine::Sum => first.with(second, second.force),
            Combine::First if has_first => *first,
            Combine::First => *second,
            Combine::Budget => {
                let left = (view.species.motion.max_force_n - first.force.length()).max(0.0);
                first.with(second, second.force.clamp_length_max(left))
            }
            // The standard need, which keeps clear of obstacles, is never left to the draw.
            Combine::Dither if has_first && view.chance(Purpose::Dither) < params.dither_chance => {
                *first
            }
            Combine::Dither => first.with(second, second.force),
        }
    }
}

impl Decision {
    fn take(&mut self, place: usize, proposal: &Proposal, force: Vec3) {
        self.force += force;
        self.boost = stronger(self.boost, proposal.boost);
        self.hulk |= proposal.hulk;
        self.catch = self.catch.or(proposal.catch);
        self.intent = self.intent.or(proposal.intent);
        self.event = self.event.or(proposal.event);
        self.actions |= 1 << place;
    }

    fn with(&self, other: &Self, force: Vec3) -> Self {
        let mut both = *self;
        both.force += force;
        both.boost = stronger(self.boost, other.boost);
        both.hulk |= other.hulk;
        both.catch = self.catch.or(other.catch);
        both.intent = other.intent.or(self.intent);
        both.event = self.event.or(other.event);
        both.actions |= other.actions;
        both
    }
}

/// Asks actions, each at most once in a step.
struct Asking<'a> {
    slots: &'a [Slot],
    view: View<'a>,
    memories: &'a mut Vec<Memory>,
    proposals: &'a mut Vec<Option<Proposal>>,
    asked: u64,
    forces: Option<&'a mut Vec<(u8, Vec3)>>,
    /// Whom it has come to know in this step, by an action that was executed.
    learned: Option<(u32, f32)>,
}

impl Asking<'_> {
    fn ask(&mut self, place: usize) -> Option<Proposal> {
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
                self.view.related = slot.related;
                slot.params.propose(&self.view, &mut self.memories[place])
            };
        }
        self.proposals[place]
    }

    fn weight(&self, place: usize) -> f32 {
        let params = &self.slots[place].params;
        params.weight().max(params.least_weight(&self.view))
    }

    /// Notes a force down for whoever wants to know why.
    fn note(&mut self, place: usize, force: Vec3) {
        if let Some(forces) = &mut self.forces {
            forces.push((place as u8, force));
        }
    }

    fn chance(&self, purpose: Purpose, draw: usize) -> f32 {
        let id = self.view.world.agents.ids[self.view.index];
        self.view.world.chance.unit(id, purpose, draw as u32 + 1)
    }
}

impl Need {
    fn is_satisfied(&self, state: &NeedState, asking: &mut Asking<'_>) -> bool {
        match (self.params.kind, &self.params.limit) {
            (NeedKind::ActionBased, _) => self.slots.iter().all(|&slot| asking.ask(slot).is_none()),
            (NeedKind::LimitBased, Some(limit)) => match limit.side {
                LimitSide::Upper => state.variable <= limit.value,
                LimitSide::Lower => state.variable >= limit.value,
            },
            _ => false,
        }
    }

    fn steer(&self, state: &mut NeedState, asking: &mut Asking<'_>) -> Decision {
        let mut decision = Decision::default();
        if !self.params.additive {
            let slot = if self.params.stochastic {
                self.draw(state, asking)
            } else {
                self.first(asking)
            };
            self.execute(slot, asking, &mut decision);
            return decision;
        }
        match self.params.combine {
            Combine::Sum => {
                for &slot in &self.slots {
                    self.execute(Some(slot), asking, &mut decision);
                }
            }
            Combine::First => self.execute(self.first(asking), asking, &mut decision),
            Combine::Budget => {
                let mut left = asking.view.species.motion.max_force_n;
                for &slot in &self.slots {
                    let Some(proposal) = asking.ask(slot) else {
                        continue;
                    };
                    let force = (proposal.force * asking.weight(slot)).clamp_length_max(left);
                    decision.take(slot, &proposal, force);
                    asking.note(slot, force);
                    left -= force.length();
                    if left <= 1e-6 {
                        break;
                    }
                }
            }
            Combine::Dither => {
                let slot = self.dither(state, asking);
                self.execute(slot, asking, &mut decision);
            }
        }
        decision
    }

    fn execute(&self, slot: Option<usize>, asking: &mut Asking<'_>, decision: &mut Decision) {
        if let Some(slot) = slot
            && let Some(proposal) = asking.ask(slot)
        {
            let force = proposal.force * asking.weight(slot);
            decision.take(slot, &proposal, force);
            asking.learned = asking.learned.or(proposal.learn);
            asking.note(slot, force);
        }
    }

    fn first(&self, asking: &mut Asking<'_>) -> Option<usize> {
        self.slots
            .iter()
            .copied()
            .find(|&slot| asking.ask(slot).is_some())
    }

    /// The choice of before while it can be executed and its time is not over.
    fn held(&self, state: &mut NeedState, asking: &mut Asking<'_>) -> Option<usize> {
        let held = state.choice.checked_sub(1)?;
        let slot = *self.slots.get(held)?;
        state.held_secs += asking.view.world.dt_secs;
        (state.held_secs < self.params.minimum_secs && asking.ask(slot).is_some()).then_some(slot)
    }

    /// Any of the executable actions, evenly.
    fn draw(&self, state: &mut NeedState, asking: &mut Asking<'_>) -> Option<usize> {
        if let Some(slot) = self.held(state, asking) {
            return Some(slot);
        }
        let mut executable = 0u64;
        for (place, &slot) in self.slots.iter().enumerate() {
            executable |= u64::from(asking.ask(slot).is_some()) << place;
        }
        let count = executable.count_ones();
        let mut nth = (asking.chance(Purpose::Choice, 0) * count as f32) as u32;
        let place = (0..self.slots.len()).find(|&place| {
            let is_executable = executable >> place & 1 == 1;
            let found = is_executable && nth == 0;
            nth = nth.saturating_sub(u32::from(is_executable));
            found
        });
        self.hold(state, place)
    }

    /// In order, each with its chance; obstacle avoidance always.
    fn dither(&self, state: &mut NeedState, asking: &mut Asking<'_>) -> Option<usize> {
        let is_avoidance = |asking: &Asking<'_>, slot: usize| {
            matches!(asking.slots[slot].params, ActionParams::AvoidObstacles(_))
        };
        for &slot in &self.slots {
            if is_avoidance(asking, slot) && asking.ask(slot).is_some() {
                return Some(slot);
            }
        }
        if let Some(slot) = self.held(state, asking) {
            return Some(slot);
        }
        let place = (0..self.slots.len()).find(|&place| {
            asking.ask(self.slots[place]).is_some()
                && asking.chance(Purpose::Dither, place) < self.params.dither_chance
        });
        self.hold(state, place)
    }

    fn hold(&self, state: &mut NeedState, place: Option<usize>) -> Option<usize> {
        state.choice = place.map_or(0, |place| place + 1);
        state.held_secs = 0.0;
        place.map(|place| self.slots[place])
    }
}
