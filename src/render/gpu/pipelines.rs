//! The shaders, bind group layouts and pipelines. The types in this file own no textures or buffers.

use std::panic::resume_unwind;

use wgpu::{BindGroupLayout, BindingType, Device, PrimitiveTopology, ShaderStages, TextureFormat};

use super::vertex_layouts::{self, VertexLayout};
use crate::geometry::SurfaceKind;
use crate::render::output_params::OutputParams;

/// Format of the body texture. It stores square roots of light (see `encode_light` in `shaders/scene.wgsl`).
pub(super) const BODIES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the depth of bodies below the surface, relative to the depth of the ground.
pub(super) const BODY_DEPTH: TextureFormat = TextureFormat::R8Unorm;
/// Format of the depth buffer of bodies.
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
/// Format of the finished pictures.
pub(super) const FINISHED: TextureFormat = TextureFormat::Rgba8UnormSrgb;
/// Format of the painted ground. It stores square roots of colors, so that 8 bits are enough in dark areas.
pub(super) const GROUND: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the shadows on the ground. It stores square roots of the light that is left.
pub(super) const GROUND_SHADOW: TextureFormat = TextureFormat::R8Unorm;

/// Name and full source of every shader. The source is the shared definitions (`scene.wgsl`, or `water.wgsl` for the
/// water) followed by the shader's own file.
pub(super) const SHADERS: [(&str, &str); 11] = [
    (
        "water_field",
        concat!(
            include_str!("../../../shaders/water.wgsl"),
            include_str!("../../../shaders/water_field.wgsl")
        ),
    ),
    (
        "water_surface",
        concat!(
            include_str!("../../../shaders/water.wgsl"),
            include_str!("../../../shaders/water_surface.wgsl")
        ),
    ),
    (
        "caustics",
        concat!(
            include_str!("../../../shaders/water.wgsl"),
            include_str!("../../../shaders/caustics.wgsl")
        ),
    ),
    (
        "ground",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/ground.wgsl")
        ),
    ),
    (
        "ground_shadow",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/ground_shadow.wgsl")
        ),
    ),
    (
        "bodies",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/bodies.wgsl")
        ),
    ),
    (
        "dust",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/dust.wgsl")
        ),
    ),
    (
        "floating",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/floating.wgsl")
        ),
    ),
    (
        "output",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/output.wgsl"),
            include_str!("../../../shaders/wall_and_ceiling.wgsl")
        ),
    ),
    (
        "cell_means",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/cell_means.wgsl")
        ),
    ),
    (
        "overlay",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/overlay.wgsl")
        ),
    ),
];

/// Bind group layouts of all pipelines.
#[derive(Clone)]
pub(super) struct BindGroupLayouts {
    pub(super) scene: BindGroupLayout,
    pub(super) ground: BindGroupLayout,
    pub(super) ground_shadow: BindGroupLayout,
    pub(super) bodies: BindGroupLayout,
    pub(super) output: BindGroupLayout,
    pub(super) output_uniforms: BindGroupLayout,
    pub(super) overlay: BindGroupLayout,
}

/// All pipelines except the pipelines of each output.
#[derive(Clone)]
pub(super) struct Pipelines {
    pub(super) ground_paint: wgpu::RenderPipeline,
    pub(super) ground_shadow: wgpu::RenderPipeline,
    pub(super) fish: wgpu::RenderPipeline,
    pub(super) stone: wgpu::RenderPipeline,
    pub(super) plant: wgpu::RenderPipeline,
    pub(super) waterfall: wgpu::RenderPipeline,
    pub(super) floating: wgpu::RenderPipeline,
    pub(super) dust: wgpu::RenderPipeline,
    pub(super) overlay: wgpu::RenderPipeline,
    pub(super) cell_means: wgpu::RenderPipeline,
}

/// Binding type of a uniform buffer.
const UNIFORM: BindingType = BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: false,
    min_binding_size: None,
};
/// Binding type of a sampler.
const SAMPLER: BindingType = BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

/// Binding type of a read-only storage buffer.
const LIST: BindingType = BindingType::Buffer {
    ty: wgpu::BufferBindingType::Storage { read_only: true },
    has_dynamic_offset: false,
    min_binding_size: None,
};

/// Returns the binding type of a texture that is sampled with filtering.
const fn texture(view_dimension: wgpu::TextureViewDimension) -> BindingType {
    BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension,
        multisampled: false,
    }
}

/// Binding type of a two-dimensional texture.
const FLAT: BindingType = texture(wgpu::TextureViewDimension::D2);
/// Binding type of an array of two-dimensional textures.
const LAYERS: BindingType = texture(wgpu::TextureViewDimension::D2Array);

