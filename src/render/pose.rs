//! The animation of bodies: computes the matrices of a fish's joints from its speed, turn rate and climb.
//!
//! In: interpolated agents in ascending order of their ids, and the models. Out: joint matrices in world space. The animator
//! stores the phase of the tail beat, the spine and smoothed values for each individual. A picture with the same bodies as the last one
//! allocates no memory.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Mat3A, Quat, Vec3, Vec3A, Vec4};

use super::look::{SpeciesLook, Variety};
use super::model::{CLIP_NAMES, Clip, Model, SAMPLES, with_spine};
use super::noise::{smoothstep, unit_hash};
use super::shadow_mask::SpineStations;
use crate::world::AgentPose;
use spine::{Spine, SpineJoint};

mod spine;

/// Time constant with which effort, glide and climb follow the motion of the agent. Tuned by eye.
const EFFORT_SECS: f32 = 0.18;
/// Time constant with which a fish begins to leap or to eat. Tuned by eye.
const LEAP_SECS: f32 = 0.09;

/// Largest roll of a fish that shows its flank to the light. Tuned by eye.
const MAX_FLASH_RAD: f32 = 0.8;
/// Time between two such rolls, in periods of the individual's rhythm.
const FLASH_RHYTHMS: f32 = 1.5;
/// Duration of a roll, as a share of the time between two. The flank faces the light during about half of it, so that one fish in ten
/// flashes at any moment, as in a school of herring.
const FLASH_SHARE: f32 = 0.2;

/// The state of the animation of one individual.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SwimState {
    id: u32,
    /// Phase of the tail beat, 0..1.
    phase: f32,
    /// Effort of swimming: 0 at rest, 1 at the fastest beat.
    effort: f32,
    /// Weight of gliding, 0..1.
    glide: f32,
    /// The bends of the body.
    spine: Spine,
    /// Climb angle, positive upwards.
    climb_rad: f32,
    /// Weight of leaping, 0..1.
    leap: f32,
    /// Weight of eating, 0..1.
    eat: f32,
    /// Weight of resting: 1 for a fish that stays at its place.
    rest: f32,
    /// Time since the individual appeared, plus a random offset. It determines the rhythm of bursts and glides.
    age_secs: f32,
}

/// Indices of a model's clips by their role.
#[derive(Clone, Debug, Default)]
pub struct ClipRoles {
    cruise: Option<usize>,
    sprint: Option<usize>,
    turn_left: Option<usize>,
    turn_right: Option<usize>,
    ascend: Option<usize>,
    descend: Option<usize>,
    glide: Option<usize>,
    leap: Option<usize>,
    eat: Option<usize>,
}

impl ClipRoles {
    /// Finds the clip of each role by name. A missing clip is replaced by `cruise`; without `cruise` the body stays at rest. A single
    /// clip with a name of its own is `cruise`.
    pub fn of(model: &Model) -> Self {
        let find = |name: &str| model.clips.iter().position(|clip| clip.name == name);
        let single = match model.clips.as_slice() {
            [clip] if !CLIP_NAMES.contains(&clip.name.as_str()) => Some(0),
            _ => None,
        };
        let cruise = find("cruise").or(single);
        Self {
            cruise,
            sprint: find("sprint").or(cruise),
            turn_left: find("turn_left").or(cruise),
            turn_right: find("turn_right").or(cruise),
            ascend: find("ascend").or(cruise),
            descend: find("descend").or(cruise),
            glide: find("glide"),
            leap: find("leap").or(find("ascend")).or(cruise),
            eat: find("eat"),
        }
    }
}

/// Model and look of a species, with all data derived from them.
#[derive(Clone, Debug)]
pub struct Body {
    /// The model.
    pub model: Model,
    /// The look.
    pub look: SpeciesLook,
    /// The clips by role.
    pub roles: ClipRoles,
    /// Joints that bend with the path of the fish.
    pub spine: Vec<SpineJoint>,
    /// Points along the spine that define the shadow of the body.
    pub stations: SpineStations,
}

