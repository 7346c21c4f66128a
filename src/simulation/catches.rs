//! Catches and meals. A hunter that touches its prey swallows it within a moment: the prey is drawn into its mouth and shrinks.
//! Then the prey is absent for some seconds, out of sight, and enters the pool again from outside the picture; in a pool with
//! terraces, it emerges from the spring. The same happens to an agent that leaves at the outlet, but without a hunter.
//!
//! In: the decisions of all agents. Out: caught agents, events for the needs of the hunters, and catches for the renderer. Must
//! not: remove an agent from the pool.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::Simulation;
use super::vehicle::reenter;
use crate::behavior::{Decision, NeedEvent};
use crate::world::{Body, Catch, RandomStream, World};

/// Time in which a hunter swallows its prey.
const SWALLOW_SECS: f32 = 0.3;

/// Time in which an agent that leaves at the outlet goes out of sight. Tuned by eye.
const LEAVE_SECS: f32 = 0.5;

/// Shortest time between a catch and the return of the prey.
const MIN_ABSENT_SECS: f32 = 5.0;

/// Largest random addition to `MIN_ABSENT_SECS`.
const ABSENT_SPREAD_SECS: f32 = 10.0;

/// Time in which an agent that enters the pool within the picture grows to its full size. Tuned by eye.
const EMERGE_SECS: f32 = 1.5;

/// Time for which a snapshot contains a catch.
const CATCH_SECS: f32 = 2.0;

/// Distance from the center of a hunter to its mouth, as a share of its length.
const MOUTH_SHARE: f32 = 0.45;

/// An agent that was caught, or left at the outlet, and has not returned yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Caught {
    /// Id of the caught agent.
    pub(super) prey: u32,
    /// Id of its hunter; `None` if the agent left at the outlet.
    hunter: Option<u32>,
    /// Time since the contact, or since it began to leave.
    age_secs: f32,
    /// Time from the end of the swallowing to the return.
    absent_secs: f32,
}

/// Stage of a catch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The hunter swallows the prey.
    Swallowed,
    /// The prey is out of sight.
    Absent,
    /// The prey swims in the pool again, and grows to its full size.
    Emerging,
    /// The catch is over.
    Over,
}

impl Caught {
    /// Time in which the body goes out of sight.
    fn swallow_secs(&self) -> f32 {
        self.hunter.map_or(LEAVE_SECS, |_| SWALLOW_SECS)
    }

    /// Share of the body that is not visible.
    fn swallowed(&self) -> f32 {
        let emerged = (self.age_secs - self.swallow_secs() - self.absent_secs) / EMERGE_SECS;
        (self.age_secs / self.swallow_secs())
            .min(1.0 - emerged)
            .clamp(0.0, 1.0)
    }

    fn stage(&self) -> Stage {
        let returns_at_secs = self.swallow_secs() + self.absent_secs;
        match self.age_secs {
            age if age < self.swallow_secs() => Stage::Swallowed,
            age if age < returns_at_secs => Stage::Absent,
            age if age < returns_at_secs + EMERGE_SECS => Stage::Emerging,
            _ => Stage::Over,
        }
    }

    /// Whether the prey does nothing: it is being swallowed, or out of sight.
    fn is_away(&self) -> bool {
        matches!(self.stage(), Stage::Swallowed | Stage::Absent)
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.age_secs.is_finite() && self.absent_secs.is_finite()
    }
}

impl Simulation {
    /// Lets hunters catch the prey that they touch, and notifies their needs. If several hunters touch the same prey, the first
    /// hunter in agent order gets it. Also notifies needs of the tick's other events.
    pub(super) fn resolve_catches(&mut self) {
        for hunter in 0..self.workspace.decisions.len() {
            let proposal = self.workspace.decisions[hunter].proposal;
            let event = proposal.event.unwrap_or(NeedEvent::Nothing);
            if proposal.leaves && !self.is_caught(self.state.world.agents.ids[hunter]) {
                self.take_away(hunter, None);
            }
            let Some(prey) = proposal.catch else {
                if event != NeedEvent::Nothing {
                    self.notify_needs(hunter, event);
                }
                continue;
            };
            let prey = prey as usize;
            let ids = &self.state.world.agents.ids;
            if prey >= ids.len() || self.is_caught(ids[prey]) {
                continue;
            }
            if event == NeedEvent::Meal {
                self.state.meals += 1;
            } else {
                self.state.catches += 1;
            }
            self.notify_needs(hunter, event);
            self.take_away(prey, Some(hunter));
        }
    }

