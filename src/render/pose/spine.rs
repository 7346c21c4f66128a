//! The spine of a body: it lies on the path that the fish has swum, and its joints are driven and damped.
//!
//! Each joint is a damped spring. Its target is the bend of the path at its place, or, in a fast start, that of the muscles: a C,
//! then a stroke to the other side. Water drags on what moves sideways. The spine never changes where the body is.
//! **Source**: Tu & Terzopoulos 1994 (muscles as springs); Domenici & Blake 1997 (fast start).

use glam::Vec3;

use crate::render::model::Model;
use crate::world::{AgentPose, FastStart};

/// Number of headings that a path remembers.
const TRAIL: usize = 8;
/// Distance between two of them, in body lengths. Together they reach from the middle of the body past the tail.
const TRAIL_STEP: f32 = 0.1;
/// Number of joints with a bend of their own. Further joints of a model bend like the last one.
const JOINTS: usize = 8;

/// Speed at which the path moves along the body at least, in body lengths per second. A fish that turns in place becomes straight
/// again in less than a second. Tuned by eye.
const LEAST_FLOW: f32 = 0.6;
/// Upper limit of the bend behind the middle of the body. The bend approaches it but never reaches it, so that a turning fish does
/// not look like a crescent. Tuned by eye.
const MAX_BEND_RAD: f32 = 0.6;
/// The same in a fast start, in which fish bend to a full C.
const MAX_START_RAD: f32 = 1.3;
/// Share of the bend behind the middle with which the head bends. Tuned by eye.
const HEAD_SHARE: f32 = 0.35;
/// Share of the angle of a fast start by which the body bends.
const START_SHARE: f32 = 0.75;
/// Bend of the stroke to the other side, as a share of that of the C.
const STROKE_SHARE: f32 = 0.55;

/// Natural frequency of the joints of a body of 1 m, in radians per second. That of a shorter body is higher by the root of its
/// length. Tuned by eye.
const STIFFNESS_RPS: f32 = 8.0;
/// Factor on that frequency while the muscles of a fast start pull.
const START_STIFFNESS: f32 = 5.0;
/// Share by which the tip of the tail is softer than the middle of the body.
const TAIL_SOFTNESS: f32 = 0.4;
/// Damping: 1 would not overshoot. The tail of a fish that stops swings on a little.
const DAMPING: f32 = 0.7;
/// Bend per squared sideways speed in body lengths per second, at the stiffness 1 rad/s. Tuned by eye.
const DRAG: f32 = 12.0;
/// Largest bend of a joint by drag.
const MAX_DRAG_RAD: f32 = 0.08;
/// Time in which the muscles of a fast start let go.
const RELEASE_SECS: f32 = 0.12;

/// A joint that bends with the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpineJoint {
    /// Index in the model.
    pub joint: usize,
    /// Where the part of the body in front of the joint and the part behind it have their middles, as distances behind the middle of
    /// the body in body lengths. Both are negative for a joint of the head.
    pub parts: [f32; 2],
}

impl SpineJoint {
    /// Whether the joint is in front of the middle of the body.
    pub(super) fn is_head(&self) -> bool {
        self.parts[1] <= 0.0
    }
}

/// Finds the joints of the spine, from the middle of the body to its ends: joints that have a parent along the long axis.
pub(super) fn joints(model: &Model) -> Vec<SpineJoint> {
    let place = |i: usize| -> Option<Vec3> {
        let joint = model.joints.get(i)?;
        Some(joint.inverse_bind.inverse().transform_point3(Vec3::ZERO))
    };
    let length = model.size.z.max(1e-6);
    let mut found: Vec<(usize, f32)> = Vec::new();
    for (i, joint) in model.joints.iter().enumerate() {
        let (Some(at), Some(parent)) = (place(i), joint.parent.and_then(place)) else {
            continue;
        };
        let along = (at.z - parent.z).abs() > 2.0 * (at.y - parent.y).abs();
        if along && at.x.abs() < 0.04 * length {
            found.push((i, -at.z / length));
        }
    }
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    let behind = |at: f32| at > -0.2;
    let mut before = 0.0;
    let mut spine = Vec::new();
    for (number, &(joint, at)) in found.iter().enumerate() {
        if !behind(at) {
            spine.push(SpineJoint {
                joint,
                parts: [at, at],
            });
            continue;
        }
        let next = found.get(number + 1).map_or(0.5, |next| next.1.min(0.5));
        let middle = (at.max(0.0) + next.max(0.0)) / 2.0;
        spine.push(SpineJoint {
            joint,
            parts: [before, middle.max(before)],
        });
        before = middle.max(before);
    }
    spine
}

