//! Measures whether this machine can move a population: some ticks of the new pool, before the running one is replaced by it.
//!
//! In: a scene. Out: nothing, or why the machine cannot hold it. Must not: take long, whatever the population.

use std::time::{Duration, Instant};

use crate::simulation::{SceneDescription, Simulation, SimulationParams};
use crate::site::PopulationTrial;
use crate::world::Observation;

/// Longest tick. At 60 ticks per second, a pool with such ticks runs fifteen times slower than real time, and takes an edit that
/// repairs it only after as long.
const TICK_MAX: Duration = Duration::from_millis(250);
/// Smallest number of agents that is tried. Fewer are no problem for any machine.
const AGENTS_MIN: u32 = 500;
/// Parts of the population that are tried one after the other. Each takes at most about 16 times as long as the one before, because
/// each agent sees four times as many others; so the last one begins only if it takes a few seconds at most.
const PARTS: [u32; 4] = [64, 16, 4, 1];

/// Returns the trial on this machine.
pub(super) fn population_trial() -> PopulationTrial {
    PopulationTrial::new(|scene, params| try_population(scene, params, TICK_MAX))
}

fn try_population(
    scene: &SceneDescription,
    params: &SimulationParams,
    tick_max: Duration,
) -> Result<(), String> {
    let agents = count(scene);
    if agents < AGENTS_MIN {
        return Ok(());
    }
    for part in PARTS {
        let mut tried = scene.clone();
        for species in &mut tried.species {
            let named = u32::try_from(species.individuals.len()).unwrap_or(u32::MAX);
            species.count = species.count.div_ceil(part).max(named);
        }
        // What cannot be built is another problem, which is reported elsewhere.
        let Ok(mut simulation) = Simulation::new(&tried, params) else {
            return Ok(());
        };
        let begun = Instant::now();
        simulation.run_tick(&Observation::default());
        let took = begun.elapsed();
        if took > tick_max {
            let tried = count(&tried);
            return Err(format!(
                "{agents} agents are too many for this machine: one tick with {tried} of them takes {} ms, and it may take {}; \
                 reduce the population",
                took.as_millis(),
                tick_max.as_millis()
            ));
        }
    }
    Ok(())
}

fn count(scene: &SceneDescription) -> u32 {
    let counts = scene.species.iter().map(|species| species.count);
    counts.fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::load;

    /// A fixed bug: a typo in the population stopped the pool, and undo could not bring it back.
    #[test]
    fn a_population_that_this_machine_cannot_move_is_refused() {
        let site = load(None, None).unwrap();
        let params = &site.file.simulation;
        let mut scene = site.description();
        assert_eq!(try_population(&scene, params, Duration::ZERO), Ok(()));
        for species in &mut scene.species {
            species.count *= 20;
        }
        assert!(count(&scene) >= AGENTS_MIN);
        let refused = try_population(&scene, params, Duration::ZERO).unwrap_err();
        assert!(refused.contains("too many for this machine"), "{refused}");
        assert_eq!(try_population(&scene, params, Duration::MAX), Ok(()));
    }
}