impl Body {
    /// Combines model and look; a slender model without joints gets a spine.
    pub fn new(model: Model, look: SpeciesLook) -> Self {
        let model = with_spine(model);
        let roles = ClipRoles::of(&model);
        let spine = spine::joints(&model);
        let stations = SpineStations::of(&model);
        Self {
            stations,
            model,
            look,
            roles,
            spine,
        }
    }
}

/// The constant properties of an individual. They depend only on its id and on the look of its species.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Individual {
    /// Length from nose to tail.
    pub length_m: f32,
    /// Rotation of the hue.
    pub hue_rad: f32,
    /// Factors on the width and the height of the model.
    pub girth: [f32; 2],
    /// Factor on the brightness.
    pub brightness: f32,
    /// Factor on the saturation.
    pub saturation: f32,
    /// Initial phase of the tail beat, 0..1.
    pub phase: f32,
    /// Period of the rhythm of bursts and glides.
    pub rhythm_secs: f32,
    /// Factor on the frequency of the tail beat.
    pub tempo: f32,
    /// Which way the individual holds itself at rest, −1..1: nose down or up.
    pub posture: f32,
    /// Factor on the amount of marks, and on their size.
    pub marks: [f32; 2],
    /// Color variety; `None` for the colors of the model.
    pub variety: Option<Variety>,
    /// Random number 0..1 from which the pattern of the variety grows.
    pub pattern_seed: f32,
}

/// Smallest share of its size at which a swallowed body is drawn. A size of zero would have no direction.
const SMALLEST_SHARE: f32 = 0.1;

/// Share of its size at which an agent is drawn: a body that a hunter swallows shrinks.
pub(super) fn visible_share(agent: &AgentPose) -> f32 {
    (1.0 - agent.swallowed).clamp(SMALLEST_SHARE, 1.0)
}

impl Individual {
    /// Creates the individual with this id.
    pub fn new(id: u32, look: &SpeciesLook) -> Self {
        let vary = |purpose: u32| 2.0 * unit_hash(id, purpose) - 1.0;
        Self {
            length_m: look.length_m * (1.0 + look.length_variation * vary(1)),
            hue_rad: (look.hue_shift_deg + look.hue_variation_deg * vary(2)).to_radians(),
            girth: [9, 10].map(|purpose| 1.0 + look.girth_variation * vary(purpose)),
            brightness: look.brightness * (1.0 + look.tone_variation * vary(3)),
            saturation: look.saturation * (1.0 + look.tone_variation * vary(11)),
            phase: unit_hash(id, 4),
            rhythm_secs: 1.6 + 2.4 * unit_hash(id, 5),
            tempo: 1.0 + 0.12 * vary(12),
            posture: vary(13),
            marks: [1.0 + 0.33 * vary(14), 1.0 + 0.25 * vary(15)],
            variety: look
                .varieties
                .get((unit_hash(id, 7) * look.varieties.len() as f32) as usize)
                .copied(),
            pattern_seed: look.pattern.unwrap_or_else(|| unit_hash(id, 8)),
        }
    }
}

/// The three rows of an affine matrix; same layout as `AffineRows` in `shaders/bodies.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(super) struct AffineRows {
    pub(super) x: Vec4,
    pub(super) y: Vec4,
    pub(super) z: Vec4,
}

/// Animates all bodies.
#[derive(Debug, Default)]
pub(super) struct Animator {
    /// States of the individuals, in ascending order of ids.
    swimmers: Vec<SwimState>,
    /// Buffer for the states of the next picture.
    kept: Vec<SwimState>,
    /// Rotation and translation of every joint of one body; the buffer is reused for each body.
    locals: Vec<(Quat, Vec3)>,
    /// Transform of every joint of one body in world space; the buffer is reused for each body.
    globals: Vec<Affine3A>,
}