/// The spine of one individual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spine {
    /// Direction of the nose in the last picture; zero before the first one.
    forward: Vec3,
    /// Changes of the heading since the positions of the trail, newest first; positive to the left.
    trail_rad: [f32; TRAIL],
    /// Distance swum since the newest position of the trail, in body lengths.
    since: f32,
    /// Bend of each joint; positive if both ends of the body point to the left.
    bend_rad: [f32; JOINTS],
    /// Rate of each bend.
    rate_rps: [f32; JOINTS],
    /// Weight of the muscles of a fast start, 0..1.
    pub(super) start: f32,
}

impl Default for Spine {
    fn default() -> Self {
        Self {
            forward: Vec3::ZERO,
            trail_rad: [0.0; TRAIL],
            since: 0.0,
            bend_rad: [0.0; JOINTS],
            rate_rps: [0.0; JOINTS],
            start: 0.0,
        }
    }
}

impl Spine {
    /// Returns the bend of the spine's joint with this number.
    pub(super) fn bend_rad(&self, number: usize) -> f32 {
        self.bend_rad[number.min(JOINTS - 1)]
    }

    /// Returns the sum of the bends behind the middle of the body.
    pub(super) fn total_rad(&self, joints: &[SpineJoint]) -> f32 {
        let each = joints.iter().take(JOINTS).zip(self.bend_rad);
        each.filter(|(joint, _)| !joint.is_head())
            .map(|(_, bend)| bend)
            .sum()
    }

    /// Advances the spine by `dt_secs`. `length_m` is the length of the individual; `strength` is a factor on the bends of the path.
    pub(super) fn advance(
        &mut self,
        dt_secs: f32,
        agent: &AgentPose,
        joints: &[SpineJoint],
        (length_m, strength): (f32, f32),
    ) {
        let speed = agent.velocity_mps.length() / length_m;
        self.swim(dt_secs, agent, speed);
        let starts = agent.start_phase < FastStart::OVER;
        let release = 1.0 - (-dt_secs / RELEASE_SECS).exp();
        self.start = if starts {
            1.0
        } else {
            self.start * (1.0 - release)
        };
        let count = joints
            .iter()
            .filter(|joint| !joint.is_head())
            .count()
            .max(1) as f32;
        let limit_rad = (MAX_BEND_RAD + (MAX_START_RAD - MAX_BEND_RAD) * self.start) / count;
        let stiff_rps = STIFFNESS_RPS / length_m.max(1e-3).sqrt()
            * (1.0 + (START_STIFFNESS - 1.0) * self.start);
        let muscle_rad = if starts { muscle_rad(agent) } else { 0.0 };
        // Sideways speed of the body at the joint, to the right, in body lengths per second.
        let (mut sideways, mut rate_rps, mut at) = (0.0, agent.turn_rate_rps, 0.0);
        for (number, joint) in joints.iter().take(JOINTS).enumerate() {
            let [front, back] = joint.parts;
            let is_head = joint.is_head();
            let (path_rad, share) = if !is_head {
                (self.turned_rad(back) - self.turned_rad(front), 1.0 / count)
            } else {
                let curve = agent.turn_rate_rps / speed.max(LEAST_FLOW);
                (HEAD_SHARE * curve * 0.5, HEAD_SHARE)
            };
            let most_rad = if !is_head {
                limit_rad
            } else {
                limit_rad * count * HEAD_SHARE
            };
            let path_rad = path_rad * strength;
            let mut target = path_rad + (muscle_rad * share * strength - path_rad) * self.start;
            let mut omega = stiff_rps;
            if !is_head {
                sideways += rate_rps * (back - at);
                at = back;
                rate_rps -= self.rate_rps[number];
                omega *= 1.0 - TAIL_SOFTNESS * (2.0 * back).min(1.0);
                let drag = DRAG * sideways * sideways.abs() / (omega * omega);
                target += drag.clamp(-MAX_DRAG_RAD, MAX_DRAG_RAD) * strength;
            }
            let target = most_rad * (target / most_rad.max(1e-6)).tanh();
            let (bend, rate) = (&mut self.bend_rad[number], &mut self.rate_rps[number]);
            (*bend, *rate) = spring((*bend, *rate), target, omega, dt_secs);
        }
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let each = self
            .bend_rad
            .iter()
            .chain(&self.rate_rps)
            .chain(&self.trail_rad);
        each.chain([&self.since, &self.start])
            .all(|number| number.is_finite())
    }

