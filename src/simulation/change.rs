//! What happens to a living pool between two ticks: a new plan is taken over, minds are replaced for a while, the director
//! says what it wants.
//!
//! In: changes that were validated and compiled before. Out: the same individuals in the changed pool, with what they
//! remember. Must not: fail; what names somebody who is gone does nothing. Allocates, unlike the tick.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::plan::PoolPlan;
use super::tick::Simulation;
use crate::behavior::{
    Decision, Effect, Mind, MindParams, MindState, SOLID_SEARCH_RADIUS_MIN_M, query_radius_m,
};
use crate::world::{Gathering, Random, RandomStream, SolidIndex, Species};

/// One thing that happens to a living pool between two ticks.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Everything that was configured is as the plan says from now on. Individuals stay who they are as long as their
    /// species has room; who is too many goes, the last to come first; who is lacking comes in out of sight.
    Pool(Box<PlanChange>),
    /// Applies an effect of the director once. Effects that last, such as gathering, are started by rules or by
    /// [`Change::Gather`].
    Effect(Effect),
    /// Starts a rule of the director by hand.
    StartRule {
        /// Its name.
        name: String,
    },
    /// Where all are to gather; `None` lets them go.
    Gather(Option<Gathering>),
    /// Gives one individual another mind for a while, in place of one that it was given before.
    OverrideMind {
        /// Its id.
        id: u32,
        /// The other mind.
        mind: Box<MindParams>,
        /// How long.
        secs: f32,
    },
    /// Gives one individual its own mind back.
    EndOverride {
        /// Its id.
        id: u32,
    },
}

/// A new plan, and who comes and goes by name with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    /// What the pool is from now on.
    pub plan: PoolPlan,
    /// Species and places of those who come in at a place of their own.
    pub added: Vec<(String, Vec3)>,
    /// Ids of those who go before anybody else does.
    pub removed_ids: Vec<u32>,
}

/// Another mind that one individual has for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Override {
    pub(super) id: u32,
    pub(super) params: MindParams,
    /// What its own mind remembers.
    pub(super) own: MindState,
    /// The first tick in which it has its own mind again.
    ends_tick: u64,
}

