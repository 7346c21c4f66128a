//! From frames to tracks: background, foreground, blobs, feet, tracks.
//!
//! In go [`Frame`](crate::camera::Frame)s and the calibration's [`FloorView`], out come [`Track`]s in floor meters. The
//! only clock is the frames' time stamps, and nothing depends on frames to come: the first N frames alone give the same
//! tracks as a whole recording does. Knows nothing of fish.

mod assign;
mod background;
mod bits;
mod blobs;
mod debug;
mod dim;
mod foot;
mod group;
mod kalman;
mod observe;
mod outline;
pub mod params;
mod profile;
mod tracks;
pub mod view;

pub use debug::DebugViews;
pub use observe::{Light, Vision};
pub use outline::MAX_CORNERS;
pub use params::{TrackingParams, VisionParams};
pub use tracks::Track;
pub use view::FloorView;
