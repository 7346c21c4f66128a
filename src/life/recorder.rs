//! Measures a run tick by tick: needs, actions, motion, flights, stillness, touches, visitors, the director.

use std::collections::BTreeMap;

use super::company::{CompanyWatch, SpeciesCompany};
use super::contacts::Contacts;
use super::dwell::Dwell;
use super::flights::{Flight, FlightSums, Moment};
use super::measures::{Halves, OccupancyMap, PhaseSum, phase};
use super::motion::{MotionSums, Path, RATE_HZ};
use super::program::VisitorProgram;
use super::report::{
    ActionLife, LifeReport, NeedLife, RuleLife, SpeciesLife, Stillness, VisitorDistance,
};
use super::variety::Headings;
use crate::simulation::Simulation;
use crate::world::{WantedMotion, World, outline_at_depth};

/// Time between two samples of positions.
const SAMPLE_SECS: f64 = 0.5;
/// Time between two searches for touches. At 1.5 m/s an agent swims 7.5 cm in this time, about a body's diameter.
const TOUCH_SECS: f64 = 0.05;
/// Speed below which a resting agent lies still, in meters per second.
const RESTING_MPS: f32 = 0.02;

/// Scene, visitors, seed and duration of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunName {
    /// Name of the scene.
    pub scene: String,
    /// Program of the visitors; `None` if they come from a file.
    pub program: Option<VisitorProgram>,
    /// Seed of the run.
    pub seed: u64,
    /// Planned duration.
    pub seconds: f64,
}

/// Measurements of one species, collected over all revisions of the plan.
#[derive(Clone, Debug, Default)]
struct SpeciesSums {
    /// Time that the agents of the species lived, in seconds; all agents together.
    lived_secs: PhaseSum,
    needs: BTreeMap<String, PhaseSum>,
    actions: BTreeMap<String, ActionSums>,
    speed_mps: PhaseSum,
    samples: PhaseSum,
    touches: PhaseSum,
    leaps: u64,
    still_secs: f64,
    rest_samples: f64,
    /// Samples in which it is slower than [`RESTING_MPS`] while an action lets it rest.
    rest_still_samples: f64,
    stillness: Stillness,
    maps: [OccupancyMap; 3],
    headings: Headings,
    visitor_m: f64,
    visitor_samples: f64,
    under_samples: f64,
    nearest_m: Option<f64>,
    approaches_visitors: bool,
    motion: MotionSums,
    wanted: WantedMotion,
    flights: FlightSums,
}

#[derive(Clone, Debug, Default)]
struct ActionSums {
    secs: PhaseSum,
    executions: u64,
    is_on: bool,
}

/// Counters of one mind, by the indices of its needs and actions.
#[derive(Clone, Debug, Default)]
struct MindCounters {
    /// Index into [`LifeRecorder::species`].
    species: usize,
    /// Name and ticks of each need, and of the time without an active need, whose name is empty, at the end.
    needs: Vec<(String, [u64; 3])>,
    actions: Vec<ActionCounter>,
    /// One bit for each action during which an agent may rest.
    rests: u64,
}

#[derive(Clone, Debug, Default)]
struct ActionCounter {
    name: String,
    is_on: bool,
    is_listed: bool,
    ticks: [u64; 3],
    starts: u64,
}

/// Values of one agent from tick to tick.
#[derive(Clone, Debug, Default)]
struct Track {
    actions: u64,
    is_flying: bool,
    dwell: Dwell,
    flight: Flight,
    path: Path,
}

/// Measures a run. Call [`Self::record`] after each tick.
#[derive(Clone, Debug)]
pub struct LifeRecorder {
    name: RunName,
    revision: Option<u64>,
    /// Label and species of each entry in `species`.
    names: Vec<(String, String)>,
    species: Vec<SpeciesSums>,
    company: Vec<(SpeciesCompany, f64)>,
    minds: Vec<MindCounters>,
    tracks: Vec<Track>,
    species_of: Vec<usize>,
    watch: CompanyWatch,
    contacts: Contacts,
    rules: Vec<RuleLife>,
    rules_on: Vec<bool>,
    secs: PhaseSum,
    dt_secs: f64,
    start: (u64, u64),
    last: (u64, u64),
    since_sample_secs: f64,
    since_touches_secs: f64,
    since_motion_secs: f64,
    /// Number of positions in the paths.
    motion_steps: u64,
    /// Positions and headings of the agents of each entry in `species`, reused.
    schools: Vec<Vec<(glam::DVec2, f64)>>,
}

