//! The input of the flash limiter. A picture is divided into cells. After every picture, the GPU computes the mean color of
//! each cell. The colors are read back before the next picture is drawn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wgpu::{BufferUsages, LoadOp, TextureUsages};

use super::device::Gpu;
use super::finished::FINISHED;
use super::pass::begin;
use super::pipeline::{FLAT, PipelineDescription, SAMPLER, bind_group, layout};
use super::samplers::Samplers;
use super::textures::{buffer, texture_2d};
use crate::render::color::linear_from_srgb;
use crate::render::error::RenderError;
use crate::render::flash::{CELLS, FlashState};

/// Bytes per row of the buffer to which the cells are copied.
const ROW: u32 = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT;

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
            body_samples: None,
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
    buffer: wgpu::Buffer,
    /// Time of the picture whose cell colors are being read back; `None` if there is no such picture.
    requested_secs: Option<f64>,
    arrived: Arc<AtomicBool>,
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
            view: texture.create_view(&wgpu::TextureViewDescriptor::default()),
            texture,
            group: bind_group(device, &pipeline.inputs, &inputs),
            buffer: buffer(
                device,
                "cell means readback",
                BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                u64::from(ROW * CELLS[1]),
            ),
            requested_secs: None,
            arrived: Arc::default(),
            state: FlashState::default(),
        }
    }

    /// Encodes the computation of the cell colors and their copy to the buffer.
    pub(super) fn copy(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipeline: &CellMeansPipeline,
        scene: &wgpu::BindGroup,
    ) {
        {
            let clear = LoadOp::Clear(wgpu::Color::BLACK);
            let mut pass = begin(encoder, "cell means", &self.view, clear);
            pass.set_pipeline(&pipeline.means);
            pass.set_bind_group(0, scene, &[]);
            pass.set_bind_group(1, &self.group, &[]);
            pass.draw(0..3, 0..1);
        }
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(ROW),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d {
                width: CELLS[0],
                height: CELLS[1],
                depth_or_array_layers: 1,
            },
        );
    }

    /// Starts to read the buffer. Must be called after the copy was submitted.
    pub(super) fn request(&mut self, time_secs: f64) {
        self.requested_secs = Some(time_secs);
        self.arrived.store(false, Ordering::Release);
        let arrived = Arc::clone(&self.arrived);
        self.buffer
            .slice(..)
            .map_async(wgpu::MapMode::Read, move |outcome| {
                arrived.store(outcome.is_ok(), Ordering::Release);
            });
    }

    /// Waits for the cell colors of the last picture and passes them to the limiter. Does nothing if none were requested.
    pub(super) fn collect(&mut self, gpu: &Gpu) -> Result<(), RenderError> {
        let Some(time_secs) = self.requested_secs.take() else {
            return Ok(());
        };
        if !self.arrived.load(Ordering::Acquire) {
            gpu.wait()?;
        }
        if !self.arrived.load(Ordering::Acquire) {
            return gpu.check();
        }
        let mapped = self
            .buffer
            .slice(..)
            .get_mapped_range()
            .map_err(|error| RenderError::Device(error.to_string()))?;
        self.state.colors.clear();
        for row in mapped.chunks_exact(ROW as usize) {
            let cells = row.chunks_exact(4).take(CELLS[0] as usize);
            self.state.colors.extend(cells.map(|c| {
                [
                    linear_from_srgb(c[0]),
                    linear_from_srgb(c[1]),
                    linear_from_srgb(c[2]),
                ]
            }));
        }
        drop(mapped);
        self.buffer.unmap();
        let FlashState { limiter, colors } = &mut self.state;
        limiter.observe(time_secs, colors);
        Ok(())
    }
}
