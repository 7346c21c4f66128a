//! The GPU: turns draw data into pixels. It handles triangles and light, but does not depend on fish or visitors.
//!
//! The passes of one picture:
//! 1. Sunlight on the ground: the caustics (light focused by the waves), darkened by the shadows of bodies.
//! 2. Bodies: static bodies and fish, over a transparent background.
//! 3. Once for every output: the ground, its light and the bodies, seen through the moving water surface. The result is
//!    tone-mapped and warped onto the output's pixels; the overlay is drawn on top. The ground texture itself is painted only
//!    once per scene.

mod bind_groups;
mod change;
mod device;
mod flash_readback;
mod meshes;
mod output;
mod passes;
mod pipelines;
mod present;
mod renderer;
mod targets;
mod vertex_layouts;

pub use device::Gpu;
pub use present::{Acquired, GpuPresenter, Presenter, WindowTarget, WindowTargets};
pub use renderer::Renderer;

#[cfg(test)]
mod tests;