impl LifeRecorder {
    /// Creates a recorder for a run that begins in the current state of `simulation`.
    pub fn new(name: RunName, simulation: &Simulation) -> Self {
        let start = (simulation.catches(), simulation.meals());
        Self {
            name,
            revision: None,
            names: Vec::new(),
            species: Vec::new(),
            company: Vec::new(),
            minds: Vec::new(),
            tracks: Vec::new(),
            species_of: Vec::new(),
            watch: CompanyWatch::default(),
            contacts: Contacts::default(),
            rules: Vec::new(),
            rules_on: Vec::new(),
            secs: PhaseSum::default(),
            dt_secs: simulation.dt_secs(),
            start,
            last: start,
            since_sample_secs: 0.0,
            since_touches_secs: 0.0,
            since_motion_secs: 0.0,
            motion_steps: 0,
            schools: Vec::new(),
        }
    }

    /// Measures the last tick.
    pub fn record(&mut self, simulation: &Simulation) {
        if self.revision != Some(simulation.revision()) {
            self.bind(simulation);
        }
        let phase = phase(self.secs.total(), self.name.seconds);
        self.secs.add(phase, self.dt_secs);
        self.last = (simulation.catches(), simulation.meals());
        self.count_decisions(simulation, phase);
        self.count_rules(simulation);
        self.follow_flights(simulation);
        self.since_motion_secs += self.dt_secs;
        // The nearest tick to each fifteenth of a second.
        if self.since_motion_secs >= 1.0 / RATE_HZ - self.dt_secs / 2.0 {
            self.since_motion_secs -= 1.0 / RATE_HZ;
            if phase > 0 {
                self.follow_paths(&simulation.world());
            }
        }
        self.since_touches_secs += self.dt_secs;
        if self.since_touches_secs >= TOUCH_SECS {
            self.since_touches_secs = 0.0;
            let (species, species_of) = (&mut self.species, &self.species_of);
            self.contacts.update(simulation, |a, b| {
                for agent in [a, b] {
                    species[species_of[agent]].touches.add(phase, 1.0);
                }
            });
        }
        self.since_sample_secs += self.dt_secs;
        if self.since_sample_secs >= SAMPLE_SECS {
            self.sample(simulation, phase, self.since_sample_secs);
            self.since_sample_secs = 0.0;
        }
    }

    /// Prepares the counters for the species, agents and rules of a new plan.
    fn bind(&mut self, simulation: &Simulation) {
        self.collect();
        // A rule that is on after the first tick began in this run.
        let is_first = self.revision.is_none();
        self.revision = Some(simulation.revision());
        let world = simulation.world();
        self.minds.clear();
        for (index, species) in world.species.iter().enumerate() {
            let label = match &species.individual {
                Some(individual) => format!("{individual} ({})", species.name),
                None => species.name.clone(),
            };
            let kind = self.names.iter().position(|(name, _)| *name == label);
            let kind = kind.unwrap_or_else(|| {
                self.names.push((label, species.name.clone()));
                self.species.push(SpeciesSums::default());
                self.company.push((SpeciesCompany::default(), 0.0));
                self.names.len() - 1
            });
            let mind = simulation.species_mind(index);
            let mut counters = MindCounters {
                species: kind,
                needs: mind
                    .need_names()
                    .map(|name| (name.to_owned(), [0; 3]))
                    .collect(),
                actions: Vec::new(),
                rests: 0,
            };
            counters.needs.push((String::new(), [0; 3]));
            for (number, action) in mind.actions().enumerate() {
                counters.rests |= u64::from(action.capabilities.rests) << number;
                self.species[kind].approaches_visitors |=
                    action.is_on && action.is_listed && action.capabilities.approaches_visitors;
                counters.actions.push(ActionCounter {
                    name: action.name.to_owned(),
                    is_on: action.is_on,
                    is_listed: action.is_listed,
                    ..ActionCounter::default()
                });
            }
            self.species[kind].wanted = species.motion.wanted.clone();
            self.minds.push(counters);
        }
        self.schools.resize(self.names.len(), Vec::new());
        let agents = world.agents;
        self.species_of.clear();
        self.species_of.extend(
            (agents.species.iter()).map(|&species| self.minds[usize::from(species)].species),
        );
        for (kind, (_, count)) in self.company.iter_mut().enumerate() {
            *count = self.species_of.iter().filter(|&&own| own == kind).count() as f64;
        }
        self.tracks.clear();
        self.tracks.resize(agents.len(), Track::default());
        self.watch.reset(agents.len());
        self.rules_on.clear();
        for (rule, state) in simulation.rules() {
            self.rules_on.push(state.is_on && !is_first);
            if !self.rules.iter().any(|known| known.name == rule.name) {
                self.rules.push(RuleLife {
                    name: rule.name.clone(),
                    by_hand: rule.when.is_by_hand(),
                    begins: 0,
                    begins_at_secs: Vec::with_capacity(RuleLife::TIMES_MAX),
                    on_secs: 0.0,
                });
            }
        }
    }

