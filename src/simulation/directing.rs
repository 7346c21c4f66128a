//! The director in a running pool: starts and ends its rules and applies their effects.
//!
//! In: the world before a tick. Out: gathering points, and changed needs and boosts. Must not: fail, or allocate in a steady
//! tick.

use glam::{Vec2, Vec3};

use super::Simulation;
use super::plan::PoolPlan;
use super::state::PoolState;
use super::workspace::AgentMinds;
use crate::geometry::SurfaceKind;
use crate::world::{
    Body, Condition, EarlierRule, Effect, Entrance, Gathering, GatheringRequest, GatheringVisitor,
    HIDDEN_LENGTHS, PictureSide, RandomStream, RuleParams, RuleState, RuleTransition, SoundEffect,
    Species, Water, World,
};

/// Distance from the center of the picture to the point that `send_across` sends fish to, as a share of the half width.
const ACROSS_SHARE: f32 = 0.9;

/// Fish enter within this share of the height of the picture.
const ENTRANCE_SHARE: f32 = 0.6;

impl Simulation {
    /// Advances all rules by one tick.
    pub(super) fn run_director(&mut self) {
        let input = &self.workspace.input;
        let presence = &mut self.state.world.presence;
        presence.update(&input.visitors.shadows, input.dt_secs);
        let mut allowed = self.allowed_rules();
        for number in 0..self.plan.rules.len() {
            if self.waits(number, allowed) {
                continue;
            }
            let earlier = self.earlier_rule(number);
            let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
            let rule = &self.plan.rules[number];
            match self.state.rules[number].advance(rule, number, &world, earlier) {
                RuleTransition::Unchanged => {}
                RuleTransition::Begins => {
                    self.quiet_others(number);
                    self.begin_rule(number);
                    allowed = self.allowed_rules();
                }
                RuleTransition::Ends => {
                    self.end_rule(number);
                    allowed = self.allowed_rules();
                }
            }
        }
        self.follow_visitors();
        self.light_picture();
        self.state.world.director.arbitrate();
    }

    /// Returns the rule that a rule follows, if that rule has begun.
    fn earlier_rule(&self, number: usize) -> Option<EarlierRule> {
        let Condition::After(after) = &self.plan.rules[number].when else {
            return None;
        };
        let earlier = self
            .plan
            .rules
            .iter()
            .position(|rule| rule.name == after.rule)?;
        let state = self.state.rules[earlier];
        let ticks = self
            .state
            .world
            .random
            .tick
            .saturating_sub(state.begin_tick);
        state.has_begun.then_some(EarlierRule {
            begin_tick: state.begin_tick,
            since_secs: ticks as f32 * self.workspace.input.dt_secs,
        })
    }

    /// Moves the agents that enter and are out of sight to the side from which they come. The bodies after the tick must be complete.
    pub(super) fn let_in(&mut self) {
        let mut number = 0;
        while let Some(entrance) = self.state.world.director.entrances.get(number).copied() {
            if self.let_in_one(entrance) {
                self.state.world.director.entrances.remove(number);
                // The effect lasts from the last entrance on, so that an agent that was in sight has time to come in.
                let hold_secs = self.plan.rules[entrance.rule].hold_secs;
                self.state.rules[entrance.rule].left_secs = hold_secs;
            } else {
                number += 1;
            }
        }
    }

    /// Moves an agent to the side from which it enters, if it is out of sight and not absent. Returns whether its entrance is over.
    fn let_in_one(&mut self, entrance: Entrance) -> bool {
        let agents = &self.state.world.agents;
        let Some(index) = agents.index_of(entrance.agent) else {
            return true;
        };
        let Effect::Enter(enter) = &self.plan.rules[entrance.rule].then else {
            return true;
        };
        let Some(sign) = sign_of(enter.side) else {
            return true;
        };
        let species = &self.plan.world.species[usize::from(agents.species[index])];
        let length_m = species.body.length_m * agents.size_factors[index];
        let (water, id) = (&self.plan.world.water, agents.ids[index]);
        let body = &mut self.workspace.next_bodies[index];
        let y = body.position_m.y;
        let is_absent = agents.name_bits[index] == 0;
        if is_absent || water.is_visible(body.position_m, length_m) {
            return false;
        }
        let half = water.visible_half_m(y);
        let draw = (self.state.world.random).signed(id, RandomStream::Place, 0);
        let x = sign * (half.x + length_m * HIDDEN_LENGTHS);
        let at_m = Vec3::new(x, y, draw * half.y * ENTRANCE_SHARE);
        let radius_m = agents.radii_m[index];
        let mut solids = self.plan.world.solids.iter();
        if solids.all(|solid| solid.signed_distance_m(at_m) > radius_m) {
            *body = Body {
                quarantine_count: body.quarantine_count,
                ..Body::new(at_m, Vec3::X * -sign, species.motion.cruise_mps)
            };
        }
        true
    }