    /// Moves the path along the body, and turns it by what the nose has turned since the last picture.
    fn swim(&mut self, dt_secs: f32, agent: &AgentPose, speed: f32) {
        let before = std::mem::replace(&mut self.forward, agent.forward);
        if before == Vec3::ZERO || agent.teleported {
            *self = Self {
                forward: agent.forward,
                ..Self::default()
            };
            return;
        }
        let turned_rad =
            (before.cross(agent.forward).dot(agent.up)).atan2(before.dot(agent.forward));
        for past in &mut self.trail_rad {
            *past += turned_rad;
        }
        let step = speed.max(LEAST_FLOW) * dt_secs;
        self.since += step;
        // After a long pause only the end of the way matters.
        self.since = self.since.min(TRAIL_STEP * (TRAIL + 1) as f32);
        while self.since >= TRAIL_STEP {
            self.since -= TRAIL_STEP;
            self.trail_rad.copy_within(..TRAIL - 1, 1);
            // The nose turned evenly on the way since the last picture.
            let share = (self.since / step.max(1e-6)).min(1.0);
            self.trail_rad[0] = turned_rad * share;
        }
    }

    /// Returns the angle by which the nose has turned since the body was this distance behind its present place.
    fn turned_rad(&self, behind: f32) -> f32 {
        let place = (behind - self.since) / TRAIL_STEP;
        if place <= 0.0 {
            let share = if self.since > 0.0 {
                behind.max(0.0) / self.since
            } else {
                0.0
            };
            return self.trail_rad[0] * share;
        }
        let number = (place as usize).min(TRAIL - 1);
        let next = (number + 1).min(TRAIL - 1);
        let [a, b] = [number, next].map(|i| self.trail_rad[i]);
        a + (b - a) * (place - number as f32).min(1.0)
    }
}

/// Returns the bend of the whole body that the muscles of a fast start want: a C to the side of the new heading, then a stroke to
/// the other side.
fn muscle_rad(agent: &AgentPose) -> f32 {
    let bend_rad = START_SHARE * agent.start_bend_rad;
    let swing = |phase: f32| (std::f32::consts::PI * phase).sin();
    if agent.start_phase < 1.0 {
        bend_rad * swing(0.5 * agent.start_phase.max(0.3))
    } else {
        -STROKE_SHARE * bend_rad * swing(agent.start_phase - 1.0)
    }
}

/// Returns place and rate of a damped spring after a time. The solution is exact, so it does not depend on the picture rate.
fn spring((place, rate): (f32, f32), target: f32, omega_rps: f32, dt_secs: f32) -> (f32, f32) {
    let decay = DAMPING * omega_rps;
    let swing = omega_rps * (1.0 - DAMPING * DAMPING).sqrt();
    let off = place - target;
    let quadrature = (rate + decay * off) / swing.max(1e-6);
    let (sin, cos) = (swing * dt_secs).sin_cos();
    let left = (-decay * dt_secs).exp();
    let now = left * (off * cos + quadrature * sin);
    let now_rate = left * swing * (quadrature * cos - off * sin) - decay * now;
    (target + now, now_rate)
}
