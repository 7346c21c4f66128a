//! The GPU: turns draw data into pixels. It knows triangles and light, but neither fish nor visitors.
//!
//! The passes of one picture:
//! 1. Sunlight on the ground: the caustics, multiplied by the shadows of bodies.
//! 2. Bodies: static bodies and fish, over a transparent background.
//! 3. Once for every output: the ground (painted once), its light and the bodies, seen through the moving water
//!    surface, tone-mapped and warped onto the output's pixels, with the overlay on top.

mod bind_groups;
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
