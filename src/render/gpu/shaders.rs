//! The sources of the shaders.

use wgpu::Device;

/// Returns the name and the full source of a shader: the shared definitions followed by the shader's own files.
macro_rules! shader {
    ($name:literal, $($file:literal),+) => {
        ($name, concat!($(include_str!(concat!("../../../shaders/", $file, ".wgsl"))),+))
    };
}

/// Name and full source of every shader.
pub(super) const SHADERS: [(&str, &str); 13] = [
    shader!("water_field", "water", "water_field"),
    shader!("water_surface", "water", "water_surface"),
    shader!("caustics", "water", "caustics"),
    shader!("ground", "scene", "ground"),
    shader!("ground_shadow", "scene", "ground_shadow"),
    shader!("bodies", "scene", "bodies"),
    shader!("dust", "scene", "dust"),
    shader!("floating", "scene", "floating"),
    shader!("bloom", "scene", "full_target", "bloom"),
    shader!("output", "scene", "output", "traces", "wall_and_ceiling"),
    shader!("cell_means", "scene", "full_target", "cell_means"),
    shader!("overlay", "scene", "overlay"),
    shader!("old_picture", "scene", "full_target", "old_picture"),
];

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
