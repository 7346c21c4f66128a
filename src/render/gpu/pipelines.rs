//! The shaders and how they are plugged together: modules, layouts, pipelines. Nothing here holds a picture.

use wgpu::{BindGroupLayout, BindingType, Device, PrimitiveTopology, ShaderStages, TextureFormat};

use crate::geometry::SurfaceKind;
use crate::render::dust::Speck;
use crate::render::model::Vertex;
use crate::render::overlay::MarkCorner;
use crate::render::projector::OutputParams;
use crate::render::shade::ShadeCorner;
use crate::render::warp::WarpCorner;

/// Format of the net of light: roots of up to four times even light.
pub(super) const NET: TextureFormat = TextureFormat::R8Unorm;
/// Format of the picture below the surface: roots of light (`kept` in `shaders/frame.wgsl`).
pub(super) const BODIES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of depth.
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;
/// Format of the water's slopes: halves a step apart by 0.002, which moves what is seen by less than a quarter pixel.
pub(super) const SLOPES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the finished picture.
pub(super) const SHOWN: TextureFormat = TextureFormat::Rgba8UnormSrgb;
/// Format of the painted ground: roots of colors, so that eight bits are fine where the eye is.
pub(super) const GROUND: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the light on the ground: roots, too.
pub(super) const GROUND_LIGHT: TextureFormat = TextureFormat::Rgba8Unorm;

/// Name and full text of every shader: the frame's part in front of its own.
pub const SHADERS: [(&str, &str); 7] = [
    (
        "ground",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/ground.wgsl")
        ),
    ),
    (
        "shade",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/shade.wgsl")
        ),
    ),
    (
        "below",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/below.wgsl")
        ),
    ),
    (
        "dust",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/dust.wgsl")
        ),
    ),
    (
        "show",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/show.wgsl"),
            include_str!("../../../shaders/wall.wgsl")
        ),
    ),
    (
        "watch",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/watch.wgsl")
        ),
    ),
    (
        "overlay",
        concat!(
            include_str!("../../../shaders/frame.wgsl"),
            include_str!("../../../shaders/overlay.wgsl")
        ),
    ),
];

/// Layouts of what shaders are given.
pub(super) struct Layouts {
    pub(super) frame: BindGroupLayout,
    pub(super) ground: BindGroupLayout,
    pub(super) shade: BindGroupLayout,
    pub(super) below: BindGroupLayout,
    pub(super) show: BindGroupLayout,
    pub(super) output: BindGroupLayout,
    pub(super) overlay: BindGroupLayout,
}

/// Everything that runs.
pub(super) struct Pipelines {
    pub(super) ground_paint: wgpu::RenderPipeline,
    pub(super) net: wgpu::RenderPipeline,
    pub(super) shade: wgpu::RenderPipeline,
    pub(super) fish: wgpu::RenderPipeline,
    pub(super) stone: wgpu::RenderPipeline,
    pub(super) plant: wgpu::RenderPipeline,
    pub(super) fall: wgpu::RenderPipeline,
    pub(super) dust: wgpu::RenderPipeline,
    pub(super) overlay: wgpu::RenderPipeline,
    pub(super) watch: wgpu::RenderPipeline,
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
impl Layouts {
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
            frame: layout("frame", drawn, &[UNIFORM]),
            ground: layout("ground", drawn, &[LIST, LIST]),
            shade: layout("shade", drawn, &[LAYERS, SAMPLER, FLAT]),
            below: layout(
                "below",
                drawn,
                &[FLAT, SAMPLER, LAYERS, LIST, LIST, FLAT, SAMPLER],
            ),
            show: layout(
                "show",
                drawn,
                &[FLAT, FLAT, FLAT, FLAT, SAMPLER, FLAT, SAMPLER],
            ),
            output: layout("output", drawn, &[UNIFORM]),
            overlay: layout("overlay", drawn, &[FLAT, SAMPLER]),
        }
    }
}

