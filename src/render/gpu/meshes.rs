//! The triangles of all models on the GPU.

use wgpu::BufferUsages;

use super::device::Gpu;
use super::targets::buffer;
use crate::render::model::Model;
use crate::render::shadow_mask::SPINE_STATIONS;

/// The part of the shared buffers that contains the triangles of one mesh.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MeshRange {
    pub(super) first_index: u32,
    pub(super) index_count: u32,
    pub(super) base_vertex: i32,
}

/// Uploads the vertices and indices of all models into two buffers. Returns one
/// range per model and level of detail.
pub(super) fn upload<'a>(
    gpu: &Gpu,
    models: impl Iterator<Item = &'a Model>,
) -> (Vec<MeshRange>, wgpu::Buffer, wgpu::Buffer) {
    let (mut vertices, mut indices, mut meshes) = (Vec::new(), Vec::new(), Vec::new());
    for model in models {
        for range in model.levels() {
            meshes.push(MeshRange {
                first_index: indices.len() as u32,
                index_count: range.len() as u32,
                base_vertex: vertices.len() as i32,
            });
            indices.extend_from_slice(range);
        }
        vertices.extend_from_slice(&model.vertices);
    }
    let fill = |label, usage, bytes: &[u8]| {
        let buffer = buffer(
            &gpu.device,
            label,
            usage | BufferUsages::COPY_DST,
            bytes.len() as u64,
        );
        gpu.queue.write_buffer(&buffer, 0, bytes);
        buffer
    };
    let vertices = fill(
        "vertices",
        BufferUsages::VERTEX,
        bytemuck::cast_slice(&vertices),
    );
    let indices = fill(
        "indices",
        BufferUsages::INDEX,
        bytemuck::cast_slice(&indices),
    );
    (meshes, vertices, indices)
}

/// Draws `count` instances of a mesh, beginning with instance `first`.
pub(super) fn draw_batch(
    pass: &mut wgpu::RenderPass<'_>,
    mesh: &MeshRange,
    first: u32,
    count: u32,
) {
    if count > 0 {
        let indices = mesh.first_index..mesh.first_index + mesh.index_count;
        pass.draw_indexed(indices, mesh.base_vertex, first..first + count);
    }
}

/// Number of indices for the triangles of one strip.
pub(super) const STRIP_INDICES: usize = (SPINE_STATIONS - 1) * 6;

/// Returns the indices of the triangles of `strips` strips. The vertices of a strip are pairs, one pair per station of the
/// spine.
pub(super) fn strip_indices(strips: usize) -> Vec<u32> {
    let mut indices = Vec::with_capacity(strips * STRIP_INDICES);
    for strip in 0..strips as u32 {
        for pair in 0..SPINE_STATIONS as u32 - 1 {
            let first = (strip * SPINE_STATIONS as u32 + pair) * 2;
            indices.extend([0, 1, 2, 2, 1, 3].map(|i| first + i));
        }
    }
    indices
}
