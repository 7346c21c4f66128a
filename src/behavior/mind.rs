//! Minds. A mind is a strictly ordered list of needs and one standard need. Once per tick it decides for one agent.
//!
//! In: the world before the tick. Out: a decision, and the updated state of this mind. Must not: change anything
//! else. **Source**: Jockel 2005, §3.3 and appendix A.

use glam::Vec3;

use crate::geometry::Visitor;
use crate::navigation::{FlowFields, Repulsion};
use crate::steering::{FlockRules, Motion};
use crate::world::{Random, RandomStream, Species, World};

use super::action::Capabilities;
use super::actions::ActionParams;
use super::context::ActionContext;
use super::decision::Decision;
use super::drives::{Drives, DrivesParams};
use super::evaluation::{Evaluation, MindAction};
use super::mind_state::MindState;
use super::need::{Need, NeedState};
use super::params::{Combine, LimitOf, LimitSide, MAX_ACTIONS, MindParams, NeedParams};
use super::perception::{FieldOfView, Perception};
use super::perception_memory::PerceptionMemory;
use super::proposal::{NeedEvent, Proposal};
use super::schooling::flock_rules;

/// A compiled mind. All agents of a species share it; each agent has its own [`MindState`].
#[derive(Clone, Debug, PartialEq)]
pub struct Mind {
    pub(super) actions: Vec<MindAction>,
    pub(super) standard: Need,
    /// Needs, most important first.
    pub(super) needs: Vec<Need>,
    combine: Combine,
    pub(super) drives: DrivesParams,
    flock: FlockRules,
    pub(super) field_of_view: FieldOfView,
    /// One bit for each action that needs a path.
    pathing: u64,
    /// One bit for each action that hunts.
    hunting: u64,
}

/// One action of a mind, for reports.
#[derive(Clone, Copy, Debug)]
pub struct MindActionInfo<'a> {
    /// Name of the action.
    pub name: &'a str,
    /// Properties of its kind.
    pub capabilities: Capabilities,
    /// Whether its weight is greater than 0 or the director can raise it, and the species has the relation that it acts on.
    pub is_on: bool,
    /// Whether a need lists it. Otherwise it can only be a part of a combined action.
    pub is_listed: bool,
}

/// Scratch memory for deciding, reused for each agent.
#[derive(Clone, Debug, Default)]
pub struct MindWorkspace {
    perception: Perception,
    proposals: Vec<Proposal>,
}

/// Largest number of neighbors for which memory is reserved beforehand. If an agent has more neighbors, the workspace
/// grows once.
const RESERVED_NEIGHBORS_MAX: usize = 4096;

