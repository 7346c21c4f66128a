//! The output pass: draws the finished picture of one output with the output's warp, and the overlay on top.

use wgpu::{BindGroup, BufferUsages, LoadOp, RenderPassTimestampWrites};

use super::costs::{self, PassCost};
use super::device::Gpu;
use super::finished::FinishedTexture;
use super::flash_readback::FlashReadback;
use super::old_picture::{OldPicture, gray, weights};
use super::output_pipelines::{OutputLayouts, OutputPipelines};
use super::overlay::{OutputOverlay, mask_vertices};
use super::pass::begin;
use super::pipeline::bind_group;
use super::pipelines::Pipelines;
use super::readback::Readback;
use super::scene::SceneBuffer;
use super::textures::{self, buffer};
use crate::geometry::Surface;
use crate::render::error::RenderError;
use crate::render::flash::{self, CELLS, FlashState};
use crate::render::output_params::OutputParams;
use crate::render::overlay::{Overlay, OverlayVertex};
use crate::render::uniforms::OutputUniforms;
use crate::render::view::View;
use crate::render::warp::WarpVertex;

/// The parts of an output that can change while pictures are drawn.
pub(super) struct OutputParts {
    pub(super) view: View,
    uniforms: BindGroup,
    warp_vertices: wgpu::Buffer,
    warp_vertex_count: u32,
    /// Triangles of the masks, in clip space.
    masks: Vec<OverlayVertex>,
}

impl OutputParts {
    fn new(
        gpu: &Gpu,
        layouts: &OutputLayouts,
        surface: &Surface,
        output: &OutputParams,
    ) -> Result<Self, RenderError> {
        let view = View::new(surface, output)?;
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
        let vertices: Vec<WarpVertex> = view.warp.triangles();
        let values = OutputUniforms::new(output);
        let uniforms = filled(
            "output uniforms",
            BufferUsages::UNIFORM,
            bytemuck::bytes_of(&values),
        );
        let uniforms = [uniforms.as_entire_binding()];
        Ok(Self {
            uniforms: bind_group(device, &layouts.uniforms, &uniforms),
            warp_vertices: filled(
                "warp",
                BufferUsages::VERTEX,
                bytemuck::cast_slice(&vertices),
            ),
            warp_vertex_count: vertices.len() as u32,
            masks: output.masks.iter().flat_map(mask_vertices).collect(),
            view,
        })
    }
}

/// One output on the GPU.
pub(super) struct OutputPass {
    parts: OutputParts,
    pub(super) finished: FinishedTexture,
    /// Copies of the finished picture.
    readback: Readback,
    pub(super) pipelines: OutputPipelines,
    flash_readback: FlashReadback,
    /// Weight of the next picture in the blend with the last picture, 0..1; below 1 while flashing is limited.
    replaced_share: f64,
    overlay: OutputOverlay,
    /// Last picture of the old scene; `None` if there is none, or if it is gone.
    old_picture: Option<OldPicture>,
    /// Weight of the old picture, 0..1.
    old_share: f64,
}

impl OutputPass {
    pub(super) fn new(
        gpu: &Gpu,
        shared: &Pipelines,
        surface: &Surface,
        output: &OutputParams,
        pipelines: OutputPipelines,
    ) -> Result<Self, RenderError> {
        let size = [output.width_px, output.height_px];
        gpu.check_size(size)?;
        let parts = OutputParts::new(gpu, &shared.outputs, surface, output)?;
        let device = &gpu.device;
        let finished = FinishedTexture::new(device, size);
        Ok(Self {
            flash_readback: FlashReadback::new(
                gpu,
                &shared.cell_means,
                &shared.samplers,
                &finished.view,
            ),
            replaced_share: 1.0,
            finished,
            readback: Readback::new(device, size),
            pipelines,
            overlay: OutputOverlay::new(device),
            old_picture: None,
            old_share: 0.0,
            parts,
        })
    }

    /// The mapping from the world to the pixels of the output.
    pub(super) fn view(&self) -> &View {
        &self.parts.view
    }

    /// Returns the parts for other parameters of this output; `None` if they need another pass, for example for another size.
    pub(super) fn changed(
        &self,
        gpu: &Gpu,
        layouts: &OutputLayouts,
        surface: &Surface,
        output: &OutputParams,
    ) -> Result<Option<OutputParts>, RenderError> {
        let kind = self.pipelines.compiled_for;
        let is_same_pass = self.view().size_px == [output.width_px, output.height_px]
            && kind == kind.with_output(output);
        if !is_same_pass {
            return Ok(None);
        }
        OutputParts::new(gpu, layouts, surface, output).map(Some)
    }

    /// Keeps the last picture of a pass of another scene, which fades into the pictures of this one. `is_new_scene` is false if the
    /// other pass draws the same scene. Then the picture of the scene before it, if that is not gone yet, is kept.
    pub(super) fn keep_old_picture(
        &mut self,
        gpu: &Gpu,
        shared: &Pipelines,
        last: &mut Self,
        is_new_scene: bool,
    ) {
        if self.view().size_px != last.view().size_px {
            return;
        }
        if is_new_scene {
            let (device, finished) = (&gpu.device, &last.finished.view);
            self.old_picture = Some(OldPicture::new(device, &shared.old_picture, finished));
            self.old_share = 1.0;
        } else {
            self.old_picture = last.old_picture.take();
            self.old_share = last.old_share;
        }
    }

