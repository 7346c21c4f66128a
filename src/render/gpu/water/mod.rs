//! The water of a scene: the data that the CPU computes for a picture, and the passes of the GPU.
//!
//! In: pressure, agents, a time. Out: a texture of slopes and a texture of sunlight. Must not: know what reads them.

mod field;
mod pipelines;
#[cfg(test)]
mod tests;

use wgpu::{Device, Queue, TextureView};

use self::field::{Field, FieldInputs};
pub(super) use self::pipelines::{WATER, WaterPipelines};
use super::costs::PassCost;
use crate::render::detail::Detail;
use crate::render::governor::Quality;
use crate::render::look::SceneLook;
use crate::render::scenery::Scenery;
use crate::render::static_shape::StaticShape;
use crate::render::water::{FieldSize, Pushes, Swell, calm_places, step_secs};
use crate::world::AgentPose;

/// Resolution of the picture below which the mesh of sunlight has half the resolution.
const COARSE_MESH_BELOW: f32 = 0.6;

/// The water of a scene.
pub(super) struct Water {
    pushes: Pushes,
    swell: Swell,
    field: Field,
    pipelines: WaterPipelines,
}

/// Constant data of a scene from which its water is created.
pub(super) struct WaterInputs<'a> {
    pub(super) scenery: &'a Scenery,
    pub(super) detail: Detail,
    /// Strength of the swell.
    pub(super) swell: f32,
    /// Shapes that may break the surface.
    pub(super) shapes: &'a [StaticShape],
    /// Length of each species.
    pub(super) lengths_m: Vec<f32>,
}

/// What moves the water between two pictures.
pub(super) struct WaterChange<'a> {
    /// Pressure of shadows and splashes on the cells of the water grid, 0..1.
    pub(super) pressure: &'a [f32],
    pub(super) agents: &'a [AgentPose],
    /// Time since the last picture.
    pub(super) since_secs: f32,
    pub(super) time_secs: f64,
    pub(super) quality: Quality,
}

impl Water {
    /// Creates calm water. Uses the compiled pipelines of `like`, water on the same device, where they fit.
    pub(super) fn new(
        (device, queue): (&Device, &Queue),
        inputs: WaterInputs<'_>,
        like: Option<&Self>,
    ) -> Self {
        let WaterInputs {
            scenery, detail, ..
        } = inputs;
        let pipelines = match like {
            Some(like) if like.pipelines.samples == detail.samples => like.pipelines.clone(),
            _ => WaterPipelines::new(device, detail.samples),
        };
        let size = FieldSize::new(&scenery.grid, scenery.pixels_per_m, detail);
        let calm_per_s = calm_places(&size, inputs.shapes);
        let field = FieldInputs {
            size,
            depth_m: scenery.depth_m,
            calm_per_s: &calm_per_s,
            push_size: scenery.grid.size,
        };
        Self {
            pushes: Pushes::new(scenery.grid, inputs.lengths_m),
            swell: Swell::new(inputs.swell),
            field: Field::new(device, queue, &pipelines, &field),
            pipelines,
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
    pub(super) fn continue_from(&mut self, (device, queue): (&Device, &Queue), old: &Self) {
        self.pushes.continue_from(&old.pushes);
        self.field.continue_from(device, queue, &old.field);
    }

    /// Advances the water to the time of a picture, and uploads what the GPU needs for it.
    pub(super) fn update(&mut self, queue: &Queue, look: &SceneLook, change: &WaterChange<'_>) {
        let step_secs = step_secs(change.since_secs);
        let agents = change.agents;
        self.pushes
            .update(change.pressure, look.stir, agents, step_secs);
        let uniforms = &mut self.field.uniforms;
        uniforms.set_time(change.time_secs, step_secs, &self.swell);
        uniforms.mesh_step = 1 + u32::from(change.quality.scale < COARSE_MESH_BELOW);
        self.field.upload(queue, &self.pushes.raised_m);
    }

    /// Returns the work of the passes of the water.
    pub(super) fn pass_costs(&self) -> Vec<PassCost> {
        self.field.pass_costs()
    }

    /// Encodes the passes of the water.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.field.encode(encoder, &self.pipelines);
    }
}
