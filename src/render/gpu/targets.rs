//! Textures and buffers on the GPU, and functions that create them and write to them.

use std::sync::LazyLock;

use wgpu::{BufferUsages, Device, Queue, TextureFormat, TextureUsages, TextureView};

use super::device::Gpu;
use super::pipelines::{BODIES, BODY_DEPTH, DEPTH, FINISHED, GROUND, GROUND_SHADOW};
use crate::render::color::linear_from_srgb;
use crate::render::glyphs;
use crate::render::model::Model;
use crate::render::noise::unit_hash;
use crate::render::shadow_mask::{self, MaskLevels};

/// Ratio of the side of the ground texture to the side of the picture, both in pixels. The texture covers a larger area than
/// the picture, so this ratio gives about one texel per pixel. A larger texture is slower to read without a graphics card, and
/// shows no more detail through the moving water.
const GROUND_SCALE: f32 = 1.06;

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
        size: wgpu::Extent3d {
            width: size[0].max(1),
            height: size[1].max(1),
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

/// Returns the default view of a texture.
pub(super) fn view(texture: &wgpu::Texture) -> TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

/// The textures that the passes of a picture write and read.
pub(super) struct Targets {
    pub(super) ground: TextureView,
    pub(super) ground_shadow: TextureView,
    pub(super) bodies: TextureView,
    /// Depth of bodies below the surface.
    pub(super) body_depth: TextureView,
    /// Textures with several samples per pixel, which are averaged into `bodies` and `body_depth`; `None` with one sample per
    /// pixel.
    pub(super) samples: Option<[TextureView; 2]>,
    pub(super) depth: TextureView,
    /// Size of `bodies` in pixels.
    pub(super) size_px: [u32; 2],
    pub(super) ground_shadow_px: [u32; 2],
}

impl Targets {
    pub(super) fn new(device: &Device, size: [u32; 2], samples: u32) -> Self {
        let most = device.limits().max_texture_dimension_2d;
        let only_drawn = TextureUsages::RENDER_ATTACHMENT;
        let drawn = only_drawn | TextureUsages::TEXTURE_BINDING;
        let scaled = |factor: f32| size.map(|s| ((s as f32 * factor) as u32).clamp(16, most));
        let make = |label: &str, size, format, usage, samples| {
            view(&texture_2d(device, label, size, format, usage, samples))
        };
        let ground_shadow_px = scaled(0.36);
        Self {
            size_px: size.map(|side| side.max(1)),
            ground_shadow_px,
            ground: make("ground", scaled(GROUND_SCALE), GROUND, drawn, 1),
            ground_shadow: make("ground shadow", ground_shadow_px, GROUND_SHADOW, drawn, 1),
            bodies: make("bodies", size, BODIES, drawn, 1),
            body_depth: make("body depth", size, BODY_DEPTH, drawn, 1),
            samples: (samples > 1).then(|| {
                [BODIES, BODY_DEPTH]
                    .map(|format| make("body samples", size, format, only_drawn, samples))
            }),
            depth: make("depth", size, DEPTH, only_drawn, samples),
        }
    }
}

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

/// Textures with constant content.
pub(super) struct FixedTextures {
    pub(super) skins: TextureView,
    pub(super) shadow_masks: TextureView,
    pub(super) glyphs: TextureView,
    pub(super) noise: TextureView,
    pub(super) weathering: TextureView,
}

impl FixedTextures {
    /// Uses the textures of `like`, on the same device, that are the same for all scenes.
    pub(super) fn new<'a>(
        gpu: &Gpu,
        models: impl Iterator<Item = &'a Model> + Clone,
        like: Option<&Self>,
    ) -> Self {
        let (device, queue) = (&gpu.device, &gpu.queue);
        let outlines: Vec<_> = std::iter::once(shadow_mask::disc())
            .chain(models.clone().map(shadow_mask::of))
            .flatten()
            .collect();
        Self {
            skins: skins(device, queue, models),
            shadow_masks: shadow_masks(device, queue, &outlines),
            glyphs: like.map_or_else(|| glyphs(device, queue), |l| l.glyphs.clone()),
            noise: like.map_or_else(|| ripple_noise(device, queue), |l| l.noise.clone()),
            weathering: like.map_or_else(|| weathering(device, queue), |l| l.weathering.clone()),
        }
    }
}

