//! The overlay on the finished picture of an output: drawings, texts, masks and the veil that darkens the picture.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, BlendState, BufferUsages, Device};
use wgpu::{RenderPass, RenderPipeline, ShaderStages, TextureFormat};

use super::device::Gpu;
use super::finished::FINISHED;
use super::pipeline::{Draws, FLAT, PipelineDescription, SAMPLER, bind_group, layout};
use super::samplers::Samplers;
use super::textures::{GrowingBuffer, levels_2d, view, write};
use super::vertex_layouts;
use crate::geometry::polygon_triangles;
use crate::render::lettering::{ATLAS_PX, LEVELS};
use crate::render::output_params::Mask;
use crate::render::overlay::{Overlay, OverlayVertex, PLAIN};
use crate::render::view::View;

/// The pipeline of the overlay, and the glyphs of its texts.
#[derive(Clone)]
pub(super) struct OverlayPipeline {
    pipeline: RenderPipeline,
    glyphs: BindGroup,
    atlas: wgpu::Texture,
}

impl OverlayPipeline {
    pub(super) fn new(gpu: &Gpu, scene: &BindGroupLayout, samplers: &Samplers) -> Self {
        let device = &gpu.device;
        let inputs = layout(device, "overlay", ShaderStages::FRAGMENT, &[FLAT, SAMPLER]);
        let pipeline = PipelineDescription {
            shader: "overlay",
            bind_groups: &[scene, &inputs],
            vertex: ("overlay_vertex", Some(vertex_layouts::OVERLAY.per_vertex())),
            fragment: ("overlay_color", FINISHED, Some(BlendState::ALPHA_BLENDING)),
            draws: Draws::Triangles,
            constants: &[],
        };
        let size = [ATLAS_PX; 2];
        let atlas = levels_2d(device, "glyphs", size, LEVELS, TextureFormat::R8Unorm);
        let resources = [
            BindingResource::TextureView(&view(&atlas)),
            BindingResource::Sampler(&samplers.smooth),
        ];
        Self {
            pipeline: pipeline.compile(device),
            glyphs: bind_group(device, &inputs, &resources),
            atlas,
        }
    }

    /// Uploads the glyphs if there are new ones.
    pub(super) fn upload(&self, gpu: &Gpu, overlay: &mut Overlay) {
        for (level, bytes) in (0..).zip(overlay.lettering.take_levels().iter().flatten()) {
            let size = [ATLAS_PX >> level; 2];
            write(&gpu.queue, &self.atlas, (level, 0), size, bytes);
        }
    }
}

/// The overlay of one output.
pub(super) struct OutputOverlay {
    buffer: GrowingBuffer,
    /// Overlay and masks of this picture, in clip space.
    vertices: Vec<OverlayVertex>,
}

impl OutputOverlay {
    pub(super) fn new(device: &Device) -> Self {
        Self {
            buffer: GrowingBuffer::new(device, "overlay", BufferUsages::VERTEX, 4096),
            vertices: Vec::new(),
        }
    }

    /// Uploads the overlay and the masks of this picture in clip space. The overlay is drawn at full light, also if `level` makes
    /// the picture darker.
    pub(super) fn upload(
        &mut self,
        gpu: &Gpu,
        view: &View,
        overlay: &Overlay,
        masks: &[OverlayVertex],
        level: f32,
    ) {
        overlay.clip_vertices(view, &mut self.vertices);
        if level < 1.0 {
            self.vertices.splice(0..0, veil(1.0 - level));
        }
        self.vertices.extend_from_slice(masks);
        self.buffer.write(gpu, [&self.vertices, &[]]);
    }

    /// Draws the overlay over the picture.
    pub(super) fn draw(&self, pass: &mut RenderPass<'_>, pipeline: &OverlayPipeline) {
        if !self.vertices.is_empty() {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(1, &pipeline.glyphs, &[]);
            pass.set_vertex_buffer(0, self.buffer.buffer.slice(..));
            pass.draw(0..self.vertices.len() as u32, 0..1);
        }
    }

    /// Number of triangles in the last picture.
    pub(super) fn triangles(&self) -> u64 {
        self.vertices.len() as u64 / 3
    }
}

/// Returns two black triangles that cover the picture with this opacity, in clip space.
fn veil(opacity: f32) -> [OverlayVertex; 6] {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    [0, 1, 2, 2, 1, 3].map(|corner: usize| OverlayVertex {
        position: corners[corner],
        glyph_uv: PLAIN,
        color: [0.0, 0.0, 0.0, opacity],
    })
}

/// Returns the triangles of a mask, in clip space.
pub(super) fn mask_vertices(mask: &Mask) -> Vec<OverlayVertex> {
    let corners: Vec<_> = mask
        .corners
        .iter()
        .map(|c| c.position().as_vec2())
        .collect();
    polygon_triangles(&corners)
        .into_iter()
        .flatten()
        .map(|corner| OverlayVertex {
            position: [2.0 * corner.x - 1.0, 1.0 - 2.0 * corner.y],
            glyph_uv: PLAIN,
            color: [0.0, 0.0, 0.0, 1.0],
        })
        .collect()
}
