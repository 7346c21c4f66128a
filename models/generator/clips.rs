//! The animation clips of a fish. Each clip is one cycle of a wave that travels along the spine and grows towards the tail. All
//! clips have the same phase.
//!
//! **Source**: Videler 1993, chapter 1 (body and caudal fin swimming); amplitudes tuned by eye.

use glam::{Quat, Vec3};

use super::fish::{HEAD_S, ROOT_S, TAIL_S};

/// Number of keys per cycle; the last key repeats the first.
pub(super) const KEYS: usize = 17;
/// Number of joints: one for the root, one for the head, five for the tail, two for the pectoral fins.
pub(super) const JOINTS: usize = 9;

/// One clip: a name and, for every key, the rotations of all joints and the translation of the root.
pub(super) struct Clip {
    pub name: &'static str,
    pub keys: Vec<([Quat; JOINTS], Vec3)>,
}

/// The swimming motion of a species.
pub(super) struct Swim {
    /// Sideways amplitude of the tip of the tail at cruise speed, in body lengths.
    pub reach: f32,
    /// Length of the wave on the body, in body lengths.
    pub wave: f32,
}

/// The parameters of the body's motion in a clip.
struct Pose {
    /// Factor on the amplitude of the wave.
    reach: f32,
    /// Bend of the body to one side; positive to the left.
    bend_rad: f32,
    /// Bend of the body up or down; positive if head and tail point up.
    arch_rad: f32,
    /// Spread of the pectoral fins.
    spread_rad: f32,
    /// Tilt of the pectoral fins.
    tilt_rad: f32,
    /// Amplitude of the sculling of the pectoral fins.
    scull_rad: f32,
}

/// All clips of a species.
#[expect(clippy::too_many_lines, reason = "a table with one entry per clip")]
pub(super) fn all(swim: &Swim) -> Vec<Clip> {
    let still = Pose {
        reach: 0.0,
        bend_rad: 0.0,
        arch_rad: 0.0,
        spread_rad: 0.0,
        tilt_rad: 0.0,
        scull_rad: 0.0,
    };
    [
        (
            "cruise",
            Pose {
                reach: 1.0,
                spread_rad: 0.25,
                scull_rad: 0.05,
                ..still
            },
        ),
        (
            "sprint",
            Pose {
                reach: 1.6,
                spread_rad: 0.75,
                ..still
            },
        ),
        (
            "turn_left",
            Pose {
                reach: 0.7,
                bend_rad: 0.55,
                spread_rad: -0.05,
                tilt_rad: 0.2,
                ..still
            },
        ),
        (
            "turn_right",
            Pose {
                reach: 0.7,
                bend_rad: -0.55,
                spread_rad: -0.05,
                tilt_rad: 0.2,
                ..still
            },
        ),
        (
            "ascend",
            Pose {
                reach: 1.1,
                arch_rad: 0.18,
                tilt_rad: 0.45,
                spread_rad: 0.1,
                ..still
            },
        ),
        (
            "descend",
            Pose {
                reach: 0.6,
                arch_rad: -0.18,
                tilt_rad: -0.45,
                spread_rad: 0.1,
                ..still
            },
        ),
        (
            "glide",
            Pose {
                reach: 0.06,
                spread_rad: -0.1,
                scull_rad: 0.16,
                ..still
            },
        ),
        // A leap above the water: the body is arched, the fins are spread, and the tail beats strongly.
        (
            "leap",
            Pose {
                reach: 1.25,
                arch_rad: 0.30,
                spread_rad: 0.55,
                tilt_rad: 0.35,
                ..still
            },
        ),
        // The end of an attack on prey: the head is raised, and spread fins brake the body.
        (
            "eat",
            Pose {
                reach: 0.45,
                arch_rad: -0.34,
                spread_rad: 0.85,
                scull_rad: 0.10,
                ..still
            },
        ),
    ]
    .into_iter()
    .map(|(name, pose)| Clip {
        name,
        keys: (0..KEYS)
            .map(|key| sample(swim, &pose, key as f32 / (KEYS - 1) as f32))
            .collect(),
    })
    .collect()
}

/// Returns the rotations of all joints and the translation of the root at a phase of 0..1.
fn sample(swim: &Swim, pose: &Pose, phase: f32) -> ([Quat; JOINTS], Vec3) {
    let turn = std::f32::consts::TAU;
    let sideways = |s: f32| {
        let growth = 0.05 + 0.95 * s * s;
        swim.reach * pose.reach * growth * (turn * (phase - s / swim.wave)).sin()
    };
    // Returns the heading of the part of the body between two stations; positive to the left.
    let heading = |from: f32, to: f32| -((sideways(to) - sideways(from)) / (to - from)).atan();
    let mut rotations = [Quat::IDENTITY; JOINTS];
    let yaw = |angle: f32| Quat::from_rotation_y(angle);
    let pitch = |angle: f32| Quat::from_rotation_x(angle);
    let root = heading(HEAD_S, TAIL_S[0]);
    rotations[0] = yaw(root);
    rotations[1] =
        yaw(heading(0.0, HEAD_S) - root + 0.3 * pose.bend_rad) * pitch(-0.5 * pose.arch_rad);
    let mut before = root;
    for (i, &s) in TAIL_S.iter().enumerate() {
        let next = TAIL_S.get(i + 1).copied().unwrap_or(1.0);
        let now = heading(s, next);
        // The tail fin follows the motion of the tail with a delay.
        let lag = if i == TAIL_S.len() - 1 { 1.25 } else { 1.0 };
        rotations[2 + i] =
            yaw((now - before) * lag - 0.28 * pose.bend_rad) * pitch(0.35 * pose.arch_rad);
        before = now;
    }
    for (joint, side) in [(7, 1.0), (8, -1.0)] {
        let scull = pose.scull_rad * (turn * phase + side).sin();
        rotations[joint] = yaw(side * (pose.spread_rad + scull))
            * Quat::from_rotation_z(side * (0.08 - 0.5 * scull))
            * pitch(-pose.tilt_rad);
    }
    (rotations, Vec3::X * sideways(ROOT_S))
}
