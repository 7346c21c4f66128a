//! Samplers for textures.

use wgpu::AddressMode::{ClampToEdge, Repeat};
use wgpu::MipmapFilterMode::{Linear, Nearest};

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
