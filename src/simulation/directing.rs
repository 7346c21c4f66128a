//! The director in a running pool: starts and ends its rules and applies their effects.
//!
//! In: the world before a tick. Out: gathering points, and changed needs and boosts. Must not: fail, or allocate in a steady
//! tick.

use glam::{Vec2, Vec3};

use super::plan::PoolPlan;
use super::state::PoolState;
use super::tick::Simulation;
use super::workspace::AgentMinds;
use crate::behavior::{Effect, RuleParams, RuleState, RuleTransition};
use crate::world::{Gathering, Water, World};

/// Distance from the center of the picture to the point that `send_across` sends fish to, as a share of the half width.
const ACROSS_SHARE: f32 = 0.9;

impl Simulation {
    /// Advances all rules by one tick.
    pub(super) fn run_director(&mut self) {
        for number in 0..self.plan.rules.len() {
            let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
            let rule = &self.plan.rules[number];
            match self.state.rules[number].advance(rule, number, &world) {
                RuleTransition::Unchanged => {}
                RuleTransition::Begins => self.begin_rule(number),
                RuleTransition::Ends => self.end_rule(number),
            }
        }
        self.follow_visitors();
    }

    /// Starts the rule with this name in the next tick, even if its condition is not met. Returns `false` if there is no such
    /// rule.
    pub fn start_rule(&mut self, name: &str) -> bool {
        let found = self.plan.rules.iter().position(|rule| rule.name == name);
        if let Some(number) = found {
            self.state.rules[number].is_started = true;
        }
        found.is_some()
    }

    /// Returns each rule of the director with its state.
    pub fn rules(&self) -> impl Iterator<Item = (&RuleParams, &RuleState)> {
        self.plan.rules.iter().zip(&self.state.rules)
    }

    /// Adapts the states of rules to a new plan. Unchanged rules keep their state.
    pub(super) fn change_rules(&mut self, old_rules: &[RuleParams]) {
        let states = &self.state.rules;
        let kept = |rule: &RuleParams| {
            let number = old_rules.iter().position(|old| old == rule);
            number.map_or_else(RuleState::default, |number| states[number])
        };
        self.state.rules = self.plan.rules.iter().map(kept).collect();
        let by_rules = &mut self.state.world.director.by_rules;
        by_rules.clear();
        by_rules.resize(self.plan.world.species.len(), None);
        for number in 0..self.plan.rules.len() {
            if self.state.rules[number].is_on {
                self.set_gatherings(number);
            }
        }
    }

    /// Applies the effect of a rule that starts.
    fn begin_rule(&mut self, number: usize) {
        let minds = self.workspace.minds(&self.plan);
        let effect = &self.plan.rules[number].then;
        apply_effect(effect, &self.plan, minds, &mut self.state);
        self.set_gatherings(number);
    }

    /// Applies an effect once to all agents of its species. Returns whether the effect changed the mind of an agent.
    pub(super) fn apply_effect(&mut self, effect: &Effect) -> bool {
        let minds = self.workspace.minds(&self.plan);
        apply_effect(effect, &self.plan, minds, &mut self.state)
    }

    /// Sets the gathering points of an active rule.
    fn set_gatherings(&mut self, number: usize) {
        let effect = &self.plan.rules[number].then;
        for species_index in 0..self.plan.world.species.len() {
            let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
            if !effect.applies_to(&world.species[species_index].name) {
                continue;
            }
            let gathering = match effect {
                Effect::Gather(gather) => Some(Gathering {
                    point_m: gather.point_m.into(),
                    weight: gather.weight,
                }),
                Effect::SendAcross(send) => {
                    opposite_side_m(&world, species_index).map(|point_m| Gathering {
                        point_m,
                        weight: send.weight,
                    })
                }
                Effect::GatherAtShadow(gather) => {
                    stillest_visitor_m(&world).map(|point_m| Gathering {
                        point_m,
                        weight: gather.weight,
                    })
                }
                Effect::Hunting(_) | Effect::Calm(_) | Effect::SetNeed(_) => continue,
            };
            self.state.world.director.by_rules[species_index] = gathering;
        }
    }

    /// Removes the gathering points of a rule that ends.
    fn end_rule(&mut self, number: usize) {
        let effect = &self.plan.rules[number].then;
        let gathers = matches!(
            effect,
            Effect::Gather(_) | Effect::GatherAtShadow(_) | Effect::SendAcross(_)
        );
        if !gathers {
            return;
        }
        let species = &self.plan.world.species;
        let gatherings = &mut self.state.world.director.by_rules;
        for (gathering, species) in gatherings.iter_mut().zip(species) {
            if effect.applies_to(&species.name) {
                *gathering = None;
            }
        }
    }

    /// Moves the gathering points that follow a visitor.
    fn follow_visitors(&mut self) {
        for number in 0..self.plan.rules.len() {
            let follows = matches!(self.plan.rules[number].then, Effect::GatherAtShadow(_));
            if follows && self.state.rules[number].is_on {
                self.set_gatherings(number);
            }
        }
    }
}

/// Applies an effect once to all agents of its species. Returns whether the effect changed the mind of an agent. An effect
/// with a duration, such as gathering, does nothing here.
fn apply_effect(
    effect: &Effect,
    plan: &PoolPlan,
    minds: AgentMinds<'_>,
    state: &mut PoolState,
) -> bool {
    let agents = &mut state.world.agents;
    let mut changed = false;
    for (index, mind_state) in state.minds.iter_mut().enumerate() {
        let species = &plan.world.species[usize::from(agents.species[index])];
        if !effect.applies_to(&species.name) {
            continue;
        }
        let mind = minds.get(index);
        match effect {
            Effect::Hunting(hunting) => {
                mind.switch_hunting(mind_state, hunting.on);
                changed = true;
            }
            Effect::SetNeed(set) => {
                changed |= mind.set_variable(mind_state, &set.need, set.value);
            }
            Effect::Calm(_) => {
                let boost = &mut agents.bodies[index].boost;
                boost.hold_secs = 0.0;
                boost.allowed_mps = species.motion.cruise_mps;
            }
            Effect::Gather(_) | Effect::GatherAtShadow(_) | Effect::SendAcross(_) => {}
        }
    }
    changed
}

/// Returns a point on the side of the pool opposite to the mean position of a species; `None` if the species has no agents.
fn opposite_side_m(world: &World<'_>, species_index: usize) -> Option<Vec3> {
    let agents = world.agents;
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for (body, own) in agents.bodies.iter().zip(&agents.species) {
        if usize::from(*own) == species_index {
            sum += body.position_m;
            count += 1.0;
        }
    }
    let mean = (count > 0.0).then(|| sum / count)?;
    let y = middle_height(world.water);
    let half = world.water.visible_half_m(y);
    let side = if mean.x > 0.0 { -1.0 } else { 1.0 };
    Some(Vec3::new(
        side * half.x * ACROSS_SHARE,
        y,
        mean.z.clamp(-half.y, half.y) * 0.5,
    ))
}

/// Returns a point at middle height under the visitor that has stood still for the longest time; `None` without visitors.
fn stillest_visitor_m(world: &World<'_>) -> Option<Vec3> {
    let shadows = &world.visitors.shadows;
    let stillest = shadows
        .iter()
        .max_by(|a, b| a.still_secs.total_cmp(&b.still_secs))?;
    let y = middle_height(world.water);
    let at: Vec2 = stillest.centroid_m * world.water.scale(y);
    Some(Vec3::new(at.x, y, at.y))
}

fn middle_height(water: &Water) -> f32 {
    let (low, high) = water.y_range_m(0.0);
    (low + high) / 2.0
}
