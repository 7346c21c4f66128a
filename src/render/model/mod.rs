//! Models: the content of a `.glb` file as plain data, validated on the CPU before anything reaches the GPU.
//!
//! In: bytes of a binary glTF 2.0 file. Out: [`Model`], or a [`ModelError`] with the file, the problem and its remedy.

mod accessor;
mod animation;
mod clip;
mod container;
mod data;
mod document;
mod embedded;
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

pub(super) use clip::{Clip, SAMPLES};
pub(super) use data::LEVELS;
pub use data::{Model, ModelVertex};
pub use error::{ModelError, ModelProblem};
pub(super) use rig::with_spine;
pub(super) use shipped::STATIC_MODEL_COUNT;
pub use shipped::{SHIPPED_MODELS, shipped_static_models};
