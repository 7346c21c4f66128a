//! The water of a scene: the data that the CPU computes for a picture, and the passes of the GPU.
//!
//! In: pressure, agents, a time. Out: a texture of slopes and a texture of sunlight. Must not: know what reads them.

mod field;
mod pipelines;
#[cfg(test)]
mod tests;

use wgpu::TextureView;

use self::field::{Field, FieldInputs};
pub(super) use self::pipelines::WaterPipelines;
use super::costs::PassCost;
use super::device::Gpu;
use super::pass_timer::PassTimer;
use crate::render::detail::Detail;
use crate::render::draw_data::DrawData;
use crate::render::governor::Quality;
use crate::render::water::{FieldSize, Pushes, Swell, calm_places, step_secs};

/// Resolution of the picture below which the mesh of sunlight has half the resolution.
const COARSE_MESH_BELOW: f32 = 0.6;
/// Cells along a side of the field from which on this is done. In a smaller field the coarse mesh would miss the short waves.
const COARSE_MESH_FROM_CELLS: u32 = 256;

/// The water of a scene.
pub(super) struct Water {
    pushes: Pushes,
    swell: Swell,
    field: Field,
}

impl Water {
    /// Creates calm water.
    pub(super) fn new(
        gpu: &Gpu,
        pipelines: &WaterPipelines,
        data: &DrawData,
        detail: Detail,
    ) -> Self {
        let scenery = &data.scenery;
        let size = FieldSize::new(&scenery.grid, scenery.pixels_per_m, detail);
        let calm_per_s = calm_places(&size, &data.shapes);
        let lengths_m = data.bodies.iter().map(|body| body.look.length_m);
        let field = FieldInputs {
            size,
            depth_m: scenery.depth_m,
            calm_per_s: &calm_per_s,
            push_size: scenery.grid.size,
        };
        Self {
            pushes: Pushes::new(scenery.grid, lengths_m.collect()),
            swell: Swell::new(data.look.swell),
            field: Field::new(&gpu.device, &gpu.queue, pipelines, &field),
        }
    }

    /// The slopes of the surface.
    pub(super) fn slopes(&self) -> &TextureView {
        &self.field.slopes
    }

    /// The sunlight on the ground.
    pub(super) fn sunlight(&self) -> &TextureView {
        &self.field.sunlight
    }

    /// Continues from the waves of other water on the same device.
    pub(super) fn continue_from(&mut self, gpu: &Gpu, old: &Self) {
        self.pushes.continue_from(&old.pushes);
        self.field
            .continue_from(&gpu.device, &gpu.queue, &old.field);
    }

    /// Advances the water to the time of a picture, and uploads what the GPU needs for it.
    pub(super) fn update(&mut self, gpu: &Gpu, data: &DrawData, quality: Quality) {
        let step_secs = step_secs(data.since_secs);
        let (pressure, agents) = (&data.pressure, data.list.agents());
        self.pushes
            .update(pressure, data.look.stir, agents, step_secs);
        let uniforms = &mut self.field.uniforms;
        uniforms.set_time(data.time_secs, step_secs, &self.swell);
        let is_coarse =
            quality.scale < COARSE_MESH_BELOW && uniforms.cells >= COARSE_MESH_FROM_CELLS;
        uniforms.mesh_step = 1 + u32::from(is_coarse);
        self.field.upload(&gpu.queue, &self.pushes.raised_m);
    }

    /// Returns the work of the passes of the water.
    pub(super) fn pass_costs(&self) -> Vec<PassCost> {
        self.field.pass_costs()
    }

    /// Encodes the passes of the water.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &WaterPipelines,
        timer: &PassTimer,
    ) {
        self.field.encode(encoder, pipelines, timer);
    }
}
