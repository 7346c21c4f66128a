//! The triangles of all models on the GPU.

use wgpu::{BufferUsages, RenderPass};

use super::device::Gpu;
use super::textures::buffer;
use crate::render::draw_list::Batch;
use crate::render::model::Model;

/// The part of the shared buffers that contains the triangles of one mesh.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mesh {
    first_index: u32,
    index_count: u32,
    base_vertex: i32,
}

impl Mesh {
    /// Draws the instances of a batch, which begins `offset` instances later in the buffer of instances.
    pub(super) fn draw(&self, pass: &mut RenderPass<'_>, batch: Batch, offset: u32) {
        if batch.count > 0 {
            let indices = self.first_index..self.first_index + self.index_count;
            let first = offset + batch.first;
            pass.draw_indexed(indices, self.base_vertex, first..first + batch.count);
        }
    }

    /// Number of triangles of a batch.
    pub(super) fn triangles(&self, batch: Batch) -> u64 {
        u64::from(self.index_count / 3) * u64::from(batch.count)
    }
}

/// The meshes of all models, in two buffers.
pub(super) struct Meshes {
    /// One mesh per model and level of detail.
    pub(super) list: Vec<Mesh>,
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
}

impl Meshes {
    /// Uploads the meshes of models.
    pub(super) fn upload<'a>(gpu: &Gpu, models: impl Iterator<Item = &'a Model>) -> Self {
        let (mut vertices, mut indices, mut list) = (Vec::new(), Vec::new(), Vec::new());
        for model in models {
            for range in model.levels() {
                list.push(Mesh {
                    first_index: indices.len() as u32,
                    index_count: range.len() as u32,
                    base_vertex: vertices.len() as i32,
                });
                indices.extend_from_slice(range);
            }
            vertices.extend_from_slice(&model.vertices);
        }
        let fill = |label, usage, bytes: &[u8]| {
            let usage = usage | BufferUsages::COPY_DST;
            let buffer = buffer(&gpu.device, label, usage, bytes.len() as u64);
            gpu.queue.write_buffer(&buffer, 0, bytes);
            buffer
        };
        let vertices = bytemuck::cast_slice(&vertices);
        let indices = bytemuck::cast_slice(&indices);
        Self {
            list,
            vertices: fill("vertices", BufferUsages::VERTEX, vertices),
            indices: fill("indices", BufferUsages::INDEX, indices),
        }
    }

    /// Binds the buffers.
    pub(super) fn bind(&self, pass: &mut RenderPass<'_>) {
        pass.set_vertex_buffer(0, self.vertices.slice(..));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
    }
}
