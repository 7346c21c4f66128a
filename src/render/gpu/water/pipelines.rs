//! The pipelines of the water.

use wgpu::{BindGroupLayout, BlendFactor, Device, ShaderStages};

use crate::render::gpu::device::{Gpu, WATER};
use crate::render::gpu::pipeline::{CHANGED_LIST, LIST, UNFILTERED, UNIFORM};
use crate::render::gpu::pipeline::{blend, layout, pipeline_layout};
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
        let pipeline_layout =
            |group: &BindGroupLayout| pipeline_layout(device, &[&uniforms, group]);
        let steps = module(device, "water_field");
        let lanes = if gpu.is_software() {
            SOFTWARE_LANES
        } else {
            CARD_LANES
        };
        let compute = |entry: &str| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout(&field)),
                module: &steps,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[("LANES", lanes)],
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: None,
            })
        };
        Self {
            samples,
            step: STEP.map(compute),
            slopes: drawn_water(
                device,
                &pipeline_layout(&surface),
                &WaterPass {
                    shader: "water_surface",
                    entries: ["full_target", "water_slopes"],
                    topology: wgpu::PrimitiveTopology::TriangleList,
                    samples: 1,
                    blend: None,
                },
            ),
            rays: drawn_water(
                device,
                &pipeline_layout(&sunlight),
                &WaterPass {
                    shader: "caustics",
                    entries: ["ray", "ray_light"],
                    topology: wgpu::PrimitiveTopology::TriangleStrip,
                    samples,
                    // Layers of light add up where the mesh is folded.
                    blend: Some(blend(BlendFactor::One, BlendFactor::One)),
                },
            ),
            spread: ["spread_along", "spread_across"].map(|entry| {
                drawn_water(
                    device,
                    &pipeline_layout(&blur),
                    &WaterPass {
                        shader: "caustics",
                        entries: ["full_target", entry],
                        topology: wgpu::PrimitiveTopology::TriangleList,
                        samples: 1,
                        blend: None,
                    },
                )
            }),
            uniforms,
            field,
            surface,
            sunlight,
            blur,
        }
    }
}

/// A pass that draws a texture of the water.
struct WaterPass {
    shader: &'static str,
    /// Entry points of vertices and fragments.
    entries: [&'static str; 2],
    topology: wgpu::PrimitiveTopology,
    samples: u32,
    blend: Option<wgpu::BlendState>,
}

/// Compiles the pipeline of a pass.
fn drawn_water(
    device: &Device,
    layout: &wgpu::PipelineLayout,
    pass: &WaterPass,
) -> wgpu::RenderPipeline {
    let module = module(device, pass.shader);
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(pass.entries[1]),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(pass.entries[0]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: pass.topology,
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: None,
        multisample: wgpu::MultisampleState {
            count: pass.samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(pass.entries[1]),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format: WATER,
                blend: pass.blend,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
