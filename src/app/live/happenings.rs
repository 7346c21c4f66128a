//! What happens in the pool that other machines make sound and light of: a hunt begins, a catch, a leap; a rule of the director
//! begins or ends.
//!
//! In: the pool after every tick. Out: events. Must not: change the pool. A tick in which nothing begins allocates nothing.

mod rules;

use rules::RuleWatch;

use crate::control::{EventKind, FloorPlace, Journal};
use crate::simulation::Simulation;

/// Time for which a fish may stop hunting and go on with the same hunt: hunters look around between two strikes.
const HUNT_GAP_SECS: f64 = 3.0;
/// Largest number of events of fish in a second, and of rules. More are no use for sound and light, and would push other events out of the log.
const EVENTS_PER_SECOND: u32 = 10;

/// Notices what begins.
#[derive(Debug, Default)]
pub(super) struct Happenings {
    /// Id of each fish that hunts, or did so a moment ago, and the last time at which it hunted.
    hunters: Vec<(u32, f64)>,
    /// Events of fish in the current second.
    of_fish: SecondLimit,
    rules: RuleWatch,
    /// Events of rules in the current second.
    of_rules: SecondLimit,
}

/// Lets [`EVENTS_PER_SECOND`] events pass in a second.
#[derive(Debug, Default)]
struct SecondLimit {
    /// Start of the current second, and the events in it.
    second: (f64, u32),
}

impl SecondLimit {
    fn allows(&mut self, now: f64) -> bool {
        if !(0.0..1.0).contains(&(now - self.second.0)) {
            self.second = (now, 0);
        }
        self.second.1 += 1;
        self.second.1 <= EVENTS_PER_SECOND
    }
}

impl Happenings {
    /// Reports what began in the last tick.
    pub(super) fn report(&mut self, simulation: &Simulation, journal: &Journal) {
        self.look(simulation, &mut |event| journal.add(event));
    }

    fn look(&mut self, simulation: &Simulation, add: &mut dyn FnMut(EventKind)) {
        let now = simulation.time_secs();
        let of_rules = &mut self.of_rules;
        self.rules.look(simulation, &mut |event| {
            if of_rules.allows(now) {
                add(event);
            }
        });
        let of_fish = &mut self.of_fish;
        let mut add = |event: EventKind| {
            if of_fish.allows(now) {
                add(event);
            }
        };
        let agents = simulation.world().agents;
        for (index, body) in agents.bodies.iter().enumerate() {
            if !body.intent.hunts {
                continue;
            }
            let Some(&id) = agents.ids.get(index) else {
                continue;
            };
            match self.hunters.iter_mut().find(|(known, _)| *known == id) {
                Some((_, last_secs)) => *last_secs = now,
                None => {
                    self.hunters.push((id, now));
                    let (species, at) = (species_of(simulation, index), place(simulation, index));
                    add(EventKind::HuntBegan { id, species, at });
                }
            }
        }
        // Also after a pool that began again.
        let is_recent = |last_secs: f64| (0.0..HUNT_GAP_SECS).contains(&(now - last_secs));
        self.hunters.retain(|(_, last_secs)| is_recent(*last_secs));
        for (hunter, prey) in simulation.begun_catches() {
            let id_of = |index: usize| agents.ids.get(index).copied().unwrap_or_default();
            add(EventKind::PreyCaught {
                id: id_of(hunter),
                species: species_of(simulation, hunter),
                prey: id_of(prey),
                prey_species: species_of(simulation, prey),
                at: place(simulation, hunter),
            });
        }
        for index in simulation.begun_leaps() {
            add(EventKind::FishLeapt {
                id: agents.ids.get(index).copied().unwrap_or_default(),
                species: species_of(simulation, index),
                at: place(simulation, index),
            });
        }
    }
}

fn species_of(simulation: &Simulation, index: usize) -> String {
    let world = simulation.world();
    let kind = world.agents.species.get(index).copied();
    let species = kind.and_then(|kind| world.species.get(usize::from(kind)));
    species.map_or_else(String::new, |species| species.name.clone())
}

fn place(simulation: &Simulation, index: usize) -> FloorPlace {
    let body = simulation.world().agents.bodies.get(index);
    let at_m = body.map_or(glam::Vec3::ZERO, |body| body.position_m);
    FloorPlace::new(at_m.x, at_m.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::SimulationParams;
    use crate::site::load;
    use crate::world::Observation;

    /// Runs a scene without visitors and returns the events of the fish, and the number of catches that the pool counted.
    fn events(scene: &str, secs: u32) -> (Vec<EventKind>, u64) {
        let site = load(None, Some(scene)).unwrap();
        let mut simulation =
            Simulation::new(&site.description(), &SimulationParams::default()).unwrap();
        let (mut happenings, mut found) = (Happenings::default(), Vec::new());
        let ticks = f64::from(secs) / simulation.dt_secs();
        for _ in 0..ticks as u32 {
            simulation.run_tick(&Observation::default());
            happenings.look(&simulation, &mut |event| found.push(event));
        }
        (found, simulation.catches())
    }

    #[test]
    fn every_catch_is_an_event_after_a_hunt() {
        let (events, catches) = events("pool", 180);
        let is_catch = |event: &&EventKind| matches!(event, EventKind::PreyCaught { .. });
        let caught = events.iter().filter(is_catch).count() as u64;
        assert!(catches > 0, "nothing was caught");
        assert_eq!(caught, catches);
        let hunts: Vec<_> = (events.iter())
            .filter(|event| matches!(event, EventKind::HuntBegan { .. }))
            .collect();
        assert!(!hunts.is_empty() && hunts.len() < 180, "{}", hunts.len());
        let is_rule = |event: &&EventKind| {
            matches!(
                event,
                EventKind::RuleBegan { .. } | EventKind::RuleEnded { .. }
            )
        };
        let first = events.iter().find(|event| !is_rule(event));
        assert!(
            matches!(first, Some(EventKind::HuntBegan { .. })),
            "{first:?}"
        );
    }

    #[test]
    fn leaps_of_a_cascade_are_events() {
        let (events, _) = events("cascade", 120);
        let leaps = (events.iter()).filter(|event| matches!(event, EventKind::FishLeapt { .. }));
        assert!(leaps.count() > 0);
    }
}