/// Creates the glyph atlas.
fn glyphs(device: &Device, queue: &Queue) -> TextureView {
    let size = glyphs::atlas_size_px();
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
    let texture = texture_2d(device, "glyphs", size, TextureFormat::R8Unorm, usage, 1);
    write(queue, &texture, (0, 0), size, &glyphs::atlas());
    view(&texture)
}

/// Side of the noise textures in pixels.
const NOISE_PX: u32 = 256;

/// Returns the value of tileable smooth noise at a pixel, 0..1. The noise has `cells` cells along each side and is different in
/// each layer.
fn noise(x: u32, y: u32, cells: u32, layer: u32) -> f32 {
    let lattice = |x: u32, y: u32| unit_hash((x % cells) + (y % cells) * cells, 70 + layer);
    let step = NOISE_PX / cells;
    let (column, row) = (x / step, y / step);
    let ease = |v: u32| {
        let t = (v % step) as f32 / step as f32;
        t * t * (3.0 - 2.0 * t)
    };
    let (u, v) = (ease(x), ease(y));
    let along = |row: u32| {
        let (a, b) = (lattice(column, row), lattice(column + 1, row));
        a + (b - a) * u
    };
    let (top, bottom) = (along(row), along(row + 1));
    top + (bottom - top) * v
}

/// Tileable pattern of weathered stone. The four channels are tone, slope of the bumps along x, slope along z, and strength of
/// lichen.
static WEATHERED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let places = || (0..NOISE_PX * NOISE_PX).map(|i| (i % NOISE_PX, i / NOISE_PX));
    let rough =
        |(x, y)| 0.45 * noise(x, y, 16, 4) + 0.33 * noise(x, y, 32, 5) + 0.22 * noise(x, y, 64, 6);
    let heights: Vec<f32> = places().map(rough).collect();
    let height = |x: u32, y: u32| {
        let at = y % NOISE_PX * NOISE_PX + x % NOISE_PX;
        heights.get(at as usize).copied().unwrap_or_default()
    };
    let weathered = |(x, y)| {
        let here = height(x, y);
        let broad = 0.6 * noise(x, y, 4, 7) + 0.4 * noise(x, y, 8, 8);
        let tone = 0.45 * broad + 0.35 * here + 0.20 * noise(x, y, 128, 9);
        let slope = [height(x + 1, y) - here, height(x, y + 1) - here];
        let patches = 0.55 * noise(x, y, 8, 10) + 0.25 * noise(x, y, 32, 11);
        let lichen = patches + 0.20 * noise(x, y, 64, 12);
        let values = [tone, 0.5 + 4.0 * slope[0], 0.5 + 4.0 * slope[1], lichen];
        values.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8)
    };
    places().flat_map(weathered).collect()
});

/// Creates the texture that contains the pattern [`WEATHERED`].
fn weathering(device: &Device, queue: &Queue) -> TextureView {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
    let size = [NOISE_PX; 2];
    let format = TextureFormat::Rgba8Unorm;
    let texture = texture_2d(device, "weathering", size, format, usage, 1);
    write(queue, &texture, (0, 0), size, &WEATHERED);
    view(&texture)
}

/// Creates a texture of tileable noise: two channels with cells of two texels for wavelets, and one channel with larger cells for
/// bubbles.
fn ripple_noise(device: &Device, queue: &Queue) -> TextureView {
    let usage = TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST;
    let size = [NOISE_PX; 2];
    let texture = texture_2d(
        device,
        "ripple noise",
        size,
        TextureFormat::Rgba8Unorm,
        usage,
        1,
    );
    let mut bytes = Vec::with_capacity((NOISE_PX * NOISE_PX * 4) as usize);
    for y in 0..NOISE_PX {
        for x in 0..NOISE_PX {
            let bubbles = 0.5 * noise(x, y, 64, 2) + 0.5 * noise(x, y, 128, 3);
            let values = [noise(x, y, 128, 0), noise(x, y, 128, 1), bubbles, 1.0];
            bytes.extend(values.map(|v| (v * 255.0).round() as u8));
        }
    }
    write(queue, &texture, (0, 0), size, &bytes);
    view(&texture)
}