    /// Notes the agents that a rule lets come from a side, and where each of them swims out of the picture if it is in sight.
    fn request_entrances(&mut self, number: usize) {
        let Effect::Enter(enter) = &self.plan.rules[number].then else {
            return;
        };
        if sign_of(enter.side).is_none() {
            return;
        }
        let state = &mut self.state.world;
        let agents = &state.agents;
        for (index, body) in agents.bodies.iter().enumerate() {
            let species = &self.plan.world.species[usize::from(agents.species[index])];
            if self.plan.is_target(&self.plan.rules[number].then, species) {
                let (water, nearest) = (&self.plan.world.water, PictureSide::Nearest);
                let point_m = outside_m(water, species, body.position_m, nearest);
                state.director.entrances.push(Entrance {
                    rule: number,
                    agent: agents.ids[index],
                    exit: gathering_at(point_m, enter.weight),
                });
            }
        }
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
        let species = self.plan.world.species.len();
        let director = &mut self.state.world.director;
        director.reset(self.plan.rules.len(), species);
        for number in 0..self.plan.rules.len() {
            if self.state.rules[number].is_on {
                self.request_gatherings(number);
            }
        }
        self.state.world.director.arbitrate();
        let has = |is_meant: fn(&Effect) -> bool| self.plan.rules.iter().any(|r| is_meant(&r.then));
        let (has_light, has_season) = (
            has(|effect| matches!(effect, Effect::Light(_))),
            has(|effect| matches!(effect, Effect::Season(_))),
        );
        let director = &mut self.state.world.director;
        if !has_light {
            director.light.leave();
        }
        if !has_season {
            director.season.leave();
        }
        self.direct_species();
    }

    /// Lets the active rules change the species. Allocates memory, so it is called only when such a rule begins or ends.
    pub(super) fn direct_species(&mut self) {
        let states = &self.state.rules;
        let is_on = |rule: &usize| states.get(*rule).is_some_and(|state| state.is_on);
        self.plan.direct((0..states.len()).filter(is_on));
        self.compile_overrides();
    }

    /// Gives the picture the light and the season that the active rules with the highest priority want, and of these the ones that
    /// began last.
    fn light_picture(&mut self) {
        let (plan, states) = (&self.plan, &self.state.rules);
        let wanted = |is_meant: fn(&Effect) -> bool| {
            let rules = plan.rules.iter().zip(states);
            let active = rules.filter(|(rule, state)| state.is_on && is_meant(&rule.then));
            let last = active.max_by_key(|(rule, state)| (rule.priority, state.begin_tick));
            last.map(|(rule, _)| &rule.then)
        };
        let light = match wanted(|effect| matches!(effect, Effect::Light(_))) {
            Some(Effect::Light(light)) => Some(light),
            _ => None,
        };
        let season = match wanted(|effect| matches!(effect, Effect::Season(_))) {
            Some(Effect::Season(season)) => Some(season),
            _ => None,
        };
        let dt_secs = self.workspace.input.dt_secs;
        let director = &mut self.state.world.director;
        director.light.advance(light, dt_secs);
        director.season.advance(season, dt_secs);
    }

    /// Returns the sounds of the rules that began in the last tick.
    pub(super) fn begun_sounds(&self) -> impl Iterator<Item = &SoundEffect> {
        let last_tick = self.tick().checked_sub(1);
        let rules = self.plan.rules.iter().zip(&self.state.rules);
        rules.filter_map(move |(rule, state)| match &rule.then {
            Effect::Sound(sound) if state.has_begun && Some(state.begin_tick) == last_tick => {
                Some(sound)
            }
            _ => None,
        })
    }

