//! The animation clips of a fish. Each clip is one cycle of a wave that travels along the spine and grows towards the tail. All
//! clips have the same phase.
//!
//! **Source**: Videler 1993, chapter 1 (body and caudal fin swimming); amplitudes tuned by eye.

use glam::{Quat, Vec3};

use super::fish::{HEAD_S, ROOT_S, TAIL_S};
use super::skeleton::{Hinge, Joint, Part};

/// Number of keys per cycle; the last key repeats the first.
pub(super) const KEYS: usize = 17;

/// One clip: a name and, for every key, the rotations of all joints and the translation of the root.
pub(super) struct Clip {
    pub name: &'static str,
    pub keys: Vec<(Vec<Quat>, Vec3)>,
}

/// The swimming motion of a species.
pub(super) struct Swim {
    /// Sideways amplitude of the tip of the tail at cruise speed, in body lengths.
    pub reach: f32,
    /// Length of the wave on the body, in body lengths.
    pub wave: f32,
    /// Angle by which the pectoral fins are folded back at cruise speed, in radians.
    pub fold_rad: f32,
    /// Largest twist of the lobes of the tail fin, in radians.
    pub twist_rad: f32,
}

/// The parameters of the body's motion in a clip.
struct Pose {
    /// Factor on the amplitude of the wave.
    reach: f32,
    /// Bend of the body to one side; positive to the left.
    bend_rad: f32,
    /// Bend of the body up or down; positive if head and tail point up.
    arch_rad: f32,
    /// Angle by which the paired fins are folded back against the body.
    fold_rad: f32,
    /// Tilt of the pectoral fins.
    tilt_rad: f32,
    /// Amplitude of the sculling of the pectoral fins.
    scull_rad: f32,
}

/// All clips of a species.
#[expect(clippy::too_many_lines, reason = "a table with one entry per clip")]
pub(super) fn all(swim: &Swim, joints: &[Joint]) -> Vec<Clip> {
    let still = Pose {
        reach: 0.0,
        bend_rad: 0.0,
        arch_rad: 0.0,
        fold_rad: 0.0,
        tilt_rad: 0.0,
        scull_rad: 0.0,
    };
    [
        (
            "cruise",
            Pose {
                reach: 1.0,
                fold_rad: swim.fold_rad,
                scull_rad: 0.10,
                ..still
            },
        ),
        (
            "sprint",
            Pose {
                reach: 1.6,
                fold_rad: 0.95,
                ..still
            },
        ),
        (
            "turn_left",
            Pose {
                reach: 0.7,
                bend_rad: 0.55,
                fold_rad: 0.05,
                tilt_rad: 0.2,
                ..still
            },
        ),
        (
            "turn_right",
            Pose {
                reach: 0.7,
                bend_rad: -0.55,
                fold_rad: 0.05,
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
                fold_rad: 0.25,
                ..still
            },
        ),
        (
            "descend",
            Pose {
                reach: 0.6,
                arch_rad: -0.18,
                tilt_rad: -0.45,
                fold_rad: 0.25,
                ..still
            },
        ),
        (
            "glide",
            Pose {
                reach: 0.06,
                fold_rad: 0.05,
                scull_rad: 0.28,
                ..still
            },
        ),
        // A leap above the water: the body is arched, the fins are spread, and the tail beats strongly.
        (
            "leap",
            Pose {
                reach: 1.25,
                arch_rad: 0.30,
                fold_rad: 0.55,
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
                fold_rad: -0.25,
                scull_rad: 0.10,
                ..still
            },
        ),
    ]
    .into_iter()
    .map(|(name, pose)| Clip {
        name,
        keys: (0..KEYS)
            .map(|key| sample(swim, &pose, joints, key as f32 / (KEYS - 1) as f32))
            .collect(),
    })
    .collect()
}

/// Share of the sideways amplitude of the tip of the tail at a station. The front of the body stays almost straight; the
/// amplitude grows behind the dorsal fin.
fn growth(s: f32) -> f32 {
    let rear = ((s - 0.25) / 0.75).clamp(0.0, 1.0);
    0.05 + 0.03 * (1.0 - 4.0 * s).max(0.0) + 0.95 * rear.powf(1.7)
}

/// Returns the rotations of all joints and the translation of the root at a phase of 0..1.
fn sample(swim: &Swim, pose: &Pose, joints: &[Joint], phase: f32) -> (Vec<Quat>, Vec3) {
    let turn = std::f32::consts::TAU;
    let sideways =
        |s: f32| swim.reach * pose.reach * growth(s) * (turn * (phase - s / swim.wave)).sin();
    // Returns the heading of the part of the body between two stations; positive to the left.
    let heading = |from: f32, to: f32| -((sideways(to) - sideways(from)) / (to - from)).atan();
    let yaw = |angle: f32| Quat::from_rotation_y(angle);
    let pitch = |angle: f32| Quat::from_rotation_x(angle);
    let roll = |angle: f32| Quat::from_rotation_z(angle);
    let root = heading(HEAD_S, TAIL_S[0]);
    let next = |i: usize| TAIL_S.get(i + 1).copied().unwrap_or(1.0);
    let tail_heading = |i: usize| heading(TAIL_S[i], next(i));
    // Sideways speed of the tail fin, −1..1. Soft fins trail behind it.
    let sweep = pose.reach.min(1.0) * (turn * (phase - 1.0 / swim.wave)).cos();
    let rotation = |joint: &Joint| match joint.part {
        Part::Body => yaw(root),
        Part::Head => {
            yaw(heading(0.0, HEAD_S) - root + 0.12 * pose.bend_rad) * pitch(-0.5 * pose.arch_rad)
        }
        Part::Tail(i) => {
            let before = if i == 0 { root } else { tail_heading(i - 1) };
            // The tail fin follows the motion of the tail with a delay.
            let lag = if i == TAIL_S.len() - 1 { 1.25 } else { 1.0 };
            // A turn bends the rear more than the middle of the body.
            let bend = pose.bend_rad * (0.14 + 0.07 * i as f32);
            yaw((tail_heading(i) - before) * lag - bend) * pitch(0.35 * pose.arch_rad)
        }
        Part::Fin(Hinge::Pectoral | Hinge::Spine, side) => {
            let scull = pose.scull_rad * (turn * phase + side).sin();
            yaw(side * (pose.fold_rad + scull))
                * roll(side * (0.08 - 0.5 * scull))
                * pitch(-pose.tilt_rad)
        }
        Part::Fin(Hinge::Pelvic, side) => {
            let scull = pose.scull_rad * (turn * phase + side + 0.8).sin();
            yaw(side * (0.6 * pose.fold_rad + 0.4 * scull)) * pitch(-0.5 * pose.tilt_rad)
        }
        Part::Limb(..) => Quat::IDENTITY,
        // The dorsal fin leans to the outside of a turn and sways with the body.
        Part::Fin(Hinge::Dorsal, _) => roll(0.30 * sweep - 0.8 * pose.bend_rad),
        // The lobes of the tail fin twist, so that from above the fin opens and closes with each beat.
        Part::Fin(Hinge::TailUpper, _) => {
            roll(swim.twist_rad * (0.45 + 0.55 * sweep)) * yaw(-0.35 * sweep)
        }
        Part::Fin(Hinge::TailLower, _) => {
            roll(swim.twist_rad * (0.45 + 0.35 * sweep)) * yaw(-0.30 * sweep)
        }
    };
    (
        joints.iter().map(rotation).collect(),
        Vec3::X * sideways(ROOT_S),
    )
}
