//! The gait of a body: calm cruising or flight, and the way from one to the other.
//!
//! A cruising fish uses little force and turns slowly. It swims in bursts: its tail drives it until it has the speed that it
//! wants, then it glides, and the water slows it down. It keeps its course until it clearly wants another one. The forces of the
//! actions are wishes that a body follows in this way, as the muscles of a fish follow its controllers. A fish that flees uses all
//! its force at once. **Source**: Tu & Terzopoulos 1994 (thrust, drag); Videler & Weihs 1982 (burst and coast).

use glam::{Vec2, Vec3};

use super::{TickRates, TurnLimits};
use crate::behavior::Proposal;
use crate::world::{Body, BoostState, MotionParams, Stroke, Water};

/// Largest random difference of one burst or glide from another, as a share of the slowdown. Glides of equal length look like a
/// machine.
const GLIDE_SPREAD: f32 = 0.35;

/// Time over which the force of the actions acts to give the velocity that a cruising body wants.
const WISH_SECS: f32 = 0.5;

/// Turn rate to a wanted course, per radian of the angle to it and second.
const TURN_GAIN: f32 = 2.0;

/// A turn ends at this share of the angle at which it begins.
const TURN_END_SHARE: f32 = 0.2;

/// The limits of one body in one tick.
pub(super) struct Gait<'a> {
    motion: &'a MotionParams,
    /// Whether the body cruises: it neither flees nor is it faster than its cruise speed allows. A planned route is not cruised:
    /// the run-up of a leap needs steady thrust.
    cruises: bool,
    drag_per_sec: f32,
    /// Largest steering force.
    pub(super) force_n: f32,
    /// Largest turn.
    pub(super) limits: TurnLimits,
}

/// Forces on one body in one tick.
#[derive(Clone, Copy)]
pub(super) struct Drive {
    /// Acceleration by the steering force, in m/s².
    pub(super) wish: Vec3,
    /// Largest acceleration by the force of the gait, in m/s².
    pub(super) largest: f32,
    /// Speed limit.
    pub(super) allowed_mps: f32,
    /// Random number from −1 to 1.
    pub(super) draw: f32,
    /// Length of the tick.
    pub(super) dt_secs: f32,
}

impl<'a> Gait<'a> {
    /// Returns the gait after a decision. A body that calms down passes gradually from the limits of flight to those of cruising.
    pub(super) fn new(
        motion: &'a MotionParams,
        rates: &TickRates,
        boost: &BoostState,
        proposal: &Proposal,
        dt_secs: f32,
    ) -> Self {
        let range = motion.boost_mps - motion.cruise_mps;
        let haste = if proposal.flees {
            1.0
        } else if range > 0.0 {
            ((boost.allowed_mps - motion.cruise_mps) / range).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let between = |calm: Option<f32>, most: f32| {
            calm.map_or(most, |calm| {
                let calm = calm.min(most);
                calm + (most - calm) * haste
            })
        };
        let cruise = &motion.cruise;
        let limits = if proposal.turns_in_place {
            rates.limits.unlimited()
        } else if haste <= 0.0 {
            rates.cruise_limits
        } else if haste < 1.0 && cruise.max_turn_rate_dps.is_some() {
            let turn_dps = between(cruise.max_turn_rate_dps, motion.max_turn_rate_dps);
            rates.limits.with_turn(turn_dps.to_radians() * dt_secs)
        } else {
            rates.limits
        };
        Self {
            motion,
            cruises: haste <= 0.0 && !proposal.turns_in_place && !proposal.follows_route,
            drag_per_sec: rates.drag_per_sec,
            force_n: between(cruise.max_force_n, motion.max_force_n),
            limits,
        }
    }

    /// Returns the acceleration of the body, and updates its stroke: while a cruising body glides, only the water slows it down,
    /// unless it wants to brake harder.
    pub(super) fn accelerate(&self, before: &Body, drive: Drive, stroke: &mut Stroke) -> Vec3 {
        let glide = &self.motion.glide;
        if !self.cruises || glide.slowdown_share <= 0.0 {
            stroke.glides = false;
            return drive.wish;
        }
        let along = drive.wish.dot(before.forward);
        let speed = before.velocity_mps.dot(before.forward).max(0.0);
        let wanted_mps = (speed + along * WISH_SECS).min(drive.allowed_mps);
        if stroke.glides {
            stroke.glides = speed > wanted_mps * stroke.resume_share;
        } else if speed >= wanted_mps {
            stroke.glides = true;
            stroke.resume_share = 1.0 - glide.slowdown_share * (1.0 + GLIDE_SPREAD * drive.draw);
        }
        let driven = if stroke.glides {
            along.min(-speed * self.drag_per_sec.min(1.0 / drive.dt_secs))
        } else {
            let thrust = glide.slowdown_share * self.motion.cruise_mps / glide.burst_secs.max(1e-3);
            along.max(thrust.min(drive.largest))
        };
        drive.wish + before.forward * (driven - along)
    }

    /// Returns the direction in which the body swims instead of `direction`, and updates its stroke: a cruising body swims straight
    /// on until the course that it wants differs by `hold_course_deg`, and then turns to it smoothly.
    pub(super) fn hold_course(
        &self,
        water: &Water,
        before: &Body,
        direction: Vec3,
        (drive, response): (Drive, f32),
        stroke: &mut Stroke,
    ) -> Vec3 {
        let begins_rad = self.motion.cruise.hold_course_deg.to_radians();
        if !self.cruises || begins_rad <= 0.0 || before.pushed_mps != Vec3::ZERO {
            stroke.turns = true;
            return direction;
        }
        let level = |v: Vec3| {
            let level = water.level_from_world(v);
            Vec2::new(level.x, level.z)
        };
        let ahead = level(before.forward).normalize_or(Vec2::X);
        let wanted = level(before.velocity_mps + drive.wish * WISH_SECS);
        let off_rad = if wanted.length() > self.motion.cruise_mps * super::STILL_SHARE {
            ahead.angle_to(wanted)
        } else {
            0.0
        };
        let share = if stroke.turns { TURN_END_SHARE } else { 1.0 };
        stroke.turns = off_rad.abs() > begins_rad * share;
        let largest_rps = self.limits.turn_rad / drive.dt_secs;
        let wanted_rps = if stroke.turns {
            (off_rad * TURN_GAIN).clamp(-largest_rps, largest_rps)
        } else {
            0.0
        };
        // A positive turn rate turns to the left, a positive angle to the right.
        let rate_rps = -before.turn_rate_rps;
        let rate_rps = rate_rps + (wanted_rps - rate_rps) * response;
        let slope = water.level_from_world(direction).y.clamp(-1.0, 1.0);
        let flat =
            Vec2::from_angle(rate_rps * drive.dt_secs).rotate(ahead) * (1.0 - slope * slope).sqrt();
        water.world_from_level(Vec3::new(flat.x, slope, flat.y))
    }
}
