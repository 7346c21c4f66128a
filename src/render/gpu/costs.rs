//! The work of each pass of a picture: pixels, triangles and bytes, computed from its textures and draw calls.
//!
//! Each drawable returns the work of its passes in the last picture. This is a list for people, not for every picture: it allocates.

use wgpu::TextureView;

/// The work of one pass of a picture. A texture that a pass reads counts once, even if the pass reads its texels several times:
/// caches keep the texels of neighboring pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassCost {
    /// What the pass does.
    pub name: &'static str,
    /// Pixels of the target, or cells of the field of water.
    pub pixels: u64,
    /// Triangles of the draw calls.
    pub triangles: u64,
    /// Bytes of the textures and buffers that the pass reads.
    pub read_bytes: u64,
    /// Bytes of the textures and buffers that the pass writes. Of a texture with several samples per pixel, all samples count.
    pub written_bytes: u64,
}

/// Returns the number of pixels of a texture.
pub(super) fn pixels(view: &TextureView) -> u64 {
    let texture = view.texture();
    u64::from(texture.width()) * u64::from(texture.height())
}

/// Returns the size of the largest mip level of a texture, with all its layers and samples.
pub(super) fn bytes(view: &TextureView) -> u64 {
    let texture = view.texture();
    let per_pixel = texture.format().block_copy_size(None).unwrap_or(4);
    let layers = texture.depth_or_array_layers();
    pixels(view) * u64::from(per_pixel * texture.sample_count() * layers)
}
