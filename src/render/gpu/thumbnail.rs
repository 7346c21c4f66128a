//! Small copies of an output's picture for the operator's panel. The GPU draws the copy and sends it while the next pictures are
//! drawn, so no picture waits for it. Without a viewer nothing is drawn.

use wgpu::TextureUsages;
use wgpu::util::{TextureBlitter, TextureBlitterBuilder};

use super::device::Gpu;
use super::finished::FINISHED;
use super::readback::Readback;
use super::textures::{texture_2d, view};

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
    readback: Readback,
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
            readback: Readback::new(&gpu.device, size_px),
            texture,
            size_px,
        }
    }

    /// Whether the copies are of pictures of this size.
    pub(super) fn is_of(&self, drawn_px: [u32; 2]) -> bool {
        self.drawn_px == drawn_px
    }

    /// Whether a copy is on its way.
    pub(super) fn is_requested(&self) -> bool {
        self.readback.is_requested()
    }

    /// Begins a copy of the finished picture.
    pub(super) fn request(&mut self, gpu: &Gpu, finished: &wgpu::TextureView) {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.blitter
            .copy(&gpu.device, &mut encoder, finished, &self.view);
        self.readback.copy(&mut encoder, &self.texture);
        gpu.queue.submit([encoder.finish()]);
        self.readback.request();
    }

    /// Passes the copy on if it has arrived.
    pub(super) fn take(&mut self, put: impl FnOnce(ThumbnailPixels<'_>)) {
        let size_px = self.size_px;
        // A lost device is reported by the next picture.
        let _lost = self.readback.take(|rgba, row_bytes| {
            put(ThumbnailPixels {
                size_px,
                row_bytes,
                rgba,
            });
        });
    }
}
