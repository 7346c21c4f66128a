//! Tests that every shader is valid, and that structs and constants used by both Rust and shaders are equal in both.

use std::collections::BTreeMap;
use std::mem::offset_of;

use naga::proc::Layouter;
use wgpu::VertexFormat;

use super::pipeline::kind_number;
use super::shaders::SHADERS;
use super::vertex_layouts::{self, VertexLayout};
use crate::geometry::SurfaceKind;
use crate::render::draw_list::BodyInstance;
use crate::render::drift::DRIFT_PERIOD_SECS;
use crate::render::flash::CELLS;
use crate::render::ground_contact::{GroundContact, TerraceGround};
use crate::render::pose::AffineRows;
use crate::render::static_bodies::Substance;
use crate::render::uniforms::{OutputUniforms, SceneUniforms};
use crate::render::water::{FieldUniforms, SWELL_WAVES};

fn module(shader: &str) -> naga::Module {
    let text = SHADERS.iter().find(|(name, _)| *name == shader).unwrap().1;
    naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{shader}: {}", error.emit_to_string(text)))
}

#[test]
fn every_shader_is_valid() {
    for (name, text) in SHADERS {
        let module = module(name);
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::default(),
        );
        validator
            .validate(&module)
            .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(text)));
    }
}

/// Name, offset and size of each member of a struct; offset and size in bytes.
type Members = Vec<(String, usize, usize)>;

/// Returns the size of a shader's struct in an array, in bytes, and the members of the struct.
fn shader_layout(shader: &str, name: &str) -> (usize, Members) {
    let module = module(shader);
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let (handle, kind) = module
        .types
        .iter()
        .find(|(_, kind)| kind.name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("{shader} has no struct {name}"));
    let naga::TypeInner::Struct { members, .. } = &kind.inner else {
        panic!("{name} is no struct")
    };
    let members = members.iter().map(|member| {
        let size = layouter[member.ty].size as usize;
        let name = member.name.clone().unwrap_or_default();
        (name, member.offset as usize, size)
    });
    (layouter[handle].to_stride() as usize, members.collect())
}

/// Asserts that a Rust struct and the struct of the same name in a shader have the same layout: the same size, and the same
/// name, offset and size of every field. Also fails if a field is missing in the list or in one of the structs.
macro_rules! assert_same_layout {
    ($shader:literal, $type:ident { $($field:ident),* $(,)? }) => {{
        let rust: Members = vec![$((
            stringify!($field).to_owned(),
            offset_of!($type, $field),
            // A zeroed value of the type, to measure the size of its field.
            size_of_val(&<$type as bytemuck::Zeroable>::zeroed().$field),
        )),*];
        let (size, members) = shader_layout($shader, stringify!($type));
        assert_eq!(members, rust, "{}", stringify!($type));
        assert_eq!(size, size_of::<$type>(), "size of {}", stringify!($type));
    }};
}

#[test]
fn scene_uniforms_have_the_same_layout_in_rust_and_in_the_shaders() {
    assert_same_layout!(
        "bodies",
        SceneUniforms {
            surface_half_m,
            eye_height_m,
            ground_depth_m,
            water_half_m,
            overscan,
            target_scale,
            ground_half_m,
            sun_shift,
            sun_color,
            sun_strength,
            sky_color,
            reflection,
            absorption_per_m,
            exposure,
            sand_color,
            pebble_share,
            up,
            water_level_m,
            to_sun,
            facing_scale,
            haze_color,
            haze_per_m,
            body_uv_per_m,
            ground_uv_per_m,
            time_secs,
            sun_cosine,
            caustics,
            foam,
            shafts,
            glow,
            litter,
            rust_share,
            relief,
            ground_seed,
            gravel,
            canopy,
            crust,
            clearing,
            wake_glow,
            silt,
            prints,
            bloom,
            has_traces,
            padding,
        }
    );
    assert_same_layout!(
        "water_field",
        FieldUniforms {
            half_m,
            region,
            cells,
            log2_cells,
            cell_m,
            step_secs,
            time_secs,
            focus_m,
            mesh_step,
            spread_texels,
            target_px,
            padding_2,
            swell,
        }
    );
}

#[test]
fn lists_have_the_same_layout_in_rust_and_in_the_shaders() {
    assert_same_layout!(
        "output",
        OutputUniforms {
            gain,
            gamma,
            ramp_widths,
            ramp_gamma,
            black_lift,
            padding,
        }
    );
    assert_same_layout!(
        "bodies",
        BodyInstance {
            first_joint,
            skin_layer,
            size_m,
            hue_cos,
            hue_sin,
            brightness,
            shine,
            glow,
            tone,
            substance,
            mark_color,
            mark_shape,
            mottling,
        }
    );
    assert_same_layout!("bodies", AffineRows { x, y, z });
    assert_same_layout!(
        "ground",
        GroundContact {
            center_m,
            half_m,
            axis,
            reach_m,
            is_root
        }
    );
    assert_same_layout!(
        "ground",
        TerraceGround {
            first_corner,
            corner_count,
            height
        }
    );
}