impl Animator {
    /// Advances all bodies by `dt_secs`. `agents` are in ascending order of ids; the states of agents that are missing in
    /// `agents` are dropped.
    pub(super) fn advance(&mut self, dt_secs: f32, agents: &[AgentPose], bodies: &[Body]) {
        self.kept.clear();
        let mut old = self.swimmers.iter().peekable();
        for agent in agents {
            while old.next_if(|swimmer| swimmer.id < agent.id).is_some() {}
            let body = bodies.get(usize::from(agent.species));
            let look = body.map(|body| &body.look);
            let swimmer = match old.next_if(|swimmer| swimmer.id == agent.id) {
                Some(&swimmer) => swimmer,
                None => SwimState {
                    id: agent.id,
                    phase: look.map_or(0.0, |look| Individual::new(agent.id, look).phase),
                    age_secs: 10.0 * unit_hash(agent.id, 6),
                    ..SwimState::default()
                },
            };
            self.kept
                .push(body.map_or(swimmer, |body| swimmer.after(dt_secs, agent, body)));
        }
        std::mem::swap(&mut self.swimmers, &mut self.kept);
    }

    /// Appends the world-space joint matrices of one agent to `matrices`; a rigid model has one matrix. `index` is the index of
    /// the agent in the last call of [`Self::advance`].
    pub(super) fn pose(
        &mut self,
        index: usize,
        agent: &AgentPose,
        body: &Body,
        matrices: &mut Vec<Affine3A>,
    ) {
        let individual = Individual::new(agent.id, &body.look);
        let length_m = individual.length_m * visible_share(agent);
        let scale = length_m / body.model.size.z.max(1e-6);
        let left = agent.up.cross(agent.forward).normalize_or(Vec3::X);
        let up = agent.forward.cross(left);
        let swimmer = self.swimmers.get(index).copied().unwrap_or_default();
        let [wide, high] = individual.girth.map(|share| share * scale);
        let sway = glam::Mat3::from_quat(swimmer.sway(&individual, &body.look));
        let world = Affine3A::from_mat3_translation(
            glam::Mat3::from_cols(left, up, agent.forward)
                * sway
                * glam::Mat3::from_diagonal(Vec3::new(wide, high, scale)),
            agent.position_m,
        );
        let joints = &body.model.joints;
        if joints.is_empty() {
            matrices.push(world);
            return;
        }
        self.blend(&swimmer, body);
        for (number, spine) in body.spine.iter().enumerate() {
            if let Some(local) = self.locals.get_mut(spine.joint) {
                let bend_rad = swimmer.spine.bend_rad(number);
                // Both ends of the body point into the curve.
                let turn_rad = if spine.is_head() { bend_rad } else { -bend_rad };
                local.0 = Quat::from_rotation_y(turn_rad) * local.0;
            }
        }
        self.globals.clear();
        self.globals.resize(joints.len(), Affine3A::IDENTITY);
        for &i in &body.model.order {
            let (Some(joint), Some(&(rotation, translation))) = (joints.get(i), self.locals.get(i))
            else {
                continue;
            };
            let local =
                Affine3A::from_scale_rotation_translation(joint.rest.scale, rotation, translation);
            let base = Affine3A::from_mat4(joint.base);
            let above = joint
                .parent
                .and_then(|parent| self.globals.get(parent))
                .copied();
            if let Some(global) = self.globals.get_mut(i) {
                *global = above.unwrap_or(world) * base * local;
            }
        }
        for (global, joint) in self.globals.iter().zip(joints) {
            matrices.push(*global * Affine3A::from_mat4(joint.inverse_bind));
        }
    }

