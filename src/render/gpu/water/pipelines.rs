//! The pipelines of the water.

use wgpu::{BindGroupLayout, BlendFactor, ShaderStages};

use crate::render::gpu::device::{Gpu, WATER};
use crate::render::gpu::pipeline::{CHANGED_LIST, LIST, UNFILTERED, UNIFORM};
use crate::render::gpu::pipeline::{Draws, PipelineDescription, blend, layout, pipeline_layout};
use crate::render::gpu::shaders::module;

/// The passes of a step of the height field, in order: names of the entry points in `shaders/water_field.wgsl`.
pub(super) const STEP: [&str; 4] = [
    "rows_forward",
    "columns_forward",
    "columns_back",
    "rows_back",
];

/// Invocations per workgroup of a step of the height field on a graphics card: one for each pair of cells of a small field.
const CARD_LANES: f64 = 128.0;
/// Invocations per workgroup on a software adapter: one vector of its processor. At each barrier, Mesa's driver changes between
/// the vectors of a workgroup, which takes longer than the transform itself: a step of 128 x 128 cells takes 6 ms with 128
/// invocations and 3 ms with 8.
const SOFTWARE_LANES: f64 = 8.0;

/// Pipelines of the water. They do not depend on the size of the field.
#[derive(Clone)]
pub(in crate::render::gpu) struct WaterPipelines {
    /// Samples per texel of sunlight. Several keep triangles that are thinner than a texel.
    pub(super) samples: u32,
    pub(super) uniforms: BindGroupLayout,
    pub(super) field: BindGroupLayout,
    pub(super) surface: BindGroupLayout,
    pub(super) sunlight: BindGroupLayout,
    pub(super) blur: BindGroupLayout,
    pub(super) step: [wgpu::ComputePipeline; 4],
    pub(super) slopes: wgpu::RenderPipeline,
    pub(super) rays: wgpu::RenderPipeline,
    /// The blur of the sunlight along x and along z.
    pub(super) spread: [wgpu::RenderPipeline; 2],
}

impl WaterPipelines {
    /// Compiles the pipelines for a number of samples per texel of sunlight.
    pub(in crate::render::gpu) fn new(gpu: &Gpu, samples: u32) -> Self {
        let device = &gpu.device;
        let layout = |label, stages, types: &[_]| layout(device, label, stages, types);
        let everywhere = ShaderStages::COMPUTE | ShaderStages::VERTEX_FRAGMENT;
        let uniforms = layout("water uniforms", everywhere, &[UNIFORM]);
        let field = layout(
            "height field",
            ShaderStages::COMPUTE,
            &[CHANGED_LIST, CHANGED_LIST, LIST, LIST, UNFILTERED],
        );
        let surface = layout("water surface", ShaderStages::FRAGMENT, &[LIST]);
        let sunlight = layout("sunlight", ShaderStages::VERTEX, &[UNFILTERED]);
        let blur = layout(
            "blur of the sunlight",
            ShaderStages::FRAGMENT,
            &[UNFILTERED],
        );
        let steps = module(device, "water_field");
        let lanes = if gpu.is_software() {
            SOFTWARE_LANES
        } else {
            CARD_LANES
        };
        let compute = |entry: &str| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout(device, &[&uniforms, &field])),
                module: &steps,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[("LANES", lanes)],
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: None,
            })
        };
        let drawn = |(shader, vertex, fragment): (&str, &str, &str), inputs: &BindGroupLayout| {
            let pass = PipelineDescription {
                shader,
                bind_groups: &[&uniforms, inputs],
                vertex: (vertex, None),
                fragment: (fragment, WATER, None),
                draws: Draws::Triangles,
                constants: &[],
            };
            pass.compile(device)
        };
        Self {
            samples,
            step: STEP.map(compute),
            slopes: drawn(("water_surface", "full_target", "water_slopes"), &surface),
            rays: PipelineDescription {
                shader: "caustics",
                bind_groups: &[&uniforms, &sunlight],
                vertex: ("ray", None),
                // Layers of light add up where the mesh is folded.
                fragment: (
                    "ray_light",
                    WATER,
                    Some(blend(BlendFactor::One, BlendFactor::One)),
                ),
                draws: Draws::Strip { samples },
                constants: &[],
            }
            .compile(device),
            spread: ["spread_along", "spread_across"]
                .map(|entry| drawn(("caustics", "full_target", entry), &blur)),
            uniforms,
            field,
            surface,
            sunlight,
            blur,
        }
    }
}
