//! From frames to tracks: background, foreground, blobs, feet, tracks.
//!
//! In go [`Frame`](crate::camera::Frame)s and the calibration's [`FloorView`], out come [`Track`]s in floor meters. The
//! only clock is the frames' time stamps, and nothing depends on frames to come: the first N frames alone give the same
//! tracks as a whole recording does. Knows nothing of fish.

mod assignment;
mod background;
mod bit_mask;
mod blobs;
mod debug;
mod dim_floor;
mod floor;
mod foot;
mod group;
mod height_profile;
mod kalman;
mod outline;
mod params;
mod pipeline;
mod tracker;

pub use debug::DebugViews;
pub use floor::FloorView;
pub use outline::MAX_CORNERS;
pub use params::{TrackingParams, VisionParams};
pub use pipeline::{LightState, Vision};
pub use tracker::Track;
