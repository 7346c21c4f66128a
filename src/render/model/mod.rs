//! Models: what a `.glb` file becomes. Plain data, checked on the CPU before anything reaches the GPU.
//!
//! In: bytes of a binary glTF 2.0 file. Out: [`Model`], or a [`ModelError`] that names file, feature and remedy.

mod accessor;
mod clip;
mod load;
mod rig;

pub use clip::{Clip, SAMPLES};
pub use rig::with_spine;

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Quat, Vec3};
use image::RgbaImage;

/// Most corners a model may have.
pub const MAX_VERTICES: usize = 20_000;
/// Most joints a skeleton may have.
pub const MAX_JOINTS: usize = 32;
/// Largest side of a model's picture.
pub const MAX_TEXTURE_PX: u32 = 2048;
/// Largest file.
pub const MAX_FILE_BYTES: usize = 32 << 20;

/// A corner of a model as the GPU reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Vertex {
    /// Place in the model's space at rest: nose towards +z, back towards +y, the animal's left towards +x.
    pub position: [f32; 3],
    /// Unit normal at rest.
    pub normal: [f32; 3],
    /// Place on the skin, 0..1, v down.
    pub uv: [f32; 2],
    /// Factor on the skin's color, linear, 0..=255 for 0..1.
    pub color: [u8; 4],
    /// Four joints.
    pub joints: [u8; 4],
    /// Their weights; 255 in sum.
    pub weights: [u8; 4],
}

/// Rotation, translation and scale of a joint relative to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Rotation.
    pub rotation: Quat,
    /// Translation.
    pub translation: Vec3,
    /// Scale.
    pub scale: Vec3,
}

/// One joint of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// The joint that carries it; always an earlier one in [`Model::order`].
    pub parent: Option<usize>,
    /// What lies between the model's space and a joint without parent.
    pub base: Mat4,
    /// At rest.
    pub rest: Local,
    /// From the model's space into the joint's at rest.
    pub inverse_bind: Mat4,
}

/// A model ready to be posed and drawn.
#[derive(Clone, Debug)]
pub struct Model {
    /// Corners.
    pub vertices: Vec<Vertex>,
    /// Triangles, three corners each.
    pub indices: Vec<u32>,
    /// Triangles of a simpler body over the same corners, for where it is seen small; empty when the file has none
    /// (a mesh whose node is named `…_light`).
    pub light: Vec<u32>,
    /// The skeleton in the file's order; empty for a rigid thing such as a stone.
    pub joints: Vec<Joint>,
    /// The joints' indices, parents before children.
    pub order: Vec<usize>,
    /// Movements by name, sorted by name.
    pub clips: Vec<Clip>,
    /// The skin; `None` when only corners are colored.
    pub skin: Option<RgbaImage>,
    /// Extent at rest along x, y and z.
    pub size: Vec3,
}

impl Model {
    /// Reads a binary glTF file. `name` is the file's, for the error.
    ///
    /// # Errors
    /// [`ModelError`] when the bytes are no glTF 2.0 file, need what is not supported, or exceed the caps.
    pub fn from_glb(name: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        load::model(bytes).map_err(|problem| ModelError {
            file: name.to_owned(),
            problem,
        })
    }

    /// Most joints that carry one corner.
    pub fn influences(&self) -> usize {
        let used = |vertex: &Vertex| {
            vertex
                .weights
                .iter()
                .rposition(|&w| w > 0)
                .map_or(1, |i| i + 1)
        };
        self.vertices.iter().map(used).max().unwrap_or(1)
    }

    /// The clip of a name.
    pub fn clip(&self, name: &str) -> Option<&Clip> {
        let at = self
            .clips
            .binary_search_by(|clip| clip.name.as_str().cmp(name));
        at.ok().and_then(|i| self.clips.get(i))
    }
}

/// Why a file cannot be used as a model.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("model {file}: {problem}")]
pub struct ModelError {
    /// The file as the caller named it.
    pub file: String,
    /// What is wrong and how to mend it.
    pub problem: ModelProblem,
}

/// What is wrong with a model, and how to mend it.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelProblem {
    /// Not readable as glTF at all.
    #[error("not a binary glTF 2.0 file ({0}); export as 'glTF Binary (.glb)'")]
    Broken(String),
    /// A feature that is not supported.
    #[error("uses {feature}, which is not supported; {remedy}")]
    Unsupported {
        /// The feature.
        feature: String,
        /// How to do without.
        remedy: &'static str,
    },
    /// No triangles.
    #[error("holds no mesh with triangles; export the object, not only its skeleton or camera")]
    NoMesh,
    /// Too large.
    #[error("has {count} {what}, at most {most} are allowed; simplify it before exporting")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much there is.
        count: usize,
        /// How much may be.
        most: usize,
    },
    /// Its numbers contradict each other.
    #[error("is damaged: {0}; export it again")]
    Damaged(String),
}

/// The fish, and what drifts like them, that ship with the program, by name.
pub const SHIPPED: &[(&str, &[u8])] = &[
    ("copepod", include_bytes!("../../../models/copepod.glb")),
    ("herring", include_bytes!("../../../models/herring.glb")),
    ("molecule", include_bytes!("../../../models/molecule.glb")),
    ("salmon", include_bytes!("../../../models/salmon.glb")),
    ("shark", include_bytes!("../../../models/shark.glb")),
    ("trout", include_bytes!("../../../models/trout.glb")),
];

/// The still things that ship with it, in the order of [`super::still::STILL_MODELS`].
const STILL: [(&str, &[u8]); super::still::STILL_MODELS] = [
    (
        "rock_round",
        include_bytes!("../../../models/rock_round.glb"),
    ),
    ("rock_flat", include_bytes!("../../../models/rock_flat.glb")),
    (
        "rock_split",
        include_bytes!("../../../models/rock_split.glb"),
    ),
    (
        "rock_sharp",
        include_bytes!("../../../models/rock_sharp.glb"),
    ),
    ("log", include_bytes!("../../../models/log.glb")),
    (
        "coral_finger",
        include_bytes!("../../../models/coral_finger.glb"),
    ),
    (
        "coral_brain",
        include_bytes!("../../../models/coral_brain.glb"),
    ),
    ("weed", include_bytes!("../../../models/weed.glb")),
    ("lily", include_bytes!("../../../models/lily.glb")),
    ("fall", include_bytes!("../../../models/fall.glb")),
];

/// The shipped stones, trunks and plants.
///
/// # Errors
/// None in practice: a test loads them.
pub fn shipped_stones() -> Result<Vec<Model>, ModelError> {
    STILL
        .iter()
        .map(|(name, bytes)| Model::from_glb(name, bytes))
        .collect()
}