/// A buffer that is replaced by a larger buffer when the data no longer fits.
pub(super) struct GrowingBuffer {
    label: &'static str,
    usage: BufferUsages,
    pub(super) buffer: wgpu::Buffer,
    written: bool,
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
            written: false,
        }
    }

    /// Ensures that the buffer has at least `bytes` bytes. Returns `true` if the buffer was replaced by a larger buffer, which
    /// must be bound and written again.
    pub(super) fn fit(&mut self, device: &Device, bytes: u64) -> bool {
        let grows = bytes > self.buffer.size();
        if grows {
            self.buffer = buffer(device, self.label, self.usage, bytes.next_power_of_two());
            self.written = false;
        }
        grows
    }

    /// Returns whether the constant content of the buffer has to be written. After this call, the content counts as written.
    pub(super) fn begin_write(&mut self) -> bool {
        !std::mem::replace(&mut self.written, true)
    }
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
        wgpu::Extent3d {
            width: size[0],
            height: size[1],
            depth_or_array_layers: 1,
        },
    );
}

/// Creates a texture array.
fn array(
    device: &Device,
    label: &str,
    size: [u32; 2],
    layers: u32,
    levels: u32,
    format: TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        // An array has at least two layers, because some drivers treat an array with one layer as a plain texture.
        size: wgpu::Extent3d {
            width: size[0],
            height: size[1],
            depth_or_array_layers: layers.max(2),
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_DST,
        view_formats: &[],
    })
}

/// Returns the view of a texture array.
fn array_view(texture: &wgpu::Texture) -> TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..wgpu::TextureViewDescriptor::default()
    })
}

/// Creates a texture array with mip levels that has one layer of the same size per skin. It stores square roots of light,
/// because these are faster to read than sRGB without a graphics card.
fn skins<'a>(
    device: &Device,
    queue: &Queue,
    models: impl Iterator<Item = &'a Model> + Clone,
) -> TextureView {
    let largest = models
        .clone()
        .filter_map(|model| model.skin.as_ref())
        .fold([4u32, 4], |size, skin| {
            [size[0].max(skin.width()), size[1].max(skin.height())]
        });
    let size = largest.map(|s| s.next_power_of_two().min(1024));
    let levels = (size[0].min(size[1]).ilog2() + 1).min(7);
    let count = models.clone().count() as u32;
    let texture = array(
        device,
        "skins",
        size,
        count,
        levels,
        TextureFormat::Rgba8Unorm,
    );
    for (layer, model) in models.enumerate() {
        let Some(skin) = &model.skin else { continue };
        let mut level_picture = skin.clone();
        for pixel in level_picture.pixels_mut() {
            let [red, green, blue, alpha] = pixel.0;
            let root = |byte| (linear_from_srgb(byte).sqrt() * 255.0).round() as u8;
            pixel.0 = [root(red), root(green), root(blue), alpha];
        }
        for level in 0..levels {
            let wanted = size.map(|s| (s >> level).max(1));
            if level_picture.dimensions() != (wanted[0], wanted[1]) {
                level_picture = image::imageops::resize(
                    &level_picture,
                    wanted[0],
                    wanted[1],
                    image::imageops::FilterType::Triangle,
                );
            }
            write(
                queue,
                &texture,
                (level, layer as u32),
                wanted,
                level_picture.as_raw(),
            );
        }
    }
    array_view(&texture)
}

/// Creates the texture array of the shadow masks: first the disc, then the species, with [`shadow_mask::STEPS`] layers each.
fn shadow_masks(device: &Device, queue: &Queue, layers: &[MaskLevels]) -> TextureView {
    let size = [shadow_mask::WIDTH as u32, shadow_mask::HEIGHT as u32];
    let texture = array(
        device,
        "shadow_masks",
        size,
        layers.len() as u32,
        shadow_mask::LEVELS as u32,
        TextureFormat::R8Unorm,
    );
    for (layer, levels) in layers.iter().enumerate() {
        for (level, cells) in levels.iter().enumerate() {
            write(
                queue,
                &texture,
                (level as u32, layer as u32),
                size.map(|s| s >> level),
                cells,
            );
        }
    }
    array_view(&texture)
}
