//! The vehicle model: computes the next body of one agent from its decision. **Source**: Reynolds 1999, "The vehicle model".
//!
//! Reads only the state before the tick and returns one body, so bodies can be computed in any order and on any thread.

use glam::{Vec2, Vec3};

use super::collision::{Mover, is_inside, move_body};
use crate::behavior::Decision;
use crate::geometry::Hull;
use crate::world::{
    Body, EdgeMode, FastStart, Intent, MotionParams, RandomStream, Species, Water, World,
};

use boost::{Pace, next_boost};
use gait::{Drive, Gait};
use start::{bend_limit_rad, next_start, wanted_direction};

mod boost;
mod gait;
mod start;
mod walk;

/// Motion values that are the same for all individuals of a species in one tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickRates {
    limits: TurnLimits,
    /// The limits of a body that cruises.
    cruise_limits: TurnLimits,
    /// Share of its speed that a gliding body loses per second.
    drag_per_sec: f32,
    /// Share of the way to the requested force that the force covers in one tick.
    response: f32,
    /// Share of the way to its target that the up vector covers in one tick.
    banking: f32,
    /// Share of the vertical velocity that remains after one tick.
    leveling: f32,
}

impl TickRates {
    pub(super) fn new(motion: &MotionParams, dt: f32) -> Self {
        let left = |secs: f32| if secs > 0.0 { (-dt / secs).exp() } else { 0.0 };
        // A walking body is level until it stands on the ground.
        let climb_deg = if motion.walks() {
            0.0
        } else {
            motion.max_climb_deg
        };
        let limits = TurnLimits::new(
            motion.max_turn_rate_dps.to_radians() * dt,
            climb_deg.to_radians(),
        );
        let cruise_dps = motion.cruise.max_turn_rate_dps;
        let glide = &motion.glide;
        Self {
            limits,
            cruise_limits: cruise_dps.map_or(limits, |dps| {
                limits.with_turn(dps.min(motion.max_turn_rate_dps).to_radians() * dt)
            }),
            drag_per_sec: -(1.0 - glide.slowdown_share).ln() / glide.glide_secs.max(1e-3),
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

/// Maximum angle by which a body turns in one tick, and maximum slope at which it climbs or dives.
#[derive(Clone, Copy, Debug)]
struct TurnLimits {
    turn_rad: f32,
    /// Cosine of `turn_rad`; a value below −1 if every turn is allowed.
    turn_cos: f32,
    climb_rad: f32,
    climb_sin: f32,
}

impl TurnLimits {
    fn new(turn_rad: f32, climb_rad: f32) -> Self {
        Self {
            turn_rad,
            turn_cos: if turn_rad < std::f32::consts::PI {
                turn_rad.cos()
            } else {
                -2.0
            },
            climb_rad,
            climb_sin: climb_rad.sin(),
        }
    }

    /// Returns the same limits with another turn limit.
    fn with_turn(self, turn_rad: f32) -> Self {
        Self {
            turn_rad,
            turn_cos: Self::new(turn_rad, 0.0).turn_cos,
            ..self
        }
    }

    /// Returns the same limits without the turn limit.
    fn unlimited(self) -> Self {
        Self {
            turn_rad: f32::INFINITY,
            turn_cos: -2.0,
            ..self
        }
    }
}

/// Returns the body of the agent at `index` after the tick. `rates` has one element per species.
pub(super) fn advance(
    world: &World<'_>,
    rates: &[TickRates],
    index: usize,
    decision: &Decision,
) -> Body {
    let before = &world.agents.bodies[index];
    let species_index = usize::from(world.agents.species[index]);
    let species = &world.species[species_index];
    let own = Properties {
        species,
        rates: &rates[species_index],
        radius_m: world.agents.radii_m[index],
        half_width_m: world.agents.half_widths_m[index],
        span_m: species.body.span_m() * world.agents.size_factors[index],
        length_m: species.body.length_m * world.agents.size_factors[index],
        mass_kg: species.body.mass_kg * world.agents.size_factors[index].powi(3),
        id: world.agents.ids[index],
    };
    let after = if species.motion.walks() {
        let level = walk::level(world.water, before);
        let decision = walk::level_decision(world.water, decision);
        let mut after = next_body(world, &level, &decision, &own);
        walk::stand(world, (before, &mut after), &own, world.dt_secs);
        after
    } else {
        next_body(world, before, decision, &own)
    };
    if after.is_finite() {
        return after;
    }
    // A body with a value that is not finite never enters the world: the agent keeps its old body for this tick, and the fault
    // is counted.
    Body {
        quarantine_count: before.quarantine_count.saturating_add(1),
        teleported: false,
        ..*before
    }
}

/// Speed up to which a body counts as standing still, as a share of its cruise speed. The direction of a standing body does not
/// follow its velocity.
const STILL_SHARE: f32 = 0.05;

/// A standing body turns towards its force if the force exceeds this share of the maximum force.
const TURN_FORCE_SHARE: f32 = 0.05;

/// Constant properties of one agent.
struct Properties<'a> {
    species: &'a Species,
    rates: &'a TickRates,
    radius_m: f32,
    half_width_m: f32,
    length_m: f32,
    /// The larger of length and width.
    span_m: f32,
    mass_kg: f32,
    id: u32,
}

impl Properties<'_> {
    /// Returns the room that the body takes with this orientation.
    fn hull(&self, forward: Vec3, up: Vec3) -> Hull {
        let side = forward.cross(up).normalize_or_zero();
        Hull::across(self.radius_m, side, self.half_width_m)
    }
}

fn next_body(world: &World<'_>, before: &Body, decision: &Decision, own: &Properties<'_>) -> Body {
    let dt = world.dt_secs;
    let water = &world.water;
    let motion = &own.species.motion;
    let speed = before.velocity_mps.length();
    let brake_mps = motion.max_force_n / own.mass_kg * dt;
    let pace = Pace {
        speed_mps: speed,
        brake_mps,
        dt_secs: dt,
    };
    let boost = next_boost(&before.boost, &decision.proposal, motion, pace);
    let gait = Gait::new(motion, own.rates, &boost, &decision.proposal, dt);
    let start = next_start(water, before, &decision.proposal, own, dt);
    let asked = decision.proposal.force.clamp_length_max(gait.force_n);
    let force = applied_force(before, decision, own, (asked, start));
    let drive = Drive {
        wish: force / own.mass_kg,
        largest: gait.force_n / own.mass_kg,
        allowed_mps: boost.allowed_mps,
        draw: world.random.signed(own.id, RandomStream::Glide, 0),
        dt_secs: dt,
    };
    let mut stroke = before.stroke;
    let wanted = if is_blocked(before) {
        force.clamp_length_max(motion.cruise_mps)
    } else if start.bends() {
        before.velocity_mps
    } else {
        before.velocity_mps + gait.accelerate(before, drive, &mut stroke) * dt
    };
    // A body that is slower, because an edit raised the minimum speed or it was stopped, reaches it by its own force.
    let least_mps = motion
        .min_speed_mps
        .min(motion.cruise_mps)
        .min(speed + brake_mps);
    let wanted = level_off(water, wanted, own.rates.leveling);
    let climb_rad = own.rates.limits.climb_rad;
    let wanted = slide_along(water, before, wanted, (least_mps, climb_rad));
    let wanted = brake_by_turning(before, wanted, least_mps).clamp_length_max(boost.allowed_mps);
    let is_still = wanted.length() <= motion.cruise_mps * STILL_SHARE;
    let direction = if !is_still {
        wanted.normalize_or(before.forward)
    } else if force.length() > motion.max_force_n * TURN_FORCE_SHARE {
        // If the force on a standing body points backwards, the body turns in place. Otherwise it would never move again.
        force.normalize_or(before.forward)
    } else {
        before.forward
    };
    let steering = (drive, own.rates.response);
    let (direction, limits) = if start.bends() {
        let body = (speed, own.length_m, own.mass_kg);
        let turn_rad = bend_limit_rad(motion, body, dt);
        let direction = wanted_direction(before, decision.proposal.force, own.mass_kg);
        (direction, gait.limits.with_turn(turn_rad))
    } else {
        let held = gait.hold_course(water, before, direction, steering, &mut stroke);
        (held, gait.limits)
    };
    let forward = turn_towards(water, before.forward, direction, limits);
    let speed = wanted.dot(forward).max(least_mps).min(boost.allowed_mps);
    let speed = speed.min(reached_mps(before, forward, start, (motion, brake_mps)));
    let way_m = speed.abs().max(motion.cruise_mps) * dt + own.half_width_m;
    let solids = if way_m < world.contact_solids.margin_m() {
        world.contact_solids.near(before.position_m)
    } else {
        world.solids
    };
    let mover = Mover {
        solids,
        hull: own.hull(forward, before.up),
        motion,
        ground: walk::ground(water, before.position_m, own),
        dt_secs: dt,
    };
    let end = move_body(&mover, before.position_m, forward * speed);
    let mut after = Body {
        position_m: end.position_m,
        velocity_mps: end.velocity_mps,
        forward,
        up: before.up,
        turn_rate_rps: before
            .forward
            .cross(forward)
            .dot(before.up)
            .atan2(before.forward.dot(forward))
            / dt,
        intent: intent_of(decision, forward),
        acceleration_mps2: (end.velocity_mps - before.velocity_mps).dot(forward) / dt,
        stroke,
        start,
        force_n: force,
        pushed_mps: Vec3::ZERO,
        boost,
        teleported: false,
        quarantine_count: before.quarantine_count,
    };
    keep_in_pool(world, before, &mut after, own);
    after.pushed_mps = after.velocity_mps - forward * speed;
    cross_edge(world, &mut after, own);
    after.up = bank(water, before, &after, (motion, own.rates.banking), dt);
    after
}

/// Returns the speed that a body below its minimum speed can reach in a new direction: it can turn round within a tick, and does not become
/// faster too with the same force; infinity for other bodies. A body turns and changes its speed with its force at the same time.
fn reached_mps(
    before: &Body,
    forward: Vec3,
    start: FastStart,
    (motion, brake_mps): (&MotionParams, f32),
) -> f32 {
    // If the agent was pushed, an obstacle or an edge has changed its velocity, and not the force of its own body: no limit.
    let is_slow = before.velocity_mps.length() < motion.min_speed_mps;
    if !is_slow || before.pushed_mps != Vec3::ZERO {
        return f32::INFINITY;
    }
    let starts = before.start.phase.min(start.phase) < FastStart::OVER;
    let factor = if starts {
        motion.start.force_factor
    } else {
        1.0
    };
    let along_mps = before.velocity_mps.dot(forward);
    let aside_mps = (before.velocity_mps - forward * along_mps).length();
    let most_mps = factor * brake_mps * std::f32::consts::SQRT_2;
    let rest_mps = (most_mps * most_mps - aside_mps * aside_mps)
        .max(0.0)
        .sqrt();
    (along_mps + rest_mps).max(0.0)
}

/// Returns the force of a tick: it follows the asked force in the response time of the species, but at once in the stroke of a fast
/// start and in a turn on the spot.
fn applied_force(
    before: &Body,
    decision: &Decision,
    own: &Properties<'_>,
    (asked, start): (Vec3, FastStart),
) -> Vec3 {
    let motion = &own.species.motion;
    if start.strikes() {
        asked * motion.start.force_factor
    } else if decision.proposal.turns_in_place {
        asked
    } else {
        let before_n = before.force_n.clamp_length_max(motion.max_force_n);
        before_n.lerp(asked, own.rates.response)
    }
}

/// Returns what others can see of the decision.
fn intent_of(decision: &Decision, forward: Vec3) -> Intent {
    Intent {
        attends: decision.proposal.attends,
        hunts: decision.hunts,
        ..decision.proposal.intent.unwrap_or(Intent {
            heading: forward,
            goal_m: None,
            attends: None,
            hunts: false,
        })
    }
}

/// Returns a wanted velocity in which braking below the minimum speed is replaced by turning to the side of the wanted
/// velocity. Without this, a force directly backwards would hardly turn a body that swims at its minimum speed. If the sideways
/// part of the wanted velocity is small, the added sideways part is small, too. So the body does not jitter between left and
/// right.
fn brake_by_turning(before: &Body, wanted: Vec3, least_mps: f32) -> Vec3 {
    let along = wanted.dot(before.forward);
    let lack = least_mps - along;
    if lack <= 0.0 {
        return wanted;
    }
    let side = before.side();
    // The offset lets a body turn right if the wanted velocity points exactly backwards.
    let lean = wanted.dot(side) + 1e-5;
    wanted + side * (lack * lean / (lean.abs() + lack))
}

/// A body that covers less than this share of the way that it wants is blocked.
const BLOCKED_SHARE: f32 = 0.5;

/// Whether obstacles or edges took most of the velocity of a body in the last tick. The rest is where they push it, not where it
/// swims, so it must not count for the heading.
fn is_blocked(before: &Body) -> bool {
    let tried_mps = (before.velocity_mps - before.pushed_mps).length();
    before.pushed_mps != Vec3::ZERO && before.velocity_mps.length() < tried_mps * BLOCKED_SHARE
}

/// Returns a wanted velocity that does not point into what was in the way in the last tick. The heading follows the wanted
/// velocity, so a body turns along an obstacle or an edge of the water instead of pressing against it. If the way along it is
/// steeper than the body can climb, the body turns to a side instead. A body that wants to go straight into an edge, or into a
/// corner between two obstacles, turns on to the side to which it already turns: a choice in every tick could alternate.
fn slide_along(
    water: &Water,
    before: &Body,
    wanted: Vec3,
    (least_mps, climb_rad): (f32, f32),
) -> Vec3 {
    let Some(away) = before.pushed_mps.try_normalize() else {
        return wanted;
    };
    let into = wanted.dot(away);
    if into >= 0.0 {
        return wanted;
    }
    let along = wanted - away * into;
    let flat = |v: Vec3| Vec2::new(v.x, v.z);
    let Some(out) = flat(water.level_from_world(away)).try_normalize() else {
        // The ground or the water surface: all headings are free.
        return along;
    };
    let mut level = water.level_from_world(along);
    if level.y.abs() > flat(level).length() * climb_rad.tan() {
        let wanted = flat(water.level_from_world(wanted));
        let beside = wanted - out * wanted.dot(out);
        level = Vec3::new(beside.x, 0.0, beside.y);
    }
    if flat(level).length() < least_mps {
        let side = side_of(water, before, out, flat(level)) * least_mps;
        level = Vec3::new(side.x, level.y, side.y);
    }
    water.world_from_level(level)
}

/// Turn rate below which a body counts as swimming straight on, in radians per second.
const STRAIGHT_RPS: f32 = 0.05;

/// Returns the horizontal unit vector along an obstacle to the side to which the body turns. A body that swims straight on turns
/// to the side of `wanted`, else to the side to which it leans. `out` is the horizontal unit vector away from the obstacle.
fn side_of(water: &Water, before: &Body, out: Vec2, wanted: Vec2) -> Vec2 {
    let along = out.perp();
    let ahead = water.level_from_world(before.forward);
    // Counterclockwise about the y axis, like a positive turn rate.
    let turning = Vec2::new(ahead.z, -ahead.x) * before.turn_rate_rps;
    let lean = if before.turn_rate_rps.abs() > STRAIGHT_RPS {
        turning.dot(along)
    } else if wanted != Vec2::ZERO {
        wanted.dot(along)
    } else {
        Vec2::new(ahead.x, ahead.z).dot(along)
    };
    if lean < 0.0 { -along } else { along }
}

/// Returns the velocity with its vertical part multiplied by `left`.
fn level_off(water: &Water, velocity: Vec3, left: f32) -> Vec3 {
    if left == 1.0 {
        return velocity;
    }
    let mut level = water.level_from_world(velocity);
    level.y *= left;
    water.world_from_level(level)
}

/// Returns `forward` turned towards `wanted`, as a unit vector: by at most the turn limit, and not steeper than the maximum
/// climb.
///
/// Changes heading and slope separately, as fish do, and never turns upside down. The computed angle is at least as large as
/// the true angle, so the true turn never exceeds the limit.
fn turn_towards(water: &Water, forward: Vec3, wanted: Vec3, turning: TurnLimits) -> Vec3 {
    let TurnLimits {
        turn_rad,
        turn_cos,
        climb_rad,
        climb_sin,
    } = turning;
    let from = water.level_from_world(forward);
    let to = water.level_from_world(wanted);
    if to.y.abs() <= climb_sin && from.dot(to) > turn_cos {
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
    let share = if length > turn_rad {
        turn_rad / length
    } else {
        1.0
    };
    let (sin, cos) = (heading + by_heading * share).sin_cos();
    let (rise, level) = (slope + by_slope * share).sin_cos();
    let turned = Vec3::new(cos * level, rise, sin * level);
    water.world_from_level(turned).normalize_or(forward)
}

/// Keeps a body between ground and water surface and at most 1 m beyond the hidden margin of the picture. Removes the part of
/// the velocity that points out of these bounds.
fn keep_in_pool(world: &World<'_>, before: &Body, after: &mut Body, own: &Properties<'_>) {
    let water = &world.water;
    let hull = own.hull(after.forward, before.up);
    let (low, high) = water.y_range_m(hull.reach_m(Vec3::Y));
    let margin_m = water.hidden_margin_m(own.span_m).max(own.species.margin_m);
    let half = water.visible_half_m(after.position_m.y) + margin_m + 1.0;
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
    let was_at = before.position_m;
    if !is_inside(world.solids, kept) || is_inside(world.solids, was_at) {
        after.position_m = kept;
        return;
    }
    // An obstacle is in the way back into the bounds, for example after the ground was raised. The body swims along it, but no
    // farther out.
    let beside = after.position_m.clamp(least.min(was_at), most.max(was_at));
    if is_inside(world.solids, beside) {
        after.position_m = was_at;
        after.velocity_mps = Vec3::ZERO;
    } else {
        after.position_m = beside;
    }
}

/// Applies the pool's edge mode to a body that has left the picture completely and moves away from it.
fn cross_edge(world: &World<'_>, after: &mut Body, own: &Properties<'_>) {
    let water = &world.water;
    let half = water.visible_half_m(after.position_m.y) + water.hidden_margin_m(own.span_m) + 0.02;
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
            if !is_inside(world.solids, after.position_m) {
                return;
            }
        }
        EdgeMode::Reinsert => {}
    }
    reenter(
        world,
        after,
        own.species,
        (own.half_width_m, own.span_m),
        own.id,
    );
}

/// Moves a body to a random position out of sight, heading into the picture at cruise speed. `size_m` is (radius, length).
pub(super) fn reenter(
    world: &World<'_>,
    body: &mut Body,
    species: &Species,
    size_m: (f32, f32),
    id: u32,
) {
    let water = &world.water;
    let (mut at, heading) = water.random_hidden_pose(world.solids, size_m, world.random, id);
    if species.motion.walks() {
        at = water.grounded(world.solids, at, size_m.0, species.margin_m);
    }
    *body = Body {
        quarantine_count: body.quarantine_count,
        ..Body::new(at, heading, species.motion.cruise_mps)
    };
}

/// Returns the new up vector, so that the body leans into curves. **Source**: OpenSteer 0.8.2, banking of `SimpleVehicle`.
/// Unlike there, a time constant smooths the motion.
fn bank(
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
