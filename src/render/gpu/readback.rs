//! Reads a texture back from the GPU, through a buffer that both sides can access.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wgpu::BufferUsages;

use super::textures::{buffer, extent};
use crate::render::error::RenderError;

/// Returns the number of bytes per row in a buffer to which a texture of this width is copied.
fn padded_row(width_px: u32) -> u32 {
    (width_px * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}

/// Copies of a texture with four bytes per pixel, one at a time.
pub(super) struct Readback {
    size_px: [u32; 2],
    buffer: wgpu::Buffer,
    is_requested: bool,
    arrived: Arc<AtomicBool>,
}

impl Readback {
    pub(super) fn new(device: &wgpu::Device, size_px: [u32; 2]) -> Self {
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let bytes = u64::from(padded_row(size_px[0])) * u64::from(size_px[1]);
        Self {
            size_px,
            buffer: buffer(device, "readback", usage, bytes),
            is_requested: false,
            arrived: Arc::default(),
        }
    }

    /// Encodes the copy of a texture to the buffer.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture) {
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded_row(self.size_px[0])),
                    rows_per_image: None,
                },
            },
            extent(self.size_px, 1),
        );
    }

    /// Encodes the copy of a whole buffer that is not longer than the texture for which this was made.
    pub(super) fn copy_buffer(&self, encoder: &mut wgpu::CommandEncoder, from: &wgpu::Buffer) {
        encoder.copy_buffer_to_buffer(from, 0, &self.buffer, 0, from.size());
    }

    /// Starts to read the buffer. Must be called after the copy was submitted.
    pub(super) fn request(&mut self) {
        self.is_requested = true;
        self.arrived.store(false, Ordering::Release);
        let arrived = Arc::clone(&self.arrived);
        let slice = self.buffer.slice(..);
        slice.map_async(wgpu::MapMode::Read, move |outcome| {
            arrived.store(outcome.is_ok(), Ordering::Release);
        });
    }

    /// Whether a copy is on its way, or has arrived and was not taken.
    pub(super) fn is_requested(&self) -> bool {
        self.is_requested
    }

    /// Whether the requested copy has arrived.
    pub(super) fn has_arrived(&self) -> bool {
        self.is_requested && self.arrived.load(Ordering::Acquire)
    }

    /// Calls `read` with the copy, row by row from the top, and with the bytes per row, of which the last ones may be unused. Returns
    /// false if no copy has arrived.
    ///
    /// # Errors
    /// [`RenderError::Device`] if the device failed.
    pub(super) fn take(&mut self, read: impl FnOnce(&[u8], usize)) -> Result<bool, RenderError> {
        if !self.has_arrived() {
            return Ok(false);
        }
        self.is_requested = false;
        let mapped = self.buffer.slice(..).get_mapped_range();
        let mapped = mapped.map(|bytes| read(&bytes, padded_row(self.size_px[0]) as usize));
        self.buffer.unmap();
        let taken = mapped.map_err(|error| RenderError::Device(error.to_string()));
        taken.map(|()| true)
    }
}
