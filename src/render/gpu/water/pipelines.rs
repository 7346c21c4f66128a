//! The pipelines of the water.

use wgpu::{BindGroupLayout, BindingType, Device, ShaderStages, TextureFormat};

use crate::render::gpu::pipelines::module;

/// Format of the slopes, and of the sunlight.
pub(in crate::render::gpu) const WATER: TextureFormat = TextureFormat::Rgba16Float;

/// The passes of a step of the height field, in order: names of the entry points in `shaders/water_field.wgsl`.
pub(super) const STEP: [&str; 4] = [
    "rows_forward",
    "columns_forward",
    "columns_back",
    "rows_back",
];

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

/// Returns the binding type of a buffer.
const fn list(ty: wgpu::BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

const READ: BindingType = list(wgpu::BufferBindingType::Storage { read_only: true });
const CHANGED: BindingType = list(wgpu::BufferBindingType::Storage { read_only: false });
/// A texture that is read without filtering.
const LOADED: BindingType = BindingType::Texture {
    sample_type: wgpu::TextureSampleType::Float { filterable: false },
    view_dimension: wgpu::TextureViewDimension::D2,
    multisampled: false,
};

impl WaterPipelines {
    /// Compiles the pipelines for a number of samples per texel of sunlight.
    pub(super) fn new(device: &Device, samples: u32) -> Self {
        let layout = |label, visibility, types: &[BindingType]| {
            let entries: Vec<_> = (types.iter().enumerate())
                .map(|(binding, &ty)| wgpu::BindGroupLayoutEntry {
                    binding: binding as u32,
                    visibility,
                    ty,
                    count: None,
                })
                .collect();
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
        };
        let everywhere = ShaderStages::COMPUTE | ShaderStages::VERTEX_FRAGMENT;
        let uniform = list(wgpu::BufferBindingType::Uniform);
        let uniforms = layout("water uniforms", everywhere, &[uniform]);
        let field = layout(
            "height field",
            ShaderStages::COMPUTE,
            &[CHANGED, CHANGED, READ, READ, LOADED],
        );
        let surface = layout("water surface", ShaderStages::FRAGMENT, &[READ]);
        let sunlight = layout("sunlight", ShaderStages::VERTEX, &[LOADED]);
        let blur = layout("blur of the sunlight", ShaderStages::FRAGMENT, &[LOADED]);
        let pipeline_layout = |group: &BindGroupLayout| {
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &[Some(&uniforms), Some(group)],
                immediate_size: 0,
            })
        };
        let steps = module(device, "water_field");
        let compute = |entry: &str| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: Some(&pipeline_layout(&field)),
                module: &steps,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
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
                    blend: Some(wgpu::BlendState {
                        color: SUM,
                        alpha: SUM,
                    }),
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

/// Adds what is drawn to what is there.
const SUM: wgpu::BlendComponent = wgpu::BlendComponent {
    src_factor: wgpu::BlendFactor::One,
    dst_factor: wgpu::BlendFactor::One,
    operation: wgpu::BlendOperation::Add,
};

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
