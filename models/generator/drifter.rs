//! Drifting bodies that are not fish: a molecule of three spheres, and a copepod (small crustacean) with long antennae.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::rock::{divide, icosahedron};

/// Returns a vertex that no joint moves. `u` is its place in the texture from left to right.
fn rigid(position: Vec3, u: f32) -> Vertex {
    Vertex {
        position,
        normal: Vec3::Y,
        uv: Vec2::new(u, 0.0),
        joints: [0, 0],
        weight: 255,
    }
}

/// Adds a sphere, built from an icosahedron that is subdivided `divisions` times. `shape` maps each point of the unit sphere to
/// its final position. `u` is its place in the texture.
fn ball(mesh: &mut Mesh, divisions: usize, u: f32, shape: impl Fn(Vec3) -> Vec3) {
    let (mut points, mut triangles) = icosahedron();
    for _ in 0..divisions {
        (points, triangles) = divide(&points, &triangles);
    }
    let first = mesh.vertices.len() as u32;
    mesh.vertices
        .extend(points.into_iter().map(|p| rigid(shape(p), u)));
    mesh.indices
        .extend(triangles.into_iter().flatten().map(|i| first + i));
}

/// Builds a molecule of water: an atom of oxygen in the left half of the texture, and two of hydrogen in the right half. The atoms
/// penetrate each other: radii (1.52 and 1.20 Å), bonds (0.96 Å) and angle (104.5°) are those of the molecule. Its length along z
/// is 1.
pub(super) fn molecule(divisions: usize) -> Mesh {
    let [oxygen, hydrogen, bond] = [1.52, 1.20, 0.96].map(|angstrom: f32| angstrom / 3.31);
    let (x, z) = (52.25_f32.to_radians()).sin_cos();
    let mut mesh = Mesh::default();
    for (at, radius, u) in [
        (Vec3::ZERO, oxygen, 0.25),
        (Vec3::new(x, 0.0, z), hydrogen, 0.75),
        (Vec3::new(-x, 0.0, z), hydrogen, 0.75),
    ] {
        let center = bond * at - Vec3::Z * 0.04;
        ball(&mut mesh, divisions, u, |p| center + radius * p);
    }
    mesh.smooth_normals();
    mesh
}

/// Builds a copepod: a drop-shaped body with a forked tail and two long antennae. Its length along z is 1.
pub(super) fn copepod(divisions: usize) -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, divisions, 0.0, |p| {
        let slim = 0.65 + 0.35 * p.z;
        Vec3::new(0.17 * p.x * slim, 0.14 * p.y * slim, 0.14 + 0.36 * p.z)
    });
    mesh.smooth_normals();
    let flat = mesh.indices.len();
    for side in [1.0, -1.0] {
        let feeler = [
            Vec3::new(0.05, 0.0, 0.42),
            Vec3::new(0.32, 0.02, 0.36),
            Vec3::new(0.55, 0.0, 0.08),
        ];
        let tail = [
            Vec3::new(0.01, 0.0, -0.16),
            Vec3::new(0.05, 0.0, -0.30),
            Vec3::new(0.14, 0.0, -0.5),
        ];
        for (line, width) in [(feeler, 0.022), (tail, 0.03)] {
            mesh.sheet(line.len(), 2, |row, column| {
                let across = (column as f32 - 0.5) * width * (1.2 - 0.5 * row as f32);
                let at = line[row] + Vec3::new(0.3 * across, 0.0, across);
                rigid(Vec3::new(side * at.x, at.y, at.z), 0.0)
            });
        }
    }
    mesh.both_sides(flat);
    mesh
}
