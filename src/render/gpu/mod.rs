//! The GPU: turns draw data into pixels. It handles triangles and light, but does not depend on fish or visitors.
//!
//! The passes of one picture; `passes.rs` lists them:
//! 1. Water (`water/`): four passes for a step of the height field, the slopes of the surface, the sunlight that it focuses, and two
//!    passes that spread this light.
//! 2. The shadows of bodies on the ground.
//! 3. Bodies: static bodies and fish, over a transparent background.
//! 4. Once for every output: the ground, its light and the bodies, seen through the moving water surface. The result is
//!    tone-mapped and warped onto the output's pixels; the overlay is drawn on top. The ground texture itself is painted only
//!    once per scene.

mod bind_groups;
mod change;
mod costs;
mod device;
mod flash_readback;
mod meshes;
mod output;
mod passes;
mod pipelines;
mod present;
mod renderer;
mod targets;
mod thumbnail;
mod vertex_layouts;
mod water;

pub use costs::PassCost;
pub use device::Gpu;
pub use present::{Acquired, GpuPresenter, Presenter, WindowTarget, WindowTargets};
pub use renderer::Renderer;
pub use thumbnail::ThumbnailPixels;

#[cfg(test)]
mod tests;
