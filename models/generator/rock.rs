//! A weathered stone inside the unit sphere: an icosahedron, divided, flattened and dented by a few smooth noises.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::paint::noise3;

/// Builds the stone of a seed; its farthest corner lies on the unit sphere.
pub(super) fn build(seed: u32) -> Mesh {
    let (mut points, mut triangles) = icosahedron();
    for _ in 0..2 {
        (points, triangles) = divide(&points, &triangles);
    }
    let shift = Vec3::splat(seed as f32 * 17.3);
    // A few planes cut the ball, as frost and falls do; noise rounds what is left.
    let cuts: Vec<(Vec3, f32)> = (0..7)
        .map(|i| {
            let at = shift + Vec3::splat(i as f32 * 5.7);
            let direction = Vec3::new(noise3(at), noise3(at + 31.0), noise3(at + 57.0)) - 0.5;
            (
                direction.normalize_or(Vec3::Y),
                0.74 + 0.2 * noise3(at + 91.0),
            )
        })
        .collect();
    let mut shaped: Vec<Vec3> = points
        .iter()
        .map(|&p| {
            let mut radius = 1.0f32;
            for &(direction, distance) in &cuts {
                let facing = direction.dot(p);
                if facing > 0.0 {
                    radius = radius.min(distance / facing.max(0.3)).max(0.6);
                }
            }
            let bumps =
                0.10 * (noise3(p * 1.7 + shift) - 0.5) + 0.05 * (noise3(p * 4.1 + shift) - 0.5);
            p * (radius + bumps)
        })
        .collect();
    let reach = shaped.iter().map(|p| p.length()).fold(0.0f32, f32::max);
    for point in &mut shaped {
        *point /= reach;
    }
    let mut mesh = Mesh {
        vertices: shaped
            .iter()
            .map(|&position| Vertex {
                position,
                normal: Vec3::Y,
                uv: Vec2::ZERO,
                joints: [0, 0],
                weight: 255,
            })
            .collect(),
        indices: triangles.into_iter().flatten().collect(),
    };
    mesh.smooth_normals();
    mesh
}

pub(super) fn icosahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let t = (1.0 + 5.0f32.sqrt()) / 2.0;
    let points = [
        [-1.0, t, 0.0],
        [1.0, t, 0.0],
        [-1.0, -t, 0.0],
        [1.0, -t, 0.0],
        [0.0, -1.0, t],
        [0.0, 1.0, t],
        [0.0, -1.0, -t],
        [0.0, 1.0, -t],
        [t, 0.0, -1.0],
        [t, 0.0, 1.0],
        [-t, 0.0, -1.0],
        [-t, 0.0, 1.0],
    ]
    .map(|p| Vec3::from_array(p).normalize());
    let triangles = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    (points.to_vec(), triangles.to_vec())
}

pub(super) fn divide(points: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut points = points.to_vec();
    let mut halves = std::collections::BTreeMap::<(u32, u32), u32>::new();
    let mut half = |a: u32, b: u32| {
        *halves.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let middle = (points[a as usize] + points[b as usize]).normalize();
            points.push(middle);
            points.len() as u32 - 1
        })
    };
    let mut divided = Vec::with_capacity(triangles.len() * 4);
    for &[a, b, c] in triangles {
        let (ab, bc, ca) = (half(a, b), half(b, c), half(c, a));
        divided.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    (points, divided)
}