impl BindGroupLayouts {
    pub(super) fn new(device: &Device) -> Self {
        let layout = |label: &str, visibility: ShaderStages, types: &[BindingType]| {
            let entries: Vec<_> = types
                .iter()
                .enumerate()
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
        let stages = ShaderStages::VERTEX_FRAGMENT;
        Self {
            scene: layout("scene", stages, &[UNIFORM]),
            ground: layout("ground", stages, &[LIST, LIST, LIST]),
            ground_shadow: layout("ground shadow", stages, &[LAYERS, SAMPLER]),
            bodies: layout(
                "bodies",
                stages,
                &[FLAT, SAMPLER, LAYERS, LIST, LIST, FLAT, SAMPLER],
            ),
            output: layout(
                "output",
                stages,
                &[FLAT, FLAT, FLAT, FLAT, SAMPLER, FLAT, SAMPLER, FLAT, FLAT],
            ),
            output_uniforms: layout("output uniforms", stages, &[UNIFORM]),
            overlay: layout("overlay", stages, &[FLAT, SAMPLER]),
        }
    }
}

/// The properties that are different in each pipeline.
struct PipelineDescription<'a> {
    /// Name of the shader in [`SHADERS`].
    shader: &'a str,
    /// Layouts of the bind groups with number 1 and above. Group 0 is always the bind group of the scene.
    bind_groups: &'a [&'a BindGroupLayout],
    /// Vertex entry point, and the layout of the vertex buffer; `None` if the entry point reads no buffer.
    vertex: (&'a str, Option<wgpu::VertexBufferLayout<'a>>),
    /// Fragment entry point, format of the target, and blending with the target.
    fragment: (&'a str, TextureFormat, Option<wgpu::BlendState>),
    /// Whether bodies are drawn: their depth below the surface goes to a second target, and triangles are tested against the depth
    /// buffer and are not drawn if seen from behind.
    draws_bodies: bool,
    /// Samples per pixel.
    samples: u32,
    /// Values of the shader's overridable constants.
    constants: &'a [(&'a str, f64)],
}

/// Name of the overridable constant that contains the kind of the surface (floor, wall or ceiling).
const SURFACE_KIND: &str = "SURFACE_KIND";

/// The properties of a scene for which its pipelines are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PipelineKind {
    pub(super) surface: SurfaceKind,
    /// Samples per pixel.
    pub(super) samples: u32,
    /// Largest number of joints that move one vertex.
    pub(super) influences: usize,
    /// Whether a species has color varieties.
    pub(super) has_varieties: bool,
    /// Whether a species has markings.
    pub(super) has_markings: bool,
}

/// Returns the number of a flag for a constant of a shader.
fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
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

/// Makes the pipelines of one scene.
struct Maker<'a> {
    device: &'a Device,
    layouts: &'a BindGroupLayouts,
    samples: u32,
    /// Values of the shaders' overridable constants: the kind of the surface, and those that only the bodies have.
    constants: [(&'static str, f64); 4],
}

/// Bodies are drawn over what is behind them.
const OVER: Option<wgpu::BlendState> = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);

impl Maker<'_> {
    fn make(&self, description: &PipelineDescription<'_>) -> wgpu::RenderPipeline {
        pipeline(self.device, self.layouts, description)
    }

    /// Makes a pipeline that draws to the whole target, without vertices from a buffer.
    fn full_target(
        &self,
        shader: &str,
        fragment: &str,
        format: TextureFormat,
        bind_group: &BindGroupLayout,
    ) -> wgpu::RenderPipeline {
        self.make(&PipelineDescription {
            shader,
            bind_groups: &[bind_group],
            vertex: ("full_target", None),
            fragment: (fragment, format, None),
            draws_bodies: false,
            samples: 1,
            constants: &[],
        })
    }

    /// Makes a pipeline that draws triangles from a vertex buffer.
    fn flat(
        &self,
        shader: &str,
        (vertex, layout): (&str, VertexLayout),
        fragment: (&str, TextureFormat, Option<wgpu::BlendState>),
        bind_group: &BindGroupLayout,
    ) -> wgpu::RenderPipeline {
        self.make(&PipelineDescription {
            shader,
            bind_groups: &[bind_group],
            vertex: (vertex, Some(layout.per_vertex())),
            fragment,
            draws_bodies: false,
            samples: 1,
            constants: &[],
        })
    }

    /// Makes a pipeline that draws models.
    fn body(
        &self,
        vertex: &str,
        fragment: &str,
        blend: Option<wgpu::BlendState>,
    ) -> wgpu::RenderPipeline {
        self.make(&PipelineDescription {
            shader: "bodies",
            bind_groups: &[&self.layouts.bodies],
            vertex: (vertex, Some(vertex_layouts::MODEL.per_vertex())),
            fragment: (fragment, BODIES, blend),
            draws_bodies: true,
            samples: self.samples,
            constants: &self.constants,
        })
    }

    /// Makes a pipeline that draws small things among the bodies, one per instance.
    fn small(
        &self,
        shader: &str,
        (vertex, layout): (&str, VertexLayout),
        fragment: &str,
    ) -> wgpu::RenderPipeline {
        self.make(&PipelineDescription {
            shader,
            bind_groups: &[],
            vertex: (vertex, Some(layout.per_instance())),
            fragment: (fragment, BODIES, OVER),
            draws_bodies: true,
            samples: self.samples,
            constants: &self.constants[..1],
        })
    }
}

