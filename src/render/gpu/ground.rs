//! The painted ground: a texture that is drawn once per scene. Without a graphics card this takes seconds, so a live picture begins
//! with a coarse ground, and every picture paints a part of the fine one.

use bytemuck::Pod;
use wgpu::{BindGroup, BindGroupLayout, BufferUsages, Color, CommandEncoder, Device, LoadOp};
use wgpu::{ShaderStages, TextureFormat, TextureUsages, TextureView};

use super::device::Gpu;
use super::pass;
use super::pipeline::{Draws, LIST, PipelineDescription, bind_group, layout};
use super::scene::SceneBuffer;
use super::textures::{buffer, scaled, texture_2d, view};
use crate::render::ground_contact::{self, GroundContact};
use crate::render::scenery::Scenery;
use crate::world::LightShares;

/// Format of the texture. It stores square roots of colors, so that 8 bits are enough in dark areas.
const GROUND: TextureFormat = TextureFormat::Rgba8Unorm;
/// Ratio of the side of the texture to the side of the picture, both in pixels. The texture covers a larger area than the picture,
/// so this ratio gives about one texel per pixel. A larger texture is slower to read without a graphics card, and shows no more
/// detail through the moving water.
const SCALE: f32 = 1.06;
/// Ratio of the sides of the finished ground and of the coarse one.
const COARSE: f32 = 4.0;
/// Number of pictures over which the finished ground is painted. Each takes half as long again as usual.
const PARTS: u32 = 64;

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

    /// Paints rows of a ground. The first part clears it.
    fn paint(
        &self,
        encoder: &mut CommandEncoder,
        [scene, inputs]: [&BindGroup; 2],
        (ground, first_row, rows): (&TextureView, u32, u32),
    ) {
        let load = match first_row {
            0 => LoadOp::Clear(Color::BLACK),
            _ => LoadOp::Load,
        };
        let mut pass = pass::begin(encoder, ("paint ground", ground, None), load);
        pass.set_scissor_rect(0, first_row, ground.texture().width(), rows);
        pass.set_pipeline(&self.paint);
        pass.set_bind_group(0, scene, &[]);
        pass.set_bind_group(1, inputs, &[]);
        pass.draw(0..3, 0..1);
    }
}

/// The ground of a scene.
pub(super) struct Ground {
    /// What is shown: the finished ground, or a coarse one.
    pub(super) view: TextureView,
    /// The finished ground and its painted rows, if a coarse one is shown.
    finer: Option<(TextureView, u32)>,
    inputs: BindGroup,
}

impl Ground {
    /// Paints the ground of a scene, for a picture of `picture_px`; with `in_parts` only a coarse one.
    pub(super) fn new(
        gpu: &Gpu,
        pipeline: &GroundPipeline,
        (scene, scenery, contacts): (&SceneBuffer, &Scenery, &[GroundContact]),
        picture_px: [u32; 2],
        in_parts: bool,
    ) -> Self {
        let device = &gpu.device;
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let made = |scale| {
            let size = scaled(device, picture_px, scale);
            view(&texture_2d(device, "ground", size, GROUND, usage, 1))
        };
        let (terraces, corners) = ground_contact::terrace_grounds(scenery);
        let inputs = [
            list(gpu, "ground contacts", contacts),
            list(gpu, "terraces", &terraces),
            list(gpu, "terrace corners", &corners),
        ];
        let inputs = inputs.each_ref().map(wgpu::Buffer::as_entire_binding);
        let inputs = bind_group(device, &pipeline.inputs, &inputs);
        let rust_share = scene.uniforms.rust_share;
        scene.upload(&gpu.queue, LightShares::default(), rust_share);
        let ground = Self {
            view: made(if in_parts { SCALE / COARSE } else { SCALE }),
            finer: in_parts.then(|| (made(SCALE), 0)),
            inputs,
        };
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let groups = [&scene.group, &ground.inputs];
        let rows = ground.view.texture().height();
        pipeline.paint(&mut encoder, groups, (&ground.view, 0, rows));
        gpu.queue.submit([encoder.finish()]);
        ground
    }

    /// Paints the next part of the finer ground, if there is one. Returns `true` once, when it is finished and is the one to show.
    pub(super) fn refine(
        &mut self,
        encoder: &mut CommandEncoder,
        pipeline: &GroundPipeline,
        scene: &SceneBuffer,
    ) -> bool {
        let Some((finer, painted)) = &mut self.finer else {
            return false;
        };
        let height = finer.texture().height();
        let rows = height.div_ceil(PARTS).min(height - *painted);
        let groups = [&scene.group, &self.inputs];
        pipeline.paint(encoder, groups, (finer, *painted, rows));
        *painted += rows;
        let is_finished = *painted == height;
        if let Some((finer, _)) = self.finer.take_if(|_| is_finished) {
            self.view = finer;
        }
        is_finished
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
