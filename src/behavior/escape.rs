//! Escape from a place that holds an agent: a corner, a pocket between a rock and an edge, a goal that it cannot reach.
//!
//! An agent that wants to move, but stays at one place for longer than its patience, swims away in the direction with
//! the most open water. Then its needs act again. The test is the distance that the agent covers, so it needs no list
//! of the forces that can hold an agent. **Source**: Dahlberg & Viktorsson 2002, §4.4 (a vehicle never stays stuck).

use glam::{Vec2, Vec3};
use serde::{Deserialize, Serialize};

use super::context::ActionContext;
use super::proposal::Proposal;
use crate::steering::{open_water_m, steer_along};

/// An agent within this distance of its last place counts as being at the same place. It is twice the distance within which a
/// fish seems to stand still: an agent that swims to and fro within 0.1 m of a point never leaves the place.
const PLACE_M: f32 = 0.2;

/// Mean time for which an agent tries to leave a place before it escapes. Each agent has its own patience.
const PATIENCE_SECS: f32 = 8.0;

/// Largest difference of an agent's patience from the mean, as a share.
const PATIENCE_SPREAD: f32 = 0.4;

/// A slow agent gets more time: the time in which it covers the size of a place this many times at cruise speed.
const PATIENT_WAYS: f32 = 4.0;

/// Longest escape.
const ESCAPE_SECS: f32 = 4.0;

/// Distance from the place at which an escape ends. An agent in a small basin escapes a shorter way.
const ESCAPE_M: f32 = 0.7;

/// Number of directions that are compared.
const DIRECTIONS: usize = 16;

/// Force of an escape, as a share of the largest force of the species.
const FORCE_SHARE: f32 = 0.6;

/// Whether an agent gets away from its place, and its escape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Escape {
    /// The place: where the agent was when it last moved away.
    place_m: Vec3,
    /// Time for which the agent has tried to leave the place.
    tried_secs: f32,
    /// Horizontal unit vector of the escape; zero without an escape.
    heading: Vec3,
    /// Length of the escape.
    way_m: f32,
    /// Time left until the escape ends.
    left_secs: f32,
}

impl Escape {
    /// Updates the state by the proposal of the active need, and returns the force of the escape. `None` if the agent
    /// does not escape. `hunts`: whether the agent hunts.
    pub(super) fn update(
        &mut self,
        context: &ActionContext<'_>,
        wanted: &Proposal,
        hunts: bool,
    ) -> Option<Vec3> {
        let at = context.motion.position_m;
        let moved_m = at.distance(self.place_m);
        if self.heading != Vec3::ZERO {
            self.left_secs -= context.world.dt_secs;
            if self.left_secs > 0.0 && moved_m < self.way_m {
                return Some(self.force(context));
            }
            self.heading = Vec3::ZERO;
        }
        let was_moved = context.world.agents.bodies[context.index].teleported;
        if was_moved || moved_m > PLACE_M || wants_to_stay(context, wanted, hunts) {
            self.place_m = at;
            self.tried_secs = 0.0;
            return None;
        }
        if wanted.force.length_squared() > 0.0 {
            self.tried_secs += context.world.dt_secs;
        }
        if self.tried_secs < PATIENCE_SECS * (1.0 - PATIENCE_SPREAD) {
            return None;
        }
        let own_share = 1.0 + PATIENCE_SPREAD * context.own_draw(PATIENCE_DRAW);
        let patience_secs = PATIENCE_SECS * own_share;
        let cruise_mps = context.cruise_mps().max(1e-3);
        if self.tried_secs < patience_secs.max(PATIENT_WAYS * PLACE_M / cruise_mps) {
            return None;
        }
        let (heading, open_m) = most_open_water(context);
        self.place_m = at;
        self.tried_secs = 0.0;
        self.heading = Vec3::new(heading.x, 0.0, heading.y);
        self.way_m = open_m.clamp(PLACE_M, ESCAPE_M);
        self.left_secs = ESCAPE_SECS.max(2.0 * self.way_m / cruise_mps);
        Some(self.force(context))
    }

    fn force(&self, context: &ActionContext<'_>) -> Vec3 {
        let cruise_mps = context.cruise_mps();
        let force = steer_along(&context.motion, self.heading, cruise_mps).unwrap_or_default();
        let largest_n = context.species.motion.max_force_n * FORCE_SHARE;
        (force * (largest_n / cruise_mps.max(1e-3))).clamp_length_max(largest_n)
    }
}

/// Number of the random draw that gives an agent its patience.
const PATIENCE_DRAW: u32 = 97;

/// Whether an agent does not want to leave its place: it rests, or it is at its goal. A hunter is not at its goal before the catch:
/// prey behind a rock can be near and out of reach.
fn wants_to_stay(context: &ActionContext<'_>, wanted: &Proposal, hunts: bool) -> bool {
    let near_m = PLACE_M + context.radius_m;
    let is_near = |goal: Vec3| goal.distance(context.motion.position_m) < near_m;
    wanted.rests || (!hunts && wanted.goal_m.is_some_and(is_near))
}

/// Returns the horizontal direction with the most open water, and the distance to what ends it, at most `ESCAPE_M`.
fn most_open_water(context: &ActionContext<'_>) -> (Vec2, f32) {
    let first = context.own_draw(PATIENCE_DRAW) * std::f32::consts::PI;
    let step = std::f32::consts::TAU / DIRECTIONS as f32;
    let each = (0..DIRECTIONS).map(|n| {
        let direction = Vec2::from_angle(first + step * n as f32);
        (direction, open_m(context, direction))
    });
    each.reduce(|best, other| if other.1 > best.1 { other } else { best })
        .unwrap_or((Vec2::X, 0.0))
}

/// Returns the distance to the first obstacle or edge in a direction, at most `ESCAPE_M`.
fn open_m(context: &ActionContext<'_>, direction: Vec2) -> f32 {
    let at = context.motion.position_m;
    let water = &context.world.water;
    let flat = Vec2::new(at.x, at.z);
    let mut open_m = ESCAPE_M;
    if let Some(terrace) = context.world.terrace(context.index) {
        open_m = open_water_m(flat, direction, open_m, terrace.edges());
    }
    if water.has_guides() {
        let half = water.edge_half_m(at.y, context.species.margin_m);
        let room = (half * direction.signum() - flat) / direction;
        open_m = open_m.min(room.min_element().max(0.0));
    }
    let ahead = Vec3::new(direction.x, 0.0, direction.y);
    for (_, solid) in context.near_solids() {
        let mut way_m = 0.0;
        while way_m < open_m {
            let gap_m = solid.signed_distance_m(at + ahead * way_m) - context.radius_m;
            // A body that already touches the solid may swim away from it.
            if gap_m < 1e-3 && solid.normal(at + ahead * way_m).dot(ahead) < 0.0 {
                open_m = way_m;
                break;
            }
            way_m += gap_m.max(0.02);
        }
    }
    open_m
}
