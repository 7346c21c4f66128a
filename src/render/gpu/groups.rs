//! What the shaders are given: buffers and pictures bound together.

use wgpu::BindingResource::{Sampler, TextureView};

use super::pipelines::Layouts;
use super::targets::{Fixed, Growing, Targets, view};

/// What bind groups are made of.
pub(super) struct Given<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) layouts: &'a Layouts,
    pub(super) targets: &'a Targets,
    pub(super) samplers: &'a Samplers,
    pub(super) fixed: &'a Fixed,
    pub(super) frame: &'a wgpu::Buffer,
    pub(super) instances: &'a Growing,
    pub(super) joints: &'a Growing,
}

/// How pictures are looked up.
pub(super) struct Samplers {
    /// Between their smaller copies, too.
    pub(super) smooth: wgpu::Sampler,
    /// Pictures without smaller copies.
    pub(super) flat: wgpu::Sampler,
    /// The same, repeated without end.
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

/// All bind groups but those of single projectors.
pub(super) struct Groups {
    pub(super) frame: wgpu::BindGroup,
    pub(super) shade: wgpu::BindGroup,
    pub(super) below: wgpu::BindGroup,
    pub(super) show: wgpu::BindGroup,
    pub(super) overlay: wgpu::BindGroup,
}

pub(super) fn group(
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

impl Groups {
    pub(super) fn new(given: &Given<'_>) -> Self {
        let Given {
            device,
            layouts,
            targets,
            samplers,
            ..
        } = given;
        let (slopes, caustics) = (view(&targets.slopes), view(&targets.caustics));
        let shade = [
            TextureView(&given.fixed.silhouettes),
            Sampler(&samplers.flat),
            TextureView(&caustics),
        ];
        let below = [
            TextureView(&caustics),
            Sampler(&samplers.smooth),
            TextureView(&given.fixed.skins),
            given.instances.buffer.as_entire_binding(),
            given.joints.buffer.as_entire_binding(),
            TextureView(&given.fixed.weathering),
            Sampler(&samplers.tiling),
        ];
        let show = [
            TextureView(&targets.bodies),
            TextureView(&slopes),
            TextureView(&targets.ground),
            TextureView(&targets.ground_light),
            Sampler(&samplers.flat),
            TextureView(&given.fixed.noise),
            Sampler(&samplers.tiling),
        ];
        let overlay = [TextureView(&given.fixed.letters), Sampler(&samplers.flat)];
        Self {
            frame: group(device, &layouts.frame, &[given.frame.as_entire_binding()]),
            shade: group(device, &layouts.shade, &shade),
            below: group(device, &layouts.below, &below),
            show: group(device, &layouts.show, &show),
            overlay: group(device, &layouts.overlay, &overlay),
        }
    }
}
