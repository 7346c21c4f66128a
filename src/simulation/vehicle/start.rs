//! The fast start of a flight: a bend of the body to a C towards its new heading, and one stroke back. Then the sprint begins.
//!
//! In the bend the body turns, without thrust, as fast as its force allows; in the stroke it has the force of its whole body.
//! **Source**: Domenici & Blake 1997.

use glam::{Vec2, Vec3};

use super::Properties;
use crate::behavior::Proposal;
use crate::world::{Body, FastStart, MotionParams, Water};

/// Duration of the bend, and of the stroke, of the shortest body.
const LEAST_SECS: f32 = 0.05;

/// The same of the longest body.
const MOST_SECS: f32 = 0.12;

/// Growth of that duration with the length of the body, in seconds per meter.
const SECS_PER_METER: f32 = 0.15;

/// Duration of a body without length.
const BASE_SECS: f32 = 0.035;

/// Time without a fright after which the next fright begins with a fast start again.
const REST_SECS: f32 = 0.8;

/// Time over which the force of the actions acts to give the velocity that a frightened body wants.
const WISH_SECS: f32 = 0.5;

/// A bend turns the body at least by this angle, also if it flees straight on: without a bend it has no stroke.
const LEAST_BEND_RAD: f32 = 0.5;

/// Returns the duration of the bend, and of the stroke.
fn stage_secs(length_m: f32) -> f32 {
    (BASE_SECS + SECS_PER_METER * length_m).clamp(LEAST_SECS, MOST_SECS)
}

/// Returns the state of the fast start after the tick. A fright begins a start, unless the body has been frightened just before.
pub(super) fn next_start(
    water: &Water,
    before: &Body,
    proposal: &Proposal,
    own: &Properties<'_>,
    dt_secs: f32,
) -> FastStart {
    let old = before.start;
    let largest_rad = own.species.motion.start.angle_deg.to_radians();
    let is_frightened = proposal.fright > 0.0 && largest_rad > 0.0;
    if is_frightened && old.rest_secs <= 0.0 && old.phase >= FastStart::OVER {
        let level = |v: Vec3| {
            let level = water.level_from_world(v);
            Vec2::new(level.x, level.z)
        };
        // A positive angle turns to the right.
        let turn_rad = -level(before.forward).angle_to(level(wanted_direction(
            before,
            proposal.force,
            own.mass_kg,
        )));
        let turn_rad = if turn_rad.is_finite() { turn_rad } else { 0.0 };
        let least_rad = LEAST_BEND_RAD.min(largest_rad);
        return FastStart {
            phase: 0.0,
            bend_rad: turn_rad.abs().clamp(least_rad, largest_rad) * turn_rad.signum(),
            fright: proposal.fright,
            rest_secs: REST_SECS,
        };
    }
    FastStart {
        phase: (old.phase + dt_secs / stage_secs(own.length_m)).min(FastStart::OVER),
        rest_secs: if is_frightened {
            REST_SECS
        } else {
            (old.rest_secs - dt_secs).max(0.0)
        },
        ..old
    }
}

/// Returns the direction in which a frightened body wants to swim.
pub(super) fn wanted_direction(before: &Body, force_n: Vec3, mass_kg: f32) -> Vec3 {
    (before.velocity_mps + force_n / mass_kg * WISH_SECS).normalize_or(before.forward)
}

/// Returns the largest turn of one tick of the bend: so fast that the largest bend ends in its time, but not faster than the force
/// of the body can turn its velocity.
pub(super) fn bend_limit_rad(
    motion: &MotionParams,
    (speed_mps, length_m, mass_kg): (f32, f32, f32),
    dt_secs: f32,
) -> f32 {
    let quick_rps = motion.start.angle_deg.to_radians() / stage_secs(length_m);
    let largest_n = motion.max_force_n * motion.start.force_factor;
    let strong_rps = largest_n / (mass_kg * speed_mps.max(1e-3));
    quick_rps.min(strong_rps) * dt_secs
}
