//! The vehicle: from a decision to the next place of one body. **Source**: Reynolds 1999; 2-behavior.md section 2.
//!
//! Reads the state before the step alone and writes one body, so bodies can move in any order and on any thread.

use glam::Vec3;

use super::collision::{is_inside, travel};
use crate::behavior::{BoostRequest, Decision};
use crate::world::{Body, BoostState, EdgeMode, Intent, MotionParams, Species, Water, World};

/// What of a species' motion is the same for all its individuals in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    turning: Turning,
    /// Shares of the way that force and up go to where they tend.
    response: f32,
    banking: f32,
    /// What is left of climbing.
    leveling: f32,
}

impl Rates {
    pub(super) fn new(motion: &MotionParams, dt: f32) -> Self {
        let left = |secs: f32| if secs > 0.0 { (-dt / secs).exp() } else { 0.0 };
        Self {
            turning: Turning::new(
                motion.max_turn_rate_dps.to_radians() * dt,
                motion.max_climb_deg.to_radians(),
            ),
            response: 1.0 - left(motion.response_secs),
            banking: 1.0 - left(motion.blend_secs),
            leveling: if motion.level_secs > 0.0 {
                left(motion.level_secs)
            } else {
                1.0
            },
        }
    }
}

/// How far a body may turn in a step, and how steeply it may climb.
#[derive(Clone, Copy, Debug)]
struct Turning {
    most_rad: f32,
    most_cos: f32,
    climb_rad: f32,
    climb_sin: f32,
}

impl Turning {
    fn new(most_rad: f32, climb_rad: f32) -> Self {
        Self {
            most_rad,
            most_cos: if most_rad < std::f32::consts::PI {
                most_rad.cos()
            } else {
                -2.0
            },
            climb_rad,
            climb_sin: climb_rad.sin(),
        }
    }

    /// The same without the limit of turning.
    fn unlimited(self) -> Self {
        Self {
            most_rad: f32::INFINITY,
            most_cos: -2.0,
            ..self
        }
    }
}

/// The body of the agent at `index` after the step; `rates` are those of all species.
pub(super) fn advance(world: &World, rates: &[Rates], index: usize, decision: &Decision) -> Body {
    let before = &world.agents.bodies[index];
    let kind = usize::from(world.agents.species[index]);
    let species = &world.species[kind];
    let own = Own {
        species,
        rates: &rates[kind],
        radius_m: world.agents.radii_m[index],
        length_m: species.body.length_m * world.agents.size_factors[index],
        mass_kg: species.body.mass_kg * world.agents.size_factors[index].powi(3),
        id: world.agents.ids[index],
    };
    let after = moved(world, before, decision, &own);
    if after.is_finite() {
        return after;
    }
    // What is not finite never spreads: it stays where it was, at rest in its decisions, and is counted.
    Body {
        quarantine_count: before.quarantine_count.saturating_add(1),
        teleported: false,
        ..*before
    }
}

/// Share of the cruise speed below which the direction no longer follows the velocity, and of the largest force above
/// which it follows the force then.
const STILL_SHARE: f32 = 0.05;

/// What a body is made of.
struct Own<'a> {
    species: &'a Species,
    rates: &'a Rates,
    radius_m: f32,
    length_m: f32,
    mass_kg: f32,
    id: u32,
}

fn moved(world: &World, before: &Body, decision: &Decision, own: &Own<'_>) -> Body {
    let dt = world.dt_secs;
    let water = &world.water;
    let motion = &own.species.motion;
    let speed = before.velocity_mps.length();
    let boost = next_boost(&before.boost, decision.proposal.boost, motion, speed, dt);
    let asked = decision.proposal.force.clamp_length_max(motion.max_force_n);
    let force = if decision.proposal.turns_in_place {
        asked
    } else {
        before.force_n.lerp(asked, own.rates.response)
    };
    let wanted = before.velocity_mps + force * (dt / own.mass_kg);
    let least_mps = motion.min_speed_mps.min(motion.cruise_mps);
    let wanted = leveled(water, wanted, own.rates.leveling);
    let wanted = brake_by_turning(before, wanted, least_mps).clamp_length_max(boost.allowed_mps);
    let is_still = wanted.length() <= motion.cruise_mps * STILL_SHARE;
    let direction = if !is_still {
        wanted.normalize_or(before.forward)
    } else if force.length() > motion.max_force_n * STILL_SHARE {
        // One that stands and wants to go back turns on the spot; it would stand there for ever.
        force.normalize_or(before.forward)
    } else {
        before.forward
    };
    let turning = if decision.proposal.turns_in_place {
        own.rates.turning.unlimited()
    } else {
        own.rates.turning
    };
    let forward = turned(water, before.forward, direction, turning);
    let speed = wanted.dot(forward).max(least_mps).min(boost.allowed_mps);
    let way_m = speed.abs().max(motion.cruise_mps) * dt + own.radius_m;
    let solids = if way_m < world.contact_solids.margin_m() {
        world.contact_solids.near(before.position_m)
    } else {
        &world.solids
    };
    let arrival = travel(
        solids,
        before.position_m,
        forward * speed,
        own.radius_m,
        motion,
        dt,
    );
    let mut after = Body {
        position_m: arrival.position_m,
        velocity_mps: arrival.velocity_mps,
        forward,
        up: before.up,
        turn_rate_rps: before
            .forward
            .cross(forward)
            .dot(before.up)
            .atan2(before.forward.dot(forward))
            / dt,
        intent: decision.proposal.intent.unwrap_or(Intent {
            heading: forward,
            goal_m: None,
        }),
        acceleration_mps2: (arrival.velocity_mps - before.velocity_mps).dot(forward) / dt,
        force_n: force,
        boost,
        teleported: false,
        quarantine_count: before.quarantine_count,
    };
    keep_in_pool(world, before, &mut after, own);
    cross_edge(world, &mut after, own);
    after.up = banked(water, before, &after, (motion, own.rates.banking), dt);
    after
}

