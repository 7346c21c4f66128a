//! A mesh while it is built: vertices with joint weights, and functions that add sheets of quads and compute smooth normals.

use glam::{Vec2, Vec3};

/// A vertex in model space: nose towards +z, back towards +y, the left of the animal towards +x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub position: Vec3,
    pub normal: Vec3,
    pub uv: Vec2,
    /// The two joints that move the vertex.
    pub joints: [u8; 2],
    /// Weight of the first joint, 0..=255. The weight of the second joint is 255 minus this value.
    pub weight: u8,
}

/// Vertices and triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
}

impl Mesh {
    /// Adds a sheet of `rows` × `columns` vertices with quads between neighboring vertices. `point` returns each vertex; its
    /// normal is not used.
    pub(super) fn sheet(
        &mut self,
        rows: usize,
        columns: usize,
        mut point: impl FnMut(usize, usize) -> Vertex,
    ) {
        let first = self.vertices.len() as u32;
        for row in 0..rows {
            for column in 0..columns {
                let vertex = point(row, column);
                self.vertices.push(vertex);
            }
        }
        let at = |row: usize, column: usize| first + (row * columns + column) as u32;
        for row in 1..rows {
            for column in 1..columns {
                let [a, b, c, d] = [
                    at(row - 1, column - 1),
                    at(row - 1, column),
                    at(row, column),
                    at(row, column - 1),
                ];
                for triangle in [[a, b, c], [a, c, d]] {
                    let [p, q, r] = triangle.map(|i| self.vertices[i as usize].position);
                    if (q - p).cross(r - p).length() > 1e-9 {
                        self.indices.extend(triangle);
                    }
                }
            }
        }
    }

    /// Adds a copy of all triangles from index `from` to the end, with reversed corners, so that they are visible from both
    /// sides. A triangle is drawn only if it is seen from its front.
    pub(super) fn both_sides(&mut self, from: usize) {
        let behind: Vec<u32> = self.indices[from..]
            .chunks_exact(3)
            .flat_map(|corners| [corners[0], corners[2], corners[1]])
            .collect();
        self.indices.extend(behind);
    }

    /// Sets the normal of every vertex to the area-weighted mean of the normals of all triangles at its position, even if they
    /// belong to other vertices at the same position.
    pub(super) fn smooth_normals(&mut self) {
        let key = |p: Vec3| [p.x, p.y, p.z].map(|v| (v * 1e5).round() as i64);
        let mut sums = std::collections::BTreeMap::<[i64; 3], Vec3>::new();
        for triangle in self.indices.chunks_exact(3) {
            let [p, q, r] = [0, 1, 2].map(|i| self.vertices[triangle[i] as usize].position);
            let normal = (q - p).cross(r - p);
            for corner in [p, q, r] {
                *sums.entry(key(corner)).or_default() += normal;
            }
        }
        for vertex in &mut self.vertices {
            let sum = sums.get(&key(vertex.position)).copied().unwrap_or_default();
            vertex.normal = sum.normalize_or(Vec3::Y);
        }
    }
}
