//! A crab. It walks sideways, so its nose, which points to where it goes, is its left side: its eyes and claws point to +x.

use glam::{Quat, Vec2, Vec3};

use super::clips::{Clip, KEYS};
use super::glb::{self, Paint};
use super::mesh::{Mesh, Vertex};
use super::paint;
use super::skeleton::{Joint, Part};

/// Number of legs on each side.
const LEGS: usize = 4;
/// Height of the soles below the middle of the body.
const SOLE: f32 = -0.125;

/// A leg: hip, knee and foot.
struct Leg {
    line: [Vec3; 3],
    side: f32,
    number: usize,
}

/// Returns the content of the file.
pub(super) fn file() -> Vec<u8> {
    let meshes = [(17, 24, 7), (11, 16, 5), (9, 12, 4), (7, 8, 3)].map(build);
    let skin = paint::crab();
    glb::write(
        "crab",
        &meshes.each_ref(),
        &joints(),
        &clips(),
        &Paint::Skin(&skin),
    )
}

fn legs() -> impl Iterator<Item = Leg> {
    [1.0, -1.0].into_iter().flat_map(|side| {
        (0..LEGS).map(move |number| {
            // The legs are spread like a fan, from the front (+x) to the back.
            let spread = 0.62 - 0.46 * number as f32;
            let (sin, cos) = spread.sin_cos();
            let reach = [0.46, 0.5, 0.49, 0.42][number];
            let at = |out: f32, y: f32| Vec3::new(out * sin, y, side * out * cos);
            Leg {
                line: [
                    at(0.19, -0.02) + Vec3::X * (0.05 - 0.035 * number as f32),
                    at(0.68 * reach, 0.075),
                    at(reach, SOLE),
                ],
                side,
                number,
            }
        })
    })
}

/// Builds the mesh with this number of rings and segments of the body, and segments around limbs.
fn build((rings, segments, around): (usize, usize, usize)) -> Mesh {
    let mut mesh = Mesh::default();
    shell(&mut mesh, rings, segments);
    let mut joint = 1;
    for leg in legs() {
        let [hip, knee, foot] = leg.line;
        limb(&mut mesh, [hip, knee], [0.024, 0.021], around, joint);
        limb(&mut mesh, [knee, foot], [0.021, 0.006], around, joint + 1);
        joint += 2;
    }
    for side in [1.0, -1.0] {
        let [shoulder, elbow, tip] = claw(side);
        limb(&mut mesh, [shoulder, elbow], [0.030, 0.034], around, joint);
        let middle = elbow.lerp(tip, 0.45);
        limb(&mut mesh, [elbow, middle], [0.045, 0.052], around, joint);
        for (spread, thick) in [(0.028, 0.036), (-0.030, 0.024)] {
            let apart = Vec3::new(0.0, 0.0, side * spread);
            let end = tip + apart * 0.6;
            limb(
                &mut mesh,
                [middle + apart * 0.6, end],
                [thick, 0.008],
                around,
                joint,
            );
        }
        joint += 1;
        let eye = Vec3::new(0.19, 0.05, side * 0.06);
        let top = eye + Vec3::new(0.035, 0.045, 0.0);
        limb(&mut mesh, [eye, top], [0.010, 0.016], around, 0);
    }
    mesh.smooth_normals();
    mesh
}

/// Returns the points of a claw: shoulder, elbow, tip.
fn claw(side: f32) -> [Vec3; 3] {
    [
        Vec3::new(0.13, -0.02, side * 0.17),
        Vec3::new(0.24, -0.01, side * 0.27),
        Vec3::new(0.37, -0.02, side * 0.11),
    ]
}

/// Adds the shell: wider than long, flat below, with a blunt front.
fn shell(mesh: &mut Mesh, rings: usize, segments: usize) {
    mesh.sheet(rings, segments + 1, |row, column| {
        let down = row as f32 / (rings - 1) as f32;
        let turn = column as f32 / segments as f32 * std::f32::consts::TAU;
        let (out, up) = (down * std::f32::consts::PI).sin_cos();
        let blunt = |v: f32| v.signum() * v.abs().powf(0.8);
        let x = 0.175 * blunt(turn.cos()) * out;
        // The shell is narrower at the back.
        let z = 0.245 * turn.sin() * out * (0.90 + 0.10 * turn.cos());
        let y = if up > 0.0 { 0.085 * up } else { 0.055 * up };
        let front = 0.02 * (x / 0.175).max(0.0).powi(2);
        let uv = Vec2::new(0.25 + 0.9 * z, 0.5 + 1.3 * x);
        let uv = if up < -0.2 { Vec2::new(0.98, 0.5) } else { uv };
        moved(Vec3::new(x + front, y, z), uv, 0)
    });
}

