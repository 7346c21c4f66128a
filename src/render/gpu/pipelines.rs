//! The shaders and how they are plugged together: modules, layouts, pipelines. Nothing here holds a picture.

use wgpu::{BindGroupLayout, BindingType, Device, PrimitiveTopology, ShaderStages, TextureFormat};

use crate::geometry::SurfaceKind;
use crate::render::dust::Speck;
use crate::render::ground_shadow::GroundShadowVertex;
use crate::render::model::Vertex;
use crate::render::output_params::OutputParams;
use crate::render::overlay::OverlayVertex;
use crate::render::warp::WarpVertex;

/// Format of the net of light: roots of up to four times even light.
pub(super) const CAUSTICS: TextureFormat = TextureFormat::R8Unorm;
/// Format of the picture below the surface: roots of light (`kept` in `shaders/scene.wgsl`).
pub(super) const BODIES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of depth.
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
/// Format of the water's slopes: halves a step apart by 0.002, which moves what is seen by less than a quarter pixel.
pub(super) const SLOPES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the finished picture.
pub(super) const FINISHED: TextureFormat = TextureFormat::Rgba8UnormSrgb;
/// Format of the painted ground: roots of colors, so that eight bits are fine where the eye is.
pub(super) const GROUND: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the light on the ground: roots, too.
pub(super) const GROUND_LIGHT: TextureFormat = TextureFormat::Rgba8Unorm;

/// Name and full text of every shader: the frame's part in front of its own.
pub(super) const SHADERS: [(&str, &str); 7] = [
    (
        "ground",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/ground.wgsl")
        ),
    ),
    (
        "ground_light",
        concat!(
            include_str!("../../../shaders/scene.wgsl"),
            include_str!("../../../shaders/ground_light.wgsl")
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

/// BindGroupLayouts of what shaders are given.
pub(super) struct BindGroupLayouts {
    pub(super) scene: BindGroupLayout,
    pub(super) ground: BindGroupLayout,
    pub(super) ground_light: BindGroupLayout,
    pub(super) bodies: BindGroupLayout,
    pub(super) output: BindGroupLayout,
    pub(super) output_uniforms: BindGroupLayout,
    pub(super) overlay: BindGroupLayout,
}

/// Everything that runs.
pub(super) struct Pipelines {
    pub(super) ground_paint: wgpu::RenderPipeline,
    pub(super) caustics: wgpu::RenderPipeline,
    pub(super) ground_shadow: wgpu::RenderPipeline,
    pub(super) fish: wgpu::RenderPipeline,
    pub(super) stone: wgpu::RenderPipeline,
    pub(super) plant: wgpu::RenderPipeline,
    pub(super) waterfall: wgpu::RenderPipeline,
    pub(super) dust: wgpu::RenderPipeline,
    pub(super) overlay: wgpu::RenderPipeline,
    pub(super) cell_means: wgpu::RenderPipeline,
}

const UNIFORM: BindingType = BindingType::Buffer {
    ty: wgpu::BufferBindingType::Uniform,
    has_dynamic_offset: false,
    min_binding_size: None,
};
const SAMPLER: BindingType = BindingType::Sampler(wgpu::SamplerBindingType::Filtering);

const LIST: BindingType = BindingType::Buffer {
    ty: wgpu::BufferBindingType::Storage { read_only: true },
    has_dynamic_offset: false,
    min_binding_size: None,
};

const fn texture(view_dimension: wgpu::TextureViewDimension) -> BindingType {
    BindingType::Texture {
        sample_type: wgpu::TextureSampleType::Float { filterable: true },
        view_dimension,
        multisampled: false,
    }
}

const FLAT: BindingType = texture(wgpu::TextureViewDimension::D2);
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
        let drawn = ShaderStages::VERTEX_FRAGMENT;
        Self {
            scene: layout("scene", drawn, &[UNIFORM]),
            ground: layout("ground", drawn, &[LIST, LIST]),
            ground_light: layout("ground light", drawn, &[LAYERS, SAMPLER, FLAT]),
            bodies: layout(
                "bodies",
                drawn,
                &[FLAT, SAMPLER, LAYERS, LIST, LIST, FLAT, SAMPLER],
            ),
            output: layout(
                "output",
                drawn,
                &[FLAT, FLAT, FLAT, FLAT, SAMPLER, FLAT, SAMPLER],
            ),
            output_uniforms: layout("output uniforms", drawn, &[UNIFORM]),
            overlay: layout("overlay", drawn, &[FLAT, SAMPLER]),
        }
    }
}

/// What differs between the drawing pipelines.
struct PipelineDescription<'a> {
    name: &'a str,
    given: &'a [&'a BindGroupLayout],
    corner: (&'a str, Option<wgpu::VertexBufferLayout<'a>>),
    pixel: (&'a str, TextureFormat, Option<wgpu::BlendState>),
    depth: bool,
    samples: u32,
    constants: &'a [(&'a str, f64)],
}

/// Name of the constant in the shaders that tells a floor, a wall and a ceiling apart.
const SURFACE_KIND: &str = "SURFACE_KIND";

fn kind_number(kind: SurfaceKind) -> f64 {
    match kind {
        SurfaceKind::Floor => 0.0,
        SurfaceKind::Wall => 1.0,
        SurfaceKind::Ceiling => 2.0,
    }
}

