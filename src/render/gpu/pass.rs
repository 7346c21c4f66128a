//! Render passes that draw to one texture.

use wgpu::{BindGroup, Color, CommandEncoder, LoadOp, RenderPassTimestampWrites, RenderPipeline};
use wgpu::{StoreOp, TextureView};

/// Name and target of a pass, and the timestamps that it writes.
pub(super) type Target<'a> = (
    &'static str,
    &'a TextureView,
    Option<RenderPassTimestampWrites<'a>>,
);

/// Begins a pass that draws to one texture, without a depth buffer.
pub(super) fn begin<'a>(
    encoder: &'a mut CommandEncoder,
    (label, view, timestamp_writes): Target<'_>,
    load: LoadOp<Color>,
) -> wgpu::RenderPass<'a> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load,
                store: StoreOp::Store,
            },
        })],
        timestamp_writes,
        ..wgpu::RenderPassDescriptor::default()
    })
}

/// Draws every pixel of a texture with a pipeline whose vertices are those of `full_target` in the shaders.
pub(super) fn fill(
    encoder: &mut CommandEncoder,
    target: Target<'_>,
    pipeline: &RenderPipeline,
    groups: [&BindGroup; 2],
) {
    let mut pass = begin(encoder, target, LoadOp::Clear(Color::BLACK));
    pass.set_pipeline(pipeline);
    for (index, group) in (0..).zip(groups) {
        pass.set_bind_group(index, group, &[]);
    }
    pass.draw(0..3, 0..1);
}

/// Returns the attachment of a texture that is cleared. With samples, they are drawn and averaged into the texture.
pub(super) fn cleared<'a>(
    view: &'a TextureView,
    samples: Option<&'a TextureView>,
) -> wgpu::RenderPassColorAttachment<'a> {
    wgpu::RenderPassColorAttachment {
        view: samples.unwrap_or(view),
        depth_slice: None,
        resolve_target: samples.map(|_| view),
        ops: wgpu::Operations {
            load: LoadOp::Clear(Color::TRANSPARENT),
            store: match samples {
                Some(_) => StoreOp::Discard,
                None => StoreOp::Store,
            },
        },
    }
}
