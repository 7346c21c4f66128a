//! The skin: the base color textures of all materials. A model has one image, so several textures are packed into this image.

use std::io::Cursor;

use glam::{Vec2, Vec3, Vec4};
use image::{ImageFormat, ImageReader, RgbaImage, imageops};

use super::accessor::Source;
use super::document::{AlphaMode, Material, TextureInfo, TextureSampler};
use super::error::{ModelProblem, at_most};
use super::left_out::LeftOut;

/// Largest side of a skin, in pixels.
const MAX_TEXTURE_PX: u32 = 2048;
/// Largest side of a texture in a file, in pixels. A texture that is larger than a skin is reduced.
const MAX_FILE_TEXTURE_PX: u32 = 4096;
/// Largest memory that the decoder of one image may take.
const MAX_DECODER_BYTES: u64 = 128 << 20;
/// Largest number of textures that are packed into one image. With more textures, each would become too small.
const MAX_TEXTURES: usize = 16;
/// Width of the border that continues a packed texture beyond its edges, so that smaller mip levels do not mix neighbors.
const BORDER_PX: u32 = 8;
/// Distance beyond the edge of a texture that counts as a rounding error.
const UV_TOLERANCE: f32 = 1e-3;
/// Alpha cutoff of a material that does not specify it.
const DEFAULT_CUTOFF: f32 = 0.5;
/// glTF number of the sampler mode that continues the edge of a texture.
const CLAMP_TO_EDGE: u64 = 33071;
/// glTF number of the sampler mode that mirrors a texture beyond the edge.
const MIRRORED_REPEAT: u64 = 33648;

/// The skin of a model, and the position of every texture in it.
pub(super) struct SkinAtlas {
    pub(super) image: Option<RgbaImage>,
    cells: Vec<(Content, Cell)>,
}

/// The content of one part of the skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A texture, by the index of its image.
    Image(usize, Opacity),
    /// The color of a material without a texture, as sRGB. Colors of vertices change only the brightness of a skin.
    Color([u8; 3]),
}

/// The opacity of a texture, from its alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opacity {
    /// Alpha is ignored.
    Full,
    /// Pixels with an alpha of at least this value are opaque, the others are transparent.
    FromAlpha(u16),
    /// Alpha is opacity.
    Alpha,
}

impl Opacity {
    /// Returns the opacity of the textures of a material.
    fn of(material: Option<&Material>) -> Self {
        let Some(material) = material else {
            return Self::Full;
        };
        match material.alpha_mode {
            AlphaMode::Opaque => Self::Full,
            AlphaMode::Blend => Self::Alpha,
            AlphaMode::Mask => {
                let cutoff = material.alpha_cutoff.unwrap_or(DEFAULT_CUTOFF);
                let of_texture = cutoff / tint(Some(material)).w.max(f32::MIN_POSITIVE);
                // A cutoff above 1 makes every pixel transparent.
                Self::FromAlpha((of_texture * 255.0).ceil().clamp(0.0, 256.0) as u16)
            }
        }
    }

    fn apply(self, picture: &mut RgbaImage) {
        let opacity = |alpha: u8| match self {
            Self::Full => 255,
            Self::FromAlpha(least) if u16::from(alpha) < least => 0,
            Self::FromAlpha(_) => 255,
            Self::Alpha => alpha,
        };
        for pixel in picture.pixels_mut() {
            pixel.0[3] = opacity(pixel.0[3]);
        }
    }
}

/// The position of a texture in the skin.
#[derive(Clone, Copy)]
struct Cell {
    /// Upper left corner, 0..1.
    corner: Vec2,
    /// Width and height, 0..1.
    size: Vec2,
}

impl SkinAtlas {
    /// Decodes the textures of the given materials.
    pub(super) fn new(
        source: &Source<'_>,
        materials: &[Option<usize>],
        left_out: &mut LeftOut,
    ) -> Result<Self, ModelProblem> {
        let mut used: Vec<Content> = Vec::new();
        for &index in materials {
            let content = content(source, index, left_out)?;
            if !used.contains(&content) {
                used.push(content);
            }
        }
        let is_image = |content: &Content| matches!(content, Content::Image(..));
        if !used.iter().any(is_image) {
            return Ok(Self {
                image: None,
                cells: Vec::new(),
            });
        }
        if let [Content::Image(index, opacity)] = used.as_slice() {
            return Ok(Self {
                image: Some(decode(source, *index, *opacity, left_out)?),
                cells: Vec::new(),
            });
        }
        at_most("textures and colors", used.len(), MAX_TEXTURES)?;
        pack(source, &used, left_out)
    }

