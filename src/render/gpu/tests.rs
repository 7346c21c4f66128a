//! Every shader is valid, and every struct that Rust and a shader share has the same layout in both.

use super::pipelines::SHADERS;
use crate::render::draw_list::BodyInstance;
use crate::render::pose::AffineRows;
use crate::render::uniforms::{SceneUniforms, scene_uniform_offsets};
use naga::proc::Layouter;

fn module(name: &str) -> naga::Module {
    let text = SHADERS.iter().find(|shader| shader.0 == name).unwrap().1;
    naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(text)))
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

/// Size of a struct in a shader and its members with their offsets.
fn layout(shader: &str, name: &str) -> (u32, Vec<(String, u32)>) {
    let module = module(shader);
    let mut layouter = Layouter::default();
    layouter.update(module.to_ctx()).unwrap();
    let (handle, kind) = module
        .types
        .iter()
        .find(|(_, kind)| kind.name.as_deref() == Some(name))
        .unwrap();
    let naga::TypeInner::Struct { members, .. } = &kind.inner else {
        panic!("{name} is no struct")
    };
    let members = members
        .iter()
        .map(|m| (m.name.clone().unwrap_or_default(), m.offset))
        .collect();
    (layouter[handle].size, members)
}

#[test]
fn rust_and_shaders_agree_on_layouts() {
    let (size, members) = layout("bodies", "SceneUniforms");
    assert_eq!(size as usize, size_of::<SceneUniforms>());
    let expected = scene_uniform_offsets();
    assert_eq!(
        members,
        expected.map(|(name, offset)| (name.to_owned(), offset as u32))
    );
    assert_eq!(
        layout("bodies", "BodyInstance").0 as usize,
        size_of::<BodyInstance>()
    );
    assert_eq!(
        layout("bodies", "AffineRows").0 as usize,
        size_of::<AffineRows>()
    );
}
