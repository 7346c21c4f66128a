//! The director at work: rules begin and end, and what their effects say happens to the pool.
//!
//! In: the world before a tick. Out: gatherings, needs and boosts changed. Must not: fail, allocate in a steady tick.

use glam::{Vec2, Vec3};

use super::tick::Simulation;
use crate::behavior::{Effect, Mind, MindState, RuleParams, RuleState, RuleTransition};
use crate::world::{Gathering, Water, World};

/// Share of the way from the middle to the edge at which those are to arrive who are sent across.
const ACROSS_SHARE: f32 = 0.9;

impl Simulation {
    /// Goes one step on with all rules.
    pub(super) fn direct(&mut self) {
        for place in 0..self.rules.len() {
            let transition =
                self.rule_states[place].advance(&self.rules[place], place, &self.world);
            match transition {
                RuleTransition::Unchanged => {}
                RuleTransition::Begins => self.begin(place),
                RuleTransition::Ends => self.end(place),
            }
        }
        self.follow_shadows();
    }

    /// Starts a rule by hand, whatever its condition; false where there is no such rule.
    pub fn start_rule(&mut self, name: &str) -> bool {
        let found = self.rules.iter().position(|rule| rule.name == name);
        if let Some(place) = found {
            self.rule_states[place].is_started = true;
        }
        found.is_some()
    }

    /// The director's rules and where each stands.
    pub fn rules(&self) -> impl Iterator<Item = (&RuleParams, &RuleState)> {
        self.rules.iter().zip(&self.rule_states)
    }

    /// Takes over other rules; those that stay, by name and whole, go on.
    pub(super) fn take_over_rules(&mut self, rules: Vec<RuleParams>) {
        let kept = |rule: &RuleParams| {
            let place = self.rules.iter().position(|old| old == rule);
            place.map_or_else(RuleState::default, |place| self.rule_states[place])
        };
        self.rule_states = rules.iter().map(kept).collect();
        self.rules = rules;
        let kinds = self.world.species.len();
        self.world.director.by_rules.clear();
        self.world.director.by_rules.resize(kinds, None);
        for place in 0..self.rules.len() {
            if self.rule_states[place].is_on {
                self.gather(place);
            }
        }
    }

    fn begin(&mut self, place: usize) {
        apply_effect(
            &self.rules[place].then,
            &mut self.world,
            (&self.minds, &self.mind_of),
            &mut self.states,
        );
        self.gather(place);
    }

    /// Applies an effect once to all agents of its species. Returns whether it changed the mind of an agent.
    pub(super) fn apply_effect(&mut self, effect: &Effect) -> bool {
        let minds = (&self.minds[..], &self.mind_of[..]);
        apply_effect(effect, &mut self.world, minds, &mut self.states)
    }

    /// Sets the gatherings of a rule that begins.
    fn gather(&mut self, place: usize) {
        let effect = &self.rules[place].then;
        for kind in 0..self.world.species.len() {
            if !effect.applies_to(&self.world.species[kind].name) {
                continue;
            }
            let gathering = match effect {
                Effect::Gather(gather) => Some(Gathering {
                    point_m: gather.point_m.into(),
                    weight: gather.weight,
                }),
                Effect::SendAcross(send) => self.other_side_m(kind).map(|point_m| Gathering {
                    point_m,
                    weight: send.weight,
                }),
                Effect::GatherAtShadow(gather) => self.stillest_m().map(|point_m| Gathering {
                    point_m,
                    weight: gather.weight,
                }),
                Effect::Hunting(_) | Effect::Calm(_) | Effect::SetNeed(_) => continue,
            };
            self.world.director.by_rules[kind] = gathering;
        }
    }

    fn end(&mut self, place: usize) {
        let effect = &self.rules[place].then;
        let gathers = matches!(
            effect,
            Effect::Gather(_) | Effect::GatherAtShadow(_) | Effect::SendAcross(_)
        );
        if !gathers {
            return;
        }
        for (kind, gathering) in self.world.director.by_rules.iter_mut().enumerate() {
            if effect.applies_to(&self.world.species[kind].name) {
                *gathering = None;
            }
        }
    }

    /// Those who gather at a visitor go along with the visitor.
    fn follow_shadows(&mut self) {
        for place in 0..self.rules.len() {
            if self.rule_states[place].is_on
                && matches!(self.rules[place].then, Effect::GatherAtShadow(_))
            {
                self.gather(place);
            }
        }
    }

    /// A place on the other side than the one where most of a species are; `None` without any.
    fn other_side_m(&self, kind: usize) -> Option<Vec3> {
        let agents = &self.world.agents;
        let (mut sum, mut count) = (Vec3::ZERO, 0.0);
        for (body, own) in agents.bodies.iter().zip(&agents.species) {
            if usize::from(*own) == kind {
                sum += body.position_m;
                count += 1.0;
            }
        }
        let middle = (count > 0.0).then(|| sum / count)?;
        let y = middle_height(&self.world.water);
        let half = self.world.water.visible_half_m(y);
        let side = if middle.x > 0.0 { -1.0 } else { 1.0 };
        Some(Vec3::new(
            side * half.x * ACROSS_SHARE,
            y,
            middle.z.clamp(-half.y, half.y) * 0.5,
        ))
    }

    /// Under the visitor who has stood still longest; `None` without visitors.
    fn stillest_m(&self) -> Option<Vec3> {
        let shadows = &self.world.visitors.shadows;
        let stillest = shadows
            .iter()
            .max_by(|a, b| a.still_secs.total_cmp(&b.still_secs))?;
        let y = middle_height(&self.world.water);
        let at: Vec2 = stillest.centroid_m * self.world.water.scale(y);
        Some(Vec3::new(at.x, y, at.y))
    }
}

/// Applies an effect once to all agents of its species. `minds` are all minds, and the index of each agent's mind.
///
/// Returns whether it changed the mind of an agent. Effects that last do nothing here.
fn apply_effect(
    effect: &Effect,
    world: &mut World,
    (minds, mind_of): (&[Mind], &[u16]),
    states: &mut [MindState],
) -> bool {
    let mut changed = false;
    for index in 0..world.agents.len() {
        let species = &world.species[usize::from(world.agents.species[index])];
        if !effect.applies_to(&species.name) {
            continue;
        }
        let mind = &minds[usize::from(mind_of[index])];
        match effect {
            Effect::Hunting(hunting) => {
                mind.switch_hunting(&mut states[index], hunting.on);
                changed = true;
            }
            Effect::SetNeed(set) => {
                changed |= mind.set_variable(&mut states[index], &set.need, set.value);
            }
            Effect::Calm(_) => {
                let boost = &mut world.agents.bodies[index].boost;
                boost.hold_secs = 0.0;
                boost.allowed_mps = species.motion.cruise_mps;
            }
            Effect::Gather(_) | Effect::GatherAtShadow(_) | Effect::SendAcross(_) => {}
        }
    }
    changed
}

fn middle_height(water: &Water) -> f32 {
    let (low, high) = water.y_range_m(0.0);
    (low + high) / 2.0
}