/// Adds a tapered tube with closed ends between two points.
fn limb(mesh: &mut Mesh, [from, to]: [Vec3; 2], radii: [f32; 2], around: usize, joint: u8) {
    let along = (to - from).normalize_or(Vec3::Z);
    let aside = along.cross(Vec3::Y).normalize_or(Vec3::X);
    let over = aside.cross(along);
    let rings = [
        (0.0, 0.0),
        (0.0, 0.8),
        (0.12, 1.0),
        (0.9, 1.0),
        (1.0, 0.7),
        (1.0, 0.0),
    ];
    mesh.sheet(rings.len(), around + 1, |row, column| {
        let (share, wide) = rings[row];
        let turn = -(column as f32) / around as f32 * std::f32::consts::TAU;
        let radius = wide * (radii[0] + (radii[1] - radii[0]) * share);
        let position = from.lerp(to, share) + (aside * turn.cos() + over * turn.sin()) * radius;
        let pale = if to.y < -0.1 { share } else { 0.3 * share };
        moved(position, Vec2::new(0.56 + 0.34 * pale, 0.5), joint)
    });
}

fn moved(position: Vec3, uv: Vec2, joint: u8) -> Vertex {
    Vertex {
        position,
        normal: Vec3::Y,
        uv,
        joints: [joint, 0],
        weight: 255,
    }
}

/// Returns the joints: the body, hip and knee of each leg, the claws.
fn joints() -> Vec<Joint> {
    let joint = |part, parent, place| Joint {
        part,
        parent,
        place,
    };
    let mut joints = vec![joint(Part::Body, None, Vec3::ZERO)];
    for leg in legs() {
        let hip = joints.len();
        let part = |name| Part::Limb(name, leg.number, leg.side);
        joints.push(joint(part("hip"), Some(0), leg.line[0]));
        joints.push(joint(part("knee"), Some(hip), leg.line[1]));
    }
    for side in [1.0, -1.0] {
        joints.push(joint(Part::Limb("claw", 0, side), Some(0), claw(side)[0]));
    }
    joints
}

/// Returns the clips: how far the feet reach, how high they are lifted, and how high the claws are held.
fn clips() -> Vec<Clip> {
    let all = [
        ("cruise", 0.30, 0.22, 0.0),
        ("glide", 0.0, 0.0, 0.02),
        ("sprint", 0.46, 0.30, 0.25),
        ("turn_left", 0.26, 0.24, 0.0),
        ("turn_right", 0.26, 0.24, 0.0),
        ("ascend", 0.34, 0.34, 0.0),
        ("descend", 0.26, 0.24, 0.0),
        ("leap", 0.46, 0.30, 0.25),
        ("eat", 0.0, 0.0, 0.35),
    ];
    all.into_iter()
        .map(|(name, reach, lift, claws)| Clip {
            name,
            keys: (0..KEYS)
                .map(|key| sample((reach, lift, claws), key as f32 / (KEYS - 1) as f32))
                .collect(),
        })
        .collect()
}

fn sample((reach, lift, claws): (f32, f32, f32), phase: f32) -> (Vec<Quat>, Vec3) {
    let turn = std::f32::consts::TAU;
    let rotation = |joint: &Joint| {
        let Part::Limb(name, number, side) = joint.part else {
            return Quat::IDENTITY;
        };
        // Neighbors on a side, and opposite legs, step by turns.
        let is_odd = (number + usize::from(side < 0.0)) % 2 == 1;
        let step = turn * (phase + if is_odd { 0.5 } else { 0.0 });
        match name {
            "hip" => Quat::from_rotation_x(-side * lift * (-step.sin()).max(0.0)),
            "knee" => Quat::from_rotation_x(-reach * step.cos()),
            _ => Quat::from_rotation_z(claws + 0.05 * (turn * phase + side).sin()),
        }
    };
    (joints().iter().map(rotation).collect(), Vec3::ZERO)
}
