//! Render passes that draw to one texture.

use wgpu::{LoadOp, StoreOp, TextureView};

/// Begins a pass that draws to one texture, without a depth buffer.
pub(super) fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    view: &TextureView,
    load: LoadOp<wgpu::Color>,
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
        ..wgpu::RenderPassDescriptor::default()
    })
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
            load: LoadOp::Clear(wgpu::Color::TRANSPARENT),
            store: match samples {
                Some(_) => StoreOp::Discard,
                None => StoreOp::Store,
            },
        },
    }
}
