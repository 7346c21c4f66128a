//! One projector's end of a frame: the last pass through its warp, the marks over it, and the finished picture.

use wgpu::{BufferUsages, LoadOp};

use super::bind_groups::{BindGroups, bind_group};
use super::device::{self, Gpu};
use super::flash_readback::FlashReadback;
use super::passes::begin;
use super::pipelines::{self, BindGroupLayouts, Pipelines};
use super::targets::{self, FinishedTexture, GrowingBuffer, buffer};
use crate::geometry::{Surface, polygon_triangles};
use crate::render::error::RenderError;
use crate::render::flash::{self, CELLS, FlashState};
use crate::render::output_params::{Mask, OutputParams};
use crate::render::overlay::{Overlay, OverlayVertex, PLAIN};
use crate::render::uniforms::OutputUniforms;
use crate::render::view::View;
use crate::render::warp::WarpVertex;

/// One projector.
pub(super) struct OutputPass {
    pub(super) view: View,
    pub(super) finished: FinishedTexture,
    readback: wgpu::Buffer,
    pipeline: wgpu::RenderPipeline,
    /// The same, where only a part of the picture may be replaced.
    slow_pipeline: wgpu::RenderPipeline,
    flash_readback: FlashReadback,
    share: f64,
    numbers: wgpu::BindGroup,
    triangles: wgpu::Buffer,
    triangle_corners: u32,
    marks: GrowingBuffer,
    carried: Vec<OverlayVertex>,
    masks: Vec<OverlayVertex>,
}

impl OutputPass {
    pub(super) fn new(
        gpu: &Gpu,
        layouts: &BindGroupLayouts,
        sampler: &wgpu::Sampler,
        surface: &Surface,
        output: &OutputParams,
        filters_edges: bool,
    ) -> Result<Self, RenderError> {
        let view = View::new(surface, output)?;
        let size = view.size_px;
        gpu.check_size(size)?;
        let device = &gpu.device;
        let filled = |label, usage, bytes: &[u8]| {
            let made = buffer(
                device,
                label,
                usage | BufferUsages::COPY_DST,
                bytes.len() as u64,
            );
            gpu.queue.write_buffer(&made, 0, bytes);
            made
        };
        let corners: Vec<WarpVertex> = view.warp.triangles();
        let frame = OutputUniforms::new(output);
        let numbers = filled("output", BufferUsages::UNIFORM, bytemuck::bytes_of(&frame));
        let numbers = [numbers.as_entire_binding()];
        let finished = FinishedTexture::new(device, size);
        Ok(Self {
            flash_readback: FlashReadback::new(gpu, layouts, sampler, &finished.view),
            share: 1.0,
            finished,
            readback: buffer(
                device,
                "readback",
                BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                u64::from(device::padded_row(size[0])) * u64::from(size[1]),
            ),
            pipeline: pipelines::output(
                device,
                layouts,
                surface.kind,
                output,
                [false, filters_edges],
            ),
            slow_pipeline: pipelines::output(
                device,
                layouts,
                surface.kind,
                output,
                [true, filters_edges],
            ),
            numbers: bind_group(device, &layouts.output_uniforms, &numbers),
            triangles: filled("warp", BufferUsages::VERTEX, bytemuck::cast_slice(&corners)),
            triangle_corners: corners.len() as u32,
            marks: GrowingBuffer::new(device, "marks", BufferUsages::VERTEX, 4096),
            carried: Vec::new(),
            masks: output.masks.iter().flat_map(dark).collect(),
            view,
        })
    }

    /// Carries this frame's marks through the warp and hands them to the GPU.
    pub(super) fn upload(&mut self, gpu: &Gpu, overlay: &Overlay) {
        overlay.clip_vertices(&self.view, &mut self.carried);
        self.carried.extend_from_slice(&self.masks);
        let bytes = bytemuck::cast_slice(&self.carried);
        self.marks
            .fit(&gpu.device, std::mem::size_of_val(bytes) as u64);
        gpu.queue.write_buffer(&self.marks.buffer, 0, bytes);
    }

    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &Pipelines,
        groups: &BindGroups,
    ) {
        let is_slow = self.share < 1.0;
        let load = if is_slow {
            LoadOp::Load
        } else {
            LoadOp::Clear(wgpu::Color::BLACK)
        };
        let mut pass = begin(encoder, "show", &self.finished.view, load);
        pass.set_bind_group(0, &groups.scene, &[]);
        pass.set_bind_group(1, &groups.output, &[]);
        pass.set_bind_group(2, &self.numbers, &[]);
        if is_slow {
            pass.set_pipeline(&self.slow_pipeline);
            pass.set_blend_constant(wgpu::Color {
                r: self.share,
                g: self.share,
                b: self.share,
                a: self.share,
            });
        } else {
            pass.set_pipeline(&self.pipeline);
        }
        pass.set_vertex_buffer(0, self.triangles.slice(..));
        pass.draw(0..self.triangle_corners, 0..1);
        if !self.carried.is_empty() {
            pass.set_pipeline(&pipelines.overlay);
            pass.set_bind_group(1, &groups.overlay, &[]);
            pass.set_vertex_buffer(0, self.marks.buffer.slice(..));
            pass.draw(0..self.carried.len() as u32, 0..1);
        }
        drop(pass);
        self.flash_readback
            .copy(encoder, &pipelines.cell_means, &groups.scene);
    }

    /// Looks at the picture before and says how much of the next one, at this time, may replace it.
    pub(super) fn limit_flash(&mut self, gpu: &Gpu, time_secs: f64) -> Result<(), RenderError> {
        self.flash_readback.look(gpu)?;
        self.share = self.flash_readback.state.limiter.replaced_share(time_secs);
        Ok(())
    }

    /// After the picture of this time was submitted.
    pub(super) fn request_readback(&mut self, time_secs: f64) {
        self.flash_readback.ask(time_secs);
    }

    /// How often the flash limiter slowed the picture down.
    pub(super) fn flash_limit_count(&self) -> u64 {
        self.flash_readback.state.limiter.limit_count()
    }

    /// What its flash limiter knows.
    pub(super) fn flash_state(&self) -> &FlashState {
        &self.flash_readback.state
    }

    /// Takes over what another head's limiter knew, and its last picture as coarsely as that knew it: the next one comes
    /// out of it, quickly or slowly.
    pub(super) fn resume_flash_state(&mut self, gpu: &Gpu, seen: &FlashState) {
        if seen.colors.len() != (CELLS[0] * CELLS[1]) as usize {
            return;
        }
        self.flash_readback.state.clone_from(seen);
        let size = self.view.size_px;
        let picture = flash::picture_from_cells(&seen.colors, size);
        targets::write(&gpu.queue, &self.finished.texture, (0, 0), size, &picture);
    }

    pub(super) fn read(&self, gpu: &Gpu, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let texture = &self.finished.texture;
        gpu.read(texture, &self.readback, self.view.size_px, rgba)
    }
}

/// A mask's triangles in clip space.
fn dark(mask: &Mask) -> Vec<OverlayVertex> {
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