    fn count_decisions(&mut self, simulation: &Simulation, phase: usize) {
        let agents = simulation.world().agents;
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let counters = &mut self.minds[usize::from(agents.species[index])];
            let sums = &mut self.species[counters.species];
            sums.lived_secs.add(phase, self.dt_secs);
            let is_flying = simulation.is_flying(index);
            sums.leaps += u64::from(is_flying && !track.is_flying);
            track.is_flying = is_flying;
            if simulation.has_override(index) {
                continue;
            }
            let decision = simulation.decision(index);
            let none = counters.needs.len() - 1;
            let need = decision.need.map_or(none, usize::from);
            counters.needs[need].1[phase] += 1;
            let mut begun = decision.actions & !track.actions;
            while begun != 0 {
                counters.actions[begun.trailing_zeros() as usize].starts += 1;
                begun &= begun - 1;
            }
            let mut active = decision.actions;
            while active != 0 {
                counters.actions[active.trailing_zeros() as usize].ticks[phase] += 1;
                active &= active - 1;
            }
            track.actions = decision.actions;
        }
    }

    fn count_rules(&mut self, simulation: &Simulation) {
        for ((rule, state), was_on) in simulation.rules().zip(&mut self.rules_on) {
            if !state.is_on && !*was_on {
                continue;
            }
            if let Some(life) = self.rules.iter_mut().find(|life| life.name == rule.name) {
                if state.is_on && !*was_on {
                    life.begins += 1;
                    if life.begins_at_secs.len() < RuleLife::TIMES_MAX {
                        let tick = state.begin_tick as f64;
                        life.begins_at_secs.push(tick * self.dt_secs);
                    }
                }
                life.on_secs += self.dt_secs * f64::from(u8::from(state.is_on));
            }
            *was_on = state.is_on;
        }
    }

    /// Measures flights, and agents that leave the picture.
    fn follow_flights(&mut self, simulation: &Simulation) {
        let world = simulation.world();
        let agents = world.agents;
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let body = &agents.bodies[index];
            let species = &world.species[usize::from(agents.species[index])];
            let at_m = body.position_m;
            let length_m = species.body.length_m * agents.size_factors[index];
            // An absent agent has no names.
            let is_present = agents.name_bits[index] != 0;
            let now = Moment {
                flees: is_present && simulation.decision(index).proposal.flees,
                speed_mps: body.velocity_mps.length(),
                cruise_mps: species.motion.cruise_mps,
                at_m,
                is_visible: is_present.then(|| world.water.is_visible(at_m, length_m)),
                dt_secs: self.dt_secs,
            };
            let sums = &mut self.species[self.species_of[index]];
            track
                .flight
                .add(now, &mut sums.flights, || nearest_shadow_m(&world, index));
        }
    }

    /// Adds a position to the path of each agent.
    fn follow_paths(&mut self, world: &World<'_>) {
        let agents = world.agents;
        self.motion_steps += 1;
        for school in &mut self.schools {
            school.clear();
        }
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let body = &agents.bodies[index];
            if agents.name_bits[index] == 0 || body.teleported {
                track.path.clear();
                continue;
            }
            let length_m = world.species[usize::from(agents.species[index])]
                .body
                .length_m;
            let at = body.position_m.as_dvec3() / f64::from(length_m);
            let kind = self.species_of[index];
            let sums = &mut self.species[kind].motion;
            let at = glam::DVec2::new(at.x, at.z);
            self.schools[kind].extend(track.path.add(at, self.motion_steps, sums));
        }
        for (sums, school) in self.species.iter_mut().zip(&self.schools) {
            sums.motion.add_school(school);
        }
    }

    /// Samples positions: speed, stillness, occupancy, distance to visitors, company.
    fn sample(&mut self, simulation: &Simulation, phase: usize, sample_secs: f64) {
        let world = simulation.world();
        let agents = world.agents;
        for (index, track) in self.tracks.iter_mut().enumerate() {
            let body = &agents.bodies[index];
            let at = body.position_m;
            let counters = &self.minds[usize::from(agents.species[index])];
            let sums = &mut self.species[counters.species];
            sums.samples.add(phase, 1.0);
            sums.speed_mps
                .add(phase, f64::from(body.velocity_mps.length()));
            let half_m = world.water.visible_half_m(at.y);
            let share = glam::Vec2::new(at.x, at.z) / half_m;
            sums.maps[phase].add(share);
            let velocity_mps = body.velocity_mps;
            let velocity_mps = glam::Vec2::new(velocity_mps.x, velocity_mps.z);
            sums.headings.add(share, velocity_mps);

            let rests = track.actions & counters.rests != 0;
            sums.rest_samples += f64::from(u8::from(rests));
            let lies = rests && body.velocity_mps.length() < RESTING_MPS;
            sums.rest_still_samples += f64::from(u8::from(lies));
            if rests || body.teleported {
                track.dwell = Dwell::default();
            }
            let was_still = track.dwell.still_secs > 0.0;
            sums.still_secs += track.dwell.add(at, sample_secs);
            let still_secs = track.dwell.still_secs;
            sums.stillness.episodes += u64::from(still_secs > 0.0 && !was_still);
            if still_secs > sums.stillness.longest_secs {
                sums.stillness.longest_secs = still_secs;
                sums.stillness.longest_at_m = at.to_array();
                sums.stillness.longest_agent = agents.ids[index];
                simulation
                    .active_need(index)
                    .clone_into(&mut sums.stillness.longest_need);
                sums.stillness.longest_actions = simulation
                    .active_actions(index)
                    .map(str::to_owned)
                    .collect();
            }

            if let Some(distance_m) = nearest_shadow_m(&world, index).map(f64::from) {
                sums.visitor_m += distance_m.max(0.0);
                sums.visitor_samples += 1.0;
                sums.under_samples += f64::from(u8::from(distance_m < 0.0));
                sums.nearest_m = Some(sums.nearest_m.unwrap_or(f64::MAX).min(distance_m));
            }
        }
        self.watch
            .sample(simulation, &self.species_of, &mut self.company, sample_secs);
    }

    /// Adds the counters of the current minds to the sums of their species.
    fn collect(&mut self) {
        let dt = self.dt_secs;
        let secs = |ticks: &[u64; 3]| PhaseSum(ticks.map(|n| n as f64 * dt));
        for mut counters in self.minds.drain(..) {
            let sums = &mut self.species[counters.species];
            for (name, ticks) in counters.needs.drain(..) {
                sums.needs.entry(name).or_default().add_all(&secs(&ticks));
            }
            for action in counters.actions.drain(..).filter(|a| a.is_listed) {
                let own = sums.actions.entry(action.name).or_default();
                own.secs.add_all(&secs(&action.ticks));
                own.executions += action.starts;
                own.is_on |= action.is_on;
            }
        }
    }

    /// Ends the measurement and returns the report.
    pub fn finish(mut self) -> LifeReport {
        self.collect();
        let simulated_secs = self.secs.total();
        let company = std::mem::take(&mut self.company);
        let each = self.names.iter().zip(&self.species).zip(&company);
        let species = each
            .filter(|((_, sums), _)| sums.lived_secs.total() > 0.0)
            .map(|(((name, species), sums), (company, _))| {
                let mut life = sums.report(name, simulated_secs);
                life.species.clone_from(species);
                life.company = company.summary();
                life.company_waits_secs.clone_from(&company.waits_secs);
                life
            })
            .collect();
        let mut report = LifeReport {
            scene: self.name.scene,
            program: self.name.program,
            seed: self.name.seed,
            simulated_secs,
            species,
            catches: self.last.0 - self.start.0,
            meals: self.last.1 - self.start.1,
            rules: self.rules,
            company_waits_secs: self.watch.waits_secs,
            problems: Vec::new(),
        };
        report.problems = report.find_problems();
        report
    }
}