/// Number of visitors' shadows for which memory is reserved in addition to the agents of the pool.
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
        let parts = |action: &ActionParams| {
            let parts = action.parts().iter();
            parts
                .filter_map(|name| names.iter().position(|n| *n == name))
                .collect()
        };
        let mut actions: Vec<MindAction> = params
            .actions
            .iter()
            .take(MAX_ACTIONS)
            .map(|(name, action)| MindAction {
                name: name.clone(),
                has_target: action
                    .built_in_relation()
                    .is_none_or(|relation| species.relations.mask(&[relation.to_owned()]) != 0),
                related: species.relations.mask(action.relations()),
                flock: flock_rules(species, action.flock_changes()),
                params: action.clone(),
                capabilities: action.capabilities(),
                weight: action.weight().max(0.0),
                follows_director: action.follows_director(),
                parts: parts(action),
            })
            .collect();
        hunt_by_parts(&mut actions);
        let need = |need: &NeedParams| {
            let own = need
                .actions
                .iter()
                .take(MAX_ACTIONS)
                .filter_map(|name| actions.iter().position(|action| action.name == *name));
            Need {
                params: need.clone(),
                actions: own.collect(),
            }
        };
        Self {
            standard: need(&params.standard),
            needs: params.needs.iter().take(MAX_ACTIONS).map(need).collect(),
            combine: params.combine,
            drives: params.drives.clone(),
            flock: flock_rules(species, None),
            field_of_view: FieldOfView::new(species.perception.field_of_view_deg),
            pathing: mask_of(&actions, |capabilities| capabilities.needs_paths),
            hunting: mask_of(&actions, |capabilities| capabilities.hunts),
            actions,
        }
    }

    /// Returns the name of the need with this index; empty if there is none.
    pub fn need_name(&self, index: u8) -> &str {
        self.needs
            .get(usize::from(index))
            .map_or("", |need| &need.params.name)
    }

    /// Returns the names of all needs, most important first.
    pub fn need_names(&self) -> impl Iterator<Item = &str> {
        self.needs.iter().map(|need| need.params.name.as_str())
    }

    /// Returns all actions, in the order of the bits of a decision's actions.
    pub fn actions(&self) -> impl Iterator<Item = MindActionInfo<'_>> {
        let needs = || self.needs.iter().chain([&self.standard]);
        self.actions
            .iter()
            .enumerate()
            .map(move |(index, action)| MindActionInfo {
                name: &action.name,
                capabilities: action.capabilities,
                is_on: (action.weight > 0.0 || action.follows_director) && action.has_target,
                is_listed: needs().any(|need| need.actions.contains(&index)),
            })
    }

    /// Returns the field around another agent that keeps an agent with this mind away from it, and the weighted force where both
    /// hulls touch. `touch_m` is the distance of the centers at which they touch. `None` if there is no such field.
    pub fn field_around(&self, touch_m: f32) -> Option<(Repulsion, f32)> {
        let needs = || self.needs.iter().chain([&self.standard]);
        let is_listed = |index: usize| needs().any(|need| need.actions.contains(&index));
        let mut on = (self.actions.iter().enumerate())
            .filter(|(index, action)| action.weight > 0.0 && is_listed(*index));
        on.find_map(|(_, action)| {
            let (around, force_n) = action.params.field_around(touch_m)?;
            Some((around, force_n * action.weight))
        })
    }

    /// Returns the distance from the shadow of a visitor that an agent with this mind keeps now. A shadow costs nothing for a mind that
    /// does not flee from it: the distance is then negative infinity.
    pub fn keeps_from_m(&self, visitor: &Visitor) -> f32 {
        let needs = || self.needs.iter().chain([&self.standard]);
        let is_listed = |index: usize| needs().any(|need| need.actions.contains(&index));
        let on = (self.actions.iter().enumerate())
            .filter(|(index, action)| action.weight > 0.0 && is_listed(*index));
        let distances = on.filter_map(|(_, action)| action.params.keeps_from_m(visitor));
        distances.fold(f32::NEG_INFINITY, f32::max)
    }

    /// Returns the names of the actions in a decision, in alphabetical order. `actions` has one bit for each action.
    pub fn action_names(&self, actions: u64) -> impl Iterator<Item = &str> {
        self.actions
            .iter()
            .enumerate()
            .filter(move |(index, _)| actions >> index & 1 == 1)
            .map(|(_, action)| action.name.as_str())
    }

    /// Returns one bit for each of the mind's actions that needs a path.
    pub fn pathing(&self) -> u64 {
        self.pathing
    }

    /// Updates the perception of the agent at `index`, and returns the decision of this agent.
    pub fn decide(
        &self,
        world: &World<'_>,
        fields: &FlowFields,
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
            escape,
            forces,
            asked,
        } = state;
        forces.clear();
        remembered.fade(world.dt_secs);
        workspace
            .perception
            .update(world, index, self.field_of_view, remembered);
        let context = self.context(world, fields, index, &workspace.perception, remembered);
        self.advance_drives(&context, drives, needs);
        // Proposals of the agent before may remain: only those of executable actions are read.
        if workspace.proposals.len() < self.actions.len() {
            workspace
                .proposals
                .resize(self.actions.len(), Proposal::default());
        }
        let mut evaluation = Evaluation {
            actions: &self.actions,
            context,
            memories,
            proposals: &mut workspace.proposals,
            evaluated: 0,
            executable: 0,
            forces: world.records_forces.then_some(forces),
        };
        // The active need decides before the standard need, so that obstacle avoidance, an action of the standard
        // need, can turn to the side to which the active need steers. The proposals of other actions do not depend on
        // this order.
        let unsatisfied = (0..self.needs.len())
            .find(|&index| !self.needs[index].is_satisfied(&needs[index], &mut evaluation));
        let active = self.choose_active(unsatisfied, (active_need, active_secs), &mut evaluation);
        for (index, (need, state)) in self.needs.iter().zip(needs.iter_mut()).enumerate() {
            need.try_for(state, active == Some(index), world.dt_secs);
        }
        let wanted = active
            .map(|index| self.needs[index].decide(&mut needs[index], &mut evaluation))
            .unwrap_or_default();
        let hunts = wanted.actions & self.hunting != 0;
        let escaping_n = escape.update(&evaluation.context, &wanted.proposal, hunts);
        let wanted = escaping_n.map_or(wanted, |force| wanted.escaping(force));
        evaluation.context.need_escapes = escaping_n.is_some();
        evaluation.context.need_follows_route = wanted.proposal.follows_route;
        evaluation.context.need_lies = wanted.proposal.lies;
        evaluation.context.need_force_n = wanted.proposal.force;
        evaluation.context.need_goal_m = wanted.proposal.goal_m;
        let recorded = evaluation.recorded();
        let always = self.standard.decide(standard, &mut evaluation);
        let mut decision = self.combine(&always, &wanted, &evaluation.context);
        self.explain_budget(&mut evaluation, recorded, [&decision, &always, &wanted]);
        if world.records_forces {
            (asked.actions, asked.executable) = (evaluation.evaluated, evaluation.executable);
        }
        decision.need = active.map(|index| index as u8);
        decision.hunts = decision.actions & self.hunting != 0;
        if let Some(learned) = decision.proposal.learn {
            remembered.learn(learned);
        }
        decision
    }

    /// Returns what the actions of the agent at `index` read, before a need has decided.
    fn context<'a>(
        &'a self,
        world: &'a World<'a>,
        fields: &'a FlowFields,
        index: usize,
        perception: &'a Perception,
        remembered: &'a PerceptionMemory,
    ) -> ActionContext<'a> {
        let body = &world.agents.bodies[index];
        ActionContext {
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
            hull: world.agents.hull(index),
            neighbors: &perception.neighbors,
            near_solids: &perception.near_solids,
            remembered,
            need_force_n: Vec3::ZERO,
            need_goal_m: None,
            need_follows_route: false,
            need_escapes: false,
            need_lies: false,
            least_secs: 0.0,
            related: 0,
        }
    }

    /// Advances hunger, fear and libido, and the variables of the needs with a limit.
    fn advance_drives(
        &self,
        context: &ActionContext<'_>,
        drives: &mut Drives,
        needs: &mut [NeedState],
    ) {
        let dt_secs = context.world.dt_secs;
        if self.drives.is_any_on() {
            let enemy = context.remembered.enemy.visible();
            let enemy_m = enemy.map(|enemy| enemy.apparent_m(context.motion.position_m));
            let partner = context.species.relations.partner;
            let has_partner = partner != 0 && context.nearest_visible(partner).is_some();
            drives.advance(&self.drives, enemy_m, has_partner, dt_secs);
        }
        for (need, state) in self.needs.iter().zip(needs) {
            if let Some(limit) = &need.params.limit {
                let grown = state.variable + limit.rate_per_sec * dt_secs;
                state.variable = match limit.of {
                    LimitOf::Own => grown.clamp(-VARIABLE_MAX, VARIABLE_MAX),
                    LimitOf::Hunger => drives.hunger,
                    LimitOf::Fear => drives.fear,
                    LimitOf::Libido => drives.libido,
                };
            }
        }
    }

    /// Scales the recorded forces of the active need to the force that its budget leaves it. `of` holds the decision of the mind, of
    /// the standard need and of the active need.
    fn explain_budget(
        &self,
        evaluation: &mut Evaluation<'_>,
        recorded: usize,
        [all, standard, active]: [&Decision; 3],
    ) {
        if self.combine == Combine::Budget && recorded > 0 {
            let left_n = (all.proposal.force - standard.proposal.force).length();
            let wanted_n = active.proposal.force.length().max(f32::MIN_POSITIVE);
            evaluation.scale_recorded(recorded, (left_n / wanted_n).min(1.0));
        }
    }

    /// Returns the index of the active need. This is the need of the last tick if it is more important than the first
    /// unsatisfied need its `keep_secs` have not passed, and one of its actions can be executed; otherwise the first
    /// unsatisfied need. `None` if no need is active.
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
            Combine::First if standard_acts => standard.with_outcome_of(active),
            Combine::First => *active,
            Combine::Budget => {
                // Across what keeps it clear, a fish that is close to others still flees, and one below the ground swims on.
                let max_force_n = context.species.motion.max_force_n;
                let clear_n = standard.proposal.force;
                let left_n = (max_force_n - clear_n.length()).max(0.0);
                let force = active.proposal.force.clamp_length_max(max_force_n);
                let clear = clear_n.normalize_or_zero();
                let excess_n = (-force.dot(clear) - left_n).max(0.0);
                standard.with_active(&active.with_force(force + clear * excess_n))
            }
        }
    }
}

