//! The population of the pool. When the plan changes, agents are added or removed, or become members of another species, until
//! each species has the number of agents in the plan.
//!
//! In: old and new species, the number of agents of each new species, and the agents to add or remove one by one. Out: agents.
//! Must not: run in a tick.

use glam::Vec3;

use super::Simulation;
use crate::behavior::{Decision, Mind};
use crate::world::{Body, Species, retain};

impl Simulation {
    /// Changes the population from the old species to those of the current plan. Agents keep their ids. If a species has more
    /// agents than the plan allows, its newest agents are removed; missing agents are added out of sight.
    pub(super) fn change_population(
        &mut self,
        old_species: &[Species],
        old_minds: &[Mind],
        added: &[(String, Vec3)],
        removed_ids: &[u32],
    ) {
        let (new_species, mut living) = self.choose_species(old_species, removed_ids);
        let keeps: Vec<bool> = new_species.iter().map(Option::is_some).collect();
        self.state.retain_agents(&keeps);
        retain(&mut self.workspace.decisions, &keeps);
        for (index, species_index) in new_species.into_iter().flatten().enumerate() {
            self.set_species(index, species_index, old_minds);
        }
        self.add_missing(&mut living, added);
    }

    /// Returns the index of each agent's new species, `None` for an agent to remove, and the number of agents that each new
    /// species then has.
    fn choose_species(
        &self,
        old_species: &[Species],
        removed_ids: &[u32],
    ) -> (Vec<Option<usize>>, Vec<u32>) {
        let agents = &self.state.world.agents;
        let (species, counts) = (&self.plan.world.species, &self.plan.counts);
        let successors: Vec<Option<usize>> = old_species
            .iter()
            .map(|old| successor(old, species))
            .collect();
        let mut living = vec![0; counts.len()];
        let mut surplus = Vec::new();
        // The oldest agents come first and stay. So undoing an addition removes the agent that was added.
        let mut chosen: Vec<Option<usize>> = (0..agents.len())
            .map(|index| {
                let species_index = successors[usize::from(agents.species[index])]?;
                if removed_ids.contains(&agents.ids[index]) {
                    return None;
                }
                if living[species_index] >= counts[species_index] {
                    surplus.push((index, species_index));
                    return None;
                }
                living[species_index] += 1;
                Some(species_index)
            })
            .collect();
        // If a named individual of its species is missing, a surplus agent becomes that individual, so that no agent vanishes
        // in view.
        for (index, species_index) in surplus {
            let named = (0..counts.len()).find(|&other| {
                species[other].name == species[species_index].name && living[other] < counts[other]
            });
            if let Some(named) = named {
                living[named] += 1;
                chosen[index] = Some(named);
            }
        }
        (chosen, living)
    }

    /// Makes an agent a member of a species of the current plan. Its mind keeps the memories of those needs and actions that
    /// the new mind has, too.
    fn set_species(&mut self, index: usize, species_index: usize, old_minds: &[Mind]) {
        let random = self.state.world.random;
        let agents = &mut self.state.world.agents;
        let species = &self.plan.world.species[species_index];
        let old_mind = &old_minds[usize::from(agents.species[index])];
        agents.species[index] = species_index as u16;
        agents.derive(index, species, random.seed);
        let boost = &mut agents.bodies[index].boost;
        boost.allowed_mps = boost.allowed_mps.min(species.motion.boost_mps);
        let mind = &self.plan.minds[species_index];
        if old_mind != mind {
            let state = &mut self.state.minds[index];
            *state = mind.migrate_state(old_mind, state, random, agents.ids[index]);
            // The last decision refers to needs and actions of the old mind.
            self.workspace.decisions[index] = Decision::default();
        }
    }

    /// Adds agents until every species has the number of agents in the plan. `living` is the current number of agents of each
    /// species; `added` contains species names and positions for new agents.
    pub(super) fn add_missing(&mut self, living: &mut [u32], added: &[(String, Vec3)]) {
        for (species_index, living) in living.iter_mut().enumerate() {
            let species = &self.plan.world.species[species_index];
            let mut positions = added
                .iter()
                .filter(|(name, _)| species.individual.is_none() && *name == species.name)
                .map(|(_, position)| *position)
                .chain(self.plan.start_positions_m[species_index])
                .collect::<Vec<_>>()
                .into_iter();
            while *living < self.plan.counts[species_index] {
                self.spawn(species_index as u16, positions.next());
                *living += 1;
            }
        }
    }

    /// Adds one agent of a species: at `position_m`, or at a random position. The random position is visible only in tick 0
    /// or if `position_m` lies inside an obstacle.
    fn spawn(&mut self, species_index: u16, position_m: Option<Vec3>) {
        let plan = &self.plan.world;
        let species = &plan.species[usize::from(species_index)];
        let id = self.state.next_id;
        let random = self.state.world.random;
        let size_factor = species.size_factor(random.seed, id);
        let radius_m = species.body.radius_m * size_factor;
        let half_width_m = species.body.half_width_m() * size_factor;
        let (water, solids) = (&plan.water, &plan.solids);
        let (mut at, heading) = if random.tick == 0 || position_m.is_some() {
            water.random_visible_pose(solids, half_width_m, random, id)
        } else {
            let span_m = species.body.span_m() * size_factor;
            water.random_hidden_pose(solids, (half_width_m, span_m), random, id)
        };
        if let Some(wanted) = position_m {
            let y = water.height_in_water(wanted, radius_m);
            let edge = water.edge_half_m(y, species.margin_m);
            let inside = Vec3::new(
                wanted.x.clamp(-edge.x, edge.x),
                y,
                wanted.z.clamp(-edge.y, edge.y),
            );
            if solids.iter().all(|s| s.signed_distance_m(inside) > 0.0) {
                at = inside;
            }
        }
        if species.motion.walks() {
            at = water.grounded(solids, at, radius_m, species.margin_m);
        }
        let body = Body::new(at, heading, species.motion.cruise_mps);
        let mind = self.plan.minds[usize::from(species_index)].state(random, id);
        self.state.add_agent(species_index, species, body, mind);
    }
}

/// Returns the index of the new species that replaces an old species; `None` if the species no longer exists. A
/// named individual whose name no longer exists becomes an unnamed member of its species.
fn successor(old: &Species, species: &[Species]) -> Option<usize> {
    let same = |s: &Species| s.name == old.name && s.individual == old.individual;
    let own = species.iter().position(same);
    own.or_else(|| species.iter().position(|s| s.name == old.name))
}