impl Pipelines {
    /// Creates all pipelines.
    pub(super) fn new(device: &Device, layouts: &BindGroupLayouts, kind: PipelineKind) -> Self {
        let to = Maker {
            device,
            layouts,
            samples: kind.samples,
            constants: [
                (SURFACE_KIND, f64::from(kind_number(kind.surface))),
                ("INFLUENCES", kind.influences as f64),
                ("HAS_VARIETIES", flag(kind.has_varieties)),
                ("HAS_MARKINGS", flag(kind.has_markings)),
            ],
        };
        let [
            ground_paint,
            ground_shadow,
            cell_means,
            fish,
            stone,
            plant,
            waterfall,
            floating,
            dust,
            overlay,
        ] = at_once([
            &|| to.full_target("ground", "ground_color", GROUND, &layouts.ground),
            &|| {
                let vertex = ("shadow_vertex", vertex_layouts::GROUND_SHADOW);
                let fragment = ("shadow_light", GROUND_SHADOW, Some(multiply()));
                to.flat("ground_shadow", vertex, fragment, &layouts.ground_shadow)
            },
            &|| to.full_target("cell_means", "cell_mean", FINISHED, &layouts.overlay),
            &|| to.body("fish_vertex", "fish_light", OVER),
            &|| to.body("body_vertex", "stone_light", None),
            &|| to.body("plant_vertex", "plant_light", OVER),
            &|| to.body("body_vertex", "waterfall_light", OVER),
            &|| {
                to.small(
                    "floating",
                    ("leaf_vertex", vertex_layouts::LEAF),
                    "leaf_light",
                )
            },
            &|| {
                to.small(
                    "dust",
                    ("speck_vertex", vertex_layouts::SPECK),
                    "speck_light",
                )
            },
            &|| {
                let vertex = ("overlay_vertex", vertex_layouts::OVERLAY);
                let blend = Some(wgpu::BlendState::ALPHA_BLENDING);
                let fragment = ("overlay_color", FINISHED, blend);
                to.flat("overlay", vertex, fragment, &layouts.overlay)
            },
        ]);
        Self {
            ground_paint,
            ground_shadow,
            fish,
            stone,
            plant,
            waterfall,
            floating,
            dust,
            overlay,
            cell_means,
        }
    }
}

/// Compiles pipelines at the same time, each in a thread of its own. A driver needs most of a start for them: Mesa's software driver
/// needs about 0.2 s for each.
fn at_once<const N: usize>(
    jobs: [&(dyn Fn() -> wgpu::RenderPipeline + Sync); N],
) -> [wgpu::RenderPipeline; N] {
    std::thread::scope(|scope| {
        let started = jobs.map(|job| {
            let thread = std::thread::Builder::new().name("pipeline".to_owned());
            (job, thread.spawn_scoped(scope, job))
        });
        started.map(|(job, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system has no thread left.
            Err(_) => job(),
        })
    })
}

/// The properties of an output for which its pipelines are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputKind {
    pub(super) surface: SurfaceKind,
    /// Soft edges, and a gamma value (see [`output_features`]).
    pub(super) own: [bool; 2],
}

/// Pipelines of an output.
#[derive(Clone)]
pub(super) struct OutputPipelines {
    pub(super) compiled_for: OutputKind,
    /// Replaces the last picture.
    pub(super) full: wgpu::RenderPipeline,
    /// Blends the new picture over the last picture; the blend constant is the weight of the new picture. Used while flashing is
    /// limited.
    pub(super) limited: wgpu::RenderPipeline,
}

