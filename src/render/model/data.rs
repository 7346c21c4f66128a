//! A model and its vertices.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use image::RgbaImage;

use super::clip::Clip;
use super::skeleton::Joint;

/// A vertex of a model, as the GPU reads it; same layout as `ModelVertex` in `shaders/bodies.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ModelVertex {
    /// Position at rest, in model space: nose towards +z, back towards +y, the left of the animal towards +x.
    pub position: [f32; 3],
    /// Unit normal at rest.
    pub normal: [f32; 3],
    /// Position on the skin, 0..1, v down.
    pub uv: [f32; 2],
    /// Factor on the color of the skin, linear; 255 is 1.
    pub color: [u8; 4],
    /// Indices of the joints that move the vertex.
    pub joints: [u8; 4],
    /// Weights of these joints; their sum is 255.
    pub weights: [u8; 4],
}

/// Levels of detail of a model: the full mesh, and those for bodies that appear smaller.
pub(in crate::render) const LEVELS: usize = 4;
/// Ends of the names of the nodes that show the coarser meshes, the finest first.
pub(super) const COARSER: [&str; LEVELS - 1] = ["_medium", "_small", "_light"];

/// A model that can be posed and drawn.
#[derive(Clone, Debug)]
pub struct Model {
    /// Vertices of all meshes.
    pub vertices: Vec<ModelVertex>,
    /// Triangles of the full mesh, three vertices each.
    pub indices: Vec<u32>,
    /// Triangles of the meshes for bodies that appear smaller, the finest first. The file marks them with nodes named `…_medium`,
    /// `…_small` and `…_light`; empty if there is none.
    pub coarser: [Vec<u32>; LEVELS - 1],
    /// The skeleton in the order of the file; empty for a rigid model such as a stone.
    pub joints: Vec<Joint>,
    /// Indices of the joints, parents before children.
    pub order: Vec<usize>,
    /// Clips, sorted by name.
    pub clips: Vec<Clip>,
    /// The skin; `None` if only the vertices are colored.
    pub skin: Option<RgbaImage>,
    /// Extent at rest along x, y and z.
    pub size: Vec3,
    /// What a designer should know about the file, as clauses for warnings: "is drawn without normal maps".
    pub notes: Vec<String>,
}

impl Model {
    /// Returns the triangles of every level of detail, the finest first. A level without a mesh of its own is empty.
    pub fn levels(&self) -> [&[u32]; LEVELS] {
        let [medium, small, light] = &self.coarser;
        [&self.indices, medium, small, light]
    }

    /// Returns the level at which a model is drawn: `wanted`, or the next finer level that has a mesh.
    pub fn drawn_level(&self, wanted: usize) -> usize {
        let levels = self.levels();
        let has_mesh = |&level: &usize| levels.get(level).is_some_and(|mesh| !mesh.is_empty());
        (0..=wanted).rev().find(has_mesh).unwrap_or(0)
    }

    /// Returns the largest number of joints that move one vertex.
    pub fn influences(&self) -> usize {
        let used = |vertex: &ModelVertex| {
            vertex
                .weights
                .iter()
                .rposition(|&w| w > 0)
                .map_or(1, |i| i + 1)
        };
        self.vertices.iter().map(used).max().unwrap_or(1)
    }

    /// Returns the clip with a name.
    pub fn clip(&self, name: &str) -> Option<&Clip> {
        let at = self
            .clips
            .binary_search_by(|clip| clip.name.as_str().cmp(name));
        at.ok().and_then(|i| self.clips.get(i))
    }
}
