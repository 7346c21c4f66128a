//! Turns camera frames into tracks: background model, foreground mask, blobs, foot points, tracks.
//!
//! The input is [`Frame`](crate::camera::Frame)s and the [`FloorView`] of the calibration. The output is [`Visitor`](crate::geometry::Visitor)s in
//! floor meters. The time stamps of the frames are the only source of time. Results never depend on later frames: the
//! first N frames alone give the same tracks as the whole recording does. This module knows nothing about fish.

mod agitation;
mod areas;
mod assignment;
mod background;
mod bands;
mod bit_mask;
mod blobs;
mod debug;
mod dim_floor;
mod exposure;
mod fault;
mod floor;
mod foot;
mod fusion;
mod group;
mod height_profile;
mod kalman;
mod moments;
mod outline;
mod params;
mod pipeline;
mod plan;
mod polarity;
mod segmentation;
mod segmented_frame;
mod sighted;
mod stillness;
mod strobe;
mod tracker;
mod unreliable;

pub use areas::Area;
pub use debug::DebugViews;
pub use exposure::{ExposureAdvice, Lighting};
pub use fault::{Exposure, UnreliableArea, VisionFault};
pub use floor::FloorView;
pub use fusion::{Agreement, CameraTracks, Fusion, MAX_CAMERAS, WatchedFloor};
pub use outline::MAX_CORNERS;
pub use params::{TrackingParams, VisionParams};
pub use pipeline::Vision;
pub use plan::{PlannedCamera, PlannedView, Resolution, Seen};
pub use polarity::Polarity;
pub use segmentation::LightState;
pub use sighted::{SIGHTINGS_MAX, SightedTracks};
pub use tracker::{Decision, TrackEvent};