/// What differs between the drawing pipelines.
struct Drawing<'a> {
    name: &'a str,
    given: &'a [&'a BindGroupLayout],
    corner: (&'a str, Option<wgpu::VertexBufferLayout<'a>>),
    pixel: (&'a str, TextureFormat, Option<wgpu::BlendState>),
    depth: bool,
    samples: u32,
    constants: &'a [(&'a str, f64)],
}

const KIND: &str = "KIND";

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
        layouts: &Layouts,
        kind: SurfaceKind,
        samples: u32,
        influences: usize,
    ) -> Self {
        let draw = |drawing: &Drawing<'_>| pipeline(device, layouts, drawing);
        let shade_corners =
            wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x3];
        let mark_corners = wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Float32x4];
        let body_corners = wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3, 2 => Float32x2, 3 => Unorm8x4, 4 => Uint8x4, 5 => Unorm8x4];
        let flat = |name, corner, pixel, given| Drawing {
            name,
            given,
            corner,
            pixel,
            depth: false,
            samples: 1,
            constants: &[],
        };
        let constants = [(KIND, kind_number(kind)), ("INFLUENCES", influences as f64)];
        let given_below = [&layouts.below];
        let speck_corners = wgpu::vertex_attr_array![0 => Float32x4];
        let specks = wgpu::VertexBufferLayout {
            step_mode: wgpu::VertexStepMode::Instance,
            ..vertices::<Speck>(&speck_corners)
        };
        let body = |corner, pixel, blend| Drawing {
            name: "below",
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
            net: draw(&flat(
                "shade",
                ("whole", None),
                ("net", GROUND_LIGHT, None),
                &[&layouts.shade],
            )),
            shade: draw(&flat(
                "shade",
                ("lay", Some(vertices::<ShadeCorner>(&shade_corners))),
                ("darken", GROUND_LIGHT, Some(multiply())),
                &[&layouts.shade],
            )),
            watch: draw(&flat(
                "watch",
                ("whole", None),
                ("mean", SHOWN, None),
                &[&layouts.overlay],
            )),
            fish: draw(&body("fish_corner", "fish_light", over)),
            stone: draw(&body("body_corner", "stone_light", None)),
            plant: draw(&body("plant_corner", "plant_light", over)),
            fall: draw(&body("body_corner", "fall_light", over)),
            dust: draw(&Drawing {
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
                ("lay", Some(vertices::<MarkCorner>(&mark_corners))),
                ("fill", SHOWN, Some(wgpu::BlendState::ALPHA_BLENDING)),
                &[&layouts.overlay],
            )),
        }
    }
}

/// The last pass of one projector: whether only a part of the picture may be replaced, and whether it softens the edges
/// of bodies.
pub(super) fn show(
    device: &Device,
    layouts: &Layouts,
    kind: SurfaceKind,
    output: &OutputParams,
    [is_slow, softens]: [bool; 2],
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
        (KIND, kind_number(kind)),
        (
            "BLENDS",
            f64::from(u8::from(blends.iter().any(|&b| b > 0.0))),
        ),
        (
            "BENDS",
            f64::from(u8::from((output.gamma - 1.0).abs() > 1e-6)),
        ),
        ("SOFTENS", f64::from(u8::from(softens))),
    ];
    let drawing = Drawing {
        name: "show",
        given: &[&layouts.show, &layouts.output],
        corner: ("carry", Some(vertices::<WarpCorner>(&corners))),
        pixel: ("show", SHOWN, is_slow.then(partly)),
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
    layouts: &Layouts,
    given: &[&BindGroupLayout],
) -> wgpu::PipelineLayout {
    let groups: Vec<_> = std::iter::once(&layouts.frame)
        .chain(given.iter().copied())
        .map(Some)
        .collect();
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &groups,
        immediate_size: 0,
    })
}

fn pipeline(device: &Device, layouts: &Layouts, drawing: &Drawing<'_>) -> wgpu::RenderPipeline {
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