/// Returns one bit for each action with a property.
fn mask_of(actions: &[MindAction], has: impl Fn(&Capabilities) -> bool) -> u64 {
    let having = actions.iter().enumerate();
    having
        .filter(|(_, action)| has(&action.capabilities))
        .fold(0, |mask, (index, _)| mask | 1 << index)
}

/// Marks combined actions as hunting if one of their parts hunts.
fn hunt_by_parts(actions: &mut [MindAction]) {
    // Each pass covers one more level of nesting.
    for _ in 0..actions.len() {
        for index in 0..actions.len() {
            let hunts = |&part: &usize| actions[part].capabilities.hunts;
            let is_hunting = actions[index].parts.iter().any(hunts);
            actions[index].capabilities.hunts |= is_hunting;
        }
    }
}

/// Largest absolute value of a need's variable.
const VARIABLE_MAX: f32 = 1e6;

impl Mind {
    /// Returns the initial state of one agent.
    pub fn state(&self, random: Random, id: u32) -> MindState {
        let start = |(index, need): (usize, &Need)| {
            let variable = need.params.limit.as_ref().map_or(0.0, |limit| {
                let draw = random.unit(id, RandomStream::Need, index as u32);
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
            drives: self.drives.start(random.unit(id, RandomStream::Drive, 0)),
            ..MindState::default()
        }
    }

    /// Returns the recorded forces of an agent's last tick, each with the name of its action.
    pub fn forces(&self, state: &MindState) -> impl Iterator<Item = (&str, Vec3)> {
        state.forces.iter().filter_map(|(action, force)| {
            let action = self.actions.get(usize::from(*action))?;
            Some((action.name.as_str(), *force))
        })
    }

    /// Whether a state fits this mind: it has the same kinds of memories, the same number of needs, finite variables,
    /// and drives from 0 to 1.
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

    /// Switches hunting on or off for an agent.
    ///
    /// This changes the variable of each need that has a hunting action and a limit. On: the variable is set beyond
    /// the limit. Off: it is set to `reset_to`, as after a catch.
    pub fn switch_hunting(&self, state: &mut MindState, on: bool) {
        let drives = &mut state.drives;
        for (need, state) in self.needs.iter().zip(&mut state.needs) {
            let hunts = |&action: &usize| self.actions[action].capabilities.hunts;
            if let Some(limit) = &need.params.limit
                && need.actions.iter().any(hunts)
            {
                let beyond = match limit.side {
                    LimitSide::Upper => 1.0,
                    LimitSide::Lower => -1.0,
                };
                state.variable = if on {
                    limit.value + beyond
                } else {
                    limit.reset_to
                };
                if limit.of == LimitOf::Hunger {
                    drives.hunger = f32::from(u8::from(on));
                }
            }
        }
    }
}
