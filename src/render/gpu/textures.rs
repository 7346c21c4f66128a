//! Textures and buffers on the GPU, and functions that create them and write to them.

use wgpu::{BufferUsages, Device, Queue, TextureFormat, TextureUsages, TextureView};

use super::device::Gpu;

/// Creates a texture with one mip level.
pub(super) fn texture_2d(
    device: &Device,
    label: &str,
    size: [u32; 2],
    format: TextureFormat,
    usage: TextureUsages,
    samples: u32,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: extent(size.map(|side| side.max(1)), 1),
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// Creates a texture with mip levels, which are written later.
pub(super) fn levels_2d(
    device: &Device,
    label: &str,
    size: [u32; 2],
    levels: u32,
    format: TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: extent(size, 1),
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Returns a size with a number of layers.
pub(super) fn extent([width, height]: [u32; 2], depth_or_array_layers: u32) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers,
    }
}

/// Returns the default view of a texture.
pub(super) fn view(texture: &wgpu::Texture) -> TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// Returns the size of a texture whose sides are `factor` times those of the picture, within the limits of the device.
pub(super) fn scaled(device: &Device, picture_px: [u32; 2], factor: f32) -> [u32; 2] {
    let most = device.limits().max_texture_dimension_2d;
    picture_px.map(|side| ((side as f32 * factor) as u32).clamp(16, most))
}

/// Creates a texture array with a number of layers and mip levels.
pub(super) fn array(
    device: &Device,
    label: &str,
    size: [u32; 2],
    (layers, levels): (u32, u32),
    format: TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        // An array has at least two layers, because some drivers treat an array with one layer as a plain texture.
        size: extent(size, layers.max(2)),
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Returns the view of a texture array.
pub(super) fn array_view(texture: &wgpu::Texture) -> TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..wgpu::TextureViewDescriptor::default()
    })
}

/// Writes a complete mip level of one layer of a texture.
pub(super) fn write(
    queue: &Queue,
    texture: &wgpu::Texture,
    (level, layer): (u32, u32),
    size: [u32; 2],
    bytes: &[u8],
) {
    let per_pixel = texture.format().block_copy_size(None).unwrap_or(1);
    queue.write_texture(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: level,
            origin: wgpu::Origin3d {
                x: 0,
                y: 0,
                z: layer,
            },
            aspect: wgpu::TextureAspect::All,
        },
        bytes,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(size[0] * per_pixel),
            rows_per_image: None,
        },
        extent(size, 1),
    );
}

/// Creates a buffer.
pub(super) fn buffer(
    device: &Device,
    label: &str,
    usage: BufferUsages,
    bytes: u64,
) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes.next_multiple_of(16).max(16),
        usage,
        mapped_at_creation: false,
    })
}

/// A buffer for data of every picture. It is replaced by a larger buffer when the data no longer fits.
pub(super) struct GrowingBuffer {
    label: &'static str,
    usage: BufferUsages,
    pub(super) buffer: wgpu::Buffer,
}

impl GrowingBuffer {
    pub(super) fn new(
        device: &Device,
        label: &'static str,
        usage: BufferUsages,
        bytes: u64,
    ) -> Self {
        let usage = usage | BufferUsages::COPY_DST;
        Self {
            label,
            usage,
            buffer: buffer(device, label, usage, bytes),
        }
    }

    /// Ensures that the buffer has at least `bytes` bytes. Returns `true` if the buffer was replaced by a larger buffer, which
    /// must be bound and written again.
    pub(super) fn fit(&mut self, device: &Device, bytes: u64) -> bool {
        let grows = bytes > self.buffer.size();
        if grows {
            self.buffer = buffer(device, self.label, self.usage, bytes.next_power_of_two());
        }
        grows
    }

    /// Writes two lists, one after the other. Returns `true` if the buffer was replaced by a larger buffer, which must be bound
    /// again.
    pub(super) fn write<T: bytemuck::Pod>(
        &mut self,
        gpu: &Gpu,
        [first, second]: [&[T]; 2],
    ) -> bool {
        let (first, second) = (bytemuck::cast_slice(first), bytemuck::cast_slice(second));
        let offset = first.len() as u64;
        let has_grown = self.fit(&gpu.device, offset + second.len() as u64);
        gpu.queue.write_buffer(&self.buffer, 0, first);
        gpu.queue.write_buffer(&self.buffer, offset, second);
        has_grown
    }
}
