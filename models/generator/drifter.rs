//! Drifting bodies that are not fish: a molecule of three spheres, and a copepod (small crustacean) with long antennae.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::rock::{divide, icosahedron};

/// Returns a vertex that no joint moves, without texture coordinates.
fn rigid(position: Vec3) -> Vertex {
    Vertex {
        position,
        normal: Vec3::Y,
        uv: Vec2::ZERO,
        joints: [0, 0],
        weight: 255,
    }
}

/// Adds a sphere, built from an icosahedron that is subdivided `divisions` times. `shape` maps each point of the unit sphere to
/// its final position.
fn ball(mesh: &mut Mesh, divisions: usize, shape: impl Fn(Vec3) -> Vec3) {
    let (mut points, mut triangles) = icosahedron();
    for _ in 0..divisions {
        (points, triangles) = divide(&points, &triangles);
    }
    let first = mesh.vertices.len() as u32;
    mesh.vertices
        .extend(points.into_iter().map(|p| rigid(shape(p))));
    mesh.indices
        .extend(triangles.into_iter().flatten().map(|i| first + i));
}

/// Builds a molecule: one large sphere and two small spheres at an angle, as in a molecule of water. Its length along z is 1.
pub(super) fn molecule(divisions: usize) -> Mesh {
    let mut mesh = Mesh::default();
    for (center, radius) in [
        (Vec3::new(0.0, 0.0, -0.20), 0.30),
        (Vec3::new(0.27, 0.0, 0.29), 0.21),
        (Vec3::new(-0.27, 0.0, 0.29), 0.21),
    ] {
        ball(&mut mesh, divisions, |p| center + radius * p);
    }
    mesh.smooth_normals();
    mesh
}

/// Builds a copepod: a drop-shaped body with a forked tail and two long antennae. Its length along z is 1.
pub(super) fn copepod(divisions: usize) -> Mesh {
    let mut mesh = Mesh::default();
    ball(&mut mesh, divisions, |p| {
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
                rigid(Vec3::new(side * at.x, at.y, at.z))
            });
        }
    }
    mesh.both_sides(flat);
    mesh
}