/// Returns the distance of an agent to the nearest shadow; negative under it. `None` without visitors.
fn nearest_shadow_m(world: &World<'_>, index: usize) -> Option<f32> {
    let at_m = world.agents.bodies[index].position_m;
    let scale = world.water.scale(at_m.y);
    let shadows = world.visitors.shadows.iter();
    let distances = shadows
        .map(|shadow| outline_at_depth(shadow, at_m, world.agents.hull(index), scale).distance_m);
    distances.min_by(f32::total_cmp)
}

impl SpeciesSums {
    fn report(&self, name: &str, simulated_secs: f64) -> SpeciesLife {
        let lived_secs = self.lived_secs.total();
        let minutes = PhaseSum(self.lived_secs.0.map(|secs| secs / 60.0));
        let mut whole = OccupancyMap::default();
        for map in &self.maps {
            whole.add_all(map);
        }
        let mut needs: Vec<NeedLife> = (self.needs.iter())
            .map(|(name, secs)| NeedLife {
                name: if name.is_empty() {
                    "(standard need only)".into()
                } else {
                    name.clone()
                },
                share: secs.per(&self.lived_secs),
            })
            .filter(|need| need.share.whole > 0.0 || need.name != "(standard need only)")
            .collect();
        needs.sort_by(|a, b| b.share.whole.total_cmp(&a.share.whole));
        let mut actions: Vec<ActionLife> = (self.actions.iter())
            .map(|(name, sums)| ActionLife {
                name: name.clone(),
                share: sums.secs.per(&self.lived_secs),
                executions: sums.executions,
                is_on: sums.is_on,
            })
            .collect();
        actions.sort_by(|a, b| b.share.whole.total_cmp(&a.share.whole));
        let per_sample = |sum: f64| sum / self.visitor_samples.max(1.0);
        SpeciesLife {
            name: name.to_owned(),
            species: String::new(),
            count: lived_secs / simulated_secs,
            needs,
            actions,
            stillness: Stillness {
                share: self.still_secs / lived_secs,
                ..self.stillness.clone()
            },
            touches_per_min: self.touches.per(&minutes),
            speed_mps: self.speed_mps.per(&self.samples),
            occupancy: Halves {
                whole: whole.entropy(),
                first: self.maps[1].entropy(),
                second: self.maps[2].entropy(),
            },
            outside_share: whole.outside_share(),
            path_variety: self.headings.variety(),
            rests_share: self.rest_samples / self.samples.total().max(1.0),
            rests_still_share: (self.rest_samples > 0.0)
                .then(|| self.rest_still_samples / self.rest_samples),
            leaps: self.leaps,
            visitors: self.nearest_m.map(|nearest_m| VisitorDistance {
                mean_m: per_sample(self.visitor_m),
                nearest_m,
                under_share: per_sample(self.under_samples),
            }),
            company: None,
            company_waits_secs: Vec::new(),
            approaches_visitors: self.approaches_visitors,
            motion: self.motion.summary(),
            wanted: self.wanted.clone(),
            flights: self.flights.summary(minutes.total()),
            left_per_min: self.flights.left as f64 * 60.0 / simulated_secs,
            returned_per_min: self.flights.returned as f64 * 60.0 / simulated_secs,
        }
    }
}
