//! What all pipelines have in common: layouts of bind groups, and the compilation of a render pipeline from its description.

use std::panic::resume_unwind;

use wgpu::{BindGroupLayout, BindingType, BlendState, Device, PrimitiveTopology, ShaderStages};
use wgpu::{TextureFormat, VertexBufferLayout};

use super::body_targets::{BODY_DEPTH, DEPTH};
use super::shaders::module;
use crate::geometry::SurfaceKind;

/// Binding type of a uniform buffer.
pub(super) const UNIFORM: BindingType = list(wgpu::BufferBindingType::Uniform);
/// Binding type of a storage buffer that is only read.
pub(super) const LIST: BindingType = list(wgpu::BufferBindingType::Storage { read_only: true });
/// Binding type of a storage buffer that a compute shader changes.
pub(super) const CHANGED_LIST: BindingType =
    list(wgpu::BufferBindingType::Storage { read_only: false });
/// Binding type of a sampler.
pub(super) const SAMPLER: BindingType = BindingType::Sampler(wgpu::SamplerBindingType::Filtering);
/// Binding type of a two-dimensional texture.
pub(super) const FLAT: BindingType = texture(wgpu::TextureViewDimension::D2, true);
/// Binding type of a two-dimensional texture that is read without filtering.
pub(super) const UNFILTERED: BindingType = texture(wgpu::TextureViewDimension::D2, false);
/// Binding type of an array of two-dimensional textures.
pub(super) const LAYERS: BindingType = texture(wgpu::TextureViewDimension::D2Array, true);

/// Returns the binding type of a buffer.
const fn list(ty: wgpu::BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

/// Returns the binding type of a texture.
const fn texture(view_dimension: wgpu::TextureViewDimension, filterable: bool) -> BindingType {
    BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable },
        view_dimension,
        multisampled: false,
    }
}

/// Creates the layout of a bind group. The types get the binding numbers 0, 1, 2 and so on.
pub(super) fn layout(
    device: &Device,
    label: &str,
    visibility: ShaderStages,
    types: &[BindingType],
) -> BindGroupLayout {
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
}

