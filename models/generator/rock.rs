//! Stones inside the unit sphere. A stone is a subdivided icosahedron that is cut by planes and roughened by noise.

use glam::{Vec2, Vec3};

use super::mesh::{Mesh, Vertex};
use super::paint::noise3;

/// The parameters of a stone.
pub(super) struct Rock {
    pub name: &'static str,
    seed: u32,
    /// Number of planes that cut the sphere.
    cuts: u32,
    /// Minimum distance of these planes from the center, as a share of the radius of the sphere.
    nearest: f32,
    /// Width (along z) and height of the stone, as shares of its length.
    girth: [f32; 2],
    /// Rounding of the edges, 0..1; with 0, the edges are sharp.
    worn: f32,
}

/// The built-in stones: a boulder, a flat stone, a split stone, and a stone with sharp edges.
pub(super) const ALL: [Rock; 4] = [
    Rock {
        name: "rock_round",
        seed: 1,
        cuts: 9,
        nearest: 0.72,
        girth: [0.9, 0.9],
        worn: 0.5,
    },
    Rock {
        name: "rock_flat",
        seed: 2,
        cuts: 12,
        nearest: 0.60,
        girth: [0.82, 0.62],
        worn: 0.3,
    },
    Rock {
        name: "rock_split",
        seed: 3,
        cuts: 8,
        nearest: 0.50,
        girth: [0.95, 0.8],
        worn: 0.15,
    },
    Rock {
        name: "rock_sharp",
        seed: 4,
        cuts: 15,
        nearest: 0.62,
        girth: [0.72, 0.9],
        worn: 0.1,
    },
];

/// Builds a stone from an icosahedron that is subdivided `divisions` times. The vertex that is farthest from the center is on
/// the unit sphere.
pub(super) fn build(rock: &Rock, divisions: usize) -> Mesh {
    let (mut points, mut triangles) = icosahedron();
    for _ in 0..divisions {
        (points, triangles) = divide(&points, &triangles);
    }
    let shift = Vec3::splat(rock.seed as f32 * 17.3);
    // Normals and distances of the planes that cut the sphere.
    let cuts: Vec<(Vec3, f32)> = (0..rock.cuts)
        .map(|i| {
            let at = shift + Vec3::splat(i as f32 * 5.7);
            // The normals are spread over all directions, with random deviations, so that every side of the stone is cut.
            let up = 1.0 - 2.0 * (i as f32 + 0.5) / rock.cuts as f32;
            let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
            let flat = (1.0 - up * up).sqrt();
            let by_chance = Vec3::new(noise3(at), noise3(at + 31.0), noise3(at + 57.0)) - 0.5;
            let direction = Vec3::new(flat * cos, up, flat * sin) + 1.1 * by_chance;
            let distance = rock.nearest + (0.96 - rock.nearest) * noise3(at + 91.0);
            (direction.normalize_or(Vec3::Y), distance)
        })
        .collect();
    let mut shaped: Vec<Vec3> = points
        .iter()
        .map(|&p| {
            let mut radius = 1.0f32;
            for &(direction, distance) in &cuts {
                let facing = direction.dot(p);
                if facing > 0.05 {
                    radius = radius.min(distance / facing);
                }
            }
            let bumps = 0.07 * (noise3(p * 2.3 + shift) - 0.5)
                + 0.05 * (noise3(p * 6.1 + shift) - 0.5)
                + 0.03 * (noise3(p * 13.0 + shift) - 0.5);
            let worn = radius + (0.84 - radius) * 0.5 * rock.worn;
            p * (worn + bumps) * Vec3::new(1.0, rock.girth[1], rock.girth[0])
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

/// Returns the points and triangles of an icosahedron whose points are on the unit sphere.
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
    .map(|p| Vec3::from_array(p).normalize_or_zero());
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

/// Returns the points and triangles after every triangle is divided into four. The new points are on the unit sphere.
pub(super) fn divide(points: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut points = points.to_vec();
    let mut halves = std::collections::BTreeMap::<(u32, u32), u32>::new();
    let mut half = |a: u32, b: u32| {
        *halves.entry((a.min(b), a.max(b))).or_insert_with(|| {
            let middle = (points[a as usize] + points[b as usize]).normalize_or_zero();
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