    /// Moves the texture coordinates of a primitive (0..1 in its own texture) to the position of the texture in the skin.
    /// `islands` says which vertices belong together. Returns whether the skin contains the color of the material.
    pub(super) fn place(
        &self,
        source: &Source<'_>,
        material: Option<usize>,
        (uvs, islands): (&mut [Vec2], &[usize]),
        left_out: &mut LeftOut,
    ) -> Result<bool, ModelProblem> {
        let content = content(source, material, left_out)?;
        if let (Some(texture), Content::Image(..)) = (texture_of(source, material)?, content) {
            transform(texture, uvs);
            let sampler = source.document.textures.get(texture.index);
            let sampler = sampler.and_then(|texture| texture.sampler);
            let sampler = sampler.and_then(|i| source.document.samplers.get(i));
            unwrap(sampler.copied().unwrap_or_default(), uvs, islands, left_out);
        }
        let Some((_, cell)) = self.cells.iter().find(|(known, _)| *known == content) else {
            return Ok(false);
        };
        for uv in uvs {
            *uv = cell.corner + uv.clamp(Vec2::ZERO, Vec2::ONE) * cell.size;
        }
        Ok(matches!(content, Content::Color(_)))
    }
}

/// Returns the content that a material needs in the skin.
fn content(
    source: &Source<'_>,
    index: Option<usize>,
    left_out: &mut LeftOut,
) -> Result<Content, ModelProblem> {
    let image = match texture_of(source, index)? {
        Some(texture) => image_of(source, texture, left_out)?,
        None => None,
    };
    let material = material(source, index)?;
    let tint = tint(material);
    let opacity = Opacity::of(material);
    if let Some(image) = image {
        if tint.truncate() != Vec3::splat(tint.x) {
            left_out.add("the hue of a base color factor on a texture");
        }
        return Ok(Content::Image(image, opacity));
    }
    if opacity != Opacity::Full && tint.w < 1.0 {
        left_out.add("the transparency of a material without a texture");
    }
    let srgb = |linear: f32| {
        let encoded = if linear <= 0.003_130_8 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        };
        (encoded.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    Ok(Content::Color([srgb(tint.x), srgb(tint.y), srgb(tint.z)]))
}

/// Returns the base color factor of a material, in linear light.
pub(super) fn tint(material: Option<&Material>) -> Vec4 {
    material
        .and_then(|material| material.pbr_metallic_roughness.base_color_factor)
        .map_or(Vec4::ONE, Vec4::from_array)
}

/// Returns the material with an index.
pub(super) fn material<'a>(
    source: &Source<'a>,
    index: Option<usize>,
) -> Result<Option<&'a Material>, ModelProblem> {
    let Some(index) = index else {
        return Ok(None);
    };
    let material = source.document.materials.get(index);
    material.map(Some).ok_or_else(|| {
        ModelProblem::Damaged(format!(
            "it refers to material {index}, which does not exist"
        ))
    })
}

/// Returns the base color texture of a material.
pub(super) fn texture_of<'a>(
    source: &Source<'a>,
    index: Option<usize>,
) -> Result<Option<&'a TextureInfo>, ModelProblem> {
    let material = material(source, index)?;
    Ok(material.and_then(|m| m.pbr_metallic_roughness.base_color_texture.as_ref()))
}

/// Returns the index of the image of a texture; `None` if the file has no image for the texture.
fn image_of(
    source: &Source<'_>,
    texture: &TextureInfo,
    left_out: &mut LeftOut,
) -> Result<Option<usize>, ModelProblem> {
    let index = texture.index;
    let texture = source.document.textures.get(index).ok_or_else(|| {
        ModelProblem::Damaged(format!(
            "it refers to texture {index}, which does not exist"
        ))
    })?;
    match texture.source {
        Some(image) => Ok(Some(image)),
        None if texture.extensions.webp.is_some() => {
            Err(ModelProblem::unsupported_extension("EXT_texture_webp"))
        }
        None if texture.extensions.basisu.is_some() => {
            Err(ModelProblem::unsupported_extension("KHR_texture_basisu"))
        }
        None => {
            left_out.add("a texture that has no image");
            Ok(None)
        }
    }
}

/// Applies `KHR_texture_transform`: scale, then counter-clockwise rotation, then offset.
fn transform(texture: &TextureInfo, uvs: &mut [Vec2]) {
    let Some(transform) = &texture.extensions.transform else {
        return;
    };
    let (sin, cos) = transform.rotation.sin_cos();
    let scale = transform.scale.map_or(Vec2::ONE, Vec2::from_array);
    for uv in uvs {
        let scaled = *uv * scale;
        *uv = Vec2::from_array(transform.offset)
            + Vec2::new(
                cos * scaled.x + sin * scaled.y,
                cos * scaled.y - sin * scaled.x,
            );
    }
}

