//! The halo of bright bodies: three passes to small textures, in scenes whose look has one.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, Device, RenderPipeline, ShaderStages};
use wgpu::{TextureUsages, TextureView};

use super::costs::{self, PassCost};
use super::device::{Gpu, WATER};
use super::pass::fill;
use super::pipeline::{Draws, FLAT, PipelineDescription, SAMPLER, at_once, bind_group, layout};
use super::samplers::Samplers;
use super::scene::SceneBuffer;
use super::textures::{texture_2d, view};
use crate::geometry::Surface;
use crate::render::scenery::OVERSCAN;

/// Side of a texel of the small textures. The halo has the same width in meters at every resolution.
const TEXEL_M: f32 = 0.017;
/// Largest side of the small textures.
const MOST_TEXELS: u32 = 1024;
/// Names of the passes, in order, which are entry points of `shaders/bloom.wgsl`.
const PASSES: [&str; 3] = ["bright_part", "bloom_along", "bloom_across"];

/// The pipelines of the passes.
#[derive(Clone)]
pub(super) struct BloomPipelines {
    inputs: BindGroupLayout,
    passes: [RenderPipeline; 3],
}

impl BloomPipelines {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout) -> Self {
        let inputs = layout(device, "bloom", ShaderStages::FRAGMENT, &[FLAT, SAMPLER]);
        let compile = |entry: &'static str| {
            PipelineDescription {
                shader: "bloom",
                bind_groups: &[scene, &inputs],
                vertex: ("full_target", None),
                fragment: (entry, WATER, None),
                draws: Draws::Triangles,
                constants: &[],
            }
            .compile(device)
        };
        let [bright, along, across] = PASSES;
        let passes = at_once([&|| compile(bright), &|| compile(along), &|| compile(across)]);
        Self { inputs, passes }
    }
}

/// The halo of one scene.
pub(super) struct Bloom {
    /// The light of the halo, which the output pass reads.
    pub(super) light: TextureView,
    /// The light after the first blur.
    half: TextureView,
    /// The inputs of the passes; `None` in a scene without a halo.
    groups: Option<[BindGroup; 3]>,
}

impl Bloom {
    /// Creates the textures. `bodies` is the texture whose bright part has a halo; `None` without one.
    pub(super) fn new(
        gpu: &Gpu,
        pipelines: &BloomPipelines,
        samplers: &Samplers,
        bodies: Option<&TextureView>,
        surface: &Surface,
    ) -> Self {
        let device = &gpu.device;
        let wanted = 2.0 * surface.half_extent_m() * OVERSCAN / TEXEL_M;
        let size = bodies.map_or([1; 2], |_| {
            [wanted.x, wanted.y].map(|side| (side as u32).clamp(16, MOST_TEXELS))
        });
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::TEXTURE_BINDING;
        let [light, half] = ["bloom", "half bloom"]
            .map(|name| view(&texture_2d(device, name, size, WATER, usage, 1)));
        let group = |source: &TextureView| {
            let resources = [
                BindingResource::TextureView(source),
                BindingResource::Sampler(&samplers.flat),
            ];
            bind_group(device, &pipelines.inputs, &resources)
        };
        Self {
            groups: bodies.map(|bodies| [bodies, &light, &half].map(group)),
            light,
            half,
        }
    }

    /// Encodes the passes.
    pub(super) fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pipelines: &BloomPipelines,
        scene: &SceneBuffer,
    ) {
        let Some(groups) = &self.groups else { return };
        let targets = [&self.light, &self.half, &self.light];
        let passes = pipelines.passes.iter().zip(groups).zip(targets).zip(PASSES);
        for (((pipeline, group), target), name) in passes {
            fill(
                encoder,
                (name, target, None),
                pipeline,
                [&scene.group, group],
            );
        }
    }

    /// Returns the work of the passes.
    pub(super) fn pass_costs(&self) -> Option<PassCost> {
        self.groups.as_ref()?;
        Some(PassCost {
            name: "halo of bright bodies (3 passes)",
            pixels: 3 * costs::pixels(&self.light),
            triangles: 3,
            read_bytes: 3 * costs::bytes(&self.light),
            written_bytes: 3 * costs::bytes(&self.light),
        })
    }
}
