//! Flocking for actions that school: separation, alignment and cohesion, with three corrections ("repairs") that keep
//! small schools together.
//!
//! **Source**: Jockel 2005, §4.2.5; Reynolds 1987.

use glam::Vec3;

use super::context::ActionContext;
use super::perception::Neighbor;
use super::proposal::{BoostRequest, Proposal};
use crate::steering::{FlockForces, FlockRules, FlockSums, Neighborhood, target_speed};
use crate::world::{FlockParams, FlockPartChange, Species};

/// The neighbors that are flock mates, and parameters of schooling with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct School {
    /// Mask of the names of flock mates.
    pub names: u64,
    /// Factor on the force that brings the agent to its cruise speed.
    pub pace_weight: f32,
    /// Whether an agent that has fallen behind uses boost to catch up.
    pub use_boost: bool,
}

/// Boost of an agent that has fallen behind its school. **Source**: Jockel 2005, §4.2.5.
const CATCH_UP: BoostRequest = BoostRequest {
    scale: 0.5,
    hold_secs: 0.0,
    calm_secs: 0.8,
};

/// Compiles the flocking rules of an action: those of its species, with the values that the action replaces.
pub(super) fn flock_rules(species: &Species, changes: Option<[&FlockPartChange; 3]>) -> FlockRules {
    let flock: &FlockParams = &species.flock;
    let always = flock.always_radius_m.unwrap_or(3.0 * species.body.radius_m);
    let soften = flock.soften;
    let radius = flock.radius_m.max(1e-3);
    let mut parts = flock.parts();
    if let Some(changes) = changes {
        for (part, change) in parts.iter_mut().zip(changes) {
            *part = part.changed(change);
        }
    }
    // Each part (separation, alignment, cohesion) gives less than its full force if its sum vector is shorter than
    // `full_force_length`. That length is an angle for alignment and a distance for cohesion. Separation sums inverse
    // distances: one neighbor at distance r adds 1/r.
    let [separation, alignment, cohesion] = [
        (parts[0], 4.0 * soften / radius),
        (parts[1], soften),
        (parts[2], soften * radius),
    ]
    .map(|(part, full_force_length)| Neighborhood {
        full_force_length,
        ..Neighborhood::new(part.radius_m, part.angle_deg, part.weight)
    });
    FlockRules {
        always_sq_m2: always * always,
        separation,
        alignment,
        cohesion,
    }
}

/// Schools with all neighbors that have one of the names of `with`. `None` if there is no flock mate in any
/// neighborhood, even after the repairs. An agent that attends a visitor or another agent has left the school: otherwise a few
/// guests would draw the whole school after them.
pub(super) fn school(context: &ActionContext<'_>, with: School) -> Option<Proposal> {
    let rules = context.flock;
    let is_one_water = context.world.terraces.is_empty();
    let has_guests = context.world.guests.is_any();
    let mates = || {
        context
            .neighbors
            .iter()
            .filter(|other| other.name_bits & with.names != 0 && !other.is_shadow)
            .filter(|other| is_one_water || context.shares_water(other))
            .filter(|other| !(has_guests && context.attends_something(other)))
    };
    let mut nearest: Option<&Neighbor> = None;
    let seen = mates().inspect(|other| {
        if nearest.is_none_or(|nearest| other.distance_m < nearest.distance_m) {
            nearest = Some(other);
        }
    });
    let mut forces = forces(context, rules, seen);
    let nearest = nearest?;
    let is_within_alignment =
        nearest.distance_m * nearest.distance_m <= rules.alignment.radius_sq_m2;
    if forces.alignment.is_none() && forces.cohesion.is_none() {
        if forces.separation.is_some() {
            // Repair 1: separation must not act alone, so alignment counts mates in all directions.
            let wide = FlockRules {
                alignment: rules.alignment.all_round(),
                ..*rules
            };
            forces.alignment = self::forces(context, &wide, mates()).alignment;
        } else if is_within_alignment {
            // Repair 2: scattered agents must turn back to the school, so cohesion counts mates in all directions.
            // This does not apply to the leader at the tip of the school: its nearest mate is outside the alignment
            // radius.
            let wide = FlockRules {
                cohesion: rules.cohesion.all_round(),
                ..*rules
            };
            forces.cohesion = self::forces(context, &wide, mates()).cohesion;
        }
    }
    let force = forces.sum()?;
    // Repair 3: an agent that has fallen behind its school hurries after it.
    let falls_behind = !is_within_alignment && nearest.offset_m.dot(context.motion.forward) > 0.0;
    let boost = (with.use_boost && falls_behind).then_some(CATCH_UP);
    let pace = target_speed(&context.motion, context.speed_mps(boost)).unwrap_or_default();
    Some(Proposal {
        boost,
        ..Proposal::force(force + pace * with.pace_weight)
    })
}

/// Returns the separation force from neighbors within `radius_m` and within `angle_deg` from straight ahead to each
/// side. `None` if there is no such neighbor.
pub(super) fn keep_apart(
    context: &ActionContext<'_>,
    radius_m: f32,
    angle_deg: f32,
    counts: impl Fn(&Neighbor) -> bool,
) -> Option<Vec3> {
    let none = Neighborhood::new(-1.0, 0.0, 0.0);
    let rules = FlockRules {
        always_sq_m2: 0.0,
        separation: Neighborhood::new(radius_m, angle_deg, 1.0),
        alignment: Neighborhood {
            radius_sq_m2: -1.0,
            ..none
        },
        cohesion: Neighborhood {
            radius_sq_m2: -1.0,
            ..none
        },
    };
    forces(
        context,
        &rules,
        context.neighbors.iter().filter(|other| counts(other)),
    )
    .separation
}

fn forces<'n>(
    context: &ActionContext<'_>,
    rules: &FlockRules,
    mates: impl Iterator<Item = &'n Neighbor>,
) -> FlockForces {
    let mut sums = FlockSums::default();
    let forward = context.motion.forward;
    sums.add_each(
        rules,
        forward,
        mates.map(|mate| (mate.offset_m, mate.forward)),
    );
    sums.forces(rules, forward)
}