/// Moves the texture coordinates of each island that is inside one repetition of the texture into 0..1, because the skin does
/// not repeat. `islands` contains, for each vertex, one vertex of its island.
fn unwrap(sampler: TextureSampler, uvs: &mut [Vec2], islands: &[usize], left_out: &mut LeftOut) {
    for (axis, wrap) in [sampler.wrap_s, sampler.wrap_t].into_iter().enumerate() {
        if wrap == Some(CLAMP_TO_EDGE) {
            continue;
        }
        // Lowest and highest texture coordinate of each island.
        let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); uvs.len()];
        for (uv, &island) in uvs.iter().zip(islands) {
            let (low, high) = &mut ranges[island];
            (*low, *high) = (low.min(uv[axis]), high.max(uv[axis]));
        }
        for (uv, &island) in uvs.iter_mut().zip(islands) {
            let (low, high) = ranges[island];
            if low >= -UV_TOLERANCE && high <= 1.0 + UV_TOLERANCE {
                continue;
            }
            let tile = (low + UV_TOLERANCE).floor();
            if high - tile > 1.0 + UV_TOLERANCE {
                left_out.add("the repetition of a texture");
                continue;
            }
            let is_mirrored = wrap == Some(MIRRORED_REPEAT) && tile.rem_euclid(2.0) == 1.0;
            let inside = uv[axis] - tile;
            uv[axis] = if is_mirrored { 1.0 - inside } else { inside };
        }
    }
}

/// Packs textures into one image: a grid of equal squares.
fn pack(
    source: &Source<'_>,
    used: &[Content],
    left_out: &mut LeftOut,
) -> Result<SkinAtlas, ModelProblem> {
    let mut largest = 1;
    for content in used {
        let Content::Image(image, _) = content else {
            continue;
        };
        let dimensions = reader(source, *image)?.into_dimensions();
        let (width, height) = dimensions.map_err(|error| undecodable(&error))?;
        largest = largest.max(width).max(height);
    }
    let columns = (1..)
        .find(|n| (n * n) as usize >= used.len())
        .unwrap_or(MAX_TEXTURES as u32);
    let rows = (used.len() as u32).div_ceil(columns);
    let side = (largest.min(MAX_TEXTURE_PX) + 2 * BORDER_PX).min(MAX_TEXTURE_PX / columns);
    let inner = side - 2 * BORDER_PX;
    let white = image::Rgba([255; 4]);
    let mut atlas = RgbaImage::from_pixel(columns * side, rows * side, white);
    let size = Vec2::new((columns * side) as f32, (rows * side) as f32);
    let mut cells = Vec::with_capacity(used.len());
    for (i, &content) in (0u32..).zip(used) {
        let (left, top) = (i % columns * side, i / columns * side);
        let picture = match content {
            Content::Image(image, opacity) => {
                let picture = decode(source, image, opacity, left_out)?;
                imageops::resize(&picture, inner, inner, imageops::FilterType::Triangle)
            }
            Content::Color([red, green, blue]) => {
                RgbaImage::from_pixel(inner, inner, image::Rgba([red, green, blue, 255]))
            }
        };
        for y in 0..side {
            for x in 0..side {
                let within = |at: u32| at.saturating_sub(BORDER_PX).min(inner - 1);
                let pixel = *picture.get_pixel(within(x), within(y));
                atlas.put_pixel(left + x, top + y, pixel);
            }
        }
        let corner = Vec2::new((left + BORDER_PX) as f32, (top + BORDER_PX) as f32);
        cells.push((
            content,
            Cell {
                corner: corner / size,
                size: inner as f32 / size,
            },
        ));
    }
    Ok(SkinAtlas {
        image: Some(atlas),
        cells,
    })
}

/// Returns the bytes of an image.
fn image_bytes<'a>(source: &Source<'a>, index: usize) -> Result<&'a [u8], ModelProblem> {
    let damaged = |what: &str| ModelProblem::Damaged(format!("image {index} {what}"));
    let image = source.document.images.get(index);
    let image = image.ok_or_else(|| damaged("does not exist"))?;
    if image.uri.is_some() {
        return Err(ModelProblem::outside_data());
    }
    let view = image
        .buffer_view
        .ok_or_else(|| damaged("has no buffer view"))?;
    let kind = image.mime_type.as_deref();
    let kind = kind.ok_or_else(|| damaged("has no mimeType"))?;
    match kind {
        "image/webp" => Err(ModelProblem::unsupported_extension("EXT_texture_webp")),
        "image/ktx2" => Err(ModelProblem::unsupported_extension("KHR_texture_basisu")),
        _ => source.view(view),
    }
}

