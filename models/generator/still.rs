//! Models of static bodies: a trunk, a water lily leaf, and a tuft of water weed.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::paint::{noise3, smoothstep};

/// Returns a vertex that no joint moves.
pub(super) fn rigid(position: Vec3, uv: Vec2) -> Vertex {
    Vertex {
        position,
        normal: Vec3::Y,
        uv,
        joints: [0, 0],
        weight: 255,
    }
}

/// Builds a trunk with broken ends. It lies inside the cylinder with radius 1 along x, from x = −1 to x = 1.
pub(super) fn log() -> Mesh {
    let (rows, columns) = (15, 13);
    let mut mesh = Mesh::default();
    mesh.sheet(rows, columns, |row, column| {
        let along = row as f32 / (rows - 1) as f32;
        let turn = (column % (columns - 1)) as f32 / (columns - 1) as f32 * std::f32::consts::TAU;
        // The first and the last ring of vertices close the ends of the trunk.
        let is_end = row == 0 || row == rows - 1;
        let x = (along * 2.0 - 1.0) * 1.12;
        let rough = noise3(Vec3::new(x * 3.0, turn.cos() * 1.3, turn.sin() * 1.3) + 7.0);
        let radius = if is_end { 0.0 } else { 0.80 + 0.19 * rough };
        let x = x.clamp(-0.93, 0.93)
            + if is_end {
                0.0
            } else {
                0.06 * x.signum() * (rough - 0.2)
            };
        rigid(
            Vec3::new(x, radius * turn.cos(), radius * turn.sin()),
            Vec2::new(along, turn),
        )
    });
    mesh.smooth_normals();
    mesh
}

/// Builds a water lily leaf inside the unit circle, which is seen from below. It has a notch, a raised rim, and ribs that start
/// at the stem. The texture coordinate u is 0.5 on each rib; v increases from 0.55 at the stem to 1 at the rim. The water around the leaf
/// has a v of more than 1, up to 1.1: it is bent there.
pub(super) fn lily() -> Mesh {
    let (rings, around, ribs) = (8, 49, 12.0);
    let mut mesh = Mesh::default();
    mesh.sheet(rings, around, |ring, step| {
        // Two rings are close to the rim, and the last one is in the water around the leaf.
        let out = [0.0, 0.25, 0.5, 0.75, 0.9, 0.96, 1.0, 1.08][ring];
        let turn = step as f32 / (around - 1) as f32;
        // The notch takes a tenth of the circle, so the leaf covers nine tenths.
        let angle = (0.05 + 0.90 * turn) * std::f32::consts::TAU;
        let wavy = 0.93 + 0.07 * noise3(Vec3::new(3.0 * angle.cos(), 3.0 * angle.sin(), 4.4));
        let lip = (turn.min(1.0 - turn) * 9.0).min(1.0).powf(0.4);
        let radius = out * wavy * (0.90 + 0.10 * lip);
        // The rim is raised, and falls to the water.
        let raised = 0.07 * smoothstep(0.86, 0.97, out) - 0.12 * smoothstep(0.97, 1.08, out);
        let lift =
            0.05 * out * out + raised - 0.02 * noise3(Vec3::new(radius * 4.0, angle * 2.0, 8.0));
        // On a ceiling, y increases towards the viewer.
        rigid(
            Vec3::new(radius * angle.cos(), -lift, radius * angle.sin()),
            Vec2::new((2.0 * (turn * ribs).fract() - 1.0).abs(), 0.55 + 0.45 * out),
        )
    });
    mesh.smooth_normals();
    mesh.both_sides(0);
    mesh
}

/// Builds a lily flower inside the unit sphere: three whorls of petals around a yellow middle. The texture coordinate u is 0.5 on
/// the middle line of each petal; v increases along the petal from 0 to 1, and is −1 in the middle of the flower.
pub(super) fn flower() -> Mesh {
    let mut mesh = Mesh::default();
    // Number of petals, length, elevation at the root and at the tip.
    let whorls = [
        (8, 1.0, 0.15, 0.55),
        (8, 0.80, 0.55, 0.95),
        (6, 0.58, 0.95, 1.25),
    ];
    for (whorl, (count, length, low, high)) in whorls.into_iter().enumerate() {
        for petal in 0..count {
            let turn = (petal as f32 + 0.5 * whorl as f32) / count as f32 * std::f32::consts::TAU;
            let out = Vec3::new(turn.cos(), 0.0, turn.sin());
            let aside = Vec3::new(-turn.sin(), 0.0, turn.cos());
            mesh.sheet(5, 3, |row, column| {
                let along = row as f32 / 4.0;
                let side = column as f32 - 1.0;
                let rise: f32 = low + (high - low) * along;
                let width = 0.21
                    * (std::f32::consts::PI * (0.08 + 0.92 * along))
                        .sin()
                        .max(0.02);
                let cup = 0.10 * side * side * (std::f32::consts::PI * along).sin();
                let line = out * (rise.cos() * along * length)
                    + Vec3::Y * (rise.sin() * along * length + cup);
                rigid(
                    line + aside * (side * width * length),
                    Vec2::new(0.5 + 0.5 * side, along),
                )
            });
        }
    }
    mesh.sheet(3, 9, |ring, step| {
        let out = ring as f32 / 2.0 * 0.16;
        let turn = step as f32 / 8.0 * std::f32::consts::TAU;
        let position = Vec3::new(out * turn.cos(), 0.34 - 3.0 * out * out, out * turn.sin());
        rigid(position, Vec2::new(0.5, -1.0))
    });
    mesh.smooth_normals();
    mesh.both_sides(0);
    mesh
}

/// Builds a tuft of leaves with a height of 1 along y and the root at the origin. The texture coordinate u increases across
/// each leaf, v increases along it. All leaves lean in about the same direction, as in a slow current.
pub(super) fn weed() -> Mesh {
    let mut mesh = Mesh::default();
    for leaf in 0..10 {
        let chance = |n: f32| noise3(Vec3::new(leaf as f32 * 3.7, n * 5.1, 1.3));
        let turn = 2.6 * (chance(1.0) - 0.5) + if leaf % 4 == 3 { 2.2 } else { 0.0 };
        let out = Vec3::new(turn.cos(), 0.0, turn.sin());
        let aside = Vec3::new(-turn.sin(), 0.0, turn.cos());
        let foot = Vec3::new(chance(6.0) - 0.5, 0.0, chance(7.0) - 0.5) * 0.16;
        let (height, lean) = (0.55 + 0.45 * chance(2.0), 0.45 + 0.75 * chance(3.0));
        mesh.sheet(6, 2, |row, column| {
            let up = row as f32 / 5.0;
            let width = 0.034 * (1.0 - 0.92 * up.powi(3)) * (0.5 + 0.5 * (4.0 * up).min(1.0));
            let side = column as f32 * 2.0 - 1.0;
            let bow = foot
                + out * (0.04 + lean * up * up)
                + Vec3::Y * (height * up * (1.0 - 0.36 * lean * up));
            let curl = aside * (0.13 * (4.2 * up + 6.0 * chance(4.0)).sin() * up);
            rigid(
                bow + curl + aside * (side * width),
                Vec2::new(column as f32, up),
            )
        });
    }
    mesh.smooth_normals();
    mesh.both_sides(0);
    mesh
}
