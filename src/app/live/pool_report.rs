//! What the simulation stage reports to the desk: after every tick the living individuals, and some times a second a summary.
//! Both go through slots in which the latest value wins. Their memory is reused, so a steady tick allocates nothing.

use std::time::Instant;

use crate::simulation::Simulation;

/// The living individuals after a tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Living {
    /// Number of completed ticks.
    pub(crate) tick: u64,
    /// Number of the newest command that was applied to the pool.
    pub(crate) revision: u64,
    /// Id of each individual and the index of its species, by ascending id.
    agents: Vec<(u32, u16)>,
    /// Names of the species.
    species: Vec<String>,
    /// Start of the pool and its plan, to which `species` belongs.
    plan: Option<(Instant, u64)>,
}

impl Living {
    /// Writes the individuals of a pool that started at `started` and contains the commands up to `revision`.
    pub(crate) fn update(&mut self, simulation: &Simulation, started: Instant, revision: u64) {
        let world = simulation.world();
        self.tick = simulation.tick();
        self.revision = revision;
        let plan = Some((started, simulation.revision()));
        if self.plan != plan {
            self.plan = plan;
            self.species = world.species.iter().map(|s| s.name.clone()).collect();
        }
        self.agents.clear();
        let ids = world.agents.ids.iter().copied();
        let kinds = world.agents.species.iter().copied();
        self.agents.extend(ids.zip(kinds));
    }

    /// Returns the species of an individual; `None` if no individual has this id.
    pub(crate) fn species_of(&self, id: u32) -> Option<&str> {
        let index = self
            .agents
            .binary_search_by_key(&id, |agent| agent.0)
            .ok()?;
        let kind = usize::from(self.agents.get(index)?.1);
        self.species.get(kind).map(String::as_str)
    }
}

/// The number of individuals of a species for which a need is active.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeedCount {
    /// Name of the species.
    pub(crate) species: String,
    /// Name of the need; empty for the standard need alone.
    pub(crate) need: String,
    /// Number of individuals.
    pub(crate) count: u32,
}

/// A summary of the pool for the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoolSummary {
    needs: Vec<NeedCount>,
    /// Number of used elements of `needs`. The other elements are memory for later summaries.
    used: usize,
    /// Name of each rule of the director, and whether it is active.
    pub(crate) rules: Vec<(String, bool)>,
    /// Number of times that the state of an agent was not finite.
    pub(crate) quarantined: u64,
}

impl PoolSummary {
    /// Writes the summary of a pool.
    pub(crate) fn update(&mut self, simulation: &Simulation) {
        let world = simulation.world();
        self.used = 0;
        for (index, kind) in world.agents.species.iter().enumerate() {
            let species = world.species.get(usize::from(*kind));
            let name = species.map_or("", |species| species.name.as_str());
            self.add(name, simulation.active_need(index));
        }
        let mut rules = 0;
        for (rule, state) in simulation.rules() {
            if self.rules.len() == rules {
                self.rules.push((String::new(), false));
            }
            if let Some((name, is_active)) = self.rules.get_mut(rules) {
                name.clone_from(&rule.name);
                *is_active = state.is_on;
            }
            rules += 1;
        }
        self.rules.truncate(rules);
        self.quarantined = simulation.quarantine_count();
    }

    fn add(&mut self, species: &str, need: &str) {
        let used = self.needs.iter_mut().take(self.used);
        for known in used {
            if known.need == need && known.species == species {
                known.count += 1;
                return;
            }
        }
        if self.needs.len() == self.used {
            self.needs.push(NeedCount::default());
        }
        if let Some(new) = self.needs.get_mut(self.used) {
            species.clone_into(&mut new.species);
            need.clone_into(&mut new.need);
            new.count = 1;
            self.used += 1;
        }
    }

    /// Returns the counts of the active needs of all species.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &NeedCount> {
        self.needs.iter().take(self.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::SimulationParams;
    use crate::site::load;
    use crate::world::Observation;

    #[test]
    fn the_report_has_every_individual_once() {
        let site = load(None, Some("pool")).unwrap();
        let mut simulation =
            Simulation::new(&site.description(), &SimulationParams::default()).unwrap();
        let (mut living, mut summary) = (Living::default(), PoolSummary::default());
        for _ in 0..3 {
            simulation.run_tick(&Observation::default());
            living.update(&simulation, Instant::now(), 4);
            summary.update(&simulation);
        }
        let fish: u32 = site.species.iter().map(|s| s.count).sum();
        assert_eq!(summary.needs().map(|n| n.count).sum::<u32>(), fish);
        assert_eq!((living.tick, living.revision), (3, 4));
        let ids = &simulation.world().agents.ids;
        assert!(ids.iter().all(|id| living.species_of(*id).is_some()));
        assert_eq!(living.species_of(u32::MAX), None);
    }
}
