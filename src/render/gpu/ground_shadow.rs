//! The shadows of bodies on the ground.
//!
//! In: strips of vertices and shadow masks. Out: a texture with the light that the shadows leave.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, BufferUsages, Device, LoadOp};
use wgpu::{BlendFactor, ShaderStages, TextureFormat, TextureUsages, TextureView};

use super::costs::{self, PassCost};
use super::device::Gpu;
use super::pass::begin;
use super::pass_timer::{Edge, PassGroup, PassTimer};
use super::pipeline::{Draws, LAYERS, PipelineDescription, SAMPLER, bind_group, blend, layout};
use super::samplers::Samplers;
use super::scene::SceneBuffer;
use super::textures::{GrowingBuffer, array, array_view, scaled, texture_2d, view, write};
use super::vertex_layouts;
use crate::geometry::SurfaceKind;
use crate::render::ground_shadow::GroundShadowVertex;
use crate::render::model::Model;
use crate::render::shadow_mask::{self, SPINE_STATIONS};

/// Format of the texture. It stores square roots of the light that is left.
const GROUND_SHADOW: TextureFormat = TextureFormat::R8Unorm;
/// Ratio of the side of the texture to the side of the picture, both in pixels. Shadows are soft.
const SCALE: f32 = 0.36;
/// Number of indices for the triangles of one strip.
const STRIP_INDICES: usize = (SPINE_STATIONS - 1) * 6;

/// The pipeline that draws the shadows.
#[derive(Clone)]
pub(super) struct GroundShadowPipeline {
    inputs: BindGroupLayout,
    shadows: wgpu::RenderPipeline,
}

impl GroundShadowPipeline {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout) -> Self {
        let types = [LAYERS, SAMPLER];
        let inputs = layout(device, "ground shadow", ShaderStages::FRAGMENT, &types);
        // Each shadow removes a share of the remaining light.
        let multiplied = blend(BlendFactor::Dst, BlendFactor::Zero);
        let shadows = PipelineDescription {
            shader: "ground_shadow",
            bind_groups: &[scene, &inputs],
            vertex: (
                "shadow_vertex",
                Some(vertex_layouts::GROUND_SHADOW.per_vertex()),
            ),
            fragment: ("shadow_light", GROUND_SHADOW, Some(multiplied)),
            draws: Draws::Triangles,
            constants: &[],
        };
        Self {
            shadows: shadows.compile(device),
            inputs,
        }
    }
}

/// The shadows of one scene.
pub(super) struct GroundShadows {
    /// Square root of the light that the shadows leave.
    pub(super) target: TextureView,
    size_px: [u32; 2],
    group: BindGroup,
    masks: TextureView,
    vertices: GrowingBuffer,
    indices: GrowingBuffer,
    /// Number of strips in the last picture.
    strips: usize,
    /// Number of strips whose indices are in the buffer.
    indexed: usize,
    /// Whether the surface shows the ground. A ceiling does not.
    has_ground: bool,
}

