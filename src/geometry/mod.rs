//! Spaces and shapes: the projected surface, lens and homography, polygons. Pure functions; knows no camera, no fish.
//!
//! **World space**: meters; the projected surface is the plane y = 0, origin in its middle, x along its width, z along
//! its height (towards the viewer of the picture's lower edge), fish below it at y = −depth. **Floor space** is the
//! (x, z) of that plane. **Camera space** is pixels of the camera's picture, pixel centers on whole numbers, y down.

pub mod homography;
pub mod lens;
pub mod polygon;
pub mod prism;
pub mod solid;
pub mod surface;

pub use homography::Homography;
pub use lens::{FloorFromCamera, Lens};
pub use prism::Prism;
pub use solid::Solid;
pub use surface::{Surface, SurfaceKind};