    /// Begins the absence of an agent that a hunter caught, or that leaves without a hunter.
    fn take_away(&mut self, prey: usize, hunter: Option<usize>) {
        let agents = &mut self.state.world.agents;
        let prey_id = agents.ids[prey];
        let hunter_id = hunter.map(|hunter| agents.ids[hunter]);
        // Without names, no action of another agent refers to the absent agent.
        agents.name_bits[prey] = 0;
        self.state.caught.retain(|caught| caught.prey != prey_id);
        let random = self.state.world.random;
        let draw = random.unit(prey_id, RandomStream::Absence, 0);
        self.state.caught.push(Caught {
            prey: prey_id,
            hunter: hunter_id,
            age_secs: 0.0,
            absent_secs: MIN_ABSENT_SECS + ABSENT_SPREAD_SECS * draw,
        });
    }

    /// Indices of the hunter and the prey of each catch that began in the last tick. Meals are not among them.
    pub fn begun_catches(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let agents = &self.state.world.agents;
        let begun = (self.state.caught.iter()).filter(|caught| caught.age_secs == 0.0);
        begun.filter_map(|caught| {
            let hunter = agents.index_of(caught.hunter?)?;
            let event = self.workspace.decisions.get(hunter)?.proposal.event;
            let is_meal = event == Some(NeedEvent::Meal);
            Some((hunter, agents.index_of(caught.prey)?)).filter(|_| !is_meal)
        })
    }

    fn is_caught(&self, id: u32) -> bool {
        let mut caught = self.state.caught.iter();
        caught.any(|caught| caught.prey == id && caught.is_away())
    }

    fn notify_needs(&mut self, index: usize, event: NeedEvent) {
        let mind = self.workspace.minds(&self.plan).get(index);
        mind.apply_event(&mut self.state.minds[index], event);
    }

    /// Removes the decisions of caught agents, so that they do nothing. Must be called after all agents have decided.
    pub(super) fn silence_caught(&mut self) {
        let agents = &self.state.world.agents;
        for caught in self.state.caught.iter().filter(|caught| caught.is_away()) {
            if let Some(prey) = agents.index_of(caught.prey) {
                self.workspace.decisions[prey] = Decision::default();
            }
        }
    }

    /// Moves the caught agents: into the mouth of their hunter, then out of sight until they return. The bodies after the tick
    /// must be complete.
    pub(super) fn move_caught(&mut self) {
        let dt = self.workspace.input.dt_secs;
        for catch in &mut self.state.swallowed {
            catch.age_secs += dt;
        }
        self.state.swallowed.retain(|c| c.age_secs <= CATCH_SECS);
        for number in (0..self.state.caught.len()).rev() {
            let caught = &mut self.state.caught[number];
            let before = caught.stage();
            caught.age_secs += dt;
            let caught = *caught;
            let Some(prey) = self.state.world.agents.index_of(caught.prey) else {
                self.state.caught.swap_remove(number);
                continue;
            };
            let is_over = match (before, caught.stage()) {
                (_, Stage::Swallowed) => {
                    self.swallow(prey, &caught);
                    false
                }
                (Stage::Swallowed, _) => {
                    self.vanish(prey, &caught);
                    false
                }
                (_, Stage::Absent) => {
                    self.wait(prey);
                    false
                }
                (Stage::Absent, _) => !self.return_to_pool(prey),
                (_, now) => now == Stage::Over,
            };
            if is_over {
                self.state.caught.swap_remove(number);
            }
        }
    }

