//! The values that the shaders of a scene share, on the GPU.

use wgpu::{BindGroup, BindGroupLayout, BufferUsages, Device, Queue};

use super::pipeline::bind_group;
use super::textures::buffer;
use crate::render::uniforms::SceneUniforms;
use crate::world::{Light, LightShares};

/// The uniform buffer of a scene. Its bind group has the number 0 in all passes but those of the water.
pub(super) struct SceneBuffer {
    pub(super) uniforms: SceneUniforms,
    /// The values in the light of each time of day.
    lights: [SceneUniforms; Light::ALL.len()],
    pub(super) group: BindGroup,
    buffer: wgpu::Buffer,
}

impl SceneBuffer {
    /// Creates the buffer with its values, and the same values in the light of each time of day.
    pub(super) fn new(
        device: &Device,
        layout: &BindGroupLayout,
        (uniforms, lights): (SceneUniforms, [SceneUniforms; Light::ALL.len()]),
    ) -> Self {
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let bytes = size_of::<SceneUniforms>() as u64;
        let buffer = buffer(device, "scene uniforms", usage, bytes);
        Self {
            group: bind_group(device, layout, &[buffer.as_entire_binding()]),
            uniforms,
            lights,
            buffer,
        }
    }

    /// Uploads the values of a picture with shares of the light of other times of day, and this share of rust-colored plants.
    pub(super) fn upload(&self, queue: &Queue, shares: LightShares, rust_share: f32) {
        let lit = SceneUniforms {
            rust_share,
            ..self.uniforms.lit(&self.lights, shares)
        };
        queue.write_buffer(&self.buffer, 0, bytemuck::bytes_of(&lit));
    }
}