impl Simulation {
    /// Lets a change happen. Call it between ticks.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Pool(replan) => self.take_over(*replan),
            Change::Effect(effect) => {
                self.apply_effect(&effect);
            }
            Change::StartRule { name } => {
                self.start_rule(&name);
            }
            Change::Gather(gathering) => self.world.director.by_hand = gathering,
            Change::OverrideMind { id, mind, secs } => self.override_mind(id, *mind, secs),
            Change::EndOverride { id } => {
                if let Some(place) = self.overrides.iter().position(|o| o.id == id) {
                    self.end_override(place);
                }
            }
        }
    }

    /// Gives those their own mind back whose time is over.
    pub(super) fn end_overrides(&mut self) {
        let tick = self.world.random.tick;
        while let Some(place) = self.overrides.iter().position(|o| o.ends_tick <= tick) {
            self.end_override(place);
        }
    }

    fn index_of(&self, id: u32) -> Option<usize> {
        self.world.agents.ids.binary_search(&id).ok()
    }

    fn override_mind(&mut self, id: u32, params: MindParams, secs: f32) {
        let Some(index) = self.index_of(id) else {
            return;
        };
        if let Some(place) = self.overrides.iter().position(|o| o.id == id) {
            self.end_override(place);
        }
        let kind = usize::from(self.world.agents.species[index]);
        let mind = Mind::compile(&params, &self.world.species[kind]);
        let state = mind.migrate_state(
            &self.minds[kind],
            &self.states[index],
            self.world.random,
            id,
        );
        let own = std::mem::replace(&mut self.states[index], state);
        let ticks = (secs / self.world.dt_secs).round().max(1.0) as u64;
        self.overrides.push(Override {
            id,
            params,
            own,
            ends_tick: self.world.random.tick + ticks,
        });
        self.minds.push(mind);
        self.assign_minds();
    }

    /// Takes over another mind that an individual has already; its state is the one it has.
    pub(super) fn take_over_override(&mut self, over: Override) {
        let Some(index) = self.index_of(over.id) else {
            return;
        };
        let kind = usize::from(self.world.agents.species[index]);
        self.minds
            .push(Mind::compile(&over.params, &self.world.species[kind]));
        self.overrides.push(over);
    }

    fn end_override(&mut self, place: usize) {
        let ended = self.overrides.remove(place);
        self.minds.remove(self.world.species.len() + place);
        if let Some(index) = self.index_of(ended.id) {
            // What it saw meanwhile it has seen.
            self.states[index] = ended.own.with_perception_memory_of(&self.states[index]);
        }
        self.assign_minds();
    }

    /// Says for every agent which of the minds is its own: those of the species come first, then the overrides'.
    pub(super) fn assign_minds(&mut self) {
        self.mind_of.clear();
        self.mind_of.extend_from_slice(&self.world.agents.species);
        for place in 0..self.overrides.len() {
            if let Some(index) = self.index_of(self.overrides[place].id) {
                self.mind_of[index] = (self.world.species.len() + place) as u16;
            }
        }
    }

    /// Makes the pool what the plan says.
    pub(super) fn take_over(&mut self, replan: PlanChange) {
        let PlanChange {
            plan,
            added,
            removed_ids,
        } = replan;
        // Everybody has its own mind while species change, and gets the other one again afterwards.
        let mut overrides = std::mem::take(&mut self.overrides);
        let meanwhile: Vec<MindState> = overrides
            .iter_mut()
            .filter_map(|o| {
                let index = self.index_of(o.id)?;
                let own = std::mem::take(&mut o.own);
                Some(std::mem::replace(&mut self.states[index], own))
            })
            .collect();
        let old_species = std::mem::replace(&mut self.world.species, plan.species);
        let old_minds = std::mem::replace(&mut self.minds, plan.minds);
        self.world.water = plan.water;
        self.world.contact_solids = SolidIndex::new(&plan.solids, TOUCH_MARGIN_M);
        self.world.sight_solids =
            SolidIndex::new(&plan.solids, sight_margin_m(&self.world.species));
        self.world.solids = plan.solids;
        self.fields = plan.fields;
        self.terraces.take_over(plan.terraces);
        self.world.visitor_name_bits = plan.visitor_name_bits;
        let same = |old: &Species| {
            let mut new = self.world.species.iter();
            // One that no longer has a name of its own is like the others of its species.
            let own = new.position(|s| s.name == old.name && s.individual == old.individual);
            own.or_else(|| self.world.species.iter().position(|s| s.name == old.name))
        };
        let kinds: Vec<Option<usize>> = old_species.iter().map(same).collect();
        let (becomes, living) = self.survivors(&kinds, &plan.counts, &removed_ids);
        self.retain(&becomes);
        self.terraces.keep_only(&self.world.agents.ids);
        self.apply_species(becomes.into_iter().flatten(), &old_minds);
        self.bring_in(&plan.counts, &living, (&added, &plan.places_m));
        self.take_over_rules(plan.rules);
        self.assign_minds();
        self.make_room();
        for (mut over, state) in overrides.drain(..).zip(meanwhile) {
            let Some(index) = self.index_of(over.id) else {
                continue;
            };
            let kind = usize::from(self.world.agents.species[index]);
            let mind = Mind::compile(&over.params, &self.world.species[kind]);
            over.own = std::mem::replace(&mut self.states[index], state);
            self.minds.push(mind);
            self.overrides.push(over);
        }
        self.assign_minds();
        self.revision += 1;
    }

    /// Which of the new species everybody becomes, `None` for those who go; and how many of each new species that are.
    fn survivors(
        &self,
        kinds: &[Option<usize>],
        counts: &[u32],
        removed_ids: &[u32],
    ) -> (Vec<Option<usize>>, Vec<u32>) {
        let agents = &self.world.agents;
        let species = &self.world.species;
        let mut living = vec![0; counts.len()];
        let mut too_many = Vec::new();
        // The first to come are the first to stay, so who was added last goes when one is taken back.
        let mut becomes: Vec<Option<usize>> = (0..agents.len())
            .map(|index| {
                let kind = kinds[usize::from(agents.species[index])]?;
                if removed_ids.contains(&agents.ids[index]) {
                    return None;
                }
                if living[kind] >= counts[kind] {
                    too_many.push((index, kind));
                    return None;
                }
                living[kind] += 1;
                Some(kind)
            })
            .collect();
        // Who is given a name is one who is there, so that nobody vanishes in view.
        for (index, kind) in too_many {
            let named = (0..counts.len()).find(|&other| {
                species[other].name == species[kind].name && living[other] < counts[other]
            });
            if let Some(named) = named {
                living[named] += 1;
                becomes[index] = Some(named);
            }
        }
        (becomes, living)
    }

    fn retain(&mut self, becomes: &[Option<usize>]) {
        fn retain<T>(list: &mut Vec<T>, becomes: &[Option<usize>]) {
            let mut each = becomes.iter();
            list.retain(|_| each.next().is_some_and(Option::is_some));
        }
        let agents = &mut self.world.agents;
        retain(&mut agents.ids, becomes);
        retain(&mut agents.species, becomes);
        retain(&mut agents.name_bits, becomes);
        retain(&mut agents.size_factors, becomes);
        retain(&mut agents.radii_m, becomes);
        retain(&mut agents.bodies, becomes);
        retain(&mut self.states, becomes);
        retain(&mut self.decisions, becomes);
    }

    /// Makes everybody what it becomes.
    fn apply_species(&mut self, becomes: impl Iterator<Item = usize>, old_minds: &[Mind]) {
        let random = self.world.random;
        let agents = &mut self.world.agents;
        for (index, kind) in becomes.enumerate() {
            let id = agents.ids[index];
            let old = usize::from(agents.species[index]);
            let species = &self.world.species[kind];
            agents.species[index] = kind as u16;
            agents.name_bits[index] = species.name_bits;
            let size = size(species.body.size_spread, random.seed, id);
            agents.size_factors[index] = size;
            agents.radii_m[index] = species.body.radius_m * size;
            let boost = &mut agents.bodies[index].boost;
            boost.allowed_mps = boost.allowed_mps.min(species.motion.boost_mps);
            let (old, new) = (&old_minds[old], &self.minds[kind]);
            if old != new {
                self.states[index] = new.migrate_state(old, &self.states[index], random, id);
                // Its need and actions are places in the mind that it no longer has.
                self.decisions[index] = Decision::default();
            }
        }
    }

    fn bring_in(
        &mut self,
        counts: &[u32],
        living: &[u32],
        (added, own_places): (&[(String, Vec3)], &[Option<Vec3>]),
    ) {
        for kind in 0..counts.len() {
            let species = &self.world.species[kind];
            let mut places = added
                .iter()
                .filter(|(name, _)| species.individual.is_none() && *name == species.name)
                .map(|(_, place)| *place)
                .chain(own_places[kind])
                .collect::<Vec<_>>()
                .into_iter();
            for _ in living[kind]..counts[kind] {
                self.spawn(kind as u16, places.next());
            }
        }
    }
}

/// Bodies that go no farther than this in a step, hull included, need only the solids that the index lists as touched.
const TOUCH_MARGIN_M: f32 = 0.5;

/// How far the farthest-sighted of all species looks for solids.
fn sight_margin_m(species: &[Species]) -> f32 {
    let largest = species
        .iter()
        .map(|s| s.body.radius_m * (1.0 + s.body.size_spread))
        .fold(0.0, f32::max);
    let smallest = |s: &Species| s.body.radius_m * (1.0 - s.body.size_spread);
    let reaches = species
        .iter()
        .map(|s| query_radius_m(s, largest, smallest(s)));
    reaches.fold(SOLID_SEARCH_RADIUS_MIN_M, f32::max)
}

/// Size of an individual against its species' body. Depends on the individual alone, so that a changed spread gives every
/// individual the size it would always have had.
pub(super) fn size(size_spread: f32, seed: u64, id: u32) -> f32 {
    let random = Random { seed, tick: 0 };
    1.0 + size_spread * random.signed(id, RandomStream::Size, 0)
}
