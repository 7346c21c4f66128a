//! The texture array of the skins of fish.

use wgpu::{TextureFormat, TextureView};

use super::device::Gpu;
use super::textures::{array, array_view, write};
use crate::render::color::linear_from_srgb;
use crate::render::model::Model;

/// Creates a texture array with mip levels that has one layer of the same size per skin. It stores square roots of light,
/// because these are faster to read than sRGB without a graphics card.
pub(super) fn skins<'a>(gpu: &Gpu, models: impl Iterator<Item = &'a Model> + Clone) -> TextureView {
    let largest = models
        .clone()
        .filter_map(|model| model.skin.as_ref())
        .fold([4u32, 4], |size, skin| {
            [size[0].max(skin.width()), size[1].max(skin.height())]
        });
    let size = largest.map(|s| s.next_power_of_two().min(1024));
    let levels = (size[0].min(size[1]).ilog2() + 1).min(7);
    let count = models.clone().count() as u32;
    let format = TextureFormat::Rgba8Unorm;
    let texture = array(&gpu.device, "skins", size, (count, levels), format);
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
                &gpu.queue,
                &texture,
                (level, layer as u32),
                wanted,
                level_picture.as_raw(),
            );
        }
    }
    array_view(&texture)
}