    /// Mixes the clips into `locals`.
    fn blend(&mut self, swimmer: &SwimState, body: &Body) {
        let model = &body.model;
        self.locals.clear();
        self.locals.extend(
            model
                .joints
                .iter()
                .map(|_| (Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Vec3::ZERO)),
        );
        let sprint = smoothstep(0.4, 0.95, swimmer.effort) * (1.0 - swimmer.glide);
        let glide = swimmer.glide;
        let bend_rad = swimmer.spine.total_rad(&body.spine);
        let turning = (bend_rad.abs() * 0.6).min(0.5);
        let climbing = (swimmer.climb_rad.abs() * 1.1).min(0.5);
        let straight = 1.0 - turning - climbing * (1.0 - turning);
        let roles = &body.roles;
        let turn = if bend_rad > 0.0 {
            roles.turn_left
        } else {
            roles.turn_right
        };
        let climb = if swimmer.climb_rad > 0.0 {
            roles.ascend
        } else {
            roles.descend
        };
        let (leap, eat) = (swimmer.leap, swimmer.eat * (1.0 - swimmer.leap));
        // In a fast start the muscles bend the spine, and no wave runs along it.
        let swims = (1.0 - leap - eat) * (1.0 - swimmer.spine.start);
        let mixed = [
            (roles.cruise, swims * straight * (1.0 - sprint - glide)),
            (roles.sprint, swims * straight * sprint),
            (roles.glide, swims * straight * glide),
            (turn, swims * turning),
            (climb, swims * climbing * (1.0 - turning)),
            (roles.leap, leap),
            (roles.eat.or(roles.cruise), eat),
        ];
        let mut total = 0.0;
        for (clip, weight) in mixed {
            let Some(clip) = clip.and_then(|i| model.clips.get(i)) else {
                continue;
            };
            if weight > 1e-3 {
                add(clip, swimmer.phase, weight, &mut self.locals);
                total += weight;
            }
        }
        for (local, joint) in self.locals.iter_mut().zip(&model.joints) {
            // If the weights of all clips sum to less than 1, the rest is the pose at rest.
            let missing = (1.0 - total).max(0.0);
            let rest = joint.rest.rotation;
            let near = if local.0.dot(rest) < 0.0 { -rest } else { rest };
            local.0 = (local.0 + near * missing).normalize();
            local.1 += joint.rest.translation * missing;
            if !local.0.is_finite() {
                local.0 = rest;
            }
        }
    }
}

/// Adds the pose of a clip at a phase to `locals`, multiplied by a weight.
fn add(clip: &Clip, phase: f32, weight: f32, locals: &mut [(Quat, Vec3)]) {
    let at = phase * SAMPLES as f32;
    let i = (at as usize).min(SAMPLES - 1);
    let t = at - i as f32;
    let width = locals.len();
    let row = |i: usize| clip.table.get(i * width..(i + 1) * width);
    let (Some(a), Some(b)) = (row(i), row((i + 1) % SAMPLES)) else {
        return;
    };
    for ((local, a), b) in locals.iter_mut().zip(a).zip(b) {
        let near = if a.0.dot(b.0) < 0.0 { -b.0 } else { b.0 };
        let mut turn = a.0 * (1.0 - t) + near * t;
        if local.0.dot(turn) < 0.0 {
            turn = -turn;
        }
        local.0 += turn * weight;
        local.1 += a.1.lerp(b.1, t) * weight;
    }
}

impl SwimState {
    /// Returns the rotation of the whole body in its own axes (left, up, forward): the slow sway of a fish that stays at its place,
    /// and the short roll that makes shiny flanks flash.
    fn sway(&self, individual: &Individual, look: &SpeciesLook) -> Quat {
        let turns =
            |period: f32| std::f32::consts::TAU * self.age_secs / (period * individual.rhythm_secs);
        let rest = self.rest;
        let yaw = rest * 0.045 * turns(1.9).sin();
        let pitch = rest * (0.060 * individual.posture + 0.025 * turns(1.3).sin());
        let flash_phase =
            (self.age_secs / (FLASH_RHYTHMS * individual.rhythm_secs)).fract() / FLASH_SHARE;
        let flash = if flash_phase < 1.0 {
            (std::f32::consts::PI * flash_phase).sin().powi(2)
        } else {
            0.0
        };
        let flash_rad =
            MAX_FLASH_RAD * smoothstep(0.3, 0.9, look.shine) * individual.posture.signum();
        let roll = rest * 0.05 * turns(1.7).cos() + flash_rad * flash;
        // The nose points along z, so a positive pitch turns around −x.
        Quat::from_rotation_y(yaw) * Quat::from_rotation_x(-pitch) * Quat::from_rotation_z(roll)
    }