    /// Gives the agents of a rule another mind until the rule ends.
    fn lend_minds(&mut self, number: usize) {
        let rule = &self.plan.rules[number];
        let Effect::Mind(effect) = &rule.then else {
            return;
        };
        let (hold_secs, agents) = (rule.hold_secs, &self.state.world.agents);
        let Some(mind) = self.plan.mind_of(&effect.like).cloned() else {
            return;
        };
        let species = |index: usize| &self.plan.world.species[usize::from(agents.species[index])];
        let ids: Vec<u32> = (0..agents.len())
            .filter(|&index| self.plan.is_target(&rule.then, species(index)))
            .map(|index| agents.ids[index])
            .collect();
        for id in ids {
            self.override_mind(id, mind.clone(), hold_secs);
        }
    }

    /// Ends the effect of a rule.
    pub(super) fn end_rule(&mut self, number: usize) {
        self.state.world.director.remove(number);
        if self.plan.rules[number].then.changes_species() {
            self.direct_species();
        }
    }

    /// Applies the effect of a rule that starts.
    fn begin_rule(&mut self, number: usize) {
        let minds = self.workspace.minds(&self.plan);
        let effect = &self.plan.rules[number].then;
        apply_effect(effect, &self.plan, minds, &mut self.state);
        self.request_gatherings(number);
        self.request_entrances(number);
        self.lend_minds(number);
        if self.plan.rules[number].then.changes_species() {
            self.direct_species();
        }
    }

    /// Applies an effect once to all agents of its species. Returns whether the effect changed the mind of an agent.
    pub(super) fn apply_effect(&mut self, effect: &Effect) -> bool {
        let minds = self.workspace.minds(&self.plan);
        apply_effect(effect, &self.plan, minds, &mut self.state)
    }

    /// Replaces the gathering requests of an active rule.
    fn request_gatherings(&mut self, number: usize) {
        let rule = &self.plan.rules[number];
        let begin_tick = self.state.rules[number].begin_tick;
        self.state.world.director.remove(number);
        if !rule.then.gathers() {
            return;
        }
        for species in 0..self.plan.world.species.len() {
            let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
            if !self.plan.is_target(&rule.then, &world.species[species]) {
                continue;
            }
            let request = GatheringRequest {
                rule: number,
                species,
                priority: rule.priority,
                begin_tick,
                gathering: gathering(&rule.then, &world, species),
            };
            self.state.world.director.add(request);
        }
    }

    /// Moves the gathering points that follow a visitor.
    fn follow_visitors(&mut self) {
        for index in 0..self.state.world.director.requests.len() {
            let GatheringRequest { rule, species, .. } = self.state.world.director.requests[index];
            let effect = &self.plan.rules[rule].then;
            if let Effect::GatherAtShadow(_) = effect {
                let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
                let moved = gathering(effect, &world, species);
                self.state.world.director.requests[index].gathering = moved;
            }
        }
    }
}

/// Returns the side of the picture from which agents enter: −1 left, 1 right; `None` if they come from where they are.
fn sign_of(side: PictureSide) -> Option<f32> {
    match side {
        PictureSide::Nearest => None,
        PictureSide::Left => Some(-1.0),
        PictureSide::Right => Some(1.0),
    }
}

fn gathering_at(point_m: Vec3, weight: f32) -> Gathering {
    Gathering {
        point_m,
        weight,
        visitor: None,
    }
}