/// Creates a reader of an image. The reader rejects an image that is too large before it allocates memory.
fn reader<'a>(
    source: &Source<'a>,
    index: usize,
) -> Result<ImageReader<Cursor<&'a [u8]>>, ModelProblem> {
    let damaged = |what: &str| ModelProblem::Damaged(format!("image {index} {what}"));
    let bytes = image_bytes(source, index)?;
    if bytes.get(8..12) == Some(b"WEBP".as_slice()) {
        return Err(ModelProblem::unsupported_extension("EXT_texture_webp"));
    }
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| damaged(&error.to_string()))?;
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_FILE_TEXTURE_PX);
    limits.max_image_height = Some(MAX_FILE_TEXTURE_PX);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    reader.limits(limits);
    Ok(reader)
}

/// Decodes an image. The decoder of JPEG fills a missing part with grey and reports nothing.
fn decode(
    source: &Source<'_>,
    index: usize,
    opacity: Opacity,
    left_out: &mut LeftOut,
) -> Result<RgbaImage, ModelProblem> {
    let reader = reader(source, index)?;
    if reader.format() == Some(ImageFormat::Jpeg) && !has_jpeg_end(image_bytes(source, index)?) {
        left_out.add("the end of a JPEG texture, which is cut off; export it again");
    }
    let picture = reader.decode();
    let mut picture = picture.map_err(|error| undecodable(&error))?.into_rgba8();
    let (width, height) = picture.dimensions();
    let largest = width.max(height);
    if largest > MAX_TEXTURE_PX {
        left_out.add(&format!(
            "the finest detail of a texture of {width} × {height} pixels; one of at most {MAX_TEXTURE_PX} × {MAX_TEXTURE_PX} loads faster"
        ));
        let [width, height] = [width, height].map(|side| (side * MAX_TEXTURE_PX / largest).max(1));
        picture = imageops::resize(&picture, width, height, imageops::FilterType::Triangle);
    }
    opacity.apply(&mut picture);
    Ok(picture)
}

/// Whether a JPEG file contains its end-of-image marker (ISO/IEC 10918-1, B.1). Pictures inside its segments, such as a preview,
/// do not count.
fn has_jpeg_end(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[first, code]) = bytes.get(at..at + 2).and_then(<[u8]>::first_chunk) {
        at += match (first, code) {
            (0xFF, 0xD9) => return true,
            // Compressed data, filling bytes, and markers without a segment.
            (..=0xFE, _) | (0xFF, 0xFF) => 1,
            (0xFF, 0x00 | 0x01 | 0xD0..=0xD8) => 2,
            _ => {
                let length = bytes.get(at + 2..).and_then(<[u8]>::first_chunk);
                length.map_or(2, |&length| 2 + usize::from(u16::from_be_bytes(length)))
            }
        };
    }
    false
}

fn undecodable(error: &image::ImageError) -> ModelProblem {
    ModelProblem::Damaged(format!(
        "its image: {error} (PNG or JPEG of at most {MAX_FILE_TEXTURE_PX} × {MAX_FILE_TEXTURE_PX} pixels)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box whose faces are in six repetitions of its texture was drawn in the color of the edge of the texture.
    #[test]
    fn each_island_is_moved_into_the_image() {
        let face = |u: f32, v: f32| {
            [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)].map(|(x, y)| Vec2::new(u + x, v + y))
        };
        let islands = [0, 0, 0, 3, 3, 3, 6, 6, 6];
        let unwrapped = |wrap, faces: [[Vec2; 3]; 3]| {
            let mut uvs = faces.as_flattened().to_vec();
            let mut left_out = LeftOut::default();
            let sampler = TextureSampler {
                wrap_s: wrap,
                wrap_t: None,
            };
            unwrap(sampler, &mut uvs, &islands, &mut left_out);
            (uvs, left_out.into_notes())
        };
        let inside = face(0.0, 0.0);
        let (uvs, left_out) = unwrapped(None, [face(0.0, 0.0), face(5.0, 0.0), face(-2.0, 3.0)]);
        assert_eq!(uvs, [inside; 3].as_flattened());
        assert!(left_out.is_empty());
        let (uvs, _) = unwrapped(
            Some(MIRRORED_REPEAT),
            [face(0.0, 0.0), face(1.0, 0.0), face(2.0, 0.0)],
        );
        let mirrored = inside.map(|uv| Vec2::new(1.0 - uv.x, uv.y));
        assert_eq!(uvs, [inside, mirrored, inside].as_flattened());
        let wide = inside.map(|uv| uv * 2.0);
        let (uvs, left_out) = unwrapped(None, [wide, face(1.0, 0.0), inside]);
        assert_eq!(uvs, [wide, inside, inside].as_flattened());
        assert_eq!(left_out, ["is drawn without the repetition of a texture"]);
    }
}