impl OutputPipelines {
    /// Creates the pipelines.
    pub(super) fn new(device: &Device, layouts: &BindGroupLayouts, kind: OutputKind) -> Self {
        let [full, limited] = at_once([&|| output(device, layouts, kind, None), &|| {
            output(device, layouts, kind, Some(replace_constant_share()))
        }]);
        Self {
            compiled_for: kind,
            full,
            limited,
        }
    }
}

fn output(
    device: &Device,
    layouts: &BindGroupLayouts,
    kind: OutputKind,
    blend: Option<wgpu::BlendState>,
) -> wgpu::RenderPipeline {
    let [has_blend, has_gamma] = kind.own;
    let constants = [
        (SURFACE_KIND, f64::from(kind_number(kind.surface))),
        ("HAS_BLEND", flag(has_blend)),
        ("HAS_GAMMA", flag(has_gamma)),
    ];
    let description = PipelineDescription {
        shader: "output",
        bind_groups: &[&layouts.output, &layouts.output_uniforms],
        vertex: ("warp_vertex", Some(vertex_layouts::WARP.per_vertex())),
        fragment: ("output_color", FINISHED, blend),
        draws_bodies: false,
        samples: 1,
        constants: &constants,
    };
    pipeline(device, layouts, &description)
}

/// Returns the features of an output for which its pipeline is compiled: soft edges, and a gamma value.
pub(super) fn output_features(output: &OutputParams) -> [bool; 2] {
    let blend = &output.blend;
    let widths = [
        blend.left,
        blend.top,
        blend.right,
        blend.bottom,
        blend.black_lift,
    ];
    let has_blend = widths.iter().any(|&width| width > 0.0);
    [has_blend, (output.gamma - 1.0).abs() > 1e-6]
}

/// Returns the blending in which the new picture has a constant weight and the previous picture has the rest.
fn replace_constant_share() -> wgpu::BlendState {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::Constant,
        dst_factor: wgpu::BlendFactor::OneMinusConstant,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::BlendState {
        color: component,
        alpha: component,
    }
}

/// Returns the blending that multiplies source and target, so that each shadow removes a share of the remaining light.
fn multiply() -> wgpu::BlendState {
    let component = wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::Dst,
        dst_factor: wgpu::BlendFactor::Zero,
        operation: wgpu::BlendOperation::Add,
    };
    wgpu::BlendState {
        color: component,
        alpha: component,
    }
}

/// Compiles a shader and returns its module.
pub(super) fn module(device: &Device, name: &str) -> wgpu::ShaderModule {
    let text = SHADERS
        .iter()
        .find(|shader| shader.0 == name)
        .map_or("", |shader| shader.1);
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(text.into()),
    })
}

fn pipeline_layout(
    device: &Device,
    layouts: &BindGroupLayouts,
    bind_groups: &[&BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = std::iter::once(&layouts.scene)
        .chain(bind_groups.iter().copied())
        .map(Some)
        .collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}

fn pipeline(
    device: &Device,
    layouts: &BindGroupLayouts,
    description: &PipelineDescription<'_>,
) -> wgpu::RenderPipeline {
    let module = module(device, description.shader);
    let target = |format, write_mask| {
        Some(wgpu::ColorTargetState {
            format,
            blend: description.fragment.2,
            write_mask,
        })
    };
    let targets = [
        target(description.fragment.1, wgpu::ColorWrites::ALL),
        target(BODY_DEPTH, wgpu::ColorWrites::RED),
    ];
    let options = || wgpu::PipelineCompilationOptions {
        constants: description.constants,
        ..wgpu::PipelineCompilationOptions::default()
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(description.fragment.0),
        layout: Some(&pipeline_layout(device, layouts, description.bind_groups)),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(description.vertex.0),
            compilation_options: options(),
            buffers: std::slice::from_ref(&description.vertex.1)
                .get(..usize::from(description.vertex.1.is_some()))
                .unwrap_or_default(),
        },
        primitive: wgpu::PrimitiveState {
            topology: PrimitiveTopology::TriangleList,
            // Triangles that face away from the viewer are not drawn. They are about half of a body, and a software renderer would
            // spend much time on them.
            cull_mode: description.draws_bodies.then_some(wgpu::Face::Back),
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: description.draws_bodies.then(|| wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: description.samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(description.fragment.0),
            compilation_options: options(),
            targets: targets
                .get(..1 + usize::from(description.draws_bodies))
                .unwrap_or_default(),
        }),
        multiview_mask: None,
        cache: None,
    })
}
