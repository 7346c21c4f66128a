//! The textures to which bodies are drawn, and the pass that draws to them.

use wgpu::{Device, LoadOp, StoreOp, TextureFormat, TextureUsages, TextureView};

use super::costs;
use super::pass::cleared;
use super::textures::{texture_2d, view};

/// Format of the light of bodies. It stores square roots of light (see `encode_light` in `shaders/scene.wgsl`).
pub(super) const BODIES: TextureFormat = TextureFormat::Rgba8Unorm;
/// Format of the depth of bodies below the surface, relative to the depth of the ground, and of their cover.
pub(super) const BODY_DEPTH: TextureFormat = TextureFormat::Rg8Unorm;
/// Format of the depth buffer of bodies.
pub(super) const DEPTH: TextureFormat = TextureFormat::Depth32Float;

/// The textures to which bodies are drawn.
pub(super) struct BodyTargets {
    /// Light and cover of the bodies.
    pub(super) light: TextureView,
    /// Depth of the bodies below the surface, and their cover.
    pub(super) depth: TextureView,
    /// Textures with several samples per pixel, which are averaged into `light` and `depth`; `None` with one sample per pixel.
    samples: Option<[TextureView; 2]>,
    /// Distance from the eye, to draw near bodies over far ones.
    depth_buffer: TextureView,
    pub(super) size_px: [u32; 2],
}

impl BodyTargets {
    pub(super) fn new(device: &Device, size_px: [u32; 2], samples: u32) -> Self {
        let only_drawn = TextureUsages::RENDER_ATTACHMENT;
        let drawn = only_drawn | TextureUsages::TEXTURE_BINDING;
        let make = |label: &str, format, usage, samples| {
            view(&texture_2d(device, label, size_px, format, usage, samples))
        };
        Self {
            light: make("bodies", BODIES, drawn, 1),
            depth: make("body depth", BODY_DEPTH, drawn, 1),
            samples: (samples > 1).then(|| {
                [BODIES, BODY_DEPTH].map(|format| make("body samples", format, only_drawn, samples))
            }),
            depth_buffer: make("depth", DEPTH, only_drawn, samples),
            size_px: size_px.map(|side| side.max(1)),
        }
    }

    /// Begins the pass, over a transparent background. `scale` is the part of the textures that is drawn, as a share of their sides.
    pub(super) fn begin<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        scale: f32,
        timestamp_writes: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) -> wgpu::RenderPass<'a> {
        let [lights, depths] = match &self.samples {
            Some([lights, depths]) => [Some(lights), Some(depths)],
            None => [None, None],
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("bodies"),
            color_attachments: &[
                Some(cleared(&self.light, lights)),
                Some(cleared(&self.depth, depths)),
            ],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth_buffer,
                depth_ops: Some(wgpu::Operations {
                    load: LoadOp::Clear(1.0),
                    store: StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes,
            ..wgpu::RenderPassDescriptor::default()
        });
        let [width, height] = self.size_px.map(|side| side as f32 * scale);
        pass.set_viewport(0.0, 0.0, width, height, 0.0, 1.0);
        pass
    }

    /// Returns the bytes that the pass writes.
    pub(super) fn written_bytes(&self) -> u64 {
        let drawn = [&self.light, &self.depth, &self.depth_buffer];
        let all = drawn.into_iter().chain(self.samples.iter().flatten());
        all.map(costs::bytes).sum()
    }
}