    /// Returns the state after `dt_secs`.
    fn after(mut self, dt_secs: f32, agent: &AgentPose, body: &Body) -> Self {
        let look = &body.look;
        let individual = Individual::new(agent.id, look);
        let length = individual.length_m.max(1e-3);
        let speed = agent.velocity_mps.length();
        // A fish swims a fixed share of its length per tail beat, so the frequency follows from its speed.
        let beat_hz = (individual.tempo * speed / (length * look.stride_lengths.max(0.05)))
            .min(look.max_beat_hz);
        let push = (agent.acceleration_mps2 / (6.0 * length)).clamp(-1.0, 1.0);
        let effort =
            (beat_hz / look.max_beat_hz.max(0.1) + 0.5 * push.max(0.0) + 0.35 * agent.boost)
                .clamp(0.0, 1.0);
        self.age_secs += dt_secs;
        // With little effort, a fish alternates between bursts and glides in its own rhythm.
        let rhythm = (std::f32::consts::TAU * self.age_secs / individual.rhythm_secs).sin();
        let rests = smoothstep(0.15, 0.55, rhythm) * (1.0 - smoothstep(0.2, 0.5, effort));
        let coasts = smoothstep(0.05, 0.4, -push);
        let glide = if agent.boost > 0.3 {
            0.0
        } else {
            rests.max(coasts)
        };
        let follow = |secs: f32| 1.0 - (-dt_secs / secs).exp();
        self.effort += (effort - self.effort) * follow(EFFORT_SECS);
        // A fish that stays at its place hardly bends its body: it sculls with its fins, as in a glide.
        let rest = 1.0 - smoothstep(0.1, 0.5, speed / length);
        self.rest += (rest - self.rest) * follow(EFFORT_SECS);
        let glide = glide.max(0.75 * rest);
        self.glide += (glide - self.glide) * follow(EFFORT_SECS);
        self.spine
            .advance(dt_secs, agent, &body.spine, (length, look.bend));
        let climb = (agent.velocity_mps.y / speed.max(0.2 * length))
            .clamp(-1.0, 1.0)
            .asin();
        self.climb_rad += (climb - self.climb_rad) * follow(EFFORT_SECS);
        // A fish leaps while it is above the water surface. It eats while it brakes after a fast strike.
        let leap = smoothstep(-0.06, 0.05, agent.position_m.y);
        self.leap += (leap - self.leap) * follow(LEAP_SECS);
        if agent.boost > 0.5 && push < -0.3 {
            self.eat += (1.0 - self.eat) * follow(LEAP_SECS);
        } else {
            self.eat *= 1.0 - follow(EFFORT_SECS);
        }
        let floor_hz = 0.25 * individual.tempo * look.max_beat_hz.min(2.0);
        self.phase = (self.phase + dt_secs * beat_hz.max(floor_hz)).rem_euclid(1.0);
        if !(self.phase.is_finite() && self.spine.is_finite() && self.effort.is_finite()) {
            return Self {
                id: self.id,
                ..Self::default()
            };
        }
        self
    }
}

impl AffineRows {
    /// Creates the rows of an affine matrix.
    pub(super) fn new(map: &Affine3A) -> Self {
        let Mat3A {
            x_axis,
            y_axis,
            z_axis,
        } = map.matrix3;
        let row =
            |f: fn(Vec3A) -> f32| Vec4::new(f(x_axis), f(y_axis), f(z_axis), f(map.translation));
        Self {
            x: row(|v| v.x),
            y: row(|v| v.y),
            z: row(|v| v.z),
        }
    }
}

#[cfg(test)]
mod tests;
