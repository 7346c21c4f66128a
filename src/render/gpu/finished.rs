//! The texture of a finished picture.

use wgpu::{Device, TextureFormat, TextureUsages, TextureView};

use super::textures::{texture_2d, view};

/// Format of the finished pictures.
pub(super) const FINISHED: TextureFormat = TextureFormat::Rgba8UnormSrgb;

/// The finished picture of an output.
pub(super) struct FinishedTexture {
    pub(super) texture: wgpu::Texture,
    pub(super) view: TextureView,
}

impl FinishedTexture {
    pub(super) fn new(device: &Device, size: [u32; 2]) -> Self {
        let usage = TextureUsages::RENDER_ATTACHMENT
            | TextureUsages::COPY_SRC
            | TextureUsages::COPY_DST
            | TextureUsages::TEXTURE_BINDING;
        let texture = texture_2d(device, "finished", size, FINISHED, usage, 1);
        Self {
            view: view(&texture),
            texture,
        }
    }
}