impl Pipelines {
    pub(super) fn new(
        device: &Device,
        layouts: &BindGroupLayouts,
        kind: SurfaceKind,
        samples: u32,
        influences: usize,
    ) -> Self {
        let draw = |drawing: &PipelineDescription<'_>| pipeline(device, layouts, drawing);
        let shade_corners =
            wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x3];
        let mark_corners = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x4];
        let body_corners = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Unorm8x4, 4 => Uint8x4, 5 => Unorm8x4];
        let flat = |name, corner, pixel, given| PipelineDescription {
            name,
            given,
            corner,
            pixel,
            depth: false,
            samples: 1,
            constants: &[],
        };
        let constants = [
            (SURFACE_KIND, kind_number(kind)),
            ("INFLUENCES", influences as f64),
        ];
        let given_below = [&layouts.bodies];
        let speck_corners = wgpu::vertex_attr_array![0 => Float32x4];
        let specks = wgpu::VertexBufferLayout {
            step_mode: wgpu::VertexStepMode::Instance,
            ..vertices::<Speck>(&speck_corners)
        };
        let body = |corner, pixel, blend| PipelineDescription {
            name: "bodies",
            given: &given_below,
            corner: (corner, Some(vertices::<Vertex>(&body_corners))),
            pixel: (pixel, BODIES, blend),
            depth: true,
            samples,
            constants: &constants,
        };
        let over = Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING);
        Self {
            ground_paint: draw(&flat(
                "ground",
                ("whole", None),
                ("paint", GROUND, None),
                &[&layouts.ground],
            )),
            caustics: draw(&flat(
                "ground_light",
                ("whole", None),
                ("net", GROUND_LIGHT, None),
                &[&layouts.ground_light],
            )),
            ground_shadow: draw(&flat(
                "ground_light",
                ("lay", Some(vertices::<GroundShadowVertex>(&shade_corners))),
                ("darken", GROUND_LIGHT, Some(multiply())),
                &[&layouts.ground_light],
            )),
            cell_means: draw(&flat(
                "cell_means",
                ("whole", None),
                ("mean", FINISHED, None),
                &[&layouts.overlay],
            )),
            fish: draw(&body("fish_corner", "fish_light", over)),
            stone: draw(&body("body_corner", "stone_light", None)),
            plant: draw(&body("plant_corner", "plant_light", over)),
            waterfall: draw(&body("body_corner", "fall_light", over)),
            dust: draw(&PipelineDescription {
                name: "dust",
                given: &[],
                corner: ("lay", Some(specks)),
                pixel: ("shine", BODIES, over),
                depth: true,
                samples,
                constants: &constants[..1],
            }),
            overlay: draw(&flat(
                "overlay",
                ("lay", Some(vertices::<OverlayVertex>(&mark_corners))),
                ("fill", FINISHED, Some(wgpu::BlendState::ALPHA_BLENDING)),
                &[&layouts.overlay],
            )),
        }
    }
}

/// The last pass of one projector: whether only a part of the picture may be replaced, and whether it filters_edges the edges
/// of bodies.
pub(super) fn output(
    device: &Device,
    layouts: &BindGroupLayouts,
    kind: SurfaceKind,
    output: &OutputParams,
    [is_limited, filters_edges]: [bool; 2],
) -> wgpu::RenderPipeline {
    let corners = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x2, 2 => Float32x2];
    let blend = &output.blend;
    let blends = [
        blend.left,
        blend.top,
        blend.right,
        blend.bottom,
        blend.black_lift,
    ];
    let constants = [
        (SURFACE_KIND, kind_number(kind)),
        (
            "BLENDS",
            f64::from(u8::from(blends.iter().any(|&b| b > 0.0))),
        ),
        (
            "BENDS",
            f64::from(u8::from((output.gamma - 1.0).abs() > 1e-6)),
        ),
        ("SOFTENS", f64::from(u8::from(filters_edges))),
    ];
    let drawing = PipelineDescription {
        name: "output",
        given: &[&layouts.output, &layouts.output_uniforms],
        corner: ("carry", Some(vertices::<WarpVertex>(&corners))),
        pixel: ("show", FINISHED, is_limited.then(partly)),
        depth: false,
        samples: 1,
        constants: &constants,
    };
    pipeline(device, layouts, &drawing)
}

fn vertices<T>(attributes: &[wgpu::VertexAttribute]) -> wgpu::VertexBufferLayout<'_> {
    wgpu::VertexBufferLayout {
        array_stride: size_of::<T>() as u64,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    }
}

/// A constant share of the picture is replaced.
fn partly() -> wgpu::BlendState {
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

/// Every shadow takes its share of what light is left.
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

fn module(device: &Device, name: &str) -> wgpu::ShaderModule {
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
    given: &[&BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = std::iter::once(&layouts.scene)
        .chain(given.iter().copied())
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
    drawing: &PipelineDescription<'_>,
) -> wgpu::RenderPipeline {
    let module = module(device, drawing.name);
    let options = || wgpu::PipelineCompilationOptions {
        constants: drawing.constants,
        ..wgpu::PipelineCompilationOptions::default()
    };
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(drawing.pixel.0),
        layout: Some(&pipeline_layout(device, layouts, drawing.given)),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some(drawing.corner.0),
            compilation_options: options(),
            buffers: std::slice::from_ref(&drawing.corner.1)
                .get(..usize::from(drawing.corner.1.is_some()))
                .unwrap_or_default(),
        },
        primitive: wgpu::PrimitiveState {
            topology: PrimitiveTopology::TriangleList,
            // Half of a body's triangles look away from the eye: without a graphics card they cost most of it.
            cull_mode: drawing.depth.then_some(wgpu::Face::Back),
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: drawing.depth.then(|| wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::LessEqual),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState {
            count: drawing.samples,
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(drawing.pixel.0),
            compilation_options: options(),
            targets: &[Some(wgpu::ColorTargetState {
                format: drawing.pixel.1,
                blend: drawing.pixel.2,
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}
