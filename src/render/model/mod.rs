//! Models: the content of a `.glb` file as plain data, validated on the CPU before anything reaches the GPU.
//!
//! In: bytes of a binary glTF 2.0 file. Out: [`Model`], or a [`ModelError`] with the file, the problem and its remedy.
//!
//! The crate `gltf` reads the same (`tests/picture/model_peer.rs` compares both), but not with the limits that a file of
//! unknown origin needs. Measured with its version 1.4.1: of 8 MiB of JSON with empty nodes or materials, the document of this
//! module takes at most 1.2 MB until it reaches its limit, `gltf::json` takes 1.4 GB. To limit the lists before, the text would
//! have to be parsed as a `serde_json::Value`, which takes 126 to 445 MB. Both steps together take 2.1 ms for the 21 built-in
//! models, this module takes 0.6 ms. The readers of the crate panic at values that its validation accepts, and the crate
//! refuses a file with an animation channel that has no target node.

mod accessor;
mod advice;
mod animation;
mod clip;
mod container;
mod data;
mod document;
mod error;
mod joints;
mod left_out;
mod load;
mod mesh;
mod nodes;
mod rig;
mod shipped;
mod skeleton;
mod skin;

pub(super) use clip::{CLIP_NAMES, Clip, SAMPLES};
pub(super) use data::LEVELS;
pub use data::{Model, ModelVertex};
pub use error::{ModelError, ModelProblem};
pub(super) use rig::{drawn_influences, with_spine};
pub(super) use shipped::STATIC_MODEL_COUNT;
pub use shipped::{SHIPPED_MODELS, shipped_static_models};