    /// Draws a caught agent towards the mouth of its hunter. Without a hunter it swims on.
    fn swallow(&mut self, prey: usize, caught: &Caught) {
        let agents = &self.state.world.agents;
        let before = agents.bodies[prey];
        let dt = self.workspace.input.dt_secs;
        let left_secs = (caught.swallow_secs() - caught.age_secs + dt).max(dt);
        let hunter = caught.hunter.and_then(|id| agents.index_of(id));
        let target_m = match hunter {
            Some(hunter) => {
                let body = &self.workspace.next_bodies[hunter];
                let species = &self.plan.world.species[usize::from(agents.species[hunter])];
                let length_m = species.body.length_m * agents.size_factors[hunter];
                // A hunter that jumps to another place leaves its prey behind.
                let mouth_m = body.position_m + body.forward * (MOUTH_SHARE * length_m);
                if body.teleported {
                    before.position_m
                } else {
                    mouth_m
                }
            }
            None => before.position_m + before.velocity_mps * left_secs,
        };
        // The rest of the way is covered in the rest of the time.
        let share = dt / left_secs;
        let mut position_m = before.position_m.lerp(target_m, share);
        let mut solids = self.plan.world.solids.iter();
        if solids.any(|solid| solid.signed_distance_m(position_m) <= 0.0) {
            position_m = before.position_m;
        }
        let velocity_mps = (position_m - before.position_m) / dt;
        self.workspace.next_bodies[prey] = Body {
            position_m,
            velocity_mps: velocity_mps.clamp_length_max(before.boost.allowed_mps),
            teleported: false,
            ..before
        };
    }

    /// Takes an agent out of sight, and records the catch if there was one.
    fn vanish(&mut self, prey: usize, caught: &Caught) {
        let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
        let agents = world.agents;
        let species = &world.species[usize::from(agents.species[prey])];
        let length_m = species.body.length_m * agents.size_factors[prey];
        let mut body = agents.bodies[prey];
        let catch = Catch {
            at_m: body.position_m,
            prey_length_m: length_m,
            age_secs: 0.0,
        };
        let span_m = species.body.span_m() * agents.size_factors[prey];
        let size_m = (agents.half_widths_m[prey], span_m);
        let id = agents.ids[prey];
        reenter(&world, &mut body, species, size_m, id);
        body.velocity_mps = Vec3::ZERO;
        self.workspace.next_bodies[prey] = body;
        if caught.hunter.is_some() {
            self.state.swallowed.push(catch);
        }
    }

    /// Keeps an absent agent where it is.
    fn wait(&mut self, prey: usize) {
        self.workspace.next_bodies[prey] = Body {
            velocity_mps: Vec3::ZERO,
            teleported: false,
            ..self.state.world.agents.bodies[prey]
        };
    }

    /// Gives an absent agent its names and its speed back; in a pool with terraces, it first moves to the spring. Returns whether it
    /// is within the picture.
    fn return_to_pool(&mut self, prey: usize) -> bool {
        self.wait(prey);
        let world = World::new(&self.plan.world, &self.state.world, &self.workspace.input);
        let (radius_m, id) = (world.agents.radii_m[prey], world.agents.ids[prey]);
        let spring = self.plan.terraces.spring_pose(&world, radius_m, id);
        if let Some((at_m, heading)) = spring {
            let body = &mut self.workspace.next_bodies[prey];
            *body = Body {
                quarantine_count: body.quarantine_count,
                ..Body::new(at_m, heading, body.boost.allowed_mps)
            };
        }
        let seed = self.state.world.random.seed;
        let agents = &mut self.state.world.agents;
        let species = &self.plan.world.species[usize::from(agents.species[prey])];
        agents.derive(prey, species, seed);
        let body = &mut self.workspace.next_bodies[prey];
        body.velocity_mps = body.forward * body.boost.allowed_mps.min(species.motion.cruise_mps);
        let length_m = species.body.length_m * agents.size_factors[prey];
        self.plan.world.water.is_visible(body.position_m, length_m)
    }

    /// Hides the caught agents from all others. Must be called after names of agents were derived.
    pub(super) fn hide_caught(&mut self) {
        let agents = &mut self.state.world.agents;
        for caught in self.state.caught.iter().filter(|caught| caught.is_away()) {
            if let Some(prey) = agents.index_of(caught.prey) {
                agents.name_bits[prey] = 0;
            }
        }
    }

    /// Index of each agent that is not completely visible because it was caught, and the share of its body that is not.
    pub(super) fn swallowed_shares(&self) -> impl Iterator<Item = (usize, f32)> {
        let agents = &self.state.world.agents;
        let caught = self.state.caught.iter();
        caught.filter_map(|one| Some((agents.index_of(one.prey)?, one.swallowed())))
    }
}
