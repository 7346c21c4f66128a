//! The painted ground: a texture that is drawn once per scene.

use bytemuck::Pod;
use wgpu::{BindGroupLayout, BufferUsages, Device, ShaderStages, TextureFormat};
use wgpu::{TextureUsages, TextureView};

use super::device::Gpu;
use super::pass::fill;
use super::pipeline::{Draws, LIST, PipelineDescription, bind_group, layout};
use super::scene::SceneBuffer;
use super::textures::{buffer, scaled, texture_2d, view};
use crate::render::ground_contact::{self, GroundContact};
use crate::render::scenery::Scenery;

/// Format of the texture. It stores square roots of colors, so that 8 bits are enough in dark areas.
const GROUND: TextureFormat = TextureFormat::Rgba8Unorm;
/// Ratio of the side of the texture to the side of the picture, both in pixels. The texture covers a larger area than the picture,
/// so this ratio gives about one texel per pixel. A larger texture is slower to read without a graphics card, and shows no more
/// detail through the moving water.
const SCALE: f32 = 1.06;

/// The pipeline that paints the ground.
#[derive(Clone)]
pub(super) struct GroundPipeline {
    inputs: BindGroupLayout,
    paint: wgpu::RenderPipeline,
}

impl GroundPipeline {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout) -> Self {
        let inputs = layout(device, "ground", ShaderStages::FRAGMENT, &[LIST; 3]);
        let paint = PipelineDescription {
            shader: "ground",
            bind_groups: &[scene, &inputs],
            vertex: ("full_target", None),
            fragment: ("ground_color", GROUND, None),
            draws: Draws::Triangles,
            constants: &[],
        };
        Self {
            paint: paint.compile(device),
            inputs,
        }
    }

    /// Paints the ground of a scene, for a picture of `picture_px`.
    pub(super) fn painted(
        &self,
        gpu: &Gpu,
        scene: &SceneBuffer,
        scenery: &Scenery,
        contacts: &[GroundContact],
        picture_px: [u32; 2],
    ) -> TextureView {
        let device = &gpu.device;
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let size = scaled(device, picture_px, SCALE);
        let ground = view(&texture_2d(device, "ground", size, GROUND, usage, 1));
        let (terraces, corners) = ground_contact::terrace_grounds(scenery);
        let inputs = [
            list(gpu, "ground contacts", contacts),
            list(gpu, "terraces", &terraces),
            list(gpu, "terrace corners", &corners),
        ];
        let inputs = inputs.each_ref().map(wgpu::Buffer::as_entire_binding);
        let inputs = bind_group(device, &self.inputs, &inputs);
        scene.upload(&gpu.queue);
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let target = ("paint ground", &ground, None);
        fill(&mut encoder, target, &self.paint, [&scene.group, &inputs]);
        gpu.queue.submit([encoder.finish()]);
        ground
    }
}

/// Creates a buffer with the items of a list. A buffer that is bound must not be empty, so an empty list gets a zeroed item, which
/// the shader ignores.
fn list<T: Pod>(gpu: &Gpu, label: &str, items: &[T]) -> wgpu::Buffer {
    let none = [T::zeroed()];
    let bytes = bytemuck::cast_slice(if items.is_empty() { &none[..] } else { items });
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let made = buffer(&gpu.device, label, usage, bytes.len() as u64);
    gpu.queue.write_buffer(&made, 0, bytes);
    made
}
