//! The traces of visitors on the GPU: the texture that the output pass reads.

use wgpu::{TextureFormat, TextureUsages, TextureView};

use super::device::Gpu;
use super::textures::{texture_2d, view, write};
use crate::render::traces::Traces;

/// Format of the texture. It stores square roots of shares, so that 8 bits are enough for a trace that fades.
const TRACES: TextureFormat = TextureFormat::Rgba8Unorm;

/// The texture of the traces.
pub(super) struct TraceTexture {
    texture: wgpu::Texture,
    pub(super) view: TextureView,
    size: [u32; 2],
}

impl TraceTexture {
    /// Creates the texture. A scene without traces has a single empty texel.
    pub(super) fn new(gpu: &Gpu, traces: &Traces) -> Self {
        let size = if traces.texels.is_empty() {
            [1; 2]
        } else {
            traces.size()
        };
        let usage = TextureUsages::COPY_DST | TextureUsages::TEXTURE_BINDING;
        let texture = texture_2d(&gpu.device, "traces", size, TRACES, usage, 1);
        Self {
            view: view(&texture),
            texture,
            size,
        }
    }

    /// Uploads the traces of a picture if they have changed.
    pub(super) fn upload(&self, gpu: &Gpu, traces: &Traces) {
        if traces.is_changed && !traces.texels.is_empty() {
            let texels = bytemuck::cast_slice(&traces.texels);
            write(&gpu.queue, &self.texture, (0, 0), self.size, texels);
        }
    }
}