/// Returns the gathering that an effect requests of a species. `None` if the effect does not gather, or if there is no point
/// to gather at.
fn gathering(effect: &Effect, world: &World<'_>, species_index: usize) -> Option<Gathering> {
    let at = gathering_at;
    match effect {
        Effect::Gather(gather) => Some(at(gather.point_m.into(), gather.weight)),
        Effect::SendAcross(send) => {
            opposite_side_m(world, species_index).map(|point_m| at(point_m, send.weight))
        }
        Effect::Leave(leave) => {
            let from_m = mean_position_m(world, species_index)?;
            let species = &world.species[species_index];
            let point_m = outside_m(world.water, species, from_m, leave.side);
            Some(at(point_m, leave.weight))
        }
        Effect::Enter(enter) => {
            let point_m = Vec3::Y * middle_height(world.water);
            Some(at(point_m, enter.weight))
        }
        Effect::GatherAtShadow(gather) => {
            let (id, point_m) = stillest_visitor(world)?;
            Some(Gathering {
                visitor: Some(GatheringVisitor {
                    id,
                    share: gather.share,
                }),
                ..at(point_m, gather.weight)
            })
        }
        _ => None,
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
        if !plan.is_target(effect, species) {
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
                // The speed limit is left to fall by itself: an effect changes what an agent wants, not how fast it swims.
                agents.bodies[index].boost.hold_secs = 0.0;
            }
            _ => {}
        }
    }
    changed
}

/// Returns a point outside the picture, for agents that come from `from_m`. An agent that circles around it is out of sight.
fn outside_m(water: &Water, species: &Species, from_m: Vec3, side: PictureSide) -> Vec3 {
    let y = middle_height(water);
    let half = water.visible_half_m(y);
    let (body, motion) = (&species.body, &species.motion);
    let cruise = &motion.cruise;
    let turn_dps = cruise.max_turn_rate_dps.unwrap_or(motion.max_turn_rate_dps);
    let force_n = cruise.max_force_n.unwrap_or(motion.max_force_n);
    let curve_m = (motion.cruise_mps / turn_dps.to_radians().max(1e-3))
        .max(motion.cruise_mps.powi(2) * body.mass_kg / force_n.max(1e-3));
    let edge = half + body.length_m * (1.0 + body.size_spread) / 2.0 + 2.0 * curve_m;
    let from = Vec2::new(from_m.x, from_m.z);
    let (inside, gaps) = (from.clamp(-half, half), half - from.abs());
    let is_wall = water.surface.kind == SurfaceKind::Wall;
    let to_x = |sign: f32| Vec2::new(sign * edge.x, inside.y);
    let at = match side {
        PictureSide::Left => to_x(-1.0),
        PictureSide::Right => to_x(1.0),
        // In a picture on a wall, fish leave to the left and right only.
        PictureSide::Nearest if gaps.y < gaps.x && !is_wall => {
            Vec2::new(inside.x, edge.y.copysign(from.y))
        }
        PictureSide::Nearest => to_x(1f32.copysign(from.x)),
    };
    Vec3::new(at.x, y, at.y)
}

/// Returns the mean position of a species; `None` if the species has no agents.
fn mean_position_m(world: &World<'_>, species_index: usize) -> Option<Vec3> {
    let agents = world.agents;
    let (mut sum, mut count) = (Vec3::ZERO, 0.0);
    for (body, own) in agents.bodies.iter().zip(&agents.species) {
        if usize::from(*own) == species_index {
            sum += body.position_m;
            count += 1.0;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// Returns a point on the side of the pool opposite to the mean position of a species; `None` if the species has no agents.
fn opposite_side_m(world: &World<'_>, species_index: usize) -> Option<Vec3> {
    let mean = mean_position_m(world, species_index)?;
    let y = middle_height(world.water);
    let half = world.water.visible_half_m(y);
    let side = if mean.x > 0.0 { -1.0 } else { 1.0 };
    Some(Vec3::new(
        side * half.x * ACROSS_SHARE,
        y,
        mean.z.clamp(-half.y, half.y) * 0.5,
    ))
}

/// Returns the id of the visitor that has stood still for the longest time, and a point at middle height under this visitor;
/// `None` without visitors.
fn stillest_visitor(world: &World<'_>) -> Option<(u32, Vec3)> {
    let shadows = &world.visitors.shadows;
    let stillest = shadows
        .iter()
        .max_by(|a, b| a.still_secs.total_cmp(&b.still_secs))?;
    let y = middle_height(world.water);
    let at: Vec2 = stillest.centroid_m * world.water.scale(y);
    Some((stillest.id, Vec3::new(at.x, y, at.y)))
}

fn middle_height(water: &Water) -> f32 {
    let (low, high) = water.y_range_m(0.0);
    (low + high) / 2.0
}