/// Creates a bind group. The resources get the binding numbers 0, 1, 2 and so on.
pub(super) fn bind_group(
    device: &Device,
    layout: &BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (resources.iter().enumerate())
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding: binding as u32,
            resource: resource.clone(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

/// Creates the layout of a pipeline from the layouts of its bind groups.
pub(super) fn pipeline_layout(
    device: &Device,
    bind_groups: &[&BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = bind_groups.iter().copied().map(Some).collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}

/// Blending of a body over what is behind it.
pub(super) const OVER: Option<BlendState> = Some(BlendState::PREMULTIPLIED_ALPHA_BLENDING);

/// Returns a blending of source and target with these factors.
pub(super) fn blend(source: wgpu::BlendFactor, target: wgpu::BlendFactor) -> BlendState {
    let component = wgpu::BlendComponent {
        src_factor: source,
        dst_factor: target,
        operation: wgpu::BlendOperation::Add,
    };
    BlendState {
        color: component,
        alpha: component,
    }
}

/// A constant of a shader that is set when the shader is compiled.
pub(super) type Constant = (&'static str, f64);

/// Returns the value of a constant that is a flag.
pub(super) fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

/// Returns the constant for the kind of the surface.
pub(super) fn surface_constant(kind: SurfaceKind) -> Constant {
    ("SURFACE_KIND", f64::from(kind_number(kind)))
}

/// Returns the number of a surface kind. The constants `FLOOR`, `WALL` and `CEILING` in `shaders/scene.wgsl` have the same
/// values.
pub(super) fn kind_number(kind: SurfaceKind) -> u8 {
    match kind {
        SurfaceKind::Floor => 0,
        SurfaceKind::Wall => 1,
        SurfaceKind::Ceiling => 2,
    }
}

/// What a pipeline draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draws {
    /// Triangles with one sample per pixel.
    Triangles,
    /// A strip of triangles.
    Strip {
        /// Samples per pixel.
        samples: u32,
    },
    /// Bodies: their depth below the surface and their cover go to a second target, and triangles are tested against the depth
    /// buffer and are not drawn if seen from behind.
    Bodies {
        /// Samples per pixel.
        samples: u32,
    },
}

/// The properties that are different in each render pipeline.
pub(super) struct PipelineDescription<'a> {
    /// Name of the shader.
    pub(super) shader: &'a str,
    /// Layouts of the bind groups, from number 0.
    pub(super) bind_groups: &'a [&'a BindGroupLayout],
    /// Vertex entry point, and the layout of the vertex buffer; `None` if the entry point reads no buffer.
    pub(super) vertex: (&'a str, Option<VertexBufferLayout<'a>>),
    /// Fragment entry point, format of the target, and blending with the target.
    pub(super) fragment: (&'a str, TextureFormat, Option<BlendState>),
    /// What the pipeline draws.
    pub(super) draws: Draws,
    /// Values of the shader's overridable constants.
    pub(super) constants: &'a [Constant],
}

impl PipelineDescription<'_> {
    /// Compiles the pipeline.
    pub(super) fn compile(&self, device: &Device) -> wgpu::RenderPipeline {
        let draws_bodies = matches!(self.draws, Draws::Bodies { .. });
        let (topology, samples) = match self.draws {
            Draws::Triangles => (PrimitiveTopology::TriangleList, 1),
            Draws::Strip { samples } => (PrimitiveTopology::TriangleStrip, samples),
            Draws::Bodies { samples } => (PrimitiveTopology::TriangleList, samples),
        };
        let module = module(device, self.shader);
        let (fragment, format, blend) = self.fragment;
        let target = |format, write_mask| {
            Some(wgpu::ColorTargetState {
                format,
                blend,
                write_mask,
            })
        };
        let targets = [
            target(format, wgpu::ColorWrites::ALL),
            target(
                BODY_DEPTH,
                wgpu::ColorWrites::RED | wgpu::ColorWrites::GREEN,
            ),
        ];
        let options = || wgpu::PipelineCompilationOptions {
            constants: self.constants,
            ..wgpu::PipelineCompilationOptions::default()
        };
        device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(fragment),
            layout: Some(&pipeline_layout(device, self.bind_groups)),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(self.vertex.0),
                compilation_options: options(),
                buffers: std::slice::from_ref(&self.vertex.1)
                    .get(..usize::from(self.vertex.1.is_some()))
                    .unwrap_or_default(),
            },
            primitive: wgpu::PrimitiveState {
                topology,
                // Triangles that face away from the viewer are not drawn. They are about half of a body, and a software renderer
                // would spend much time on them.
                cull_mode: draws_bodies.then_some(wgpu::Face::Back),
                ..wgpu::PrimitiveState::default()
            },
            depth_stencil: draws_bodies.then(|| wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState {
                count: samples,
                ..wgpu::MultisampleState::default()
            },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(fragment),
                compilation_options: options(),
                targets: targets
                    .get(..1 + usize::from(draws_bodies))
                    .unwrap_or_default(),
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

/// Compiles pipelines at the same time, each in a thread of its own. A driver needs most of a start for them: Mesa's software driver
/// needs about 0.2 s for each.
pub(super) fn at_once<const N: usize>(
    jobs: [&(dyn Fn() -> wgpu::RenderPipeline + Sync); N],
) -> [wgpu::RenderPipeline; N] {
    std::thread::scope(|scope| jobs.map(|job| begin(scope, job)).map(Started::finish))
}

/// A compilation that runs in a thread of its own.
pub(super) struct Started<'a, T, F> {
    thread: std::io::Result<std::thread::ScopedJoinHandle<'a, T>>,
    job: F,
}

/// Begins a compilation in a thread of its own.
pub(super) fn begin<'a, T: Send + 'a, F: Fn() -> T + Copy + Send + 'a>(
    scope: &'a std::thread::Scope<'a, '_>,
    job: F,
) -> Started<'a, T, F> {
    let thread = std::thread::Builder::new().name("pipeline".to_owned());
    Started {
        thread: thread.spawn_scoped(scope, job),
        job,
    }
}

impl<T, F: Fn() -> T> Started<'_, T, F> {
    /// Waits for the result. If the system had no thread left, compiles here.
    pub(super) fn finish(self) -> T {
        match self.thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => (self.job)(),
        }
    }
}