/// Returns the number of components that a shader reads from an attribute, and whether the components are floats.
fn components(format: VertexFormat) -> (u32, bool) {
    match format {
        VertexFormat::Float32 => (1, true),
        VertexFormat::Float32x2 => (2, true),
        VertexFormat::Float32x3 => (3, true),
        VertexFormat::Float32x4 | VertexFormat::Unorm8x4 => (4, true),
        VertexFormat::Uint8x4 => (4, false),
        other => panic!("add {other:?} to this list"),
    }
}

#[test]
fn vertices_have_the_same_fields_in_rust_and_in_the_shaders() {
    let layouts: [(&str, &str, VertexLayout); 6] = [
        ("bodies", "ModelVertex", vertex_layouts::MODEL),
        (
            "ground_shadow",
            "GroundShadowVertex",
            vertex_layouts::GROUND_SHADOW,
        ),
        ("dust", "Speck", vertex_layouts::SPECK),
        ("floating", "Leaf", vertex_layouts::LEAF),
        ("overlay", "OverlayVertex", vertex_layouts::OVERLAY),
        ("output", "WarpVertex", vertex_layouts::WARP),
    ];
    for (shader, name, layout) in layouts {
        let module = module(shader);
        let (_, kind) = module
            .types
            .iter()
            .find(|(_, kind)| kind.name.as_deref() == Some(name))
            .unwrap_or_else(|| panic!("{shader} has no struct {name}"));
        let naga::TypeInner::Struct { members, .. } = &kind.inner else {
            panic!("{name} is no struct")
        };
        assert_eq!(
            members.len(),
            layout.attributes.len(),
            "number of fields of {name}"
        );
        let mut end = 0;
        for ((member, attribute), field) in members.iter().zip(layout.attributes).zip(layout.names)
        {
            assert_eq!(member.name.as_deref(), Some(*field), "{name}");
            let Some(naga::Binding::Location { location, .. }) = member.binding else {
                panic!("{name}.{field} has no location")
            };
            assert_eq!(
                location, attribute.shader_location,
                "location of {name}.{field}"
            );
            let (count, scalar) = match module.types[member.ty].inner {
                naga::TypeInner::Scalar(scalar) => (1, scalar),
                naga::TypeInner::Vector { size, scalar } => (size as u32, scalar),
                ref other => panic!("{name}.{field}: {other:?}"),
            };
            let is_float = scalar.kind == naga::ScalarKind::Float;
            assert_eq!(
                (count, is_float),
                components(attribute.format),
                "type of {name}.{field}"
            );
            // If the fields follow each other without gaps, each format has the size of its field.
            assert_eq!(attribute.offset, end, "offset of {name}.{field}");
            end += attribute.format.size();
        }
        assert_eq!(layout.stride, end, "size of {name}");
    }
}

#[test]
fn constants_have_the_same_values_in_rust_and_in_the_shaders() {
    let (mut values, mut numbers) = (BTreeMap::new(), BTreeMap::new());
    for (name, _) in SHADERS {
        let module = module(name);
        for (_, constant) in module.constants.iter() {
            let value = &module.global_expressions[constant.init];
            if let naga::Expression::Literal(naga::Literal::U32(value)) = value {
                values.insert(constant.name.clone().unwrap_or_default(), *value);
            }
            if let naga::Expression::Literal(naga::Literal::F32(value)) = value {
                numbers.insert(constant.name.clone().unwrap_or_default(), *value);
            }
        }
    }
    let rust = [
        ("FLOOR", u32::from(kind_number(SurfaceKind::Floor))),
        ("WALL", u32::from(kind_number(SurfaceKind::Wall))),
        ("CEILING", u32::from(kind_number(SurfaceKind::Ceiling))),
        ("STONE", Substance::Stone as u32),
        ("WOOD", Substance::Wood as u32),
        ("GROWN", Substance::Grown as u32),
        ("LEAF", Substance::Leaf as u32),
        ("FLOWER", Substance::Flower as u32),
        ("SWELL_WAVES", SWELL_WAVES as u32),
        ("CELL_COLUMNS", CELLS[0]),
        ("CELL_ROWS", CELLS[1]),
    ];
    for (name, value) in rust {
        assert_eq!(values.get(name), Some(&value), "{name}");
    }
    assert_eq!(
        numbers.get("DRIFT_PERIOD_SECS"),
        Some(&(DRIFT_PERIOD_SECS as f32))
    );
}
