//! One projector's end of a frame: the last pass through its warp, the marks over it, and the finished picture.

use wgpu::{BufferUsages, LoadOp};

use super::device::{self, Gpu};
use super::groups::{Groups, group};
use super::passes::begin;
use super::pipelines::{self, Layouts, Pipelines};
use super::targets::{self, Finished, Growing, buffer};
use super::watch::Watcher;
use crate::geometry::{Surface, polygon};
use crate::render::error::RenderError;
use crate::render::flash::{self, CELLS, Seen};
use crate::render::frame::OutputFrame;
use crate::render::overlay::{MarkCorner, Overlay};
use crate::render::projector::{Mask, OutputParams};
use crate::render::view::View;
use crate::render::warp::WarpCorner;

/// One projector.
pub(super) struct Head {
    pub(super) view: View,
    pub(super) finished: Finished,
    readback: wgpu::Buffer,
    pipeline: wgpu::RenderPipeline,
    /// The same, where only a part of the picture may be replaced.
    slow_pipeline: wgpu::RenderPipeline,
    watcher: Watcher,
    share: f64,
    numbers: wgpu::BindGroup,
    triangles: wgpu::Buffer,
    triangle_corners: u32,
    marks: Growing,
    carried: Vec<MarkCorner>,
    masks: Vec<MarkCorner>,
}

impl Head {
    pub(super) fn new(
        gpu: &Gpu,
        layouts: &Layouts,
        sampler: &wgpu::Sampler,
        surface: &Surface,
        output: &OutputParams,
        softens: bool,
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
        let corners: Vec<WarpCorner> = view.warp.triangles();
        let frame = OutputFrame::new(output);
        let numbers = filled("output", BufferUsages::UNIFORM, bytemuck::bytes_of(&frame));
        let numbers = [numbers.as_entire_binding()];
        let finished = Finished::new(device, size);
        Ok(Self {
            watcher: Watcher::new(gpu, layouts, sampler, &finished.view),
            share: 1.0,
            finished,
            readback: buffer(
                device,
                "readback",
                BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                u64::from(device::padded_row(size[0])) * u64::from(size[1]),
            ),
            pipeline: pipelines::show(device, layouts, surface.kind, output, [false, softens]),
            slow_pipeline: pipelines::show(device, layouts, surface.kind, output, [true, softens]),
            numbers: group(device, &layouts.output, &numbers),
            triangles: filled("warp", BufferUsages::VERTEX, bytemuck::cast_slice(&corners)),
            triangle_corners: corners.len() as u32,
            marks: Growing::new(device, "marks", BufferUsages::VERTEX, 4096),
            carried: Vec::new(),
            masks: output.masks.iter().flat_map(dark).collect(),
            view,
        })
    }

    /// Carries this frame's marks through the warp and hands them to the GPU.
    pub(super) fn upload(&mut self, gpu: &Gpu, overlay: &Overlay) {
        overlay.carried(&self.view, &mut self.carried);
        self.carried.extend_from_slice(&self.masks);
        let bytes = bytemuck::cast_slice(&self.carried);
        self.marks
            .fit(&gpu.device, std::mem::size_of_val(bytes) as u64);
        gpu.queue.write_buffer(&self.marks.buffer, 0, bytes);
    }

    pub(super) fn show(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &Pipelines,
        groups: &Groups,
    ) {
        let is_slow = self.share < 1.0;
        let load = if is_slow {
            LoadOp::Load
        } else {
            LoadOp::Clear(wgpu::Color::BLACK)
        };
        let mut pass = begin(encoder, "show", &self.finished.view, load);
        pass.set_bind_group(0, &groups.frame, &[]);
        pass.set_bind_group(1, &groups.show, &[]);
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
        self.watcher.copy(encoder, &pipelines.watch, &groups.frame);
    }

    /// Looks at the picture before and says how much of the next one, at this time, may replace it.
    pub(super) fn limit(&mut self, gpu: &Gpu, time_secs: f64) -> Result<(), RenderError> {
        self.watcher.look(gpu)?;
        self.share = self.watcher.seen.limiter.share(time_secs);
        Ok(())
    }

    /// After the picture of this time was submitted.
    pub(super) fn submitted(&mut self, time_secs: f64) {
        self.watcher.ask(time_secs);
    }

    /// How often the flash limiter slowed the picture down.
    pub(super) fn dimmed(&self) -> u64 {
        self.watcher.seen.limiter.dimmed()
    }

    /// What its flash limiter knows.
    pub(super) fn seen(&self) -> &Seen {
        &self.watcher.seen
    }

    /// Takes over what another head's limiter knew, and its last picture as coarsely as that knew it: the next one comes
    /// out of it, quickly or slowly.
    pub(super) fn resume(&mut self, gpu: &Gpu, seen: &Seen) {
        if seen.colors.len() != (CELLS[0] * CELLS[1]) as usize {
            return;
        }
        self.watcher.seen.clone_from(seen);
        let size = self.view.size_px;
        let picture = flash::spread(&seen.colors, size);
        targets::write(&gpu.queue, &self.finished.texture, (0, 0), size, &picture);
    }

    pub(super) fn read(&self, gpu: &Gpu, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let texture = &self.finished.texture;
        gpu.read(texture, &self.readback, self.view.size_px, rgba)
    }
}

/// A mask's triangles in clip space.
fn dark(mask: &Mask) -> Vec<MarkCorner> {
    let corners: Vec<_> = mask.corners.iter().map(|c| c.place().as_vec2()).collect();
    polygon::triangles(&corners)
        .into_iter()
        .flatten()
        .map(|corner| MarkCorner {
            place: [2.0 * corner.x - 1.0, 1.0 - 2.0 * corner.y],
            letter: [-1.0, -1.0],
            color: [0.0, 0.0, 0.0, 1.0],
        })
        .collect()
}
