//! The work of each pass of a picture: pixels, triangles and bytes, computed from its textures and draw calls.
//!
//! In: a renderer that has drawn a picture. Out: a list for people. Must not: be called for every picture; it allocates.

use wgpu::TextureView;

use super::meshes::{MeshRange, STRIP_INDICES};
use super::passes::PASSES;
use super::renderer::Renderer;
use crate::geometry::SurfaceKind;
use crate::render::draw_list::{Batch, BodyInstance};
use crate::render::pose::AffineRows;
use crate::render::shadow_mask::SPINE_STATIONS;

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

/// Returns the sum of the sizes of textures.
fn all_bytes<'a>(views: impl IntoIterator<Item = &'a TextureView>) -> u64 {
    views.into_iter().map(bytes).sum()
}

impl Renderer {
    /// Returns the work of every pass of the last picture, in the order in which the passes are drawn.
    #[must_use]
    pub fn pass_costs(&self) -> Vec<PassCost> {
        PASSES.iter().flat_map(|pass| (pass.costs)(self)).collect()
    }

    pub(super) fn output_costs(&self) -> Vec<PassCost> {
        let targets = &self.targets;
        let read_bytes = all_bytes([
            self.water.slopes(),
            self.water.sunlight(),
            &targets.ground,
            &targets.ground_shadow,
            &targets.bodies,
            &targets.body_depth,
        ]);
        let outputs = self.outputs.iter();
        outputs
            .flat_map(|output| output.pass_costs(read_bytes))
            .collect()
    }

    pub(super) fn ground_shadow_cost(&self) -> PassCost {
        let strips = (self.static_bodies.ground_shadows.len()
            + self.draw_list.ground_shadows.len())
            / (2 * SPINE_STATIONS);
        let drawn = if self.surface.kind == SurfaceKind::Ceiling {
            0
        } else {
            strips * STRIP_INDICES / 3
        };
        let target = &self.targets.ground_shadow;
        PassCost {
            name: "shadows on the ground",
            pixels: pixels(target),
            triangles: drawn as u64,
            read_bytes: bytes(&self.fixed.shadow_masks),
            written_bytes: bytes(target),
        }
    }

    pub(super) fn bodies_cost(&self) -> PassCost {
        let targets = &self.targets;
        let (static_meshes, fish) = self
            .meshes
            .split_at(self.static_bodies.batches.len().min(self.meshes.len()));
        let triangles = |(mesh, batch): (&MeshRange, &Batch)| {
            u64::from(mesh.index_count / 3) * u64::from(batch.count)
        };
        let fixed = static_meshes.iter().zip(&self.static_bodies.batches);
        let moving = fish.iter().zip(&self.draw_list.batches);
        let instances = self.static_bodies.instances.len() + self.draw_list.instances.len();
        let joints = self.static_bodies.joints.len() + self.draw_list.joints.len();
        let lists = instances * size_of::<BodyInstance>() + joints * size_of::<AffineRows>();
        let drawn = [&targets.bodies, &targets.body_depth, &targets.depth];
        let samples = targets.samples.iter().flatten();
        PassCost {
            name: "bodies",
            pixels: pixels(&targets.bodies),
            triangles: fixed.chain(moving).map(triangles).sum::<u64>()
                + self.dust.specks.len() as u64
                + 2 * self.floating.leaves.len() as u64,
            read_bytes: lists as u64
                + bytes(self.water.sunlight())
                + all_bytes([&self.fixed.skins, &self.fixed.weathering]),
            written_bytes: all_bytes(drawn.into_iter().chain(samples)),
        }
    }
}