/// Speed that is allowed now.
///
/// While a boost is asked for, and as long as it holds on, that is what the largest of them allows. After that it falls
/// by (boost − cruise) / `calm_secs` a second, from what the body really swims. A weaker request does not cut short what is
/// still calming down from a stronger one.
fn next_boost(
    state: &BoostState,
    request: Option<BoostRequest>,
    motion: &MotionParams,
    speed_mps: f32,
    dt: f32,
) -> BoostState {
    let range = (motion.boost_mps - motion.cruise_mps).max(0.0);
    let speed_at = |scale: f32| motion.cruise_mps + scale.clamp(0.0, 1.0) * range;
    let calmed = if state.calm_secs > 0.0 {
        let fallen = state.allowed_mps.min(speed_mps) - range / state.calm_secs * dt;
        fallen.max(motion.cruise_mps)
    } else {
        motion.cruise_mps
    };
    let holds = state.hold_secs > dt * 0.5;
    let held = holds.then_some(BoostRequest {
        scale: state.scale,
        hold_secs: state.hold_secs - dt,
        calm_secs: state.calm_secs,
    });
    let asked = match (request, held) {
        (Some(new), Some(old)) => new.stronger(old),
        (Some(new), None) => new,
        (None, Some(old)) => old,
        (None, None) => {
            return BoostState {
                allowed_mps: calmed,
                scale: 0.0,
                hold_secs: 0.0,
                ..*state
            };
        }
    };
    let allowed = speed_at(asked.scale);
    BoostState {
        allowed_mps: allowed.max(calmed),
        scale: asked.scale,
        hold_secs: asked.hold_secs.max(0.0),
        calm_secs: if calmed > allowed {
            state.calm_secs
        } else {
            asked.calm_secs
        },
    }
}

/// A body that cannot go slower turns instead of braking further, to the side it leans to anyway. Otherwise what calls it
/// from right behind would hardly turn it. The less it leans the less is added, or it would tremble between two sides.
fn brake_by_turning(before: &Body, wanted: Vec3, least_mps: f32) -> Vec3 {
    let along = wanted.dot(before.forward);
    let lack = least_mps - along;
    if lack <= 0.0 {
        return wanted;
    }
    let side = before.side();
    // Straight back it leans to the right.
    let lean = wanted.dot(side) + 1e-5;
    wanted + side * (lack * lean / (lean.abs() + lack))
}

/// Lets climbing and diving fade: this share of it is left.
fn leveled(water: &Water, velocity: Vec3, left: f32) -> Vec3 {
    if left == 1.0 {
        return velocity;
    }
    let mut level = water.level_from_world(velocity);
    level.y *= left;
    water.world_from_level(level)
}

