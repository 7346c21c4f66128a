//! Spaces and shapes: the projected surface, lens and homography, polygons, solids, visitors. All functions are pure and do not know
//! camera devices or fish.
//!
//! **World space**: meters. The projected surface is the plane y = 0 with the origin at its center, x along its width, and z
//! along its height (towards the lower edge of the projected image). Fish are below it, at y = −depth. **Floor space**: the
//! coordinates (x, z) in that plane. **Camera space**: pixels of a camera frame, pixel centers at whole numbers, y down.

mod homography;
mod hull;
mod lens;
mod outline_distance;
mod polygon;
mod prism;
mod sighting;
mod solid;
mod spline;
mod surface;
mod visitor;

pub use homography::Homography;
pub use hull::Hull;
pub use lens::{FloorFromCamera, Lens};
pub use outline_distance::outline_distance_m;
pub use polygon::{
    edges_contain, nearest_on_edge, nearest_on_polygon, polygon_contains, polygon_edges,
    polygon_triangles, signed_area,
};
pub use prism::{PRISM_CORNERS_MAX, Prism};
pub use sighting::Sighting;
pub use solid::{Solid, nearest_on_segment};
pub use spline::spline;
pub use surface::{Surface, SurfaceKind};
pub use visitor::Visitor;
