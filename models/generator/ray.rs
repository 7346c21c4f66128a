//! A manta: a disc that is twice as wide as the animal is long, with wings that beat, two lobes at the head, and a thin tail.

use glam::{Quat, Vec2, Vec3};

use super::clips::{Clip, KEYS};
use super::glb::{self, Paint};
use super::mesh::{Mesh, Vertex};
use super::paint;
use super::skeleton::{Joint, Part};

/// Shares of the half span at which the three joints of a wing lie.
const WING: [f32; 3] = [0.14, 0.40, 0.68];
/// Share of the half span over which two joints of a wing share a vertex.
const BLEND: f32 = 0.11;
/// Index of the first joint of the left wing; those of the right wing follow.
const LEFT: u8 = 1;
/// Places along z of the joints of the tail, behind the joints of the wings.
const TAIL_Z: [f32; 2] = [-0.22, -0.36];

/// Returns the content of the file.
pub(super) fn file() -> Vec<u8> {
    let meshes = [(33, 15, 8), (21, 9, 6), (15, 7, 5), (11, 5, 4)].map(build);
    let skin = paint::ray();
    glb::write(
        "manta",
        &meshes.each_ref(),
        &joints(),
        &clips(),
        &Paint::Skin(&skin),
    )
}

/// Returns the edges of the disc at a share of the half span, as z of the front and of the rear edge.
fn edges(t: f32) -> (f32, f32) {
    let front = 0.37 - 0.07 * t - 0.44 * t.powf(2.1);
    let rear = -0.22 + 0.50 * t - 0.43 * t * t;
    (front.max(rear + 0.012), rear)
}

/// Returns the height of the disc above its plane at a share of the half span and of the way from the front to the rear edge.
fn height(t: f32, along: f32) -> f32 {
    let thick = 0.085 * (1.0 - t).powf(1.5) + 0.010 * (1.0 - t);
    thick * along.sqrt() * (1.0 - along) * 2.4
}

/// Builds the mesh with this number of columns across the disc, rows along it, and segments around tubes.
fn build((columns, rows, around): (usize, usize, usize)) -> Mesh {
    let mut mesh = Mesh::default();
    for (face, first_v) in [(1.0_f32, 0.0), (-0.62, 0.5)] {
        mesh.sheet(rows, columns, |row, column| {
            // The columns of the lower face run the other way, so that both faces look outwards.
            let across = 2.0 * column as f32 / (columns - 1) as f32 - 1.0;
            let x = across * face.signum();
            let along = (row as f32 / (rows - 1) as f32).powf(1.3);
            let (front, rear) = edges(x.abs());
            let z = front + (rear - front) * along;
            let y = face * height(x.abs(), along) - 0.03 * x * x;
            let uv = Vec2::new(0.5 + 0.5 * x, first_v + 0.02 + 0.46 * along);
            on_wing(Vec3::new(x, y, z), uv)
        });
    }
    for side in [1.0, -1.0] {
        let lobe = [
            Vec3::new(0.12, -0.005, 0.34),
            Vec3::new(0.135, -0.012, 0.43),
            Vec3::new(0.105, -0.025, 0.50),
        ];
        let lobe = lobe.map(|p| p * Vec3::new(side, 1.0, 1.0));
        tube(&mut mesh, &lobe, [0.035, 0.010], around, |_| (0, 0, 255));
    }
    let tail = [
        Vec3::new(0.0, 0.004, -0.17),
        Vec3::new(0.0, 0.0, -0.33),
        Vec3::new(0.0, 0.0, -0.5),
    ];
    let first = LEFT + 2 * WING.len() as u8;
    tube(&mut mesh, &tail, [0.022, 0.003], around, |z| {
        let part = u8::from(z < TAIL_Z[1]);
        (first + part, if part == 0 { 0 } else { first }, 255)
    });
    mesh.smooth_normals();
    mesh
}

/// Returns a vertex of the disc, which the joints of its wing move.
fn on_wing(position: Vec3, uv: Vec2) -> Vertex {
    let t = position.x.abs();
    let first = if position.x < 0.0 {
        LEFT + WING.len() as u8
    } else {
        LEFT
    };
    let (mut joints, mut share) = ([0, 0], 1.0);
    for (number, &place) in WING.iter().enumerate() {
        if t > place - BLEND {
            let before = if number == 0 {
                0
            } else {
                first + number as u8 - 1
            };
            joints = [first + number as u8, before];
            share = paint::smoothstep(place - BLEND, place + BLEND, t);
        }
    }
    Vertex {
        position,
        normal: Vec3::Y,
        uv,
        joints,
        weight: (share * 255.0).round() as u8,
    }
}

