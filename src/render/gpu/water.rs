//! The water of a scene: computed on the CPU in the quality `low`, on the GPU in the quality `high`. Both give a texture of
//! slopes and a texture of sunlight.
//!
//! In: pressure, agents, a time. Out: the two textures. Must not: know what reads them.

use wgpu::{Device, Queue, TextureUsages, TextureView};

use super::costs::PassCost;
use super::fine_water::{FineWater, FineWaterInputs, FineWaterPipelines};
use super::pipelines::{CAUSTICS, SLOPES};
use super::targets::{texture_2d, view, write};
use crate::render::caustics::Caustics;
use crate::render::fine_water::{FieldSize, Pushes, Swell, calm_places, step_secs};
use crate::render::governor::Quality;
use crate::render::look::SceneLook;
use crate::render::ripples::Ripples;
use crate::render::scenery::Scenery;
use crate::render::static_shape::StaticShape;
use crate::world::AgentPose;

/// Resolution of the picture below which the mesh of sunlight has half the resolution.
const COARSE_MESH_BELOW: f32 = 0.6;

/// The water of a scene.
pub(super) enum Water {
    /// Computed on the CPU.
    Low(Box<LowWater>),
    /// Computed on the GPU.
    High(Box<HighWater>),
}

/// Water that the CPU computes, and the textures to which it is uploaded.
pub(super) struct LowWater {
    ripples: Ripples,
    caustics: Caustics,
    slope_texture: wgpu::Texture,
    light_texture: wgpu::Texture,
    slopes: TextureView,
    sunlight: TextureView,
}

/// Water that the GPU computes.
pub(super) struct HighWater {
    pushes: Pushes,
    swell: Swell,
    field: FineWater,
    pipelines: FineWaterPipelines,
}

/// What moves the water between two pictures.
pub(super) struct WaterChange<'a> {
    /// Pressure of shadows and splashes on the cells of the water grid, 0..1.
    pub(super) pressure: &'a [f32],
    pub(super) agents: &'a [AgentPose],
    /// Number of steps of the water in the quality `low`.
    pub(super) steps: u32,
    /// Time since the last picture.
    pub(super) since_secs: f32,
    pub(super) time_secs: f64,
    pub(super) quality: Quality,
}

impl Water {
    /// Creates calm water that the CPU computes.
    pub(super) fn low(device: &Device, scenery: &Scenery) -> Self {
        let grid = scenery.grid;
        let written = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
        let slopes = texture_2d(device, "slopes", grid.size, SLOPES, written, 1);
        let light = texture_2d(device, "caustics", grid.size, CAUSTICS, written, 1);
        Self::Low(Box::new(LowWater {
            ripples: Ripples::new(grid),
            caustics: Caustics::new(grid),
            slopes: view(&slopes),
            sunlight: view(&light),
            slope_texture: slopes,
            light_texture: light,
        }))
    }

    /// Creates calm water that the GPU computes. `shapes` break the surface; `lengths_m` are those of the species.
    pub(super) fn high(
        (device, queue): (&Device, &Queue),
        pipelines: FineWaterPipelines,
        scenery: &Scenery,
        swell: f32,
        shapes: &[StaticShape],
        lengths_m: Vec<f32>,
    ) -> Self {
        let size = FieldSize::new(&scenery.grid, scenery.pixels_per_m);
        let calm_per_s = calm_places(&size, shapes);
        let inputs = FineWaterInputs {
            size,
            depth_m: scenery.depth_m,
            calm_per_s: &calm_per_s,
            push_size: scenery.grid.size,
        };
        Self::High(Box::new(HighWater {
            pushes: Pushes::new(scenery.grid, lengths_m),
            swell: Swell::new(swell),
            field: FineWater::new(device, queue, &pipelines, &inputs),
            pipelines,
        }))
    }

    /// The compiled pipelines; `None` if the CPU computes the water.
    pub(super) fn pipelines(&self) -> Option<&FineWaterPipelines> {
        match self {
            Self::Low(_) => None,
            Self::High(water) => Some(&water.pipelines),
        }
    }

    /// The slopes of the surface, and the sunlight on the ground.
    pub(super) fn views(&self) -> [&TextureView; 2] {
        match self {
            Self::Low(water) => [&water.slopes, &water.sunlight],
            Self::High(water) => [&water.field.slopes, &water.field.sunlight],
        }
    }

    /// Continues from the waves of other water; `from` and `to` are the sceneries of the other and of this water.
    pub(super) fn continue_from(
        &mut self,
        (device, queue): (&Device, &Queue),
        old: &Self,
        from: &Scenery,
        to: &Scenery,
    ) {
        match (self, old) {
            (Self::Low(new), Self::Low(old)) => {
                new.ripples.continue_from(&old.ripples, from.grid, to.grid);
            }
            (Self::High(new), Self::High(old)) => {
                new.pushes.continue_from(&old.pushes);
                new.field.continue_from(device, queue, &old.field);
            }
            _ => {}
        }
    }

    /// Advances the water to the time of a picture, and uploads what the GPU needs for it.
    pub(super) fn update(&mut self, queue: &Queue, look: &SceneLook, change: &WaterChange<'_>) {
        match self {
            Self::Low(water) => water.update(queue, look, change),
            Self::High(water) => water.update(queue, look, change),
        }
    }

    /// Returns the work of the passes of the water; none if the CPU computes it.
    pub(super) fn pass_costs(&self) -> Vec<PassCost> {
        match self {
            Self::Low(_) => Vec::new(),
            Self::High(water) => water.field.pass_costs(),
        }
    }

    /// Encodes the passes of the water.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Self::High(water) = self {
            water.field.encode(encoder, &water.pipelines);
        }
    }
}

impl LowWater {
    fn update(&mut self, queue: &Queue, look: &SceneLook, change: &WaterChange<'_>) {
        let Self {
            ripples, caustics, ..
        } = self;
        ripples.advance(change.steps, change.pressure, look.stir);
        caustics.update(ripples, change.time_secs, look.swell);
        let texture = &self.slope_texture;
        let size = [texture.width(), texture.height()];
        let slopes = bytemuck::cast_slice(caustics.slopes.as_flattened());
        write(queue, texture, (0, 0), size, slopes);
        let brightness = caustics.brightness.as_flattened();
        write(queue, &self.light_texture, (0, 0), size, brightness);
    }
}

impl HighWater {
    fn update(&mut self, queue: &Queue, look: &SceneLook, change: &WaterChange<'_>) {
        let step_secs = step_secs(change.since_secs);
        let agents = change.agents;
        self.pushes
            .update(change.pressure, look.stir, agents, step_secs);
        let uniforms = &mut self.field.uniforms;
        uniforms.set_time(change.time_secs, step_secs, &self.swell);
        uniforms.mesh_step = 1 + u32::from(change.quality.scale < COARSE_MESH_BELOW);
        self.field.upload(queue, &self.pushes.raised_m);
    }
}
