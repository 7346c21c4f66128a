//! Bind groups: the buffers and textures that the shaders read.

use wgpu::BindingResource::{Sampler, TextureView};

use super::pipelines::BindGroupLayouts;
use super::targets::{FixedTextures, GrowingBuffer, Targets};
use super::water::Water;

/// The buffers and textures from which all bind groups are created.
pub(super) struct BindGroupInputs<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) layouts: &'a BindGroupLayouts,
    pub(super) targets: &'a Targets,
    pub(super) water: &'a Water,
    pub(super) samplers: &'a Samplers,
    pub(super) fixed: &'a FixedTextures,
    pub(super) uniforms: &'a wgpu::Buffer,
    pub(super) instances: &'a GrowingBuffer,
    pub(super) joints: &'a GrowingBuffer,
}

/// Samplers for textures.
#[derive(Clone)]
pub(super) struct Samplers {
    /// Linear filtering, also between mip levels.
    pub(super) smooth: wgpu::Sampler,
    /// Linear filtering of textures without mip levels.
    pub(super) flat: wgpu::Sampler,
    /// Linear filtering of tileable textures without mip levels; coordinates outside 0..1 repeat the texture.
    pub(super) tiling: wgpu::Sampler,
}

impl Samplers {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        use wgpu::AddressMode::{ClampToEdge, Repeat};
        use wgpu::MipmapFilterMode::{Linear, Nearest};
        let make = |mipmap_filter, address| {
            device.create_sampler(&wgpu::SamplerDescriptor {
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter,
                address_mode_u: address,
                address_mode_v: address,
                ..wgpu::SamplerDescriptor::default()
            })
        };
        Self {
            smooth: make(Linear, ClampToEdge),
            flat: make(Nearest, ClampToEdge),
            tiling: make(Nearest, Repeat),
        }
    }
}

/// All bind groups except the bind groups of each output.
pub(super) struct BindGroups {
    pub(super) scene: wgpu::BindGroup,
    pub(super) ground_shadow: wgpu::BindGroup,
    pub(super) bodies: wgpu::BindGroup,
    pub(super) output: wgpu::BindGroup,
    pub(super) overlay: wgpu::BindGroup,
}

/// Creates a bind group. The resources get the binding numbers 0, 1, 2 and so on.
pub(super) fn bind_group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resources: &[wgpu::BindingResource<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = resources
        .iter()
        .enumerate()
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

impl BindGroups {
    pub(super) fn new(inputs: &BindGroupInputs<'_>) -> Self {
        let BindGroupInputs {
            device,
            layouts,
            targets,
            samplers,
            ..
        } = inputs;
        let (slopes, sunlight) = (inputs.water.slopes(), inputs.water.sunlight());
        let ground_shadow = [
            TextureView(&inputs.fixed.shadow_masks),
            Sampler(&samplers.flat),
        ];
        let bodies = [
            TextureView(sunlight),
            Sampler(&samplers.smooth),
            TextureView(&inputs.fixed.skins),
            inputs.instances.buffer.as_entire_binding(),
            inputs.joints.buffer.as_entire_binding(),
            TextureView(&inputs.fixed.weathering),
            Sampler(&samplers.tiling),
        ];
        let output = [
            TextureView(&targets.bodies),
            TextureView(slopes),
            TextureView(&targets.ground),
            TextureView(&targets.ground_shadow),
            Sampler(&samplers.flat),
            TextureView(&inputs.fixed.noise),
            Sampler(&samplers.tiling),
            TextureView(sunlight),
            TextureView(&targets.body_depth),
        ];
        let overlay = [TextureView(&inputs.fixed.glyphs), Sampler(&samplers.flat)];
        Self {
            scene: bind_group(
                device,
                &layouts.scene,
                &[inputs.uniforms.as_entire_binding()],
            ),
            ground_shadow: bind_group(device, &layouts.ground_shadow, &ground_shadow),
            bodies: bind_group(device, &layouts.bodies, &bodies),
            output: bind_group(device, &layouts.output, &output),
            overlay: bind_group(device, &layouts.overlay, &overlay),
        }
    }
}
