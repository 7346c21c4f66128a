//! Small copies of an output's picture for the operator's panel. The GPU draws the copy and sends it while the next pictures are
//! drawn, so no picture waits for it. Without a viewer nothing is drawn.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wgpu::util::{TextureBlitter, TextureBlitterBuilder};
use wgpu::{BufferUsages, TextureUsages};

use super::device::{Gpu, padded_row};
use super::finished::FINISHED;
use super::textures::{buffer, texture_2d, view};

/// Largest width of a copy in pixels: wide enough to see each fish, small enough for ten copies a second over a radio network.
const WIDTH_MAX_PX: u32 = 640;

/// A small copy of a picture, row by row from the top.
#[derive(Clone, Copy, Debug)]
pub struct ThumbnailPixels<'a> {
    /// Width and height.
    pub size_px: [u32; 2],
    /// Bytes of a row, of which the last ones may be unused.
    pub row_bytes: usize,
    /// Four bytes per pixel: red, green, blue, and one without meaning.
    pub rgba: &'a [u8],
}

/// Draws and reads back the copies of one output.
pub(super) struct Thumbnail {
    /// Size of the picture.
    drawn_px: [u32; 2],
    size_px: [u32; 2],
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    blitter: TextureBlitter,
    buffer: wgpu::Buffer,
    is_requested: bool,
    arrived: Arc<AtomicBool>,
}

impl Thumbnail {
    /// Creates the textures for copies of pictures of a size.
    pub(super) fn new(gpu: &Gpu, drawn_px: [u32; 2]) -> Self {
        let [width, height] = drawn_px.map(|side| side.max(1));
        let shown = width.min(WIDTH_MAX_PX);
        let size_px = [shown, (height * shown / width).max(1)];
        let usage = TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC;
        let texture = texture_2d(&gpu.device, "thumbnail", size_px, FINISHED, usage, 1);
        Self {
            drawn_px,
            view: view(&texture),
            blitter: TextureBlitterBuilder::new(&gpu.device, FINISHED)
                .sample_type(wgpu::FilterMode::Linear)
                .build(),
            buffer: buffer(
                &gpu.device,
                "thumbnail readback",
                BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                u64::from(padded_row(size_px[0])) * u64::from(size_px[1]),
            ),
            texture,
            size_px,
            is_requested: false,
            arrived: Arc::default(),
        }
    }

    /// Whether the copies are of pictures of this size.
    pub(super) fn is_of(&self, drawn_px: [u32; 2]) -> bool {
        self.drawn_px == drawn_px
    }

    /// Whether a copy is on its way.
    pub(super) fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// Begins a copy of the finished picture.
    pub(super) fn request(&mut self, gpu: &Gpu, finished: &wgpu::TextureView) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.blitter
            .copy(&gpu.device, &mut encoder, finished, &self.view);
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row(self.size_px[0])),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d {
                width: self.size_px[0],
                height: self.size_px[1],
                depth_or_array_layers: 1,
            },
        );
        gpu.queue.submit([encoder.finish()]);
        self.is_requested = true;
        self.arrived.store(false, Ordering::Release);
        let arrived = Arc::clone(&self.arrived);
        self.buffer
            .slice(..)
            .map_async(wgpu::MapMode::Read, move |outcome| {
                arrived.store(outcome.is_ok(), Ordering::Release);
            });
    }

    /// Passes the copy on if it has arrived.
    pub(super) fn take(&mut self, put: impl FnOnce(ThumbnailPixels<'_>)) {
        if !self.is_requested || !self.arrived.load(Ordering::Acquire) {
            return;
        }
        self.is_requested = false;
        // A lost device is reported by the next picture.
        if let Ok(mapped) = self.buffer.slice(..).get_mapped_range() {
            put(ThumbnailPixels {
                size_px: self.size_px,
                row_bytes: padded_row(self.size_px[0]) as usize,
                rgba: &mapped,
            });
        }
        self.buffer.unmap();
    }
}
