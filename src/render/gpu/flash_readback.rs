//! The input of the flash limiter. A picture is divided into cells. After every picture, the GPU computes the mean color of
//! each cell. The colors are read back before the next picture is drawn.

use wgpu::TextureUsages;

use super::device::Gpu;
use super::finished::FINISHED;
use super::pass::fill;
use super::pipeline::{Draws, FLAT, PipelineDescription, SAMPLER, bind_group, layout};
use super::readback::Readback;
use super::samplers::Samplers;
use super::textures::{texture_2d, view};
use crate::render::color::linear_from_srgb;
use crate::render::error::RenderError;
use crate::render::flash::{CELLS, FlashState};

/// The pipeline that computes the mean color of each cell.
#[derive(Clone)]
pub(super) struct CellMeansPipeline {
    inputs: wgpu::BindGroupLayout,
    means: wgpu::RenderPipeline,
}

impl CellMeansPipeline {
    pub(super) fn new(device: &wgpu::Device, scene: &wgpu::BindGroupLayout) -> Self {
        let stages = wgpu::ShaderStages::FRAGMENT;
        let inputs = layout(device, "cell means", stages, &[FLAT, SAMPLER]);
        let means = PipelineDescription {
            shader: "cell_means",
            bind_groups: &[scene, &inputs],
            vertex: ("full_target", None),
            fragment: ("cell_mean", FINISHED, None),
            draws: Draws::Triangles,
            constants: &[],
        };
        Self {
            means: means.compile(device),
            inputs,
        }
    }
}

/// Reads back the cell colors of one output, and owns the flash limiter of this output.
pub(super) struct FlashReadback {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    group: wgpu::BindGroup,
    readback: Readback,
    /// Time of the picture whose cell colors are being read back.
    requested_secs: f64,
    pub(super) state: FlashState,
}

impl FlashReadback {
    pub(super) fn new(
        gpu: &Gpu,
        pipeline: &CellMeansPipeline,
        samplers: &Samplers,
        finished: &wgpu::TextureView,
    ) -> Self {
        let device = &gpu.device;
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let texture = texture_2d(device, "cell means", CELLS, FINISHED, usage, 1);
        let inputs = [
            wgpu::BindingResource::TextureView(finished),
            wgpu::BindingResource::Sampler(&samplers.flat),
        ];
        Self {
            view: view(&texture),
            texture,
            group: bind_group(device, &pipeline.inputs, &inputs),
            readback: Readback::new(device, CELLS),
            requested_secs: 0.0,
            state: FlashState::default(),
        }
    }

    /// Encodes the computation of the cell colors and their copy to the buffer.
    pub(super) fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &CellMeansPipeline,
        scene: &wgpu::BindGroup,
        stamps: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) {
        let target = ("cell means", &self.view, stamps);
        fill(encoder, target, &pipeline.means, [scene, &self.group]);
        self.readback.copy(encoder, &self.texture);
    }

    /// Starts to read the cell colors of the picture at a time. Must be called after the copy was submitted.
    pub(super) fn request(&mut self, time_secs: f64) {
        self.requested_secs = time_secs;
        self.readback.request();
    }

    /// Waits for the cell colors of the last picture and passes them to the limiter. Does nothing if none were requested.
    pub(super) fn collect(&mut self, gpu: &Gpu) -> Result<(), RenderError> {
        if !self.readback.is_requested() {
            return Ok(());
        }
        if !self.readback.has_arrived() {
            gpu.wait()?;
        }
        let FlashState { limiter, colors } = &mut self.state;
        let is_read = self.readback.take(|bytes, row_bytes| {
            colors.clear();
            for row in bytes.chunks_exact(row_bytes) {
                let cells = row.chunks_exact(4).take(CELLS[0] as usize);
                colors.extend(cells.map(|c| [c[0], c[1], c[2]].map(linear_from_srgb)));
            }
        })?;
        if !is_read {
            return gpu.check();
        }
        limiter.observe(self.requested_secs, colors);
        Ok(())
    }
}
