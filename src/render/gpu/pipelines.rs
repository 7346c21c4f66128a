//! All pipelines but those of single outputs, and what else is the same for all scenes on a device.

use wgpu::{BindGroupLayout, RenderPipeline, ShaderStages, TextureView};

use super::bloom::BloomPipelines;
use super::bodies::{BodyKind, BodyPipelines};
use super::device::Gpu;
use super::flash_readback::CellMeansPipeline;
use super::ground::GroundPipeline;
use super::ground_shadow::GroundShadowPipeline;
use super::noise_textures::{ripple_noise, weathering};
use super::old_picture::OldPicturePipeline;
use super::output_pipelines::OutputLayouts;
use super::overlay::OverlayPipeline;
use super::pipeline::{UNIFORM, begin, layout};
use super::samplers::Samplers;
use super::small_bodies::{LEAVES, SPECKS};
use super::water::WaterPipelines;

/// Pipelines, samplers and constant textures. Copies share them.
#[derive(Clone)]
pub(super) struct Pipelines {
    /// The properties for which the pipelines of bodies are compiled.
    compiled_for: BodyKind,
    /// Layout of the bind group of the scene.
    pub(super) scene: BindGroupLayout,
    pub(super) samplers: Samplers,
    pub(super) noise: TextureView,
    pub(super) weathering: TextureView,
    pub(super) water: WaterPipelines,
    pub(super) ground: GroundPipeline,
    pub(super) ground_shadow: GroundShadowPipeline,
    pub(super) bloom: BloomPipelines,
    pub(super) bodies: BodyPipelines,
    pub(super) leaves: RenderPipeline,
    pub(super) specks: RenderPipeline,
    pub(super) outputs: OutputLayouts,
    pub(super) overlay: OverlayPipeline,
    pub(super) cell_means: CellMeansPipeline,
    pub(super) old_picture: OldPicturePipeline,
}

impl Pipelines {
    /// Compiles all pipelines.
    pub(super) fn new(gpu: &Gpu, kind: BodyKind) -> Self {
        let device = &gpu.device;
        let (scene, samplers) = (
            layout(device, "scene", ShaderStages::VERTEX_FRAGMENT, &[UNIFORM]),
            Samplers::new(device),
        );
        std::thread::scope(|scope| {
            let water = begin(scope, || WaterPipelines::new(gpu, kind.samples));
            let bodies = begin(scope, || BodyPipelines::new(device, &scene, kind));
            let bloom = begin(scope, || BloomPipelines::new(device, &scene));
            let leaves = begin(scope, || LEAVES.compile(device, &scene, kind));
            let specks = begin(scope, || SPECKS.compile(device, &scene, kind));
            let ground = begin(scope, || GroundPipeline::new(device, &scene));
            let ground_shadow = begin(scope, || GroundShadowPipeline::new(device, &scene));
            let overlay = begin(scope, || OverlayPipeline::new(gpu, &scene, &samplers));
            let cell_means = begin(scope, || CellMeansPipeline::new(device, &scene));
            let old_picture = begin(scope, || OldPicturePipeline::new(device, &scene));
            Self {
                compiled_for: kind,
                noise: ripple_noise(gpu),
                weathering: weathering(gpu),
                outputs: OutputLayouts::new(device, &scene),
                water: water.finish(),
                ground: ground.finish(),
                ground_shadow: ground_shadow.finish(),
                bloom: bloom.finish(),
                bodies: bodies.finish(),
                leaves: leaves.finish(),
                specks: specks.finish(),
                overlay: overlay.finish(),
                cell_means: cell_means.finish(),
                old_picture: old_picture.finish(),
                scene: scene.clone(),
                samplers: samplers.clone(),
            }
        })
    }

    /// Returns the pipelines for another scene. Compiles only those that differ.
    pub(super) fn for_kind(&self, gpu: &Gpu, kind: BodyKind) -> Self {
        let (device, mut changed) = (&gpu.device, self.clone());
        changed.compiled_for = kind;
        if kind != self.compiled_for {
            changed.bodies = BodyPipelines::new(device, &self.scene, kind);
        }
        let (samples, surface) = (self.compiled_for.samples, self.compiled_for.surface);
        if kind.samples != samples {
            changed.water = WaterPipelines::new(gpu, kind.samples);
        }
        if (kind.samples, kind.surface) != (samples, surface) {
            changed.leaves = LEAVES.compile(device, &self.scene, kind);
            changed.specks = SPECKS.compile(device, &self.scene, kind);
        }
        changed
    }
}