/// The unit vector towards `wanted` that lies within the limit of turning from `forward` and is no steeper than a climb.
///
/// Turns by heading and slope, as fish do, and never over the back. The way in heading and slope is at least as long as
/// the straight one on the sphere, so cutting it short keeps the limit.
fn turned(water: &Water, forward: Vec3, wanted: Vec3, turning: Turning) -> Vec3 {
    let Turning {
        most_rad,
        most_cos,
        climb_rad,
        climb_sin,
    } = turning;
    let from = water.level_from_world(forward);
    let to = water.level_from_world(wanted);
    if to.y.abs() <= climb_sin && from.dot(to) > most_cos {
        return wanted;
    }
    let angles = |v: Vec3| (v.z.atan2(v.x), v.y.clamp(-1.0, 1.0).asin());
    let (heading, slope) = angles(from);
    let (mut to_heading, to_slope) = angles(to);
    if to.x == 0.0 && to.z == 0.0 {
        to_heading = heading;
    }
    let to_slope = to_slope.clamp(-climb_rad, climb_rad);
    let pi = std::f32::consts::PI;
    let by_heading = (to_heading - heading + pi).rem_euclid(2.0 * pi) - pi;
    let by_slope = to_slope - slope;
    let widest = if slope * to_slope <= 0.0 {
        1.0
    } else {
        slope.abs().min(to_slope.abs()).cos()
    };
    let length = by_slope.hypot(by_heading * widest);
    let share = if length > most_rad {
        most_rad / length
    } else {
        1.0
    };
    let (sin, cos) = (heading + by_heading * share).sin_cos();
    let (rise, level) = (slope + by_slope * share).sin_cos();
    let turned = Vec3::new(cos * level, rise, sin * level);
    water.world_from_level(turned).normalize_or(forward)
}

/// Keeps a body between ground and surface and within reach of the picture, whatever its actions want.
fn keep_in_pool(world: &World, before: &Body, after: &mut Body, own: &Own<'_>) {
    let water = &world.water;
    let (low, high) = water.y_range_m(own.radius_m);
    let half = water.visible_half_m(after.position_m.y) + water.hidden_margin_m(own.length_m) + 1.0;
    let least = Vec3::new(-half.x, low, -half.y);
    let most = Vec3::new(half.x, high, half.y);
    let kept = after.position_m.clamp(least, most);
    if kept == after.position_m {
        return;
    }
    let outward = after.position_m - kept;
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        let out = outward.dot(axis);
        if out * after.velocity_mps.dot(axis) > 0.0 {
            after.velocity_mps -= axis * after.velocity_mps.dot(axis);
        }
    }
    after.position_m = kept;
    if is_inside(&world.solids, kept) && !is_inside(&world.solids, before.position_m) {
        after.position_m = before.position_m;
        after.velocity_mps = Vec3::ZERO;
    }
}

/// Takes a body that has left the picture for good to another place.
fn cross_edge(world: &World, after: &mut Body, own: &Own<'_>) {
    let water = &world.water;
    let half =
        water.visible_half_m(after.position_m.y) + water.hidden_margin_m(own.length_m) + 0.02;
    let (at, velocity) = (after.position_m, after.velocity_mps);
    let leaves_x = at.x.abs() > half.x && at.x * velocity.x > 0.0;
    let leaves_z = at.z.abs() > half.y && at.z * velocity.z > 0.0;
    if !(leaves_x || leaves_z) {
        return;
    }
    match water.params.edge {
        EdgeMode::Guide => return,
        EdgeMode::Wrap => {
            let sign = |leaves: bool| if leaves { -1.0 } else { 1.0 };
            after.position_m *= Vec3::new(sign(leaves_x), 1.0, sign(leaves_z));
            after.teleported = true;
            if !is_inside(&world.solids, after.position_m) {
                return;
            }
        }
        EdgeMode::Reinsert => {}
    }
    reenter(
        world,
        after,
        own.species,
        (own.radius_m, own.length_m),
        own.id,
    );
}

/// Puts a body to a new place out of sight, cruising into the picture.
pub(super) fn reenter(
    world: &World,
    body: &mut Body,
    species: &Species,
    size_m: (f32, f32),
    id: u32,
) {
    let water = &world.water;
    let (at, heading) = water.random_hidden_pose(&world.solids, size_m, world.random, id);
    *body = Body {
        quarantine_count: body.quarantine_count,
        ..Body::new(at, heading, species.motion.cruise_mps)
    };
}

/// The up vector, leaning into the curve. **Source**: OpenSteer's banking, with a time constant.
fn banked(
    water: &Water,
    before: &Body,
    after: &Body,
    (motion, share): (&MotionParams, f32),
    dt: f32,
) -> Vec3 {
    let up = water.world_from_level(Vec3::Y);
    let forward = after.forward;
    let acceleration = if after.teleported {
        Vec3::ZERO
    } else {
        (after.velocity_mps - before.velocity_mps) / dt
    };
    let sideways = acceleration - forward * acceleration.dot(forward);
    let target = up * motion.right_gain + sideways * motion.lean_gain;
    let leaning = before.up.lerp(target.normalize_or(up), share);
    let across = |v: Vec3| (v - forward * v.dot(forward)).try_normalize();
    across(leaning)
        .or_else(|| across(up))
        .unwrap_or_else(|| forward.any_orthonormal_vector())
}

#[cfg(test)]
mod tests;