/// Adds a tapered tube along three points. `radii` are those of its ends; `moved` returns joints and weight at a place along z.
fn tube(
    mesh: &mut Mesh,
    line: &[Vec3; 3],
    radii: [f32; 2],
    around: usize,
    moved: impl Fn(f32) -> (u8, u8, u8),
) {
    let rings = 6;
    mesh.sheet(rings, around + 1, |row, column| {
        let along = row as f32 / (rings - 1) as f32;
        let middle = line[0]
            .lerp(line[1], along)
            .lerp(line[1].lerp(line[2], along), along);
        let turn = column as f32 / around as f32 * std::f32::consts::TAU;
        // The last ring closes the tip.
        let radius = if row == rings - 1 {
            0.0
        } else {
            radii[0] + (radii[1] - radii[0]) * along
        };
        let ahead = (line[2] - line[0]).z.signum();
        let (first, second, weight) = moved(middle.z);
        Vertex {
            position: middle + Vec3::new(turn.sin() * ahead, turn.cos(), 0.0) * radius,
            normal: Vec3::Y,
            uv: Vec2::new(0.5, 0.1),
            joints: [first, second],
            weight,
        }
    });
}

/// Returns the joints: the body, three for each wing, two of the tail.
fn joints() -> Vec<Joint> {
    let joint = |part, parent, place| Joint {
        part,
        parent,
        place,
    };
    let mut joints = vec![joint(Part::Body, None, Vec3::new(0.0, 0.0, 0.08))];
    for side in [1.0, -1.0] {
        for (number, &t) in WING.iter().enumerate() {
            let (front, rear) = edges(t);
            let place = Vec3::new(side * t, 0.0, 0.5 * (front + rear));
            let parent = if number == 0 { 0 } else { joints.len() - 1 };
            joints.push(joint(Part::Limb("wing", number, side), Some(parent), place));
        }
    }
    for (number, &z) in TAIL_Z.iter().enumerate() {
        let parent = if number == 0 { 0 } else { joints.len() - 1 };
        joints.push(joint(
            Part::Tail(number),
            Some(parent),
            Vec3::new(0.0, 0.0, z),
        ));
    }
    joints
}

/// The motion of a clip: amplitude and mean of the beat, and how much higher the left wing is held than the right one, in radians.
struct Beat {
    name: &'static str,
    amplitude: f32,
    mean: f32,
    skew: f32,
}

/// Returns the clips. A beat runs from the body to the tips, as a wave.
fn clips() -> Vec<Clip> {
    let beat = |name, amplitude, mean, skew| Beat {
        name,
        amplitude,
        mean,
        skew,
    };
    let all = [
        beat("cruise", 0.26, 0.03, 0.0),
        beat("glide", 0.03, 0.10, 0.0),
        beat("sprint", 0.40, 0.02, 0.0),
        beat("turn_left", 0.18, 0.05, -0.10),
        beat("turn_right", 0.18, 0.05, 0.10),
        beat("ascend", 0.34, 0.0, 0.0),
        beat("descend", 0.06, 0.12, 0.0),
        beat("leap", 0.40, 0.05, 0.0),
        beat("eat", 0.22, 0.08, 0.0),
    ];
    all.into_iter()
        .map(|beat| Clip {
            name: beat.name,
            keys: (0..KEYS)
                .map(|key| sample(&beat, key as f32 / (KEYS - 1) as f32))
                .collect(),
        })
        .collect()
}

fn sample(beat: &Beat, phase: f32) -> (Vec<Quat>, Vec3) {
    let turn = std::f32::consts::TAU;
    let rotation = |joint: &Joint| match joint.part {
        Part::Limb(_, number, side) => {
            let late = turn * phase - 0.75 * number as f32;
            let share = [0.8, 1.0, 1.15][number.min(2)];
            let lift = beat.mean + side * beat.skew + share * beat.amplitude * late.sin();
            // A wing that moves down points its front edge down, which drives the animal.
            let twist = 0.35 * beat.amplitude * late.cos();
            Quat::from_rotation_z(side * lift) * Quat::from_rotation_x(-twist)
        }
        Part::Tail(_) => Quat::from_rotation_x(0.25 * beat.amplitude * (turn * phase).sin()),
        _ => Quat::IDENTITY,
    };
    // The body moves against the wings.
    let heave = -0.16 * beat.amplitude * (turn * phase).sin();
    (joints().iter().map(rotation).collect(), Vec3::Y * heave)
}