impl GroundShadows {
    /// Creates the texture and the masks of the models for a picture of `picture_px`.
    pub(super) fn new<'a>(
        gpu: &Gpu,
        pipeline: &GroundShadowPipeline,
        samplers: &Samplers,
        models: impl Iterator<Item = &'a Model>,
        (picture_px, kind): ([u32; 2], SurfaceKind),
    ) -> Self {
        let device = &gpu.device;
        let size_px = scaled(device, picture_px, SCALE);
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let target = texture_2d(device, "ground shadow", size_px, GROUND_SHADOW, usage, 1);
        let masks = masks(gpu, models);
        let inputs = [
            BindingResource::TextureView(&masks),
            BindingResource::Sampler(&samplers.flat),
        ];
        let grow = |label, usage| GrowingBuffer::new(device, label, usage, 65536);
        Self {
            target: view(&target),
            size_px,
            group: bind_group(device, &pipeline.inputs, &inputs),
            masks,
            vertices: grow("ground shadow vertices", BufferUsages::VERTEX),
            indices: grow("ground shadow indices", BufferUsages::INDEX),
            strips: 0,
            indexed: 0,
            has_ground: kind != SurfaceKind::Ceiling,
        }
    }

    /// Uploads the shadows of a picture: those of static bodies and those of moving ones.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        fixed: &[GroundShadowVertex],
        moving: &[GroundShadowVertex],
    ) {
        self.vertices.write(gpu, [fixed, moving]);
        self.strips = (fixed.len() + moving.len()) / (2 * SPINE_STATIONS);
        let bytes_per_strip = STRIP_INDICES * size_of::<u32>();
        let bytes = (self.strips * bytes_per_strip) as u64;
        // The indices of a strip never change, so they are written only when the buffer is new.
        if self.indices.fit(&gpu.device, bytes) || self.indexed == 0 {
            self.indexed = self.indices.buffer.size() as usize / bytes_per_strip;
            self.indices.write(gpu, [&strip_indices(self.indexed), &[]]);
        }
    }

    /// Encodes the pass. `scale` is the part of the texture that is drawn, as a share of its sides.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &GroundShadowPipeline,
        scene: &SceneBuffer,
        (scale, timer): (f32, &PassTimer),
    ) {
        let clear = LoadOp::Clear(wgpu::Color::WHITE);
        let stamps = timer.around(PassGroup::Shadows, Edge::Only);
        let mut pass = begin(encoder, ("ground shadows", &self.target, stamps), clear);
        if !self.has_ground {
            return;
        }
        pass.set_pipeline(&pipeline.shadows);
        pass.set_bind_group(0, &scene.group, &[]);
        pass.set_bind_group(1, &self.group, &[]);
        let [width, height] = self.size_px.map(|side| side as f32 * scale);
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
        pass.set_vertex_buffer(0, self.vertices.buffer.slice(..));
        pass.set_index_buffer(self.indices.buffer.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..(self.strips * STRIP_INDICES) as u32, 0, 0..1);
    }

    /// Returns the work of the pass in the last picture.
    pub(super) fn cost(&self) -> PassCost {
        let strips = if self.has_ground { self.strips } else { 0 };
        PassCost {
            name: "shadows on the ground",
            pixels: costs::pixels(&self.target),
            triangles: (strips * STRIP_INDICES / 3) as u64,
            read_bytes: costs::bytes(&self.masks),
            written_bytes: costs::bytes(&self.target),
        }
    }
}

/// Returns the indices of the triangles of `strips` strips. The vertices of a strip are pairs, one pair per station of the
/// spine.
fn strip_indices(strips: usize) -> Vec<u32> {
    let mut indices = Vec::with_capacity(strips * STRIP_INDICES);
    for strip in 0..strips as u32 {
        for pair in 0..SPINE_STATIONS as u32 - 1 {
            let first = (strip * SPINE_STATIONS as u32 + pair) * 2;
            indices.extend([0, 1, 2, 2, 1, 3].map(|i| first + i));
        }
    }
    indices
}

/// Creates the texture array of the masks: first the disc, then the models, with [`shadow_mask::STEPS`] layers each.
fn masks<'a>(gpu: &Gpu, models: impl Iterator<Item = &'a Model>) -> TextureView {
    let layers: Vec<_> = std::iter::once(shadow_mask::disc())
        .chain(models.map(shadow_mask::of))
        .flatten()
        .collect();
    let size = [shadow_mask::WIDTH as u32, shadow_mask::HEIGHT as u32];
    let (count, levels) = (layers.len() as u32, shadow_mask::LEVELS as u32);
    let format = TextureFormat::R8Unorm;
    let texture = array(&gpu.device, "shadow masks", size, (count, levels), format);
    for (layer, levels) in layers.iter().enumerate() {
        for (level, cells) in levels.iter().enumerate() {
            let at = (level as u32, layer as u32);
            write(&gpu.queue, &texture, at, size.map(|s| s >> level), cells);
        }
    }
    array_view(&texture)
}