    /// Sets the weight of the old picture. At 0 it is gone.
    pub(super) fn set_old_share(&mut self, share: f32) {
        self.old_share = f64::from(share.clamp(0.0, 1.0));
        if share <= 0.0 {
            self.old_picture = None;
        }
    }

    /// Uses other parts from the next picture on.
    pub(super) fn apply(&mut self, parts: OutputParts) {
        self.parts = parts;
    }

    /// Uploads the overlay of this picture, and the veil for light of `level` (0..1).
    pub(super) fn upload(&mut self, gpu: &Gpu, overlay: &Overlay, level: f32) {
        let OutputParts { view, masks, .. } = &self.parts;
        self.overlay.upload(gpu, view, overlay, masks, level);
    }

    /// Encodes the output pass and the readback for the flash limiter. `first` and `last` are the timestamps of these passes.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        shared: &Pipelines,
        scene: &SceneBuffer,
        textures: &BindGroup,
        [first, last]: [Option<RenderPassTimestampWrites<'_>>; 2],
    ) {
        let is_limited = self.replaced_share < 1.0;
        let old_picture = self.old_picture.as_ref();
        let old_share = old_picture.map_or(0.0, |_| self.old_share);
        let [new_weight, old_weight] = weights(self.replaced_share, old_share);
        let load = if is_limited {
            LoadOp::Load
        } else {
            LoadOp::Clear(wgpu::Color::BLACK)
        };
        let mut pass = begin(encoder, ("output", &self.finished.view, first), load);
        pass.set_bind_group(0, &scene.group, &[]);
        pass.set_bind_group(1, textures, &[]);
        pass.set_bind_group(2, &self.parts.uniforms, &[]);
        if is_limited {
            pass.set_pipeline(&self.pipelines.limited);
            pass.set_blend_constant(gray(new_weight));
        } else {
            pass.set_pipeline(&self.pipelines.full);
        }
        pass.set_vertex_buffer(0, self.parts.warp_vertices.slice(..));
        pass.draw(0..self.parts.warp_vertex_count, 0..1);
        if let Some(old_picture) = old_picture {
            old_picture.draw(&mut pass, &shared.old_picture, old_weight);
        }
        self.overlay.draw(&mut pass, &shared.overlay);
        drop(pass);
        self.flash_readback
            .copy(encoder, &shared.cell_means, &scene.group, last);
    }

    /// Returns the work of the output pass, which reads `seen_bytes` of textures, and of the flash limiter's pass.
    pub(super) fn pass_costs(&self, seen_bytes: u64) -> [PassCost; 2] {
        let finished = &self.finished.view;
        [
            PassCost {
                name: "output",
                pixels: costs::pixels(finished),
                triangles: u64::from(self.parts.warp_vertex_count / 3) + self.overlay.triangles(),
                read_bytes: seen_bytes,
                written_bytes: costs::bytes(finished),
            },
            PassCost {
                name: "means for the flash limiter",
                pixels: u64::from(CELLS[0] * CELLS[1]),
                triangles: 1,
                read_bytes: costs::bytes(finished),
                written_bytes: u64::from(CELLS[0] * CELLS[1]) * 4,
            },
        ]
    }

    /// Passes the cell colors of the last picture to the flash limiter. Then stores the weight that the limiter allows for the
    /// next picture, which is shown at `time_secs`.
    pub(super) fn limit_flash(&mut self, gpu: &Gpu, time_secs: f64) -> Result<(), RenderError> {
        self.flash_readback.collect(gpu)?;
        self.replaced_share = self.flash_readback.state.limiter.replaced_share(time_secs);
        Ok(())
    }

    /// Starts the readback for the flash limiter. Must be called after the picture for `time_secs` was submitted.
    pub(super) fn request_readback(&mut self, time_secs: f64) {
        self.flash_readback.request(time_secs);
    }

    /// Number of times that the flash limiter slowed the picture down.
    pub(super) fn flash_limit_count(&self) -> u64 {
        self.flash_readback.state.limiter.limit_count()
    }

    /// State of this output's flash limiter.
    pub(super) fn flash_state(&self) -> &FlashState {
        &self.flash_readback.state
    }

    /// Continues from the flash state of another renderer. The last picture of that renderer, at the resolution of the cells,
    /// becomes the picture that the next picture replaces.
    pub(super) fn resume_flash_state(&mut self, gpu: &Gpu, state: &FlashState) {
        if state.colors.len() != (CELLS[0] * CELLS[1]) as usize {
            return;
        }
        self.flash_readback.state.clone_from(state);
        let size = self.view().size_px;
        let picture = flash::picture_from_cells(&state.colors, size);
        textures::write(&gpu.queue, &self.finished.texture, (0, 0), size, &picture);
    }

    /// Copies the finished picture into `rgba`.
    pub(super) fn read(&mut self, gpu: &Gpu, rgba: &mut Vec<u8>) -> Result<(), RenderError> {
        let descriptor = wgpu::CommandEncoderDescriptor::default();
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        self.readback.copy(&mut encoder, &self.finished.texture);
        gpu.queue.submit([encoder.finish()]);
        self.readback.request();
        gpu.wait()?;
        let width_bytes = self.view().size_px[0] as usize * 4;
        let is_read = self.readback.take(|bytes, row_bytes| {
            rgba.clear();
            for row in bytes.chunks_exact(row_bytes) {
                rgba.extend_from_slice(row.get(..width_bytes).unwrap_or_default());
            }
        })?;
        if is_read {
            Ok(())
        } else {
            Err(RenderError::Device("the picture did not arrive".to_owned()))
        }
    }
}
