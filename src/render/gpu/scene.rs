//! The values that the shaders of a scene share, on the GPU.

use wgpu::{BindGroup, BindGroupLayout, BufferUsages, Device, Queue};

use super::pipeline::bind_group;
use super::textures::buffer;
use crate::render::uniforms::SceneUniforms;

/// The uniform buffer of a scene. Its bind group has the number 0 in all passes but those of the water.
pub(super) struct SceneBuffer {
    pub(super) uniforms: SceneUniforms,
    pub(super) group: BindGroup,
    buffer: wgpu::Buffer,
}

impl SceneBuffer {
    pub(super) fn new(device: &Device, layout: &BindGroupLayout, uniforms: SceneUniforms) -> Self {
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let bytes = size_of::<SceneUniforms>() as u64;
        let buffer = buffer(device, "scene uniforms", usage, bytes);
        Self {
            group: bind_group(device, layout, &[buffer.as_entire_binding()]),
            uniforms,
            buffer,
        }
    }

    /// Uploads the values of a picture.
    pub(super) fn upload(&self, queue: &Queue) {
        queue.write_buffer(&self.buffer, 0, bytemuck::bytes_of(&self.uniforms));
    }
}
