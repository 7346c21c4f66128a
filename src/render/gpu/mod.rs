//! The GPU: turns draw data into pixels. It handles triangles and light, but does not depend on fish or visitors.
//!
//! The passes of one picture; `Renderer::draw` encodes them in this order:
//! 1. Water (`water/`): four passes for a step of the height field, the slopes of the surface, the sunlight that it focuses, and two
//!    passes that spread this light.
//! 2. The shadows of bodies on the ground.
//! 3. Bodies: static bodies and fish, over a transparent background.
//! 4. In scenes with a halo, the bright part of the bodies and its blur (`bloom.rs`).
//! 5. Once for every output: the ground, its light and the bodies, seen through the moving water surface. The result is
//!    tone-mapped and warped onto the output's pixels; the overlay is drawn on top. The ground texture itself is painted only
//!    once per scene.
//!
//! One file per drawable: layout, pipeline, buffers, upload and draw calls. A new drawable is such a file, a field of `Pipelines`, and
//! a field of `Renderer` with its calls in `Renderer::draw`.

mod bloom;
mod bodies;
mod body_targets;
mod change;
mod costs;
mod device;
mod finished;
mod flash_readback;
mod ground;
mod ground_shadow;
mod meshes;
mod noise_textures;
mod old_picture;
mod output;
mod output_pipelines;
mod overlay;
mod pass;
mod pass_timer;
mod pipeline;
mod pipelines;
mod present;
mod readback;
mod renderer;
mod samplers;
mod scene;
mod shaders;
mod skins;
mod small_bodies;
mod textures;
mod thumbnail;
mod traces;
mod vertex_layouts;
mod water;

pub use costs::PassCost;
pub use device::Gpu;
pub use pass_timer::{PassGroup, PassTimes};
pub use present::{Acquired, GpuPresenter, Presenter, WindowTarget, WindowTargets};
pub use renderer::Renderer;
pub use thumbnail::ThumbnailPixels;

#[cfg(test)]
mod tests;
