//! The pipelines that draw the finished picture of an output, and the textures that they read.

use wgpu::{BindGroup, BindGroupLayout, BindingResource, BlendFactor, BlendState, Device};
use wgpu::{RenderPipeline, ShaderStages, TextureView};

use super::costs;
use super::finished::FINISHED;
use super::pipeline::{Draws, FLAT, PipelineDescription, SAMPLER, UNIFORM};
use super::pipeline::{at_once, bind_group, blend, flag, layout, surface_constant};
use super::samplers::Samplers;
use super::vertex_layouts;
use crate::geometry::SurfaceKind;
use crate::render::look::SceneLook;
use crate::render::output_params::OutputParams;

/// Layouts of the bind groups of the output pass.
#[derive(Clone)]
pub(super) struct OutputLayouts {
    scene: BindGroupLayout,
    textures: BindGroupLayout,
    pub(super) uniforms: BindGroupLayout,
}

/// The textures that the output pass reads.
pub(super) struct OutputTextures<'a> {
    pub(super) bodies: &'a TextureView,
    pub(super) body_depth: &'a TextureView,
    pub(super) slopes: &'a TextureView,
    pub(super) sunlight: &'a TextureView,
    pub(super) ground: &'a TextureView,
    pub(super) ground_shadow: &'a TextureView,
    pub(super) noise: &'a TextureView,
    pub(super) traces: &'a TextureView,
    pub(super) bloom: &'a TextureView,
}

impl OutputTextures<'_> {
    /// Bytes of the textures.
    pub(super) fn bytes(&self) -> u64 {
        let light = [self.slopes, self.sunlight, self.ground, self.ground_shadow];
        let bodies = [self.bodies, self.body_depth, self.traces, self.bloom];
        light.into_iter().chain(bodies).map(costs::bytes).sum()
    }
}

impl OutputLayouts {
    pub(super) fn new(device: &Device, scene: &BindGroupLayout) -> Self {
        let textures = [
            FLAT, FLAT, FLAT, FLAT, SAMPLER, FLAT, SAMPLER, FLAT, FLAT, FLAT, FLAT,
        ];
        let stages = ShaderStages::VERTEX_FRAGMENT;
        Self {
            scene: scene.clone(),
            textures: layout(device, "output", stages, &textures),
            uniforms: layout(device, "output uniforms", stages, &[UNIFORM]),
        }
    }

    /// Creates the bind group of the textures, for all outputs of a scene.
    pub(super) fn bound(
        &self,
        device: &Device,
        samplers: &Samplers,
        textures: &OutputTextures<'_>,
    ) -> BindGroup {
        let inputs = [
            BindingResource::TextureView(textures.bodies),
            BindingResource::TextureView(textures.slopes),
            BindingResource::TextureView(textures.ground),
            BindingResource::TextureView(textures.ground_shadow),
            BindingResource::Sampler(&samplers.flat),
            BindingResource::TextureView(textures.noise),
            BindingResource::Sampler(&samplers.tiling),
            BindingResource::TextureView(textures.sunlight),
            BindingResource::TextureView(textures.body_depth),
            BindingResource::TextureView(textures.traces),
            BindingResource::TextureView(textures.bloom),
        ];
        bind_group(device, &self.textures, &inputs)
    }
}

/// The properties of a scene and of an output for which its pipelines are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputKind {
    surface: SurfaceKind,
    /// Whether trees are reflected on the water.
    has_canopy: bool,
    /// Whether visitors leave light in the water, silt, and footprints; whether bright bodies have a halo.
    has: [bool; 4],
    /// Whether the output has soft edges or a black lift.
    has_blend: bool,
    /// Whether the gamma of the output differs from 1.
    has_gamma: bool,
}

impl OutputKind {
    pub(super) fn new(surface: SurfaceKind, look: &SceneLook, output: &OutputParams) -> Self {
        let of_scene = Self {
            surface,
            has_canopy: look.canopy > 0.0,
            has: [look.wake_glow, look.silt, look.prints, look.bloom].map(|amount| amount > 0.0),
            has_blend: false,
            has_gamma: false,
        };
        of_scene.with_output(output)
    }

    /// Returns the kind of another output of the same scene.
    pub(super) fn with_output(self, output: &OutputParams) -> Self {
        let blend = &output.blend;
        let widths = [
            blend.left,
            blend.top,
            blend.right,
            blend.bottom,
            blend.black_lift,
        ];
        Self {
            has_blend: widths.iter().any(|&width| width > 0.0),
            has_gamma: (output.gamma - 1.0).abs() > 1e-6,
            ..self
        }
    }
}

/// Pipelines of an output.
#[derive(Clone)]
pub(super) struct OutputPipelines {
    pub(super) compiled_for: OutputKind,
    /// Draws the new picture in place of the last one.
    pub(super) full: RenderPipeline,
    /// Blends the new picture over the last picture; the blend constant is the weight of the new picture. Used while flashing is
    /// limited.
    pub(super) limited: RenderPipeline,
}

impl OutputPipelines {
    pub(super) fn new(device: &Device, layouts: &OutputLayouts, kind: OutputKind) -> Self {
        // The new picture has a constant weight, and the last picture has the rest.
        let limited = blend(BlendFactor::Constant, BlendFactor::OneMinusConstant);
        let [full, limited] = at_once([&|| output(device, layouts, kind, None), &|| {
            output(device, layouts, kind, Some(limited))
        }]);
        Self {
            compiled_for: kind,
            full,
            limited,
        }
    }
}

/// Compiles a pipeline of an output.
fn output(
    device: &Device,
    layouts: &OutputLayouts,
    kind: OutputKind,
    blend: Option<BlendState>,
) -> RenderPipeline {
    let [wake, silt, prints, bloom] = kind.has;
    PipelineDescription {
        shader: "output",
        bind_groups: &[&layouts.scene, &layouts.textures, &layouts.uniforms],
        vertex: ("warp_vertex", Some(vertex_layouts::WARP.per_vertex())),
        fragment: ("output_color", FINISHED, blend),
        draws: Draws::Triangles,
        constants: &[
            surface_constant(kind.surface),
            ("HAS_CANOPY", flag(kind.has_canopy)),
            ("HAS_WAKE", flag(wake)),
            ("HAS_SILT", flag(silt)),
            ("HAS_PRINTS", flag(prints)),
            ("HAS_BLOOM", flag(bloom)),
            ("HAS_BLEND", flag(kind.has_blend)),
            ("HAS_GAMMA", flag(kind.has_gamma)),
        ],
    }
    .compile(device)
}
